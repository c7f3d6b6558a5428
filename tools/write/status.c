/* SPDX-License-Identifier: Apache-2.0
 * Patches of pods' status. Of each pod at most one is out and one waits; what comes meanwhile changes the one
 * that waits, and when its turn comes it is made against what the API has then: nothing is sent that says
 * nothing new. Source: backend/api_dispatcher and framework/api_calls/pod_status_patch.go, v1.36.3.
 */
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/report/api_call.h"
#include "tools/report/pod_status.h"
#include "tools/write/writer_int.h"

/* A pod with patches on their way. */
struct lane {
	uint64_t key; /* 0: vacant */
	struct bt_op *flying, *waiting;
};

struct bt_statuses {
	struct bt_map by_key;
	struct lane *lanes;
	size_t n, cap;
	uint32_t *vacant;
	size_t vacant_n, vacant_cap;
};

static const struct bt_op_verbs verbs;

struct bt_statuses *bt_statuses_create(void)
{
	return bt_mem_zalloc(1, sizeof(struct bt_statuses));
}

void bt_statuses_destroy(struct bt_statuses *statuses)
{
	bt_map_fini(&statuses->by_key);
	bt_mem_free(statuses->lanes);
	bt_mem_free(statuses->vacant);
	bt_mem_free(statuses);
}

/* ---- lanes ---- */

static uint64_t key_of(const struct bt_pod_ref *ref)
{
	uint64_t key = bt_hash_bytes(ref->uid.len ? ref->uid.ptr : "", ref->uid.len);

	return key ? key : 1;
}

static struct lane *find(struct bt_statuses *statuses, const struct bt_pod_ref *ref)
{
	uint32_t ix;

	return bt_map_get(&statuses->by_key, key_of(ref), &ix) ? &statuses->lanes[ix] : NULL;
}

static struct lane *open_lane(struct bt_statuses *statuses, const struct bt_pod_ref *ref)
{
	uint32_t ix;

	if (statuses->vacant_n) {
		ix = statuses->vacant[--statuses->vacant_n];
	} else {
		statuses->lanes =
			bt_mem_grow(statuses->lanes, statuses->n, &statuses->cap, sizeof(*statuses->lanes));
		ix = (uint32_t)statuses->n++;
	}
	statuses->lanes[ix] = (struct lane){.key = key_of(ref)};
	bt_map_put(&statuses->by_key, statuses->lanes[ix].key, ix);
	return &statuses->lanes[ix];
}

static void close_lane(struct bt_statuses *statuses, struct lane *lane)
{
	bt_map_remove(&statuses->by_key, lane->key);
	lane->key = 0;
	statuses->vacant = bt_mem_grow(
		statuses->vacant, statuses->vacant_n, &statuses->vacant_cap, sizeof(*statuses->vacant));
	statuses->vacant[statuses->vacant_n++] = (uint32_t)(lane - statuses->lanes);
}

/* ---- what a pod is like ---- */

/* Changes a view as a patch would. */
static void overlay(struct bt_writer *writer, struct bt_api_pod *pod, const struct bt_api_status *patch)
{
	if (patch->nomination != BT_NOMINATION_LEAVE) {
		pod->nominated_node_name = patch->nominated_node_name;
	}
	if (!patch->has_condition) {
		return;
	}
	struct bt_pod_condition *conditions =
		bt_arena_zalloc(&writer->scratch, (pod->condition_n + 1) * sizeof(*conditions));
	const struct bt_pod_condition *old = bt_api_condition(pod, patch->condition.type);
	for (uint32_t i = 0; i < pod->condition_n; i++) {
		conditions[i] = pod->conditions[i];
	}
	conditions[old ? (size_t)(old - pod->conditions) : pod->condition_n] = patch->condition;
	pod->conditions = conditions;
	pod->condition_n += old == NULL;
}

bool bt_status_view(struct bt_writer *writer, const struct bt_pod_ref *ref, struct bt_known_pod *out_pod)
{
	bool known = bt_known_get(writer->known, ref, &writer->scratch, out_pod);
	const struct lane *lane = find(writer->statuses, ref);

	if (lane && lane->flying) {
		overlay(writer, &out_pod->pod, &lane->flying->status);
	}
	if (lane && lane->waiting) {
		overlay(writer, &out_pod->pod, &lane->waiting->status);
	}
	return known;
}

/* ---- adding ---- */

/* Takes over what the newer one says; what it says nothing of stays. */
static void merge(struct bt_op *op, const struct bt_api_status *status)
{
	if (status->has_condition) {
		op->status.has_condition = true;
		op->status.condition = (struct bt_pod_condition){
			.type = bt_op_copy(op, status->condition.type),
			.status = bt_op_copy(op, status->condition.status),
			.reason = bt_op_copy(op, status->condition.reason),
			.message = bt_op_copy(op, status->condition.message),
			.transition_s = status->condition.transition_s,
			.observed_generation = status->condition.observed_generation,
		};
	}
	if (status->nomination != BT_NOMINATION_LEAVE) {
		op->status.nomination = status->nomination;
		op->status.nominated_node_name = bt_op_copy(op, status->nominated_node_name);
	}
}

void bt_status_add(struct bt_writer *writer, const struct bt_api_call *call)
{
	const struct bt_pod_ref ref = {call->pod->namespace_, call->pod->name, call->pod->uid};
	struct lane *lane = find(writer->statuses, &ref);

	if (!lane) {
		lane = open_lane(writer->statuses, &ref);
	}
	if (lane->waiting) {
		merge(lane->waiting, &call->status);
		BT_WRITE_COUNT(writer, patch_skipped_n);
		return;
	}
	struct bt_op *op = bt_op_create(writer, &verbs);
	op->pod = bt_op_copy_ref(op, &ref);
	merge(op, &call->status);
	lane->waiting = op;
	if (!lane->flying) {
		bt_op_queue(op);
	}
}

/* ---- sending ---- */

/* The one that was out is over: the next one's turn. */
static void end(struct bt_writer *writer, struct bt_op *op)
{
	struct lane *lane = find(writer->statuses, &op->pod);

	if (lane->flying == op) {
		lane->flying = NULL;
		if (lane->waiting) {
			bt_op_queue(lane->waiting);
		}
	} else {
		lane->waiting = NULL;
	}
	if (!lane->flying && !lane->waiting) {
		close_lane(writer->statuses, lane);
	}
	bt_op_end(op);
}

static bool same(const struct bt_pod_condition *a, const struct bt_pod_condition *b)
{
	return a && bt_str_eq(a->status, b->status) && bt_str_eq(a->reason, b->reason) &&
	       bt_str_eq(a->message, b->message);
}

/* Leaves out what the API has by now. Returns: whether anything is left. */
static bool trim(struct bt_op *op, const struct bt_api_pod *pod)
{
	if (op->status.has_condition) {
		const struct bt_pod_condition *old = bt_api_condition(pod, op->status.condition.type);

		op->status.has_condition = !same(old, &op->status.condition);
		if (old && bt_str_eq(old->status, op->status.condition.status)) {
			op->status.condition.transition_s = old->transition_s;
		}
	}
	if (bt_str_eq(op->status.nominated_node_name, pod->nominated_node_name)) {
		op->status.nomination = BT_NOMINATION_LEAVE;
	}
	return op->status.has_condition || op->status.nomination != BT_NOMINATION_LEAVE;
}

static bool request(struct bt_writer *writer, struct bt_op *op, struct bt_http_call *out_call)
{
	struct lane *lane = find(writer->statuses, &op->pod);
	struct bt_known_pod known;

	/* A pod that has got a node meanwhile has the server's condition. */
	if (!bt_known_get(writer->known, &op->pod, &writer->scratch, &known) || !known.waits ||
		!trim(op, &known.pod)) {
		BT_WRITE_COUNT(writer, patch_skipped_n);
		end(writer, op);
		return false;
	}
	lane->flying = op;
	lane->waiting = lane->waiting == op ? NULL : lane->waiting;
	const struct bt_api_call call = {
		.verb = BT_API_PATCH_STATUS, .pod = &known.pod, .status = op->status};
	bt_api_patch_write(&call, &writer->body);
	*out_call = (struct bt_http_call){.method = BT_HTTP_PATCH,
		.path = bt_write_pod_path(writer, &op->pod, "/status"),
		.content_type = bt_str("application/strategic-merge-patch+json"),
		.body = bt_buf_view(&writer->body)};
	BT_WRITE_COUNT(writer, patch_n);
	return true;
}

static void answered(struct bt_writer *writer, struct bt_op *op, const struct bt_answer *answer)
{
	if (answer->fate == BT_FATE_DONE) {
		bt_known_patched(writer->known, &op->pod, &op->status);
	} else if (bt_op_again(op, answer)) {
		return;
	} else {
		BT_WRITE_COUNT(writer, patch_failed_n);
		if (answer->status != 404) { /* that pod has gone */
			bt_write_complain(&writer->patch_said, "A pod's status could not be patched",
				&op->pod, bt_write_message(writer, answer));
		}
	}
	end(writer, op);
}

static void fenced(struct bt_writer *writer, struct bt_op *op)
{
	end(writer, op);
}

static void begin(struct bt_writer *writer, struct bt_op *op)
{
	(void)writer;
	bt_op_queue(op);
}

static void given_up(struct bt_writer *writer, struct bt_op *op, bool sent)
{
	struct lane *lane = find(writer->statuses, &op->pod);

	/* The one behind it is in no queue. */
	if (lane && lane->flying == op && lane->waiting) {
		bt_op_end(lane->waiting);
		lane->waiting = NULL;
	}
	(void)sent;
}

static const struct bt_op_verbs verbs = {BT_CLASS_STATUS, begin, request, answered, fenced, given_up};
