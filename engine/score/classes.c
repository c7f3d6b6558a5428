/* SPDX-License-Identifier: Apache-2.0
 * Sorting nodes into classes.
 */
#include "engine/score/classes.h"

#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/score/scan.h"

#define CLASS_LIMIT 4096
#define CLASS_SHARE 4 /* classes pay while there are this many nodes for each */

bool bt_classes_current(const struct bt_classes *classes, const uint32_t *const *axes, uint32_t axis_n)
{
	uint32_t n = axis_n < BT_AXES ? axis_n : BT_AXES;

	return classes->axis_n == axis_n && memcmp(classes->axes, axes, n * sizeof(*axes)) == 0;
}

static bool agree(const struct bt_classes *c, const uint16_t *group, uint32_t a, uint32_t b)
{
	if (group[a] != group[b]) {
		return false;
	}
	for (uint32_t k = 0; k < c->axis_n; k++) {
		if (c->axes[k][a] != c->axes[k][b]) {
			return false;
		}
	}
	return true;
}

/* Numbers the classes. Returns false when there are too many. */
static bool number(struct bt_classes *c, const uint16_t *group, uint32_t slot_n)
{
	uint32_t limit = slot_n / CLASS_SHARE < CLASS_LIMIT ? slot_n / CLASS_SHARE : CLASS_LIMIT, class;
	uint32_t *example = bt_mem_zalloc((size_t)limit + 2, sizeof(*example));
	struct bt_map ixs = {0};

	c->n = 1;
	for (uint32_t i = 0; i < slot_n && c->n <= limit + 1; i++) {
		if (group[i] == 0) {
			continue;
		}
		uint64_t hash = group[i];
		for (uint32_t k = 0; k < c->axis_n; k++) {
			hash = bt_hash_u64(hash + 0x9e3779b97f4a7c15u + c->axes[k][i]);
		}
		for (hash |= 1; bt_map_get(&ixs, hash, &class) && !agree(c, group, example[class], i);
			hash += 2) {
		}
		if (!bt_map_get(&ixs, hash, &class)) {
			class = c->n++;
			if (class > limit) {
				break;
			}
			example[class] = i;
			bt_map_put(&ixs, hash, class);
		}
		c->of[i] = (uint16_t) class;
	}
	bt_map_fini(&ixs);
	bt_mem_free(example);
	return c->n <= limit + 1;
}

static void list_members(struct bt_classes *c, uint32_t slot_n)
{
	c->first = bt_mem_zalloc((size_t)c->n + 2, sizeof(*c->first));
	c->members = bt_mem_zalloc((size_t)slot_n + 1, sizeof(*c->members));
	for (uint32_t i = 0; i < slot_n; i++) {
		c->first[c->of[i] + 1]++;
	}
	for (uint32_t k = 0; k < c->n; k++) {
		c->first[k + 1] += c->first[k];
	}
	c->witness = bt_mem_zalloc(c->n, sizeof(*c->witness));
	memcpy(c->witness, c->first, c->n * sizeof(*c->witness));
	for (uint32_t i = 0; i < slot_n; i++) {
		c->members[c->witness[c->of[i]]++] = i;
	}
	memcpy(c->witness, c->first, c->n * sizeof(*c->witness));
	c->dead_since = bt_mem_zalloc(c->n, sizeof(*c->dead_since));
	c->worth = bt_mem_zalloc(c->n, sizeof(*c->worth));
}

struct bt_classes *bt_classes_create(
	uint16_t *group, uint32_t group_n, uint32_t slot_n, const uint32_t *const *axes, uint32_t axis_n)
{
	struct bt_classes *c = bt_mem_zalloc(1, sizeof(*c));
	size_t padded_n = ((size_t)slot_n + BT_SCAN_STEP - 1) / BT_SCAN_STEP * BT_SCAN_STEP;

	c->group = group;
	c->group_worth = bt_mem_zalloc((size_t)group_n + 1, sizeof(*c->group_worth));
	c->axis_n = axis_n;
	memcpy(c->axes, axes, (axis_n < BT_AXES ? axis_n : BT_AXES) * sizeof(*axes));
	c->single = axis_n > BT_AXES;
	if (!c->single) {
		c->of = bt_mem_column(padded_n, sizeof(*c->of));
		c->single = !number(c, group, slot_n);
	}
	if (c->single) {
		bt_mem_free(c->of);
		c->of = NULL;
	} else {
		list_members(c, slot_n);
	}
	size_t point_n = c->single ? slot_n : c->n;
	c->points = bt_mem_zalloc(point_n + 1, sizeof(*c->points));
	c->point_class = bt_mem_zalloc(point_n + 1, sizeof(*c->point_class));
	c->pass = bt_mem_zalloc(point_n + 1, sizeof(*c->pass));
	c->scores = bt_mem_zalloc(point_n + 1, sizeof(*c->scores));
	c->sums = bt_mem_zalloc(point_n + 1, sizeof(*c->sums));
	c->base = bt_mem_column(padded_n, sizeof(*c->base));
	c->bytes =
		padded_n * (c->single ? 2 * sizeof(*c->base) : 3 * sizeof(*c->base) + sizeof(*c->members)) +
		point_n * (2 * sizeof(*c->points) + sizeof(*c->pass) + 2 * sizeof(*c->scores));
	return c;
}

void bt_classes_destroy(struct bt_classes *c)
{
	if (!c) {
		return;
	}
	bt_mem_free(c->group);
	bt_mem_free(c->group_worth);
	bt_mem_free(c->of);
	bt_mem_free(c->members);
	bt_mem_free(c->first);
	bt_mem_free(c->witness);
	bt_mem_free(c->dead_since);
	bt_mem_free(c->points);
	bt_mem_free(c->point_class);
	bt_mem_free(c->pass);
	bt_mem_free(c->scores);
	bt_mem_free(c->sums);
	bt_mem_free(c->worth);
	bt_mem_free(c->base);
	bt_mem_free(c);
}
