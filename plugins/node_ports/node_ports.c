/* SPDX-License-Identifier: Apache-2.0
 * NodePorts. Source: plugins/nodeports, v1.36.3.
 */
#include "plugins/node_ports/node_ports.h"
#include "engine/base/check.h"

#include "cache/node_view.h"

struct node_ports_term {
	const struct bt_host_port *ports;
	uint32_t n;
};

static void node_ports_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	struct node_ports_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	BT_INVARIANT(signature->port_n == 0 || signature->ports);
	(void)settings;
	*term = (struct node_ports_term){signature->ports, signature->port_n};
	out_compiled->term = term;
	out_compiled->filter_skip = signature->port_n == 0;
}

static bool clashes(const struct node_ports_term *term, const struct bt_host_port *taken)
{
	for (uint32_t i = 0; i < term->n; i++) {
		if (bt_ports_conflict(taken, &term->ports[i])) {
			return true;
		}
	}
	return false;
}

static bool free_on(const struct node_ports_term *term, const struct bt_port_list *taken)
{
	for (uint32_t i = 0; i < taken->n; i++) {
		if (clashes(term, &taken->items[i])) {
			return false;
		}
	}
	return true;
}

static void node_ports_filter(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = free_on(term, &view->usage->ports[first + i]);
	}
}

static void key(const void *opaque, struct bt_buf *out_key)
{
	const struct node_ports_term *term = opaque;

	bt_buf_add(out_key, term->ports, term->n * sizeof(*term->ports));
}

static const char *const reasons[] = {"node(s) didn't have free ports for the requested pod ports"};

/* ---- queueing hints ---- */

static bool after_pod_deleted(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_cluster_event_pod *gone = &event->pod.old;
	const struct node_ports_term term = {env->signature->ports, env->signature->port_n};

	if (!bt_cluster_event_pod_placed(gone)) {
		return false;
	}
	for (uint32_t i = 0; i < gone->signature->port_n; i++) {
		if (clashes(&term, &gone->signature->ports[i])) {
			return true;
		}
	}
	return false;
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_ASSIGNED_POD, BT_DELETE, after_pod_deleted, 0},
	{BT_CLUSTER_EVENT_NODE, BT_ADD, NULL, 0},
};

/* Ports are not resources. */
static uint64_t reads(const void *term)
{
	(void)term;
	return 0;
}

const struct bt_plugin bt_plugin_node_ports = {
	.name = "NodePorts",
	.ignores_resizes = true,
	.points = BT_AT(PRE_FILTER) | BT_AT(FILTER),
	.filter_depends = BT_DEPENDS_ON_USAGE,
	.no_pre_filter_error = "reading \"PreFilterNodePorts\" from cycleState: not found",
	.compile = node_ports_compile,
	.filter = node_ports_filter,
	.refusal = BT_UNSCHEDULABLE,
	.key = key,
	.reads = reads,
	.reasons = reasons,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
