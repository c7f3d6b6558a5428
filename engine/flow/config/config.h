/* SPDX-License-Identifier: Apache-2.0
 * KubeSchedulerConfiguration v1 as plain values: its fields, upstream's defaults, upstream's validation with
 * the same field paths and texts, and the expansion of a profile into an ordered plugin list per extension
 * point.
 *
 * The order of use: init, fill (a decoder), default, validate, resolve each profile, fini.
 * Owns: every string and array lives in the configuration's arena and dies with it.
 * Context: one thread at a time; allocates; never in a scheduling cycle.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"
#include "engine/flow/config/gates.h"
#include "engine/flow/config/plugin_names.h"
#include "engine/model/object.h"

/* A 32-bit number that may be absent. */
struct bt_config_int {
	int32_t value;
	bool set;
};

struct bt_config_int64 {
	int64_t value;
	bool set;
};

struct bt_config_bool {
	bool value, set;
};

struct bt_config_duration {
	int64_t ns;
	bool set;
};

/* An entry of enabled or disabled; weight 0 means that none was given. */
struct bt_config_plugin {
	struct bt_str name;
	int32_t weight;
};

struct bt_config_plugin_list {
	struct bt_config_plugin *items;
	uint32_t n;
};

struct bt_config_plugin_set {
	struct bt_config_plugin_list enabled, disabled;
};

struct bt_config_plugins {
	struct bt_config_plugin_set points[BT_POINT_N];
	struct bt_config_plugin_set multi_point;
};

struct bt_config_resource {
	struct bt_str name;
	int64_t weight;
};

struct bt_config_resource_list {
	struct bt_config_resource *items;
	uint32_t n;
};

struct bt_config_shape_point {
	int32_t utilization, score;
};

struct bt_config_shape {
	struct bt_config_shape_point *items;
	uint32_t n;
	bool set;
};

struct bt_default_preemption_args {
	struct bt_config_int min_candidate_nodes_percentage, min_candidate_nodes_absolute;
};

struct bt_inter_pod_affinity_args {
	struct bt_config_int hard_pod_affinity_weight;
	bool ignore_preferred_terms_of_existing_pods;
};

struct bt_node_affinity_args {
	struct bt_node_affinity_object added_affinity; /* its set flag tells whether one was given */
};

struct bt_scoring_strategy {
	bool set;
	struct bt_str type; /* LeastAllocated, MostAllocated or RequestedToCapacityRatio once validated */
	struct bt_config_resource_list resources;
	bool ratio_set; /* requestedToCapacityRatio was given */
	struct bt_config_shape ratio_shape;
};

struct bt_node_resources_fit_args {
	struct bt_str_list ignored_resources, ignored_resource_groups;
	struct bt_scoring_strategy strategy;
};

struct bt_balanced_allocation_args {
	struct bt_config_resource_list resources;
};

struct bt_pod_topology_spread_args {
	struct bt_spread_constraint_object *constraints;
	uint32_t constraint_n;
	struct bt_str defaulting_type; /* System or List once validated */
};

struct bt_volume_binding_args {
	struct bt_config_int64 bind_timeout_s;
	struct bt_config_shape shape;
};

struct bt_dynamic_resources_args {
	struct bt_config_duration filter_timeout, binding_timeout;
};

/* An entry of pluginConfig. kind follows from the name; raw is the text of arguments that have no type here.
 */
struct bt_config_args {
	struct bt_str name;
	enum bt_args_kind kind;
	struct bt_str raw;
	union {
		struct bt_default_preemption_args default_preemption;
		struct bt_inter_pod_affinity_args inter_pod_affinity;
		struct bt_node_affinity_args node_affinity;
		struct bt_node_resources_fit_args fit;
		struct bt_balanced_allocation_args balanced;
		struct bt_pod_topology_spread_args spread;
		struct bt_volume_binding_args volume_binding;
		struct bt_dynamic_resources_args dynamic_resources;
	};
};

struct bt_profile_config {
	struct bt_str scheduler_name;
	bool scheduler_name_set;
	struct bt_config_int percentage_of_nodes_to_score; /* not set: the global one counts */
	struct bt_config_plugins plugins; /* after defaulting: merged with the default list */
	struct bt_config_args *args;	  /* pluginConfig */
	uint32_t arg_n;
};

struct bt_leader_election_config {
	struct bt_config_bool leader_elect;
	int64_t lease_duration_ns, renew_deadline_ns, retry_period_ns; /* 0 means the default */
	struct bt_str resource_lock, resource_name, resource_namespace;
};

struct bt_client_connection_config {
	struct bt_str kubeconfig, accept_content_types, content_type;
	float qps;
	int32_t burst;
};

struct bt_extender_resource {
	struct bt_str name;
	bool ignored_by_scheduler;
};

struct bt_extender_tls {
	bool set, insecure;
	struct bt_str server_name, cert_file, key_file, ca_file;
	struct bt_str cert_data, key_data, ca_data; /* bytes, no longer base64 */
};

struct bt_extender_config {
	struct bt_str url_prefix, filter_verb, preempt_verb, prioritize_verb, bind_verb;
	int64_t weight, http_timeout_ns;
	bool enable_https, node_cache_capable, ignorable;
	struct bt_extender_tls tls;
	struct bt_extender_resource *resources;
	uint32_t resource_n;
};

struct bt_config {
	struct bt_arena arena;
	struct bt_gates gates; /* the feature gates under which defaults and rules are taken */
	struct bt_config_int parallelism, percentage_of_nodes_to_score;
	struct bt_config_int64 pod_initial_backoff_s, pod_max_backoff_s;
	struct bt_leader_election_config leader_election;
	struct bt_client_connection_config client_connection;
	struct bt_config_bool enable_profiling, enable_contention_profiling;
	bool delay_cache_until_active;
	struct bt_profile_config *profiles;
	uint32_t profile_n;
	struct bt_extender_config *extenders;
	uint32_t extender_n;
	/* Filled by defaulting: what extenders manage alone. It takes the place of NodeResourcesFit's ignored
	 * resources. */
	struct bt_str_list extender_resources;
};

/* A list of texts. Owns: its arena; end with bt_config_errors_fini. */
struct bt_config_errors {
	struct bt_arena arena;
	struct bt_str *items;
	size_t n, cap;
};

/* One plugin at one extension point; weight counts at Score and PlacementScore and is never 0 there. */
struct bt_resolved_plugin {
	enum bt_plugin_id id;
	int32_t weight;
};

struct bt_resolved_point {
	struct bt_resolved_plugin plugins[BT_PLUGIN_N];
	uint32_t n;
};

/* What a profile comes down to. Arguments of plugins that the profile does not use are zero. */
struct bt_resolved_profile {
	struct bt_str scheduler_name;
	int32_t percentage_of_nodes_to_score; /* the profile's own, else the global one; 0 is adaptive */
	struct bt_resolved_point points[BT_POINT_N];
	struct bt_default_preemption_args default_preemption;
	struct bt_inter_pod_affinity_args inter_pod_affinity;
	struct bt_node_affinity_args node_affinity;
	struct bt_node_resources_fit_args fit;
	struct bt_balanced_allocation_args balanced;
	struct bt_pod_topology_spread_args spread;
	struct bt_volume_binding_args volume_binding;
	struct bt_dynamic_resources_args dynamic_resources;
};

/* An empty configuration under these gates; NULL stands for the gates' defaults. Owns: end with
 * bt_config_fini. */
void bt_config_init(struct bt_config *config, const struct bt_gates *gates);

/* The configuration that counts when no file is given: init and default in one. Owns: end with
 * bt_config_fini. */
void bt_config_init_default(struct bt_config *config, const struct bt_gates *gates);

void bt_config_fini(struct bt_config *config);

/* Fills what is absent, merges every profile's plugins with the default list and adds missing plugin
 * arguments. */
void bt_config_default(struct bt_config *config);

/*
 * Checks a defaulted configuration against upstream's rules.
 * Returns : BT_OK; BT_INVALID with at least one error added.
 */
enum bt_status bt_config_validate(const struct bt_config *config, struct bt_config_errors *errors);

/*
 * Expands the profile into its plugin lists as building the profile does upstream.
 * Requires: a configuration that was defaulted and is valid.
 * Returns : BT_OK; BT_INVALID with one error added (it names the profile), and out_profile untouched.
 * Owns    : out_profile points into the configuration.
 */
enum bt_status bt_config_resolve(const struct bt_config *config, uint32_t profile_ix,
	struct bt_config_errors *errors, struct bt_resolved_profile *out_profile);

/*
 * What resolving every profile in turn would say, and whether all sort the queue alike.
 * Returns : BT_OK; BT_INVALID with one error added, the first that upstream would meet.
 */
enum bt_status bt_config_check_profiles(const struct bt_config *config, struct bt_config_errors *errors);

/* Adds one formatted error. */
void bt_config_errors_add(struct bt_config_errors *errors, const char *format, ...) BT_PRINTF(2, 3);

/* Appends the errors as one line: alone, or as "[a, b]" without repetitions. */
void bt_config_errors_text(const struct bt_config_errors *errors, struct bt_buf *out_text);

void bt_config_errors_fini(struct bt_config_errors *errors);
