/* SPDX-License-Identifier: Apache-2.0
 * Stage 2 hands over to stages 3 and 4: what an event of a source means, in interned values. An ingestion
 * thread describes an object (bt_ingest_describe), the publisher publishes what it says of nodes
 * (cache/publish.h), the scheduling thread takes it (bt_engine_take_delta) and numbers the nodes that it
 * names. A delta is copied from ring to ring as it is; its last holder takes it, or drops it with
 * bt_delta_drop.
 */
#pragma once

#include "cache/ledger.h"
#include "cache/node_desc.h"
#include "engine/base/arena.h"
#include "engine/model/object.h"

/* A pod. */
struct bt_pod_delta {
	/* As the ledger is to keep it, but that the slots of its nodes are bt_ingest_adopt's to say: node_ix
	 * and status_ix are BT_NO_NODE before. Its names and its signature are held by the delta.
	 * signature is NULL of a pod that has ended. */
	struct bt_pod pod;
	uint32_t node; /* spec.nodeName, a name, held; BT_NAME_NONE: it waits */
	bool ended;    /* it has succeeded or failed */
};

/* A node. The publisher sets old and taken, which are NULL and false before, bt_ingest_adopt sets slot. */
struct bt_node_delta {
	const struct bt_node_desc *desc; /* what the node is; NULL: it has gone */
	const struct bt_node_desc *old;	 /* what desc replaces; NULL: the node was not there */
	bool taken;    /* the publisher has it; false: also if what has gone was not known */
	uint32_t slot; /* BT_NO_NODE: it was not adopted */
};

/* An object of another kind. */
struct bt_object_delta {
	const struct bt_object *object;
	struct bt_arena arena; /* all that the object is; empty: another owns it */
};

struct bt_delta {
	uint64_t sequence; /* the event's place among all events; set by the source's reader */
	enum bt_kind kind;
	bool removed; /* the object has gone: of it there are the names only */
	/* BT_FULL: a pod requests a resource beyond BT_RESOURCE_POD_MAX names, without which it counts, or
	 * for more than BT_REQUEST_MAX, which count; it is not decided (bt_signature.incomplete). */
	enum bt_status status;
	uint32_t namespace_, name; /* of any object; held: not, where the object's store holds them */
	struct bt_intern *holder;  /* where the delta holds names; NULL: it holds nothing any more */
	union {
		struct bt_pod_delta pod;       /* BT_KIND_POD */
		struct bt_node_delta node;     /* BT_KIND_NODE */
		struct bt_object_delta object; /* all others */
	};
};

/* Does it say of a pod which node it is on or nominated to? */
static inline bool bt_delta_places_pod(const struct bt_delta *delta)
{
	return delta->kind == BT_KIND_POD && !delta->removed && !delta->pod.ended;
}

/* Has fetched what taking the delta in will change soon. */
static inline void bt_delta_prefetch(const struct bt_delta *delta)
{
	if (delta->kind == BT_KIND_POD && delta->holder) {
		bt_intern_prefetch_name(delta->holder, delta->name);
		bt_intern_prefetch_name(delta->holder, delta->pod.pod.uid);
	}
}

/* Gives a delta up, taken or not: what it owns is free, and the description of a node that it replaces once
 * nobody can read it any more. Context: any thread. */
void bt_delta_drop(struct bt_delta *delta);
