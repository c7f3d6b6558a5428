/* SPDX-License-Identifier: Apache-2.0
 * Resource names and their slots. Source of the classes: kubernetes pkg/apis/core/v1/helper, v1.36.3.
 */
#include "engine/model/resource.h"

#include "engine/base/buf.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/model/selector.h"

#define LOOK_STEP 32

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
	/* The name must also be valid as a quota's name, which has a prefix. */
	memcpy(prefixed, quota, sizeof(quota) - 1);
	memcpy(prefixed + sizeof(quota) - 1, name.ptr, name.len);
	return bt_is_qualified_name((struct bt_str){prefixed, sizeof(quota) - 1 + name.len});
}

bool bt_resource_is_scalar(struct bt_str name)
{
	return bt_str_starts(name, "hugepages-") || bt_str_starts(name, "attachable-volumes-") ||
	       contains(name, "kubernetes.io/") || bt_resource_is_extended(name);
}

/* atomic: relaxed */
static _Atomic uint32_t prefill_n;

static void add_nobodys(struct bt_dictionary *dictionary)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text, "nobodys.example/%d", bt_resource_count(dictionary));
	bt_resource_slot(dictionary, bt_buf_view(&text));
	bt_buf_fini(&text);
}

struct bt_dictionary *bt_dictionary_create(void)
{
	static const char *const first[BT_FIRST_SCALAR] = {"cpu", "memory", "ephemeral-storage"};
	struct bt_dictionary *dictionary = bt_mem_zalloc(1, sizeof(*dictionary));

	dictionary->intern = bt_intern_create();
	dictionary->for_ever = bt_name_refs_pinned(dictionary->intern);
	dictionary->texts = bt_mem_zalloc(1, sizeof(*dictionary->texts));
	dictionary->texts->held.intern = dictionary->intern;
	bt_store_relaxed(&dictionary->user_n, 1);
	for (int i = 0; i < BT_FIRST_SCALAR; i++) {
		dictionary->resources.names[i] = bt_intern_add(dictionary->intern, bt_str(first[i]));
	}
	bt_store_relaxed(&dictionary->resources.n, BT_FIRST_SCALAR);
	bt_lock_init(&dictionary->resources.lock);
	for (uint32_t n = bt_load_relaxed(&prefill_n); (uint32_t)bt_resource_count(dictionary) < n;) {
		add_nobodys(dictionary);
	}
	return dictionary;
}

void bt_resource_prefill(uint32_t n)
{
	bt_store_relaxed(&prefill_n, n);
}

/* ---- texts ---- */

uint32_t bt_texts_keep(struct bt_texts *texts, struct bt_str text)
{
	uint32_t name = bt_intern_find(texts->held.intern, text), unused;

	if (name != BT_NAME_NONE && bt_map_get(&texts->names, name, &unused)) {
		return name;
	}
	name = bt_name_refs_add(&texts->held, text);
	bt_map_put(&texts->names, name, 0);
	BT_INVARIANT(name != BT_NAME_NONE);
	return name;
}

void bt_texts_release(struct bt_texts *texts)
{
	bt_name_refs_release(&texts->held);
	bt_map_fini(&texts->names);
}

/* ---- names of resources ---- */

void bt_dictionary_share(struct bt_dictionary *dictionary)
{
	BT_REQUIRE(bt_load_relaxed(&dictionary->user_n) > 0);
	bt_add(&dictionary->user_n, 1);
}

void bt_dictionary_destroy(struct bt_dictionary *dictionary)
{
	if (dictionary && bt_sub(&dictionary->user_n, 1) == 1) {
		bt_texts_release(dictionary->texts);
		bt_mem_free(dictionary->texts);
		bt_lock_fini(&dictionary->resources.lock);
		bt_intern_destroy(dictionary->intern);
		bt_mem_free(dictionary);
	}
}

static int slot_of(const struct bt_dictionary *dictionary, uint32_t name)
{
	const uint32_t *names = dictionary->resources.names;
	int n = bt_resource_count(dictionary), slot = 0;
	bool found = false;

	/* Several per step, since there may be thousands. */
	for (; !found && slot + LOOK_STEP <= n; slot += LOOK_STEP) {
		for (int i = 0; i < LOOK_STEP; i++) {
			found |= names[slot + i] == name;
		}
	}
	for (slot -= found ? LOOK_STEP : 0; slot < n; slot++) {
		if (names[slot] == name) {
			BT_INVARIANT(slot < BT_RESOURCE_MAX);
			return slot;
		}
	}
	return -1;
}

bool bt_resource_add_all(
	struct bt_dictionary *dictionary, const struct bt_str *names, uint32_t n, uint32_t max)
{
	struct bt_resource_table *table = &dictionary->resources;
	uint32_t new_n = 0;

	bt_lock_acquire(&table->lock);
	int end = bt_load_relaxed(&table->n);
	/* Another thread may have added some of them. */
	for (uint32_t i = 0; i < n; i++) {
		new_n += bt_resource_find(dictionary, names[i]) < 0;
	}
	bool fit = new_n == 0 || (uint32_t)end + new_n <= max;
	for (uint32_t i = 0; fit && i < n; i++) {
		if (bt_resource_find(dictionary, names[i]) < 0) {
			table->names[end] = bt_intern_add(dictionary->intern, names[i]);
			table->extended[end] = bt_resource_is_extended(names[i]);
			/* EDGE resources.n release. */
			bt_store_release(&table->n, ++end);
		}
	}
	BT_INVARIANT(end == bt_load_relaxed(&table->n) && (uint32_t)end <= BT_RESOURCE_MAX);
	bt_lock_release(&table->lock);
	return fit;
}

int bt_resource_look_up(const struct bt_dictionary *dictionary, struct bt_str name)
{
	/* Fast path for nearly every pod. */
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
	return bt_resource_is_scalar(name) ? BT_SLOT_NEW : BT_SLOT_IGNORED;
}

int bt_resource_slot(struct bt_dictionary *dictionary, struct bt_str name)
{
	int slot = bt_resource_look_up(dictionary, name);

	if (slot != BT_SLOT_NEW) {
		return slot;
	}
	return bt_resource_add_all(dictionary, &name, 1, BT_RESOURCE_MAX) ? bt_resource_find(dictionary, name)
									  : BT_SLOT_FULL;
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

int64_t bt_amounts_search(struct bt_amounts amounts, uint32_t slot)
{
	uint32_t first = 0, end = amounts.n;

	while (first < end) {
		BT_INVARIANT(amounts.items[first].slot <= amounts.items[end - 1].slot);
		uint32_t middle = first + (end - first) / 2;

		if (amounts.items[middle].slot < slot) {
			first = middle + 1;
		} else {
			end = middle;
		}
	}
	return first < amounts.n && amounts.items[first].slot == slot ? amounts.items[first].amount : 0;
}
