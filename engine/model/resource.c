/* SPDX-License-Identifier: Apache-2.0
 * Resource names and their slots. Source of the classes: kubernetes pkg/apis/core/v1/helper, v1.36.3.
 */
#include "engine/model/resource.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/model/selector.h"

static bool contains(struct bt_str s, const char *part)
{
	return s.len && memmem(s.ptr, s.len, part, strlen(part)) != NULL;
}

bool bt_resource_is_extended(struct bt_str name)
{
	char prefixed[512];
	static const char quota[] = "requests.";

	if (bt_str_find(name, '/', 0) == name.len || contains(name, "kubernetes.io/") ||
		bt_str_starts(name, quota)) {
		return false;
	}
	if (name.len > sizeof(prefixed) - sizeof(quota)) {
		return false;
	}
	/* The name must also do as a quota's name, which is one word longer. */
	memcpy(prefixed, quota, sizeof(quota) - 1);
	memcpy(prefixed + sizeof(quota) - 1, name.ptr, name.len);
	return bt_is_qualified_name((struct bt_str){prefixed, sizeof(quota) - 1 + name.len});
}

bool bt_resource_is_scalar(struct bt_str name)
{
	return bt_str_starts(name, "hugepages-") || bt_str_starts(name, "attachable-volumes-") ||
	       contains(name, "kubernetes.io/") || bt_resource_is_extended(name);
}

struct bt_dictionary *bt_dictionary_create(void)
{
	static const char *const first[BT_FIRST_SCALAR] = {"cpu", "memory", "ephemeral-storage"};
	struct bt_dictionary *dictionary = bt_mem_zalloc(1, sizeof(*dictionary));

	dictionary->intern = bt_intern_create();
	dictionary->for_ever = bt_held_for_ever(dictionary->intern);
	for (int i = 0; i < BT_FIRST_SCALAR; i++) {
		dictionary->resources.names[i] = bt_intern_add(dictionary->intern, bt_str(first[i]));
	}
	bt_store_relaxed(&dictionary->resources.n, BT_FIRST_SCALAR);
	bt_lock_init(&dictionary->resources.lock);
	return dictionary;
}

void bt_dictionary_destroy(struct bt_dictionary *dictionary)
{
	if (dictionary) {
		bt_lock_fini(&dictionary->resources.lock);
		bt_intern_destroy(dictionary->intern);
		bt_mem_free(dictionary);
	}
}

static int slot_of(const struct bt_dictionary *dictionary, uint32_t name)
{
	int n = bt_resource_count(dictionary);

	for (int slot = 0; slot < n; slot++) {
		if (dictionary->resources.names[slot] == name) {
			return slot;
		}
	}
	return -1;
}

/* Gives a scalar a slot. */
static int add(struct bt_dictionary *dictionary, struct bt_str name, uint32_t id)
{
	struct bt_resource_table *table = &dictionary->resources;

	bt_lock_acquire(&table->lock);
	int slot = slot_of(dictionary, id), n = bt_load_relaxed(&table->n);
	if (slot < 0 && n == BT_RESOURCE_MAX) {
		slot = BT_SLOT_FULL;
	} else if (slot < 0) {
		slot = n;
		table->names[slot] = id;
		table->extended[slot] = bt_resource_is_extended(name);
		/* EDGE resources.n release. */
		bt_store_release(&table->n, n + 1);
	}
	bt_lock_release(&table->lock);
	return slot;
}

int bt_resource_slot(struct bt_dictionary *dictionary, struct bt_str name)
{
	/* What nearly every pod asks for. */
	if (bt_str_is(name, "cpu")) {
		return BT_CPU;
	}
	if (bt_str_is(name, "memory")) {
		return BT_MEMORY;
	}
	if (bt_str_is(name, "pods")) {
		return BT_SLOT_PODS;
	}
	uint32_t id = bt_intern_find(dictionary->intern, name);
	int slot = id ? slot_of(dictionary, id) : -1;
	if (slot >= 0) {
		return slot;
	}
	return bt_resource_is_scalar(name) ? add(dictionary, name, bt_intern_add(dictionary->intern, name))
					   : BT_SLOT_IGNORED;
}

int bt_resource_find(const struct bt_dictionary *dictionary, struct bt_str name)
{
	uint32_t id = bt_intern_find(dictionary->intern, name);

	return id ? slot_of(dictionary, id) : -1;
}

struct bt_str bt_resource_name(const struct bt_dictionary *dictionary, uint32_t slot)
{
	BT_INVARIANT(slot < (uint32_t)bt_resource_count(dictionary));
	return bt_intern_str(dictionary->intern, dictionary->resources.names[slot]);
}

int64_t bt_amounts_get(struct bt_amounts amounts, uint32_t slot)
{
	for (uint32_t i = 0; i < amounts.n; i++) {
		if (amounts.items[i].slot == slot) {
			return amounts.items[i].amount;
		}
	}
	return 0;
}

int64_t bt_resource_amount(uint32_t slot, struct bt_quantity quantity)
{
	return slot == BT_CPU ? bt_quantity_milli(quantity) : bt_quantity_value(quantity);
}
