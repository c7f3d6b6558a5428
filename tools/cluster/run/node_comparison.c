/* SPDX-License-Identifier: Apache-2.0
 * Nodes by name, with the API's and the scheduler's sums.
 */
#include "tools/cluster/run/node_comparison.h"

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"

void bt_node_comparison_fini(struct bt_node_comparison *comparison)
{
	bt_mem_free(comparison->items);
	bt_map_fini(&comparison->by_key);
	bt_buf_fini(&comparison->names);
	*comparison = (struct bt_node_comparison){.n = 0};
}

struct bt_compared *bt_node_comparison_of(struct bt_node_comparison *comparison, struct bt_str node)
{
	uint64_t key = bt_hash_key(bt_hash_str(node));
	uint32_t ix;

	if (!bt_map_get(&comparison->by_key, key, &ix)) {
		const size_t name = comparison->names.len;

		comparison->items = bt_mem_grow(
			comparison->items, comparison->n, &comparison->cap, sizeof(*comparison->items));
		ix = (uint32_t)comparison->n++;
		comparison->items[ix] =
			(struct bt_compared){.key = key, .name = name, .name_end = name + node.len};
		bt_buf_str(&comparison->names, node);
		bt_map_put(&comparison->by_key, key, ix);
	}
	BT_INVARIANT(ix < comparison->n && comparison->items[ix].key == key);
	return &comparison->items[ix];
}

struct bt_str bt_node_comparison_name(
	const struct bt_node_comparison *comparison, const struct bt_compared *node)
{
	return bt_str_sub(bt_buf_view(&comparison->names), node->name, node->name_end);
}

static bool are_equal(const struct bt_compared_side *a, const struct bt_compared_side *b)
{
	return a->sum == b->sum && a->n == b->n;
}

bool bt_compared_differs(const struct bt_compared *node)
{
	return !are_equal(&node->api, &node->ours);
}

bool bt_node_comparison_had(const struct bt_node_comparison *before, const struct bt_compared *node)
{
	uint32_t ix;

	return bt_map_get(&before->by_key, node->key, &ix) && are_equal(&before->items[ix].api, &node->api) &&
	       are_equal(&before->items[ix].ours, &node->ours);
}
