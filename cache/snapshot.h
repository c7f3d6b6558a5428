/* SPDX-License-Identifier: Apache-2.0
 * Stage 6: nodes as columns, for evaluating all of them. Adopts published descriptions.
 * Context: the scheduling thread is the only writer; plugins read it through cache/node_view.h, in cycles.
 */
#pragma once

#include "cache/node_desc.h"
#include "cache/node_view.h"
#include "engine/base/owner.h"

struct bt_snapshot_mark; /* cache/node_change.h */
struct bt_snapshot_writer;

struct bt_snapshot_writer *bt_snapshot_create(struct bt_dictionary *dictionary);
void bt_snapshot_destroy(struct bt_snapshot_writer *writer);

/* The thread that may change the snapshot and the counters. Owns: the writer. */
struct bt_owner *bt_snapshot_owner(struct bt_snapshot_writer *writer);

/* The readers' snapshot; the pointer is constant. */
const struct bt_snapshot *bt_snapshot_view(const struct bt_snapshot_writer *writer);

/*
 * The slot of a node name, assigned now if it has none: a pod may name a node before the node is known. The
 * name is held while it has the slot. The assigned slot depends only on earlier calls.
 */
uint32_t bt_snapshot_enter(struct bt_snapshot_writer *writer, uint32_t name);

/* Are there enough slots of deleted nodes to scan them for vacating? left_n: total
 * number of pods and nominations that have left nodes. */
bool bt_snapshot_is_crowded(const struct bt_snapshot_writer *writer, uint64_t left_n);

/*
 * Vacates the slots of nodes that are not live, unless they are kept: they are reused, lowest first. A
 * callback reports each vacated slot to owners of data by slot. Vacant slots at the end are removed.
 */
void bt_snapshot_vacate(struct bt_snapshot_writer *writer, uint64_t left_n,
	bool (*keeps)(void *context, uint32_t slot), void (*leave)(void *context, uint32_t slot),
	void *context);

/*
 * Should nodes move to lower slots? True from when fewer than half of the slots have a name until slots are
 * dense.
 */
bool bt_snapshot_is_sparse(struct bt_snapshot_writer *writer);

/*
 * Moves the highest named slot to the lowest vacant one, whether its node is live or not. *from: in: an end
 * after which no slot has a name, initially slot_n; out: the old slot. The caller moves other data by slot.
 * After some moves call bt_snapshot_end_moves. Returns false when there is nothing to move.
 */
bool bt_snapshot_move(struct bt_snapshot_writer *writer, uint32_t *from, uint32_t *out_to);

/* Removes the slots that were left. */
void bt_snapshot_end_moves(struct bt_snapshot_writer *writer);

/* The total number of moved nodes. */
uint64_t bt_snapshot_move_n(const struct bt_snapshot_writer *writer);

/* The slot of a live node, or BT_NO_NODE. */
uint32_t bt_snapshot_find(const struct bt_snapshot_writer *writer, uint32_t name);

/*
 * The live nodes (node_n of them) in upstream's order: round-robin over zones, in the order in which they
 * first appeared.
 * Owns: the writer; valid until the next apply or remove. Source: scheduler backend/cache node_tree, v1.36.3.
 */
const uint32_t *bt_snapshot_order(struct bt_snapshot_writer *writer);

/* Has bt_snapshot_order built the order that is valid now? And: it has not. The order does not follow nodes
 * that change their zones in place, so it depends on when it is built. */
bool bt_snapshot_has_order(const struct bt_snapshot_writer *writer);
void bt_snapshot_forget_order(struct bt_snapshot_writer *writer);

/*
 * For each node slot the value of a label key, or BT_NAME_NONE. Built on first use, then kept up to date as
 * nodes change, come and go.
 * Owns: the writer; valid until layout_version changes.
 */
const uint32_t *bt_snapshot_label_column(struct bt_snapshot_writer *writer, uint32_t key);

/*
 * Bitmap of the slots that have an image; NULL: no live node has it. Built on first use, then kept up to
 * date.
 * Owns: the writer; valid until the image's stamp or the snapshot's version changes.
 */
const uint64_t *bt_snapshot_image_nodes(struct bt_snapshot_writer *writer, uint32_t name);

/* Drops the columns of all label keys and images: earlier results are invalid afterwards. */
void bt_snapshot_forget_columns(struct bt_snapshot_writer *writer);

/* Their number. */
size_t bt_snapshot_column_count(const struct bt_snapshot_writer *writer);

/* A node's description; NULL: not live. */
const struct bt_node_desc *bt_snapshot_desc(const struct bt_snapshot_writer *writer, uint32_t node_ix);

/* Between a freeze and a thaw no node is adopted, and new slots do not change the version, so data computed
 * from the nodes stays valid. */
void bt_snapshot_freeze(struct bt_snapshot_writer *writer);
void bt_snapshot_thaw(struct bt_snapshot_writer *writer);

/*
 * Replaces a node's description: old is the slot's current one (NULL: not live), new the next (NULL:
 * deleted). The version is incremented unless both are equal for scheduling, except images, which have
 * stamps. A node that is not equal is appended to changes.
 * Requires: the slot was entered; old was adopted last; one of them is not NULL.
 * Owns    : the writer points into new, and no longer into old, which the caller may drop afterwards.
 * Returns : whether the node is in changes now.
 */
bool bt_snapshot_adopt(struct bt_snapshot_writer *writer, uint32_t slot, const struct bt_node_desc *old,
	const struct bt_node_desc *new);

/*
 * Saves, before the slot of a name is entered and a description is adopted, what adopting the old one again
 * does not restore. added_or_removed: the node enters or leaves the live ones. bt_snapshot_revert restores it
 * after that, in LIFO order with other changes, and gives the slot back if it was entered.
 */
void bt_snapshot_mark(struct bt_snapshot_writer *writer, uint32_t name, bool added_or_removed,
	struct bt_snapshot_mark *out_mark);
void bt_snapshot_revert(struct bt_snapshot_writer *writer, uint32_t slot, struct bt_snapshot_mark *mark);

/* These pods and nominations that have left nodes were there only for a while: they do not count for
 * bt_snapshot_is_crowded. */
void bt_snapshot_discount(struct bt_snapshot_writer *writer, uint64_t left_n);

/* Invalidates plans although node descriptions are unchanged. Data that depends only on these (domain counts)
 * stays: a running cycle may use it in trials. */
void bt_snapshot_touch(struct bt_snapshot_writer *writer);
