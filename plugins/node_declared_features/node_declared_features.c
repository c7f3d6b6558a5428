/* SPDX-License-Identifier: Apache-2.0
 * NodeDeclaredFeatures. Source: plugins/nodedeclaredfeatures, v1.36.3.
 */
#include "plugins/node_declared_features/node_declared_features.h"

#include "cache/node_view.h"

/* The features that a release checks, and its reason when a node lacks them. */
struct node_declared_features_settings {
	uint32_t features;
	uint32_t reason;
};

struct node_declared_features_term {
	uint32_t features;
	uint32_t reason;
};

static void node_declared_features_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	struct node_declared_features_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	const struct node_declared_features_settings *looks = settings;

	term->features = looks->features & signature->features;
	term->reason = looks->reason;
	out_compiled->term = term;
	out_compiled->filter_skip = term->features == 0;
}

static void node_declared_features_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct node_declared_features_term *term = opaque;

	for (uint32_t i = 0; i < n; i++) {
		pass[i] = (term->features & ~view->snapshot->nodes[first + i].features) == 0;
	}
}

static void node_declared_features_reject(
	const void *opaque, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	const struct node_declared_features_term *term = opaque;

	(void)view;
	(void)node_ix;
	bt_reject_with(out_rejection, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, term->reason);
}

static void key(const void *opaque, struct bt_buf *out_key)
{
	const struct node_declared_features_term *term = opaque;

	bt_buf_add(out_key, &term->features, sizeof(term->features));
}

/* The only feature that 1.35 checks. */
static const char *const reasons[] = {"node(s) didn't match Pod's required features",
	"node declared features check failed - unsatisfied requirements: "
	"RestartAllContainersOnContainerExits"};

/* ---- queueing hints ---- */

static bool after_node_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)env;
	return !event->node.old || event->node.old->declared != event->node.new->declared;
}

/* Only features that the release checks count; other changes are ignored. */
static bool after_pod_update(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct node_declared_features_settings *looks = env->settings;
	uint32_t changed = event->pod.old.signature->features ^ event->pod.new.signature->features;

	return env->own && (changed & looks->features);
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_DECLARED_FEATURE, after_node_change,
		BT_NEEDS(NODE_DECLARED_FEATURES)},
	{BT_CLUSTER_EVENT_TARGET_POD, BT_UPDATE, after_pod_update, BT_NEEDS(NODE_DECLARED_FEATURES)},
};

static const void *settings_of(const struct bt_settings_env *env, const void *args)
{
	static const struct node_declared_features_settings none,
		of_135 = {BT_FEATURE_RESTART_ALL_CONTAINERS, 1},
		of_136 = {BT_FEATURE_RESTART_ALL_CONTAINERS | BT_FEATURE_USER_NAMESPACES_HOST_NETWORK, 0},
		of_137 = {BT_FEATURE_RESTART_ALL_CONTAINERS | BT_FEATURE_USER_NAMESPACES_HOST_NETWORK |
				  BT_FEATURE_VOLUME_BIND_MOUNT_OPTIONS,
			0};

	(void)args;
	if (!*(const bool *)bt_gate_setting(env, BT_GATE_NODE_DECLARED_FEATURES)) {
		return &none;
	}
	if (bt_settings_rule(env, BT_RULE_MISSING_FEATURES_ARE_NAMED)) {
		return &of_135;
	}
	return bt_settings_rule(env, BT_RULE_MOUNT_OPTIONS_ARE_A_FEATURE) ? &of_137 : &of_136;
}

const struct bt_plugin bt_plugin_node_declared_features = {
	.name = "NodeDeclaredFeatures",
	.ignores_resizes = true,
	.points = BT_AT(PRE_FILTER) | BT_AT(FILTER),
	.settings = settings_of,
	.filter_depends = BT_DEPENDS_ON_DESCRIPTION,
	.no_pre_filter_error = "error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found",
	.compile = node_declared_features_compile,
	.filter = node_declared_features_filter,
	.reject = node_declared_features_reject,
	.key = key,
	.reasons = reasons,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
