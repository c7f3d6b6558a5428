/* SPDX-License-Identifier: Apache-2.0
 * Patches of the status of pods and PodGroups. Each has at most one in flight and one waiting. Newer patches
 * are merged into the waiting one, which is computed against the API's current state when it is sent: a patch
 * without a change is not sent. A binding of the pod cancels the waiting patch, and is sent when none is in
 * flight. Otherwise the server might apply the patch after it, and a bound pod would report forever that it
 * is not scheduled. Source: backend/api_dispatcher and framework/api_calls/pod_status_patch.go, v1.36.3.
 */
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/kube/report/api_call.h"
#include "tools/cluster/write/pod_texts.h"
#include "tools/cluster/write/writer_int.h"

/* Limit of ops: more than the writer's window ever allows in flight. A waiting patch takes some hundred
 * bytes, and every pending pod may have one. */
#define OPS_MAX 256

#define NONE UINT32_MAX

enum { OF_POD = 0, OF_GROUP }; /* the stage of an op */

/*
 * A pod with patches in progress.
 *
 *   pending --advance--> waiting (an op in its queue) --request--> flying --answered--> (over)
 *                           ^                                        |
 *                           +------------- retry --------------------+
 */
struct status_lane {
	uint64_t key; /* 0: vacant */
	bool group;   /* of a PodGroup, which is identified without a UID */
	struct bt_write_op *flying, *waiting;
	struct bt_write_op *binding; /* sent when flying has ended; else NULL */
	/* The pending patch, which becomes an op when none waits: interned names, held. */
	uint32_t patch; /* its texts; BT_NAME_NONE: none */
	uint32_t namespace_, name, uid;
	enum bt_nomination nomination;
	uint32_t next; /* in the list of lanes whose pending patch is next to become an op */
};

struct bt_statuses {
	struct bt_map by_key;
	struct status_lane *lanes;
	size_t n, cap;
	uint32_t *vacant;
	size_t vacant_n, vacant_cap;
	uint32_t first, last; /* lanes with a pending patch and no op, in order; NONE: none */
	uint32_t op_n;
	struct bt_buf bytes; /* scratch */
};

static const struct bt_write_op_verbs verbs;

struct bt_statuses *bt_statuses_create(void)
{
	struct bt_statuses *statuses = bt_mem_zalloc(1, sizeof(*statuses));

	statuses->first = statuses->last = NONE;
	return statuses;
}

static void release_pending(struct bt_writer *writer, struct status_lane *lane)
{
	struct bt_intern *names = bt_pipeline_names(writer->pipeline);

	bt_intern_release(names, lane->patch);
	bt_intern_release(names, lane->namespace_);
	bt_intern_release(names, lane->name);
	bt_intern_release(names, lane->uid);
	lane->patch = lane->namespace_ = lane->name = lane->uid = BT_NAME_NONE;
}

void bt_statuses_destroy(struct bt_writer *writer, struct bt_statuses *statuses)
{
	for (size_t i = 0; i < statuses->n; i++) {
		release_pending(writer, &statuses->lanes[i]);
	}
	bt_buf_fini(&statuses->bytes);
	bt_map_fini(&statuses->by_key);
	bt_mem_free(statuses->lanes);
	bt_mem_free(statuses->vacant);
	bt_mem_free(statuses);
}

/* ---- lanes ---- */

static uint64_t write_status_key_of(const struct bt_pod_ref *ref)
{
	return ref->uid.len ? bt_hash_key(bt_hash_str(ref->uid))
			    : bt_pod_store_key(ref->namespace_, ref->name);
}

static struct status_lane *write_status_find(struct bt_statuses *statuses, const struct bt_pod_ref *ref)
{
	uint32_t ix;

	return bt_map_get(&statuses->by_key, write_status_key_of(ref), &ix) ? &statuses->lanes[ix] : NULL;
}

static struct status_lane *open_lane(struct bt_statuses *statuses, const struct bt_pod_ref *ref)
{
	uint32_t ix;

	if (statuses->vacant_n) {
		ix = statuses->vacant[--statuses->vacant_n];
	} else {
		statuses->lanes =
			bt_mem_grow(statuses->lanes, statuses->n, &statuses->cap, sizeof(*statuses->lanes));
		ix = (uint32_t)statuses->n++;
	}
	statuses->lanes[ix] = (struct status_lane){.key = write_status_key_of(ref), .next = NONE};
	bt_map_put(&statuses->by_key, statuses->lanes[ix].key, ix);
	return &statuses->lanes[ix];
}

static void close_lane(struct bt_statuses *statuses, struct status_lane *lane)
{
	bt_map_remove(&statuses->by_key, lane->key);
	lane->key = 0;
	statuses->vacant = bt_mem_grow(
		statuses->vacant, statuses->vacant_n, &statuses->vacant_cap, sizeof(*statuses->vacant));
	statuses->vacant[statuses->vacant_n++] = (uint32_t)(lane - statuses->lanes);
}

/* ---- pending patches ---- */

static void set_pending(struct bt_writer *writer, struct status_lane *lane, const struct bt_pod_ref *ref,
	const struct bt_api_status *status)
{
	struct bt_intern *names = bt_pipeline_names(writer->pipeline);
	struct bt_buf *bytes = &writer->statuses->bytes;
	struct status_lane old = *lane;

	bt_pod_texts_write(&(struct bt_api_pod){.nominated_node_name = status->nominated_node_name,
				   .conditions = &status->condition,
				   .condition_n = status->has_condition},
		bytes);
	lane->patch = bt_intern_hold(names, bt_buf_view(bytes));
	lane->namespace_ = bt_intern_hold(names, ref->namespace_);
	lane->name = bt_intern_hold(names, ref->name);
	lane->uid = bt_intern_hold(names, ref->uid);
	lane->nomination = status->nomination;
	release_pending(writer, &old);
}

static struct bt_api_status pending_of(
	const struct bt_writer *writer, const struct status_lane *lane, struct bt_arena *arena)
{
	struct bt_api_status status = {.nomination = lane->nomination};
	struct bt_api_pod texts;

	bt_pod_texts_read(bt_intern_str(bt_pipeline_names(writer->pipeline), lane->patch), arena, &texts);
	status.nominated_node_name = texts.nominated_node_name;
	status.has_condition = texts.condition_n;
	if (texts.condition_n) {
		status.condition = texts.conditions[0];
	}
	return status;
}

static void line_up(struct bt_statuses *statuses, struct status_lane *lane)
{
	uint32_t ix = (uint32_t)(lane - statuses->lanes);

	lane->next = NONE;
	if (statuses->first == NONE) {
		statuses->first = ix;
	} else {
		statuses->lanes[statuses->last].next = ix;
	}
	statuses->last = ix;
}

/* ---- views of pods ---- */

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

bool bt_status_view(struct bt_writer *writer, const struct bt_pod_ref *ref, struct bt_stored_pod *out_pod)
{
	bool known = bt_pod_store_get(writer->known, ref, &writer->scratch, out_pod);
	const struct status_lane *lane = write_status_find(writer->statuses, ref);

	if (lane && lane->flying) {
		overlay(writer, &out_pod->pod, &lane->flying->status);
	}
	if (lane && lane->waiting) {
		overlay(writer, &out_pod->pod, &lane->waiting->status);
	}
	if (lane && lane->patch) {
		const struct bt_api_status pending = pending_of(writer, lane, &writer->scratch);

		overlay(writer, &out_pod->pod, &pending);
	}
	return known;
}

/* ---- adding ---- */

/* Merges newer into the op; what it does not set stays. */
static void merge(struct bt_write_op *op, const struct bt_api_status *status)
{
	if (status->has_condition) {
		op->status.has_condition = true;
		op->status.condition = (struct bt_pod_condition){
			.type = bt_write_op_copy(op, status->condition.type),
			.status = bt_write_op_copy(op, status->condition.status),
			.reason = bt_write_op_copy(op, status->condition.reason),
			.message = bt_write_op_copy(op, status->condition.message),
			.transition_s = status->condition.transition_s,
			.observed_generation = status->condition.observed_generation,
		};
	}
	if (status->nomination != BT_NOMINATION_LEAVE) {
		op->status.nomination = status->nomination;
		op->status.nominated_node_name = bt_write_op_copy(op, status->nominated_node_name);
	}
}

/* Merges newer into the pending patch; what it does not set stays. */
static void merge_pending(struct bt_writer *writer, struct status_lane *lane, const struct bt_pod_ref *ref,
	const struct bt_api_status *newer)
{
	struct bt_api_status status = pending_of(writer, lane, &writer->scratch);

	if (newer->has_condition) {
		status.has_condition = true;
		status.condition = newer->condition;
	}
	if (newer->nomination != BT_NOMINATION_LEAVE) {
		status.nomination = newer->nomination;
		status.nominated_node_name = newer->nominated_node_name;
	}
	set_pending(writer, lane, ref, &status);
}

/* Pending patches become ops, while there is room. */
static void advance(struct bt_writer *writer)
{
	struct bt_statuses *statuses = writer->statuses;
	const struct bt_intern *names = bt_pipeline_names(writer->pipeline);

	while (statuses->first != NONE && statuses->op_n < OPS_MAX) {
		struct status_lane *lane = &statuses->lanes[statuses->first];
		struct bt_write_op *op = bt_write_op_create(writer, &verbs);
		const struct bt_pod_ref ref = {bt_intern_str(names, lane->namespace_),
			bt_intern_str(names, lane->name), bt_intern_str(names, lane->uid)};

		statuses->first = lane->next;
		statuses->op_n++;
		op->pod = bt_write_op_copy_ref(op, &ref);
		op->status = pending_of(writer, lane, &op->arena);
		op->stage = lane->group ? OF_GROUP : OF_POD;
		release_pending(writer, lane);
		lane->waiting = op;
		bt_write_op_queue(op);
	}
}

void bt_status_add(struct bt_writer *writer, const struct bt_api_call *call)
{
	const struct bt_pod_ref ref = {call->pod->namespace_, call->pod->name, call->pod->uid};
	struct status_lane *lane = write_status_find(writer->statuses, &ref);

	if (!lane) {
		lane = open_lane(writer->statuses, &ref);
		lane->group = call->verb == BT_API_PATCH_GROUP;
	}
	if (lane->waiting) {
		merge(lane->waiting, &call->status);
		BT_WRITE_COUNT(writer, patch_skipped_n);
	} else if (lane->patch) {
		merge_pending(writer, lane, &ref, &call->status);
		BT_WRITE_COUNT(writer, patch_skipped_n);
	} else {
		set_pending(writer, lane, &ref, &call->status);
		if (!lane->flying) {
			line_up(writer->statuses, lane);
			advance(writer);
		}
	}
}

/* ---- send ---- */

bool bt_status_make_way(struct bt_writer *writer, struct bt_write_op *binding)
{
	struct status_lane *lane = write_status_find(writer->statuses, &binding->pod);

	if (!lane) {
		return true;
	}
	BT_REQUIRE(!lane->binding);
	if (lane->waiting) { /* cancelled: it ends when it would be sent */
		lane->waiting->status = (struct bt_api_status){.nomination = BT_NOMINATION_LEAVE};
	}
	if (lane->patch) {
		set_pending(writer, lane, &binding->pod,
			&(struct bt_api_status){.nomination = BT_NOMINATION_LEAVE});
	}
	lane->binding = lane->flying ? binding : NULL;
	return !lane->binding;
}

/* The patch in flight, or waiting, has ended: starts the next one. */
static void write_status_end(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_statuses *statuses = writer->statuses;
	struct status_lane *lane = write_status_find(statuses, &op->pod);

	if (lane->flying == op) {
		lane->flying = NULL;
		if (lane->binding) {
			bt_write_op_queue_first(lane->binding);
			lane->binding = NULL;
		}
	} else {
		lane->waiting = NULL;
	}
	if (lane->patch) {
		line_up(statuses, lane);
	} else {
		close_lane(statuses, lane);
	}
	statuses->op_n--;
	bt_write_op_end(op);
	advance(writer);
}

static bool same(const struct bt_pod_condition *a, const struct bt_pod_condition *b)
{
	return a && bt_str_eq(a->status, b->status) && bt_str_eq(a->reason, b->reason) &&
	       bt_str_eq(a->message, b->message);
}

/* A group that was scheduled once stays scheduled. Source: updatePodGroupCondition, v1.37.2. */
static bool trim_group(struct bt_write_op *op, const struct bt_api_pod *group)
{
	struct bt_pod_condition *condition = &op->status.condition;
	const struct bt_pod_condition *old = bt_api_condition(group, condition->type);

	condition->observed_generation = group->generation;
	if (old && bt_str_eq(old->status, condition->status)) {
		condition->transition_s = old->transition_s;
	} else if (old && bt_str_is(old->status, "True")) {
		return false;
	}
	return !same(old, condition) || old->observed_generation != condition->observed_generation;
}

/* Removes what the API already has. Returns: whether anything is left. */
static bool trim(struct bt_write_op *op, const struct bt_api_pod *pod)
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

/* Source: updatePod in schedule_one.go, v1.36.3. */
static void log_update(const struct bt_write_op *op)
{
	static const char words[] = "Updating pod condition and nominated node name";
	const struct bt_pod_condition *condition = &op->status.condition;
	struct bt_log_field pod = bt_log_pod(op->pod.namespace_, op->pod.name);
	struct bt_log_field node = bt_log_str("nominatedNodeName", op->status.nominated_node_name);

	if (op->status.has_condition) {
		bt_log(BT_LOG_INFO, 3, words,
			bt_log_fields(pod, bt_log_str("conditionType", condition->type),
				bt_log_str("conditionStatus", condition->status),
				bt_log_str("conditionReason", condition->reason), node));
	} else {
		bt_log(BT_LOG_INFO, 3, words, bt_log_fields(pod, node));
	}
}

static struct bt_pod_store *store_of(const struct bt_writer *writer, const struct bt_write_op *op)
{
	return op->stage == OF_GROUP ? writer->known_groups : writer->known;
}

/* In the version in which the watch has shown the group. */
static struct bt_str group_path(struct bt_writer *writer, const struct bt_api_pod *group)
{
	bt_buf_clear(&writer->text);
	bt_buf_printf(&writer->text, "/apis/%.*s", BT_STR_ARG(group->scheduler_name));
	return bt_write_path(
		writer, writer->text.ptr, group->namespace_, "/podgroups/", group->name, "/status");
}

static bool request(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call)
{
	struct status_lane *lane = write_status_find(writer->statuses, &op->pod);
	struct bt_stored_pod known;

	/* A pod that was bound meanwhile has the server's condition. */
	if (!bt_pod_store_get(store_of(writer, op), &op->pod, &writer->scratch, &known) || !known.waits ||
		!(op->stage == OF_GROUP ? trim_group(op, &known.pod) : trim(op, &known.pod))) {
		BT_WRITE_COUNT(writer, patch_skipped_n);
		write_status_end(writer, op);
		return false;
	}
	lane->flying = op;
	lane->waiting = lane->waiting == op ? NULL : lane->waiting;
	const struct bt_api_call call = {
		.verb = op->stage == OF_GROUP ? BT_API_PATCH_GROUP : BT_API_PATCH_STATUS,
		.pod = &known.pod,
		.status = op->status};
	bt_api_patch_write(&call, &writer->body);
	*out_call = (struct bt_http_call){.method = BT_HTTP_PATCH,
		.path = op->stage == OF_GROUP ? group_path(writer, &known.pod)
					      : bt_write_pod_path(writer, &op->pod, "/status"),
		.content_type = bt_str("application/strategic-merge-patch+json"),
		.body = bt_buf_view(&writer->body)};
	if (op->stage == OF_POD) {
		log_update(op);
	}
	BT_WRITE_COUNT(writer, patch_n);
	return true;
}

/* Queues it again, merged with newer patches, unless a binding waits for it. Returns: false when it has
 * ended. */
static bool try_again(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	struct status_lane *lane = write_status_find(writer->statuses, &op->pod);

	if (lane->binding || !bt_write_op_again(op, answer)) {
		return false;
	}
	lane->flying = NULL;
	lane->waiting = op;
	if (lane->patch) {
		const struct bt_api_status newer = pending_of(writer, lane, &writer->scratch);

		merge(op, &newer);
		release_pending(writer, lane);
		BT_WRITE_COUNT(writer, patch_skipped_n);
	}
	return true;
}

static void answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	if (answer->fate == BT_FATE_DONE) {
		bt_pod_store_patched(store_of(writer, op), &op->pod, &op->status);
	} else if (try_again(writer, op, answer)) {
		return;
	} else {
		BT_WRITE_COUNT(writer, patch_failed_n);
		if (answer->status != 404) { /* it is deleted */
			bt_write_log_error(&writer->patch_log_limit,
				op->stage == OF_GROUP ? "A PodGroup's status could not be patched"
						      : "A pod's status could not be patched",
				&op->pod, bt_write_message(writer, answer));
		}
	}
	write_status_end(writer, op);
}

static void fenced(struct bt_writer *writer, struct bt_write_op *op)
{
	write_status_end(writer, op);
}

static void write_status_begin(struct bt_writer *writer, struct bt_write_op *op)
{
	(void)writer;
	bt_write_op_queue(op);
}

/* Drops the pending patch behind it with its lane, and gives up a binding that waits for it. */
static void given_up(struct bt_writer *writer, struct bt_write_op *op, bool sent)
{
	struct status_lane *lane = write_status_find(writer->statuses, &op->pod);

	(void)sent;
	if (lane && lane->binding) {
		lane->binding->verbs->given_up(writer, lane->binding, false);
		bt_write_op_end(lane->binding);
		lane->binding = NULL;
	}
}

static const struct bt_write_op_verbs verbs = {
	BT_CLASS_STATUS, write_status_begin, request, answered, fenced, given_up};
