/* SPDX-License-Identifier: Apache-2.0
 * Stage 2: an immutable description of a node in one block: built from a node object on any ingestion thread,
 * published by the publisher, adopted by the scheduling thread, read by any thread.
 */
#pragma once

#include "engine/base/rcu.h"
#include "engine/model/cluster_event.h"
#include "engine/model/object.h"
#include "engine/model/resource.h"

/* rcu: immutable. */
struct bt_node_desc {
	struct bt_rcu_head head;	  /* private */
	struct bt_dictionary *dictionary; /* private: name, labels, taints and images are held there */
	uint32_t name;
	uint32_t features; /* enum bt_feature bits */
	bool unschedulable, keeps_resizes_waiting;
	bool too_many_names; /* resources beyond BT_RESOURCE_MAX names are omitted */
	struct bt_labels labels;
	const struct bt_taint *taints; /* in the order of the spec */
	uint32_t taint_n;
	uint32_t image_n;
	const uint32_t *images;	    /* names, ascending, each once */
	const int64_t *image_bytes; /* of each, from its first entry */
	struct bt_amounts alloc;    /* allocatable by ascending slot, zeroes too */
	int64_t alloc_pods;
	uint64_t zone_key; /* region and zone as upstream keys them; 0: neither is set */
	/* Hashes of API fields for events: see struct bt_node_facts. */
	uint64_t conditions, annotations, declared, allocatable, taint_times, policy;
	uint64_t hash; /* of all lists except images */
	size_t bytes;  /* of all lists, which follow: image_bytes, alloc, labels, taints, images */
};

/*
 * Builds a description of an object, which may be freed afterwards.
 * Context : any thread that may add to the dictionary; allocates.
 * Owns    : the caller, until it gives the description to a publisher; bt_node_desc_destroy.
 */
struct bt_node_desc *bt_node_desc_create(
	struct bt_dictionary *dictionary, const struct bt_node_object *object);
void bt_node_desc_destroy(const struct bt_node_desc *desc);

/* Copies a description, for a change of fields that are not lists. Context, Owns: as bt_node_desc_create. */
struct bt_node_desc *bt_node_desc_copy(const struct bt_node_desc *desc);

/* Destroys a published description after a grace period. Call it after the description has been replaced (see
 * cache/publish.h). NULL is ignored. */
void bt_node_desc_defer(const struct bt_node_desc *desc);

/* Are two descriptions of a node equal for scheduling, except images? They may still differ in data for
 * events: a heartbeat. Pure. */
bool bt_node_desc_alike_but_images(const struct bt_node_desc *a, const struct bt_node_desc *b);

/*
 * A description's facts for events.
 * Owns: all data is copied to arena, so it outlives the description.
 */
void bt_node_facts_of(const struct bt_node_desc *desc, struct bt_arena *arena, struct bt_node_facts *out);
