/* SPDX-License-Identifier: Apache-2.0
 * Length-prefixed texts: the scheduler name, the nominated node, then the number of conditions, and these.
 */
#include "tools/cluster/write/pod_texts.h"

#include <string.h>

static void put_text(struct bt_buf *out, struct bt_str text)
{
	bt_buf_add(out, &text.len, sizeof(text.len));
	bt_buf_str(out, text);
}

static void put_condition(struct bt_buf *out, const struct bt_pod_condition *condition)
{
	put_text(out, condition->type);
	put_text(out, condition->status);
	put_text(out, condition->reason);
	put_text(out, condition->message);
	bt_buf_add(out, &condition->transition_s, sizeof(condition->transition_s));
	bt_buf_add(out, &condition->observed_generation, sizeof(condition->observed_generation));
}

void bt_pod_texts_write(const struct bt_api_pod *pod, struct bt_buf *out)
{
	bt_buf_clear(out);
	put_text(out, pod->scheduler_name);
	put_text(out, pod->nominated_node_name);
	bt_buf_add(out, &pod->condition_n, sizeof(pod->condition_n));
	for (uint32_t i = 0; i < pod->condition_n; i++) {
		put_condition(out, &pod->conditions[i]);
	}
}

static void take(const char **at, void *out, size_t n)
{
	memcpy(out, *at, n);
	*at += n;
}

static struct bt_str take_text(const char **at)
{
	struct bt_str text;

	take(at, &text.len, sizeof(text.len));
	text.ptr = *at;
	*at += text.len;
	return text;
}

static void take_condition(const char **at, struct bt_pod_condition *out)
{
	out->type = take_text(at);
	out->status = take_text(at);
	out->reason = take_text(at);
	out->message = take_text(at);
	take(at, &out->transition_s, sizeof(out->transition_s));
	take(at, &out->observed_generation, sizeof(out->observed_generation));
}

void bt_pod_texts_read(struct bt_str bytes, struct bt_arena *arena, struct bt_api_pod *out_pod)
{
	const char *at = bt_arena_copy(arena, bytes.ptr, bytes.len);
	struct bt_pod_condition *conditions;

	out_pod->scheduler_name = take_text(&at);
	out_pod->nominated_node_name = take_text(&at);
	take(&at, &out_pod->condition_n, sizeof(out_pod->condition_n));
	conditions = bt_arena_zalloc(arena, (out_pod->condition_n + 1) * sizeof(*conditions));
	for (uint32_t i = 0; i < out_pod->condition_n; i++) {
		take_condition(&at, &conditions[i]);
	}
	out_pod->conditions = conditions;
}
