/* SPDX-License-Identifier: Apache-2.0
 * Preemption by a PodGroup.
 */
#include "engine/flow/cycle/group_preempt.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

#define NO_PART UINT32_MAX

/* The state of one search. */
struct group_search {
	const struct bt_group_preempt_request *request;
	struct bt_group_preemption *out;
	struct bt_engine *engine;
	struct bt_ledger *ledger;
	bool by_placing;     /* by the profile's release */
	uint32_t lost_ix;    /* the first deleted node with a pod of a group that is a unit; or BT_NO_NODE */
	bool counts_no_more; /* members' filters depend only on what is on a node */
};

void bt_group_preemption_fini(struct bt_group_preemption *p)
{
	bt_mem_free(p->victims);
	bt_mem_free(p->places);
	bt_mem_free(p->units);
	bt_mem_free(p->kept);
	bt_mem_free(p->parts);
	bt_mem_free(p->last_parts);
	bt_mem_free(p->on_node);
	bt_mem_free(p->budgets);
	bt_mem_free(p->touched);
	bt_map_fini(&p->together);
	bt_buf_fini(&p->text);
	*p = (struct bt_group_preemption){.victim_n = 0};
}

void bt_group_preemption_place(struct bt_group_preemption *p, const struct bt_group_place *place)
{
	p->places = bt_mem_grow(p->places, p->place_n, &p->place_cap, sizeof(*p->places));
	p->places[p->place_n++] = *place;
}

void bt_group_hold(struct bt_engine *engine, struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix)
{
	enum bt_reserve reserved = bt_reserved_assume(&engine->reserved, plan, pod_ix, node_ix);

	BT_REQUIRE(reserved == BT_RESERVED); /* nothing has changed since the node was chosen */
}

void bt_group_release(struct bt_engine *engine, uint32_t pod_ix)
{
	if (bt_transactions_are_open(&engine->transactions)) {
		bt_volumes_take_back(engine->cache->volumes, pod_ix);
	} else {
		bt_volumes_revert(engine->cache->volumes, pod_ix);
	}
	bt_devices_revert(engine->cache->devices, pod_ix);
	bt_reserved_forget(engine->cache, pod_ix);
}

/* ---- potential victims ---- */

static uint32_t add_part(struct bt_group_preemption *out, uint32_t pod_ix)
{
	out->parts = bt_mem_grow(out->parts, out->part_n, &out->part_cap, sizeof(*out->parts));
	out->parts[out->part_n] = (struct bt_victim_part){pod_ix, NO_PART};
	return (uint32_t)out->part_n++;
}

static uint32_t add_unit(struct group_search *s, const struct bt_pod *pod, uint32_t pod_ix, int32_t priority)
{
	struct bt_group_preemption *out = s->out;
	uint32_t unit = (uint32_t)out->unit_n, part = add_part(out, pod_ix);

	out->units = bt_mem_grow(out->units, out->unit_n, &out->unit_cap, sizeof(*out->units));
	out->last_parts = bt_mem_grow(out->last_parts, out->unit_n, &out->last_cap, sizeof(*out->last_parts));
	out->last_parts[out->unit_n] = part;
	/* Upstream records unstarted pods in the order in which it finds them. */
	out->units[out->unit_n++] = (struct bt_victim){.pod_ix = pod_ix,
		.first_part = part,
		.priority = priority,
		.start_ns = pod->start_ns,
		.place = unit + 1,
		.grouped = pod->signature->pod_group != BT_NAME_NONE,
		.pod_n = 1};
	return unit;
}

static void join_unit(struct group_search *s, uint32_t unit_ix, const struct bt_pod *pod, uint32_t pod_ix)
{
	struct bt_group_preemption *out = s->out;
	struct bt_victim *unit = &out->units[unit_ix];
	uint32_t part = add_part(out, pod_ix);

	BT_INVARIANT(unit_ix < out->unit_n);
	out->parts[out->last_parts[unit_ix]].next = part;
	out->last_parts[unit_ix] = part;
	unit->pod_n++;
	bool older = pod->start_ns && (!unit->start_ns || pod->start_ns < unit->start_ns);
	unit->start_ns = older && !s->by_placing ? pod->start_ns : unit->start_ns;
}

/* Records the first deleted node that still has a pod of the group, or of a group below it. */
static void find_lost(struct group_search *s, const struct bt_pod_group *group)
{
	const struct bt_snapshot *snapshot = s->engine->cache->view.snapshot;
	size_t leaf_n;
	const uint32_t *leaves = bt_pod_groups_leaves(&s->engine->groups, group->number, &leaf_n);

	for (size_t l = 0; l < leaf_n; l++) {
		const struct bt_pod_group *leaf = bt_pod_groups_at(&s->engine->groups, leaves[l]);

		for (size_t i = 0; i < leaf->member_n; i++) {
			const struct bt_pod *pod = bt_ledger_pod(s->ledger, leaf->members[i]);

			if (s->lost_ix == BT_NO_NODE && pod->node_ix != BT_NO_NODE &&
				!bt_bitmap_test(snapshot->live, pod->node_ix)) {
				s->lost_ix = pod->node_ix;
			}
		}
	}
}

/* Source: newDomainForWorkloadPreemption, v1.36.3; getCrossNodesVictims, GetPodPriority, v1.37.2. */
static void add_pod(struct group_search *s, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(s->ledger, pod_ix);
	int32_t of_group = pod->priority;
	const struct bt_pod_group *unit = bt_pod_groups_unit_of(
		&s->engine->groups, pod->signature->namespace_, pod->signature->pod_group, &of_group);
	int32_t priority = unit || !s->by_placing ? of_group : pod->priority;
	uint64_t key = unit ? unit->number + 1ull : 0;
	uint32_t unit_ix;

	if (unit && !s->by_placing && !bt_map_get(&s->out->together, key, &unit_ix)) {
		find_lost(s, unit);
	}
	if (priority >= s->request->group->terms.priority) {
		return;
	}
	if (!unit) {
		add_unit(s, pod, pod_ix, priority);
	} else if (bt_map_get(&s->out->together, key, &unit_ix)) {
		join_unit(s, unit_ix, pod, pod_ix);
	} else {
		unit_ix = add_unit(s, pod, pod_ix, priority);
		s->out->units[unit_ix].composite = unit->composite;
		bt_map_put(&s->out->together, key, unit_ix);
	}
}

/* Lists nodes and their pods in upstream's order: the ledger's list begins with the last pod. */
static void list_units(struct group_search *s)
{
	struct bt_engine *engine = s->engine;
	struct bt_group_preemption *out = s->out;

	out->unit_n = out->part_n = 0;
	bt_map_fini(&out->together);
	bt_node_list_follow(&engine->nodes, engine->cache->view.snapshot);
	bt_node_list_follow_order(&engine->nodes, engine->cache->snapshot);
	for (uint32_t n = 0; n < bt_node_list_n(&engine->nodes); n++) {
		uint32_t node_ix = bt_node_list_order(&engine->nodes)[n], pod_n = 0;

		for (uint32_t i = bt_ledger_first_on(s->ledger, node_ix); i != BT_NO_POD;
			i = bt_ledger_next(s->ledger, i)) {
			out->on_node =
				bt_mem_grow(out->on_node, pod_n, &out->on_node_cap, sizeof(*out->on_node));
			out->on_node[pod_n++] = i;
		}
		while (pod_n > 0) {
			add_pod(s, out->on_node[--pod_n]);
		}
	}
}

/* ---- trials ---- */

static void lift(struct group_search *s, const struct bt_victim *unit)
{
	for (uint32_t p = unit->first_part; p != NO_PART; p = s->out->parts[p].next) {
		bt_ledger_lift(s->ledger, s->out->parts[p].pod_ix);
	}
}

static void put_back(struct group_search *s, const struct bt_victim *unit)
{
	for (uint32_t p = unit->first_part; p != NO_PART; p = s->out->parts[p].next) {
		bt_ledger_put_back(s->ledger, s->out->parts[p].pod_ix);
	}
}

static enum bt_group_fit fits(struct group_search *s)
{
	s->out->place_n = 0;
	return s->request->fits(s->request->context, s->out);
}

/* Source: filterVictimsWithPDBViolation, v1.36.3, which stops at the first of a group's pods that violates a
 * budget; FilterVictimsWithPDBViolation, v1.37.2. */
static uint32_t violations_of(struct group_search *s, const struct bt_victim *unit)
{
	uint32_t n = 0;

	for (uint32_t p = unit->first_part; p != NO_PART && !(n && s->by_placing);
		p = s->out->parts[p].next) {
		const struct bt_pod *pod = bt_ledger_pod(s->ledger, s->out->parts[p].pod_ix);

		n += bt_preempt_overdraws(s->engine->cache, pod, s->out->budgets, false);
	}
	return n;
}

static void mark_violations(struct group_search *s)
{
	const struct bt_budgets *budgets = &s->engine->cache->budgets;
	struct bt_group_preemption *out = s->out;

	if (budgets->n > out->budget_cap) {
		out->budget_cap = budgets->n;
		out->budgets = bt_mem_realloc(out->budgets, budgets->n, sizeof(*out->budgets));
	}
	for (size_t b = 0; b < budgets->n; b++) {
		out->budgets[b] = budgets->items[b].allowed;
	}
	for (size_t i = 0; i < out->unit_n; i++) {
		out->units[i].violation_n = budgets->n ? violations_of(s, &out->units[i]) : 0;
	}
}

/* ---- do placed members still fit their nodes? ---- */

static bool depends_on_usage_alone(const struct bt_plan *plan, bt_plugin_set skipped)
{
	for (uint32_t i = 0; i < plan->profile->filter_n; i++) {
		uint32_t u = plan->profile->filter[i];
		enum bt_dependence depends = plan->profile->uses[u].plugin->filter_depends;

		if (!bt_plugin_set_has(skipped, u) && depends != BT_DEPENDS_ON_DESCRIPTION &&
			depends != BT_DEPENDS_ON_USAGE) {
			return false;
		}
	}
	return true;
}

/* Do the filters of all members depend only on what is on a node? Then a victim that is put back affects only
 * the members on its nodes. */
static bool members_depend_on_usage_alone(struct group_search *s)
{
	for (size_t i = 0; i < s->out->place_n; i++) {
		const struct bt_group_place *place = &s->out->places[i];
		const struct bt_cycle cycle = bt_engine_cycle_of(s->engine, place->pod_ix);

		if (!depends_on_usage_alone(
			    bt_planner_plan(cycle.runtime->planner, cycle.signature), place->skipped) ||
			cycle.signature->claim_n || cycle.signature->extended_n ||
			cycle.signature->volume_n) {
			return false;
		}
	}
	return true;
}

static void touch(struct group_search *s, const struct bt_victim *unit)
{
	struct bt_group_preemption *out = s->out;
	uint32_t slot_n = s->engine->cache->view.snapshot->slot_n;

	if (out->touched_cap < slot_n) {
		out->touched = bt_mem_widen(out->touched, out->touched_cap, slot_n, sizeof(*out->touched));
		out->touched_cap = slot_n;
	}
	out->trial++;
	for (uint32_t p = unit->first_part; p != NO_PART; p = out->parts[p].next) {
		uint32_t node_ix = bt_ledger_pod(s->ledger, out->parts[p].pod_ix)->node_ix;

		BT_INVARIANT(node_ix < slot_n);
		out->touched[node_ix] = out->trial;
	}
}

/* With the unit put back, if any: do all members still fit their nodes, in order, each with the earlier ones
 * assumed? Source: reprieveVictim, PodGroupEvaluator, v1.37.2. */
static bool places_hold(struct group_search *s, const struct bt_victim *unit)
{
	struct bt_group_preemption *out = s->out;
	bool hold = true;
	size_t i = 0;

	if (unit) {
		touch(s, unit);
	}
	for (; i < out->place_n && hold; i++) {
		const struct bt_group_place *place = &out->places[i];
		struct bt_plan *plan;

		if (s->counts_no_more && out->touched[place->node_ix] != out->trial) {
			continue;
		}
		hold = bt_engine_fits_on(s->engine, place->pod_ix, place->node_ix, place->skipped, &plan);
		if (hold) {
			bt_group_hold(s->engine, plan, place->pod_ix, place->node_ix);
		}
	}
	while (i-- > 0) {
		if (bt_ledger_pod(s->ledger, out->places[i].pod_ix)->state == BT_POD_ASSUMED) {
			bt_group_release(s->engine, out->places[i].pod_ix);
		}
	}
	return hold;
}

/* Does a victim that is put back affect only the members on its nodes? The places of a tree include those of
 * groups that were reverted: if other groups have taken these, no victim can be put back. */
static bool only_touched_nodes_count(struct group_search *s)
{
	return !s->by_placing && members_depend_on_usage_alone(s) &&
	       (!s->request->group->composite || places_hold(s, NULL));
}

/* ---- the search ---- */

/* Puts back, most important first, the units that can stay; units whose eviction would violate a budget are
 * tried first. */
static void reprieve(struct group_search *s)
{
	struct bt_group_preemption *out = s->out;

	out->kept_n = 0;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < out->unit_n; i++) {
			const struct bt_victim *unit = &out->units[i];

			if ((unit->violation_n == 0) == (round == 0)) {
				continue;
			}
			put_back(s, unit);
			if (s->by_placing ? fits(s) == BT_GROUP_FITS : places_hold(s, unit)) {
				continue;
			}
			lift(s, unit);
			out->kept = bt_mem_grow(out->kept, out->kept_n, &out->kept_cap, sizeof(*out->kept));
			out->kept[out->kept_n++] = *unit;
		}
	}
}

static void list_victims(struct group_search *s)
{
	struct bt_group_preemption *out = s->out;

	for (size_t i = 0; i < out->kept_n; i++) {
		out->disrupted_n += out->kept[i].grouped;
		out->violation_n += out->kept[i].violation_n;
		put_back(s, &out->kept[i]);
		for (uint32_t p = out->kept[i].first_part; p != NO_PART; p = out->parts[p].next) {
			const struct bt_pod *pod = bt_ledger_pod(s->ledger, out->parts[p].pod_ix);

			out->victims = bt_mem_grow(
				out->victims, out->victim_n, &out->victim_cap, sizeof(*out->victims));
			out->victims[out->victim_n++] = (struct bt_victim){.pod_ix = out->parts[p].pod_ix,
				.priority = pod->priority,
				.start_ns = pod->start_ns};
		}
	}
}

static enum bt_preempt_outcome select_victims(struct group_search *s)
{
	struct bt_group_preemption *out = s->out;
	const struct bt_preemption_policy *policy = s->request->policy;

	for (size_t i = 0; i < out->unit_n; i++) {
		lift(s, &out->units[i]);
	}
	enum bt_group_fit fit = fits(s);
	if (fit != BT_GROUP_FITS) {
		for (size_t i = 0; i < out->unit_n; i++) {
			put_back(s, &out->units[i]);
		}
		return fit == BT_GROUP_FIT_FAILS ? BT_PREEMPT_FAILED : BT_PREEMPT_NOWHERE;
	}
	policy->sort(out->units, (uint32_t)out->unit_n);
	mark_violations(s);
	s->counts_no_more = only_touched_nodes_count(s);
	reprieve(s);
	policy->sort(out->kept, (uint32_t)out->kept_n);
	list_victims(s);
	if (!s->by_placing) {
		bt_buf_clear(&out->text);
		bt_buf_printf(
			&out->text, "found a placement for podgroup, preempting %zu victims", out->victim_n);
	}
	return BT_PREEMPT_FOUND;
}

/* Source: newDomainVictim, v1.37.2. */
static void write_lost(struct group_search *s)
{
	const struct bt_view *view = &s->engine->cache->view;
	struct bt_str name = bt_view_str(view, view->snapshot->nodes[s->lost_ix].name);

	bt_buf_printf(&s->out->text,
		"failed to create domain: failed to get node info for node \"%.*s\" from snapshot: nodeinfo "
		"not "
		"found for node name \"%.*s\"",
		BT_STR_ARG(name), BT_STR_ARG(name));
}

enum bt_preempt_outcome bt_group_preempt(
	const struct bt_group_preempt_request *request, struct bt_group_preemption *out)
{
	struct group_search s = {.request = request,
		.out = out,
		.engine = request->engine,
		.ledger = request->engine->cache->ledger,
		.by_placing =
			bt_release_has(request->runtime->profile.release, BT_RULE_GROUPS_PREEMPT_BY_PLACING),
		.lost_ix = BT_NO_NODE};

	BT_REQUIRE(request->group->known && request->policy);
	bt_buf_clear(&out->text);
	out->victim_n = out->place_n = 0;
	out->disrupted_n = out->violation_n = 0;
	out->is_ongoing = out->evaluated = false;
	list_units(&s);
	if (s.lost_ix != BT_NO_NODE) {
		write_lost(&s);
		return BT_PREEMPT_FAILED;
	}
	if (request->never_preempts) {
		bt_buf_text(&out->text, "not eligible due to preemptionPolicy=Never.");
		return BT_PREEMPT_INELIGIBLE;
	}
	if (request->is_ongoing) {
		out->is_ongoing = true;
		bt_buf_text(&out->text, "ongoing preemption on nominated nodes");
		return BT_PREEMPT_FOUND;
	}
	out->evaluated = true;
	if (out->unit_n == 0) {
		bt_buf_text(&out->text, "No preemption victims found for incoming preemptor");
		return BT_PREEMPT_NOWHERE;
	}
	enum bt_preempt_outcome outcome = select_victims(&s);
	bt_ledger_lift_end(s.ledger);
	return outcome;
}
