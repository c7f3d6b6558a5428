/* SPDX-License-Identifier: Apache-2.0
 * From a resolved profile of the configuration to plugins that can run: their settings in interned names, and
 * their order at each point. Everything that it knows of a plugin it has from its descriptor.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "engine/model/release.h"
#include "plugins/registry.h"

#define BT_HINT_PLUGINS (BT_PLUGIN_MAX + 1) /* with extenders */

#define BT_NO_USE UINT32_MAX

/* A plugin. It is there if the profile has it at any point, and upstream asks which events concern it: it has
 * PreEnqueue, PreFilter, Filter, Reserve or Permit, here or elsewhere. */
struct bt_hint_plugin {
	bool is_there;
	bool hears_all; /* it registers nothing: any event concerns it */
	bool kinds_are_exact;
	const struct bt_registration *events;
	uint32_t event_n;
	const void *settings; /* of the plugin's own type */
};

/* A plugin at a point where no node is judged. */
struct bt_hook {
	uint32_t id; /* the plugin's, and its number in sets of plugins */
	const struct bt_plugin *plugin;
	const void *settings; /* of the plugin's own type */
	uint32_t use;	      /* of plugins, by which it judges nodes; BT_NO_USE: it does not */
	int64_t weight;	      /* at PlacementScore */
};

/* The plugins of a point, in order. */
struct bt_hooks {
	struct bt_hook items[BT_PLUGIN_MAX];
	uint32_t n;
	uint32_t traits; /* of pods that concern any of them */
};

/* Settings that hold something. */
struct bt_settings_end {
	const struct bt_plugin *plugin;
	const void *settings;
};

struct bt_flow_profile {
	struct bt_profile plugins;
	const struct bt_release *release; /* whose rules and texts count */
	struct bt_hint_plugin hint_plugins[BT_PLUGIN_MAX];
	int32_t percentage_of_nodes_to_score; /* 0: all */
	struct bt_hooks pre_enqueue, post_filter, group_post_filter, permit, pre_bind;
	struct bt_hooks placement_generate; /* the first one alone is asked */
	struct bt_hooks placement_score;
	const struct bt_hook *preemption; /* of post_filter, the one that preempts; NULL: none does */
	bool reserve_always;		  /* every pod concerns a plugin that has Reserve */
	/* PostFilter has plugins that neither preempt nor say when they are idle: they are asked every time.
	 */
	bool post_filter_always;
	struct bt_settings_end ends[BT_PLUGIN_MAX];
	uint32_t end_n;
};

/*
 * Builds a profile. Context: the owner of dictionary.
 * Owns: settings live in arena; the configuration must outlive the profile. End with bt_flow_profile_fini.
 */
void bt_flow_profile_init(struct bt_flow_profile *profile, const struct bt_resolved_profile *resolved,
	const struct bt_gates *gates, struct bt_dictionary *dictionary, struct bt_arena *arena);

/* Ends the plugins' settings: the profile can be used no more. */
void bt_flow_profile_fini(struct bt_flow_profile *profile);

/* Does the point's plugin concern a pod with these traits? */
static inline bool bt_hook_concerns(const struct bt_hook *hook, uint32_t traits)
{
	return hook->plugin->traits == 0 || (hook->plugin->traits & traits);
}
