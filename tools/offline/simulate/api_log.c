/* SPDX-License-Identifier: Apache-2.0
 * The log of calls to the API server.
 */
#include "tools/offline/simulate/api_log.h"

#include "engine/base/mem.h"
#include "engine/model/kind.h"
#include "tools/kube/report/api_call.h"
#include "tools/kube/report/pod_status.h"

#define NS_PER_S INT64_C(1000000000)

struct bt_api_log_pod {
	struct bt_pod_status status;
	int64_t generation;
};

static struct bt_api_log_pod *status_of(struct bt_api_log *log, uint32_t pod_ix)
{
	while (pod_ix >= log->pod_n) {
		size_t old = log->pod_n;

		log->pods = bt_mem_grow(log->pods, old, &log->pod_n, sizeof(*log->pods));
		memset(log->pods + old, 0, (log->pod_n - old) * sizeof(*log->pods));
	}
	return &log->pods[pod_ix];
}

static struct bt_str node_name(const struct bt_api_log *log, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(log->engine);

	return node_ix == BT_NO_NODE
		       ? (struct bt_str){.len = 0}
		       : bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
}

static struct bt_api_pod api_pod(struct bt_api_log *log, uint32_t pod_ix, struct bt_str nominated)
{
	const struct bt_cache *cache = bt_engine_cache(log->engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	const struct bt_api_log_pod *known = status_of(log, pod_ix);
	struct bt_api_pod out = {
		.namespace_ = bt_intern_str(intern, pod->signature->namespace_),
		.name = bt_intern_str(intern, pod->name),
		.scheduler_name = bt_intern_str(intern, pod->signature->scheduler_name),
		.conditions = known->status.conditions,
		.condition_n = (uint32_t)known->status.n,
		.generation = known->generation,
		.nominated_node_name = nominated,
	};

	if (pod->uid != BT_NAME_NONE) {
		out.uid = bt_intern_str(intern, pod->uid);
	}
	return out;
}

static struct bt_api_pod api_group(const struct bt_api_log *log, uint32_t pod_ix)
{
	const struct bt_group_ref group = bt_engine_group_of(log->engine, pod_ix);

	return (struct bt_api_pod){.namespace_ = group.namespace_,
		.name = group.name,
		.uid = group.uid,
		.composite = group.composite,
		.group_version = group.composite
					 ? bt_kind_api_version(bt_kind_info(BT_KIND_COMPOSITE_POD_GROUP))
					 : bt_str(bt_release_text(bt_engine_kubernetes(log->engine),
						   BT_TEXT_GROUP_VERSION))};
}

void bt_api_log_entered(struct bt_api_log *log, uint32_t pod_ix, const struct bt_pod_object *pod)
{
	struct bt_api_log_pod *known = status_of(log, pod_ix);

	known->generation = pod->meta.generation;
	bt_pod_status_take(&known->status, pod);
}

/* Every call has its own time, because events are named by it. */
static void write_calls(struct bt_api_log *log, const struct bt_api_pod *by)
{
	for (size_t i = 0; i < log->calls.n; i++) {
		if (log->observer.called) {
			log->observer.called(log->observer.context, by, &log->calls.items[i]);
		}
		if (!log->output) {
			continue;
		}
		bt_buf_clear(&log->line);
		bt_api_call_write(&log->calls.items[i], *log->now_ns + (int64_t)log->call_n++, &log->line);
		bt_output_add(log->output, log->line.ptr, log->line.len);
	}
}

static void write_cycle(struct bt_api_log *log, struct bt_api_cycle *cycle)
{
	cycle->host = bt_str(BT_API_LOG_HOST);
	cycle->now_s = *log->now_ns / NS_PER_S;
	cycle->preempts_in_turn = log->preempts_in_turn;
	bt_api_calls_of(cycle, &log->calls);
	write_calls(log, cycle->pod);
}

/* Adds a pod to the cycle's calls. */
static uint32_t cast_pod(struct bt_api_log *log, uint32_t pod_ix, struct bt_str nominated)
{
	log->cast = bt_mem_grow(log->cast, log->cast_n, &log->cast_cap, sizeof(*log->cast));
	log->cast_ixs = bt_mem_grow(log->cast_ixs, log->cast_n, &log->cast_ix_cap, sizeof(*log->cast_ixs));
	log->cast[log->cast_n] = api_pod(log, pod_ix, nominated);
	log->cast_ixs[log->cast_n] = pod_ix;
	return log->cast_n++;
}

static void keep_conditions(struct bt_api_log *log)
{
	for (size_t i = 0; i < log->calls.n; i++) {
		const struct bt_api_call *call = &log->calls.items[i];

		if (call->verb == BT_API_PATCH_STATUS && call->status.has_condition) {
			bt_pod_status_patch(
				&status_of(log, log->cast_ixs[call->pod - log->cast])->status, &call->status);
		}
	}
}

void bt_api_log_begin(struct bt_api_log *log)
{
	const struct bt_ledger *ledger = bt_engine_cache(log->engine)->ledger;

	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);

		if (pod->state == BT_POD_QUEUED && pod->gates != BT_NAME_NONE) {
			log->cast_n = 0;
			cast_pod(log, i, (struct bt_str){.len = 0});
			struct bt_api_cycle cycle = {.pod = log->cast, .end = BT_CYCLE_GATED};
			write_cycle(log, &cycle);
			keep_conditions(log);
		}
	}
}

void bt_api_log_deleting(struct bt_api_log *log, const struct bt_pod_object *object)
{
	const struct bt_api_pod pod = {
		.namespace_ = object->meta.namespace_,
		.name = object->meta.name,
		.uid = object->meta.uid,
		.scheduler_name = object->spec.scheduler_name,
	};
	struct bt_api_cycle cycle = {.pod = &pod, .end = BT_CYCLE_DELETING};

	write_cycle(log, &cycle);
}

/* The pod itself, then its victims, then the pods whose nominations are cleared. */
static void cast_all(struct bt_api_log *log, const struct bt_decision *decision, uint32_t nominated)
{
	const struct bt_intern *intern = bt_engine_cache(log->engine)->dictionary->intern;

	log->cast_n = 0;
	cast_pod(log, decision->pod_ix, bt_intern_str(intern, nominated));
	for (uint32_t i = 0; i < decision->victim_n; i++) {
		cast_pod(log, decision->victims[i].pod_ix, (struct bt_str){.len = 0});
	}
	for (uint32_t i = 0; i < decision->cleared_nominations_n; i++) {
		cast_pod(log, decision->cleared_nominations[i], node_name(log, decision->nominated_ix));
	}
}

static void point_at_others(
	struct bt_api_log *log, const struct bt_decision *decision, struct bt_api_cycle *cycle)
{
	uint32_t first = 1 + decision->victim_n;

	for (uint32_t i = 0; i < decision->victim_n; i++) {
		log->victims = bt_mem_grow(log->victims, i, &log->victim_cap, sizeof(*log->victims));
		const uint32_t pod_ix = decision->victims[i].pod_ix;
		const bool evicted = bt_evicted_take(&log->evicted, pod_ix),
			   rejected = bt_evicted_take(&log->rejected, pod_ix);

		log->victims[i] = (struct bt_api_victim){
			.pod = &log->cast[1 + i], .terminating = !evicted && !rejected, .rejected = rejected};
	}
	for (uint32_t i = 0; i < decision->cleared_nominations_n; i++) {
		log->cleared_nominations = bt_mem_grow(log->cleared_nominations, i,
			&log->cleared_nominations_cap, sizeof(*log->cleared_nominations));
		log->cleared_nominations[i] = &log->cast[first + i];
	}
	cycle->victims = log->victims;
	cycle->victim_n = decision->victim_n;
	if (decision->by_group) {
		log->group = api_group(log, decision->pod_ix);
		cycle->group = &log->group;
	}
	cycle->cleared_nominations = log->cleared_nominations;
	cycle->cleared_nominations_n = decision->cleared_nominations_n;
}

void bt_api_log_decision(
	struct bt_api_log *log, const struct bt_decision *decision, uint32_t nominated, struct bt_str message)
{
	struct bt_api_cycle cycle = {
		.message = message,
		.end = bt_cycle_end_of(decision),
		.nomination = bt_nomination_of(decision),
		.resizes = bt_ledger_pod(bt_engine_cache(log->engine)->ledger, decision->pod_ix)
				   ->signature->resize_node != BT_NAME_NONE,
	};

	if (cycle.end == BT_CYCLE_GATED) {
		return;
	}
	cast_all(log, decision, nominated);
	cycle.pod = log->cast;
	cycle.node = node_name(
		log, decision->nominated_ix == BT_NO_NODE ? decision->node_ix : decision->nominated_ix);
	point_at_others(log, decision, &cycle);
	write_cycle(log, &cycle);
	keep_conditions(log);
}

void bt_api_log_evict(struct bt_api_log *log, uint32_t pod_ix)
{
	bt_evicted_add(&log->evicted, pod_ix);
}

void bt_api_log_reject(struct bt_api_log *log, uint32_t pod_ix)
{
	bt_evicted_add(&log->rejected, pod_ix);
}

void bt_api_log_waits(struct bt_api_log *log, uint32_t pod_ix, uint32_t node_ix)
{
	if (log->observer.waits) {
		log->observer.waits(log->observer.context, pod_ix, node_ix);
	}
	if (!log->nominates_waiting) {
		return;
	}
	log->cast_n = 0;
	cast_pod(log, pod_ix, (struct bt_str){.len = 0});
	struct bt_api_cycle cycle = {
		.pod = log->cast, .end = BT_CYCLE_WAITS, .node = node_name(log, node_ix)};
	write_cycle(log, &cycle);
}

void bt_api_log_taint_evicted(struct bt_api_log *log, uint32_t pod_ix)
{
	log->cast_n = 0;
	cast_pod(log, pod_ix, (struct bt_str){.len = 0});
	struct bt_api_cycle cycle = {.pod = log->cast, .end = BT_CYCLE_TAINTED};
	write_cycle(log, &cycle);
	keep_conditions(log);
}

void bt_api_log_forget(struct bt_api_log *log, uint32_t pod_ix)
{
	if (log->observer.deleted) {
		log->observer.deleted(log->observer.context, pod_ix);
	}
	if (pod_ix >= log->pod_n) {
		return;
	}
	bt_pod_status_fini(&log->pods[pod_ix].status);
	log->pods[pod_ix].generation = 0;
}

void bt_api_log_fini(struct bt_api_log *log)
{
	for (size_t i = 0; i < log->pod_n; i++) {
		bt_pod_status_fini(&log->pods[i].status);
	}
	bt_mem_free(log->pods);
	bt_mem_free(log->cast);
	bt_mem_free(log->cast_ixs);
	bt_evicted_fini(&log->evicted);
	bt_evicted_fini(&log->rejected);
	bt_mem_free(log->victims);
	bt_mem_free(log->cleared_nominations);
	bt_api_calls_fini(&log->calls);
	bt_buf_fini(&log->line);
}
