/* SPDX-License-Identifier: Apache-2.0
 * Permit of pods that name Workloads.
 */
#include "engine/flow/cycle/permit.h"

#include "engine/base/check.h"
#include "engine/base/duration.h"
#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/fit_error.h"

static const struct bt_pod_group *group_of(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;

	return bt_pod_groups_find(&engine->groups, signature->namespace_, signature->pod_group);
}

static uint64_t scheduled_n(const struct bt_engine *engine, const struct bt_pod_group *group)
{
	uint64_t n = 0;

	for (size_t i = 0; i < group->member_n; i++) {
		n += bt_ledger_pod(engine->cache->ledger, group->members[i])->state != BT_POD_QUEUED;
	}
	return n;
}

/* Activates the pods of the group that are neither assumed nor bound, whatever they wait for. Source:
 * Permit, plugins/gangscheduling, v1.35.4. */
static void activate_others(struct bt_engine *engine, const struct bt_pod_group *group)
{
	for (size_t i = 0; i < group->member_n; i++) {
		if (bt_ledger_pod(engine->cache->ledger, group->members[i])->state == BT_POD_QUEUED) {
			bt_queue_activate(
				engine->queue, group->members[i], bt_scheduling_clock_now(&engine->clock));
		}
	}
}

static void begin_wait(struct bt_engine *engine, struct bt_decision *decision, const struct bt_hook *hook)
{
	const struct bt_pod_group *group = group_of(engine, decision->pod_ix);
	int64_t now_ns = bt_scheduling_clock_now(&engine->clock);
	int64_t wait_ns = bt_pod_groups_timeout_ns(&engine->groups, group->namespace_, group->name, now_ns);

	activate_others(engine, group);
	bt_waiting_pods_add(&engine->waiting, &(struct bt_waiting_pod){.pod_ix = decision->pod_ix,
						      .hook = hook,
						      .wait_ns = wait_ns,
						      .until_ns = now_ns + wait_ns});
	decision->waits = true;
}

/* The pod of the group that has waited longest, or BT_NO_POD. */
static uint32_t first_of(const struct bt_engine *engine, const struct bt_pod_group *group)
{
	for (size_t i = 0; i < bt_waiting_pods_n(&engine->waiting); i++) {
		if (group_of(engine, bt_waiting_pods_at(&engine->waiting, i).pod_ix) == group) {
			return bt_waiting_pods_at(&engine->waiting, i).pod_ix;
		}
	}
	return BT_NO_POD;
}

static void report_end(struct bt_engine *engine, const struct bt_decision *decision,
	const struct bt_queue_info *info, uint32_t nominated)
{
	const struct bt_permit_observer *observer = &engine->options.permit;

	if (observer->ended) {
		observer->ended(observer->context, decision, info, nominated,
			bt_buf_view(bt_waiting_pods_text(&engine->waiting)));
	}
}

/* Measures a wait that has ended. Source: WaitOnPermit, v1.35.4. */
static void note_waited(
	struct bt_engine *engine, const struct bt_waiting_pod *entry, enum bt_cycle_metric_status status)
{
	const uint16_t labels[4] = {(uint16_t)status};

	if (engine->metrics) {
		int64_t begun_ns = entry->until_ns - entry->wait_ns;

		bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_PERMIT_WAIT, labels,
			bt_scheduling_clock_now(&engine->clock) - begun_ns);
	}
}

/* Binds a pod that has waited. */
static void allow(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);
	const struct bt_queue_info info = bt_queue_info(engine->queue, pod_ix);
	uint32_t nominated = pod->status_node;
	struct bt_decision decision = {.pod_ix = pod_ix,
		.outcome = BT_PLACED,
		.node_ix = pod->node_ix,
		.nominated_ix = BT_NO_NODE,
		.waited = true};

	const struct bt_waiting_pod entry = bt_waiting_pods_take(&engine->waiting, pod_ix);
	note_waited(engine, &entry, BT_CYCLE_METRIC_SUCCESS);
	bt_queue_done(engine->queue, pod_ix);
	bt_buf_clear(bt_waiting_pods_text(&engine->waiting));
	if (!bt_engine_bind(engine, pod_ix, pod->node_ix)) {
		decision.outcome = BT_FAILED;
		decision.node_ix = BT_NO_NODE;
		bt_buf_str(bt_waiting_pods_text(&engine->waiting), bt_reserved_why(&engine->reserved));
	}
	report_end(engine, &decision, &info, nominated);
}

/* Binds the waiting pods of the group if it is still a gang. */
static void allow_others(struct bt_engine *engine, uint32_t pod_ix)
{
	uint32_t namespace_ = group_of(engine, pod_ix)->namespace_, name = group_of(engine, pod_ix)->name;
	uint32_t first;

	if (!bt_pod_groups_state(&engine->groups, namespace_, name).gang) {
		return;
	}

	/* A binding that completes at once may change the table of groups. */
	while ((first = first_of(engine, bt_pod_groups_find(&engine->groups, namespace_, name))) !=
		BT_NO_POD) {
		allow(engine, first);
	}
}

/* Runs the profile's Permit plugins. out_hook: the plugin that decides. */
static enum bt_permit run_permit(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_hook **out_hook, struct bt_buf *out_error)
{
	const struct bt_hooks *hooks = &bt_engine_runtime_of(engine, pod_ix)->profile.permit;
	struct bt_group_state group = {0};
	struct bt_pod_env env = bt_engine_pod_env(engine, pod_ix, &group);
	enum bt_permit permit = BT_PERMIT_OK;

	group.scheduled_n = scheduled_n(engine, group_of(engine, pod_ix));
	for (uint32_t i = 0; i < hooks->n && permit != BT_PERMIT_FAILS; i++) {
		const struct bt_hook *hook = &hooks->items[i];

		if (bt_hook_concerns(hook, env.traits)) {
			bt_buf_clear(out_error);
			bt_buf_printf(out_error, "running Permit plugin \"%s\": ", hook->plugin->name);
			env.settings = hook->settings;
			enum bt_permit result = hook->plugin->permit(&env, out_error);
			*out_hook = result > permit ? hook : *out_hook;
			permit = result > permit ? result : permit;
		}
	}
	return permit;
}

/* The same with metrics. Source: RunPermitPlugins, v1.35.4. */
static enum bt_permit permit_measured(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_hook **out_hook, struct bt_buf *out_error)
{
	static const uint16_t statuses[] = {[BT_PERMIT_OK] = BT_CYCLE_METRIC_SUCCESS,
		[BT_PERMIT_WAIT] = BT_CYCLE_METRIC_WAIT,
		[BT_PERMIT_FAILS] = BT_CYCLE_METRIC_ERROR};
	int64_t begin_ns = engine->metrics ? bt_clock_monotonic_ns() : 0;
	enum bt_permit permit = run_permit(engine, pod_ix, out_hook, out_error);

	if (engine->metrics) {
		const struct bt_profile_runtime *runtime = bt_engine_runtime_of(engine, pod_ix);
		const uint16_t labels[4] = {BT_CYCLE_METRIC_PERMIT, statuses[permit],
			bt_profile_runtimes_ix(&engine->runtimes, runtime)};

		bt_cycle_metrics_note(
			engine->metrics, BT_CYCLE_METRIC_POINT, labels, bt_clock_monotonic_ns() - begin_ns);
	}
	return permit;
}

bool bt_engine_permit(struct bt_engine *engine, struct bt_decision *decision)
{
	const struct bt_hook *hook = NULL;

	BT_REQUIRE_HOT(bt_pod_groups_alone(&engine->groups));
	if (!bt_engine_is_member(engine, decision->pod_ix)) {
		return true;
	}
	switch (permit_measured(engine, decision->pod_ix, &hook, bt_waiting_pods_text(&engine->waiting))) {
	case BT_PERMIT_WAIT:
		begin_wait(engine, decision, hook);
		return false;
	case BT_PERMIT_FAILS:
		bt_reserved_set_why(&engine->reserved, bt_buf_view(bt_waiting_pods_text(&engine->waiting)));
		bt_engine_unpermit(engine, decision);
		return false;
	default:
		allow_others(engine, decision->pod_ix);
		return true;
	}
}

bool bt_engine_permits(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_hook *hook = NULL;

	return !bt_pod_groups_alone(&engine->groups) || !bt_engine_is_member(engine, pod_ix) ||
	       run_permit(engine, pod_ix, &hook, bt_waiting_pods_text(&engine->waiting)) == BT_PERMIT_OK;
}

/* ---- ends ---- */

bool bt_engine_has_imposed_wait(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_waiting_pods_has(&engine->waiting, pod_ix);
}

void bt_engine_end_imposed_wait(struct bt_engine *engine, uint32_t pod_ix, bool bound)
{
	BT_REQUIRE(bt_waiting_pods_has(&engine->waiting, pod_ix));
	bt_engine_before_change(engine, BT_CHANGE_OF_NODES);
	if (bound) {
		allow(engine, pod_ix);
	} else {
		bt_waiting_pods_take(&engine->waiting, pod_ix);
		bt_engine_end_wait(engine, pod_ix, 0, false);
	}
}

void bt_engine_reject(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_hook *hook, struct bt_str why)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);
	const struct bt_queue_info info = bt_queue_info(engine->queue, pod_ix);
	const struct bt_waiting_pod entry = bt_waiting_pods_take(&engine->waiting, pod_ix);
	const uint32_t number = hook ? hook->id : entry.hook->id;
	struct bt_decision decision = {.pod_ix = pod_ix,
		.outcome = BT_REFUSED,
		.node_ix = BT_NO_NODE,
		.nominated_ix = BT_NO_NODE,
		.waited = true,
		.unschedulable_plugins = bt_plugin_set_of(number)};
	struct bt_fit_error error = {.reason_n = 0};
	const struct bt_permit_observer *observer = &engine->options.permit;
	uint32_t nominated = pod->status_node;

	note_waited(engine, &entry, BT_CYCLE_METRIC_UNSCHEDULABLE);
	bt_fit_error_add(&error, why, 1);
	struct bt_buf text = {0};
	bt_fit_error_text(&error, 1, &text);
	bt_fit_error_fini(&error);
	decision.repeats =
		observer->repeats && observer->repeats(observer->context, pod_ix, bt_buf_view(&text));
	bt_engine_end_wait(engine, pod_ix, decision.unschedulable_plugins, decision.repeats);
	bt_buf_clear(bt_waiting_pods_text(&engine->waiting));
	bt_buf_str(bt_waiting_pods_text(&engine->waiting), bt_buf_view(&text));
	bt_buf_fini(&text);
	report_end(engine, &decision, &info, nominated);
}

void bt_engine_end_overdue(struct bt_engine *engine)
{
	int64_t now_ns = bt_scheduling_clock_now(&engine->clock);
	size_t i = 0;

	while (i < bt_waiting_pods_n(&engine->waiting)) {
		const struct bt_waiting_pod entry = bt_waiting_pods_at(&engine->waiting, i);
		struct bt_buf why = {0};

		if (entry.until_ns > now_ns) {
			i++;
			continue;
		}
		bt_engine_before_change(engine, BT_CHANGE_OF_NODES);
		bt_buf_text(&why, "rejected due to timeout after waiting ");
		bt_duration_text(&why, entry.wait_ns);
		bt_buf_printf(&why, " at plugin %s", entry.hook->plugin->name);
		bt_engine_reject(engine, entry.pod_ix, entry.hook, bt_buf_view(&why));
		bt_buf_fini(&why);
	}
}

void bt_engine_end_preempted(struct bt_engine *engine)
{
	const struct bt_permit_observer *observer = &engine->options.permit;
	size_t i = 0;

	while (i < bt_waiting_pods_n(&engine->waiting)) {
		const struct bt_waiting_pod entry = bt_waiting_pods_at(&engine->waiting, i);

		if (entry.preempted) {
			if (observer->preempted) {
				observer->preempted(observer->context, entry.pod_ix,
					bt_eviction_preemptor(&engine->eviction),
					bt_ledger_pod(engine->cache->ledger, entry.pod_ix)->node_ix);
			}
			bt_engine_reject(engine, entry.pod_ix,
				bt_engine_runtime_of(engine, entry.pod_ix)->profile.preemption,
				bt_str("preempted"));
		} else {
			i++;
		}
	}
}

void bt_engine_drop_wait(struct bt_engine *engine, uint32_t pod_ix)
{
	if (bt_waiting_pods_has(&engine->waiting, pod_ix)) {
		const struct bt_waiting_pod entry = bt_waiting_pods_take(&engine->waiting, pod_ix);

		note_waited(engine, &entry, BT_CYCLE_METRIC_UNSCHEDULABLE);
		bt_volumes_revert(engine->cache->volumes, pod_ix);
		bt_engine_revert_devices(engine, pod_ix);
		bt_queue_remove(engine->queue, pod_ix);
	}
}
