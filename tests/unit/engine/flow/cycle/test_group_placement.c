/* SPDX-License-Identifier: Apache-2.0
 * Placements of a PodGroup: how nodes are partitioned, the order of trials, the chosen placement, and that
 * the decision repeats its trial.
 */
#include "engine_objects.h"

#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/group_placement.h"

#define TRIES 16

struct trial {
	struct fixture *f;
	struct bt_config config;
	struct bt_engine *engine;
	struct bt_placements placements;
	struct bt_group_state group;
	struct bt_buf text;
	/* Calls of decide, and its results. */
	struct {
		uint32_t ix, node_n;
		bool trial;
		uint64_t cycle_n;
	} tries[TRIES];
	uint32_t try_n;
	uint32_t fits, fails; /* placements, as bits */
	uint32_t pods[TRIES]; /* how many pods would get nodes in a placement */
};

static void add_node(struct trial *t, const char *name, const char *rack)
{
	char metadata[64];

	snprintf(metadata, sizeof(metadata), "%s, labels: {rack: %s}", name, rack);
	engine_add_node(t->engine, t->f, metadata, "4");
}

/* Racks b, a and b again; the group requires one rack. */
static void begin(struct trial *t, void **state)
{
	*t = (struct trial){.f = *state};
	fixture_config(&t->config, "1.37", "GenericWorkload=true,TopologyAwareWorkloadScheduling=true");
	t->engine = fixture_engine(&t->config, &(struct bt_engine_options){0});
	add_node(t, "n0", "b");
	add_node(t, "n1", "a");
	add_node(t, "n2", "b");
	t->group = (struct bt_group_state){.known = true,
		.topology_key = bt_intern_add(t->engine->cache->dictionary->intern, bt_str("rack"))};
}

static void end(struct trial *t)
{
	bt_placements_fini(&t->placements);
	bt_engine_destroy(t->engine);
	bt_config_fini(&t->config);
	bt_buf_fini(&t->text);
}

static enum bt_placement_fit generate(struct trial *t)
{
	bt_placements_begin(&t->placements);
	return bt_placements_generate(&t->placements, t->engine,
		bt_profile_runtimes_at(&t->engine->runtimes, 0), &t->group, &t->text);
}

/* All pods are of one kind. */
static enum bt_placement_fit decide(void *context, const struct bt_placement *placement, bool trial)
{
	struct trial *t = context;
	uint32_t ix = (uint32_t)(placement - t->placements.items);

	assert_true(t->try_n < TRIES);
	t->tries[t->try_n].ix = ix;
	t->tries[t->try_n].trial = trial;
	t->tries[t->try_n].cycle_n = t->engine->counts.cycle_n;
	t->tries[t->try_n++].node_n = bt_node_list_n(&t->engine->nodes);
	t->engine->counts.cycle_n += 10;
	for (uint32_t i = 0; i < t->pods[ix]; i++) {
		bt_placements_add_signature(&t->placements, fixture_signature(t->f, "containers: []"));
	}
	return t->fails >> ix & 1  ? BT_PLACEMENT_FAILS
	       : t->fits >> ix & 1 ? BT_PLACEMENT_FITS
				   : BT_PLACEMENT_UNFIT;
}

static struct bt_placement_choice try_all(struct trial *t, bool trials)
{
	const struct bt_placement_request request = {.engine = t->engine,
		.runtime = bt_profile_runtimes_at(&t->engine->runtimes, 0),
		.group = &t->group,
		.decide = decide,
		.context = t,
		.first = true,
		.trials = trials};

	t->try_n = 0;
	return bt_placements_try(&t->placements, &request, &t->text);
}

static void nodes_with_one_value_are_a_placement_in_the_order_of_values(void **state)
{
	struct trial t;

	begin(&t, state);
	assert_int_equal(generate(&t), BT_PLACEMENT_FITS);
	assert_int_equal(t.placements.n, 2);
	assert_int_equal(t.placements.items[0].part->n, 1);
	assert_int_equal(t.placements.items[0].part->nodes[0], 1);
	assert_int_equal(t.placements.items[1].part->n, 2);
	assert_int_equal(t.placements.items[1].part->nodes[0], 0);
	assert_int_equal(t.placements.items[1].part->nodes[1], 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(
			t.placements.items[1].part->order[i], t.placements.items[1].part->order[i + 2]);
	}
	end(&t);
}

static void a_part_is_divided_alone(void **state)
{
	struct trial t;
	struct bt_placements below = {.n = 0};

	begin(&t, state);
	assert_int_equal(generate(&t), BT_PLACEMENT_FITS);
	bt_node_list_restrict(&t.engine->nodes, t.placements.items[1].part);
	assert_int_equal(bt_placements_generate(&below, t.engine,
				 bt_profile_runtimes_at(&t.engine->runtimes, 0), &t.group, &t.text),
		BT_PLACEMENT_FITS);
	assert_int_equal(below.n, 1);
	assert_int_equal(below.items[0].part->n, 2);
	assert_true(below.items[0].part->number != t.placements.items[1].part->number);
	bt_node_list_restrict(&t.engine->nodes, NULL);
	bt_placements_fini(&below);
	end(&t);
}

static void a_label_that_no_node_has_makes_none(void **state)
{
	struct trial t;

	begin(&t, state);
	t.group.topology_key = bt_intern_add(t.engine->cache->dictionary->intern, bt_str("row"));
	assert_int_equal(generate(&t), BT_PLACEMENT_UNFIT);
	assert_string_equal(t.text.ptr, "no feasible placements found");
	end(&t);
}

static void a_single_placement_is_decided_at_once(void **state)
{
	struct trial t;

	begin(&t, state);
	t.group.topology_key = BT_NAME_NONE;
	assert_int_equal(generate(&t), BT_PLACEMENT_FITS);
	t.fits = 1;
	assert_int_equal(try_all(&t, false).fit, BT_PLACEMENT_FITS);
	assert_int_equal(t.try_n, 1);
	assert_false(t.tries[0].trial);
	assert_int_equal(t.tries[0].node_n, 3);
	end(&t);
}

static void the_best_placement_is_decided_as_it_was_tried(void **state)
{
	struct trial t;

	begin(&t, state);
	generate(&t);
	t.fits = 3;
	t.pods[0] = 3;
	t.pods[1] = 4;
	struct bt_placement_choice choice = try_all(&t, false);
	assert_int_equal(choice.fit, BT_PLACEMENT_FITS);
	assert_int_equal(choice.ix, 1);
	assert_int_equal(t.try_n, 3);
	assert_true(t.tries[0].trial && t.tries[1].trial && !t.tries[2].trial);
	assert_int_equal(t.tries[2].ix, 1);
	assert_int_equal(t.tries[2].node_n, 2);
	assert_int_equal(t.tries[2].cycle_n, t.tries[1].cycle_n);
	assert_int_equal(t.engine->counts.cycle_n, t.tries[1].cycle_n + 10);
	assert_null(bt_node_list_part(&t.engine->nodes));
	end(&t);
}

static void where_none_fits_the_first_one_is_decided(void **state)
{
	struct trial t;

	begin(&t, state);
	generate(&t);
	struct bt_placement_choice choice = try_all(&t, false);
	assert_int_equal(choice.fit, BT_PLACEMENT_UNFIT);
	assert_int_equal(choice.ix, 0);
	assert_int_equal(t.tries[2].ix, 0);
	bt_buf_clear(&t.text);
	bt_placements_write_none(&t.placements, bt_str("why"), &t.text);
	assert_string_equal(t.text.ptr, "0/2 placements are available, first placement status: why");
	end(&t);
}

static void an_error_ends_the_search(void **state)
{
	struct trial t;

	begin(&t, state);
	generate(&t);
	t.fits = 2;
	t.fails = 1;
	struct bt_placement_choice choice = try_all(&t, true);
	assert_int_equal(choice.fit, BT_PLACEMENT_FAILS);
	assert_int_equal(choice.ix, 0);
	assert_false(choice.undecided);
	assert_int_equal(t.try_n, 1);
	end(&t);
}

static void that_plugins_cannot_compare_is_an_error(void **state)
{
	struct trial t;

	begin(&t, state);
	generate(&t);
	t.fits = 3;
	struct bt_placement_choice choice = try_all(&t, true);
	assert_int_equal(choice.fit, BT_PLACEMENT_FAILS);
	assert_true(choice.undecided);
	assert_string_equal(t.text.ptr,
		"running NormalizePlacementScore on PlacementScore plugins: plugin \"PodGroupPodsCount\" "
		"failed "
		"with: no pods from pod group are assigned to any of the candidate placements");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(nodes_with_one_value_are_a_placement_in_the_order_of_values),
		FIXTURE_TEST(a_part_is_divided_alone),
		FIXTURE_TEST(a_label_that_no_node_has_makes_none),
		FIXTURE_TEST(a_single_placement_is_decided_at_once),
		FIXTURE_TEST(the_best_placement_is_decided_as_it_was_tried),
		FIXTURE_TEST(where_none_fits_the_first_one_is_decided),
		FIXTURE_TEST(an_error_ends_the_search),
		FIXTURE_TEST(that_plugins_cannot_compare_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
