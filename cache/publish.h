/* SPDX-License-Identifier: Apache-2.0
 * Stage 3: versions of the nodes, for readers on any thread. The publisher applies deltas and publishes them
 * in batches by one store; a reader sees one version throughout its read section. Slots here are those of
 * versions only: the scheduling thread assigns its own (cache/snapshot.h).
 *
 * The versions share what they have in common: a vector of descriptions by slot is a tree of small chunks, of
 * which a change copies those on the way to the slot, once a batch.
 *
 * The life of a description: bt_node_desc_create makes it, on an ingestion thread; bt_publisher_take enters
 * it; bt_publisher_publish makes it visible; bt_snapshot_adopt has the scheduling thread's columns point into
 * it. The delta that replaces it hands it to the scheduling thread as "old". That thread is the last to use
 * it, and so it frees it by RCU (bt_node_desc_defer), after it has adopted the replacement. Therefore
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
 * A lock-free view of the latest published version, for any thread. Only tests and benchmarks use it: they
 * compare the scheduling thread's columns (cache/snapshot.h), from which decisions are made, with what was
 * published, while the publisher goes on. */

struct bt_version;

/* A read section over one version; on the reader's stack. The numbers may be read, the rest is private. */
struct bt_published {
	uint64_t version; /* grows with every batch */
	uint32_t slot_n;  /* slots, vacant ones included */
	uint32_t node_n;  /* live nodes */
	const struct bt_version *nodes;
};

/*
 * Begins a read section. All that is read until its end is one version, which does not change.
 * Context : any thread that may read (see engine/base/rcu.h); begins a read section: no lock, no wait, no
 *           pointer that outlives it.
 */
void bt_published_begin(const struct bt_publisher *publisher, struct bt_published *out);
void bt_published_end(struct bt_published *published);

/* A node's description; NULL when it is not live. Wait-free. Context: a read section. */
const struct bt_node_desc *bt_published_node(const struct bt_published *published, uint32_t slot);

/* The first live node of a slot from *slot on, whose slot is *slot then; NULL: there is none. */
const struct bt_node_desc *bt_published_next(const struct bt_published *published, uint32_t *slot);

/* The slot of a live node, or BT_NO_NODE. */
uint32_t bt_published_find(const struct bt_published *published, uint32_t name);
