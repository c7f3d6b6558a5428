/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: classes of nodes. Nodes of a class agree in their group and in every equivalence key of the
 * plugins that depend on counters, so one node is evaluated for all of them. A node changes its class when
 * one of its counters changes. Each class also counts its nodes that their usage does not refuse. With too
 * many classes for that to pay, each node is evaluated.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/score/column.h"
#include "plugins/plugin.h"

/* With more equivalence keys than this, each node is evaluated. */
#define BT_EQUIVALENCE_KEYS 16

struct bt_class {
	uint64_t hash;	  /* in ixs */
	uint32_t node_n;  /* 0: the number is free */
	uint32_t alive_n; /* of them, not refused by their usage */
	uint32_t example; /* a node that is, or was, in the class */
};

struct bt_classes {
	struct bt_equivalence_key node_keys[BT_EQUIVALENCE_KEYS];
	uint32_t key_n;
	uint32_t slot_n, slot_room; /* slots in use; arrays by slot have room for slot_room */
	uint16_t *group;	    /* by node slot; 0: refused by the description */
	bool single;		    /* each node is evaluated; what follows is empty */
	uint16_t *of;		    /* by node slot, padded for the scan; 0: refused by the description */
	uint64_t *alive;	    /* bitmap: nodes counted in alive_n */
	uint32_t n;		    /* class numbers are below this; 0: no class */
	uint32_t limit;		    /* maximum of classes; beyond it each node is evaluated */
	uint32_t cap;		    /* capacity in classes */
	uint32_t *keys;		    /* by class: its group, and its nodes' value for each key */
	struct bt_class *classes;
	struct bt_map ixs; /* hash of a key -> class */
	uint16_t *vacant;  /* free class numbers */
	uint32_t vacant_n;
	uint64_t key_at[BT_EQUIVALENCE_KEYS]; /* position in the journal of each key's domain counts */
	uint64_t flip_at;		      /* position in the column's flips */
};

/*
 * Sorts slot_n nodes into classes, and keeps room for slot_room. group lists the nodes that agree in their
 * description, and is 0 for those that it refuses; column tells which nodes their usage refuses.
 * Owns: bt_classes_destroy; takes over group, which comes from bt_mem_column and has slot_room elements.
 */
struct bt_classes *bt_classes_create(uint16_t *group, uint32_t slot_n, uint32_t slot_room,
	const struct bt_equivalence_key *node_keys, uint32_t key_n, const struct bt_column *column);
void bt_classes_destroy(struct bt_classes *classes);

/* Are the classes built from these equivalence keys? */
bool bt_classes_current(
	const struct bt_classes *classes, const struct bt_equivalence_key *node_keys, uint32_t key_n);

/*
 * A node has changed, come or gone: it has this group now, 0 if it is refused or not live. Domain counts have
 * followed the change; slot_n is the number of slots after it.
 */
void bt_classes_redescribe(struct bt_classes *classes, const struct bt_column *column, uint32_t node_ix,
	uint16_t group, uint32_t slot_n);

/* Applies changes of the domain counts and the column since the last call. */
void bt_classes_catch_up(struct bt_classes *classes, const struct bt_column *column);

/* A node of a class. Requires: it has nodes. */
uint32_t bt_classes_example(struct bt_classes *classes, uint32_t class);

/* Places the pages of the arrays by node slot near their shards' workers. */
void bt_classes_place(struct bt_classes *classes, const struct bt_shards *shards);

/* The memory that the classes use. */
size_t bt_classes_bytes(const struct bt_classes *classes);
