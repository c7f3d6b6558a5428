/* SPDX-License-Identifier: Apache-2.0
 * Placements of a PodGroup: the nodes that count are divided into parts, the group is tried in each, and gets
 * the best one in which it fits (gate TopologyAwareWorkloadScheduling). How nodes are divided and what is
 * good is said by plugins. Source: podGroupSchedulingPlacementAlgorithm, v1.36.3 and v1.37.2.
 * Owns: its arrays (bt_placements_fini). Writer: group_placement.c. Thread: the scheduling thread.
 *
 * Upstream takes placements from a map, and chooses at random between those that are equally good. Here they
 * are in the order of their domains' texts, and of equals the first one at or after a place drawn from the
 * seed and the number of the cycle is chosen.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/flow/cycle/node_list.h"
#include "engine/flow/cycle/profile_runtime.h"
#include "plugins/points.h"

struct bt_engine;

/* What came of a group in a part of the nodes. */
enum bt_placement_fit {
	BT_PLACEMENT_UNFIT = 0,
	BT_PLACEMENT_FITS, /* though perhaps none of its pods has got a node now, or only when victims go */
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

/* All zeroes: none. Members behind pods are private. */
struct bt_placements {
	struct bt_placement *items;
	uint32_t n;
	struct bt_group_pod *pods; /* of the group, on nodes */
	size_t pod_n;
	size_t cap, pod_cap, node_cap, slot_cap, signature_cap, score_cap, signature_n;
	const struct bt_signature *
		*signatures; /* of pods that would get nodes of the placement that is tried */
	uint32_t *nodes;     /* of all placements: ascending, then in upstream's order twice */
	uint32_t *part_of;   /* by node slot */
	int64_t *scores;     /* by plugin, then by placement */
};

void bt_placements_fini(struct bt_placements *placements);

/* Begins an attempt of a group: no placement and no pod on a node is known yet. */
static inline void bt_placements_begin(struct bt_placements *placements)
{
	placements->n = 0;
	placements->pod_n = 0;
}

/* A pod of the group that is on a node. */
void bt_placements_add_pod(struct bt_placements *placements, const struct bt_engine *engine, uint32_t pod_ix);

/*
 * Divides the nodes that count now (bt_node_list_part), for a group in that state; its pods have been added.
 * Returns: BT_PLACEMENT_FITS: there are placements; BT_PLACEMENT_UNFIT: there are none; BT_PLACEMENT_FAILS.
 * Appends upstream's text of the last two. Valid until the snapshot changes. Source:
 * RunPlacementGeneratePlugins, v1.37.2.
 */
enum bt_placement_fit bt_placements_generate(struct bt_placements *placements, struct bt_engine *engine,
	const struct bt_profile_runtime *runtime, const struct bt_group_state *group,
	struct bt_buf *out_text);

struct bt_placement_request {
	struct bt_engine *engine;
	const struct bt_profile_runtime *runtime;
	const struct bt_group_state *group; /* scheduled_n: its pods that were on nodes before */
	/*
	 * Decides the group in the nodes that count now. trial: nothing of that stays, and
	 * bt_placements_add_signature has been called for each pod that would get a node.
	 */
	enum bt_placement_fit (*decide)(void *context, const struct bt_placement *placement, bool trial);
	void *context;
	bool first;    /* of equals the first one is chosen */
	bool trials;   /* nothing is to stay: each placement is tried, and that is all */
	bool measured; /* metrics count the placements, and how long trials take */
};

/* What bt_placements_try has come to. */
struct bt_placement_choice {
	enum bt_placement_fit fit;
	uint32_t ix;	/* of the placement that the group was decided in last, or is to be */
	bool undecided; /* plugins failed to say which one is the best: out_text says why */
};

/*
 * Tries the group in each placement, and then decides it in the best one, as it was tried there; where it
 * fits in none, in the first one. A single placement is not tried before. Requires: there is one.
 * The nodes that count are afterwards those that were before.
 */
struct bt_placement_choice bt_placements_try(struct bt_placements *placements,
	const struct bt_placement_request *request, struct bt_buf *out_text);

/* For decide: such a pod would get a node. */
void bt_placements_add_signature(struct bt_placements *placements, const struct bt_signature *signature);

/* Appends what is said of a group that fits in none. first: what was wrong in the first one. */
void bt_placements_write_none(
	const struct bt_placements *placements, struct bt_str first, struct bt_buf *out_text);
