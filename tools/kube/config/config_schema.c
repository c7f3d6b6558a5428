/* SPDX-License-Identifier: Apache-2.0
 * Tables of the configuration's fields. Source: kube-scheduler's config/v1 types, component-base's
 * configuration types and the core types that arguments contain, v1.36.3.
 */
#include "tools/kube/config/config_schema.h"

#include "engine/base/check.h"
#include "engine/flow/config/config.h"

/* ---- core types ---- */

/* ---- arguments of plugins ---- */

/* ---- profiles ---- */

static const struct bt_field plugin_members[] = {
	BT_ARG_PLAIN("name", STR, struct bt_config_plugin, name),
	BT_ARG_ALWAYS("weight", I32, struct bt_config_plugin, weight),
};
static const struct bt_schema plugin = BT_ARG_STRUCT("v1", "Plugin", plugin_members, struct bt_config_plugin);

static const struct bt_field plugin_set_members[] = {
	BT_ARG_LIST("enabled", struct bt_config_plugin_set, enabled.items, enabled.n, plugin),
	BT_ARG_LIST("disabled", struct bt_config_plugin_set, disabled.items, disabled.n, plugin),
};
static const struct bt_schema plugin_set =
	BT_ARG_STRUCT("v1", "PluginSet", plugin_set_members, struct bt_config_plugin_set);

/* Go writes a struct whether anything is in it or not. */
#define SET(json, member)                                                                                    \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_OBJECT, .always = 1,                                  \
		.offset = offsetof(struct bt_config_plugins, member), .schema = &plugin_set                  \
	}
#define POINT(json, point) SET(json, points[BT_POINT_##point])
static const struct bt_field plugins_members[] = {
	POINT("preEnqueue", PRE_ENQUEUE),
	POINT("queueSort", QUEUE_SORT),
	POINT("preFilter", PRE_FILTER),
	POINT("filter", FILTER),
	POINT("postFilter", POST_FILTER),
	POINT("preScore", PRE_SCORE),
	POINT("score", SCORE),
	POINT("reserve", RESERVE),
	POINT("permit", PERMIT),
	POINT("preBind", PRE_BIND),
	POINT("bind", BIND),
	POINT("postBind", POST_BIND),
	SET("multiPoint", multi_point),
	POINT("placementGenerate", PLACEMENT_GENERATE),
	POINT("placementScore", PLACEMENT_SCORE),
	POINT("podGroupPostFilter", POD_GROUP_POST_FILTER),
};
static const struct bt_field plugin_config_members[] = {
	BT_ARG_PLAIN("name", STR, struct bt_config_args, name),
	BT_ARG_PLAIN("args", RAW, struct bt_config_args, raw),
};
static const struct bt_schema plugin_config =
	BT_ARG_STRUCT("v1", "PluginConfig", plugin_config_members, struct bt_config_args);

/* ---- the whole ---- */

static const struct bt_field leader_election_members[] = {
	BT_ARG_MAYBE("leaderElect", BOOL, struct bt_leader_election_config, leader_elect),
	BT_ARG_ALWAYS("leaseDuration", DURATION, struct bt_leader_election_config, lease_duration_ns),
	BT_ARG_ALWAYS("renewDeadline", DURATION, struct bt_leader_election_config, renew_deadline_ns),
	BT_ARG_ALWAYS("retryPeriod", DURATION, struct bt_leader_election_config, retry_period_ns),
	BT_ARG_ALWAYS("resourceLock", STR, struct bt_leader_election_config, resource_lock),
	BT_ARG_ALWAYS("resourceName", STR, struct bt_leader_election_config, resource_name),
	BT_ARG_ALWAYS("resourceNamespace", STR, struct bt_leader_election_config, resource_namespace),
};
static const struct bt_schema leader_election = BT_ARG_STRUCT(
	"v1alpha1", "LeaderElectionConfiguration", leader_election_members, struct bt_leader_election_config);

static const struct bt_field client_connection_members[] = {
	BT_ARG_ALWAYS("kubeconfig", STR, struct bt_client_connection_config, kubeconfig),
	BT_ARG_ALWAYS("acceptContentTypes", STR, struct bt_client_connection_config, accept_content_types),
	BT_ARG_ALWAYS("contentType", STR, struct bt_client_connection_config, content_type),
	BT_ARG_ALWAYS("qps", F32, struct bt_client_connection_config, qps),
	BT_ARG_ALWAYS("burst", I32, struct bt_client_connection_config, burst),
};
static const struct bt_schema client_connection = BT_ARG_STRUCT("v1alpha1", "ClientConnectionConfiguration",
	client_connection_members, struct bt_client_connection_config);

static const struct bt_field extender_tls_members[] = {
	BT_ARG_PLAIN("insecure", BOOL, struct bt_extender_tls, insecure),
	BT_ARG_PLAIN("serverName", STR, struct bt_extender_tls, server_name),
	BT_ARG_PLAIN("certFile", STR, struct bt_extender_tls, cert_file),
	BT_ARG_PLAIN("keyFile", STR, struct bt_extender_tls, key_file),
	BT_ARG_PLAIN("caFile", STR, struct bt_extender_tls, ca_file),
	BT_ARG_PLAIN("certData", BYTES, struct bt_extender_tls, cert_data),
	BT_ARG_PLAIN("keyData", BYTES, struct bt_extender_tls, key_data),
	BT_ARG_PLAIN("caData", BYTES, struct bt_extender_tls, ca_data),
};
static const struct bt_schema extender_tls =
	BT_ARG_STRUCT("v1", "ExtenderTLSConfig", extender_tls_members, struct bt_extender_tls);

static const struct bt_field extender_resource_members[] = {
	BT_ARG_PLAIN("name", STR, struct bt_extender_resource, name),
	BT_ARG_PLAIN("ignoredByScheduler", BOOL, struct bt_extender_resource, ignored_by_scheduler),
};
static const struct bt_schema extender_resource = BT_ARG_STRUCT(
	"v1", "ExtenderManagedResource", extender_resource_members, struct bt_extender_resource);

static const struct bt_field extender_members[] = {
	BT_ARG_PLAIN("urlPrefix", STR, struct bt_extender_config, url_prefix),
	BT_ARG_PLAIN("filterVerb", STR, struct bt_extender_config, filter_verb),
	BT_ARG_PLAIN("preemptVerb", STR, struct bt_extender_config, preempt_verb),
	BT_ARG_PLAIN("prioritizeVerb", STR, struct bt_extender_config, prioritize_verb),
	BT_ARG_PLAIN("weight", I64, struct bt_extender_config, weight),
	BT_ARG_PLAIN("bindVerb", STR, struct bt_extender_config, bind_verb),
	BT_ARG_PLAIN("enableHTTPS", BOOL, struct bt_extender_config, enable_https),
	BT_ARG_POINTER("tlsConfig", struct bt_extender_config, tls, tls.set, extender_tls),
	BT_ARG_PLAIN("httpTimeout", DURATION, struct bt_extender_config, http_timeout_ns),
	BT_ARG_PLAIN("nodeCacheCapable", BOOL, struct bt_extender_config, node_cache_capable),
	BT_ARG_LIST("managedResources", struct bt_extender_config, resources, resource_n, extender_resource),
	BT_ARG_PLAIN("ignorable", BOOL, struct bt_extender_config, ignorable),
};
static const struct bt_schema extender =
	BT_ARG_STRUCT("v1", "Extender", extender_members, struct bt_extender_config);

#define DEBUGGING(json, member)                                                                              \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_BOOL,                                                 \
		.offset = offsetof(struct bt_config, member.value),                                          \
		.flag = BT_MEMBER(struct bt_config, member.set), .go_inline = "DebuggingConfiguration"       \
	}
/* The whole, with the first n members of Plugins: later releases have added some at the end. */
#define CONFIG(id, n)                                                                                        \
	static const struct bt_schema plugins_##id = {.fields = plugins_members,                             \
		.field_n = n,                                                                                \
		.bytes = sizeof(struct bt_config_plugins),                                                   \
		.go_package = "v1",                                                                          \
		.go_name = "Plugins"};                                                                       \
	static const struct bt_field profile_members_##id[] = {                                              \
		{.name = BT_STR("schedulerName"),                                                            \
			.type = BT_FIELD_STR,                                                                \
			.offset = offsetof(struct bt_profile_config, scheduler_name),                        \
			.flag = BT_MEMBER(struct bt_profile_config, scheduler_name_set)},                    \
		BT_ARG_MAYBE("percentageOfNodesToScore", I32, struct bt_profile_config,                      \
			percentage_of_nodes_to_score),                                                       \
		BT_ARG_OBJECT("plugins", struct bt_profile_config, plugins, plugins_##id),                   \
		BT_ARG_LIST("pluginConfig", struct bt_profile_config, args, arg_n, plugin_config),           \
	};                                                                                                   \
	static const struct bt_schema profile_##id =                                                         \
		BT_ARG_STRUCT("v1", "KubeSchedulerProfile", profile_members_##id, struct bt_profile_config); \
	static const struct bt_field config_members_##id[] = {                                               \
		BT_ARG_META,                                                                                 \
		BT_ARG_MAYBE("parallelism", I32, struct bt_config, parallelism),                             \
		BT_ARG_OBJECT("leaderElection", struct bt_config, leader_election, leader_election),         \
		BT_ARG_OBJECT("clientConnection", struct bt_config, client_connection, client_connection),   \
		DEBUGGING("enableProfiling", enable_profiling),                                              \
		DEBUGGING("enableContentionProfiling", enable_contention_profiling),                         \
		BT_ARG_MAYBE(                                                                                \
			"percentageOfNodesToScore", I32, struct bt_config, percentage_of_nodes_to_score),    \
		BT_ARG_MAYBE("podInitialBackoffSeconds", I64, struct bt_config, pod_initial_backoff_s),      \
		BT_ARG_MAYBE("podMaxBackoffSeconds", I64, struct bt_config, pod_max_backoff_s),              \
		BT_ARG_LIST("profiles", struct bt_config, profiles, profile_n, profile_##id),                \
		BT_ARG_LIST("extenders", struct bt_config, extenders, extender_n, extender),                 \
		BT_ARG_PLAIN("delayCacheUntilActive", BOOL, struct bt_config, delay_cache_until_active),     \
	};                                                                                                   \
	static const struct bt_schema config_##id =                                                          \
		BT_ARG_STRUCT("v1", "KubeSchedulerConfiguration", config_members_##id, struct bt_config);

#define MEMBER_N (sizeof(plugins_members) / sizeof(plugins_members[0]))
CONFIG(plain, MEMBER_N - 3)
CONFIG(with_placements, MEMBER_N - 1)
CONFIG(with_groups, MEMBER_N)

const struct bt_schema *bt_config_schema(const struct bt_release *release)
{
	if (bt_point_exists(BT_POINT_POD_GROUP_POST_FILTER, release)) {
		return &config_with_groups;
	}
	return bt_point_exists(BT_POINT_PLACEMENT_SCORE, release) ? &config_with_placements : &config_plain;
}
