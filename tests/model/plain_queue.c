/* SPDX-License-Identifier: Apache-2.0
 * A plain model of the scheduling queue.
 */
#include "plain_queue.h"

#include "engine/base/check.h"

/* The effect of an event on a pod. */
enum static_score { NOTHING = 0, AFTER_BACKOFF, AT_ONCE };

static bool refused(const struct plain_pod *pod)
{
	return pod->unschedulable_plugins || pod->pending;
}

/* Does it stay in backoff until that ends? */
static bool is_patient(const struct plain_pod *pod)
{
	return pod->patient || !refused(pod);
}

/* ---- time ---- */

static int64_t window(const struct plain_queue *q, int64_t time_ns)
{
	return q->options.pop_from_backoff ? time_ns / BT_QUEUE_SECOND * BT_QUEUE_SECOND : time_ns;
}

static int64_t expiry_of(const struct plain_queue *q, const struct plain_pod *pod)
{
	uint32_t count = pod->errors ? pod->errors : pod->refusals;
	int64_t wait = q->options.initial_backoff_ns;

	if (q->options.max_backoff_ns == 0) {
		return INT64_MIN;
	}
	for (uint32_t i = 1; i < count && wait < q->options.max_backoff_ns; i++) {
		wait *= 2;
	}
	if (wait > q->options.max_backoff_ns) {
		wait = q->options.max_backoff_ns;
	}
	return window(q, pod->timestamp_ns + wait);
}

static bool backs_off(const struct plain_queue *q, const struct plain_pod *pod, int64_t now_ns)
{
	return pod->expiry_ns != INT64_MIN && pod->expiry_ns >= window(q, now_ns);
}

/* ---- queues ---- */

static bool passes(struct plain_queue *q, uint32_t pod_ix)
{
	struct plain_pod *pod = &q->pods[pod_ix];

	pod->gate = q->options.hooks.gate(q->options.hooks.context, pod_ix, pod->gate);
	if (pod->gate != BT_QUEUE_NO_GATE) {
		pod->unschedulable_plugins |= bt_plugin_set_of((uint32_t)pod->gate);
	}
	return pod->gate == BT_QUEUE_NO_GATE;
}

static void enter_active(struct plain_pod *pod, int64_t now_ns)
{
	pod->where = BT_WAIT_ACTIVE;
	pod->first_ns = pod->first_ns == INT64_MAX ? now_ns : pod->first_ns;
}

static void make_active(struct plain_queue *q, uint32_t pod_ix, int64_t now_ns)
{
	if (passes(q, pod_ix)) {
		enter_active(&q->pods[pod_ix], now_ns);
	} else {
		q->pods[pod_ix].where = BT_WAIT_GATED;
	}
}

static void let(struct plain_queue *q, uint32_t pod_ix, enum static_score static_score, int64_t now_ns)
{
	struct plain_pod *pod = &q->pods[pod_ix];

	if (static_score == NOTHING) {
		pod->where = pod->gate == BT_QUEUE_NO_GATE ? BT_WAIT_UNSCHEDULABLE : BT_WAIT_GATED;
	} else if (static_score == AT_ONCE || !backs_off(q, pod, now_ns)) {
		make_active(q, pod_ix, now_ns);
	} else if (q->options.pop_from_backoff && !passes(q, pod_ix)) {
		pod->where = BT_WAIT_GATED;
	} else {
		pod->where = BT_WAIT_BACKOFF;
		q->backoff_n++;
	}
}

/* Runs the hint of each plugin. */
static enum static_score static_score_of(
	const struct plain_queue *q, uint32_t pod_ix, const struct bt_cluster_event *event)
{
	const struct bt_queue_hooks *hooks = &q->options.hooks;
	const struct plain_pod *pod = &q->pods[pod_ix];
	enum static_score static_score = NOTHING;

	if (!refused(pod) || event->resource == BT_CLUSTER_EVENT_WILDCARD) {
		return AFTER_BACKOFF;
	}
	for (uint32_t plugin = 0; plugin < BT_PLUGIN_SET_ROOM; plugin++) {
		bt_plugin_set bit = bt_plugin_set_of(plugin);

		if (((pod->unschedulable_plugins | pod->pending) & bit) &&
			hooks->hint(hooks->context, pod_ix, event, bit)) {
			static_score = pod->pending & bit	 ? AT_ONCE
				       : static_score == NOTHING ? AFTER_BACKOFF
								 : static_score;
		}
	}
	return static_score;
}

/* ---- events for pods in flight ---- */

static uint32_t longest_log(const struct plain_queue *q)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < PLAIN_PODS; i++) {
		if (q->pods[i].where == BT_WAIT_IN_FLIGHT && q->pods[i].log_n > most) {
			most = q->pods[i].log_n;
		}
	}
	return most;
}

static void keep(struct plain_queue *q, const struct bt_cluster_event *event, uint32_t only)
{
	bool full = longest_log(q) >= q->options.log_limit;

	q->overflow_n += full;
	for (uint32_t i = 0; i < PLAIN_PODS; i++) {
		struct plain_pod *pod = &q->pods[i];

		if (pod->where != BT_WAIT_IN_FLIGHT) {
			continue;
		}
		if (full) {
			pod->missed = true;
			pod->log_n = 0;
		}
		BT_REQUIRE(pod->log_n < PLAIN_LOG);
		pod->log[pod->log_n++] = (struct plain_logged){*event, only};
	}
}

static enum static_score static_score_of_log(const struct plain_queue *q, uint32_t pod_ix)
{
	const struct plain_pod *pod = &q->pods[pod_ix];
	enum static_score best = NOTHING;

	if (pod->where == BT_WAIT_BINDING || pod->missed || !refused(pod)) {
		return AFTER_BACKOFF;
	}
	for (uint32_t i = 0; i < pod->log_n; i++) {
		const struct plain_logged *logged = &pod->log[i];

		if (logged->only == BT_QUEUE_EMPTY || logged->only == pod_ix) {
			enum static_score static_score = static_score_of(q, pod_ix, &logged->event);

			best = static_score > best ? static_score : best;
		}
	}
	return best;
}

/* ---- public functions ---- */

enum bt_wait plain_add(
	struct plain_queue *q, uint32_t pod_ix, struct bt_queue_kind kind, int64_t timestamp_ns)
{
	q->pods[pod_ix] = (struct plain_pod){.kind = kind,
		.gate = BT_QUEUE_NO_GATE,
		.entered_ns = timestamp_ns,
		.timestamp_ns = timestamp_ns,
		.flush_ns = INT64_MIN,
		.expiry_ns = INT64_MIN,
		.first_ns = INT64_MAX,
		.order = ++q->orders};
	make_active(q, pod_ix, timestamp_ns);
	return q->pods[pod_ix].where;
}

bool plain_before(const struct plain_queue *q, uint32_t a, uint32_t b)
{
	const struct plain_pod *x = &q->pods[a], *y = &q->pods[b];

	if (x->where == BT_WAIT_BACKOFF) {
		if (is_patient(x) != is_patient(y)) {
			return is_patient(y);
		}
		if (x->expiry_ns != y->expiry_ns) {
			return x->expiry_ns < y->expiry_ns;
		}
		if (!is_patient(x) && !q->options.pop_from_backoff) {
			return x->order < y->order;
		}
	}
	if (x->kind.priority != y->kind.priority) {
		return x->kind.priority > y->kind.priority;
	}
	return x->timestamp_ns != y->timestamp_ns ? x->timestamp_ns < y->timestamp_ns : x->order < y->order;
}

static uint32_t first_in(const struct plain_queue *q, enum bt_wait where)
{
	uint32_t first = BT_QUEUE_EMPTY;

	for (uint32_t i = 0; i < PLAIN_PODS; i++) {
		if (q->pods[i].where == where && (first == BT_QUEUE_EMPTY || plain_before(q, i, first))) {
			first = i;
		}
	}
	return first;
}

void plain_begin(struct plain_queue *q, uint32_t pod_ix)
{
	struct plain_pod *pod = &q->pods[pod_ix];

	pod->where = BT_WAIT_IN_FLIGHT;
	pod->attempts++;
	pod->log_n = 0;
	pod->missed = pod->patient = false;
}

uint32_t plain_pop(struct plain_queue *q)
{
	uint32_t first = first_in(q, BT_WAIT_ACTIVE);

	if (first == BT_QUEUE_EMPTY && q->options.pop_from_backoff) {
		first = first_in(q, BT_WAIT_BACKOFF);
		if (first != BT_QUEUE_EMPTY && is_patient(&q->pods[first])) {
			return BT_QUEUE_EMPTY;
		}
	}
	if (first != BT_QUEUE_EMPTY) {
		plain_begin(q, first);
	}
	return first;
}

enum bt_status plain_take(struct plain_queue *q, uint32_t pod_ix)
{
	enum bt_wait where = q->pods[pod_ix].where;

	if (where != BT_WAIT_ACTIVE && where != BT_WAIT_BACKOFF && where != BT_WAIT_UNSCHEDULABLE) {
		return BT_NOT_FOUND;
	}
	plain_begin(q, pod_ix);
	return BT_OK;
}

void plain_done(struct plain_queue *q, uint32_t pod_ix)
{
	q->pods[pod_ix].where = BT_WAIT_BINDING;
}

enum bt_wait plain_refuse(struct plain_queue *q, uint32_t pod_ix, bt_plugin_set unschedulable_plugins,
	bt_plugin_set pending, int64_t now_ns)
{
	struct plain_pod *pod = &q->pods[pod_ix];

	pod->unschedulable_plugins = unschedulable_plugins;
	pod->pending = pending;
	pod->refusals += refused(pod);
	pod->errors = refused(pod) ? 0 : pod->errors + 1;
	pod->timestamp_ns = now_ns;
	pod->flush_ns = INT64_MIN;
	pod->expiry_ns = expiry_of(q, pod);
	pod->flushed = false;
	let(q, pod_ix, static_score_of_log(q, pod_ix), now_ns);
	return pod->where;
}

enum bt_status plain_remove(struct plain_queue *q, uint32_t pod_ix)
{
	if (q->pods[pod_ix].where == BT_WAIT_NOWHERE) {
		return BT_NOT_FOUND;
	}
	q->pods[pod_ix] = (struct plain_pod){.gate = BT_QUEUE_NO_GATE};
	return BT_OK;
}

enum bt_wait plain_update(struct plain_queue *q, uint32_t pod_ix, struct bt_queue_kind kind,
	const struct bt_cluster_event *events, uint32_t n, int64_t now_ns)
{
	struct plain_pod *pod = &q->pods[pod_ix];

	if (pod->where == BT_WAIT_NOWHERE) {
		return plain_add(q, pod_ix, kind, now_ns);
	}
	pod->kind = kind;
	for (uint32_t i = 0; i < n; i++) {
		if (pod->where == BT_WAIT_IN_FLIGHT) {
			keep(q, &events[i], BT_QUEUE_EMPTY);
		} else if (pod->where == BT_WAIT_UNSCHEDULABLE || pod->where == BT_WAIT_GATED) {
			let(q, pod_ix, static_score_of(q, pod_ix, &events[i]), now_ns);
		}
	}
	return pod->where;
}

void plain_move(
	struct plain_queue *q, const struct bt_cluster_event *event, int32_t max_priority, int64_t now_ns)
{
	const struct bt_queue_hooks *hooks = &q->options.hooks;

	if (hooks->matters(hooks->context, event) == 0) {
		return;
	}
	for (uint32_t i = 0; i < PLAIN_PODS; i++) {
		const struct plain_pod *pod = &q->pods[i];
		bool gated = pod->where == BT_WAIT_GATED;

		if ((pod->where != BT_WAIT_UNSCHEDULABLE && !gated) || pod->kind.priority > max_priority) {
			continue;
		}
		if (gated && (event->resource == BT_CLUSTER_EVENT_WILDCARD ||
				     !(hooks->interested(hooks->context, i, event) >> pod->gate & 1))) {
			continue;
		}
		enum static_score static_score = static_score_of(q, i, event);
		if (static_score != NOTHING) {
			let(q, i, static_score, now_ns);
			q->moved_n += pod->where != BT_WAIT_GATED;
		}
	}
	keep(q, event, BT_QUEUE_EMPTY);
}

void plain_back_off(struct plain_queue *q, uint32_t pod_ix)
{
	q->pods[pod_ix].missed = true;
}

void plain_activate(struct plain_queue *q, uint32_t pod_ix, int64_t now_ns)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_WILDCARD};
	struct plain_pod *pod = &q->pods[pod_ix];

	if (pod->where == BT_WAIT_IN_FLIGHT) {
		keep(q, &event, pod_ix);
	} else if (pod->where == BT_WAIT_BACKOFF && q->options.pop_from_backoff) {
		enter_active(pod, now_ns);
	} else if (pod->where == BT_WAIT_BACKOFF || pod->where == BT_WAIT_UNSCHEDULABLE ||
		   pod->where == BT_WAIT_GATED) {
		make_active(q, pod_ix, now_ns);
	}
}

void plain_try_again(struct plain_queue *q, uint32_t pod_ix, int64_t now_ns)
{
	struct plain_pod *pod = &q->pods[pod_ix];

	if (pod->where == BT_WAIT_IN_FLIGHT) {
		pod->missed = pod->patient = true;
	} else if (pod->where == BT_WAIT_UNSCHEDULABLE || pod->where == BT_WAIT_GATED) {
		pod->patient = true;
		let(q, pod_ix, AFTER_BACKOFF, now_ns);
	} else if (pod->where == BT_WAIT_BACKOFF) {
		pod->patient = true;
	}
}

void plain_flush_backoff(struct plain_queue *q, int64_t now_ns)
{
	for (uint32_t i = 0; i < PLAIN_PODS; i++) {
		struct plain_pod *pod = &q->pods[i];

		if (pod->where != BT_WAIT_BACKOFF || backs_off(q, pod, now_ns)) {
			continue;
		}
		if (q->options.pop_from_backoff) {
			enter_active(pod, now_ns);
		} else {
			make_active(q, i, now_ns);
		}
	}
}

bool plain_is_stuck(const struct plain_queue *q, uint32_t pod_ix)
{
	const struct plain_pod *pod = &q->pods[pod_ix];

	return pod->where == BT_WAIT_GATED &&
	       q->options.hooks.stuck(q->options.hooks.context, pod_ix, pod->gate);
}

void plain_flush_unschedulable(struct plain_queue *q, int64_t now_ns)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_WILDCARD};
	bool any = false;

	for (uint32_t i = 0; i < PLAIN_PODS; i++) {
		struct plain_pod *pod = &q->pods[i];
		bool held = pod->where == BT_WAIT_UNSCHEDULABLE || pod->where == BT_WAIT_GATED;

		int64_t since_ns = pod->flush_ns > pod->timestamp_ns ? pod->flush_ns : pod->timestamp_ns;

		if (!held || now_ns - since_ns <= q->options.max_unschedulable_ns) {
			continue;
		}
		any = true;
		if (pod->where == BT_WAIT_UNSCHEDULABLE || q->options.flush_runs_pre_enqueue ||
			plain_is_stuck(q, i)) {
			pod->flushed = true;
			pod->flush_ns = q->options.flush_runs_pre_enqueue ? now_ns : INT64_MIN;
			q->flushed_n++;
			let(q, i, AFTER_BACKOFF, now_ns);
		}
	}
	if (any) {
		keep(q, &event, BT_QUEUE_EMPTY);
	}
}

uint32_t plain_list(const struct plain_queue *q, enum bt_wait where, uint32_t *pods)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PLAIN_PODS; i++) {
		if (q->pods[i].where != where) {
			continue;
		}
		uint32_t at = n++;
		while (at > 0 && plain_before(q, i, pods[at - 1])) {
			pods[at] = pods[at - 1];
			at--;
		}
		pods[at] = i;
	}
	return n;
}
