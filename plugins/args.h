/* SPDX-License-Identifier: Apache-2.0
 * Arguments of plugins: the struct that a plugin's entry of pluginConfig is decoded into, its defaults, its
 * validation, and the plugin's settings for a profile. BT_ARG_PLAIN and others describe the members
 * (engine/model/schema.h). Values that several plugins share are here.
 * Context: one thread at a time; never in a scheduling cycle.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/model/config_error.h"
#include "engine/model/gate.h"
#include "engine/model/object.h"
#include "engine/model/release.h"
#include "engine/model/resource.h"
#include "engine/model/schema.h"

/* Optional values (BT_ARG_MAYBE): set_defaults tests set, not the value. */
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

static inline void bt_config_int_default(struct bt_config_int *field, int32_t value)
{
	if (!field->set) {
		*field = (struct bt_config_int){.value = value, .set = true};
	}
}

extern const struct bt_schema bt_config_resource_table, bt_config_shape_point_table;

/* Absent resources become cpu and memory; absent weights become 1. */
void bt_config_resources_default(struct bt_config_resource_list *list, struct bt_arena *arena);

void bt_config_shape_validate(
	const struct bt_config_shape *shape, struct bt_str path, struct bt_config_errors *errors);

/* Shape points are 0..10; scores are 0..100. */
#define BT_SHAPE_SCALE 10

/* The path of a member, and of an element of one; the root's path is empty. Valid as long as the errors. */
struct bt_str bt_args_under(struct bt_config_errors *errors, struct bt_str path, const char *member);
struct bt_str bt_args_at(
	struct bt_config_errors *errors, struct bt_str path, const char *member, uint32_t ix);

struct bt_plugin;

/* The configuration around the arguments. */
struct bt_args_env {
	const struct bt_release *release;
	const bool *gates;			      /* by enum bt_gate */
	const struct bt_str_list *extender_resources; /* that extenders manage alone */
	const struct bt_plugin *plugin;		      /* the owner of the arguments */
};

/* Arguments that are passed through as they are in the configuration. */
struct bt_raw_args {
	struct bt_str json; /* without blanks between tokens; empty: no arguments */
};

/*
 * The arguments of a plugin. init: const, static. schema: the struct that they are decoded into, zero where
 * the text has no value; its Go name is their kind.
 */
struct bt_plugin_args {
	const struct bt_schema *schema;
	/* Fills absent values; NULL: no defaults. */
	void (*set_defaults)(void *args, const struct bt_args_env *env, struct bt_arena *arena);
	/* Adds errors, with paths below that of the arguments; NULL: no validation. */
	void (*validate)(const void *args, const struct bt_args_env *env, struct bt_str path,
		struct bt_config_errors *errors);
	/*
	 * How long a binding may wait for the binder's writes for this plugin; NULL: the plugin has no
	 * writes.
	 */
	int64_t (*bind_timeout_ns)(const void *args);
	bool validated_late;	 /* when the profile is built, as upstream does for one plugin */
	bool raw;		 /* they are decoded into a struct bt_raw_args; schema is ignored */
	bool extender_resources; /* includes the resources that extenders manage alone */
};

/* Input for a plugin's settings in a profile. */
struct bt_settings_env {
	struct bt_args_env config;
	struct bt_dictionary *dictionary;
	struct bt_arena *arena; /* settings live here; so do gates */
	uint32_t points;	/* the plugin's points in the profile: BT_AT bits */
};

/* Settings of plugins that depend on one gate only: const bool *. */
static inline const void *bt_gate_setting(const struct bt_settings_env *env, enum bt_gate gate)
{
	return &env->config.gates[gate];
}

/* Does the rule hold in the profile's release? */
static inline bool bt_settings_rule(const struct bt_settings_env *env, enum bt_rule rule)
{
	return bt_release_has(env->config.release, rule);
}
