/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: classes of nodes. Nodes of a class agree in their group and in every equivalence key of the
 * plugins that depend on counters, so one of them answers for all. A node changes its class when a counter
 * under it changes; how many nodes of each class are not refused by their usage is kept as well. Where there
 * are too many classes for that to pay, each node answers for itself.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/score/column.h"
#include "plugins/plugin.h"

/* More equivalence keys than this are not distinguished: each node is on its own. */
#define BT_EQUIVALENCE_KEYS 16

struct bt_class {
	uint64_t hash;	  /* in ixs */
	uint32_t node_n;  /* 0: the number is vacant */
	uint32_t alive_n; /* of them, those that their usage does not refuse */
	uint32_t example; /* a node that is, or was, of the class */
};

struct bt_classes {
	struct bt_equivalence_key node_keys[BT_EQUIVALENCE_KEYS];
	uint32_t key_n, slot_n;
	uint16_t *group; /* by node slot; 0: the description refuses the node */
	bool single;	 /* each node is on its own; what follows is empty */
	uint16_t *of;	 /* by node slot, padded for the scan; 0: the description refuses the node */
	uint64_t *alive; /* bitmap: nodes that count in alive_n */
	uint32_t n;	 /* numbers of classes are below this; 0 is none */
	uint32_t limit;	 /* with more classes each node is on its own */
	uint32_t cap;	 /* room for classes */
	uint32_t *keys;	 /* by class: its group and what its nodes have in each key */
	struct bt_class *classes;
	struct bt_map ixs; /* hash of a key -> class */
	uint16_t *vacant;  /* numbers to be used again */
	uint32_t vacant_n;
	uint64_t key_at
		[BT_EQUIVALENCE_KEYS]; /* how far the journal of a key's domain counts has been taken in */
	uint64_t flip_at;	       /* and that of the column */
};

/*
 * Sorts slot_n nodes into classes. group says which nodes agree in their description, and is 0 for those that
 * it refuses; column says which their usage refuses.
 * Owns: bt_classes_destroy; group, which comes from bt_mem_column, is taken over.
 */
struct bt_classes *bt_classes_create(uint16_t *group, uint32_t slot_n,
	const struct bt_equivalence_key *node_keys, uint32_t key_n, const struct bt_column *column);
void bt_classes_destroy(struct bt_classes *classes);

/* Were the classes made from these equivalence keys? */
bool bt_classes_current(
	const struct bt_classes *classes, const struct bt_equivalence_key *node_keys, uint32_t key_n);

/* Takes in what has changed in the domain counts and in the column since the last time. */
void bt_classes_catch_up(struct bt_classes *classes, const struct bt_column *column);

/* A node of a class. Requires: it has nodes. */
uint32_t bt_classes_example(struct bt_classes *classes, uint32_t class);

/* Puts the pages of what they have by node slot beside the workers of these. */
void bt_classes_place(struct bt_classes *classes, const struct bt_shards *shards);

/* What the classes take in memory now. */
size_t bt_classes_bytes(const struct bt_classes *classes);
