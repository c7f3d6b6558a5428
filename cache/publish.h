/* SPDX-License-Identifier: Apache-2.0
 * Stage 3: the nodes as everybody may see them. The publisher enters deltas and makes a batch of them visible
 * with one store; visitors see one version as long as they look. Its slots are those of versions only: the
 * scheduling thread gives its own (cache/snapshot.h).
 *
 * The versions share what they have in common: a vector of descriptions by slot is a tree of small chunks, of
 * which a change copies those on the way to the slot, once a batch.
 *
 * The life of a description: bt_node_desc_create makes it, on an ingestion thread; bt_publisher_take enters
 * it; bt_publisher_publish makes it visible; bt_snapshot_adopt has the scheduling thread's columns point into
 * it. The delta that replaces it brings it to the scheduling thread as "old". That thread is the last to know
 * it, and so it is who defers its end (bt_node_desc_defer), after it has adopted what replaces it. Therefore
 * a batch's deltas go on only after it was published. For the same reason a delta that was taken may be
 * dropped (bt_delta_drop) only then, and after the columns have turned to what replaces the old description
 * (bt_ingest_adopt); one that was not taken may be dropped at any time.
 *
 * Context: one thread is the publisher, and calls everything but what begins with bt_published.
 */
#pragma once

#include "cache/delta.h"
#include "cache/node_desc.h"
#include "engine/base/owner.h"

struct bt_publisher;

struct bt_publisher *bt_publisher_create(void);

/* Owns: the descriptions of live nodes end with it, and the snapshots: no reader is left. */
void bt_publisher_destroy(struct bt_publisher *publisher);

/* The thread that is the publisher. Owns: the publisher. */
struct bt_owner *bt_publisher_owner(struct bt_publisher *publisher);

/*
 * Takes in what a delta says of a node: its description takes the place of the old one. Nobody sees it before
 * bt_publisher_publish. Of other kinds nothing is to be done.
 * Returns : in the delta the old description, and whether anything changes.
 * Owns    : a node's description is the publisher's from now on.
 */
void bt_publisher_take(struct bt_publisher *publisher, struct bt_delta *delta);

/* Makes everything that was taken visible, and waits if too much waits for its end. Nothing happens when
 * nothing has changed. Afterwards the deltas may go on. */
void bt_publisher_publish(struct bt_publisher *publisher);

/* What publishing has cost. Context: any thread; others than the publisher may get an old answer. */
struct bt_publisher_counts {
	uint64_t version_n;    /* batches that were published */
	uint64_t copied_bytes; /* of chunks and names that were copied to be changed */
};

struct bt_publisher_counts bt_publisher_counts(const struct bt_publisher *publisher);

/* ---- visitors ----
 *
 * Any thread may read a version, without the scheduling thread's help. The program itself decides from the
 * columns that have adopted the same descriptions (cache/snapshot.h): what bt_published shows is what tests,
 * the simulation and benchmarks hold these against, while the publisher goes on. */

struct bt_version;

/* A look at one version; on the stack of who looks. The numbers may be read, the rest is private. */
struct bt_published {
	uint64_t version; /* grows with every batch */
	uint32_t slot_n;  /* slots, vacant ones included */
	uint32_t node_n;  /* live nodes */
	const struct bt_version *nodes;
};

/*
 * Begins to look. What is read until the end is one version, and stays as it is.
 * Context : any thread that may read (see engine/base/rcu.h); begins a read section: no lock, no wait, no
 *           pointer that outlives it.
 */
void bt_published_begin(const struct bt_publisher *publisher, struct bt_published *out);
void bt_published_end(struct bt_published *published);

/* What is known of a node; NULL when it is not live. Wait-free. Context: a read section. */
const struct bt_node_desc *bt_published_node(const struct bt_published *published, uint32_t slot);

/* The first live node of a slot from *slot on, whose slot is *slot then; NULL: there is none. */
const struct bt_node_desc *bt_published_next(const struct bt_published *published, uint32_t *slot);

/* The slot of a live node, or BT_NO_NODE. */
uint32_t bt_published_find(const struct bt_published *published, uint32_t name);
