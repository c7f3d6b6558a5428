/* SPDX-License-Identifier: Apache-2.0
 * kube-scheduler's log lines about cycles.
 */
#include "tools/cluster/run/cycle_log.h"

#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/group_cycle.h"
#include "tools/kube/log/log.h"

#define SECOND_NS INT64_C(1000000000)

/* kube-scheduler's levels */
enum { ABOUT_PODS = 2, ABOUT_ATTEMPTS = 3, ABOUT_DETAILS = 4 };

/* Fields of a decision that are logged again at its binding. The key is the pod's index, which is stable
 * while it is being bound; a later decision about the same index overwrites the entry of a binding that never
 * ended. */
struct logged_decision {
	uint32_t evaluated_n, feasible_n;
};

struct bt_cycle_log {
	bool binds;
	struct logged_decision *placed; /* by pod */
	size_t cap;
	struct bt_log_limit error_log_limit;
};

struct bt_cycle_log *bt_cycle_log_create(bool binds)
{
	struct bt_cycle_log *log = bt_mem_zalloc(1, sizeof(*log));

	log->binds = binds;
	return log;
}

void bt_cycle_log_destroy(struct bt_cycle_log *log)
{
	if (log) {
		bt_mem_free(log->placed);
		bt_mem_free(log);
	}
}

struct bt_log_field bt_cycle_log_pod(struct bt_engine *engine, const char *key, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	const struct bt_intern *intern = cache->dictionary->intern;

	return bt_log_object(
		key, bt_intern_str(intern, pod->signature->namespace_), bt_intern_str(intern, pod->name));
}

static struct bt_log_field node_of(struct bt_engine *engine, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(engine);

	return bt_log_str("node", node_ix == BT_NO_NODE ? (struct bt_str){.len = 0}
							: bt_intern_str(cache->dictionary->intern,
								  cache->view.snapshot->nodes[node_ix].name));
}

void bt_cycle_log_begins(const struct bt_cycle_log *log, struct bt_engine *engine, uint32_t pod_ix)
{
	/* The level may change at any time (/debug/flags/v). */
	bt_engine_count_nodes(engine, log->binds && bt_log_enabled(ABOUT_PODS));
	if (!bt_log_enabled(ABOUT_ATTEMPTS) ||
		bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix)->terminating) {
		return;
	}
	const struct bt_log_field *fields = bt_log_fields(bt_cycle_log_pod(engine, "pod", pod_ix));

	bt_log(BT_LOG_INFO, ABOUT_DETAILS, "About to try and schedule pod", fields);
	bt_log(BT_LOG_INFO, ABOUT_ATTEMPTS, "Attempting to schedule pod", fields);
}

static void cycle_log_keep(struct bt_cycle_log *log, const struct bt_decision *decision)
{
	if (!log->binds) {
		return;
	}
	while (decision->pod_ix >= log->cap) {
		size_t old = log->cap;

		log->placed = bt_mem_grow(log->placed, old, &log->cap, sizeof(*log->placed));
		memset(log->placed + old, 0, (log->cap - old) * sizeof(*log->placed));
	}
	log->placed[decision->pod_ix] = (struct logged_decision){decision->evaluated_n, decision->feasible_n};
}

/* Number of victims that are not already terminating. */
static uint32_t to_delete(struct bt_engine *engine, const struct bt_decision *decision)
{
	const struct bt_ledger *ledger = bt_engine_cache(engine)->ledger;
	uint32_t n = 0;

	for (uint32_t i = 0; i < decision->victim_n; i++) {
		n += !bt_ledger_pod(ledger, decision->victims[i].pod_ix)->terminating;
	}
	return n;
}

static void log_preemption(struct bt_engine *engine, const struct bt_decision *decision)
{
	struct bt_log_field node = node_of(engine, decision->nominated_ix);

	if (decision->preempt != BT_PREEMPT_FOUND) {
		if (decision->preempt == BT_PREEMPT_NOWHERE) {
			bt_log(BT_LOG_INFO, ABOUT_PODS,
				"No preemption candidate is found; preemption is not helpful for scheduling",
				bt_log_fields(bt_cycle_log_pod(engine, "pod", decision->pod_ix)));
		}
		return;
	}
	bt_log(BT_LOG_INFO, ABOUT_PODS, "the target node for the preemption is determined",
		bt_log_fields(node, bt_cycle_log_pod(engine, "pod", decision->pod_ix)));
	bt_log(BT_LOG_INFO, ABOUT_PODS, "Start the preemption asynchronously",
		bt_log_fields(bt_cycle_log_pod(engine, "preemptor", decision->pod_ix), node,
			bt_log_int("numVictims", decision->victim_n),
			bt_log_int("numVictimsToDelete", to_delete(engine, decision))));
}

static void log_refused(struct bt_engine *engine, const struct bt_decision *decision, struct bt_str message)
{
	struct bt_log_field pod = bt_cycle_log_pod(engine, "pod", decision->pod_ix);

	if (bt_engine_cache(engine)->view.snapshot->node_n == 0) {
		bt_log(BT_LOG_INFO, ABOUT_PODS,
			"Unable to schedule pod; no nodes are registered to the cluster; waiting",
			bt_log_fields(pod));
		return;
	}
	log_preemption(engine, decision);
	bt_log(BT_LOG_INFO, ABOUT_PODS,
		bt_engine_in_group(engine, decision->pod_ix)
			? "Unable to schedule pod belonging to a pod group; waiting"
			: "Unable to schedule pod; no fit; waiting",
		bt_log_fields(pod, bt_log_str("err", message)));
}

/* An error is logged at every level, at most once a second with the number held back. */
static void log_failed(struct bt_cycle_log *log, struct bt_engine *engine, const struct bt_decision *decision,
	struct bt_str message)
{
	uint64_t held_n;

	if (bt_log_due(&log->error_log_limit, bt_clock_monotonic_ns(), SECOND_NS, &held_n)) {
		bt_log(BT_LOG_ERROR, 0, "Error scheduling pod; retrying",
			bt_log_fields(bt_log_str("err", message),
				bt_cycle_log_pod(engine, "pod", decision->pod_ix),
				bt_log_int("others", (int64_t)held_n)));
	}
}

void bt_cycle_log_ended(struct bt_cycle_log *log, struct bt_engine *engine,
	const struct bt_decision *decision, struct bt_str message)
{
	if (decision->outcome == BT_FAILED) {
		log_failed(log, engine, decision, message);
	}
	if (!bt_log_enabled(ABOUT_PODS)) {
		return;
	}
	switch (decision->outcome) {
	case BT_PLACED:
		cycle_log_keep(log, decision);
		break;
	case BT_REFUSED:
		log_refused(engine, decision, message);
		break;
	case BT_SKIPPED:
		bt_log(BT_LOG_INFO, ABOUT_ATTEMPTS, "Skip schedule deleting pod",
			bt_log_fields(bt_cycle_log_pod(engine, "pod", decision->pod_ix)));
		break;
	case BT_GATED:
	case BT_FAILED:
		break;
	}
}

/* Source: submitPodGroupAlgorithmResult, v1.37.2. */
void bt_cycle_log_group_ended(
	struct bt_cycle_log *log, struct bt_engine *engine, const struct bt_group_end *end)
{
	const struct bt_intern *intern = bt_engine_cache(engine)->dictionary->intern;
	struct bt_log_field group = bt_log_object(
		"podGroup", bt_intern_str(intern, end->namespace_), bt_intern_str(intern, end->name));
	struct bt_log_field others = bt_log_int("unschedulablePods", end->unschedulable_n);
	struct bt_log_field why = bt_log_str("err", end->message);
	uint64_t held_n;

	switch (end->outcome) {
	case BT_GROUP_SCHEDULED:
		bt_log(BT_LOG_INFO, ABOUT_PODS, "Successfully scheduled a pod group",
			bt_log_fields(group, bt_log_int("scheduledPods", end->scheduled_n), others));
		break;
	case BT_GROUP_WAITS_ON_PREEMPTION:
		bt_log(BT_LOG_INFO, ABOUT_PODS, "Pod group is waiting for preemption",
			bt_log_fields(group, others, why));
		break;
	case BT_GROUP_UNSCHEDULABLE:
		bt_log(BT_LOG_INFO, ABOUT_PODS, "Unable to schedule a pod group",
			bt_log_fields(group, others, why));
		break;
	case BT_GROUP_ERROR:
		if (bt_log_due(&log->error_log_limit, bt_clock_monotonic_ns(), SECOND_NS, &held_n)) {
			bt_log(BT_LOG_ERROR, 0, "Error scheduling pod group",
				bt_log_fields(why, group, bt_log_int("errorPods", end->unschedulable_n),
					bt_log_int("heldBack", (int64_t)held_n)));
		}
		break;
	}
}

/* Source: RunPermitPlugins, WaitOnPermit, v1.35.4. */
void bt_cycle_log_waits(struct bt_engine *engine, uint32_t pod_ix)
{
	if (!bt_log_enabled(ABOUT_DETAILS)) {
		return;
	}
	const struct bt_log_field *fields = bt_log_fields(bt_cycle_log_pod(engine, "pod", pod_ix));

	bt_log(BT_LOG_INFO, ABOUT_DETAILS, "One or more plugins asked to wait and no plugin rejected pod",
		fields);
	bt_log(BT_LOG_INFO, ABOUT_DETAILS, "Pod waiting on permit", fields);
}

void bt_cycle_log_bound(struct bt_cycle_log *log, struct bt_engine *engine, uint32_t pod_ix, bool yes,
	const struct bt_queue_info *info)
{
	if (!log->binds || !bt_log_enabled(1)) {
		return;
	}
	struct bt_log_field pod = bt_cycle_log_pod(engine, "pod", pod_ix);

	if (!yes) {
		bt_log(BT_LOG_INFO, 1, "Failed to bind pod", bt_log_fields(pod));
		return;
	}
	/* A decision made before the level was raised has no entry. */
	struct logged_decision placed = pod_ix < log->cap ? log->placed[pod_ix] : (struct logged_decision){0};

	bt_log(BT_LOG_INFO, ABOUT_PODS, "Successfully bound pod to node",
		bt_log_fields(pod,
			node_of(engine, bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix)->node_ix),
			bt_log_int("evaluatedNodes", placed.evaluated_n),
			bt_log_int("feasibleNodes", placed.feasible_n)));
	if (info->flushed) {
		bt_log(BT_LOG_INFO, ABOUT_DETAILS, "Pod scheduled after flush from unschedulablePods",
			bt_log_fields(pod));
	}
}
