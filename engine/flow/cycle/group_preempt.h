/* SPDX-License-Identifier: Apache-2.0
 * Preemption by a PodGroup: which pods of the whole cluster would have to go so that the group's pods fit,
 * tried out on the ledger, which is afterwards as it was. Victims go one by one, or a group together, as its
 * disruption mode says. Source: framework/preemption PodGroupEvaluator, v1.36.3 and v1.37.2.
 * Owns: its lists (bt_group_preemption_fini). Writer: group_preempt.c. Thread: the scheduling thread.
 */
#pragma once

#include "engine/base/map.h"
#include "engine/flow/cycle/pod_groups.h"
#include "engine/flow/cycle/preempt.h"

struct bt_engine;

/* Would the group be scheduled? */
enum bt_group_fit { BT_GROUP_UNFIT = 0, BT_GROUP_FITS, BT_GROUP_FIT_FAILS };

struct bt_group_preemption;

struct bt_group_preempt_request {
	struct bt_engine *engine;
	const struct bt_profile_runtime *runtime;
	const struct bt_pod_group *group;
	const struct bt_preemption_policy *policy; /* how victims are sorted */
	bool never_preempts;			   /* the group's preemption policy */
	bool is_ongoing; /* victims of an earlier preemption are on nodes that its pods are nominated to */
	/* Decides the group as things are, and leaves them so. Notes by bt_group_preemption_place who would
	 * be where, in the order in which they were decided. */
	enum bt_group_fit (*fits)(void *context, struct bt_group_preemption *out);
	void *context;
};

/* A member, the node that it would get, and which uses PreFilter has their filters skipped (bits): they are
 * skipped again when a victim comes back. */
struct bt_group_place {
	uint32_t pod_ix, node_ix;
	bt_plugin_set skipped;
};

/* A pod of a victim, and the next one of the same. */
struct bt_victim_part {
	uint32_t pod_ix, next;
};

/* What was found. All zeroes is an empty one. */
struct bt_group_preemption {
	struct bt_victim *victims; /* pods, the most important first; those of a group one after the other */
	size_t victim_n;
	struct bt_group_place *places; /* where the group would be without them */
	size_t place_n;
	uint32_t disrupted_n; /* victims that are groups, or pods of some */
	uint32_t violation_n; /* victims that a budget would keep */
	bool evaluated;	      /* victims were looked for */
	bool is_ongoing;      /* nobody else has to go: all wait where they are nominated */
	struct bt_buf text;   /* why nobody has to go, or of 1.37 what was found */
	/* Private. */
	struct bt_victim *units, *kept; /* by units */
	struct bt_victim_part *parts;
	uint32_t *last_parts;	/* by unit, before they are sorted */
	struct bt_map together; /* a group that goes together: its number, from 1 on -> unit */
	uint32_t *on_node;
	int32_t *budgets;
	uint64_t *touched; /* by node slot: the trial that has put a pod there */
	uint64_t trial;
	size_t victim_cap, place_cap, unit_n, unit_cap, kept_n, kept_cap, part_n, part_cap, last_cap,
		on_node_cap, budget_cap, touched_cap;
};

void bt_group_preemption_fini(struct bt_group_preemption *preemption);

/* For fits: a member has got a node. Before the first one the list is empty. */
void bt_group_preemption_place(struct bt_group_preemption *preemption, const struct bt_group_place *place);

/* Looks for victims. Requires: nobody is assumed who waits for this group; no node is frozen. */
enum bt_preempt_outcome bt_group_preempt(
	const struct bt_group_preempt_request *request, struct bt_group_preemption *out);

/* ---- for fits ---- */

/* A member counts on a node as if it had been decided for it, with its claims; and does not any more. The
 * last one that was held is released first. */
void bt_group_hold(struct bt_engine *engine, struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix);
void bt_group_release(struct bt_engine *engine, uint32_t pod_ix);
