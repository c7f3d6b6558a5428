/* SPDX-License-Identifier: Apache-2.0
 * Which pods belong to a PodGroup, what cycles of groups do with them, and what is left of these.
 */
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/group_attempt.h"

static const struct bt_signature *member_signature(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;
}

bool bt_engine_is_member(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_pod_groups_tracked(&engine->groups) &&
	       member_signature(engine, pod_ix)->pod_group != BT_NAME_NONE;
}

bool bt_engine_in_group(const struct bt_engine *engine, uint32_t pod_ix)
{
	return !bt_pod_groups_alone(&engine->groups) && bt_engine_is_member(engine, pod_ix);
}

uint32_t bt_engine_whole_group(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = member_signature(engine, pod_ix);
	const struct bt_pod_group *root = bt_pod_groups_root(&engine->groups,
		bt_pod_groups_find(&engine->groups, signature->namespace_, signature->pod_group));

	BT_REQUIRE(bt_engine_in_group(engine, pod_ix));
	return root ? root->name : signature->pod_group;
}

void bt_engine_join_group(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = member_signature(engine, pod_ix);

	if (bt_engine_is_member(engine, pod_ix)) {
		bt_pod_groups_join(&engine->groups, signature->namespace_, signature->pod_group, pod_ix);
	}
}

void bt_engine_leave_group(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = member_signature(engine, pod_ix);

	if (bt_engine_is_member(engine, pod_ix)) {
		bt_pod_groups_leave(&engine->groups, signature->namespace_, signature->pod_group, pod_ix);
	}
}

/* ---- members in a cycle ---- */

void bt_group_cycle_add(struct bt_group_cycle *cycle, const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_queue_info info = bt_queue_info(engine->queue, pod_ix);
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	cycle->members =
		bt_mem_grow(cycle->members, cycle->member_n, &cycle->member_cap, sizeof(*cycle->members));
	cycle->members[cycle->member_n++] = (struct bt_group_member){
		.decision = {.pod_ix = pod_ix,
			.outcome = BT_FAILED,
			.node_ix = BT_NO_NODE,
			.nominated_ix = BT_NO_NODE},
		.nominated = pod->status_node,
		.priority = pod->priority,
		.first_ns = info.first_ns,
		.order = info.order,
	};
	BT_INVARIANT(cycle->member_n <= cycle->member_cap);
}

void bt_group_cycle_rank(struct bt_group_cycle *cycle, const struct bt_group_watch *watch)
{
	if (!watch || !watch->rank) {
		return;
	}
	for (size_t i = 0; i < cycle->member_n; i++) {
		struct bt_group_member member = cycle->members[i];
		size_t at = i;

		member.rank = watch->rank(watch->context, member.decision.pod_ix);
		for (; at > 0 && cycle->members[at - 1].rank > member.rank; at--) {
			cycle->members[at] = cycle->members[at - 1];
		}
		cycle->members[at] = member;
	}
}

/* The member's nomination ended when it was assumed; bt_engine_set_aside sets the new one. */
void bt_group_member_unreserve(struct bt_engine *engine, struct bt_group_member *member)
{
	BT_INVARIANT(member->assumed);
	uint32_t pod_ix = member->decision.pod_ix;
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);
	uint32_t node_ix = pod->node_ix;

	bt_group_release(engine, pod_ix);
	if (member->preempts && pod->signature->port_n) {
		/* Its victims still exist. Upstream forgets that the port is in use. */
		bt_ledger_hold_ports(engine->cache->ledger, node_ix);
	}
	member->assumed = false;
}

/* Counts the member on its node, even if it has to preempt there. Its victims stay until the cycle is over.
 */
void bt_group_member_reserve(struct bt_engine *engine, struct bt_group_member *member)
{
	BT_INVARIANT(!member->assumed);
	const struct bt_decision *decision = &member->decision;

	if (member->preempts) {
		bt_ledger_assume(engine->cache->ledger, decision->pod_ix, decision->nominated_ix);
	} else {
		enum bt_reserve reserved = bt_reserved_assume(
			&engine->reserved, decision->plan, decision->pod_ix, decision->node_ix);
		BT_REQUIRE(reserved == BT_RESERVED); /* nothing has happened since the node was chosen */
	}
	member->assumed = true;
}

static bool was_assumed_now(const struct bt_group_cycle *cycle, uint32_t pod_ix)
{
	for (size_t i = 0; cycle->on && i < cycle->member_n; i++) {
		if (cycle->members[i].decision.pod_ix == pod_ix) {
			return cycle->members[i].assumed;
		}
	}
	return false;
}

bool bt_group_runs(const struct bt_engine *engine, const struct bt_pod *pod)
{
	const struct bt_pod_group *group =
		bt_pod_groups_known(&engine->groups, pod->signature->namespace_, pod->signature->pod_group);

	for (size_t i = 0; group && i < group->member_n; i++) {
		uint32_t pod_ix = group->members[i];

		if (bt_ledger_pod(engine->cache->ledger, pod_ix)->state != BT_POD_QUEUED &&
			!was_assumed_now(&engine->group_cycle, pod_ix)) {
			return true;
		}
	}
	return false;
}

void bt_group_nominate_again(struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_ledger *ledger = engine->cache->ledger;

	bt_ledger_nominate(ledger, pod_ix, bt_ledger_pod(ledger, pod_ix)->status_ix);
}

bool bt_group_member_begin_again(struct bt_group_member *member)
{
	BT_INVARIANT(!member->assumed);
	if (member->decision.outcome == BT_SKIPPED) {
		return false;
	}
	member->decision = (struct bt_decision){.pod_ix = member->decision.pod_ix,
		.outcome = BT_FAILED,
		.node_ix = BT_NO_NODE,
		.nominated_ix = BT_NO_NODE};
	member->reason = BT_GROUP_OWN;
	member->preempts = member->beside_others = member->post_filtered = false;
	member->victim_n = member->leaving_n = 0;
	return true;
}

int64_t bt_group_cycle_clock(const struct bt_engine *engine)
{
	return engine->metrics ? bt_clock_monotonic_ns() : 0;
}

void bt_group_cycle_note(struct bt_engine *engine, const struct bt_profile_runtime *runtime,
	enum bt_group_outcome outcome, int64_t begin_ns, int64_t decided_ns)
{
	static const uint16_t results[] = {
		[BT_GROUP_UNSCHEDULABLE] = BT_CYCLE_METRIC_GROUP_UNSCHEDULABLE,
		[BT_GROUP_SCHEDULED] = BT_CYCLE_METRIC_GROUP_SCHEDULED,
		[BT_GROUP_WAITS_ON_PREEMPTION] = BT_CYCLE_METRIC_GROUP_WAITS,
		[BT_GROUP_ERROR] = BT_CYCLE_METRIC_GROUP_ERROR,
	};
	const uint16_t labels[4] = {results[outcome], bt_profile_runtimes_ix(&engine->runtimes, runtime)};
	const uint16_t none[4] = {0};

	if (engine->metrics) {
		bt_cycle_metrics_note(
			engine->metrics, BT_CYCLE_METRIC_GROUP_DECIDING, none, decided_ns - begin_ns);
		bt_cycle_metrics_note(
			engine->metrics, BT_CYCLE_METRIC_GROUP, labels, bt_clock_monotonic_ns() - begin_ns);
	}
}

struct bt_group_member *bt_group_first_decided(struct bt_group_cycle *cycle)
{
	for (size_t i = 0; i < cycle->member_n; i++) {
		if (cycle->members[i].decision.outcome != BT_SKIPPED) {
			return &cycle->members[i];
		}
	}
	return NULL;
}

bool bt_group_member_is_gone(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	return pod->state != BT_POD_QUEUED || pod->detached || !bt_engine_in_group(engine, pod_ix);
}

enum bt_outcome bt_group_try(struct bt_engine *engine, const struct bt_group_watch *watch, uint32_t pod_ix,
	struct bt_group_preemption *out)
{
	struct bt_plan *plan;
	enum bt_outcome outcome;
	uint32_t node_ix = bt_engine_try_pod(engine, pod_ix, &plan, &outcome);

	if (outcome != BT_PLACED) {
		return outcome;
	}
	if (watch && watch->tried) {
		node_ix = watch->tried(watch->context, engine, pod_ix, node_ix);
	}
	const struct bt_group_place place = {pod_ix, node_ix, bt_engine_skipped(plan)};

	bt_group_hold(engine, plan, pod_ix, node_ix);
	bt_group_preemption_place(out, &place);
	return BT_PLACED;
}

void bt_group_write_schedulers(
	const struct bt_engine *engine, uint32_t scheduler, uint32_t other, struct bt_buf *out_text)
{
	bt_buf_text(out_text,
		"all pods in a single pod group should have the same .spec.schedulerName set, got: ");
	bt_quote(out_text, bt_engine_name(engine, scheduler));
	bt_buf_text(out_text, " and ");
	bt_quote(out_text, bt_engine_name(engine, other));
}

bt_plugin_set bt_group_blame(
	const struct bt_engine *engine, const struct bt_profile_runtime *runtime, bool tried)
{
	bt_plugin_set blamed = 0;

	if (!engine->options.groups_by_events) {
		return 0;
	}
	if (runtime->groups_number >= 0) {
		blamed |= bt_plugin_set_of((uint32_t)runtime->groups_number);
	}
	if (!tried && runtime->placements_number >= 0) {
		blamed |= bt_plugin_set_of((uint32_t)runtime->placements_number);
	}
	return blamed;
}

struct bt_group_ref bt_engine_group_of(const struct bt_engine *engine, uint32_t pod_ix)
{
	BT_REQUIRE(bt_ledger_has(engine->cache->ledger, pod_ix));
	const struct bt_signature *signature = bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;
	const struct bt_pod_group *group =
		bt_pod_groups_known(&engine->groups, signature->namespace_, signature->pod_group);
	const struct bt_pod_group *root = bt_pod_groups_root(&engine->groups, group);
	struct bt_group_ref ref = {.name = {.len = 0}};

	if (root && root->composite) {
		group = root;
		ref.composite = true;
		ref.namespace_ = bt_engine_name(engine, root->namespace_);
		ref.name = bt_engine_name(engine, root->name);
	} else if (signature->pod_group != BT_NAME_NONE) {
		ref.namespace_ = bt_engine_name(engine, signature->namespace_);
		ref.name = bt_engine_name(engine, signature->pod_group);
	}
	if (group && group->uid != BT_NAME_NONE) {
		ref.uid = bt_engine_name(engine, group->uid);
	}
	return ref;
}

void bt_group_cycle_preempt(struct bt_engine *engine, struct bt_group_cycle *cycle)
{
	struct bt_group_member *member = bt_group_first_decided(cycle);
	struct bt_preemption victims = {
		.victims = cycle->preemption.victims, .victim_n = (uint32_t)cycle->preemption.victim_n};

	BT_INVARIANT(member != NULL);
	struct bt_decision *decision = &member->decision;
	decision->by_group = true;
	if (cycle->is_trial) {
		return;
	}
	bt_eviction_list(&engine->eviction, engine->cache->ledger, &victims);
	cycle->preempts = bt_engine_group_preempting_begin(engine, decision->pod_ix);
	if (cycle->preempts && !bt_eviction_is_async(&engine->eviction)) {
		bt_engine_carry_out(engine, decision, NULL);
		cycle->preempts = false;
	}
}

static void fini_nodes(struct bt_group_node *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bt_buf_fini(&nodes[i].text);
		bt_placements_fini(&nodes[i].placements);
	}
	bt_mem_free(nodes);
}

void bt_group_cycle_fini(struct bt_group_cycle *cycle)
{
	bt_mem_free(cycle->members);
	bt_mem_free(cycle->victims);
	bt_mem_free(cycle->leaving);
	bt_mem_free(cycle->cleared_nominations);
	bt_buf_fini(&cycle->permit_error);
	bt_group_preemption_fini(&cycle->preemption);
	bt_buf_fini(&cycle->text);
	fini_nodes(cycle->nodes, cycle->node_cap);
	fini_nodes(cycle->tried, cycle->tried_cap);
	bt_placements_fini(&cycle->placements);
	*cycle = (struct bt_group_cycle){.members = NULL};
}
