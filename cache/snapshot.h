/* SPDX-License-Identifier: Apache-2.0
 * Stage 3: the nodes as they are. Applies node objects to the snapshot.
 * Context: the publisher is the only writer; readers see it through cache/view.h.
 */
#pragma once

#include "cache/view.h"
#include "engine/base/buf.h"
#include "engine/model/event.h"

struct bt_snapshot_writer;

struct bt_snapshot_writer *bt_snapshot_create(struct bt_dictionary *dictionary);
void bt_snapshot_destroy(struct bt_snapshot_writer *writer);

/* The snapshot that readers get; the pointer stays the same. */
const struct bt_snapshot *bt_snapshot_view(const struct bt_snapshot_writer *writer);

/* The slot of a node name, given now if it has none: a pod may name a node before the node is known. */
uint32_t bt_snapshot_slot(struct bt_snapshot_writer *writer, uint32_t name);

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
 * Adds a node or replaces what was known of it.
 * Returns : BT_OK with the node's slot; BT_FULL when one of its resources has a name beyond
 *           BT_RESOURCE_MAX (the node is applied without it).
 */
enum bt_status bt_snapshot_apply(
	struct bt_snapshot_writer *writer, const struct bt_node_object *object, uint32_t *out_ix);

/* What is made of the nodes' descriptions has to be made again, although they are as they were. */
void bt_snapshot_touch(struct bt_snapshot_writer *writer);

/* Takes a node away; its slot stays with its name. BT_NOT_FOUND when it is not live. */
enum bt_status bt_snapshot_remove(struct bt_snapshot_writer *writer, uint32_t name);

/*
 * What is known of a live node now, for events: to be asked before and after it is applied anew, or before it
 * is removed.
 * Owns: all that out points to lives in arena.
 */
void bt_node_facts_of(const struct bt_snapshot_writer *writer, uint32_t node_ix, struct bt_arena *arena,
	struct bt_node_facts *out);
