/* SPDX-License-Identifier: Apache-2.0
 * Stage 2: what a node is, as one immutable piece of memory: made of a node object on any ingestion thread,
 * published by the publisher, adopted by the scheduling thread, read by everybody.
 */
#pragma once

#include "engine/base/rcu.h"
#include "engine/model/cluster_event.h"
#include "engine/model/object.h"
#include "engine/model/resource.h"

/* rcu: it does not change once it is made. */
struct bt_node_desc {
	struct bt_rcu_head head;	  /* private */
	struct bt_dictionary *dictionary; /* private: name, labels, taints and images are held there */
	uint32_t name;
	uint32_t features; /* enum bt_feature bits */
	bool unschedulable, keeps_resizes_waiting;
	bool too_many_names; /* resources are left out, whose names are beyond BT_RESOURCE_MAX */
	struct bt_labels labels;
	const struct bt_taint *taints; /* in the order of the spec */
	uint32_t taint_n;
	uint32_t image_n;
	const uint32_t *images;	    /* names, ascending, each once */
	const int64_t *image_bytes; /* of each, as the first entry that names it says */
	struct bt_amounts alloc;    /* allocatable by ascending slot, zeroes too */
	int64_t alloc_pods;
	uint64_t zone_key; /* region and zone as upstream keys them; 0: neither is known */
	/* Hashes of what the API says, which events ask for: see struct bt_node_facts. */
	uint64_t conditions, annotations, declared, allocatable, taint_times, policy;
	uint64_t hash; /* of the lists but the images */
	size_t bytes;  /* of all lists, which lie behind: image_bytes, alloc, labels, taints, images */
};

/*
 * Makes a description of an object, whose memory is not needed afterwards.
 * Context : any thread that may add to the dictionary; allocates.
 * Owns    : the caller, until it gives the description to a publisher; bt_node_desc_destroy.
 */
struct bt_node_desc *bt_node_desc_create(
	struct bt_dictionary *dictionary, const struct bt_node_object *object);
void bt_node_desc_destroy(const struct bt_node_desc *desc);

/* Destroys a published description once no reader can hold it. Call this after it has been replaced
 * (cache/publish.h says who calls this). NULL is fine. */
void bt_node_desc_defer(const struct bt_node_desc *desc);

/* Are two descriptions of a node the same for every decision, but for their images? They may still differ in
 * what events ask: a heartbeat. Pure. */
bool bt_node_desc_alike_but_images(const struct bt_node_desc *a, const struct bt_node_desc *b);

/*
 * A description as events show it.
 * Owns: all that out points to lives in arena, so that it outlives the description.
 */
void bt_node_facts_of(const struct bt_node_desc *desc, struct bt_arena *arena, struct bt_node_facts *out);
