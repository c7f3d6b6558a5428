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
#include "engine/model/config_error.h"
#include "engine/model/object.h"
#include "plugins/registry.h"

/* An entry of enabled or disabled; weight 0: not given. */
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

/* An entry of pluginConfig. */
struct bt_config_args {
	struct bt_str name;
	const struct bt_plugin_args *type; /* the plugin's; NULL: it has none, or the plugin does not exist */
	void *value;			   /* of that type, in the configuration's arena; NULL without */
	struct bt_str raw;		   /* the text of untyped arguments */
};

struct bt_profile_config {
	struct bt_str scheduler_name;
	bool scheduler_name_set;
	struct bt_config_int percentage_of_nodes_to_score; /* not set: use the global one */
	struct bt_config_plugins plugins; /* after defaulting: merged with the default list */
	struct bt_config_args *args;	  /* pluginConfig */
	uint32_t arg_n;
};

struct bt_leader_election_config {
	struct bt_config_bool leader_elect;
	int64_t lease_duration_ns, renew_deadline_ns, retry_period_ns; /* 0: the default */
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
	struct bt_str cert_data, key_data, ca_data; /* decoded from base64 */
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
	struct bt_gates gates; /* feature gates, for defaults and rules */
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
	/* Filled by defaulting: the resources that only extenders manage. It replaces NodeResourcesFit's
	 * ignored resources. */
	struct bt_str_list extender_resources;
};

/* One plugin at one extension point. weight is for Score and PlacementScore, and is never 0 there. */
struct bt_resolved_plugin {
	uint32_t id;
	int32_t weight;
};

struct bt_resolved_point {
	struct bt_resolved_plugin plugins[BT_PLUGIN_MAX];
	uint32_t n;
};

/* The plugin lists of a profile. */
struct bt_resolved_profile {
	struct bt_str scheduler_name;
	int32_t percentage_of_nodes_to_score; /* the profile's own, otherwise the global one; 0: adaptive */
	struct bt_resolved_point points[BT_POINT_N];
	const void *args[BT_PLUGIN_MAX]; /* by plugin, of its type; NULL: no arguments, or not used */
	const struct bt_str_list *extender_resources;
};

/* Makes an empty configuration under these gates; NULL: default gates. Owns: bt_config_fini. */
void bt_config_init(struct bt_config *config, const struct bt_gates *gates);

/* Makes the configuration for no file: init and default in one. Owns: bt_config_fini. */
void bt_config_init_default(struct bt_config *config, const struct bt_gates *gates);

void bt_config_fini(struct bt_config *config);

/* Sets the type of a pluginConfig entry's arguments, by its name, and an empty value. */
void bt_config_args_init(struct bt_config *config, struct bt_config_args *args);

/* The environment that plugins' arguments get. Valid as long as config. */
struct bt_args_env bt_config_args_env(const struct bt_config *config);

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
 * Requires: the configuration was defaulted and is valid; profile_ix is a profile of it.
 * Returns : BT_OK; BT_INVALID with one error added (it names the profile), and out_profile untouched.
 * Owns    : out_profile points into the configuration.
 */
enum bt_status bt_config_resolve(const struct bt_config *config, uint32_t profile_ix,
	struct bt_config_errors *errors, struct bt_resolved_profile *out_profile);

/* The arguments of the plugin of that name in the profile; NULL as in args. */
const void *bt_resolved_args(const struct bt_resolved_profile *profile, const char *plugin);

/*
 * Resolves each profile, and checks that all use the same QueueSort.
 * Returns : BT_OK; BT_INVALID with one error added, the first that upstream reports.
 */
enum bt_status bt_config_check_profiles(const struct bt_config *config, struct bt_config_errors *errors);
