/* SPDX-License-Identifier: Apache-2.0
 * Resource names as small slots, and amounts of resources by slot: cpu in thousandths, all others in whole
 * units.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/map.h"
#include "engine/base/thread.h"
#include "engine/model/name_refs.h"
#include "engine/model/object.h"

enum bt_resource {
	BT_CPU = 0, /* milli */
	BT_MEMORY,  /* bytes */
	BT_EPHEMERAL_STORAGE,
	BT_FIRST_SCALAR,    /* extended resources, hugepages, attachable volumes, names with a kubernetes.io/
			       domain */
	BT_FIRST_RARE = 63, /* from here on: rare ones, without columns by node */
	BT_RESOURCE_MAX = 16384,
	/* From here on pods get no slots for new names: pods may use any name, and resources of nodes and
	 * configurations still need slots. */
	BT_RESOURCE_POD_MAX = BT_RESOURCE_MAX - 4096
};

/* The most resources that one pod may request. */
#define BT_REQUEST_MAX 64

/* bt_resource_slot's results for a name without a slot. */
enum bt_no_slot {
	BT_SLOT_PODS = -1,    /* the pod count, not a scalar */
	BT_SLOT_IGNORED = -2, /* a name that the scheduler drops, such as storage */
	BT_SLOT_FULL = -3,    /* more different resource names than BT_RESOURCE_MAX */
	BT_SLOT_NEW = -4      /* no slot yet */
};

/* Slots are permanent. A caller that has a slot, or has read n, may read the entries. */
struct bt_resource_table {
	uint32_t names[BT_RESOURCE_MAX]; /* interned; 0 beyond n */
	bool extended[BT_RESOURCE_MAX];
	_Atomic int n;
	struct bt_lock lock; /* serializes additions */
};

/* Texts that verdicts point to. */
struct bt_texts {
	struct bt_name_refs held;
	struct bt_map names; /* those in held */
};

/* Keeps a text, once each, until all are released. Returns: its name. Context: the scheduling thread. */
uint32_t bt_texts_keep(struct bt_texts *texts, struct bt_str text);
void bt_texts_release(struct bt_texts *texts);

static inline size_t bt_texts_count(const struct bt_texts *texts)
{
	return texts->names.count;
}

/* Names and resource slots, shared by all parts. */
struct bt_dictionary {
	struct bt_intern *intern;
	struct bt_name_refs for_ever; /* init: its names are never freed */
	struct bt_resource_table resources;
	struct bt_texts *texts;	 /* owner: the scheduling thread */
	_Atomic uint64_t user_n; /* atomic: references; freed with the last one */
};

struct bt_dictionary *bt_dictionary_create(void);

/* Drops a reference. The last one frees the dictionary. */
void bt_dictionary_destroy(struct bt_dictionary *dictionary);

/* Adds a reference, which the caller drops by bt_dictionary_destroy. Context: any thread. */
void bt_dictionary_share(struct bt_dictionary *dictionary);

struct bt_amount {
	uint32_t slot;
	int64_t amount;
};

/* Amounts by ascending slot; a slot that is absent differs from one with amount 0. */
struct bt_amounts {
	const struct bt_amount *items;
	uint32_t n;
};

/* The slot of a resource name, assigned now if it has none; or an enum bt_no_slot. Context: any thread;
 * lock-free when the name has a slot. */
int bt_resource_slot(struct bt_dictionary *dictionary, struct bt_str name);

/* The slot of a resource name, or BT_SLOT_NEW, BT_SLOT_PODS, BT_SLOT_IGNORED. Context: any thread;
 * lock-free. */
int bt_resource_look_up(const struct bt_dictionary *dictionary, struct bt_str name);

/* Assigns each of the names a slot below max, or none of them; duplicates are allowed. Returns: whether they
 * have slots. Context: any thread. Requires: max is BT_RESOURCE_MAX, or BT_RESOURCE_POD_MAX for names from a
 * pod; bt_resource_look_up has returned BT_SLOT_NEW for each. */
bool bt_resource_add_all(
	struct bt_dictionary *dictionary, const struct bt_str *names, uint32_t n, uint32_t max);

/* For tests: dictionaries created from now on have their first n slots taken. */
void bt_resource_prefill(uint32_t n);

/* The slot of a known name, or -1. */
int bt_resource_find(const struct bt_dictionary *dictionary, struct bt_str name);

/* The number of assigned slots. Context: any thread. */
static inline int bt_resource_count(const struct bt_dictionary *dictionary)
{
	/* EDGE resources.n acquire: the slots below it are initialized. */
	return bt_load_acquire(&dictionary->resources.n);
}

/* The bit of a slot in a word of slots; all rare ones share the last bit. */
static inline uint64_t bt_resource_bit(uint32_t slot)
{
	return UINT64_C(1) << (slot < BT_FIRST_RARE ? slot : BT_FIRST_RARE);
}

struct bt_str bt_resource_name(const struct bt_dictionary *dictionary, uint32_t slot);

/* Is the name an extended resource, as upstream's IsExtendedResourceName decides? */
bool bt_resource_is_extended(struct bt_str name);

/* Is the name kept as a scalar at all (extended, hugepages-, attachable-volumes-, domain kubernetes.io/)? */
bool bt_resource_is_scalar(struct bt_str name);

/* The amount of a slot; 0 when absent. */
int64_t bt_amounts_get(struct bt_amounts amounts, uint32_t slot);

/* The same for a list that may be long. */
int64_t bt_amounts_search(struct bt_amounts amounts, uint32_t slot);

/* A quantity in the unit of the slot, rounded up. */
static inline int64_t bt_resource_amount(uint32_t slot, struct bt_quantity quantity)
{
	return slot == BT_CPU ? bt_quantity_milli(quantity) : bt_quantity_value(quantity);
}
