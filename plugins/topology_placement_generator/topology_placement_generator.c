/* SPDX-License-Identifier: Apache-2.0
 * TopologyPlacementGenerator: the nodes that have one value of a PodGroup's topology key are a placement.
 * Source: plugins/topologyaware, v1.37.2.
 */
#include "plugins/plugin.h"

static struct bt_str text_of(const struct bt_placement_generate_env *env, uint32_t name)
{
	return bt_view_str(env->view, name);
}

static void write_pod(
	const struct bt_placement_generate_env *env, const struct bt_group_pod *pod, struct bt_buf *out_why)
{
	bt_buf_printf(out_why, "%.*s/%.*s", BT_STR_ARG(text_of(env, pod->namespace_)),
		BT_STR_ARG(text_of(env, pod->name)));
}

/* Appends why the domain of a pod is unknown. */
static void write_nowhere(
	const struct bt_placement_generate_env *env, const struct bt_group_pod *pod, struct bt_buf *out_why)
{
	if (pod->node_ix != BT_NO_NODE) {
		bt_buf_text(out_why, "no topology domain found for pod ");
		write_pod(env, pod, out_why);
		return;
	}
	bt_buf_text(out_why, "getting node for pod ");
	write_pod(env, pod, out_why);
	bt_buf_printf(
		out_why, ": nodeinfo not found for node name \"%.*s\"", BT_STR_ARG(text_of(env, pod->node)));
}

/* Pods that are already on nodes determine the domain of the others. */
static bool placement_generate(
	const struct bt_placement_generate_env *env, struct bt_division *out_division, struct bt_buf *out_why)
{
	static const char cannot[] = "cannot determine domain for already scheduled pods: ";
	uint32_t only = BT_NAME_NONE;

	for (uint32_t i = 0; env->domains && i < env->pod_n; i++) {
		const struct bt_group_pod *pod = &env->pods[i];
		uint32_t domain = pod->node_ix == BT_NO_NODE ? BT_NAME_NONE : env->domains[pod->node_ix];

		if (domain == BT_NAME_NONE) {
			bt_buf_text(out_why, cannot);
			write_nowhere(env, pod, out_why);
			return false;
		}
		/* Upstream treats an empty value as none. */
		if (only != BT_NAME_NONE && only != BT_NAME_EMPTY && only != domain) {
			bt_buf_printf(out_why, "%smore than 1 domain found for pod group: %.*s, %.*s", cannot,
				BT_STR_ARG(text_of(env, only)), BT_STR_ARG(text_of(env, domain)));
			return false;
		}
		only = domain;
	}
	*out_division = (struct bt_division){.divides = env->domains != NULL, .only = only};
	return true;
}

/* Events that create a placement, or free a group from one. Upstream registers none: there timers requeue
 * groups back. */
static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_LABEL, NULL, 0},
	{BT_CLUSTER_EVENT_ASSIGNED_POD, BT_DELETE, NULL, 0},
};

const struct bt_plugin bt_plugin_topology_placement_generator = {
	.name = "TopologyPlacementGenerator",
	.points = BT_AT(PLACEMENT_GENERATE),
	.placement_generate = placement_generate,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
