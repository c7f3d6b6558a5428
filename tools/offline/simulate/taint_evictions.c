/* SPDX-License-Identifier: Apache-2.0
 * Evictions by NoExecute taints.
 */
#include "tools/offline/simulate/taint_evictions.h"

#include <string.h>

#include "engine/base/mem.h"
#include "engine/model/taint.h"
#include "tools/offline/simulate/virtual_time.h"

#define NS_PER_S INT64_C(1000000000)
#define FOREVER	 INT64_MAX

struct bt_evicting_taint {
	struct bt_taint taint;
	int64_t added_ns; /* 0: unknown */
};

struct bt_tolerated {
	struct bt_toleration toleration;
	int64_t seconds; /* FOREVER: no tolerationSeconds */
};

struct bt_taint_evictions bt_taint_evictions_of(struct bt_engine *engine, const struct bt_gates *gates)
{
	return (struct bt_taint_evictions){
		.names = bt_name_refs_pinned(bt_engine_cache(engine)->dictionary->intern),
		.compare_numbers = gates->on[BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS]};
}

static bool evicts(struct bt_str effect)
{
	return bt_str_is(effect, "NoExecute");
}

void bt_taint_evictions_node(struct bt_taint_evictions *e, const struct bt_node_object *node)
{
	struct bt_node_taints made = {.n = 0};

	for (uint32_t i = 0; i < node->taint_n; i++) {
		made.n += evicts(node->taints[i].effect);
	}
	if (made.n == 0) {
		return;
	}
	made.taints = bt_arena_zalloc(&e->arena, made.n * sizeof(*made.taints));
	for (uint32_t i = 0, n = 0; i < node->taint_n; i++) {
		if (evicts(node->taints[i].effect)) {
			made.taints[n++] = (struct bt_evicting_taint){
				bt_taint_intern(&e->names, &node->taints[i]), node->taints[i].added_ns};
		}
	}
	e->node_taints = bt_mem_grow(e->node_taints, e->node_n, &e->node_cap, sizeof(*e->node_taints));
	e->node_taints[e->node_n] = made;
	bt_map_put(
		&e->nodes, (uint64_t)bt_name_refs_add(&e->names, node->meta.name) + 1, (uint32_t)e->node_n++);
}

void bt_taint_evictions_pod(struct bt_taint_evictions *e, uint32_t pod_ix, const struct bt_pod_object *pod)
{
	struct bt_tolerations made = {.n = 0};

	while (pod_ix >= e->pod_cap) {
		size_t old = e->pod_cap;

		e->pods = bt_mem_grow(e->pods, old, &e->pod_cap, sizeof(*e->pods));
		memset(e->pods + old, 0, (e->pod_cap - old) * sizeof(*e->pods));
	}
	made.items = bt_arena_zalloc(&e->arena, (pod->spec.toleration_n + 1) * sizeof(*made.items));
	for (uint32_t i = 0; i < pod->spec.toleration_n; i++) {
		const struct bt_toleration_object *toleration = &pod->spec.tolerations[i];

		if (toleration->effect.len == 0 || evicts(toleration->effect)) {
			made.items[made.n++] =
				(struct bt_tolerated){bt_toleration_intern(&e->names, toleration),
					toleration->has_toleration_seconds ? toleration->toleration_seconds
									   : FOREVER};
		}
	}
	e->pods[pod_ix] = made;
	bt_terminations_drop(&e->due, pod_ix);
}

/* For how many seconds the pod tolerates the taint; -1: it does not. */
static int64_t tolerated_s(const struct bt_taint_evictions *e, const struct bt_tolerations *tolerations,
	const struct bt_taint *taint)
{
	for (uint32_t i = 0; i < tolerations->n; i++) {
		const struct bt_tolerated *t = &tolerations->items[i];

		if (bt_tolerates(e->names.intern, &t->toleration, taint, e->compare_numbers)) {
			return t->seconds > 0 ? t->seconds : 0;
		}
	}
	return -1;
}

void bt_taint_evictions_bound(
	struct bt_taint_evictions *e, uint32_t pod_ix, uint32_t node, int64_t since_ns, int64_t now_ns)
{
	const struct bt_tolerations none = {.n = 0};
	const struct bt_tolerations *tolerations = pod_ix < e->pod_cap ? &e->pods[pod_ix] : &none;
	int64_t shortest_s = FOREVER, from_ns = since_ns;
	uint32_t ix;

	if (!bt_map_get(&e->nodes, (uint64_t)node + 1, &ix)) {
		return;
	}
	for (uint32_t i = 0; i < e->node_taints[ix].n; i++) {
		const struct bt_evicting_taint *taint = &e->node_taints[ix].taints[i];
		const int64_t seconds = tolerated_s(e, tolerations, &taint->taint);

		if (seconds < 0) {
			bt_terminations_add(&e->due, pod_ix, now_ns);
			return;
		}
		shortest_s = seconds < shortest_s ? seconds : shortest_s;
		from_ns = !taint->added_ns || !from_ns ? 0
			  : taint->added_ns > from_ns  ? taint->added_ns
						       : from_ns;
	}
	if (shortest_s == FOREVER) {
		return;
	}
	const int64_t at_ns = bt_later(from_ns ? from_ns : now_ns,
		shortest_s < INT64_MAX / NS_PER_S ? shortest_s * NS_PER_S : INT64_MAX);

	bt_terminations_add(&e->due, pod_ix, at_ns > now_ns ? at_ns : now_ns);
}

void bt_taint_evictions_drop(struct bt_taint_evictions *e, uint32_t pod_ix)
{
	bt_terminations_drop(&e->due, pod_ix);
}

int64_t bt_taint_evictions_next(struct bt_taint_evictions *e)
{
	return bt_terminations_next(&e->due);
}

uint32_t bt_taint_evictions_take(struct bt_taint_evictions *e, int64_t now_ns)
{
	return bt_terminations_take(&e->due, now_ns);
}

void bt_taint_evictions_fini(struct bt_taint_evictions *e)
{
	bt_terminations_fini(&e->due);
	bt_map_fini(&e->nodes);
	bt_mem_free(e->node_taints);
	bt_mem_free(e->pods);
	bt_arena_fini(&e->arena);
	*e = (struct bt_taint_evictions){.node_n = 0};
}
