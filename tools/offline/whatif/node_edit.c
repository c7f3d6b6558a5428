/* SPDX-License-Identifier: Apache-2.0
 * Edits of node objects.
 */
#include "tools/offline/whatif/node_edit.h"

#include <string.h>

#include "engine/model/selector.h"

#define HOSTNAME "kubernetes.io/hostname"

/* ---- selecting ---- */

static const struct bt_str *label(const struct bt_str_map *labels, struct bt_str key)
{
	for (uint32_t i = 0; i < labels->n; i++) {
		if (bt_str_eq(labels->items[i].key, key)) {
			return &labels->items[i].value;
		}
	}
	return NULL;
}

/* One requirement. A word without an operator selects nothing here. */
static bool satisfies(struct bt_str requirement, const struct bt_str_map *labels)
{
	size_t equals = bt_str_find(requirement, '=', 0);

	if (equals == requirement.len) {
		return requirement.len > 1 && requirement.ptr[0] == '!' &&
		       !label(labels, bt_str_sub(requirement, 1, requirement.len));
	}
	bool negated = equals > 0 && requirement.ptr[equals - 1] == '!';
	bool twice = equals + 1 < requirement.len && requirement.ptr[equals + 1] == '=';
	const struct bt_str *value = label(labels, bt_str_sub(requirement, 0, equals - negated));
	bool equal = value && bt_str_eq(*value, bt_str_sub(requirement, equals + 1 + twice, requirement.len));

	return equal != negated;
}

bool bt_node_selected(struct bt_str selector, struct bt_str name, const struct bt_str_map *labels)
{
	if (bt_str_find(selector, '=', 0) == selector.len && !bt_str_starts(selector, "!")) {
		return bt_str_eq(selector, name);
	}
	for (size_t from = 0, to; from <= selector.len; from = to + 1) {
		to = bt_str_find(selector, ',', from);
		if (!satisfies(bt_str_sub(selector, from, to), labels)) {
			return false;
		}
	}
	return true;
}

/* ---- editing ---- */

static bool wrong(struct bt_buf *why, const char *what, struct bt_str text, const char *remedy)
{
	bt_buf_printf(why, "%s \"%.*s\"; %s", what, BT_STR_ARG(text), remedy);
	return false;
}

/* A copy of n elements with room for one more. */
static void *widen(struct bt_arena *arena, const void *items, uint32_t n, size_t size)
{
	char *copy = bt_arena_zalloc(arena, (n + (size_t)1) * size);

	if (n) {
		memcpy(copy, items, n * size);
	}
	return copy;
}

static void set_label(
	struct bt_str_map *labels, struct bt_str key, const struct bt_str *value, struct bt_arena *arena)
{
	struct bt_str_pair *items = widen(arena, labels->items, labels->n, sizeof(*items));
	uint32_t n = 0;

	for (uint32_t i = 0; i < labels->n; i++) {
		if (!bt_str_eq(labels->items[i].key, key)) {
			items[n++] = labels->items[i];
		}
	}
	if (value) {
		items[n++] = (struct bt_str_pair){key, *value};
	}
	*labels = (struct bt_str_map){items, n, true};
}

static bool edit_label(
	struct bt_node_object *node, struct bt_str text, struct bt_arena *arena, struct bt_buf *why)
{
	size_t equals = bt_str_find(text, '=', 0);
	bool removes = equals == text.len && bt_str_ends(text, "-");
	struct bt_str key = bt_str_sub(text, 0, removes ? text.len - 1 : equals);
	struct bt_str value = bt_str_sub(text, equals < text.len ? equals + 1 : text.len, text.len);

	if (!bt_is_qualified_name(key) || (!removes && (equals == text.len || !bt_is_label_value(value)))) {
		return wrong(why, "invalid label", text, "write label/KEY=VALUE, or label/KEY- to remove it");
	}
	set_label(&node->meta.labels, key, removes ? NULL : &value, arena);
	return true;
}

static bool is_effect(struct bt_str effect)
{
	return bt_str_is(effect, "NoSchedule") || bt_str_is(effect, "PreferNoSchedule") ||
	       bt_str_is(effect, "NoExecute");
}

/* A taint of the same key and effect is replaced, as by kubectl taint --overwrite. */
static bool edit_taint(
	struct bt_node_object *node, struct bt_str text, struct bt_arena *arena, struct bt_buf *why)
{
	const char *remedy = "write taint/KEY[=VALUE]:EFFECT with NoSchedule, PreferNoSchedule or NoExecute, "
			     "or taint/KEY[:EFFECT]- to remove it";
	bool removes = bt_str_ends(text, "-");
	struct bt_str whole = bt_str_sub(text, 0, text.len - removes);
	size_t colon = bt_str_find(whole, ':', 0), equals = bt_str_find(bt_str_sub(whole, 0, colon), '=', 0);
	struct bt_taint_object taint = {.key = bt_str_sub(whole, 0, equals),
		.value = bt_str_sub(whole, equals < colon ? equals + 1 : colon, colon),
		.effect = bt_str_sub(whole, colon < whole.len ? colon + 1 : colon, whole.len)};
	bool any_effect = removes && colon == whole.len;

	if (!bt_is_qualified_name(taint.key) || !bt_is_label_value(taint.value) ||
		(!any_effect && !is_effect(taint.effect))) {
		return wrong(why, "invalid taint", text, remedy);
	}
	struct bt_taint_object *taints = widen(arena, node->taints, node->taint_n, sizeof(*taints));
	uint32_t n = 0;
	for (uint32_t i = 0; i < node->taint_n; i++) {
		if (!bt_str_eq(node->taints[i].key, taint.key) ||
			!(any_effect || bt_str_eq(node->taints[i].effect, taint.effect))) {
			taints[n++] = node->taints[i];
		}
	}
	if (!removes) {
		taints[n++] = taint;
	}
	node->taints = taints;
	node->taint_n = n;
	return true;
}

static bool edit_allocatable(
	struct bt_node_object *node, struct bt_str text, struct bt_arena *arena, struct bt_buf *why)
{
	size_t equals = bt_str_find(text, '=', 0);
	bool removes = equals == text.len && bt_str_ends(text, "-");
	struct bt_named_quantity amount = {.name = bt_str_sub(text, 0, removes ? text.len - 1 : equals)};

	if (amount.name.len == 0 ||
		(!removes && (equals == text.len ||
				     bt_quantity_parse(bt_str_sub(text, equals + 1, text.len),
					     &amount.quantity) != BT_OK ||
				     amount.quantity.nano < 0))) {
		return wrong(why, "invalid amount", text,
			"write allocatable/RESOURCE=QUANTITY such as allocatable/cpu=7500m, or "
			"allocatable/RESOURCE- to remove it");
	}
	struct bt_named_quantity *items =
		widen(arena, node->allocatable.items, node->allocatable.n, sizeof(*items));
	uint32_t n = 0;
	for (uint32_t i = 0; i < node->allocatable.n; i++) {
		if (!bt_str_eq(node->allocatable.items[i].name, amount.name)) {
			items[n++] = node->allocatable.items[i];
		}
	}
	if (!removes) {
		items[n++] = amount;
	}
	node->allocatable = (struct bt_resource_list){.items = items, .n = n, .set = true};
	return true;
}

static struct bt_str after(struct bt_str text, const char *prefix)
{
	return bt_str_sub(text, strlen(prefix), text.len);
}

bool bt_node_edit(
	struct bt_node_object *node, struct bt_str edit, struct bt_arena *arena, struct bt_buf *out_why)
{
	if (bt_str_starts(edit, "label/")) {
		return edit_label(node, after(edit, "label/"), arena, out_why);
	}
	if (bt_str_starts(edit, "taint/")) {
		return edit_taint(node, after(edit, "taint/"), arena, out_why);
	}
	if (bt_str_starts(edit, "allocatable/")) {
		return edit_allocatable(node, after(edit, "allocatable/"), arena, out_why);
	}
	if (bt_str_is(edit, "unschedulable=true") || bt_str_is(edit, "unschedulable=false")) {
		node->unschedulable = bt_str_ends(edit, "true");
		return true;
	}
	return wrong(out_why, "unknown change", edit,
		"write label/KEY=VALUE, taint/KEY=VALUE:EFFECT, allocatable/RESOURCE=QUANTITY, or "
		"unschedulable=true");
}

void bt_node_renew(struct bt_node_object *node, struct bt_str name, struct bt_arena *arena)
{
	struct bt_taint_object *taints = widen(arena, node->taints, node->taint_n, sizeof(*taints));
	uint32_t n = 0;

	for (uint32_t i = 0; i < node->taint_n; i++) {
		if (!bt_str_starts(node->taints[i].key, "node.kubernetes.io/")) {
			taints[n++] = node->taints[i];
		}
	}
	node->taints = taints;
	node->taint_n = n;
	node->unschedulable = false;
	node->meta.name = name;
	node->meta.uid = (struct bt_str){0};
	if (label(&node->meta.labels, bt_str(HOSTNAME))) {
		set_label(&node->meta.labels, bt_str(HOSTNAME), &name, arena);
	}
}
