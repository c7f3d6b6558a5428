/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: per node, whether the plugins that depend on its usage let a pod pass and what they score it, in
 * one number. Kept until the node changes; the usage's journal says which nodes did.
 */
#pragma once

#include "engine/score/index.h"
#include "plugins/plugin.h"
#include "plugins/resource_ranges.h"

/*
 * Pods that are nominated to nodes. A node that has any which matter to the cycle's pod must fit it with them
 * there, and without. Source: RunFilterPluginsWithNominatedPods, v1.36.3.
 */
struct bt_yields_to {
	bool (*put)(
		void *context, uint32_t node_ix); /* they use the node from now on; false: there are none */
	void (*take)(void *context, uint32_t node_ix); /* after put was true: they do not any more */
	void *context;
};

/* A plugin's term as a column uses it. */
struct bt_column_part {
	const struct bt_plugin *plugin;
	const void *term;
	int64_t weight;
	bool filter, score;
};

struct bt_column_batch;

#define BT_COLUMN_FLIPS 64

/* Nodes that began or ceased to be refused, newest last: entry i is items[i % BT_COLUMN_FLIPS], for the last
 * so many; a column that is built anew leaves out that many. */
struct bt_column_flips {
	uint32_t items[BT_COLUMN_FLIPS];
	uint64_t end;
};

struct bt_column {
	struct bt_column_part parts[BT_PROFILE_USES];
	uint32_t part_n;
	uint64_t reads; /* the resource slots that the parts read, as bits */
	bool gathers;	/* resources, pods and ports are all that the parts read of nodes */
	bool summed;	/* the parts are arithmetic on resources: this */
	struct bt_resource_sum sum;
	bool wants_rest;			/* with it something of resources that lanes leave out */
	const struct bt_yields_to *nominations; /* a node passes with these, too; NULL: they do not matter */
	uint16_t *value;			/* by node slot: 0 refused, else 1 + the weighted sum */
	uint64_t *stale;       /* bitmap of the nodes that have changed since they were evaluated */
	const uint64_t *fresh; /* the mask whose nodes were not stale after the last time; NULL: all nodes */
	uint32_t slot_n;
	uint32_t value_n;    /* values are below this */
	uint64_t journal_at; /* how far the journal has been taken in */
	bool built;
	bool out_of_range; /* some score was outside 0..100 and does not fit: the column cannot be used */
	bool indexed;
	uint32_t stable_rounds; /* how often in a row the journal was short */
	uint32_t near; /* an indexed column that is behind by at most so much takes a step, not a round */
	struct bt_index index; /* while indexed */
	struct bt_column_batch
		*column_batch; /* the batch that it may join, or NULL; set before bt_column_init */
	bool is_column_batch;
	uint32_t lane;	   /* there */
	uint64_t asked_at; /* the journal's end when somebody last asked for it */
	struct bt_column_flips flips;
	uint64_t
		batch; /* of struct bt_parallel_prepare: the last batch that needs it, and its number there */
	uint32_t need_ix;
	bool placed;	 /* its pages lie beside the workers of their shards */
	uint32_t ranges; /* of its index, as struct bt_parallel_prepare counts them */
};

enum bt_catch_up {
	BT_CATCH_UP_ALL = 0,  /* every node is stale */
	BT_CATCH_UP_JOURNAL,  /* those that the journal names are */
	BT_CATCH_UP_AND_INDEX /* the same, and the column has had stable rounds: it is indexed from now on */
};

/* The cheapest way to bring a column up to date that is behind by so many changes. The choice never changes a
 * decision. */
enum bt_catch_up bt_column_choose(uint64_t behind, uint32_t slot_n, uint32_t stable_rounds);

/* For tests: who chooses from now on; NULL: bt_column_choose again. Context: while no column is caught up;
 * threads that catch up call it. */
typedef enum bt_catch_up bt_column_chooser(
	void *context, uint64_t behind, uint32_t slot_n, uint32_t stable_rounds);
void bt_column_choose_by(bt_column_chooser *other, void *context);

/* Brings the values of the nodes in mask (NULL: all) up to date with the usage; others may stay stale. */
void bt_column_catch_up(struct bt_column *column, const struct bt_view *view, const uint64_t *mask);

/* Is the value of every node in the mask (NULL: of all) up to date? */
bool bt_column_is_current(const struct bt_column *column, const struct bt_view *view, const uint64_t *mask);

/*
 * The same in shards of the nodes, side by side: begin on the scheduling thread, then each shard once on any
 * thread, then end with what they found, on the scheduling thread again. Nobody writes the usage meanwhile.
 */
struct bt_column_round {
	struct bt_column *column;
	const struct bt_view *view;
	const uint64_t *mask;
	uint64_t behind;
	bool anew;    /* every node is stale */
	bool follows; /* the journal's nodes alone are evaluated */
};

/* What a shard found. */
struct bt_column_found {
	struct bt_column_flips flips;
	bool out_of_range;
};

/* Returns: false when shards do not pay or the column must be brought up to date at once
 * (bt_column_catch_up): it is indexed, depends on nominations, or is up to date. Then nothing has happened.
 * */
bool bt_column_round_begin(struct bt_column_round *round, struct bt_column *column,
	const struct bt_view *view, const uint64_t *mask);

/* Brings the nodes of [first, end) up to date. Requires: first and end are multiples of 64, or end is the
 * number of slots. Shards do not overlap. Context: any thread, one for each shard. Never allocates. */
void bt_column_round_shard(
	const struct bt_column_round *round, uint32_t first, uint32_t end, struct bt_column_found *out_found);

/* Every node was in one of the shards: takes in what they found. */
void bt_column_round_end(
	const struct bt_column_round *round, const struct bt_column_found *found, uint32_t found_n);

/* The value of one node, whether or not it was in the mask. Requires: the column was brought up to date since
 * the last write. */
uint16_t bt_column_value(struct bt_column *column, const struct bt_view *view, uint32_t node_ix);

/* A mask's nodes are others from now on. */
void bt_column_change_mask(struct bt_column *column, const uint64_t *mask);

/*
 * Makes room for slot_n nodes, none evaluated yet.
 * Requires: all zeroes but for parts, nominations and column_batch. Owns: bt_column_fini.
 */
void bt_column_init(struct bt_column *column, uint32_t slot_n);
void bt_column_fini(struct bt_column *column);
