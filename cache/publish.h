/* SPDX-License-Identifier: Apache-2.0
 * Stage 3: versions of the nodes, for readers on any thread. The publisher applies deltas and publishes them
 * in batches by one store; a reader sees one version throughout its read section. Slots here are those of
 * versions only: the scheduling thread assigns its own (cache/snapshot.h).
 *
 * Versions share unchanged data: the vector of descriptions by slot is a tree of small chunks; a change
 * copies the chunks on the path to the slot, once per batch.
 *
 * The life of a description: bt_node_desc_create builds it, on an ingestion thread; bt_publisher_take adds
 * it; bt_publisher_publish makes it visible; bt_snapshot_adopt points the scheduling thread's columns to it.
 * The delta that replaces it passes it to the scheduling thread as "old". That thread is its last user, and
 * defers its free by RCU (bt_node_desc_defer) after it has adopted the replacement. Therefore a batch's
 * deltas are passed on only after it was published. For the same reason a taken delta may be dropped
 * (bt_delta_drop) only then, and after the columns refer to the new description (bt_ingest_adopt); a delta
 * that was not taken may be dropped at any time.
 *
 * Context: one thread is the publisher, and calls all functions except bt_published_*.
 */
#pragma once

#include "cache/delta.h"
#include "cache/node_desc.h"
#include "engine/base/owner.h"

struct bt_publisher;

struct bt_publisher *bt_publisher_create(void);

/* Frees it with the live nodes' descriptions and the versions. Requires: no readers. */
void bt_publisher_destroy(struct bt_publisher *publisher);

/* The thread that is the publisher. Owns: the publisher. */
struct bt_owner *bt_publisher_owner(struct bt_publisher *publisher);

/*
 * Applies a node's delta: its description replaces the old one, visible after bt_publisher_publish. Other
 * kinds are ignored.
 * Returns : in the delta: the old description, and whether it was taken.
 * Owns    : the publisher, from now on, the node's description.
 */
void bt_publisher_take(struct bt_publisher *publisher, struct bt_delta *delta);

/* Publishes all taken deltas, and waits if too many deferred frees are pending. No effect without changes.
 * Afterwards the deltas may be passed on. */
void bt_publisher_publish(struct bt_publisher *publisher);

/* The cost of publishing. Context: any thread; threads other than the publisher may read old values. */
struct bt_publisher_counts {
	uint64_t version_n;    /* published batches */
	uint64_t copied_bytes; /* of chunks and names copied on write */
};

struct bt_publisher_counts bt_publisher_counts(const struct bt_publisher *publisher);

/* ---- visitors ----
 *
 * A lock-free view of the latest published version, for any thread. Only tests and benchmarks use it: they
 * compare the scheduling thread's columns (cache/snapshot.h), which decisions use, with the published
 * version, concurrently with the publisher. */

struct bt_version;

/* A read section over one version; on the reader's stack. The numbers are public, the rest is private. */
struct bt_published {
	uint64_t version; /* incremented per batch */
	uint32_t slot_n;  /* slots, vacant ones included */
	uint32_t node_n;  /* live nodes */
	const struct bt_version *nodes;
};

/*
 * Begins a read section. All reads until its end see one immutable version.
 * Context : any thread that may read (see engine/base/rcu.h); begins a read section: no lock, no wait, no
 *           pointer that outlives it.
 */
void bt_published_begin(const struct bt_publisher *publisher, struct bt_published *out);
void bt_published_end(struct bt_published *published);

/* A node's description; NULL: not live. Wait-free. Context: a read section. */
const struct bt_node_desc *bt_published_node(const struct bt_published *published, uint32_t slot);

/* The first live node at or after *slot; sets *slot to its slot; NULL: none. */
const struct bt_node_desc *bt_published_next(const struct bt_published *published, uint32_t *slot);

/* The slot of a live node, or BT_NO_NODE. */
uint32_t bt_published_find(const struct bt_published *published, uint32_t name);
