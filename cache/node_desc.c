/* SPDX-License-Identifier: Apache-2.0
 * Stage 2: compiles node objects to descriptions.
 */
#include "cache/node_desc.h"

#include <assert.h>
#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/model/signature.h"

/* ---- data for events ---- */

static uint64_t hash_text(struct bt_str text)
{
	return bt_hash_bytes(text.ptr, text.len);
}

/* The hash of one entry of a map; hashes of a map are summed, so that order does not matter. */
static uint64_t hash_entry(uint64_t key, uint64_t value)
{
	return bt_hash_u64(key + bt_hash_u64(value ^ UINT64_C(0x9e3779b97f4a7c15)));
}

/* By type; the last one of a type counts. */
static uint64_t hash_conditions(const struct bt_node_object *object)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < object->condition_n; i++) {
		const struct bt_condition_object *condition = &object->conditions[i];
		bool last = true;

		for (uint32_t j = i + 1; j < object->condition_n; j++) {
			last &= !bt_str_eq(object->conditions[j].type, condition->type);
		}
		sum += last ? hash_entry(hash_text(condition->type), hash_text(condition->status)) : 0;
	}
	return sum;
}

static uint64_t hash_allocatable(const struct bt_resource_list *list)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		__extension__ __int128 nano = list->items[i].quantity.nano;

		sum += hash_entry(hash_text(list->items[i].name), bt_hash_bytes(&nano, sizeof(nano)));
	}
	return sum;
}

static void hash_for_events(struct bt_node_desc *desc, const struct bt_node_object *object)
{
	desc->conditions = hash_conditions(object);
	desc->allocatable = hash_allocatable(&object->allocatable);
	for (uint32_t i = 0; i < object->meta.annotations.n; i++) {
		const struct bt_str_pair *pair = &object->meta.annotations.items[i];

		desc->annotations += hash_entry(hash_text(pair->key), hash_text(pair->value));
	}
	for (uint32_t i = 0; i < object->declared_features.n; i++) {
		desc->declared = hash_entry(desc->declared, hash_text(object->declared_features.items[i]));
	}
	for (uint32_t i = 0; i < object->taint_n; i++) {
		desc->taint_times = hash_entry(desc->taint_times, (uint64_t)object->taints[i].added_ns);
	}
	desc->policy = object->has_preemption_policy;
	for (uint32_t i = 0; i < object->no_resize_preemption.n; i++) {
		desc->policy = hash_entry(desc->policy, hash_text(object->no_resize_preemption.items[i]));
	}
}

/* ---- data for scheduling ---- */

/* Lists of at most the object's lengths, before they are moved into the description. */
struct amounts {
	struct bt_amount usual[64]; /* nearly always enough */
	struct bt_amount *items;
	uint32_t n;
};

struct image {
	uint32_t name, place; /* in the object */
	int64_t bytes;
};

/* Assigns slots to all names, or none to new ones. */
static bool give_slots(struct bt_dictionary *dictionary, const struct bt_resource_list *list)
{
	struct bt_str *unknown = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_resource_look_up(dictionary, list->items[i].name) == BT_SLOT_NEW) {
			unknown = unknown ? unknown : bt_mem_realloc(NULL, list->n, sizeof(*unknown));
			unknown[n++] = list->items[i].name;
		}
	}
	bool given = n == 0 || bt_resource_add_all(dictionary, unknown, n, BT_RESOURCE_MAX);
	bt_mem_free(unknown);
	return given;
}

/* Inserts an amount in slot order; the last one of a name counts. */
static void put_amount(struct amounts *out, uint32_t slot, int64_t amount)
{
	uint32_t at = out->n;

	while (at > 0 && out->items[at - 1].slot > slot) {
		at--;
	}
	if (at == 0 || out->items[at - 1].slot != slot) {
		memmove(&out->items[at + 1], &out->items[at], (out->n++ - at) * sizeof(*out->items));
		/* Clears padding, which is compared too. */
		memset(&out->items[at++], 0, sizeof(*out->items));
	}
	out->items[at - 1].slot = slot;
	out->items[at - 1].amount = amount;
	BT_INVARIANT(at > 0 && (at == 1 || out->items[at - 2].slot < slot));
	BT_INVARIANT(at == out->n || out->items[at].slot > slot);
}

static void read_amounts(struct bt_dictionary *dictionary, const struct bt_resource_list *list,
	struct bt_node_desc *desc, struct amounts *out)
{
	const uint32_t usual_n = sizeof(out->usual) / sizeof(out->usual[0]);

	desc->too_many_names = !give_slots(dictionary, list);
	out->items = list->n <= usual_n ? out->usual : bt_mem_realloc(NULL, list->n, sizeof(*out->items));
	out->n = 0;
	for (uint32_t i = 0; i < list->n; i++) {
		int r = bt_resource_look_up(dictionary, list->items[i].name);

		if (r == BT_SLOT_PODS) {
			desc->alloc_pods = bt_quantity_value(list->items[i].quantity);
		} else if (r >= 0) {
			put_amount(
				out, (uint32_t)r, bt_resource_amount((uint32_t)r, list->items[i].quantity));
		}
	}
}

static void fini_amounts(struct amounts *amounts)
{
	if (amounts->items != amounts->usual) {
		bt_mem_free(amounts->items);
	}
}

static int by_name_and_place(const void *a, const void *b)
{
	const struct image *x = a, *y = b;

	if (x->name != y->name) {
		return x->name < y->name ? -1 : 1;
	}
	return x->place < y->place ? -1 : x->place > y->place;
}

/* The images by name, each once, from its first entry. Source: addNodeImageStates, v1.36.3. */
static struct image *read_images(
	struct bt_intern *intern, const struct bt_node_object *object, uint32_t *out_n)
{
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < object->image_n; i++) {
		n += object->images[i].names.n;
	}
	struct image *images = n ? bt_mem_realloc(NULL, n, sizeof(*images)) : NULL;
	n = 0;
	for (uint32_t i = 0; i < object->image_n; i++) {
		const struct bt_image_object *from = &object->images[i];

		for (uint32_t j = 0; j < from->names.n; j++) {
			uint32_t name = bt_intern_hold(intern, from->names.items[j]);

			images[n] = (struct image){name, n, from->size_bytes};
			n++;
		}
	}
	if (n) {
		qsort(images, n, sizeof(*images), by_name_and_place);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (kept == 0 || images[kept - 1].name != images[i].name) {
			images[kept++] = images[i];
		} else {
			bt_intern_release(intern, images[i].name);
		}
	}
	*out_n = kept;
	BT_INVARIANT(kept <= n);
	return images;
}

/* A node's zone key as upstream: region and zone, beta labels before GA ones; 0 when both are empty. */
static uint64_t zone_of(struct bt_labels labels)
{
	uint32_t zone = bt_labels_get(labels, BT_NAME_BETA_ZONE);
	uint32_t region = bt_labels_get(labels, BT_NAME_BETA_REGION);

	zone = zone ? zone : bt_labels_get(labels, BT_NAME_ZONE);
	region = region ? region : bt_labels_get(labels, BT_NAME_REGION);
	zone = zone == BT_NAME_EMPTY ? BT_NAME_NONE : zone;
	region = region == BT_NAME_EMPTY ? BT_NAME_NONE : region;
	return (uint64_t)region << 32 | zone;
}

/* Reserves space for a list. */
static void *take(char **at, uint32_t n, size_t size)
{
	void *items = *at;

	*at += n * size;
	return items;
}

/* A header followed by its lists, widest entries first so that all are aligned. */
struct room {
	struct bt_node_desc *desc;
	struct bt_amount *amounts;
	int64_t *image_bytes;
	struct bt_label *labels;
	struct bt_taint *taints;
	uint32_t *images;
};

static struct room make_room(const struct bt_node_desc *head, uint32_t amount_n, uint32_t label_n)
{
	const size_t bytes = amount_n * sizeof(struct bt_amount) + label_n * sizeof(struct bt_label) +
			     head->taint_n * sizeof(struct bt_taint) +
			     head->image_n * (sizeof(int64_t) + sizeof(uint32_t));
	struct room room = {.desc = bt_mem_realloc(NULL, 1, sizeof(*head) + bytes)};
	char *at = (char *)(room.desc + 1);

	static_assert(sizeof(*head) % 8 == 0, "lists begin aligned");
	room.image_bytes = take(&at, head->image_n, sizeof(*room.image_bytes));
	room.amounts = take(&at, amount_n, sizeof(*room.amounts));
	room.labels = take(&at, label_n, sizeof(*room.labels));
	room.taints = take(&at, head->taint_n, sizeof(*room.taints));
	room.images = take(&at, head->image_n, sizeof(*room.images));
	*room.desc = *head;
	room.desc->alloc = (struct bt_amounts){room.amounts, amount_n};
	room.desc->image_bytes = room.image_bytes;
	room.desc->labels = (struct bt_labels){room.labels, label_n};
	room.desc->taints = room.taints;
	room.desc->images = room.images;
	room.desc->bytes = bytes;
	BT_INVARIANT((size_t)(at - (char *)(room.desc + 1)) == bytes);
	return room;
}

/* All lists except images are contiguous: from alloc to images. */
static size_t compared_bytes(const struct bt_node_desc *desc)
{
	BT_INVARIANT((const char *)desc->images >= (const char *)desc->alloc.items);
	return (size_t)((const char *)desc->images - (const char *)desc->alloc.items);
}

struct bt_node_desc *bt_node_desc_create(
	struct bt_dictionary *dictionary, const struct bt_node_object *object)
{
	struct bt_intern *intern = dictionary->intern;
	struct bt_name_refs held = {.intern = intern, .unlisted = true};
	struct bt_node_desc head = {
		.dictionary = dictionary,
		.name = bt_intern_hold(intern, object->meta.name),
		.features = bt_features_declared(&object->declared_features),
		.unschedulable = object->unschedulable,
		.keeps_resizes_waiting = object->no_resize_preemption.n > 0,
		.taint_n = object->taint_n,
	};
	struct amounts amounts;
	struct image *images = read_images(intern, object, &head.image_n);

	read_amounts(dictionary, &object->allocatable, &head, &amounts);
	hash_for_events(&head, object);
	BT_INVARIANT(amounts.n <= object->allocatable.n);
	struct room room = make_room(&head, amounts.n, object->meta.labels.n);
	memcpy(room.amounts, amounts.items, amounts.n * sizeof(*room.amounts));
	fini_amounts(&amounts);
	for (uint32_t i = 0; i < head.image_n; i++) {
		room.images[i] = images[i].name;
		room.image_bytes[i] = images[i].bytes;
	}
	bt_mem_free(images);
	bt_labels_fill(room.labels, &held, &object->meta.labels);
	for (uint32_t i = 0; i < head.taint_n; i++) {
		room.taints[i] = bt_taint_intern(&held, &object->taints[i]);
	}
	room.desc->zone_key = zone_of(room.desc->labels);
	room.desc->hash = bt_hash_bytes(room.amounts, compared_bytes(room.desc));
	BT_INVARIANT(room.desc->name == head.name && room.desc->taint_n == object->taint_n);
	return room.desc;
}

static void hold_lists(const struct bt_node_desc *desc)
{
	struct bt_intern *intern = desc->dictionary->intern;

	bt_intern_hold_again(intern, desc->name);
	for (uint32_t i = 0; i < desc->labels.n; i++) {
		bt_intern_hold_again(intern, desc->labels.items[i].key);
		bt_intern_hold_again(intern, desc->labels.items[i].value);
	}
	for (uint32_t i = 0; i < desc->taint_n; i++) {
		bt_intern_hold_again(intern, desc->taints[i].key);
		bt_intern_hold_again(intern, desc->taints[i].value);
		bt_intern_hold_again(intern, desc->taints[i].effect);
	}
	for (uint32_t i = 0; i < desc->image_n; i++) {
		bt_intern_hold_again(intern, desc->images[i]);
	}
}

struct bt_node_desc *bt_node_desc_copy(const struct bt_node_desc *desc)
{
	struct room room = make_room(desc, desc->alloc.n, desc->labels.n);

	room.desc->head = (struct bt_rcu_head){0};
	BT_INVARIANT(room.desc->bytes == desc->bytes);
	memcpy(room.desc + 1, desc + 1, desc->bytes);
	hold_lists(room.desc);
	return room.desc;
}

void bt_node_desc_destroy(const struct bt_node_desc *desc)
{
	if (!desc) {
		return;
	}
	struct bt_intern *intern = desc->dictionary->intern;
	bt_intern_release(intern, desc->name);
	for (uint32_t i = 0; i < desc->labels.n; i++) {
		bt_intern_release(intern, desc->labels.items[i].key);
		bt_intern_release(intern, desc->labels.items[i].value);
	}
	for (uint32_t i = 0; i < desc->taint_n; i++) {
		bt_intern_release(intern, desc->taints[i].key);
		bt_intern_release(intern, desc->taints[i].value);
		bt_intern_release(intern, desc->taints[i].effect);
	}
	for (uint32_t i = 0; i < desc->image_n; i++) {
		bt_intern_release(intern, desc->images[i]);
	}
	bt_mem_free((void *)(uintptr_t)desc);
}

/* This may drop the last reference to the dictionary. */
static void node_desc_end(struct bt_rcu_head *head)
{
	struct bt_node_desc *desc = (struct bt_node_desc *)head;
	struct bt_dictionary *dictionary = desc->dictionary;

	bt_node_desc_destroy(desc);
	bt_dictionary_destroy(dictionary);
}

void bt_node_desc_defer(const struct bt_node_desc *desc)
{
	static_assert(offsetof(struct bt_node_desc, head) == 0, "end frees the whole");
	if (desc) {
		bt_dictionary_share(desc->dictionary);
		bt_rcu_defer((struct bt_rcu_head *)(uintptr_t)&desc->head, node_desc_end,
			sizeof(*desc) + desc->bytes);
	}
}

bool bt_node_desc_alike_but_images(const struct bt_node_desc *a, const struct bt_node_desc *b)
{
	return a->hash == b->hash && a->name == b->name && a->features == b->features &&
	       a->unschedulable == b->unschedulable && a->keeps_resizes_waiting == b->keeps_resizes_waiting &&
	       a->alloc_pods == b->alloc_pods && a->alloc.n == b->alloc.n && a->labels.n == b->labels.n &&
	       a->taint_n == b->taint_n && memcmp(a->alloc.items, b->alloc.items, compared_bytes(a)) == 0;
}

/* ---- facts for events ---- */

static void *node_desc_keep(struct bt_arena *arena, const void *items, uint32_t n, size_t size)
{
	void *copy = bt_arena_alloc(arena, n * size, 8);

	if (n) {
		memcpy(copy, items, n * size);
	}
	return copy;
}

static struct bt_amounts keep_amounts(struct bt_arena *arena, struct bt_amounts from)
{
	struct bt_amount *items = bt_arena_alloc(arena, from.n * sizeof(*items), 8);
	uint32_t n = 0;

	for (uint32_t i = 0; i < from.n; i++) {
		if (from.items[i].amount != 0) {
			items[n++] = from.items[i];
		}
	}
	BT_INVARIANT(n <= from.n);
	return (struct bt_amounts){items, n};
}

void bt_node_facts_of(const struct bt_node_desc *desc, struct bt_arena *arena, struct bt_node_facts *out)
{
	const struct bt_labels labels = desc->labels;

	*out = (struct bt_node_facts){
		.name = desc->name,
		.labels = {node_desc_keep(arena, labels.items, labels.n, sizeof(*labels.items)), labels.n},
		.taints = node_desc_keep(arena, desc->taints, desc->taint_n, sizeof(*desc->taints)),
		.taint_n = desc->taint_n,
		.unschedulable = desc->unschedulable,
		.keeps_resizes_waiting = desc->keeps_resizes_waiting,
		.features = desc->features,
		.alloc = keep_amounts(arena, desc->alloc),
		.alloc_pods = desc->alloc_pods,
		.conditions = desc->conditions,
		.annotations = desc->annotations,
		.declared = desc->declared,
		.allocatable = desc->allocatable,
		.taint_times = desc->taint_times,
		.policy = desc->policy,
	};
}
