/* SPDX-License-Identifier: Apache-2.0
 * PodGroups in a simulation: members are decided together; of a gang enough get nodes, or none does.
 */
#include "sim.h"

#include <inttypes.h>

bool sim_is_grouped(const struct sim *sim, uint32_t slot)
{
	const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][slot];

	return sim->gangs && shown->there && shown->pod.spec.grouped;
}

static bool is_held(const struct sim *sim, uint32_t uid)
{
	for (uint32_t i = 0; i < sim->binding_n; i++) {
		if (sim->bindings[i].uid == uid && sim->bindings[i].held) {
			return true;
		}
	}
	return false;
}

/* Counts members of a slot's group that are on nodes, or not. */
static uint32_t count(const struct sim *sim, uint32_t slot, bool on_nodes)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < SIM_PODS; i++) {
		const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][i];
		bool placed = shown->pod.node != SIM_NONE || sim->known[i].confirmed != SIM_NONE ||
			      is_held(sim, shown->uid);

		n += sim_is_grouped(sim, i) && sim_namespace_of(i) == sim_namespace_of(slot) &&
		     !shown->pod.ended && placed == on_nodes;
	}
	return n;
}

uint32_t sim_group_placed_n(const struct sim *sim, uint32_t slot)
{
	return count(sim, slot, true);
}

uint32_t sim_group_waiting_n(const struct sim *sim, uint32_t slot)
{
	return count(sim, slot, false);
}

void sim_check_group(struct sim *sim, uint32_t slot, uint32_t before_n, uint32_t fits_n, uint32_t placed_n)
{
	const struct sim_object *group = &sim->shown[SIM_GROUP_STREAM][sim_namespace_of(slot)];
	uint32_t min_count = group->group.min_count;
	bool enough = group->there && before_n + fits_n >= min_count;

	if (placed_n > 0 && (!group->there || before_n + placed_n < min_count)) {
		sim_fail(sim, "I5", "of group-%" PRIu32 " %" PRIu32 " pods are placed beside %" PRIu32,
			sim_namespace_of(slot), placed_n, before_n);
	}
	if (enough && placed_n < fits_n) {
		sim_fail(sim, "I10", "of group-%" PRIu32 " %" PRIu32 " pods fit, but %" PRIu32 " are placed",
			sim_namespace_of(slot), fits_n, placed_n);
	}
	sim->faults[SIM_GANG_PLACED] += placed_n > 1 && min_count > 1;
	sim->faults[SIM_GANG_BACK] += placed_n == 0 && fits_n > 0 && min_count > 1;
}

/* The group's cycle, recorded from the first engine. */
struct cycle {
	struct sim *sim;
	uint32_t fits_n;
	bool preempts;
};

/* A member has been decided, with the others on their nodes. */
static void judge_member(void *context, struct bt_engine *engine, struct bt_decision *decision)
{
	struct cycle *cycle = context;
	struct sim *sim = cycle->sim;
	const struct bt_pod *pod = sim_pod_at(engine, decision->pod_ix);
	uint32_t slot = sim_number(engine, pod->name), uid = sim_number(engine, pod->uid);

	sim_begin_cycle(sim, slot, uid);
	sim_judge_decision(sim, engine, decision);
	cycle->preempts |= decision->victim_n > 0;
	cycle->fits_n += decision->outcome == BT_PLACED;
	/* A preemptor counts on its node beside its victims. */
	uint32_t node_ix = decision->outcome == BT_PLACED ? decision->node_ix : decision->nominated_ix;
	if (node_ix != BT_NO_NODE) {
		sim->in_group[sim->in_group_n++] = (struct sim_placed){
			slot, uid, sim->deciding, sim_node_number(engine, node_ix), false};
	}
}

static bool agree(const struct bt_group_decision *a, const struct bt_group_decision *b)
{
	bool same = a->member_n == b->member_n;

	for (uint32_t i = 0; same && i < a->member_n; i++) {
		const struct bt_group_member *x = &a->members[i], *y = &b->members[i];

		same = x->reason == y->reason && x->decision.pod_ix == y->decision.pod_ix &&
		       x->decision.outcome == y->decision.outcome &&
		       x->decision.node_ix == y->decision.node_ix &&
		       x->decision.nominated_ix == y->decision.nominated_ix &&
		       x->decision.unschedulable_plugins == y->decision.unschedulable_plugins &&
		       x->decision.victim_n == y->decision.victim_n;
	}
	return same;
}

void sim_decide_group(struct sim *sim, uint32_t pod_ix)
{
	struct bt_engine *engine = sim->engines[0];
	uint32_t slot = sim_number(engine, sim_pod_at(engine, pod_ix)->name), placed_n = 0;
	uint32_t before_n = sim_group_placed_n(sim, slot);
	struct cycle cycle = {.sim = sim};
	struct bt_group_decision group, other;

	bt_engine_decide_group(
		engine, pod_ix, &(struct bt_group_watch){.decided = judge_member, .context = &cycle}, &group);
	sim->in_group_n = 0;
	for (uint32_t e = 1; e < sim->engine_n; e++) {
		bt_engine_decide_group(sim->engines[e], pod_ix, &(struct bt_group_watch){0}, &other);
		if (!agree(&group, &other)) {
			sim_fail(sim, "I9",
				"the group of pod-%" PRIu32 " is decided otherwise without columns", slot);
		}
	}
	for (uint32_t i = 0; i < group.member_n; i++) {
		placed_n += group.members[i].decision.outcome == BT_PLACED;
		sim->faults[SIM_GROUP_PREEMPTS] += group.members[i].decision.by_group;
		sim_patch_after(sim, &group.members[i].decision);
	}
	/* If a member preempts, the others wait. */
	sim_check_group(sim, slot, before_n, cycle.preempts ? 0 : cycle.fits_n, placed_n);
	sim_note_ports(sim);
}
