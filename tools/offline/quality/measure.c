/* SPDX-License-Identifier: Apache-2.0
 * How well pods are placed.
 */
#include "tools/offline/quality/measure.h"

#include <math.h>

#include "engine/base/map.h"
#include "engine/base/mem.h"

#define NO_DOMAIN UINT32_MAX

static bool is_on_node(const struct bt_pod *pod)
{
	return pod->state == BT_POD_ASSUMED || pod->state == BT_POD_SCHEDULED;
}

struct bt_mean_pod bt_quality_mean_pod(const struct bt_engine *engine)
{
	const struct bt_ledger *ledger = bt_engine_cache((struct bt_engine *)engine)->ledger;
	struct bt_mean_pod mean = {0};
	uint64_t n = 0;

	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);

		if (pod->state != BT_POD_VACANT) {
			mean.milli_cpu += (double)bt_amounts_get(pod->signature->requests.used, BT_CPU);
			mean.memory_bytes += (double)bt_amounts_get(pod->signature->requests.used, BT_MEMORY);
			n++;
		}
	}
	mean.milli_cpu /= n ? (double)n : 1;
	mean.memory_bytes /= n ? (double)n : 1;
	return mean;
}

/* ---- resources ---- */

/* The number of average pods that fit into free resources. */
static double fitting(double free, double each)
{
	return each > 0 ? fmax(free, 0) / each : INFINITY;
}

static void measure_nodes(
	const struct bt_cache *cache, const struct bt_mean_pod *mean, struct bt_quality *out)
{
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	const struct bt_usage *usage = cache->view.usage;
	double cpu = 0, memory = 0, cpu_used = 0, memory_used = 0, cpu_stranded = 0, memory_stranded = 0;

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		if (!bt_bitmap_test(snapshot->live, i)) {
			continue;
		}
		double node_cpu = (double)bt_node_alloc(snapshot, BT_CPU, i);
		double node_memory = (double)bt_node_alloc(snapshot, BT_MEMORY, i);
		double free_cpu = node_cpu - (double)bt_node_used(usage, BT_CPU, i);
		double free_memory = node_memory - (double)bt_node_used(usage, BT_MEMORY, i);
		double slots = fmax((double)(snapshot->rooms[i].pods - usage->nodes[i].pod_n), 0);
		double more = fmin(slots,
			fmin(fitting(free_cpu, mean->milli_cpu), fitting(free_memory, mean->memory_bytes)));

		out->node_n++;
		out->used_node_n += usage->nodes[i].pod_n > 0;
		out->room_n += (uint64_t)more;
		cpu += node_cpu;
		memory += node_memory;
		cpu_used += node_cpu - free_cpu;
		memory_used += node_memory - free_memory;
		cpu_stranded += fmax(free_cpu, 0) - more * mean->milli_cpu;
		memory_stranded += fmax(free_memory, 0) - more * mean->memory_bytes;
	}
	out->cpu_used = cpu > 0 ? cpu_used / cpu : 0;
	out->memory_used = memory > 0 ? memory_used / memory : 0;
	out->cpu_stranded = cpu > 0 ? cpu_stranded / cpu : 0;
	out->memory_stranded = memory > 0 ? memory_stranded / memory : 0;
}

/* ---- spreading ---- */

/* What constraints are measured with. */
struct spread {
	const struct bt_cache *cache;
	const struct bt_intern *intern;
	bool compare_numbers; /* tolerations do */
	uint32_t *pod_n;      /* by signature: pods on nodes */
	uint8_t *matches;     /* by signature: its pods count for the constraint at hand */
	uint32_t *domain;     /* by node slot */
	int64_t *counts;      /* by domain */
};

static bool tolerates(
	const struct spread *s, const struct bt_signature *signature, const struct bt_taint *taint)
{
	bool hard = taint->effect == BT_NAME_NO_SCHEDULE || taint->effect == BT_NAME_NO_EXECUTE,
	     found = !hard;

	for (uint32_t i = 0; i < signature->toleration_n && !found; i++) {
		found = bt_tolerates(s->intern, &signature->tolerations[i], taint, s->compare_numbers);
	}
	return found;
}

static bool tolerates_all(
	const struct spread *s, const struct bt_signature *signature, const struct bt_taint_set *set)
{
	uint32_t i = 0;

	while (i < set->n && tolerates(s, signature, &set->items[i])) {
		i++;
	}
	return i == set->n;
}

/* Do pods of a signature on that node count for its constraint? */
static bool counts_there(const struct spread *s, const struct bt_signature *signature,
	const struct bt_spread_constraint *c, uint32_t i)
{
	const struct bt_snapshot *snapshot = s->cache->view.snapshot;
	const struct bt_node *node = &snapshot->nodes[i];

	if (!bt_bitmap_test(snapshot->live, i) ||
		(c->honor_taints && !tolerates_all(s, signature, &snapshot->taint_sets[node->taint_set]))) {
		return false;
	}
	return !c->honor_affinity ||
	       (bt_selector_matches(s->intern, &signature->node_selector, node->labels) &&
		       (!signature->has_required || bt_node_selector_matches(s->intern, &signature->required,
							    node->labels, node->name)));
}

/* Numbers the domains of a constraint. Returns how many there are. */
static uint32_t number_domains(
	const struct spread *s, const struct bt_signature *signature, const struct bt_spread_constraint *c)
{
	const struct bt_snapshot *snapshot = s->cache->view.snapshot;
	struct bt_map numbers = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		uint32_t value = bt_labels_get(snapshot->nodes[i].labels, c->topology_key);

		s->domain[i] = NO_DOMAIN;
		if (value == BT_NAME_NONE || !counts_there(s, signature, c, i)) {
			continue;
		}
		if (!bt_map_get(&numbers, value, &s->domain[i])) {
			s->domain[i] = n++;
			bt_map_put(&numbers, value, s->domain[i]);
		}
	}
	bt_map_fini(&numbers);
	return n;
}

static void find_matches(
	const struct spread *s, const struct bt_signature *signature, const struct bt_spread_constraint *c)
{
	uint32_t signature_n = bt_signatures_count(s->cache->signatures);

	for (uint32_t i = 0; i < signature_n; i++) {
		const struct bt_signature *other = bt_signatures_get(s->cache->signatures, i);

		s->matches[i] = s->pod_n[i] && other->namespace_ == signature->namespace_ &&
				bt_selector_matches(s->intern, &c->selector, other->labels);
	}
}

/* How far the fullest domain is above the emptiest one. */
static int64_t skew_of(
	const struct spread *s, const struct bt_signature *signature, const struct bt_spread_constraint *c)
{
	const struct bt_ledger *ledger = s->cache->ledger;
	uint32_t domain_n = number_domains(s, signature, c);
	int64_t lowest = INT64_MAX, highest = 0;

	find_matches(s, signature, c);
	for (uint32_t d = 0; d < domain_n; d++) {
		s->counts[d] = 0;
	}
	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);

		if (is_on_node(pod) && !pod->terminating && s->matches[pod->signature->ix] &&
			s->domain[pod->node_ix] != NO_DOMAIN) {
			s->counts[s->domain[pod->node_ix]]++;
		}
	}
	for (uint32_t d = 0; d < domain_n; d++) {
		lowest = s->counts[d] < lowest ? s->counts[d] : lowest;
		highest = s->counts[d] > highest ? s->counts[d] : highest;
	}
	return domain_n ? highest - lowest : 0;
}

static void measure_constraint(const struct spread *s, const struct bt_signature *signature,
	const struct bt_spread_constraint *c, struct bt_quality *out)
{
	if (c->when == BT_SPREAD_UNKNOWN || c->error || bt_selector_is_empty(&c->selector)) {
		return;
	}
	int64_t skew = skew_of(s, signature, c);

	out->spread_n++;
	if (skew > c->max_skew) {
		out->spread_violated_n++;
		out->skew_excess += (double)(skew - c->max_skew);
	}
}

static void measure_spread(const struct spread *s, struct bt_quality *out)
{
	uint32_t signature_n = bt_signatures_count(s->cache->signatures);

	for (uint32_t i = 0; i < signature_n; i++) {
		const struct bt_signature *signature = bt_signatures_get(s->cache->signatures, i);

		for (uint32_t k = 0; s->pod_n[i] && k < signature->spread_n; k++) {
			measure_constraint(s, signature, &signature->spread[k], out);
		}
	}
	out->skew_excess /= out->spread_n ? (double)out->spread_n : 1;
}

void bt_quality_measure(struct bt_engine *engine, const struct bt_mean_pod *mean,
	const struct bt_gates *gates, struct bt_quality *out)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	uint32_t signature_n = bt_signatures_count(cache->signatures), slot_n = cache->view.snapshot->slot_n;
	struct spread s = {.cache = cache,
		.intern = cache->dictionary->intern,
		.compare_numbers = gates->on[BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS],
		.pod_n = bt_mem_zalloc(signature_n, sizeof(*s.pod_n)),
		.matches = bt_mem_zalloc(signature_n, sizeof(*s.matches)),
		.domain = bt_mem_zalloc(slot_n, sizeof(*s.domain)),
		.counts = bt_mem_zalloc(slot_n, sizeof(*s.counts))};

	*out = (struct bt_quality){0};
	for (uint32_t i = 0; i < bt_ledger_pod_end(cache->ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(cache->ledger, i);

		out->pod_n += pod->state != BT_POD_VACANT;
		out->unplaced_n += pod->state == BT_POD_QUEUED;
		if (is_on_node(pod)) {
			out->placed_n++;
			s.pod_n[pod->signature->ix]++;
		}
	}
	measure_nodes(cache, mean, out);
	measure_spread(&s, out);
	bt_mem_free(s.pod_n);
	bt_mem_free(s.matches);
	bt_mem_free(s.domain);
	bt_mem_free(s.counts);
}
