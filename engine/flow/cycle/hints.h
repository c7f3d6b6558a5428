/* SPDX-License-Identifier: Apache-2.0
 * Which events may make a pod fit that a profile's plugins have refused: the registrations of the plugins and
 * their queueing hints. Source: buildQueueingHintMap and isPodWorthRequeuing, v1.36.3.
 *
 * A hint plugin is a plugin of a profile that upstream asks for its events. Its number is the same in all
 * profiles, because a pod may be given another one while it waits: its id (plugins/registry.h), and that of
 * extenders behind them. Sets of hint plugins are by that number. Context of all functions but the
 * constructor: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/metrics.h"
#include "engine/flow/config/profile.h"
#include "engine/model/plugin_set.h"

#define BT_HINT_ROWS 32 /* of one resource */

/* The number of extenders. */
#define BT_EXTENDERS_NUMBER BT_PLUGIN_MAX

/* What a hint plugin with a hint has registered of a resource. */
struct bt_hint_row {
	uint32_t actions;
	uint32_t hint_plugin;
	bt_plugin_hint_fn *hint;
};

/* init: const after start. Private but for hint plugins. */
struct bt_hints {
	const struct bt_release *release;
	struct bt_hint_plugin hint_plugins[BT_HINT_PLUGINS];
	struct bt_hint_row rows[BT_CLUSTER_EVENT_WILDCARD][BT_HINT_ROWS]; /* by resource */
	uint32_t row_n[BT_CLUSTER_EVENT_WILDCARD];
	/* By resource and action: who has registered the event, and who has without a hint. */
	bt_plugin_set interested[BT_CLUSTER_EVENT_WILDCARD][BT_CLUSTER_EVENT_ACTION_N];
	bt_plugin_set always[BT_CLUSTER_EVENT_WILDCARD][BT_CLUSTER_EVENT_ACTION_N];
};

/* The hints of a profile, which must outlive them. Context: any thread. */
void bt_hints_of(struct bt_hints *hints, const struct bt_flow_profile *profile);

/* Extenders, too, refuse pods: they are one more hint plugin, by the name of "Extender", which anything may
 * concern; pod_groups: PodGroups too (gate GenericWorkload). Context: as bt_hints_of.
 * Source: defaultEnqueueExtension, v1.36.3. */
void bt_hints_add_extenders(struct bt_hints *hints, bool pod_groups);

/* The plugin's number (or that of extenders) if it is a hint plugin of the profile; else -1. */
int bt_hints_number(const struct bt_hints *hints, uint32_t id);

/* The name of a hint plugin; "" of a number that none has. Requires: number < BT_HINT_PLUGINS. Context: any
 * thread. */
const char *bt_hints_name(uint32_t number);

/* The hint plugins that have registered the event; of BT_CLUSTER_EVENT_WILDCARD all have. */
bt_plugin_set bt_hints_interested(const struct bt_hints *hints, const struct bt_cluster_event *event);

/* The pod that an event may make fit. own: the event's object is the pod itself; same_tree: it is in the tree
 * of the pod's PodGroup, or a pod of that. */
struct bt_hint_waiting {
	const struct bt_signature *signature;
	bool own, same_tree;
};

/*
 * Who says that the event may make a waiting pod fit, of the hint plugins that have rejected it? metrics:
 * where the times of hints are noted, or NULL. Returns: the first one's number; BT_HINT_NONE. Of
 * BT_CLUSTER_EVENT_WILDCARD anybody says so.
 */
#define BT_HINT_NONE (-1)
int bt_hints_queue(const struct bt_hints *hints, const struct bt_view *view,
	const struct bt_hint_waiting *waiting, const struct bt_cluster_event *event,
	bt_plugin_set unschedulable_plugins, struct bt_cycle_metrics *metrics);
