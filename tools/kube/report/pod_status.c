/* SPDX-License-Identifier: Apache-2.0
 * Stored conditions of pods.
 */
#include "tools/kube/report/pod_status.h"

#include "engine/base/mem.h"
#include "tools/format/time.h"

#define NS_PER_S INT64_C(1000000000)

void bt_pod_status_fini(struct bt_pod_status *status)
{
	for (size_t i = 0; i < status->n; i++) {
		bt_mem_free(status->texts[i]);
	}
	bt_mem_free(status->texts);
	bt_mem_free(status->conditions);
	bt_mem_free(status->nominated);
	*status = (struct bt_pod_status){.n = 0};
}

static struct bt_str move_text(char **at, struct bt_str text)
{
	struct bt_str moved = {*at, text.len};

	memcpy(*at, text.ptr ? text.ptr : "", text.len);
	*at += text.len;
	return moved;
}

static void keep_condition(struct bt_pod_status *status, const struct bt_pod_condition *condition)
{
	size_t i = 0, bytes = condition->type.len + condition->status.len + condition->reason.len +
			      condition->message.len;
	char *texts = bt_mem_zalloc(bytes + 1, 1), *at = texts;

	while (i < status->n && !bt_str_eq(status->conditions[i].type, condition->type)) {
		i++;
	}
	if (i == status->n) {
		status->conditions =
			bt_mem_grow(status->conditions, i, &status->cap, sizeof(*status->conditions));
		status->texts = bt_mem_grow(status->texts, i, &status->text_cap, sizeof(*status->texts));
		status->texts[i] = NULL;
		status->n++;
	}
	status->conditions[i] = (struct bt_pod_condition){
		.type = move_text(&at, condition->type),
		.status = move_text(&at, condition->status),
		.reason = move_text(&at, condition->reason),
		.message = move_text(&at, condition->message),
		.transition_s = condition->transition_s,
		.observed_generation = condition->observed_generation,
	};
	bt_mem_free(status->texts[i]);
	status->texts[i] = texts;
}

static void nominate(struct bt_pod_status *status, struct bt_str node)
{
	char *nominated = node.len ? bt_mem_copy(node.ptr, node.len) : NULL;

	bt_mem_free(status->nominated);
	status->nominated = nominated;
	status->nominated_node_name = (struct bt_str){nominated, node.len};
}

void bt_pod_status_take(struct bt_pod_status *status, const struct bt_pod_object *pod)
{
	bt_pod_status_fini(status);
	nominate(status, pod->nominated_node_name);
	for (uint32_t i = 0; i < pod->condition_n; i++) {
		const struct bt_condition_object *object = &pod->conditions[i];
		struct bt_pod_condition condition = {
			.type = object->type,
			.status = object->status,
			.reason = object->reason,
			.message = object->message,
			.observed_generation = object->observed_generation,
		};
		int64_t ns;

		if (bt_time_parse(object->transition, &ns) == BT_OK) {
			condition.transition_s = ns / NS_PER_S;
		}
		keep_condition(status, &condition);
	}
}

void bt_pod_status_copy(struct bt_pod_status *status, const struct bt_api_pod *pod)
{
	bt_pod_status_fini(status);
	nominate(status, pod->nominated_node_name);
	for (uint32_t i = 0; i < pod->condition_n; i++) {
		keep_condition(status, &pod->conditions[i]);
	}
}

void bt_pod_status_patch(struct bt_pod_status *status, const struct bt_api_status *patch)
{
	if (patch->has_condition) {
		keep_condition(status, &patch->condition);
	}
	if (patch->nomination != BT_NOMINATION_LEAVE) {
		nominate(status, patch->nominated_node_name);
	}
}
