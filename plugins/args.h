/* SPDX-License-Identifier: Apache-2.0
 * Arguments of plugins: how a plugin describes the struct that its entry of pluginConfig is decoded into, its
 * defaults, its validation, and what it makes of them for a profile. BT_ARG_PLAIN and others describe the
 * members (engine/model/schema.h). Values that several plugins share are here.
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

/* Values that may be absent (BT_ARG_MAYBE): set_defaults looks at set, not for 0. */
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

/* The points go to 10; scores go to 100. */
#define BT_SHAPE_SCALE 10

/* The path of a member, and of an element of one; the path of the top is empty. Kept as long as the errors.
 */
struct bt_str bt_args_under(struct bt_config_errors *errors, struct bt_str path, const char *member);
struct bt_str bt_args_at(
	struct bt_config_errors *errors, struct bt_str path, const char *member, uint32_t ix);

struct bt_plugin;

/* The configuration around the arguments. */
struct bt_args_env {
	const struct bt_release *release;
	const bool *gates;			      /* by enum bt_gate */
	const struct bt_str_list *extender_resources; /* that extenders manage alone */
	const struct bt_plugin *plugin;		      /* whose arguments they are */
};

/* Arguments that are handed over as they stand in the configuration. */
struct bt_raw_args {
	struct bt_str json; /* without blanks between its tokens; empty: there are none */
};

/*
 * The arguments of a plugin. init: const, static. schema: the struct that they are decoded into, all zeroes
 * where the text is silent; its Go name is their kind.
 */
struct bt_plugin_args {
	const struct bt_schema *schema;
	/* Fills what is absent; NULL: nothing. */
	void (*set_defaults)(void *args, const struct bt_args_env *env, struct bt_arena *arena);
	/* Adds errors, with paths below that of the arguments; NULL: nothing can be wrong. */
	void (*validate)(const void *args, const struct bt_args_env *env, struct bt_str path,
		struct bt_config_errors *errors);
	/* How long a binding may wait for what the plugin has the binder write; NULL: it has nothing written.
	 */
	int64_t (*bind_timeout_ns)(const void *args);
	bool validated_late;	 /* when the profile is built, as upstream has it of one plugin */
	bool raw;		 /* they are decoded into a struct bt_raw_args, whatever schema says */
	bool extender_resources; /* the resources that extenders manage alone belong in them */
};

/* What a plugin may use when it makes its settings for a profile. */
struct bt_settings_env {
	struct bt_args_env config;
	struct bt_dictionary *dictionary;
	struct bt_arena *arena; /* settings live here; so do gates */
	uint32_t points;	/* at which the profile has the plugin: bits, BT_AT */
};

/* Settings of plugins that ask for nothing but a gate: const bool *. */
static inline const void *bt_gate_setting(const struct bt_settings_env *env, enum bt_gate gate)
{
	return &env->config.gates[gate];
}

/* Does the rule hold in the release that decides? */
static inline bool bt_settings_rule(const struct bt_settings_env *env, enum bt_rule rule)
{
	return bt_release_has(env->config.release, rule);
}
