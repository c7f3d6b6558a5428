/* SPDX-License-Identifier: Apache-2.0
 * Matching label selectors as topology counters do: the argument is the number of labels of the object.
 */
#include "suites.h"
#include "engine/base/arena.h"
#include "engine/model/resource.h"
#include "engine/model/selector.h"
#include "tools/offline/generate/build.h"

#define OBJECT_N 1024

/* Labels as signatures and nodes keep them. */
static struct bt_labels make_labels(
	struct bt_arena *arena, struct bt_name_refs *held, uint32_t label_n, uint32_t object)
{
	struct bt_str_map map = {.set = true};

	for (uint32_t i = 0; i < label_n; i++) {
		bt_build_pair(arena, &map, bt_build_text(arena, "key-%02u", i),
			bt_build_text(arena, "value-%u", object % 7 + i));
	}
	return bt_labels_intern(held, arena, &map);
}

static struct bt_selector make_selector(struct bt_arena *arena, struct bt_name_refs *held)
{
	struct bt_label_selector_object object = {.set = true};
	struct bt_requirement_object *among =
		bt_build_requirement(arena, &object.match_expressions, "key-01", "In");
	struct bt_selector selector = {0};

	bt_build_pair(arena, &object.match_labels, bt_str("key-00"), bt_str("value-3"));
	bt_build_item(arena, &among->values, bt_str("value-4"));
	bt_build_item(arena, &among->values, bt_str("value-5"));
	return bt_selector_compile(held, arena, &object, &selector, NULL) == BT_OK ? selector
										   : (struct bt_selector){0};
}

static void match(struct bt_bench *bench)
{
	struct bt_dictionary *dictionary = bt_dictionary_create();
	struct bt_arena arena = {0};
	struct bt_labels *labels = bt_arena_zalloc(&arena, OBJECT_N * sizeof(*labels));
	uint64_t match_n = 0;

	for (uint32_t i = 0; i < OBJECT_N; i++) {
		labels[i] = make_labels(&arena, &dictionary->for_ever, (uint32_t)bt_bench_arg(bench), i);
	}
	struct bt_selector selector = make_selector(&arena, &dictionary->for_ever);
	while (bt_bench_keep_running_batch(bench, OBJECT_N)) {
		for (uint32_t i = 0; i < OBJECT_N; i++) {
			match_n += bt_selector_matches(dictionary->intern, &selector, labels[i]);
		}
	}
	if (match_n == 0) {
		bt_bench_skip(bench, "nothing matched");
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_arena_fini(&arena);
	bt_dictionary_destroy(dictionary);
}

static const struct bt_bench_case cases[] = {
	{.name = "match", .run = match, .args = {2, 8, 32}, .arg_n = 3},
};

const struct bt_bench_suite bt_bench_micro_selector = {
	.name = "micro_selector", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
