/* SPDX-License-Identifier: Apache-2.0
 * Placements of a PodGroup: the listed nodes are divided into parts, the group is tried in each, and gets the
 * best one in which it fits (gate TopologyAwareWorkloadScheduling). Plugins generate and score placements.
 * Source: podGroupSchedulingPlacementAlgorithm, v1.36.3 and v1.37.2.
 * Owns: its arrays (bt_placements_fini). Writer: group_placement.c. Thread: the scheduling thread.
 *
 * Upstream takes placements from a map, and chooses at random among equals. Here they are sorted by their
 * domains' strings, and among equals the first one at or after an index drawn from the seed and the number of
 * the cycle is chosen.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/flow/cycle/node_list.h"
#include "engine/flow/cycle/profile_runtime.h"
#include "plugins/points.h"

struct bt_engine;

/* The result of a group in a placement. */
enum bt_placement_fit {
	BT_PLACEMENT_UNFIT = 0,
	BT_PLACEMENT_FITS, /* though its pods may have no node now, or only after evictions */
	BT_PLACEMENT_FAILS
};

struct bt_placement {
	uint32_t domain;		 /* the value of the topology key, a name; BT_NAME_NONE: all nodes */
	const struct bt_node_part *part; /* NULL: all live nodes */
	bool fits;
	int64_t score;
	/* Private. */
	size_t from, n;
	struct bt_node_part own;
	struct bt_str text;
};

/* Zero-initialized: none. Members after pods are private. */
struct bt_placements {
	struct bt_placement *items;
	uint32_t n;
	struct bt_group_pod *pods; /* of the group, on nodes */
	size_t pod_n;
	uint32_t last_group; /* the name of the last pod's PodGroup */
	size_t cap, pod_cap, node_cap, slot_cap, signature_cap, score_cap, signature_n;
	const struct bt_signature **signatures; /* of pods that get nodes in the placement being tried */
	uint32_t *nodes;   /* of all placements: ascending, then in upstream's order twice */
	uint32_t *part_of; /* by node slot */
	int64_t *scores;   /* by plugin, then by placement */
};

void bt_placements_fini(struct bt_placements *placements);

/* Begins an attempt of a group: clears placements and pods. */
static inline void bt_placements_begin(struct bt_placements *placements)
{
	placements->n = 0;
	placements->pod_n = 0;
}

/* Adds a pod of the group that is on a node. */
void bt_placements_add_pod(struct bt_placements *placements, const struct bt_engine *engine, uint32_t pod_ix);

/*
 * Divides the nodes in the list (bt_node_list_part), for a group in that state; its pods have been added.
 * Returns: BT_PLACEMENT_FITS: there are placements; BT_PLACEMENT_UNFIT: there are none; BT_PLACEMENT_FAILS.
 *          Appends upstream's text for the last two. Valid until the snapshot changes. Source:
 *          RunPlacementGeneratePlugins, v1.37.2.
 */
enum bt_placement_fit bt_placements_generate(struct bt_placements *placements, struct bt_engine *engine,
	const struct bt_profile_runtime *runtime, const struct bt_group_state *group,
	struct bt_buf *out_text);

struct bt_placement_request {
	struct bt_engine *engine;
	const struct bt_profile_runtime *runtime;
	const struct bt_group_state *group; /* scheduled_n: its pods that were on nodes before */
	/*
	 * Decides the group on the nodes in the list. trial: it is reverted, and bt_placements_add_signature
	 * is called for each pod that gets a node.
	 */
	enum bt_placement_fit (*decide)(void *context, const struct bt_placement *placement, bool trial);
	void *context;
	bool first;    /* among equals choose the first one */
	bool trials;   /* only try each placement; everything is reverted */
	bool measured; /* metrics count placements and measure trials */
};

/* The result of bt_placements_try. */
struct bt_placement_choice {
	enum bt_placement_fit fit;
	uint32_t ix;	/* of the placement of the last or the coming decision */
	bool undecided; /* score plugins failed: out_text has the reason */
};

/*
 * Tries the group in each placement, then decides it in the best one; if it fits in none, in the first one. A
 * single placement is decided without a trial. Requires: there is one. Restores the node list's restriction.
 */
struct bt_placement_choice bt_placements_try(struct bt_placements *placements,
	const struct bt_placement_request *request, struct bt_buf *out_text);

/* For decide: a pod with that signature gets a node. */
void bt_placements_add_signature(struct bt_placements *placements, const struct bt_signature *signature);

/* Appends the message of a group that fits in no placement. first: the reason in the first one. */
void bt_placements_write_none(
	const struct bt_placements *placements, struct bt_str first, struct bt_buf *out_text);
