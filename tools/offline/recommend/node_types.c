/* SPDX-License-Identifier: Apache-2.0
 * Types of nodes.
 */
#include "tools/offline/recommend/node_types.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/transaction.h"
#include "tools/cli/message.h"
#include "tools/format/object_reader.h"
#include "tools/offline/whatif/node_edit.h"

static struct bt_str find_value(const struct bt_str_map *map, const char *key)
{
	for (uint32_t i = 0; i < map->n; i++) {
		if (bt_str_is(map->items[i].key, key)) {
			return map->items[i].value;
		}
	}
	return (struct bt_str){.len = 0};
}

/* Reads a positive number. Returns: false when it is none. */
static bool read_price(struct bt_str text, double *out_price)
{
	char copy[64];
	char *end;

	if (text.len == 0 || text.len >= sizeof(copy)) {
		return false;
	}
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	*out_price = strtod(copy, &end);
	return *end == '\0' && isfinite(*out_price) && *out_price > 0;
}

static bool read_limit(struct bt_str text, uint32_t *out_limit)
{
	int64_t limit;

	*out_limit = UINT32_MAX;
	if (text.len == 0) {
		return true;
	}
	if (!bt_parse_int64(text, &limit) || limit < 0 || limit >= UINT32_MAX) {
		return false;
	}
	*out_limit = (uint32_t)limit;
	return true;
}

static void refuse(struct bt_node_types *types, const struct bt_object *object, const char *why)
{
	char name[300];

	if (types->trouble.len == 0) {
		bt_object_name(object, name, sizeof(name));
		bt_buf_printf(&types->trouble, "%s: %s", name, why);
	}
}

static void take_type(void *context, struct bt_object *object, bool made)
{
	struct bt_node_types *types = context;
	const struct bt_str_map *notes = &object->meta.annotations;
	struct bt_node_type type = {.price = 0};

	(void)made;
	if (object->kind != BT_KIND_NODE) {
		refuse(types, object,
			"it is no Node; a type is a Node with the annotation " BT_PRICE_ANNOTATION);
	} else if (!read_price(find_value(notes, BT_PRICE_ANNOTATION), &type.price)) {
		refuse(types, object,
			"metadata.annotations: a type needs a price; set " BT_PRICE_ANNOTATION
			" to a number above 0");
	} else if (!read_limit(find_value(notes, BT_LIMIT_ANNOTATION), &type.limit)) {
		refuse(types, object,
			"metadata.annotations: " BT_LIMIT_ANNOTATION
			" is a whole number of nodes, or absent");
	} else if (object->node.allocatable.n == 0) {
		refuse(types, object, "status.allocatable is empty; write what a node of this type offers");
	} else {
		struct bt_object copy = *object;

		bt_object_own(&copy, &types->arena);
		type.node = copy.node;
		type.name = find_value(&copy.meta.labels, BT_TYPE_LABEL);
		type.name = type.name.len ? type.name : copy.meta.name;
		types->items = bt_mem_grow(types->items, types->n, &types->cap, sizeof(*types->items));
		types->items[types->n++] = type;
	}
}

static int by_price(const void *a, const void *b)
{
	const struct bt_node_type *x = a, *y = b;

	return x->price != y->price ? (x->price < y->price ? -1 : 1) : bt_str_cmp(x->name, y->name);
}

int bt_node_types_read(struct bt_node_types *types, struct bt_loaded_cluster *cluster, const char *path)
{
	if (!bt_load_apart(&cluster->load, path, take_type, types)) {
		bt_buf_text(&types->trouble, "it cannot be read, or holds no objects");
	} else if (types->trouble.len == 0 && types->n == 0) {
		bt_buf_text(&types->trouble, "it holds no Nodes");
	}
	if (types->trouble.len) {
		bt_message("berth recommend: --node-types %s: %s\n", path, types->trouble.ptr);
		return BT_EXIT_INPUT;
	}
	qsort(types->items, types->n, sizeof(*types->items), by_price);
	return BT_EXIT_OK;
}

double bt_node_type_amount(const struct bt_node_type *type, struct bt_str resource, uint32_t slot)
{
	for (uint32_t i = 0; i < type->node.allocatable.n; i++) {
		const struct bt_named_quantity *amount = &type->node.allocatable.items[i];

		if (bt_str_eq(amount->name, resource)) {
			return slot == BT_CPU ? (double)bt_quantity_milli(amount->quantity)
					      : (double)bt_quantity_value(amount->quantity);
		}
	}
	return 0;
}

static bool node_exists(struct bt_engine *engine, struct bt_str name)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	uint32_t known = bt_intern_find(cache->dictionary->intern, name);

	return known != BT_NAME_NONE && bt_snapshot_find(cache->snapshot, known) != BT_NO_NODE;
}

uint32_t bt_node_type_add(const struct bt_node_type *type, struct bt_engine *engine, uint32_t *number)
{
	struct bt_node_object node = type->node;
	struct bt_arena arena = {0};
	struct bt_buf name = {0};
	uint32_t node_ix;

	do {
		bt_buf_clear(&name);
		bt_buf_printf(&name, "%.*s-new-%u", BT_STR_ARG(type->name), ++*number);
	} while (node_exists(engine, bt_buf_view(&name)));
	bt_node_renew(&node, bt_buf_view(&name), &arena);
	(void)bt_transaction_apply_node(engine, &node, &node_ix); /* names beyond the limits are left out */
	bt_arena_fini(&arena);
	bt_buf_fini(&name);
	return node_ix;
}

const struct bt_node_type *bt_node_types_find(const struct bt_node_types *types, struct bt_str name)
{
	for (size_t i = 0; i < types->n; i++) {
		if (bt_str_eq(types->items[i].name, name)) {
			return &types->items[i];
		}
	}
	return NULL;
}

void bt_node_types_fini(struct bt_node_types *types)
{
	bt_mem_free(types->items);
	bt_arena_fini(&types->arena);
	bt_buf_fini(&types->trouble);
}
