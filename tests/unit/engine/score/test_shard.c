/* SPDX-License-Identifier: Apache-2.0
 * On a simulated machine of two sockets the pages of arrays by node slot are requested beside the worker
 * of their shard. The test intercepts and records the requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/base/topo.h"
#include "engine/score/classes.h"
#include "engine/score/shard.h"

#define PAGE	4096u
#define PAGES	600u /* more than any array here has */
#define WORKERS 8u
#define NOWHERE 255

#define INDEXED 500000u
#define VALUES	4u

/* The requested node of each page of the array. */
static struct {
	const char *array;
	uint8_t node[PAGES];
	uint32_t call_n, twice_n;
} asked; /* pages elsewhere are not recorded */

enum bt_status __wrap_bt_topo_bind_range(
	const struct bt_topo *topo, void *ptr, size_t bytes, uint32_t numa_ix);

enum bt_status __wrap_bt_topo_bind_range(
	const struct bt_topo *topo, void *ptr, size_t bytes, uint32_t numa_ix)
{
	/* Offsets before the array wrap to huge numbers. */
	size_t begin = (size_t)((uintptr_t)ptr - (uintptr_t)asked.array), end = begin + bytes;

	assert_non_null(topo);
	for (size_t page = (begin + PAGE - 1) / PAGE; page < end / PAGE && end <= PAGES * PAGE; page++) {
		asked.twice_n += asked.node[page] != NOWHERE;
		asked.node[page] = (uint8_t)numa_ix;
	}
	asked.call_n++;
	return BT_OK;
}

struct machine {
	struct bt_topo *topo;
	struct bt_topo_plan plan;
	struct bt_team *team;
};

static void begin(struct machine *m)
{
	enum bt_status status;

	setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:4 pu:1", 1);
	assert_int_equal(bt_topo_discover(&m->topo, NULL), BT_OK);
	assert_int_equal(
		bt_topo_plan(m->topo, &(struct bt_topo_request){.worker_n = WORKERS}, &m->plan, NULL), BT_OK);
	const struct bt_team_options options = {
		.worker_n = WORKERS, .topo = m->topo, .plan = &m->plan, .spin_n = 1};
	m->team = bt_team_create(&options, &status);
	assert_non_null(m->team);
	assert_true(bt_team_spans_nodes(m->team));
}

static void end(struct machine *m)
{
	bt_team_destroy(m->team);
	bt_topo_plan_fini(&m->plan);
	bt_topo_destroy(m->topo);
	unsetenv("HWLOC_SYNTHETIC");
}

/* The memory node beside the worker of a slot. */
static uint32_t node_of(const struct machine *m, const struct bt_shards *shards, uint32_t slot)
{
	for (uint32_t i = 0; i < WORKERS; i++) {
		struct bt_shard shard = bt_shard_of(shards->slot_n, shards->step, i, WORKERS);

		if (slot >= shard.first && slot < shard.end) {
			enum bt_topo_role role = i ? BT_ROLE_WORKER : BT_ROLE_SCHEDULING;

			return bt_topo_plan_find(&m->plan, role, i)->numa_ix;
		}
	}
	fail();
	return 0;
}

/* Places an array that starts at an odd offset of a page, and checks each of its pages. */
static void check(const struct machine *m, const char *memory, size_t offset, uint32_t slot_n,
	size_t each_bytes, uint32_t each_slots)
{
	const struct bt_shards shards = {m->team, slot_n, BT_SHARD_STEP_PAGES};
	size_t bytes = (slot_n + each_slots - 1) / each_slots * each_bytes;
	uint32_t seen[2] = {0};

	asked.array = memory;
	asked.call_n = asked.twice_n = 0;
	memset(asked.node, NOWHERE, sizeof(asked.node));
	bt_shards_place(&shards, memory + offset, each_bytes, each_slots);
	assert_int_equal(asked.twice_n, 0);
	assert_in_range(asked.call_n, 1, WORKERS);
	for (size_t page = 0; page < PAGES; page++) {
		if (page * PAGE < offset || (page + 1) * PAGE > offset + bytes) {
			assert_int_equal(asked.node[page], NOWHERE);
			continue;
		}
		/* The page's first byte decides. */
		uint32_t first = (uint32_t)((page * PAGE - offset) / each_bytes * each_slots);
		assert_int_equal(asked.node[page], node_of(m, &shards, first));
		seen[asked.node[page]]++;
	}
	assert_true(bytes < 16 * PAGE || (seen[0] > 4 && seen[1] > 4));
}

static void every_page_of_an_array_lies_beside_the_worker_of_its_slots(void **state)
{
	static const struct {
		size_t bytes;
		uint32_t slots;
	} each[] = {{2, 1}, {8, 1}, {8, 64}, {2, 64}, {16, 1}};
	static const uint32_t slot_ns[] = {100000, 99999, 65536, 2049, 64, 1};
	char *memory = aligned_alloc(PAGE, PAGES * PAGE);
	struct machine m;

	(void)state;
	assert_non_null(memory);
	begin(&m);
	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		for (size_t k = 0; k < sizeof(slot_ns) / sizeof(slot_ns[0]); k++) {
			check(&m, memory, 0, slot_ns[k], each[i].bytes, each[i].slots);
			check(&m, memory, 64, slot_ns[k], each[i].bytes, each[i].slots);
			check(&m, memory, PAGE - 64, slot_ns[k], each[i].bytes, each[i].slots);
		}
	}
	end(&m);
	free(memory);
}

/* Slots of every value, some with none. */
static void build(struct bt_index *index, uint32_t slot_n)
{
	uint16_t *values = bt_mem_column(slot_n, sizeof(*values));

	for (uint32_t i = 0; i < slot_n; i++) {
		values[i] = (uint16_t)(i % VALUES);
	}
	bt_index_build(index, values, slot_n, VALUES);
	bt_mem_free(values);
}

static void listen(const void *array)
{
	asked.array = (const char *)((uintptr_t)array & ~(uintptr_t)(PAGE - 1));
	asked.call_n = asked.twice_n = 0;
	memset(asked.node, NOWHERE, sizeof(asked.node));
}

/* Each page that holds nothing but this array lies beside the worker of its first slot. */
static void check_array(const struct machine *m, const struct bt_shards *shards, const void *array,
	size_t each_bytes, uint32_t each_slots)
{
	size_t offset = (size_t)((const char *)array - asked.array);
	size_t end = offset + shards->slot_n / each_slots * each_bytes;
	uint32_t seen[2] = {0};

	for (size_t page = (offset + PAGE - 1) / PAGE; (page + 1) * PAGE <= end; page++) {
		uint32_t first = (uint32_t)((page * PAGE - offset) / each_bytes * each_slots);

		assert_int_equal(asked.node[page], node_of(m, shards, first));
		seen[asked.node[page]]++;
	}
	assert_true(seen[0] >= 3 && seen[1] >= 3);
}

static void each_values_bitmap_of_an_index_lies_beside_the_workers_of_its_slots(void **state)
{
	struct bt_index index = {0};
	struct machine m;

	(void)state;
	begin(&m);
	const struct bt_shards shards = {m.team, INDEXED, BT_SHARD_STEP_PAGES};
	build(&index, INDEXED);
	listen(index.rows);
	assert_false(index.placed);
	bt_index_place(&index, &shards);
	assert_true(index.placed);
	assert_int_equal(asked.twice_n, 0);
	assert_in_range(asked.call_n, VALUES - 1, bt_index_ranges(&index, &shards));
	for (uint32_t v = 1; v < VALUES; v++) {
		check_array(&m, &shards, index.rows + (size_t)v * index.row_n + index.above_n,
			sizeof(*index.rows), 64);
	}
	assert_int_equal(bt_index_first(&index, 3, NULL, 100000), 100003);
	bt_index_fini(&index);
	end(&m);
}

static void an_index_of_few_nodes_stays_where_it_is(void **state)
{
	struct bt_index index = {0};
	struct machine m;

	(void)state;
	begin(&m);
	const struct bt_shards shards = {m.team, 5000, BT_SHARD_STEP_PAGES};
	build(&index, 5000);
	asked.call_n = 0;
	bt_index_place(&index, &shards);
	assert_true(index.placed);
	assert_int_equal(asked.call_n, 0);
	assert_int_equal(bt_index_ranges(&index, &shards), 0);
	bt_index_fini(&index);
	end(&m);
}

static void arrays_of_classes_by_slot_are_near_their_workers(void **state)
{
	const struct bt_equivalence_key none = {.column = NULL};
	struct bt_column column = {0};
	struct machine m;

	(void)state;
	begin(&m);
	const struct bt_shards shards = {m.team, INDEXED, BT_SHARD_STEP_PAGES};
	uint16_t *group = bt_mem_column(INDEXED, sizeof(*group));
	for (uint32_t i = 0; i < INDEXED; i++) {
		group[i] = (uint16_t)(1 + i % 3);
	}
	bt_column_init(&column, INDEXED, INDEXED);
	struct bt_classes *classes = bt_classes_create(group, INDEXED, INDEXED, &none, 0, &column);
	const struct {
		const void *array;
		size_t bytes;
		uint32_t slots;
	} arrays[] = {{classes->group, 2, 1}, {classes->of, 2, 1}, {classes->alive, 8, 64}};
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		/* The others lie elsewhere, where the test records nothing. */
		listen(arrays[i].array);
		bt_classes_place(classes, &shards);
		check_array(&m, &shards, arrays[i].array, arrays[i].bytes, arrays[i].slots);
	}
	bt_classes_destroy(classes);
	bt_column_fini(&column);
	end(&m);
}

static void no_array_is_fine(void **state)
{
	struct machine m;

	(void)state;
	begin(&m);
	asked.call_n = 0;
	bt_shards_place(&(struct bt_shards){m.team, 100000, BT_SHARD_STEP_PAGES}, NULL, 8, 1);
	assert_int_equal(asked.call_n, 0);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_page_of_an_array_lies_beside_the_worker_of_its_slots),
		cmocka_unit_test(each_values_bitmap_of_an_index_lies_beside_the_workers_of_its_slots),
		cmocka_unit_test(an_index_of_few_nodes_stays_where_it_is),
		cmocka_unit_test(arrays_of_classes_by_slot_are_near_their_workers),
		cmocka_unit_test(no_array_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
