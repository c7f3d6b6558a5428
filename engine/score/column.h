/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: one number per node for whether the plugins that depend on its usage pass it, and their score.
 * Cached until the node changes; the usage's journal lists changed nodes.
 */
#pragma once

#include "engine/score/index.h"
#include "plugins/plugin.h"
#include "plugins/resource_ranges.h"

/*
 * Nominations. A node with nominated pods that the cycle's pod must fit with is filtered twice: with these
 * pods, and without. Source: RunFilterPluginsWithNominatedPods, v1.36.3.
 */
struct bt_nominations_ahead {
	bool (*put)(void *context, uint32_t node_ix);  /* adds them to the node; false: there are none */
	void (*take)(void *context, uint32_t node_ix); /* after put returned true: removes them */
	void *context;
};

/* A plugin's compiled term in a column. */
struct bt_column_part {
	const struct bt_plugin *plugin;
	const void *term;
	int64_t weight;
	bool filter, score;
};

struct bt_column_batch;

#define BT_COLUMN_FLIPS 64

/* Nodes that began or ceased to be refused, newest last: entry i is items[i % BT_COLUMN_FLIPS], for the last
 * BT_COLUMN_FLIPS of them; a rebuilt column skips as many. */
struct bt_column_flips {
	uint32_t items[BT_COLUMN_FLIPS];
	uint64_t end;
};

struct bt_column {
	struct bt_column_part parts[BT_PROFILE_USES];
	uint32_t part_n;
	uint64_t reads; /* resource slots that the parts read, as bits */
	bool gathers;	/* the parts read only resources, pods and ports of nodes */
	bool summed;	/* the parts are arithmetic on resources: sum */
	struct bt_resource_sum sum;
	bool wants_rest;				/* sum also checks resources that lanes do not */
	const struct bt_nominations_ahead *nominations; /* nominations to fit with; NULL: none */
	uint16_t *value;       /* by node slot: 0 refused, otherwise 1 + the weighted sum */
	uint64_t *stale;       /* bitmap of nodes that changed since they were evaluated */
	const uint64_t *fresh; /* mask of nodes that were current after the last update; NULL: all */
	uint32_t slot_n;       /* slots at the last round */
	uint32_t slot_room;    /* room for slots: values of those from slot_n on are 0 */
	uint32_t value_n;      /* values are below this */
	uint64_t journal_at;   /* position in the journal */
	bool built;
	bool out_of_range; /* a score was outside 0..100 and does not fit: unusable */
	bool indexed;
	uint32_t stable_rounds; /* consecutive rounds with a short journal */
	uint32_t near;		/* an indexed column behind by at most this takes a step, not a round */
	struct bt_index index;	/* while indexed */
	struct bt_column_batch *column_batch; /* the batch to join, or NULL; set before bt_column_init */
	bool is_column_batch;
	uint32_t lane;	  /* in the batch */
	uint64_t used_at; /* the journal's end at the last use */
	struct bt_column_flips flips;
	uint64_t batch; /* of struct bt_parallel_prepare: the last batch that needs it, and its index there */
	uint32_t need_ix;
	bool placed;	 /* its pages are near their shards' workers */
	uint32_t ranges; /* of its index, as counted by struct bt_parallel_prepare */
};

enum bt_catch_up {
	BT_CATCH_UP_ALL = 0,  /* every node is stale */
	BT_CATCH_UP_JOURNAL,  /* the journal's nodes are stale */
	BT_CATCH_UP_AND_INDEX /* the same, and after stable rounds the column is indexed from now on */
};

/* The cheapest way to update a column that is behind by this many changes. Never changes a decision. */
enum bt_catch_up bt_column_choose(uint64_t behind, uint32_t slot_n, uint32_t stable_rounds);

/* For tests: replaces bt_column_choose; NULL: restores it. Context: while no column is updated; the threads
 * that update call it. */
typedef enum bt_catch_up bt_column_chooser(
	void *context, uint64_t behind, uint32_t slot_n, uint32_t stable_rounds);
void bt_column_choose_by(bt_column_chooser *other, void *context);

/* Updates the values of the nodes in mask (NULL: all) from the usage; others may stay stale. */
void bt_column_catch_up(struct bt_column *column, const struct bt_view *view, const uint64_t *mask);

/* Are the values of all nodes in the mask (NULL: all) current? */
bool bt_column_is_current(const struct bt_column *column, const struct bt_view *view, const uint64_t *mask);

/*
 * The same in parallel by shards of the nodes: begin on the scheduling thread, then each shard once on any
 * thread, then end with the shards' results on the scheduling thread. The usage has no writer meanwhile.
 */
struct bt_column_round {
	struct bt_column *column;
	const struct bt_view *view;
	const uint64_t *mask;
	uint64_t behind;
	bool all_stale; /* every node is stale */
	bool follows;	/* only the journal's nodes are evaluated */
};

/* A shard's result. */
struct bt_column_found {
	struct bt_column_flips flips;
	bool out_of_range;
};

/* Returns: false when shards do not pay, or the column needs an update in one piece (bt_column_catch_up) or
 * none: it is indexed, depends on nominations, or is current. Then nothing has happened. */
bool bt_column_round_begin(struct bt_column_round *round, struct bt_column *column,
	const struct bt_view *view, const uint64_t *mask);

/* Updates the nodes of [first, end). Requires: first and end are multiples of 64, or end is the number of
 * slots. Shards do not overlap. Context: any thread, one per shard. Never allocates. */
void bt_column_round_shard(
	const struct bt_column_round *round, uint32_t first, uint32_t end, struct bt_column_found *out_found);

/* Applies the results of shards that together had every node. */
void bt_column_round_end(
	const struct bt_column_round *round, const struct bt_column_found *found, uint32_t found_n);

/* The value of one node, whether or not it was in the mask. Requires: the column was updated since the last
 * write. */
uint16_t bt_column_value(struct bt_column *column, const struct bt_view *view, uint32_t node_ix);

/* Replaces the nodes of a mask. */
void bt_column_change_mask(struct bt_column *column, const uint64_t *mask);

/*
 * Initializes a column for slot_n nodes, without values, and with room for slot_room.
 * Requires: zero-initialized except for parts, nominations and column_batch. Owns: bt_column_fini.
 */
void bt_column_init(struct bt_column *column, uint32_t slot_n, uint32_t slot_room);
void bt_column_fini(struct bt_column *column);
