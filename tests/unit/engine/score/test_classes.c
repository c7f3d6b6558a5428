/* SPDX-License-Identifier: Apache-2.0
 * Incrementally updated classes equal rebuilt ones: nodes share a class when group and
 * equivalence keys are equal.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "seed.h"

#include "cache/topology_view.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/score/classes.h"

#define NODE_N	300
#define RACK_N	60
#define GROUP_N 3
#define KEY_N	4

/* Nodes with a zone, most of them in racks; one key counts by node, one by rack. */
struct world {
	struct bt_rng rng;
	uint32_t nodes[NODE_N], zones[NODE_N], hosts[NODE_N], racks[NODE_N];
	uint32_t first[RACK_N], next[NODE_N];
	int32_t by_host[NODE_N], by_rack[RACK_N], by_node[NODE_N];
	uint32_t journals[2][BT_DOMAIN_COUNTS_JOURNAL];
	struct bt_domain_counts host_counts, rack_counts;
	uint16_t group[NODE_N];
	struct bt_column column;
	struct bt_equivalence_key node_keys[KEY_N];
};

static uint32_t below(struct world *w, uint32_t n)
{
	return bt_rng_below(&w->rng, n);
}

static void enter_rack(struct world *w, uint32_t node, uint32_t rack)
{
	w->racks[node] = rack;
	w->by_node[node] = rack == BT_NO_DOMAIN ? 0 : w->by_rack[rack];
	if (rack != BT_NO_DOMAIN) {
		w->next[node] = w->first[rack];
		w->first[rack] = node;
	}
}

static void leave_rack(struct world *w, uint32_t node)
{
	uint32_t rack = w->racks[node];

	if (rack == BT_NO_DOMAIN) {
		return;
	}
	uint32_t *at = &w->first[rack];
	while (*at != node) {
		at = &w->next[*at];
	}
	*at = w->next[node];
}

static struct world *world_create(uint64_t seed)
{
	struct world *w = bt_mem_zalloc(1, sizeof(*w));

	w->rng.state = seed;
	for (uint32_t rack = 0; rack < RACK_N; rack++) {
		w->first[rack] = BT_NO_NODE;
	}
	for (uint32_t i = 0; i < NODE_N; i++) {
		w->nodes[i] = i;
		enter_rack(w, i, below(w, 10) ? i / (NODE_N / RACK_N) : BT_NO_DOMAIN);
	}
	for (uint32_t i = 0; i < NODE_N; i++) {
		w->zones[i] = below(w, 3);
		w->hosts[i] = below(w, 4) ? 100 + i : 0;
		w->group[i] = (uint16_t)below(w, GROUP_N);
	}
	w->host_counts = (struct bt_domain_counts){.domain = w->nodes,
		.domain_n = NODE_N,
		.sums = w->by_host,
		.by_node = w->by_host,
		.journal = w->journals[0]};
	w->rack_counts = (struct bt_domain_counts){.domain = w->racks,
		.domain_n = RACK_N,
		.sums = w->by_rack,
		.by_node = w->by_node,
		.first = w->first,
		.next = w->next,
		.journal = w->journals[1]};
	w->node_keys[0] = (struct bt_equivalence_key){.kind = BT_EQUIVALENCE_KEY_VALUE, .column = w->zones};
	w->node_keys[1] =
		(struct bt_equivalence_key){.kind = BT_EQUIVALENCE_KEY_PRESENCE, .column = w->hosts};
	w->node_keys[2] = bt_domain_counts_key(&w->host_counts, BT_EQUIVALENCE_KEY_SIGN);
	w->node_keys[3] = bt_domain_counts_key(&w->rack_counts, BT_EQUIVALENCE_KEY_SUM);
	w->column.slot_n = NODE_N;
	w->column.value = bt_mem_column(NODE_N + 64, sizeof(*w->column.value));
	return w;
}

static void world_destroy(struct world *w)
{
	bt_mem_free(w->column.value);
	bt_mem_free(w);
}

static struct bt_classes *sorted(const struct world *w)
{
	uint16_t *group = bt_mem_column(NODE_N, sizeof(*group));

	memcpy(group, w->group, sizeof(w->group));
	return bt_classes_create(group, NODE_N, NODE_N, w->node_keys, KEY_N, &w->column);
}

static void change(struct world *w, int32_t most)
{
	uint32_t node = below(w, NODE_N), rack = below(w, RACK_N);

	switch (below(w, 3)) {
	case 0:
		w->by_host[node] = (int32_t)below(w, 3);
		w->journals[0][w->host_counts.journal_end++ % BT_DOMAIN_COUNTS_JOURNAL] = node;
		break;
	case 1:
		w->by_rack[rack] = (int32_t)below(w, (uint32_t)most);
		for (uint32_t m = w->first[rack]; m != BT_NO_NODE; m = w->next[m]) {
			w->by_node[m] = w->by_rack[rack];
		}
		w->journals[1][w->rack_counts.journal_end++ % BT_DOMAIN_COUNTS_JOURNAL] = rack;
		break;
	default:
		w->column.value[node] = (uint16_t)(w->column.value[node] ? 0 : 5);
		w->column.flips.items[w->column.flips.end++ % BT_COLUMN_FLIPS] = node;
		break;
	}
}

static bool agree(const struct world *w, uint32_t a, uint32_t b)
{
	return w->group[a] == w->group[b] && w->zones[a] == w->zones[b] && !w->hosts[a] == !w->hosts[b] &&
	       (w->by_host[a] > 0) == (w->by_host[b] > 0) && w->by_node[a] == w->by_node[b] &&
	       (w->racks[a] == BT_NO_DOMAIN) == (w->racks[b] == BT_NO_DOMAIN);
}

static void assert_right(const struct world *w, struct bt_classes *c)
{
	uint32_t *node_n = bt_mem_zalloc(c->n, sizeof(*node_n)),
		 *alive_n = bt_mem_zalloc(c->n, sizeof(*alive_n));

	assert_false(c->single);
	for (uint32_t i = 0; i < NODE_N; i++) {
		uint32_t class = c->of[i];

		assert_int_equal(class == 0, w->group[i] == 0);
		assert_true(class < c->n);
		if (class == 0) {
			continue;
		}
		node_n[class]++;
		alive_n[class] += w->column.value[i] != 0;
		uint32_t example = bt_classes_example(c, class);
		assert_int_equal(c->of[example], class);
		assert_true(agree(w, i, example));
	}
	for (uint32_t class = 1; class < c->n; class ++) {
		assert_int_equal(c->classes[class].node_n, node_n[class]);
		assert_true(node_n[class] == 0 || c->classes[class].alive_n == alive_n[class]);
	}
	bt_mem_free(node_n);
	bt_mem_free(alive_n);
}

static uint64_t seed_of(uint64_t otherwise)
{
	uint64_t seed = seed_or(otherwise);

	return seed;
}

/* A node changes its group, zone, host and rack; its classes follow. */
static void change_node(struct world *w, struct bt_classes *c)
{
	uint32_t node = below(w, NODE_N);

	w->group[node] = (uint16_t)below(w, GROUP_N);
	w->zones[node] = below(w, 3);
	w->hosts[node] = below(w, 4) ? 100 + node : 0;
	leave_rack(w, node);
	enter_rack(w, node, below(w, 10) ? below(w, RACK_N) : BT_NO_DOMAIN);
	bt_classes_redescribe(c, &w->column, node, w->group[node], NODE_N);
}

static void classes_follow_nodes_that_change(void **state)
{
	struct world *w = world_create(seed_of(9));
	struct bt_classes *c = sorted(w);

	(void)state;
	for (int round = 0; round < 1500; round++) {
		for (uint32_t n = below(w, 12); n; n--) {
			change(w, 2);
		}
		for (uint32_t n = below(w, 4); n; n--) {
			change_node(w, c);
		}
		bt_classes_catch_up(c, &w->column);
		assert_right(w, c);
	}
	assert_true(c->n <= (GROUP_N - 1) * 3 * 2 * 2 * 3 + 1);
	bt_classes_destroy(c);
	world_destroy(w);
}

static void classes_follow_domain_counts_and_column_however_far_behind(void **state)
{
	struct world *w = world_create(seed_of(8));
	struct bt_classes *c = sorted(w);

	(void)state;
	for (int round = 0; round < 1500; round++) {
		for (uint32_t n = below(w, round % 50 ? 12 : 4 * BT_DOMAIN_COUNTS_JOURNAL); n; n--) {
			change(w, 2);
		}
		bt_classes_catch_up(c, &w->column);
		assert_right(w, c);
	}
	/* Numbers of empty classes are reused. */
	assert_true(c->n <= (GROUP_N - 1) * 3 * 2 * 2 * 3 + 1);
	bt_classes_destroy(c);
	world_destroy(w);
}

static void with_too_many_classes_each_node_is_on_its_own(void **state)
{
	struct world *w = world_create(seed_of(9));
	struct bt_classes *c = sorted(w);

	(void)state;
	assert_false(c->single);
	for (uint32_t i = 0; i < 200; i++) {
		change(w, 1000);
		bt_classes_catch_up(c, &w->column);
	}
	assert_true(c->single);
	bt_classes_destroy(c);
	c = sorted(w);
	assert_true(c->single);
	bt_classes_destroy(c);
	world_destroy(w);
}

static void other_axes_need_other_classes(void **state)
{
	struct world *w = world_create(seed_of(10));
	struct bt_classes *c = sorted(w);

	(void)state;
	assert_true(bt_classes_current(c, w->node_keys, KEY_N));
	assert_false(bt_classes_current(c, w->node_keys, KEY_N - 1));
	w->node_keys[2].kind = BT_EQUIVALENCE_KEY_SUM;
	assert_false(bt_classes_current(c, w->node_keys, KEY_N));
	bt_classes_destroy(c);
	world_destroy(w);
}

static void few_domains_are_distinguished_for_good(void **state)
{
	struct world *w = world_create(seed_of(11));

	(void)state;
	assert_int_equal(
		bt_domain_counts_key(&w->rack_counts, BT_EQUIVALENCE_KEY_SIGN).kind, BT_EQUIVALENCE_KEY_SIGN);
	w->rack_counts.domain_n = BT_FEW_DOMAINS;
	assert_int_equal(bt_domain_counts_key(&w->rack_counts, BT_EQUIVALENCE_KEY_SIGN).kind,
		BT_EQUIVALENCE_KEY_VALUE);
	assert_ptr_equal(bt_domain_counts_key(&w->rack_counts, BT_EQUIVALENCE_KEY_SIGN).column, w->racks);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_follow_domain_counts_and_column_however_far_behind),
		cmocka_unit_test(classes_follow_nodes_that_change),
		cmocka_unit_test(with_too_many_classes_each_node_is_on_its_own),
		cmocka_unit_test(other_axes_need_other_classes),
		cmocka_unit_test(few_domains_are_distinguished_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
