/* SPDX-License-Identifier: Apache-2.0
 * Registrations and queueing hints of a profile.
 */
#include "engine/flow/cycle/hints.h"

#include <assert.h>

#include "engine/base/check.h"

static_assert(BT_HINT_PLUGINS <= BT_PLUGIN_SET_ROOM, "sets of hint plugins are sets of plugins");

#define ALL (BT_PLUGIN_SET_ALL >> (BT_PLUGIN_SET_ROOM - BT_HINT_PLUGINS))

static uint32_t action_at(uint32_t ix)
{
	BT_INVARIANT(ix < BT_CLUSTER_EVENT_ACTION_N);
	return ix == BT_CLUSTER_EVENT_ACTION_N - 1 ? BT_UPDATE : 1u << ix;
}

/* The row in which the actions of a hint are joined; created if missing. */
static struct bt_hint_row *row_of(
	struct bt_hints *hints, uint32_t resource, uint32_t hint_plugin, bt_plugin_hint_fn *hint, bool joined)
{
	for (uint32_t i = 0; joined && i < hints->row_n[resource]; i++) {
		struct bt_hint_row *row = &hints->rows[resource][i];

		if (row->hint_plugin == hint_plugin && row->hint == hint) {
			return row;
		}
	}
	BT_REQUIRE(hints->row_n[resource] < BT_HINT_ROWS);
	struct bt_hint_row *row = &hints->rows[resource][hints->row_n[resource]++];
	*row = (struct bt_hint_row){0, hint_plugin, hint};
	return row;
}

/* Adds a registration for one resource. joined: as one registration with others of the hint. */
static void add_row(struct bt_hints *hints, uint32_t resource, uint32_t hint_plugin,
	const struct bt_registration *registration, bool joined)
{
	const bt_plugin_set own = bt_plugin_set_of(hint_plugin);
	uint32_t actions = registration->actions;

	BT_INVARIANT(hint_plugin < BT_HINT_PLUGINS);
	if (registration->hint) {
		struct bt_hint_row *row = row_of(hints, resource, hint_plugin, registration->hint, joined);

		actions = row->actions |= actions;
	}
	for (uint32_t action = 0; action < BT_CLUSTER_EVENT_ACTION_N; action++) {
		if (bt_cluster_event_action_matches(actions, action_at(action))) {
			hints->interested[resource][action] |= own;
			hints->always[resource][action] |= registration->hint ? 0 : own;
		}
	}
}

/* The registered kinds of pods, as bits by resource; 0: none. */
static uint32_t pod_kinds(
	const struct bt_hints *hints, uint32_t hint_plugin, const struct bt_registration *registration)
{
	const uint32_t kind = 1u << registration->resource, waiting = 1u << BT_CLUSTER_EVENT_UNSCHEDULED_POD,
		       target = 1u << BT_CLUSTER_EVENT_TARGET_POD,
		       all = 1u << BT_CLUSTER_EVENT_ASSIGNED_POD | waiting | target;

	if (registration->resource == BT_CLUSTER_EVENT_POD) {
		return all;
	}
	if (!(kind & all) || hints->hint_plugins[hint_plugin].kinds_are_exact) {
		return kind == waiting ? waiting | target : kind & all;
	}
	return bt_release_has(hints->release, BT_RULE_POD_EVENTS_BY_KIND) ? kind : all;
}

static void cycle_hints_add(
	struct bt_hints *hints, uint32_t hint_plugin, const struct bt_registration *registration)
{
	const uint32_t kinds = pod_kinds(hints, hint_plugin, registration);

	if (!kinds) {
		add_row(hints, registration->resource, hint_plugin, registration, false);
	}
	for (uint32_t rest = kinds; rest; rest &= rest - 1) {
		add_row(hints, (uint32_t)__builtin_ctz(rest), hint_plugin, registration, true);
	}
}

/* Source: defaultEnqueueExtension, v1.36.3. */
static void add_all(struct bt_hints *hints, uint32_t hint_plugin, bool pod_groups)
{
	static const enum bt_cluster_event_resource resources[] = {BT_CLUSTER_EVENT_POD,
		BT_CLUSTER_EVENT_NODE, BT_CLUSTER_EVENT_PERSISTENT_VOLUME,
		BT_CLUSTER_EVENT_PERSISTENT_VOLUME_CLAIM, BT_CLUSTER_EVENT_CSI_NODE,
		BT_CLUSTER_EVENT_CSI_DRIVER, BT_CLUSTER_EVENT_CSI_STORAGE_CAPACITY,
		BT_CLUSTER_EVENT_STORAGE_CLASS, BT_CLUSTER_EVENT_RESOURCE_CLAIM,
		BT_CLUSTER_EVENT_DEVICE_CLASS, BT_CLUSTER_EVENT_POD_GROUP, BT_CLUSTER_EVENT_WORKLOAD};

	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]) - (pod_groups ? 0 : 2); i++) {
		const struct bt_registration all = {
			.resource = resources[i], .actions = BT_ADD | BT_DELETE | BT_UPDATE};

		cycle_hints_add(hints, hint_plugin, &all);
	}
}

void bt_hints_of(struct bt_hints *hints, const struct bt_flow_profile *profile)
{
	static const struct bt_registration taint = {
		.resource = BT_CLUSTER_EVENT_NODE, .actions = BT_UPDATE_NODE_TAINT};

	bool taints = bt_release_has(profile->release, BT_RULE_TAINT_UPDATE_CONCERNS_WATCHERS_OF_NEW_NODES);

	*hints = (struct bt_hints){.release = profile->release};
	for (uint32_t i = 0; i < bt_plugin_n(); i++) {
		const struct bt_hint_plugin *hint_plugin = &profile->hint_plugins[i];
		uint32_t node_actions = 0;

		hints->hint_plugins[i] = *hint_plugin;
		if (hint_plugin->every_event) {
			add_all(hints, i, true);
		}
		for (uint32_t j = 0; j < hint_plugin->event_n; j++) {
			cycle_hints_add(hints, i, &hint_plugin->events[j]);
			node_actions |= hint_plugin->events[j].resource == BT_CLUSTER_EVENT_NODE
						? hint_plugin->events[j].actions
						: 0;
		}
		if (taints && (node_actions & BT_ADD) && !(node_actions & BT_UPDATE_NODE_TAINT)) {
			cycle_hints_add(hints, i, &taint);
		}
	}
}

void bt_hints_add_extenders(struct bt_hints *hints, bool pod_groups)
{
	add_all(hints, BT_EXTENDERS_NUMBER, pod_groups);
	hints->hint_plugins[BT_EXTENDERS_NUMBER].is_there = true;
}

int bt_hints_number(const struct bt_hints *hints, uint32_t id)
{
	BT_REQUIRE(id < BT_HINT_PLUGINS);
	return hints->hint_plugins[id].is_there ? (int)id : -1;
}

const char *bt_hints_name(uint32_t number)
{
	BT_REQUIRE(number < BT_HINT_PLUGINS);
	if (number == BT_EXTENDERS_NUMBER) {
		return "Extender";
	}
	return number < bt_plugin_n() ? bt_plugin_at(number)->name : "";
}

bt_plugin_set bt_hints_interested(const struct bt_hints *hints, const struct bt_cluster_event *event)
{
	if (event->resource == BT_CLUSTER_EVENT_WILDCARD) {
		return ALL;
	}
	bt_plugin_set interested =
		hints->interested[event->resource][bt_cluster_event_action_ix(event->action)];

	BT_INVARIANT((interested & ~ALL) == 0);
	return interested;
}

static bool run_timed(struct bt_cycle_metrics *metrics, const struct bt_hint_row *row,
	const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	int64_t begin_ns = bt_clock_monotonic_ns();
	bool queue = row->hint(env, event);
	const uint16_t labels[4] = {(uint16_t)row->hint_plugin,
		(uint16_t)bt_cluster_event_label(event->resource, event->action), queue};

	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_HINT, labels, bt_clock_monotonic_ns() - begin_ns);
	return queue;
}

int bt_hints_queue(const struct bt_hints *hints, const struct bt_view *view,
	const struct bt_hint_waiting *waiting, const struct bt_cluster_event *event,
	bt_plugin_set unschedulable_plugins, struct bt_cycle_metrics *metrics)
{
	if (event->resource == BT_CLUSTER_EVENT_WILDCARD) {
		return unschedulable_plugins ? (int)bt_plugin_set_first(unschedulable_plugins) : 0;
	}
	uint32_t action = bt_cluster_event_action_ix(event->action);
	bt_plugin_set plugins = unschedulable_plugins & hints->interested[event->resource][action];
	bt_plugin_set always = unschedulable_plugins & hints->always[event->resource][action];

	if (always) {
		return (int)bt_plugin_set_first(always);
	}
	for (uint32_t i = 0; plugins && i < hints->row_n[event->resource]; i++) {
		const struct bt_hint_row *row = &hints->rows[event->resource][i];
		BT_INVARIANT(row->hint && row->hint_plugin < BT_HINT_PLUGINS);

		if (!bt_plugin_set_has(plugins, row->hint_plugin) ||
			!bt_cluster_event_action_matches(row->actions, event->action)) {
			continue;
		}
		const struct bt_hint_env env = {hints->release, view,
			hints->hint_plugins[row->hint_plugin].settings, waiting->signature, waiting->own,
			waiting->same_tree};
		bool timed = metrics && bt_cycle_metrics_samples_hint(metrics);

		if (timed ? run_timed(metrics, row, &env, event) : row->hint(&env, event)) {
			return (int)row->hint_plugin;
		}
	}
	return BT_HINT_NONE;
}
