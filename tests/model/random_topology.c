/* SPDX-License-Identifier: Apache-2.0
 * Random objects for terms about other pods.
 */
#include "random_topology.h"

#include <stdio.h>

#define TERM_MAX 4

const char *const topology_names[TOPOLOGY_NAMES] = {"a", "b", "c"};
const char *const topology_keys[TOPOLOGY_KEYS] = {"zone", "rack", "kubernetes.io/hostname"};

uint32_t topology_below(struct topology_source *h, uint32_t n)
{
	return bt_rng_below(&h->rng, n);
}

struct bt_str topology_pick(struct topology_source *h)
{
	return bt_str(topology_names[topology_below(h, TOPOLOGY_NAMES)]);
}

struct bt_str topology_numbered(struct topology_source *h, const char *stem, uint32_t n)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%s%u", stem, n);

	return (struct bt_str){bt_arena_copy(&h->arena, text, (size_t)len), (size_t)len};
}

struct bt_str_map topology_labels(
	struct topology_source *h, const char *const *of, uint32_t n, uint32_t percent)
{
	struct bt_str_pair *items = bt_arena_zalloc(&h->arena, n * sizeof(*items));
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (topology_below(h, 100) < percent) {
			items[kept++] = (struct bt_str_pair){bt_str(of[i]), topology_pick(h)};
		}
	}
	return (struct bt_str_map){items, kept, true};
}

struct bt_label_selector_object topology_selector(struct topology_source *h)
{
	static const char *const operators[] = {"In", "NotIn", "Exists", "DoesNotExist"};
	struct bt_label_selector_object selector = {.set = topology_below(h, 10) > 0};
	struct bt_requirement_object *item = bt_arena_zalloc(&h->arena, sizeof(*item));
	uint32_t op = topology_below(h, 4);

	selector.match_labels = topology_labels(h, topology_names, 2, 30);
	*item = (struct bt_requirement_object){.key = topology_pick(h), .operator_ = bt_str(operators[op])};
	if (op < 2) {
		item->values.items = bt_arena_zalloc(&h->arena, sizeof(*item->values.items));
		item->values.items[0] = topology_pick(h);
		item->values.n = 1;
	}
	selector.match_expressions.items = item;
	selector.match_expressions.n = topology_below(h, 2);
	return selector;
}

static struct bt_pod_term_object random_term(struct topology_source *h)
{
	struct bt_pod_term_object term = {.label_selector = topology_selector(h),
		.topology_key = bt_str(topology_keys[topology_below(h, TOPOLOGY_KEYS)])};

	if (topology_below(h, 3) == 0) {
		term.namespaces.items = bt_arena_zalloc(&h->arena, sizeof(*term.namespaces.items));
		term.namespaces.items[0] = topology_pick(h);
		term.namespaces.n = 1;
	}
	if (topology_below(h, 3) == 0) {
		term.namespace_selector = topology_selector(h);
	}
	return term;
}

void topology_affinity(struct topology_source *h, struct bt_pod_affinity_object *affinity)
{
	affinity->required = bt_arena_zalloc(&h->arena, TERM_MAX * sizeof(*affinity->required));
	affinity->preferred = bt_arena_zalloc(&h->arena, TERM_MAX * sizeof(*affinity->preferred));
	affinity->required_n = topology_below(h, 3);
	affinity->preferred_n = topology_below(h, 3);
	for (uint32_t i = 0; i < affinity->required_n; i++) {
		affinity->required[i] = random_term(h);
	}
	if (affinity->required_n == 2 && topology_below(h, 2)) {
		affinity->required[1] = affinity->required[0];
	}
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		affinity->preferred[i].weight = (int32_t)topology_below(h, 100);
		affinity->preferred[i].term = random_term(h);
	}
}

void topology_spread(struct topology_source *h, struct bt_pod_spec_object *spec)
{
	static const char *const whens[] = {"DoNotSchedule", "ScheduleAnyway"};
	static const char *const policies[] = {"", "Honor", "Ignore"};

	spec->spread_n = topology_below(h, 3);
	spec->spread = bt_arena_zalloc(&h->arena, TERM_MAX * sizeof(*spec->spread));
	for (uint32_t i = 0; i < spec->spread_n; i++) {
		spec->spread[i] = (struct bt_spread_constraint_object){
			.max_skew = 1 + (int32_t)topology_below(h, 3),
			.min_domains = 1 + (int32_t)topology_below(h, 4),
			.has_min_domains = topology_below(h, 4) == 0,
			.topology_key = bt_str(topology_keys[topology_below(h, TOPOLOGY_KEYS)]),
			.when_unsatisfiable = bt_str(whens[topology_below(h, 2)]),
			.node_affinity_policy = bt_str(policies[topology_below(h, 3)]),
			.node_taints_policy = bt_str(policies[topology_below(h, 3)]),
			.label_selector = topology_selector(h),
		};
	}
}
