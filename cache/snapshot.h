/* SPDX-License-Identifier: Apache-2.0
 * Stage 6: the nodes as columns, for those who look at all of them. Adopts the descriptions that were
 * published.
 * Context: the scheduling thread is the only writer; plugins see it through cache/node_view.h, in cycles.
 */
#pragma once

#include "cache/node_desc.h"
#include "cache/node_view.h"
#include "engine/base/owner.h"

struct bt_snapshot_writer;

struct bt_snapshot_writer *bt_snapshot_create(struct bt_dictionary *dictionary);
void bt_snapshot_destroy(struct bt_snapshot_writer *writer);

/* The thread that may change the snapshot, and what is counted beside it. Owns: the writer. */
struct bt_owner *bt_snapshot_owner(struct bt_snapshot_writer *writer);

/* The snapshot that readers get; the pointer stays the same. */
const struct bt_snapshot *bt_snapshot_view(const struct bt_snapshot_writer *writer);

/*
 * The slot of a node name, given now if it has none: a pod may name a node before the node is known. The
 * name is held as long as it has the slot. Which slot is given depends on the calls before alone.
 */
uint32_t bt_snapshot_enter(struct bt_snapshot_writer *writer, uint32_t name);

/* Are there so many slots of nodes that are not live that it is time to look which of them may be vacated?
 * left_n: how often something has left a node, ever, that may have kept its slot. */
bool bt_snapshot_is_crowded(const struct bt_snapshot_writer *writer, uint64_t left_n);

/*
 * Vacates the slots of nodes that are not live, unless somebody keeps them: others may get them then, the
 * lowest first. Who has something by a slot hears that it leaves its name. Those at the end are slots no
 * more.
 */
void bt_snapshot_vacate(struct bt_snapshot_writer *writer, uint64_t left_n,
	bool (*keeps)(void *context, uint32_t slot), void (*leave)(void *context, uint32_t slot),
	void *context);

/*
 * Is it time to move nodes to lower slots? It becomes so when fewer than half of the slots have a name, and
 * stays so until they lie densely.
 */
bool bt_snapshot_is_sparse(struct bt_snapshot_writer *writer);

/*
 * Gives what has the highest slot the lowest vacant one, be the node live or not. *from: an end behind which
 * no slot has a name, slot_n at first; then the slot that it had. Who has something by that has to move it,
 * too. After some moves: bt_snapshot_end_moves. Returns false when there is nothing to move.
 */
bool bt_snapshot_move(struct bt_snapshot_writer *writer, uint32_t *from, uint32_t *out_to);

/* The slots that were left are slots no more. */
void bt_snapshot_end_moves(struct bt_snapshot_writer *writer);

/* How many nodes were moved, ever. */
uint64_t bt_snapshot_move_n(const struct bt_snapshot_writer *writer);

/* The slot of a live node, or BT_NO_NODE. */
uint32_t bt_snapshot_find(const struct bt_snapshot_writer *writer, uint32_t name);

/*
 * The live nodes (node_n of them) in upstream's order: zones take turns in the order in which they first
 * appeared.
 * Owns: the writer; valid until the next apply or remove. Source: scheduler backend/cache node_tree, v1.36.3.
 */
const uint32_t *bt_snapshot_order(struct bt_snapshot_writer *writer);

/*
 * For each node slot the value of a label key, or BT_NAME_NONE. Made when it is first asked for under a
 * version.
 * Owns: the writer; valid until the snapshot's version changes.
 */
const uint32_t *bt_snapshot_label_column(struct bt_snapshot_writer *writer, uint32_t key);

/*
 * Which slots have an image, as a bitmap; NULL: no live node has it. Made when it is first asked for, then
 * kept up to date.
 * Owns: the writer; valid until the image's stamp or the snapshot's version changes.
 */
const uint64_t *bt_snapshot_image_nodes(struct bt_snapshot_writer *writer, uint32_t name);

/* Forgets the columns of all label keys and images: those that were asked for are invalid afterwards. */
void bt_snapshot_forget_columns(struct bt_snapshot_writer *writer);

/* How many there are. */
size_t bt_snapshot_column_count(const struct bt_snapshot_writer *writer);

/* What is known of a node; NULL when it is not live. */
const struct bt_node_desc *bt_snapshot_desc(const struct bt_snapshot_writer *writer, uint32_t node_ix);

/* Between a freeze and a thaw no node is adopted, and slots that names get change no version: what was worked
 * out of the nodes before is right as long. */
void bt_snapshot_freeze(struct bt_snapshot_writer *writer);
void bt_snapshot_thaw(struct bt_snapshot_writer *writer);

/*
 * A node was described anew: old is what the slot had (NULL: it was not live), new what it has (NULL: it is
 * gone). The version grows unless the two are alike for every decision, but for their images: these have
 * stamps.
 * Requires: the slot was entered; old is what was adopted last; one of them is not NULL.
 * Owns    : the writer points into new, and no more into old: old may be given up afterwards.
 */
void bt_snapshot_adopt(struct bt_snapshot_writer *writer, uint32_t slot, const struct bt_node_desc *old,
	const struct bt_node_desc *new);

/* Plans have to be made again, although the nodes' descriptions are as they were. What is made of these alone
 * (domain counts) stays: a cycle may be trying nodes by it. */
void bt_snapshot_touch(struct bt_snapshot_writer *writer);
