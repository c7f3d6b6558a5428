/* SPDX-License-Identifier: Apache-2.0
 * DeviceTaintRules, and the devices that they select. Upstream's tracker adds their taints to copies of the
 * slices. Here slices stay unchanged, and a device's rules are looked up by the driver, pool and device that
 * selectors name. Source: resourceslice/tracker of k8s.io/dynamic-resource-allocation, v0.37.2.
 */
#include "cache/devices_int.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"

enum { NAMES_DRIVER = 1, NAMES_POOL = 2, NAMES_DEVICE = 4 };

static uint64_t key_of(uint32_t driver, uint32_t pool, uint32_t device)
{
	return bt_hash_u64(bt_hash_u64(bt_pair_key(driver, pool)) ^ device) | 1;
}

static uint32_t shape_of(const struct bt_device_taint_rule *rule)
{
	return (rule->driver ? NAMES_DRIVER : 0u) | (rule->pool ? NAMES_POOL : 0u) |
	       (rule->device ? NAMES_DEVICE : 0u);
}

bool bt_taint_rules_bare_take_all(const struct bt_devices *d)
{
	return bt_release_has(d->view.features.release, BT_RULE_TAINT_RULES_WITHOUT_SELECTOR_TAKE_ALL);
}

/* The map with the heads of the chains for a rule's shape, and the rule's key. */
static struct bt_map *chain_of(
	struct bt_taint_rules *rules, const struct bt_device_taint_rule *rule, uint64_t *out_key)
{
	*out_key = key_of(rule->driver, rule->pool, rule->device);
	return &rules->firsts[shape_of(rule)];
}

/* Inserts a rule at the head of its chain. */
static void link_rule(struct bt_taint_rules *rules, uint32_t ix)
{
	const struct bt_device_taint_rule *rule = &rules->items[ix];
	uint64_t key;
	struct bt_map *firsts = chain_of(rules, rule, &key);
	uint32_t first = BT_NO_TAINT_RULE;

	bt_map_get(firsts, key, &first);
	BT_INVARIANT(!rule->nothing && first != ix);
	rules->next[ix] = first;
	bt_map_put(firsts, key, ix);
}

static void unlink_rule(struct bt_taint_rules *rules, uint32_t ix)
{
	uint64_t key;
	struct bt_map *firsts = chain_of(rules, &rules->items[ix], &key);
	uint32_t at = BT_NO_TAINT_RULE;

	bt_map_get(firsts, key, &at);
	if (at == ix && rules->next[ix] != BT_NO_TAINT_RULE) {
		bt_map_put(firsts, key, rules->next[ix]);
	} else if (at == ix) {
		bt_map_remove(firsts, key);
	}
	for (; at != BT_NO_TAINT_RULE && at != ix; at = rules->next[at]) {
		if (rules->next[at] == ix) {
			rules->next[at] = rules->next[ix];
		}
	}
	rules->next[ix] = BT_NO_TAINT_RULE;
}

static uint32_t place_for(struct bt_devices *d)
{
	struct bt_taint_rules *rules = &d->taint_rules;
	size_t cap = rules->cap;
	uint32_t ix;

	if (bt_index_allocator_take(&rules->vacant, &ix)) {
		return ix;
	}
	ix = d->view.taint_rule_n++;
	rules->items = bt_mem_grow(rules->items, ix, &rules->cap, sizeof(*rules->items));
	if (rules->cap != cap) {
		rules->next = bt_mem_realloc(rules->next, rules->cap, sizeof(*rules->next));
		rules->names = bt_mem_realloc(rules->names, rules->cap, sizeof(*rules->names));
	}
	d->view.taint_rules = rules->items;
	rules->next[ix] = BT_NO_TAINT_RULE;
	rules->names[ix] = (struct bt_name_refs){.intern = d->dictionary->intern};
	BT_INVARIANT(ix < rules->cap);
	return ix;
}

/* Unlinks a rule. The caller reuses or frees its entry. */
static void take_out(struct bt_devices *d, uint32_t ix)
{
	struct bt_taint_rules *rules = &d->taint_rules;

	if (!rules->items[ix].nothing) {
		unlink_rule(rules, ix);
	}
	bt_map_remove(&rules->ixs, rules->items[ix].name);
	bt_name_refs_move(&d->gone, &rules->names[ix]);
	rules->items[ix] = (struct bt_device_taint_rule){.nothing = true};
}

void bt_taint_rules_apply(struct bt_devices *d, const struct bt_device_taint_rule_object *object)
{
	struct bt_name_refs names = {.intern = d->dictionary->intern};
	struct bt_taint_rules *rules = &d->taint_rules;
	struct bt_device_taint_rule rule;
	uint32_t ix;

	if (!d->view.features.taint_rules) {
		return;
	}
	bt_device_taint_rule_compile(&names, object, bt_taint_rules_bare_take_all(d), &rule);
	if (bt_map_get(&rules->ixs, rule.name, &ix)) {
		take_out(d, ix);
	} else {
		ix = place_for(d);
	}
	rules->items[ix] = rule;
	rules->names[ix] = names;
	bt_map_put(&rules->ixs, rule.name, ix);
	if (!rule.nothing) {
		link_rule(rules, ix);
	}
}

enum bt_status bt_taint_rules_remove(struct bt_devices *d, uint32_t name)
{
	uint32_t ix;

	if (!bt_map_get(&d->taint_rules.ixs, name, &ix)) {
		return BT_NOT_FOUND;
	}
	take_out(d, ix);
	bt_index_allocator_give(&d->taint_rules.vacant, ix);
	return BT_OK;
}

void bt_taint_rules_fini(struct bt_devices *d)
{
	struct bt_taint_rules *rules = &d->taint_rules;

	for (uint32_t i = 0; i < d->view.taint_rule_n; i++) {
		bt_name_refs_release(&rules->names[i]);
	}
	for (uint32_t i = 0; i < BT_TAINT_RULE_SHAPES; i++) {
		bt_map_fini(&rules->firsts[i]);
	}
	bt_map_fini(&rules->ixs);
	bt_index_allocator_fini(&rules->vacant);
	bt_mem_free(rules->items);
	bt_mem_free(rules->next);
	bt_mem_free(rules->names);
}

const struct bt_device_taint_rule *bt_taint_rules_find(const struct bt_devices *d, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&d->taint_rules.ixs, name, &ix) ? &d->taint_rules.items[ix] : NULL;
}

static bool same_taint(const struct bt_device_taint_rule *a, const struct bt_device_taint_rule *b)
{
	return a->taint.key == b->taint.key && a->taint.value == b->taint.value &&
	       a->taint.effect == b->taint.effect && a->added_ns == b->added_ns;
}

bool bt_taint_rules_differ(const struct bt_devices *d, const struct bt_device_taint_rule *old,
	const struct bt_device_taint_rule *new)
{
	bool same = old && new &&same_taint(old, new);

	for (uint32_t i = 0; d->view.features.taint_rules && i < d->view.slice_n; i++) {
		const struct bt_resource_slice *slice = &d->slices[i];

		for (uint32_t j = 0; slice->live && j < slice->device_n; j++) {
			const struct bt_device *device = &slice->devices[j];
			bool before = old && bt_device_taint_rule_covers(old, slice, device),
			     after = new &&bt_device_taint_rule_covers(new, slice, device);

			if (same ? before != after : before || after) {
				return true;
			}
		}
	}
	return false;
}

/* The head of the chain of a shape that may select the device. */
static uint32_t first_of_shape(const struct bt_taint_rules *rules, uint32_t shape,
	const struct bt_resource_slice *slice, const struct bt_device *device)
{
	uint32_t ix = BT_NO_TAINT_RULE;

	if (rules->firsts[shape].count) {
		bt_map_get(&rules->firsts[shape],
			key_of(shape & NAMES_DRIVER ? slice->driver : BT_NAME_NONE,
				shape & NAMES_POOL ? slice->pool : BT_NAME_NONE,
				shape & NAMES_DEVICE ? device->name : BT_NAME_NONE),
			&ix);
	}
	return ix;
}

const struct bt_taint *bt_taint_rules_next(void *context, const struct bt_resource_slice *slice,
	const struct bt_device *device, uint32_t *cursor)
{
	const struct bt_taint_rules *rules = &((const struct bt_devices *)context)->taint_rules;
	bool first = *cursor == BT_NO_TAINT_RULE;
	uint32_t shape = first ? 0 : shape_of(&rules->items[*cursor]);
	uint32_t ix = first ? first_of_shape(rules, shape, slice, device) : rules->next[*cursor];

	for (;;) {
		for (; ix != BT_NO_TAINT_RULE; ix = rules->next[ix]) {
			/* Different names may have the same hash. */
			if (bt_device_taint_rule_covers(&rules->items[ix], slice, device)) {
				*cursor = ix;
				return &rules->items[ix].taint;
			}
		}
		if (++shape == BT_TAINT_RULE_SHAPES) {
			return NULL;
		}
		ix = first_of_shape(rules, shape, slice, device);
	}
}
