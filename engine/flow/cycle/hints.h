/* SPDX-License-Identifier: Apache-2.0
 * Which events may make a pod fit that a profile's plugins have refused: the plugins' event registrations and
 * queueing hints. Source: buildQueueingHintMap and isPodWorthRequeuing, v1.36.3.
 *
 * A hint plugin is a plugin of a profile whose events upstream queries. Its number is the same in all
 * profiles, because a waiting pod may get another profile: its id (plugins/registry.h), and after the ids
 * that of extenders. Sets of hint plugins are by that number. Context of all functions except the
 * constructor: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/metrics.h"
#include "engine/flow/config/profile.h"
#include "engine/model/plugin_set.h"

#define BT_HINT_ROWS 32 /* per resource */

/* The number of extenders. */
#define BT_EXTENDERS_NUMBER BT_PLUGIN_MAX

/* A hint plugin's registration of a resource with a hint. */
struct bt_hint_row {
	uint32_t actions;
	uint32_t hint_plugin;
	bt_plugin_hint_fn *hint;
};

/* init: const after start. Private to hint plugins. */
struct bt_hints {
	const struct bt_release *release;
	struct bt_hint_plugin hint_plugins[BT_HINT_PLUGINS];
	struct bt_hint_row rows[BT_CLUSTER_EVENT_WILDCARD][BT_HINT_ROWS]; /* by resource */
	uint32_t row_n[BT_CLUSTER_EVENT_WILDCARD];
	/* By resource and action: plugins that registered the event, and those without a hint. */
	bt_plugin_set interested[BT_CLUSTER_EVENT_WILDCARD][BT_CLUSTER_EVENT_ACTION_N];
	bt_plugin_set always[BT_CLUSTER_EVENT_WILDCARD][BT_CLUSTER_EVENT_ACTION_N];
};

/* The hints of a profile, which must outlive them. Context: any thread. */
void bt_hints_of(struct bt_hints *hints, const struct bt_flow_profile *profile);

/*
 * Adds extenders as one more hint plugin, named "Extender", which registers every event; pod_groups: PodGroup
 * events, too (gate GenericWorkload). Context: as bt_hints_of.
 * Source: defaultEnqueueExtension, v1.36.3.
 */
void bt_hints_add_extenders(struct bt_hints *hints, bool pod_groups);

/* The number of the plugin (or of extenders) if it is a hint plugin of the profile; otherwise -1. */
int bt_hints_number(const struct bt_hints *hints, uint32_t id);

/* The name of a hint plugin; "" for an unused number. Requires: number < BT_HINT_PLUGINS. Context: any
 * thread. */
const char *bt_hints_name(uint32_t number);

/* The hint plugins that registered the event; all for BT_CLUSTER_EVENT_WILDCARD. */
bt_plugin_set bt_hints_interested(const struct bt_hints *hints, const struct bt_cluster_event *event);

/* The pod that an event may make fit. own: the event's object is the pod; same_tree: the object is in the
 * tree of the pod's PodGroup, or a pod of it. */
struct bt_hint_waiting {
	const struct bt_signature *signature;
	bool own, same_tree;
};

/*
 * Runs the queueing hints of the plugins that have rejected a waiting pod. metrics: where durations of hints
 * are recorded, or NULL. Returns: the number of the first one that returns Queue; BT_HINT_NONE.
 * BT_CLUSTER_EVENT_WILDCARD always queues.
 */
#define BT_HINT_NONE (-1)
int bt_hints_queue(const struct bt_hints *hints, const struct bt_view *view,
	const struct bt_hint_waiting *waiting, const struct bt_cluster_event *event,
	bt_plugin_set unschedulable_plugins, struct bt_cycle_metrics *metrics);
