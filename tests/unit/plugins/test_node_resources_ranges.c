/* SPDX-License-Identifier: Apache-2.0
 * The resource plugins' vectorised results for a range of nodes equal those for single nodes.
 */
#include <inttypes.h>

#include "engine/base/rng.h"
#include "plugin_fixture.h"
#include "seed.h"
#include "plugins/resource_ranges.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/node_resources_fit.h"

#define NODE_N 67
#define ROUNDS 6000

static const char *const specs[] = {
	"containers: [{name: a, resources: {requests: {cpu: 100m, memory: 128Mi}}}]",
	"containers: [{name: a, resources: {requests: {cpu: '4', memory: 16Gi}}}]",
	"containers: [{name: a, resources: {requests: {cpu: 1m}}}]",
	"containers: [{name: a, resources: {requests: {memory: 32Ti}}}]",
	"containers: [{name: a}]",
	"containers: [{name: a, resources: {requests: {cpu: '1', ephemeral-storage: 1Gi}}}]",
	"containers: [{name: a, resources: {requests: {cpu: '1', hugepages-2Mi: 1Gi}}}]",
};

#define SPEC_N (sizeof(specs) / sizeof(*specs))

/* A cluster with two scored resources, one that is not scored, and pods. */
struct world {
	struct bt_snapshot snapshot;
	struct bt_usage usage;
	struct bt_view view;
	struct bt_node_room rooms[NODE_N];
	struct bt_node_use on[NODE_N];
	int64_t scalar_alloc[NODE_N], scalar_used[NODE_N];
	struct bt_rng rng;
};

static void world_init(struct world *w, uint64_t seed)
{
	*w = (struct world){.rng = {seed}};
	w->snapshot = (struct bt_snapshot){.slot_n = NODE_N, .node_n = NODE_N, .rooms = w->rooms};
	w->usage = (struct bt_usage){.nodes = w->on};
	w->snapshot.scalars[BT_FIRST_SCALAR] = w->scalar_alloc;
	w->usage.scalars[BT_FIRST_SCALAR] = w->scalar_used;
	w->view = (struct bt_view){.snapshot = &w->snapshot, .usage = &w->usage};
}

/* Mostly realistic amounts of any magnitude; sometimes extreme ones. */
static int64_t any_alloc(struct bt_rng *rng, bool odd)
{
	static const int64_t strange[] = {0, 1, -1, -4000, ((int64_t)1 << 45) - 1, (int64_t)1 << 45,
		INT64_MAX, INT64_MIN, 100, ((int64_t)1 << 52) + 1};

	if (odd && bt_rng_below(rng, 8) == 0) {
		return strange[bt_rng_below(rng, sizeof(strange) / sizeof(*strange))];
	}
	uint32_t least_bits = odd ? 8 : 19;

	return 1 + (int64_t)(bt_rng_next(rng) >> (least_bits + bt_rng_below(rng, 64 - least_bits)));
}

/* None, all, one off, somewhat more, a round share, any share, or an extreme value. */
static int64_t any_used(struct bt_rng *rng, int64_t alloc, bool odd)
{
	int64_t whole = alloc > 0 && alloc < (int64_t)1 << 60 ? alloc : 1000;

	switch (bt_rng_below(rng, 9)) {
	case 0:
		return 0;
	case 1:
		return alloc;
	case 2:
		return whole - 1;
	case 3:
		return whole + (int64_t)bt_rng_below(rng, 100);
	case 4:
		return whole / 100 * (int64_t)bt_rng_below(rng, 101);
	case 5:
		return odd ? any_alloc(rng, true) : whole / 2;
	default:
		return (int64_t)(bt_rng_next(rng) % (uint64_t)(whole + 1));
	}
}

static void fill(struct world *w)
{
	bool odd = bt_rng_below(&w->rng, 3) == 0;

	for (uint32_t i = 0; i < NODE_N; i++) {
		struct bt_node_room *room = &w->rooms[i];
		struct bt_node_use *on = &w->on[i];

		for (uint32_t r = 0; r < BT_FIRST_SCALAR; r++) {
			room->alloc[r] = any_alloc(&w->rng, odd);
			on->used[r] = any_used(&w->rng, room->alloc[r], odd);
		}
		on->nonzero_milli_cpu = any_used(&w->rng, room->alloc[BT_CPU], odd);
		on->nonzero_memory = any_used(&w->rng, room->alloc[BT_MEMORY], odd);
		room->pods = (int64_t)bt_rng_below(&w->rng, 4) * 50;
		on->pod_n = bt_rng_below(&w->rng, 2) ? room->pods - 1 : bt_rng_below(&w->rng, 151);
		w->scalar_alloc[i] = any_alloc(&w->rng, odd);
		w->scalar_used[i] = any_used(&w->rng, w->scalar_alloc[i], odd);
	}
}

static void assert_same_filter(
	const struct subject *subject, const struct world *w, uint32_t first, uint32_t n)
{
	uint8_t pass[NODE_N], alone;

	subject->plugin->filter(subject->compiled.term, &w->view, first, n, pass);
	for (uint32_t i = 0; i < n; i++) {
		subject->plugin->filter(subject->compiled.term, &w->view, first + i, 1, &alone);
		assert_int_equal(pass[i], alone);
	}
}

static void assert_same_score(
	const struct subject *subject, const struct world *w, uint32_t first, uint32_t n)
{
	int64_t raw[NODE_N], alone;

	subject->plugin->score(subject->compiled.term, &w->view, first, n, raw);
	for (uint32_t i = 0; i < n; i++) {
		subject->plugin->score(subject->compiled.term, &w->view, first + i, 1, &alone);
		assert_int_equal(raw[i], alone);
	}
}

static void compare(struct fixture *f, const struct bt_plugin *plugin, const void *settings)
{
	uint64_t seed = seed_or(11);
	struct world w;

	world_init(&w, seed);
	for (size_t s = 0; s < SPEC_N; s++) {
		struct subject subject = compile_pod(f, plugin, settings, specs[s]);

		for (int round = 0; round < ROUNDS; round++) {
			uint32_t first = bt_rng_below(&w.rng, 5),
				 n = NODE_N - first - bt_rng_below(&w.rng, 5);

			fill(&w);
			assert_same_score(&subject, &w, first, n);
			if (plugin->filter) {
				assert_same_filter(&subject, &w, first, n);
			}
		}
	}
}

static void fullness_by_vectors_is_fullness(void **state)
{
	static const int64_t weights[][2] = {
		{1, 1}, {3, 1}, {7, 100}, {BT_RANGE_WEIGHT_MAX, BT_RANGE_WEIGHT_MAX - 1}};

	for (size_t k = 0; k < sizeof(weights) / sizeof(*weights); k++) {
		const struct bt_fit_resource resources[] = {
			{BT_CPU, weights[k][0]}, {BT_MEMORY, weights[k][1]}};
		struct bt_fit_settings settings = {.resources = resources, .resource_n = 2};

		compare(*state, &bt_plugin_node_resources_fit, &settings);
		settings.strategy = BT_MOST_ALLOCATED;
		compare(*state, &bt_plugin_node_resources_fit, &settings);
	}
}

static void balance_by_vectors_is_balance(void **state)
{
	static const int slots[] = {BT_CPU, BT_MEMORY};
	static const struct bt_balanced_settings gained = {slots, 2, false}, as_is = {slots, 2, true};

	compare(*state, &bt_plugin_node_resources_balanced_allocation, &gained);
	compare(*state, &bt_plugin_node_resources_balanced_allocation, &as_is);
}

/* The sum of two plugins' scores on a node, called one after the other. */
static uint16_t static_score_alone(const struct subject *fit, const struct subject *balanced,
	const struct bt_resource_sum *sum, const struct bt_view *view, uint32_t node_ix)
{
	int64_t full, even;
	uint8_t pass;

	fit->plugin->filter(fit->compiled.term, view, node_ix, 1, &pass);
	fit->plugin->score(fit->compiled.term, view, node_ix, 1, &full);
	balanced->plugin->score(balanced->compiled.term, view, node_ix, 1, &even);
	return pass ? (uint16_t)(1 + full * sum->fill_weight + even * sum->balance_weight) : 0;
}

/* Nodes of a range, then random nodes. Returns the number of vectors with a result. */
static uint32_t compare_sums(const struct subject *fit, const struct subject *balanced,
	const struct bt_resource_sum *sum, struct world *w)
{
	uint32_t nodes[NODE_N], first = bt_rng_below(&w->rng, 5), n = NODE_N - first, done[2];
	uint16_t value[NODE_N];

	done[0] = bt_range_sums(sum, &w->view, NULL, first, n, value);
	for (uint32_t i = 0; i < done[0]; i++) {
		assert_int_equal(value[i], static_score_alone(fit, balanced, sum, &w->view, first + i));
	}
	for (uint32_t i = 0; i < NODE_N; i++) {
		nodes[i] = bt_rng_below(&w->rng, NODE_N);
	}
	done[1] = bt_range_sums(sum, &w->view, nodes, 0, NODE_N, value);
	for (uint32_t i = 0; i < done[1]; i++) {
		assert_int_equal(value[i], static_score_alone(fit, balanced, sum, &w->view, nodes[i]));
	}
	return done[0] + done[1];
}

/* Two plugins with a pod, and the sum of their scores. */
struct summed {
	struct subject fit, balanced;
	struct bt_resource_sum sum;
};

/*
 * Lanes have a result for a node wherever vectors of nodes have one (and no sum is negative), and the same
 * for every pod. Some are copied to another lane first. Returns the number of nodes.
 */
static uint32_t compare_lanes(const struct summed *pods, const struct world *w)
{
	struct bt_sum_lanes lanes[3] = {{.fill = {{0}}}};
	uint16_t value[3 * BT_RANGE_STEP], values[BT_RANGE_STEP];
	uint32_t done_n = 0;
	bool has_lane[SPEC_N];

	for (uint32_t s = 0; s < SPEC_N; s++) {
		has_lane[s] = bt_range_lane_put(&pods[s].sum, lanes, s + s % 2);
		assert_true(has_lane[s] ==
			    (bt_range_vectors() && pods[s].sum.fill_requests[1] < BT_RANGE_EXACT_BELOW));
		if (has_lane[s]) {
			bt_range_lane_copy(lanes, s + s % 2, s);
		}
	}
	for (uint32_t i = 0; i < NODE_N; i++) {
		const uint32_t nodes[BT_RANGE_STEP] = {i, i, i, i};
		bool done = has_lane[0] && bt_range_lanes(lanes, 3, pods[0].sum.form, &w->view, i, value);

		done_n += done;
		for (uint32_t s = 0; s < SPEC_N; s++) {
			if (!has_lane[s]) {
				continue;
			}
			const struct bt_resource_sum *sum = &pods[s].sum;
			bool fits = bt_resource_sum_fits_rest(sum, &w->view, i);

			assert_true(
				done ||
				(w->on[i].pod_n | w->on[i].nonzero_milli_cpu | w->on[i].nonzero_memory) < 0 ||
				!bt_range_sums(sum, &w->view, nodes, 0, BT_RANGE_STEP, values));
			assert_true(fits || bt_resource_sum_wants_rest(sum));
			if (done) {
				assert_int_equal(
					fits ? value[s] : 0, static_score_alone(&pods[s].fit,
								     &pods[s].balanced, sum, &w->view, i));
			}
		}
	}
	return done_n;
}

static void filter_and_scores_in_one_are_filter_and_scores(void **state)
{
	static const struct bt_fit_resource resources[] = {{BT_CPU, 3}, {BT_MEMORY, 1}};
	static const int slots[] = {BT_CPU, BT_MEMORY};
	struct bt_balanced_settings even = {slots, 2, false};
	struct bt_fit_settings full = {.resources = resources, .resource_n = 2};
	uint64_t seed = seed_or(12), done_n = 0, lanes_n = 0;
	struct summed pods[SPEC_N];
	struct world w;

	world_init(&w, seed);
	for (int form = 0; form < 4; form++) {
		full.strategy = form & 1 ? BT_MOST_ALLOCATED : BT_LEAST_ALLOCATED;
		even.state = form & 2;
		for (size_t s = 0; s < SPEC_N; s++) {
			struct summed *pod = &pods[s];

			*pod = (struct summed){
				.fit = compile_pod(*state, &bt_plugin_node_resources_fit, &full, specs[s]),
				.balanced = compile_pod(*state, &bt_plugin_node_resources_balanced_allocation,
					&even, specs[s])};
			assert_true(
				pod->fit.plugin->describe(pod->fit.compiled.term, true, false, 0, &pod->sum));
			assert_true(
				pod->fit.plugin->describe(pod->fit.compiled.term, false, true, 7, &pod->sum));
			assert_true(pod->balanced.plugin->describe(
				pod->balanced.compiled.term, false, true, 2, &pod->sum));
		}
		for (int round = 0; round < ROUNDS / 4; round++) {
			const struct summed *pod = &pods[round % (int)SPEC_N];

			fill(&w);
			done_n += compare_sums(&pod->fit, &pod->balanced, &pod->sum, &w);
			lanes_n += compare_lanes(pods, &w);
		}
	}
	assert_true(!bt_range_vectors() || (done_n > 0 && lanes_n > 0));
}

/* A lane accepts only scores of its resources, and no amount that is too large. */
static void profiles_that_vectors_do_not_handle_get_no_lane(void **state)
{
	const struct bt_resource_sum sum = {.fits = true,
		.scores = true,
		.slots = {BT_CPU, BT_MEMORY},
		.fills = true,
		.fill_requests = {100, 200},
		.fill_weights = {1, 1},
		.fill_weight = 1};
	const struct bt_amount much = {BT_CPU, BT_RANGE_EXACT_BELOW};
	struct bt_resource_sum other = sum;
	struct bt_sum_lanes lanes = {.fill = {{0}}};

	(void)state;
	assert_true(bt_range_lane_put(&other, &lanes, 0) == bt_range_vectors());
	other.slots[1] = BT_EPHEMERAL_STORAGE;
	assert_false(bt_range_lane_put(&other, &lanes, 0));
	other = sum;
	other.balance_requests[1] = BT_RANGE_EXACT_BELOW;
	assert_false(bt_range_lane_put(&other, &lanes, 0));
	other = sum;
	other.wanted = &much;
	other.wanted_n = 1;
	assert_false(bt_range_lane_put(&other, &lanes, 0));
	other = (struct bt_resource_sum){.fits = true};
	assert_false(bt_range_lane_put(&other, &lanes, 0));
}

/* Two of three resources, or others than the balance uses, make no sum. */
static void other_scores_than_sums_of_two_resources_have_no_formula(void **state)
{
	static const struct bt_fit_resource three[] = {{BT_CPU, 1}, {BT_MEMORY, 1},
		{BT_EPHEMERAL_STORAGE, 1}},
					    other[] = {{BT_MEMORY, 1}, {BT_CPU, 1}};
	static const int slots[] = {BT_CPU, BT_MEMORY};
	static const struct bt_balanced_settings even = {slots, 2, false};
	struct bt_fit_settings full = {.resources = three, .resource_n = 3};
	struct subject fit = compile_pod(*state, &bt_plugin_node_resources_fit, &full, specs[0]);
	struct subject balanced =
		compile_pod(*state, &bt_plugin_node_resources_balanced_allocation, &even, specs[0]);
	struct bt_resource_sum sum = {0};

	assert_false(fit.plugin->describe(fit.compiled.term, true, true, 1, &sum));
	sum = (struct bt_resource_sum){0};
	full = (struct bt_fit_settings){.resources = other, .resource_n = 2};
	fit = compile_pod(*state, &bt_plugin_node_resources_fit, &full, specs[0]);
	assert_true(fit.plugin->describe(fit.compiled.term, true, true, 1, &sum));
	assert_false(balanced.plugin->describe(balanced.compiled.term, false, true, 1, &sum));
}

/* Otherwise the tests above would compare nothing. */
static void ordinary_nodes_are_answered_by_vectors(void **state)
{
	int64_t alloc[8], used[8], raw[8];
	const int64_t weight[2] = {1, 1};
	const struct bt_cells all = {alloc, 1}, some = {used, 1};
	const struct bt_resource_pair pair = {{all, all}, {some, some}, {100, 200}};
	uint32_t wanted = 0;

	(void)state;
#if defined(__x86_64__)
	wanted = __builtin_cpu_supports("avx2") ? 8 : 0;
#endif
	for (uint32_t i = 0; i < 8; i++) {
		alloc[i] = 4000;
		used[i] = 500 * i;
	}
	assert_int_equal(bt_range_fullness(&pair, weight, false, 8, raw), wanted);
	assert_int_equal(bt_range_balance(&pair, false, 8, raw), wanted);
	assert_int_equal(bt_range_balance(&pair, true, 7, raw), wanted / 2);
	alloc[5] = 0;
	assert_int_equal(bt_range_fullness(&pair, weight, true, 8, raw), wanted / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(fullness_by_vectors_is_fullness),
		FIXTURE_TEST(balance_by_vectors_is_balance),
		FIXTURE_TEST(filter_and_scores_in_one_are_filter_and_scores),
		cmocka_unit_test(profiles_that_vectors_do_not_handle_get_no_lane),
		FIXTURE_TEST(other_scores_than_sums_of_two_resources_have_no_formula),
		cmocka_unit_test(ordinary_nodes_are_answered_by_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
