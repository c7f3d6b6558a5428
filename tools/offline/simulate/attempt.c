/* SPDX-License-Identifier: Apache-2.0
 * Handles the result of a pod's attempt in a run: logs, explains and counts it.
 */
#include "tools/offline/simulate/run_int.h"

void bt_simulate_run_use(struct bt_simulate_run *run, uint32_t pod_ix, double sign)
{
	struct bt_amounts used = bt_simulate_run_pod(run, pod_ix)->signature->requests.used;

	run->uses[BT_FIRST_RARE].now += sign;
	for (uint32_t i = 0; i < used.n && used.items[i].slot < BT_FIRST_RARE; i++) {
		run->uses[used.items[i].slot].now += sign * (double)used.items[i].amount;
	}
}

struct bt_simulate_run_watch *bt_simulate_run_find_watch(
	struct bt_simulate_run *run, struct bt_str namespace_, struct bt_str name)
{
	for (size_t i = 0; i < run->watch_n; i++) {
		struct bt_str wanted = run->watches[i].pod;
		size_t slash = bt_str_find(wanted, '/', 0);

		if (bt_str_eq(bt_str_sub(wanted, 0, slash), namespace_) &&
			bt_str_eq(bt_str_sub(wanted, slash + (slash < wanted.len), wanted.len), name)) {
			return &run->watches[i];
		}
	}
	return NULL;
}

static struct bt_simulate_run_watch *watch_of(struct bt_simulate_run *run, uint32_t pod_ix)
{
	const struct bt_intern *intern = bt_engine_cache(run->engine)->dictionary->intern;
	const struct bt_pod *pod = run->watch_n ? bt_simulate_run_pod(run, pod_ix) : NULL;

	return pod ? bt_simulate_run_find_watch(run, bt_intern_str(intern, pod->signature->namespace_),
			     bt_intern_str(intern, pod->name))
		   : NULL;
}

void bt_simulate_run_watch_taints(struct bt_simulate_run *run, uint32_t pod_ix, int64_t since_ns)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(run->engine)->view.snapshot;

	if (run->taint_evictions) {
		bt_taint_evictions_bound(run->taint_evictions, pod_ix,
			snapshot->nodes[bt_simulate_run_pod(run, pod_ix)->node_ix].name, since_ns,
			run->now_ns);
	}
}

/* Explains a pod that --explain names. */
static void explain_watched(void *context, uint32_t pod_ix)
{
	struct bt_simulate_run *run = context;
	struct bt_simulate_run_watch *watch = watch_of(run, pod_ix);

	if (watch) {
		run->explain(run->context, watch, pod_ix);
	}
}

/* Logs and counts a decision that has been carried out. */
static void note_decision(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
	uint32_t nominated, struct bt_str message)
{
	struct bt_simulate_run *run = context;

	struct bt_simulate_run_watch *watch = watch_of(run, decision->pod_ix);

	if (watch && run->explained) {
		run->explained(run->context, watch, decision);
	}
	if (decision->outcome == BT_PLACED) {
		bt_simulate_run_use(run, decision->pod_ix, 1);
		bt_simulate_run_watch_taints(run, decision->pod_ix, run->now_ns);
	}
	bt_simulate_tally_decision(&run->tally, decision, info,
		info->entered_ns > run->begin_ns ? info->entered_ns : run->begin_ns, run->now_ns);
	bt_decision_log_decision(&run->decisions, decision, message);
	if (run->api) {
		bt_api_log_decision(run->api, decision, nominated, message);
	}
}

static void note_wait(void *context, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_simulate_run *run = context;

	if (run->api) {
		bt_api_log_waits(run->api, pod_ix, node_ix);
	}
}

static void note_preempted(void *context, uint32_t victim_ix, uint32_t preemptor_ix, uint32_t node_ix)
{
	struct bt_simulate_run *run = context;

	(void)preemptor_ix;
	(void)node_ix;
	if (run->api) {
		bt_api_log_reject(run->api, victim_ix);
	}
}

struct bt_pipeline_sink bt_simulate_run_sink(struct bt_simulate_run *run)
{
	return (struct bt_pipeline_sink){.cycle_begins = explain_watched,
		.cycle_ended = note_decision,
		.waits = note_wait,
		.preempted = note_preempted,
		.context = run};
}
