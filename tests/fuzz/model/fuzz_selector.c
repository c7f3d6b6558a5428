/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as the requirements of a selector, split by lines into operator, key and values: they compile, or
 * are rejected with a reason. A compiled selector can be evaluated for any label.
 */
#include "engine/base/check.h"
#include "engine/model/selector.h"

#define REQUIREMENTS_MAX 8
#define VALUES_MAX	 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A line is "operator key value value ..."; the views point into the text. */
static void read_requirement(struct bt_str line, struct bt_requirement_object *r, struct bt_str *values)
{
	struct bt_str *parts[2] = {&r->operator_, &r->key};
	size_t at = 0;

	*r = (struct bt_requirement_object){.values = {.items = values, .set = true}};
	for (uint32_t i = 0; at < line.len && i < 2 + VALUES_MAX; i++) {
		size_t end = bt_str_find(line, ' ', at);
		struct bt_str part = bt_str_sub(line, at, end);

		if (i < 2) {
			*parts[i] = part;
		} else {
			values[r->values.n++] = part;
		}
		at = end + 1;
	}
}

static void check_term(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_node_term_object *object, struct bt_labels labels)
{
	struct bt_node_selector_object selector_object = {.set = true, .term_n = 1};
	struct bt_node_term_object copy = *object;
	struct bt_node_term term;
	struct bt_buf why = {0};

	selector_object.terms = &copy;
	struct bt_node_selector selector = bt_node_selector_compile(held, arena, &selector_object);
	bool matches = bt_node_selector_matches(held->intern, &selector, labels, BT_NAME_EMPTY);
	if (!bt_node_term_compile(held, arena, object, &term, &why)) {
		BT_REQUIRE(selector.term_n == 0 && !matches);
	} else {
		BT_REQUIRE(term.invalid == (why.len > 0));
		BT_REQUIRE(matches == bt_node_term_matches(held->intern, &term, labels, BT_NAME_EMPTY));
		BT_REQUIRE(!matches || !term.invalid);
	}
	bt_buf_fini(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str values[REQUIREMENTS_MAX][VALUES_MAX], text = {(const char *)data, size};
	struct bt_requirement_object items[REQUIREMENTS_MAX];
	struct bt_requirement_object_list list = {items, 0};
	struct bt_intern *intern = bt_intern_create();
	struct bt_name_refs held = bt_name_refs_pinned(intern);
	struct bt_arena arena = {0};

	for (size_t at = 0; at < size && list.n < REQUIREMENTS_MAX; list.n++) {
		size_t end = bt_str_find(text, '\n', at);

		read_requirement(bt_str_sub(text, at, end), &items[list.n], values[list.n]);
		at = end + 1;
	}
	struct bt_label label = {bt_intern_add(intern, list.n ? items[0].key : text),
		bt_intern_add(intern, list.n && items[0].values.n ? values[0][0] : text)};
	struct bt_labels labels = {&label, 1};
	struct bt_label_selector_object object = {.set = true, .match_expressions = list};
	struct bt_selector selector;
	struct bt_buf why = {0};
	if (bt_selector_compile(&held, &arena, &object, &selector, &why) == BT_OK) {
		BT_REQUIRE(selector.n == list.n && why.len == 0);
		bool matches = bt_selector_matches(intern, &selector, labels);
		BT_REQUIRE(list.n > 0 || matches);
	} else {
		BT_REQUIRE(why.len > 0);
	}
	check_term(&held, &arena, &(struct bt_node_term_object){.match_expressions = list}, labels);
	check_term(&held, &arena, &(struct bt_node_term_object){.match_fields = list}, labels);
	bt_buf_fini(&why);
	bt_arena_fini(&arena);
	bt_intern_destroy(intern);
	return 0;
}
