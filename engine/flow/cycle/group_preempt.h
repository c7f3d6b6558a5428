/* SPDX-License-Identifier: Apache-2.0
 * Preemption by a PodGroup: which pods of the whole cluster to evict so that the group's pods fit; tried on
 * the ledger, which is restored. Victims are single pods, or groups as a unit, by their disruption mode.
 * Source: framework/preemption PodGroupEvaluator, v1.36.3 and v1.37.2.
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
	const struct bt_preemption_policy *policy; /* the order of victims */
	bool never_preempts;			   /* the group's preemption policy */
	bool is_ongoing; /* victims of an earlier preemption are on nodes that its pods are nominated to */
	/* Decides the group in the present state, and reverts that. Records each member's node by
	 * bt_group_preemption_place, in the order of the decisions. */
	enum bt_group_fit (*fits)(void *context, struct bt_group_preemption *out);
	void *context;
};

/* A member, its node, and the uses whose filters its PreFilter skips (bits): they are skipped again when a
 * victim is put back. */
struct bt_group_place {
	uint32_t pod_ix, node_ix;
	bt_plugin_set skipped;
};

/* A pod of a victim, and the index of the victim's next pod. */
struct bt_victim_part {
	uint32_t pod_ix, next;
};

/* The result. Zero-initialized, it is empty. */
struct bt_group_preemption {
	struct bt_victim *victims; /* pods, the most important first; a group's pods follow each other */
	size_t victim_n;
	struct bt_group_place *places; /* the members' nodes without the victims */
	size_t place_n;
	uint32_t disrupted_n; /* victims that are groups, or pods of groups */
	uint32_t violation_n; /* victims that violate a budget */
	bool evaluated;	      /* victims were searched */
	bool is_ongoing;      /* no more victims: all members wait on their nominated nodes */
	struct bt_buf text;   /* why there are no victims, or in 1.37 the result */
	/* Private. */
	struct bt_victim *units, *kept; /* by units */
	struct bt_victim_part *parts;
	uint32_t *last_parts;	/* by unit, before they are sorted */
	struct bt_map together; /* a group that is a unit: its number, from 1 on -> unit */
	uint32_t *on_node;
	int32_t *budgets;
	uint64_t *touched; /* by node slot: the last trial that put a pod there */
	uint64_t trial;
	size_t victim_cap, place_cap, unit_n, unit_cap, kept_n, kept_cap, part_n, part_cap, last_cap,
		on_node_cap, budget_cap, touched_cap;
};

void bt_group_preemption_fini(struct bt_group_preemption *preemption);

/* For fits: records a member's node. The list is empty before the first one. */
void bt_group_preemption_place(struct bt_group_preemption *preemption, const struct bt_group_place *place);

/* Searches victims. Requires: no pod that waits for this group is assumed; no node is frozen. */
enum bt_preempt_outcome bt_group_preempt(
	const struct bt_group_preempt_request *request, struct bt_group_preemption *out);

/* ---- for fits ---- */

/* Assumes a member with its claims on a node as if it had been decided for it; and reverts that. Holds are
 * released in reverse order. */
void bt_group_hold(struct bt_engine *engine, struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix);
void bt_group_release(struct bt_engine *engine, uint32_t pod_ix);
