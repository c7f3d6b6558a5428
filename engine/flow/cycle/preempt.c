/* SPDX-License-Identifier: Apache-2.0
 * DefaultPreemption.
 */
#include "engine/flow/cycle/preempt.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "engine/base/rng.h"
#include "engine/flow/cycle/extender.h"
#include "engine/flow/cycle/profile_runtime.h"

/* The result for a node. */
enum preempt_note {
	NOTE_UNKNOWN = 0,
	NOTE_UNHELPFUL,	  /* no eviction helps */
	NOTE_UNFIT,	  /* this and the following may help; tried without success */
	NOTE_HELPFUL = 4, /* may help, not tried yet */
	NOTE_ERROR,	  /* tried: all pods could stay, or a filter failed */
	NOTE_CANDIDATE
};

/* Bits that only NOTE_HELPFUL and the following have. */
enum { NOTE_BITS = 0xfc };

/* The state of one search. */
struct preempt_search {
	const struct bt_preempt_request *request;
	struct bt_preemption *out;
	struct bt_ledger *ledger;
	const struct bt_view *view;
	const struct bt_pod *pod;
	uint32_t pod_n;		  /* pods of the node being tried */
	uint32_t free_n, owing_n; /* candidates that violate no budget, and the others */
	uint32_t wanted_n;	  /* how many candidates are enough */
	uint32_t explained_n;	  /* nodes with a reason why they are no candidates */
	uint32_t error_n;
	bool charges_every_budget, ages_once; /* by the profile's release */
	uint32_t lost_ix;		      /* the first deleted node with a pod of a preempted group */
};

static bool has_rule(const struct bt_preempt_request *request, enum bt_rule rule)
{
	return bt_release_has(request->cycle->runtime->profile.release, rule);
}

void bt_preemption_fini(struct bt_preemption *p)
{
	bt_mem_free(p->pods);
	bt_mem_free(p->kept);
	bt_mem_free(p->parts);
	bt_mem_free(p->on_node);
	bt_mem_free(p->candidates);
	bt_mem_free(p->nodes);
	bt_mem_free(p->budgets);
	bt_fit_error_fini(&p->reasons);
	bt_fit_error_fini(&p->errors);
	bt_buf_fini(&p->text);
	bt_buf_fini(&p->line);
	*p = (struct bt_preemption){0};
}

/* ---- eligibility ---- */

/* Did the cycle refuse the node for a reason that evictions might resolve? */
static bool is_listed(const struct bt_preemption *p, uint32_t node_ix)
{
	for (uint32_t i = 0; i < p->node_n; i++) {
		if (p->nodes[i] == node_ix) {
			return true;
		}
	}
	return false;
}

/* The pod's priority as a victim. Source: GetPodPriority, v1.37.2. */
static int32_t priority_of(const struct bt_pod_groups *groups, const struct bt_pod *pod)
{
	int32_t priority = pod->priority;

	if (groups) {
		(void)bt_pod_groups_unit_of(
			groups, pod->signature->namespace_, pod->signature->pod_group, &priority);
	}
	return priority;
}

bool bt_preempt_lingers(
	const struct bt_ledger *ledger, const struct bt_pod_groups *groups, const struct bt_pod *pod)
{
	if (pod->status_ix == BT_NO_NODE) {
		return false;
	}
	for (uint32_t i = bt_ledger_first_on(ledger, pod->status_ix); i != BT_NO_POD;
		i = bt_ledger_next(ledger, i)) {
		const struct bt_pod *other = bt_ledger_pod(ledger, i);

		if (other->preempted && priority_of(groups, other) < pod->priority) {
			return true;
		}
	}
	return false;
}

static bool waits_for_victims(const struct preempt_search *s)
{
	return is_listed(s->out, s->pod->status_ix) &&
	       bt_preempt_lingers(s->ledger, s->request->groups, s->pod);
}

static bool eligible(struct preempt_search *s)
{
	if (s->pod->never_preempts) {
		bt_buf_text(&s->out->text, "preemption: not eligible due to preemptionPolicy=Never.");
		return false;
	}
	if (waits_for_victims(s)) {
		bt_buf_text(&s->out->text,
			"preemption: not eligible due to a terminating pod on the nominated node.");
		return false;
	}
	return true;
}

/* ---- nodes to try ---- */

static int by_slot(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void bt_preempt_list(const struct bt_preempt_request *request, struct bt_preemption *out)
{
	const struct bt_evaluation *e = request->evaluation;
	struct bt_rejection rejection;
	const char *text;

	out->node_n = 0;
	if (!e) {
		return;
	}
	if (e->visited_n > out->node_cap) {
		out->node_cap = e->visited_n;
		out->nodes = bt_mem_realloc(out->nodes, e->visited_n, sizeof(*out->nodes));
	}
	for (uint32_t i = 0; i < e->visited_n; i++) {
		bt_evaluation_reject(request->cycle->plan, &request->cache->view, e, i, &rejection, &text);
		if (rejection.code == BT_UNSCHEDULABLE) {
			out->nodes[out->node_n++] = e->visited[i];
		}
	}
	if (out->node_n) {
		qsort(out->nodes, out->node_n, sizeof(*out->nodes), by_slot);
	}
}

/* ---- trying a node ---- */

/* Lists potential victims, in upstream's order of pods on the node. Ignores PodGroups. */
static void list_single_pods(struct preempt_search *s, uint32_t node_ix)
{
	struct bt_preemption *out = s->out;

	s->pod_n = 0;
	for (uint32_t i = bt_ledger_first_on(s->ledger, node_ix); i != BT_NO_POD;
		i = bt_ledger_next(s->ledger, i)) {
		const struct bt_pod *pod = bt_ledger_pod(s->ledger, i);

		if (pod->priority >= s->pod->priority) {
			continue;
		}
		out->pods = bt_mem_grow(out->pods, s->pod_n, &out->pod_cap, sizeof(*out->pods));
		out->pods[s->pod_n++] =
			(struct bt_victim){.pod_ix = i, .priority = pod->priority, .start_ns = pod->start_ns};
	}
	/* The ledger's list begins with the last one. */
	BT_INVARIANT(s->pod_n <= out->pod_cap);
	for (uint32_t i = 0; i < s->pod_n / 2; i++) {
		struct bt_victim last = out->pods[s->pod_n - 1 - i];

		out->pods[s->pod_n - 1 - i] = out->pods[i];
		out->pods[i] = last;
	}
	for (uint32_t i = 0; s->ages_once && i < s->pod_n; i++) {
		out->pods[i].place = i + 1;
	}
}

/* ---- victims with PodGroups ---- */

static void add_victim_part(struct preempt_search *s, struct bt_victim *unit, uint32_t pod_ix)
{
	struct bt_preemption *out = s->out;
	int64_t start_ns = bt_ledger_pod(s->ledger, pod_ix)->start_ns;

	out->parts = bt_mem_grow(out->parts, out->part_n, &out->part_cap, sizeof(*out->parts));
	out->parts[out->part_n++] = pod_ix;
	unit->pod_n++;
	if (start_ns && (!unit->start_ns || start_ns < unit->start_ns)) {
		unit->start_ns = start_ns;
	}
}

/* Adds the group's pods that are on nodes to a victim. If nodes are frozen, only the tried one has all pods
 * of that time: the others have the present ones. Records the first deleted node. */
static void add_together(struct preempt_search *s, struct bt_victim *unit, const struct bt_pod_group *group)
{
	const struct bt_snapshot *snapshot = s->view->snapshot;

	for (size_t i = 0; i < group->member_n; i++) {
		const struct bt_pod *pod = bt_ledger_pod(s->ledger, group->members[i]);

		if (pod->state != BT_POD_ASSUMED && pod->state != BT_POD_SCHEDULED) {
			continue;
		}
		if (s->lost_ix == BT_NO_NODE && !bt_bitmap_test(snapshot->live, pod->node_ix)) {
			s->lost_ix = pod->node_ix;
		}
		add_victim_part(s, unit, group->members[i]);
	}
}

/* The same for all PodGroups below a group. Source: searchCrossNodesVictimPods, v1.37.2. */
static void add_tree(struct preempt_search *s, struct bt_victim *unit, const struct bt_pod_group *group)
{
	const struct bt_pod_groups *groups = s->request->groups;
	size_t leaf_n;
	const uint32_t *leaves = bt_pod_groups_leaves(groups, group->number, &leaf_n);

	for (size_t i = 0; i < leaf_n; i++) {
		add_together(s, unit, bt_pod_groups_at(groups, leaves[i]));
	}
}

/* The group with which the pod is evicted as a unit, or NULL. */
static const struct bt_pod_group *unit_of(
	const struct preempt_search *s, const struct bt_pod *pod, int32_t *out_priority)
{
	return bt_pod_groups_unit_of(
		s->request->groups, pod->signature->namespace_, pod->signature->pod_group, out_priority);
}

/* Is the group's unit in the list already? */
static bool is_in_unit(const struct preempt_search *s, const struct bt_pod_group *group)
{
	int32_t priority;

	for (uint32_t i = 0; i < s->pod_n; i++) {
		if (unit_of(s, bt_ledger_pod(s->ledger, s->out->pods[i].pod_ix), &priority) == group) {
			return true;
		}
	}
	return false;
}

static void add_victim_unit(struct preempt_search *s, uint32_t pod_ix)
{
	struct bt_preemption *out = s->out;
	const struct bt_pod *pod = bt_ledger_pod(s->ledger, pod_ix);
	int32_t priority = pod->priority;
	const struct bt_pod_group *group = unit_of(s, pod, &priority);
	bool together = group && !bt_ledger_is_frozen(s->ledger);
	struct bt_victim unit = {.pod_ix = pod_ix,
		.priority = priority,
		.place = s->pod_n + 1,
		.grouped = pod->signature->pod_group != BT_NAME_NONE,
		.composite = together && group->composite,
		.first_part = (uint32_t)out->part_n};

	if (together && is_in_unit(s, group)) {
		return;
	}
	if (together) {
		add_tree(s, &unit, group);
	} else {
		add_victim_part(s, &unit, pod_ix);
	}
	if (unit.priority < s->pod->priority) {
		out->pods = bt_mem_grow(out->pods, s->pod_n, &out->pod_cap, sizeof(*out->pods));
		out->pods[s->pod_n++] = unit;
	}
}

/* The same with PodGroups. Source: getCrossNodesVictims, v1.37.2. */
static void list_units(struct preempt_search *s, uint32_t node_ix)
{
	struct bt_preemption *out = s->out;
	uint32_t n = 0;

	s->pod_n = 0;
	s->lost_ix = BT_NO_NODE;
	out->part_n = 0;
	for (uint32_t i = bt_ledger_first_on(s->ledger, node_ix); i != BT_NO_POD;
		i = bt_ledger_next(s->ledger, i)) {
		out->on_node = bt_mem_grow(out->on_node, n, &out->on_node_cap, sizeof(*out->on_node));
		out->on_node[n++] = i;
	}
	while (n > 0) {
		add_victim_unit(s, out->on_node[--n]);
	}
}

static void list_pods(struct preempt_search *s, uint32_t node_ix)
{
	if (s->request->groups) {
		list_units(s, node_ix);
	} else {
		list_single_pods(s, node_ix);
	}
}

/* Adds a victim to its nodes, or removes it. On the group's other nodes only counters matter here. */
static void try_victim(struct preempt_search *s, const struct bt_victim *victim, uint32_t node_ix, bool add)
{
	if (BT_LIKELY(victim->pod_n == 0)) {
		bt_ledger_try(s->ledger, victim->pod_ix, node_ix, add);
	}
	for (uint32_t i = 0; i < victim->pod_n; i++) {
		uint32_t pod_ix = s->out->parts[victim->first_part + i];

		bt_ledger_try(s->ledger, pod_ix, bt_ledger_pod(s->ledger, pod_ix)->node_ix, add);
	}
}

/* Replaces units by their pods: those of a unit follow each other, each with its own values. */
static void take_apart(struct preempt_search *s, size_t first)
{
	struct bt_preemption *out = s->out;
	size_t unit_n = out->kept_n, n = first;

	for (size_t i = first; i < unit_n; i++) {
		n += out->kept[i].pod_n;
	}
	while (out->kept_cap < n) {
		out->kept = bt_mem_grow(out->kept, out->kept_cap, &out->kept_cap, sizeof(*out->kept));
	}
	out->kept_n = n;
	for (size_t i = unit_n; i-- > first;) {
		const struct bt_victim unit = out->kept[i];

		for (uint32_t k = unit.pod_n; k-- > 0;) {
			uint32_t pod_ix = out->parts[unit.first_part + k];
			const struct bt_pod *pod = bt_ledger_pod(s->ledger, pod_ix);

			out->kept[--n] = (struct bt_victim){
				.pod_ix = pod_ix, .priority = pod->priority, .start_ns = pod->start_ns};
		}
	}
	BT_INVARIANT(n == first);
}

static void try_all(struct preempt_search *s, uint32_t node_ix, bool add)
{
	BT_INVARIANT(node_ix < s->view->snapshot->slot_n);
	for (uint32_t i = 0; i < s->pod_n; i++) {
		try_victim(s, &s->out->pods[i], node_ix, add);
	}
}

bool bt_preempt_overdraws(
	const struct bt_cache *cache, const struct bt_pod *pod, int32_t *left, bool charges_every_budget)
{
	const struct bt_budgets *budgets = &cache->budgets;
	bool violates = false;

	for (size_t b = 0; b < budgets->n && (!violates || charges_every_budget); b++) {
		if (bt_budget_counts(
			    &budgets->items[b], cache->dictionary->intern, pod->signature, pod->name)) {
			left[b] = (int32_t)((uint32_t)left[b] - 1);
			violates |= left[b] < 0;
		}
	}
	return violates;
}

/* Marks the pods whose eviction, in order of importance, would overdraw a budget. Returns: how many. */
static uint32_t mark_violations(struct preempt_search *s)
{
	const struct bt_budgets *budgets = &s->request->cache->budgets;
	int32_t *left = s->out->budgets;
	uint32_t n = 0;

	for (size_t b = 0; b < budgets->n; b++) {
		left[b] = budgets->items[b].allowed;
	}
	for (uint32_t i = 0; i < s->pod_n && budgets->n; i++) {
		struct bt_victim *victim = &s->out->pods[i];

		victim->violation_n = 0;
		for (uint32_t k = 0; k < (victim->pod_n ? victim->pod_n : 1); k++) {
			uint32_t pod_ix =
				victim->pod_n ? s->out->parts[victim->first_part + k] : victim->pod_ix;

			victim->violation_n += bt_preempt_overdraws(s->request->cache,
				bt_ledger_pod(s->ledger, pod_ix), left, s->charges_every_budget);
		}
		n += victim->violation_n > 0;
	}
	BT_INVARIANT(n <= s->pod_n);
	return n;
}

/* Has another scheduler bound the pod to another node during the cycle? Then NodeName refuses the node,
 * unless an earlier plugin (by) has done so. Source: Preempt, NodeName.Filter, v1.36.3. */
static uint32_t refused_by_name(const struct preempt_search *s, uint32_t node_ix, uint32_t by)
{
	const struct bt_profile *profile = s->request->cycle->plan->profile;

	if (BT_LIKELY(s->pod->node_ix == BT_NO_NODE || s->pod->node_ix == node_ix)) {
		return by;
	}
	for (uint32_t k = 0; k < profile->filter_n && profile->filter[k] != by; k++) {
		if (profile->uses[profile->filter[k]].plugin->judges_node_name) {
			return profile->filter[k];
		}
	}
	return by;
}

static bool judges_node_name(const struct preempt_search *s, uint32_t by)
{
	return s->request->cycle->plan->profile->uses[by].plugin->judges_node_name;
}

static bool fits(const struct preempt_search *s, uint32_t node_ix, uint32_t *out_by, const char **out_error)
{
	const struct bt_preempt_request *r = s->request;

	*out_error = NULL;
	*out_by = bt_filter_node(r->cycle->plan, s->view, r->evaluation->nominations, node_ix, out_error);
	*out_by = refused_by_name(s, node_ix, *out_by);
	if (*out_by != BT_PASSED && judges_node_name(s, *out_by)) {
		*out_error = NULL;
	}
	return *out_by == BT_PASSED;
}

/*
 * Puts back, most important first, the pods that can stay, and keeps the others as victims; all of them have
 * been removed from the node before. Pods that would violate a budget are tried first. Returns: how many
 * victims violate one.
 */
static uint32_t reprieve(struct preempt_search *s, uint32_t node_ix)
{
	struct bt_preemption *out = s->out;
	uint32_t violating_n = mark_violations(s), violation_n = 0, by;
	size_t first = out->kept_n;
	const char *error;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < s->pod_n; i++) {
			const struct bt_victim *pod = &out->pods[i];

			if ((pod->violation_n == 0) == (round == 0)) {
				continue;
			}
			try_victim(s, pod, node_ix, true);
			if (fits(s, node_ix, &by, &error)) {
				continue;
			}
			try_victim(s, pod, node_ix, false);
			violation_n += pod->violation_n;
			out->kept = bt_mem_grow(out->kept, out->kept_n, &out->kept_cap, sizeof(*out->kept));
			out->kept[out->kept_n++] = *pod;
		}
	}
	if (violating_n && violating_n < s->pod_n) {
		s->out->policy->sort(out->kept + first, (uint32_t)(out->kept_n - first));
	}
	for (size_t i = first; i < out->kept_n; i++) {
		try_victim(s, &out->kept[i], node_ix, true);
	}
	if (s->request->groups) {
		take_apart(s, first);
	}
	return violation_n;
}

/* ---- reasons ---- */

static void add_reason(struct preempt_search *s, struct bt_str reason)
{
	s->explained_n++;
	if (s->request->explain) {
		bt_fit_error_add(&s->out->reasons, reason, 1);
	}
}

static void add_rejection(struct preempt_search *s, uint32_t node_ix, uint32_t by)
{
	const struct bt_preempt_request *r = s->request;
	struct bt_rejection rejection;

	s->explained_n++;
	if (!r->explain) {
		return;
	}
	if (judges_node_name(s, by)) {
		bt_plugin_reject(
			r->cycle->plan->profile->uses[by].plugin, NULL, s->view, node_ix, &rejection);
	} else {
		bt_reject_node(r->cycle->plan, s->view, r->evaluation->nominations, node_ix, by, &rejection);
	}
	for (uint32_t i = 0; i < rejection.n; i++) {
		bt_buf_clear(&s->out->line);
		bt_plugin_reason(r->cycle->plan->profile->uses[by].plugin, r->cache->dictionary,
			&rejection.reasons[i], &s->out->line);
		bt_fit_error_add(&s->out->reasons, bt_buf_view(&s->out->line), 1);
	}
}

/* Errors are reported only if there is no candidate. */
static void add_error(struct preempt_search *s, const char *text)
{
	s->error_n++;
	if (s->request->explain) {
		bt_fit_error_add(&s->out->errors, bt_str(text), 1);
	}
}

/* All pods could stay: an error in upstream. */
static void add_no_victim_error(struct preempt_search *s, uint32_t node_ix)
{
	const struct bt_intern *intern = s->request->cache->dictionary->intern;

	bt_buf_clear(&s->out->line);
	bt_buf_printf(&s->out->line, "expected at least one victim pod on node \"%.*s\"",
		BT_STR_ARG(bt_intern_str(intern, s->view->snapshot->nodes[node_ix].name)));
	add_error(s, s->out->line.ptr);
}

/* A pod of a preempted group is on a deleted node. Source: newDomainVictim, v1.37.2. */
static void add_lost_node_error(struct preempt_search *s)
{
	struct bt_str name = bt_view_str(s->view, s->view->snapshot->nodes[s->lost_ix].name);

	bt_buf_clear(&s->out->line);
	bt_buf_printf(&s->out->line,
		"failed to get node info for node \"%.*s\" from snapshot: nodeinfo not found for node name "
		"\"%.*s\"",
		BT_STR_ARG(name), BT_STR_ARG(name));
	add_error(s, s->out->line.ptr);
}

/* ---- candidates ---- */

/* Is another candidate needed? The limit applies to each of the two lists. */
static bool admit(struct preempt_search *s, const struct bt_preemption_cost *cost)
{
	uint32_t *list_n = cost->violation_n ? &s->owing_n : &s->free_n;

	if (*list_n == s->wanted_n) {
		return false;
	}
	(*list_n)++;
	return true;
}

static bool have_enough(const struct preempt_search *s)
{
	return s->free_n && s->free_n + s->owing_n >= s->wanted_n;
}

/* Removes the potential victims from the node: does the pod fit then, and which of them can stay? */
static enum preempt_note try_without(
	struct preempt_search *s, uint32_t node_ix, struct bt_preemption_cost *out_cost)
{
	size_t first = s->out->kept_n;
	uint32_t by;
	const char *error;

	try_all(s, node_ix, false);
	if (!fits(s, node_ix, &by, &error)) {
		if (error) {
			add_error(s, bt_filter_error_text(s->request->cycle->plan, by, error, &s->out->line));
		} else {
			add_rejection(s, node_ix, by);
		}
		try_all(s, node_ix, true);
		return error ? NOTE_ERROR : NOTE_UNFIT;
	}
	s->out->policy->sort(s->out->pods, s->pod_n);
	uint32_t violation_n = reprieve(s, node_ix);
	uint32_t victim_n = (uint32_t)(s->out->kept_n - first);
	if (victim_n == 0) {
		add_no_victim_error(s, node_ix);
		return NOTE_ERROR;
	}
	*out_cost = s->out->policy->cost_of(s->out->kept + first, victim_n, violation_n);
	return NOTE_CANDIDATE;
}

/* Tries a node. A candidate's victims are the last ones in out->kept. */
static enum preempt_note try_node(
	struct preempt_search *s, uint32_t node_ix, struct bt_preemption_cost *out_cost)
{
	s->out->tried_n++;
	list_pods(s, node_ix);
	if (BT_UNLIKELY(s->request->groups && s->lost_ix != BT_NO_NODE)) {
		add_lost_node_error(s);
		return NOTE_ERROR;
	}
	if (s->pod_n == 0) {
		add_reason(s, bt_str("No preemption victims found for incoming pod"));
		return NOTE_UNFIT;
	}
	bt_ledger_try_begin(s->ledger, node_ix);
	enum preempt_note note = try_without(s, node_ix, out_cost);
	bt_ledger_try_end(s->ledger, node_ix);
	return note;
}

static void begin_tries(struct preempt_search *s, uint32_t node_n)
{
	const struct bt_budgets *budgets = &s->request->cache->budgets;

	s->wanted_n = s->out->policy->candidate_n(s->request->by->settings, node_n);
	if (budgets->n > s->out->budget_cap) {
		s->out->budget_cap = budgets->n;
		s->out->budgets = bt_mem_realloc(s->out->budgets, budgets->n, sizeof(*s->out->budgets));
	}
}

/* The slot at which the search begins; it continues in slot order. */
static uint32_t start_of(const struct preempt_search *s)
{
	return bt_rng_scale(s->request->random, s->view->snapshot->slot_n);
}

static void try_nodes(struct preempt_search *s)
{
	struct bt_preemption *out = s->out;
	uint32_t start = start_of(s), from = 0, node_n = out->node_n;

	begin_tries(s, node_n);
	while (from < node_n && out->nodes[from] < start) {
		from++;
	}
	for (uint32_t i = 0; i < node_n && !have_enough(s); i++) {
		uint32_t node_ix = out->nodes[((uint64_t)from + i) % node_n];
		size_t first = out->kept_n;
		struct bt_preemption_cost cost;

		if (try_node(s, node_ix, &cost) != NOTE_CANDIDATE) {
			continue;
		}
		if (!admit(s, &cost)) {
			out->kept_n = first;
			continue;
		}
		out->candidates = bt_mem_grow(
			out->candidates, out->candidate_n, &out->candidate_cap, sizeof(*out->candidates));
		out->candidates[out->candidate_n++] =
			(struct bt_preempt_candidate){node_ix, (uint32_t)first, cost};
	}
}

/* Only some releases report success. */
static void explain_success(struct preempt_search *s)
{
	const struct bt_snapshot *snapshot = s->view->snapshot;
	struct bt_preemption *out = s->out;

	bt_buf_clear(&out->text);
	if (s->request->explain && has_rule(s->request, BT_RULE_PREEMPTION_REPORTS_SUCCESS)) {
		bt_buf_printf(&out->text,
			"preemption: found a potential placement for pod on node %.*s, preempting %u victims",
			BT_STR_ARG(bt_view_str(s->view, snapshot->nodes[out->node_ix].name)), out->victim_n);
	}
}

/* Chooses the cheapest candidate; among equals the one tried first. */
static void choose(struct preempt_search *s)
{
	struct bt_preemption *out = s->out;
	const struct bt_preempt_candidate *best = &out->candidates[0];

	for (size_t i = 1; i < out->candidate_n; i++) {
		if (bt_preemption_cheaper(&out->candidates[i].cost, &best->cost)) {
			best = &out->candidates[i];
		}
	}
	out->outcome = BT_PREEMPT_FOUND;
	out->node_ix = best->node_ix;
	out->victims = out->kept + best->first_victim;
	out->victim_n = best->cost.victim_n;
	out->violation_n = best->cost.violation_n;
	explain_success(s);
}

static void explain_nowhere(struct preempt_search *s)
{
	uint32_t node_n = s->view->snapshot->node_n;

	if (!s->request->explain) {
		return;
	}
	if (s->explained_n < node_n) {
		bt_fit_error_add(&s->out->reasons, bt_str("Preemption is not helpful for scheduling"),
			node_n - s->explained_n);
	}
	bt_buf_text(&s->out->text, "preemption: ");
	bt_fit_error_text(&s->out->reasons, node_n, &s->out->text);
}

/* Several errors are put in brackets. */
static void explain_errors(struct preempt_search *s)
{
	const struct bt_fit_error *errors = &s->out->errors;
	struct bt_buf *text = &s->out->text;

	bt_buf_text(text, errors->reason_n > 1 ? "preemption: [" : "preemption: ");
	for (size_t i = 0; i < errors->reason_n; i++) {
		bt_buf_printf(text, "%s%s", i ? ", " : "", errors->reasons[i].text);
	}
	bt_buf_text(text, errors->reason_n > 1 ? "]" : "");
}

/* Begins a search. Returns: whether the pod may preempt. */
static bool preempt_begin(struct preempt_search *s)
{
	struct bt_preemption *out = s->out;

	out->policy = s->request->by->plugin->preemption;
	s->ledger = s->request->cache->ledger;
	s->view = &s->request->cache->view;
	s->pod = s->request->cycle->pod;
	s->charges_every_budget = has_rule(s->request, BT_RULE_VICTIM_CHARGES_EVERY_BUDGET);
	s->ages_once = has_rule(s->request, BT_RULE_VICTIMS_AGE_ONCE);
	bt_buf_clear(&out->text);
	bt_fit_error_clear(&out->reasons);
	bt_fit_error_clear(&out->errors);
	out->victims = NULL;
	out->victim_n = out->tried_n = 0;
	out->kept_n = out->candidate_n = 0;
	out->outcome = BT_PREEMPT_INELIGIBLE;
	if (s->request->ineligible) {
		bt_buf_printf(&out->text, "preemption: %s", s->request->ineligible);
		return false;
	}
	if (s->pod->detached) {
		out->outcome = BT_PREEMPT_FAILED;
		bt_buf_text(&out->text, "preemption: pod ");
		bt_quote(&out->text, bt_intern_str(s->request->cache->dictionary->intern, s->pod->name));
		bt_buf_text(&out->text, " not found");
		return false;
	}
	return eligible(s);
}

/* Lets extenders filter the candidates, and takes the best of the rest. */
static void settle(struct preempt_search *s)
{
	struct bt_preemption *out = s->out;

	bt_buf_clear(&out->text);
	bt_buf_text(&out->text, "preemption: ");
	if (s->request->extend && !bt_extender_calls_candidates(
					  s->request->extend, s->request->cycle->pod_ix, out, &out->text)) {
		out->outcome = BT_PREEMPT_FAILED;
	} else if (out->candidate_n == 0) {
		bt_buf_text(&out->text, "no candidate node for preemption");
		out->outcome = BT_PREEMPT_INELIGIBLE;
	} else {
		choose(s);
	}
}

void bt_preempt(const struct bt_preempt_request *request, struct bt_preemption *out)
{
	struct preempt_search s = {.request = request, .out = out};

	if (!preempt_begin(&s)) {
		return;
	}
	if (out->node_n) {
		try_nodes(&s);
	}
	if (out->candidate_n) {
		settle(&s);
	} else if (s.error_n) {
		out->outcome = BT_PREEMPT_FAILED;
		explain_errors(&s);
	} else {
		out->outcome = BT_PREEMPT_NOWHERE;
		explain_nowhere(&s);
	}
}

/* ---- notes ---- */

void bt_preempt_notes_fini(struct bt_preempt_notes *notes)
{
	bt_mem_free(notes->states);
	bt_mem_free(notes->by);
	bt_mem_free(notes->costs);
	*notes = (struct bt_preempt_notes){0};
}

bool bt_preempt_notable(const struct bt_plan *plan)
{
	if (plan->narrowed || plan->refusal) {
		return false;
	}
	for (uint32_t i = 0; i < plan->profile->filter_n; i++) {
		uint32_t u = plan->profile->filter[i];
		enum bt_dependence depends = plan->profile->uses[u].plugin->filter_depends;
		bool known = depends == BT_DEPENDS_ON_DESCRIPTION || depends == BT_DEPENDS_ON_USAGE;

		if (plan->filter_error[u]) {
			return false;
		}
		if (!known && !plan->compiled[u].filter_skip) {
			return false;
		}
	}
	return true;
}

static void note_refusal(struct bt_preempt_notes *notes, uint32_t node_ix, uint32_t by)
{
	if (notes->by[node_ix] != BT_PROFILE_USES) {
		notes->by_n[notes->by[node_ix]]--;
	}
	notes->by[node_ix] = (uint8_t)(by == BT_PASSED ? BT_PROFILE_USES : by);
	if (by != BT_PASSED) {
		notes->by_n[by]++;
	}
}

/* Records whether the node's refusal is one that evictions may resolve. */
static void note_node(struct preempt_search *s, struct bt_preempt_notes *notes, uint32_t node_ix)
{
	const struct bt_preempt_request *r = s->request;
	const struct bt_nominations_ahead *nominations = r->evaluation->nominations;
	struct bt_rejection rejection;
	const char *error = NULL;
	uint32_t by = BT_PASSED;

	notes->helpful_n -= notes->states[node_ix] >= NOTE_UNFIT;
	notes->states[node_ix] = NOTE_UNHELPFUL;
	if (bt_bitmap_test(s->view->snapshot->live, node_ix)) {
		by = bt_filter_node(r->cycle->plan, s->view, nominations, node_ix, &error);
	}
	note_refusal(notes, node_ix, by);
	if (by == BT_PASSED) {
		return;
	}
	bt_reject_node(r->cycle->plan, s->view, nominations, node_ix, by, &rejection);
	if (rejection.code == BT_UNSCHEDULABLE) {
		notes->states[node_ix] = NOTE_HELPFUL;
		notes->helpful_n++;
	}
}

static void forget_notes(const struct preempt_search *s, struct bt_preempt_notes *notes)
{
	const struct bt_snapshot *snapshot = s->view->snapshot;

	notes->profile = s->request->cycle->plan->profile;
	notes->signature = s->pod->signature->serial;
	notes->priority = s->pod->priority;
	notes->snapshot_version = snapshot->version;
	notes->budget_version = s->request->cache->budgets.version;
	notes->slot_n = snapshot->slot_n;
	notes->helpful_n = 0;
	if (notes->slot_cap < snapshot->slot_n) {
		notes->slot_cap = snapshot->slot_n;
		notes->states = bt_mem_realloc(notes->states, notes->slot_cap, sizeof(*notes->states));
		notes->costs = bt_mem_realloc(notes->costs, notes->slot_cap, sizeof(*notes->costs));
		notes->by = bt_mem_realloc(notes->by, notes->slot_cap, sizeof(*notes->by));
	}
	memset(notes->states, NOTE_UNKNOWN, notes->slot_n);
	memset(notes->by, BT_PROFILE_USES, notes->slot_n);
	memset(notes->by_n, 0, sizeof(notes->by_n));
}

bool bt_preempt_notes_fit(const struct bt_preempt_notes *notes, uint32_t slot_n)
{
	size_t each = sizeof(*notes->states) + sizeof(*notes->costs) + sizeof(*notes->by);

	return notes->slot_cap >= slot_n || bt_mem_may_use(BT_MEM_NOTES, each * slot_n);
}

static bool notes_hold(const struct preempt_search *s, const struct bt_preempt_notes *notes)
{
	const struct bt_usage *usage = s->view->usage;

	return notes->profile == s->request->cycle->plan->profile &&
	       notes->signature == s->pod->signature->serial && notes->priority == s->pod->priority &&
	       notes->snapshot_version == s->view->snapshot->version &&
	       notes->slot_n == s->view->snapshot->slot_n &&
	       notes->budget_version == s->request->cache->budgets.version &&
	       usage->journal_end - notes->journal_end <= usage->journal_mask;
}

static void catch_up(struct preempt_search *s, struct bt_preempt_notes *notes)
{
	const struct bt_usage *usage = s->view->usage;

	if (notes_hold(s, notes)) {
		for (uint64_t i = notes->journal_end; i < usage->journal_end; i++) {
			uint32_t node_ix = usage->journal[i & usage->journal_mask];

			if (node_ix < notes->slot_n) {
				note_node(s, notes, node_ix);
			}
		}
	} else {
		forget_notes(s, notes);
		for (uint32_t i = 0; i < notes->slot_n; i++) {
			note_node(s, notes, i);
		}
	}
	notes->journal_end = usage->journal_end;
}

bt_plugin_set bt_preempt_unschedulable_plugins(
	const struct bt_preempt_request *request, struct bt_preempt_notes *notes)
{
	struct preempt_search s = {
		.request = request,
		.ledger = request->cache->ledger,
		.view = &request->cache->view,
		.pod = request->cycle->pod,
	};
	bt_plugin_set uses = 0;

	BT_REQUIRE_HOT(bt_preempt_notable(request->cycle->plan));
	catch_up(&s, notes);
	for (uint32_t u = 0; u < BT_PROFILE_USES; u++) {
		uses |= notes->by_n[u] ? bt_plugin_set_of(u) : 0;
	}
	return uses;
}

/* The first slot in [slot, end) whose note is NOTE_HELPFUL or higher; otherwise end. */
static inline uint32_t next_helpful(const uint8_t *states, uint32_t slot, uint32_t end)
{
	const uint64_t any = NOTE_BITS * UINT64_C(0x0101010101010101);
	uint64_t eight;

	for (; slot + sizeof(eight) <= end; slot += (uint32_t)sizeof(eight)) {
		memcpy(&eight, states + slot, sizeof(eight));
		if (eight & any) {
			break;
		}
	}
	while (slot < end && states[slot] < NOTE_HELPFUL) {
		slot++;
	}
	return slot;
}

/* The cheapest candidate among best, which may be BT_NO_NODE, and the slots in [begin, end). */
static BT_NOINLINE uint32_t choose_among(
	struct preempt_search *s, struct bt_preempt_notes *notes, uint32_t begin, uint32_t end, uint32_t best)
{
	uint8_t *const states = notes->states;
	struct bt_preemption_cost *const costs = notes->costs;

	for (uint32_t at = begin; !have_enough(s) && (at = next_helpful(states, at, end)) < end; at++) {
		if (states[at] == NOTE_HELPFUL) {
			states[at] = (uint8_t)try_node(s, at, &costs[at]);
			s->out->kept_n = 0;
		}
		s->error_n += states[at] == NOTE_ERROR;
		if (states[at] == NOTE_CANDIDATE && admit(s, &costs[at]) &&
			(best == BT_NO_NODE || bt_preemption_cheaper(&costs[at], &costs[best]))) {
			best = at;
		}
	}
	return best;
}

/* The cheapest candidate, or BT_NO_NODE. */
static uint32_t choose_by_notes(struct preempt_search *s, struct bt_preempt_notes *notes)
{
	uint32_t start = start_of(s);

	begin_tries(s, notes->helpful_n);
	uint32_t best = choose_among(s, notes, start, notes->slot_n, BT_NO_NODE);
	return choose_among(s, notes, 0, start < notes->slot_n ? start : notes->slot_n, best);
}

void bt_preempt_by_notes(
	const struct bt_preempt_request *request, struct bt_preempt_notes *notes, struct bt_preemption *out)
{
	struct preempt_search s = {.request = request, .out = out};

	BT_REQUIRE(!request->explain);
	if (!preempt_begin(&s)) {
		return;
	}
	catch_up(&s, notes);
	uint32_t best = choose_by_notes(&s, notes);
	if (best == BT_NO_NODE) {
		out->outcome = s.error_n ? BT_PREEMPT_FAILED : BT_PREEMPT_NOWHERE;
		return;
	}
	/* The notes do not store victims. */
	enum preempt_note again = try_node(&s, best, &notes->costs[best]);
	BT_INVARIANT(again == NOTE_CANDIDATE);
	out->outcome = BT_PREEMPT_FOUND;
	out->node_ix = best;
	out->victims = out->kept;
	out->victim_n = (uint32_t)out->kept_n;
	out->violation_n = notes->costs[best].violation_n;
	bt_buf_clear(&out->text);
}
