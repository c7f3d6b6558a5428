/* SPDX-License-Identifier: Apache-2.0
 * Passed from stage 2 to stages 3 and 4: a source's event in interned values. An ingestion thread describes
 * an object (bt_ingest_describe), the publisher publishes node descriptions (cache/publish.h), the scheduling
 * thread applies the delta (bt_engine_take_delta) and assigns slots to its nodes. A delta is copied from ring
 * to ring; its last holder applies it, or drops it with bt_delta_drop.
 */
#pragma once

#include "cache/ledger.h"
#include "cache/node_desc.h"
#include "engine/base/arena.h"
#include "engine/model/object.h"

/* A pod. */
struct bt_pod_delta {
	/* The ledger's entry; bt_ingest_adopt sets node_ix and status_ix, which are BT_NO_NODE before. The
	 * delta holds its names and its signature. signature is NULL for a pod that has ended. */
	struct bt_pod pod;
	uint32_t node; /* spec.nodeName, a name, held; BT_NAME_NONE: pending */
	bool ended;    /* it has succeeded or failed */
};

/* A node. The publisher sets old and taken, initially NULL and false; bt_ingest_adopt sets slot. */
struct bt_node_delta {
	const struct bt_node_desc *desc; /* the description; NULL: deleted */
	const struct bt_node_desc *old;	 /* the replaced description; NULL: none */
	bool taken;    /* applied by the publisher; false also for the deletion of an unknown node */
	uint32_t slot; /* BT_NO_NODE: it was not adopted */
};

/* An object of another kind. */
struct bt_object_delta {
	const struct bt_object *object;
	struct bt_arena arena; /* the object's memory; empty: owned elsewhere */
};

struct bt_delta {
	uint64_t sequence; /* the event's sequence number; set by the source's reader */
	enum bt_kind kind;
	bool removed; /* the object was deleted: only its names are set */
	/* BT_FULL: a pod requests a resource beyond BT_RESOURCE_POD_MAX names, which is ignored, or more than
	 * BT_REQUEST_MAX, which all count; it is not scheduled (bt_signature.incomplete). */
	enum bt_status status;
	uint32_t namespace_, name; /* of any object; held unless the object's store holds them */
	struct bt_intern *holder;  /* the dictionary of the held names; NULL: none held */
	union {
		struct bt_pod_delta pod;       /* BT_KIND_POD */
		struct bt_node_delta node;     /* BT_KIND_NODE */
		struct bt_object_delta object; /* all others */
	};
};

/* Does it set a pod's node or nomination? */
static inline bool bt_delta_places_pod(const struct bt_delta *delta)
{
	return delta->kind == BT_KIND_POD && !delta->removed && !delta->pod.ended;
}

/* Prefetches the cache lines that applying the delta changes. */
static inline void bt_delta_prefetch(const struct bt_delta *delta)
{
	if (delta->kind == BT_KIND_POD && delta->holder) {
		bt_intern_prefetch_name(delta->holder, delta->name);
		bt_intern_prefetch_name(delta->holder, delta->pod.pod.uid);
	}
}

/* Drops a delta, applied or not: frees its memory, and after a grace period the description that it replaces.
 * Context: any thread. */
void bt_delta_drop(struct bt_delta *delta);
