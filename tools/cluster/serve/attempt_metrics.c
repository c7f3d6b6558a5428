/* SPDX-License-Identifier: Apache-2.0
 * Counts results of attempts.
 */
#include "tools/cluster/serve/attempt_metrics.h"

#include "engine/base/atomic.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/group_cycle.h"

/* Buckets that double: the lowest bound, in the values' unit, and their number. Source:
 * metrics.ExponentialBuckets(start, 2, n). */
static const struct {
	int64_t start;
	uint32_t n;
	double unit; /* values per unit of the metric */
} shapes[] = {
	[BT_OUTCOME_VICTIMS] = {1, 7, 1},
	[BT_OUTCOME_TRIES] = {1, 5, 1},
	[BT_OUTCOME_DURATION] = {1000000, 15, 1e9},
	[BT_OUTCOME_SLI] = {10000000, 20, 1e9},
};

struct profile {
	struct bt_str name;			 /* init: */
	bool preempts;				 /* init: DefaultPreemption is at PostFilter */
	_Atomic uint64_t attempts[BT_ATTEMPT_N]; /* atomic: relaxed; the scheduling thread writes */
	struct bt_outcome_buckets durations[BT_ATTEMPT_N];
};

struct bt_attempt_metrics {
	struct profile *profiles; /* init: the array, and names */
	uint32_t profile_n;	  /* init: */
	/* atomic: relaxed, as all of it; the scheduling thread writes */
	_Atomic uint64_t preemption_n, after_flush_n;
	bool groups_preempt; /* init: a group's preemption is none of its pods' */
	struct bt_outcome_buckets victims, tries, sli[BT_OUTCOME_ATTEMPTS];
};

static bool preempts(const struct bt_config *config, uint32_t profile_ix)
{
	struct bt_resolved_profile resolved;
	struct bt_config_errors errors = {0};
	bool found = false;

	if (bt_config_resolve(config, profile_ix, &errors, &resolved) == BT_OK) {
		const struct bt_resolved_point *point = &resolved.points[BT_POINT_POST_FILTER];

		for (uint32_t i = 0; i < point->n; i++) {
			found = found || bt_plugin_at(point->plugins[i].id)->preemption;
		}
	}
	bt_config_errors_fini(&errors);
	return found;
}

struct bt_attempt_metrics *bt_attempt_metrics_create(const struct bt_config *config)
{
	struct bt_attempt_metrics *metrics = bt_mem_zalloc(1, sizeof(*metrics));

	metrics->groups_preempt = bt_release_has(config->gates.release, BT_RULE_GROUPS_ARE_QUEUED);
	metrics->profile_n = config->profile_n;
	metrics->profiles = bt_mem_zalloc(config->profile_n, sizeof(*metrics->profiles));
	for (uint32_t i = 0; i < config->profile_n; i++) {
		metrics->profiles[i].name = config->profiles[i].scheduler_name;
		metrics->profiles[i].preempts = preempts(config, i);
	}
	return metrics;
}

void bt_attempt_metrics_destroy(struct bt_attempt_metrics *metrics)
{
	if (metrics) {
		bt_mem_free(metrics->profiles);
		bt_mem_free(metrics);
	}
}

static void attempt_metrics_note(
	struct bt_outcome_buckets *buckets, enum bt_outcome_histogram histogram, int64_t value)
{
	int64_t bound = shapes[histogram].start;
	uint32_t i = 0;

	while (i < shapes[histogram].n && value > bound) {
		bound *= 2;
		i++;
	}
	bt_add_owned(&buckets->counts[i], 1);
	bt_add_owned(&buckets->sum, value);
}

static struct profile *profile_of(
	struct bt_attempt_metrics *metrics, struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);

	for (uint32_t i = 1; i < metrics->profile_n; i++) {
		struct bt_str name = bt_intern_str(cache->dictionary->intern, pod->signature->scheduler_name);

		if (bt_str_eq(metrics->profiles[i].name, name)) {
			return &metrics->profiles[i];
		}
	}
	return &metrics->profiles[0];
}

/* Whether at least one victim's deletion has to be requested. */
static bool evicts(struct bt_engine *engine, const struct bt_decision *decision)
{
	const struct bt_ledger *ledger = bt_engine_cache(engine)->ledger;

	for (uint32_t i = 0; i < decision->victim_n; i++) {
		if (!bt_ledger_pod(ledger, decision->victims[i].pod_ix)->terminating) {
			return true;
		}
	}
	return false;
}

/* As upstream, a placed pod counts when its binding has ended; a skipped one does not count. */
void bt_attempt_metrics_cycle_ended(
	struct bt_attempt_metrics *metrics, struct bt_engine *engine, const struct bt_decision *decision)
{
	if (decision->outcome != BT_REFUSED && decision->outcome != BT_FAILED) {
		return;
	}
	struct profile *profile = profile_of(metrics, engine, decision->pod_ix);
	bool failed = decision->outcome == BT_FAILED;

	enum bt_attempt_result result = failed ? BT_ATTEMPT_ERROR : BT_ATTEMPT_UNSCHEDULABLE;
	int64_t took_ns = bt_engine_took_ns(engine, decision->pod_ix);

	bt_add_owned(&profile->attempts[result], 1);
	if (took_ns > 0) {
		attempt_metrics_note(&profile->durations[result], BT_OUTCOME_DURATION, took_ns);
	}
	if (failed || (metrics->groups_preempt && bt_engine_in_group(engine, decision->pod_ix))) {
		return;
	}
	if (profile->preempts) {
		bt_add_owned(&metrics->preemption_n, 1);
	}
	if (evicts(engine, decision)) {
		attempt_metrics_note(&metrics->victims, BT_OUTCOME_VICTIMS, decision->victim_n);
	}
}

void bt_attempt_metrics_bound(struct bt_attempt_metrics *metrics, struct bt_engine *engine, uint32_t pod_ix,
	bool yes, const struct bt_queue_info *info, int64_t took_ns, int64_t now_ns)
{
	struct profile *profile = profile_of(metrics, engine, pod_ix);
	uint32_t attempts = info->attempts ? info->attempts : 1;
	uint32_t which = attempts < BT_OUTCOME_ATTEMPTS ? attempts - 1 : BT_OUTCOME_ATTEMPTS - 1;

	enum bt_attempt_result result = yes ? BT_ATTEMPT_SCHEDULED : BT_ATTEMPT_ERROR;

	bt_add_owned(&profile->attempts[result], 1);
	if (took_ns > 0) {
		attempt_metrics_note(&profile->durations[result], BT_OUTCOME_DURATION, took_ns);
	}
	if (!yes) {
		return;
	}
	attempt_metrics_note(&metrics->tries, BT_OUTCOME_TRIES, attempts);
	/* The queue no longer knows the times of a pod that has left it. */
	if (info->where != BT_WAIT_NOWHERE && info->first_ns <= now_ns) {
		attempt_metrics_note(&metrics->sli[which], BT_OUTCOME_SLI, now_ns - info->first_ns);
	}
	if (info->flushed) {
		bt_add_owned(&metrics->after_flush_n, 1);
	}
}

uint32_t bt_attempt_metrics_profile_n(const struct bt_attempt_metrics *metrics)
{
	return metrics->profile_n;
}

struct bt_str bt_attempt_metrics_profile(const struct bt_attempt_metrics *metrics, uint32_t profile)
{
	return metrics->profiles[profile].name;
}

uint64_t bt_attempt_metrics_attempts(
	const struct bt_attempt_metrics *metrics, uint32_t profile, enum bt_attempt_result result)
{
	return bt_load_relaxed(&metrics->profiles[profile].attempts[result]);
}

uint64_t bt_attempt_metrics_preemptions(const struct bt_attempt_metrics *metrics)
{
	return bt_load_relaxed(&metrics->preemption_n);
}

uint64_t bt_attempt_metrics_after_flush(const struct bt_attempt_metrics *metrics)
{
	return bt_load_relaxed(&metrics->after_flush_n);
}

void bt_attempt_metrics_read(const struct bt_attempt_metrics *metrics, enum bt_outcome_histogram histogram,
	uint32_t which, struct bt_outcome_view *out_view)
{
	const struct bt_outcome_buckets *buckets =
		histogram == BT_OUTCOME_VICTIMS ? &metrics->victims
		: histogram == BT_OUTCOME_TRIES ? &metrics->tries
		: histogram == BT_OUTCOME_SLI
			? &metrics->sli[which]
			: &metrics->profiles[which / BT_ATTEMPT_N].durations[which % BT_ATTEMPT_N];
	double unit = shapes[histogram].unit;

	*out_view = (struct bt_outcome_view){.bound_n = shapes[histogram].n};
	for (uint32_t i = 0; i <= out_view->bound_n; i++) {
		if (i < out_view->bound_n) {
			out_view->bounds[i] = (double)(shapes[histogram].start << i) / unit;
		}
		out_view->counts[i] = bt_load_relaxed(&buckets->counts[i]);
	}
	out_view->sum = (double)bt_load_relaxed(&buckets->sum) / unit;
}
