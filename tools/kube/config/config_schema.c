/* SPDX-License-Identifier: Apache-2.0
 * Tables of the configuration's fields. Source: kube-scheduler's config/v1 types, component-base's
 * configuration types and the core types that arguments contain, v1.36.3.
 */
#include "tools/kube/config/config_schema.h"

#include "engine/base/check.h"
#include "engine/flow/config/config.h"

#define FLAG(owner, member) (1 + offsetof(owner, member))
#define PLAIN(json, kind, owner, member)                                                                     \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_##kind, .offset = offsetof(owner, member)                    \
	}
#define NAMED(json, owner, member, go)                                                                       \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_STRING, .offset = offsetof(owner, member), .go_type = go     \
	}
/* A value that may be absent: a struct with value and set, or with ns and set. */
#define MAYBE(json, kind, owner, member)                                                                     \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_##kind, .offset = offsetof(owner, member.value),             \
		.flag = FLAG(owner, member.set)                                                              \
	}
#define MAYBE_DURATION(json, owner, member)                                                                  \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_DURATION, .offset = offsetof(owner, member.ns),              \
		.flag = FLAG(owner, member.set)                                                              \
	}
#define OBJECT(json, owner, member, schema)                                                                  \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_OBJECT, .offset = offsetof(owner, member), .of = &(schema)   \
	}
#define POINTER(json, owner, member, set_member, schema)                                                     \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_OBJECT, .offset = offsetof(owner, member), .of = &(schema),  \
		.flag = FLAG(owner, set_member)                                                              \
	}
#define LIST(json, owner, member, n_member, schema)                                                          \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_LIST, .offset = offsetof(owner, member),                     \
		.count = offsetof(owner, n_member), .of = &(schema)                                          \
	}
#define LIST_SET(json, owner, member, n_member, set_member, schema)                                          \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_LIST, .offset = offsetof(owner, member),                     \
		.count = offsetof(owner, n_member), .of = &(schema), .flag = FLAG(owner, set_member)         \
	}
#define META                                                                                                 \
	{.name = "apiVersion", .type = BT_STRICT_META},                                                      \
	{                                                                                                    \
		.name = "kind", .type = BT_STRICT_META                                                       \
	}
#define STRUCT(package, name, table, type)                                                                   \
	{                                                                                                    \
		package, name, table, sizeof(table) / sizeof((table)[0]), sizeof(type)                       \
	}

/* ---- core types ---- */

static const struct bt_strict_member node_requirement_members[] = {
	PLAIN("key", STRING, struct bt_requirement_object, key),
	NAMED("operator", struct bt_requirement_object, operator_, "v1.NodeSelectorOperator"),
	PLAIN("values", STRINGS, struct bt_requirement_object, values),
};
static const struct bt_strict_struct node_requirement =
	STRUCT("v1", "NodeSelectorRequirement", node_requirement_members, struct bt_requirement_object);

static const struct bt_strict_member label_requirement_members[] = {
	PLAIN("key", STRING, struct bt_requirement_object, key),
	NAMED("operator", struct bt_requirement_object, operator_, "v1.LabelSelectorOperator"),
	PLAIN("values", STRINGS, struct bt_requirement_object, values),
};
static const struct bt_strict_struct label_requirement =
	STRUCT("v1", "LabelSelectorRequirement", label_requirement_members, struct bt_requirement_object);

static const struct bt_strict_member label_selector_members[] = {
	PLAIN("matchLabels", MAP, struct bt_label_selector_object, match_labels),
	LIST("matchExpressions", struct bt_label_selector_object, match_expressions.items,
		match_expressions.n, label_requirement),
};
static const struct bt_strict_struct label_selector =
	STRUCT("v1", "LabelSelector", label_selector_members, struct bt_label_selector_object);

static const struct bt_strict_member node_term_members[] = {
	LIST("matchExpressions", struct bt_node_term_object, match_expressions.items, match_expressions.n,
		node_requirement),
	LIST("matchFields", struct bt_node_term_object, match_fields.items, match_fields.n, node_requirement),
};
static const struct bt_strict_struct node_term =
	STRUCT("v1", "NodeSelectorTerm", node_term_members, struct bt_node_term_object);

static const struct bt_strict_member node_selector_members[] = {
	LIST("nodeSelectorTerms", struct bt_node_selector_object, terms, term_n, node_term),
};
static const struct bt_strict_struct node_selector =
	STRUCT("v1", "NodeSelector", node_selector_members, struct bt_node_selector_object);

static const struct bt_strict_member preferred_term_members[] = {
	PLAIN("weight", INT32, struct bt_preferred_node_term_object, weight),
	OBJECT("preference", struct bt_preferred_node_term_object, preference, node_term),
};
static const struct bt_strict_struct preferred_term =
	STRUCT("v1", "PreferredSchedulingTerm", preferred_term_members, struct bt_preferred_node_term_object);

static const struct bt_strict_member node_affinity_members[] = {
	POINTER("requiredDuringSchedulingIgnoredDuringExecution", struct bt_node_affinity_object, required,
		required.set, node_selector),
	LIST_SET("preferredDuringSchedulingIgnoredDuringExecution", struct bt_node_affinity_object, preferred,
		preferred_n, preferred_set, preferred_term),
};
static const struct bt_strict_struct node_affinity =
	STRUCT("v1", "NodeAffinity", node_affinity_members, struct bt_node_affinity_object);

static const struct bt_strict_member constraint_members[] = {
	PLAIN("maxSkew", INT32, struct bt_spread_constraint_object, max_skew),
	PLAIN("topologyKey", STRING, struct bt_spread_constraint_object, topology_key),
	NAMED("whenUnsatisfiable", struct bt_spread_constraint_object, when_unsatisfiable,
		"v1.UnsatisfiableConstraintAction"),
	POINTER("labelSelector", struct bt_spread_constraint_object, label_selector, label_selector.set,
		label_selector),
	{.name = "minDomains",
		.type = BT_STRICT_INT32,
		.offset = offsetof(struct bt_spread_constraint_object, min_domains),
		.flag = FLAG(struct bt_spread_constraint_object, has_min_domains)},
	NAMED("nodeAffinityPolicy", struct bt_spread_constraint_object, node_affinity_policy,
		"v1.NodeInclusionPolicy"),
	NAMED("nodeTaintsPolicy", struct bt_spread_constraint_object, node_taints_policy,
		"v1.NodeInclusionPolicy"),
	PLAIN("matchLabelKeys", STRINGS, struct bt_spread_constraint_object, match_label_keys),
};
static const struct bt_strict_struct constraint =
	STRUCT("v1", "TopologySpreadConstraint", constraint_members, struct bt_spread_constraint_object);

/* ---- arguments of plugins ---- */

static const struct bt_strict_member resource_members[] = {
	PLAIN("name", STRING, struct bt_config_resource, name),
	PLAIN("weight", INT64, struct bt_config_resource, weight),
};
static const struct bt_strict_struct resource =
	STRUCT("v1", "ResourceSpec", resource_members, struct bt_config_resource);

static const struct bt_strict_member shape_point_members[] = {
	PLAIN("utilization", INT32, struct bt_config_shape_point, utilization),
	PLAIN("score", INT32, struct bt_config_shape_point, score),
};
static const struct bt_strict_struct shape_point =
	STRUCT("v1", "UtilizationShapePoint", shape_point_members, struct bt_config_shape_point);

static const struct bt_strict_member ratio_members[] = {
	LIST_SET("shape", struct bt_config_shape, items, n, set, shape_point),
};
static const struct bt_strict_struct ratio =
	STRUCT("v1", "RequestedToCapacityRatioParam", ratio_members, struct bt_config_shape);

static const struct bt_strict_member strategy_members[] = {
	NAMED("type", struct bt_scoring_strategy, type, "v1.ScoringStrategyType"),
	LIST("resources", struct bt_scoring_strategy, resources.items, resources.n, resource),
	POINTER("requestedToCapacityRatio", struct bt_scoring_strategy, ratio_shape, ratio_set, ratio),
};
static const struct bt_strict_struct strategy =
	STRUCT("v1", "ScoringStrategy", strategy_members, struct bt_scoring_strategy);

static const struct bt_strict_member preemption_members[] = {
	META,
	MAYBE("minCandidateNodesPercentage", INT32, struct bt_default_preemption_args,
		min_candidate_nodes_percentage),
	MAYBE("minCandidateNodesAbsolute", INT32, struct bt_default_preemption_args,
		min_candidate_nodes_absolute),
};

static const struct bt_strict_member inter_pod_affinity_members[] = {
	META,
	MAYBE("hardPodAffinityWeight", INT32, struct bt_inter_pod_affinity_args, hard_pod_affinity_weight),
	PLAIN("ignorePreferredTermsOfExistingPods", BOOL, struct bt_inter_pod_affinity_args,
		ignore_preferred_terms_of_existing_pods),
};

static const struct bt_strict_member node_affinity_args_members[] = {
	META,
	POINTER("addedAffinity", struct bt_node_affinity_args, added_affinity, added_affinity.set,
		node_affinity),
};

static const struct bt_strict_member fit_members[] = {
	META,
	PLAIN("ignoredResources", STRINGS, struct bt_node_resources_fit_args, ignored_resources),
	PLAIN("ignoredResourceGroups", STRINGS, struct bt_node_resources_fit_args, ignored_resource_groups),
	POINTER("scoringStrategy", struct bt_node_resources_fit_args, strategy, strategy.set, strategy),
};

static const struct bt_strict_member balanced_members[] = {
	META,
	LIST("resources", struct bt_balanced_allocation_args, resources.items, resources.n, resource),
};

static const struct bt_strict_member spread_members[] = {
	META,
	LIST("defaultConstraints", struct bt_pod_topology_spread_args, constraints, constraint_n, constraint),
	NAMED("defaultingType", struct bt_pod_topology_spread_args, defaulting_type,
		"v1.PodTopologySpreadConstraintsDefaulting"),
};

static const struct bt_strict_member volume_binding_members[] = {
	META,
	MAYBE("bindTimeoutSeconds", INT64, struct bt_volume_binding_args, bind_timeout_s),
	LIST_SET("shape", struct bt_volume_binding_args, shape.items, shape.n, shape.set, shape_point),
};

static const struct bt_strict_member dynamic_resources_members[] = {
	META,
	MAYBE_DURATION("filterTimeout", struct bt_dynamic_resources_args, filter_timeout),
	MAYBE_DURATION("bindingTimeout", struct bt_dynamic_resources_args, binding_timeout),
};

static const struct bt_strict_struct args_schemas[BT_ARGS_N] = {
	[BT_ARGS_DEFAULT_PREEMPTION] =
		STRUCT("v1", "DefaultPreemptionArgs", preemption_members, struct bt_default_preemption_args),
	[BT_ARGS_INTER_POD_AFFINITY] = STRUCT(
		"v1", "InterPodAffinityArgs", inter_pod_affinity_members, struct bt_inter_pod_affinity_args),
	[BT_ARGS_NODE_AFFINITY] =
		STRUCT("v1", "NodeAffinityArgs", node_affinity_args_members, struct bt_node_affinity_args),
	[BT_ARGS_NODE_RESOURCES_FIT] =
		STRUCT("v1", "NodeResourcesFitArgs", fit_members, struct bt_node_resources_fit_args),
	[BT_ARGS_NODE_RESOURCES_BALANCED_ALLOCATION] = STRUCT("v1", "NodeResourcesBalancedAllocationArgs",
		balanced_members, struct bt_balanced_allocation_args),
	[BT_ARGS_POD_TOPOLOGY_SPREAD] =
		STRUCT("v1", "PodTopologySpreadArgs", spread_members, struct bt_pod_topology_spread_args),
	[BT_ARGS_VOLUME_BINDING] =
		STRUCT("v1", "VolumeBindingArgs", volume_binding_members, struct bt_volume_binding_args),
	[BT_ARGS_DYNAMIC_RESOURCES] = STRUCT(
		"v1", "DynamicResourcesArgs", dynamic_resources_members, struct bt_dynamic_resources_args),
};

const struct bt_strict_struct *bt_config_args_schema(enum bt_args_kind kind)
{
	BT_REQUIRE(kind > BT_ARGS_NONE && kind < BT_ARGS_N);
	return &args_schemas[kind];
}

/* ---- profiles ---- */

static const struct bt_strict_member plugin_members[] = {
	PLAIN("name", STRING, struct bt_config_plugin, name),
	PLAIN("weight", INT32, struct bt_config_plugin, weight),
};
static const struct bt_strict_struct plugin = STRUCT("v1", "Plugin", plugin_members, struct bt_config_plugin);

static const struct bt_strict_member plugin_set_members[] = {
	LIST("enabled", struct bt_config_plugin_set, enabled.items, enabled.n, plugin),
	LIST("disabled", struct bt_config_plugin_set, disabled.items, disabled.n, plugin),
};
static const struct bt_strict_struct plugin_set =
	STRUCT("v1", "PluginSet", plugin_set_members, struct bt_config_plugin_set);

#define POINT(json, point) OBJECT(json, struct bt_config_plugins, points[BT_POINT_##point], plugin_set)
static const struct bt_strict_member plugins_members[] = {
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
	OBJECT("multiPoint", struct bt_config_plugins, multi_point, plugin_set),
	POINT("placementGenerate", PLACEMENT_GENERATE),
	POINT("placementScore", PLACEMENT_SCORE),
};
static const struct bt_strict_struct plugins =
	STRUCT("v1", "Plugins", plugins_members, struct bt_config_plugins);

static const struct bt_strict_member plugin_config_members[] = {
	PLAIN("name", STRING, struct bt_config_args, name),
	PLAIN("args", RAW, struct bt_config_args, raw),
};
static const struct bt_strict_struct plugin_config =
	STRUCT("v1", "PluginConfig", plugin_config_members, struct bt_config_args);

static const struct bt_strict_member profile_members[] = {
	{.name = "schedulerName",
		.type = BT_STRICT_STRING,
		.offset = offsetof(struct bt_profile_config, scheduler_name),
		.flag = FLAG(struct bt_profile_config, scheduler_name_set)},
	MAYBE("percentageOfNodesToScore", INT32, struct bt_profile_config, percentage_of_nodes_to_score),
	OBJECT("plugins", struct bt_profile_config, plugins, plugins),
	LIST("pluginConfig", struct bt_profile_config, args, arg_n, plugin_config),
};
static const struct bt_strict_struct profile =
	STRUCT("v1", "KubeSchedulerProfile", profile_members, struct bt_profile_config);

/* ---- the whole ---- */

static const struct bt_strict_member leader_election_members[] = {
	MAYBE("leaderElect", BOOL, struct bt_leader_election_config, leader_elect),
	PLAIN("leaseDuration", DURATION, struct bt_leader_election_config, lease_duration_ns),
	PLAIN("renewDeadline", DURATION, struct bt_leader_election_config, renew_deadline_ns),
	PLAIN("retryPeriod", DURATION, struct bt_leader_election_config, retry_period_ns),
	PLAIN("resourceLock", STRING, struct bt_leader_election_config, resource_lock),
	PLAIN("resourceName", STRING, struct bt_leader_election_config, resource_name),
	PLAIN("resourceNamespace", STRING, struct bt_leader_election_config, resource_namespace),
};
static const struct bt_strict_struct leader_election = STRUCT(
	"v1alpha1", "LeaderElectionConfiguration", leader_election_members, struct bt_leader_election_config);

static const struct bt_strict_member client_connection_members[] = {
	PLAIN("kubeconfig", STRING, struct bt_client_connection_config, kubeconfig),
	PLAIN("acceptContentTypes", STRING, struct bt_client_connection_config, accept_content_types),
	PLAIN("contentType", STRING, struct bt_client_connection_config, content_type),
	PLAIN("qps", FLOAT32, struct bt_client_connection_config, qps),
	PLAIN("burst", INT32, struct bt_client_connection_config, burst),
};
static const struct bt_strict_struct client_connection = STRUCT("v1alpha1", "ClientConnectionConfiguration",
	client_connection_members, struct bt_client_connection_config);

static const struct bt_strict_member extender_tls_members[] = {
	PLAIN("insecure", BOOL, struct bt_extender_tls, insecure),
	PLAIN("serverName", STRING, struct bt_extender_tls, server_name),
	PLAIN("certFile", STRING, struct bt_extender_tls, cert_file),
	PLAIN("keyFile", STRING, struct bt_extender_tls, key_file),
	PLAIN("caFile", STRING, struct bt_extender_tls, ca_file),
	PLAIN("certData", BYTES, struct bt_extender_tls, cert_data),
	PLAIN("keyData", BYTES, struct bt_extender_tls, key_data),
	PLAIN("caData", BYTES, struct bt_extender_tls, ca_data),
};
static const struct bt_strict_struct extender_tls =
	STRUCT("v1", "ExtenderTLSConfig", extender_tls_members, struct bt_extender_tls);

static const struct bt_strict_member extender_resource_members[] = {
	PLAIN("name", STRING, struct bt_extender_resource, name),
	PLAIN("ignoredByScheduler", BOOL, struct bt_extender_resource, ignored_by_scheduler),
};
static const struct bt_strict_struct extender_resource =
	STRUCT("v1", "ExtenderManagedResource", extender_resource_members, struct bt_extender_resource);

static const struct bt_strict_member extender_members[] = {
	PLAIN("urlPrefix", STRING, struct bt_extender_config, url_prefix),
	PLAIN("filterVerb", STRING, struct bt_extender_config, filter_verb),
	PLAIN("preemptVerb", STRING, struct bt_extender_config, preempt_verb),
	PLAIN("prioritizeVerb", STRING, struct bt_extender_config, prioritize_verb),
	PLAIN("weight", INT64, struct bt_extender_config, weight),
	PLAIN("bindVerb", STRING, struct bt_extender_config, bind_verb),
	PLAIN("enableHTTPS", BOOL, struct bt_extender_config, enable_https),
	POINTER("tlsConfig", struct bt_extender_config, tls, tls.set, extender_tls),
	PLAIN("httpTimeout", DURATION, struct bt_extender_config, http_timeout_ns),
	PLAIN("nodeCacheCapable", BOOL, struct bt_extender_config, node_cache_capable),
	LIST("managedResources", struct bt_extender_config, resources, resource_n, extender_resource),
	PLAIN("ignorable", BOOL, struct bt_extender_config, ignorable),
};
static const struct bt_strict_struct extender =
	STRUCT("v1", "Extender", extender_members, struct bt_extender_config);

#define DEBUGGING(json, member)                                                                              \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_BOOL, .offset = offsetof(struct bt_config, member.value),    \
		.flag = FLAG(struct bt_config, member.set), .go_inline = "DebuggingConfiguration"            \
	}
static const struct bt_strict_member config_members[] = {
	META,
	MAYBE("parallelism", INT32, struct bt_config, parallelism),
	OBJECT("leaderElection", struct bt_config, leader_election, leader_election),
	OBJECT("clientConnection", struct bt_config, client_connection, client_connection),
	DEBUGGING("enableProfiling", enable_profiling),
	DEBUGGING("enableContentionProfiling", enable_contention_profiling),
	MAYBE("percentageOfNodesToScore", INT32, struct bt_config, percentage_of_nodes_to_score),
	MAYBE("podInitialBackoffSeconds", INT64, struct bt_config, pod_initial_backoff_s),
	MAYBE("podMaxBackoffSeconds", INT64, struct bt_config, pod_max_backoff_s),
	LIST("profiles", struct bt_config, profiles, profile_n, profile),
	LIST("extenders", struct bt_config, extenders, extender_n, extender),
	PLAIN("delayCacheUntilActive", BOOL, struct bt_config, delay_cache_until_active),
};
const struct bt_strict_struct bt_config_schema =
	STRUCT("v1", "KubeSchedulerConfiguration", config_members, struct bt_config);
