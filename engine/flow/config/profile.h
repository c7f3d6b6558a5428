/* SPDX-License-Identifier: Apache-2.0
 * Makes runnable plugins from a resolved profile of the configuration: their settings in interned names, and
 * their order at each point. All knowledge of a plugin comes from its descriptor.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "engine/model/release.h"
#include "plugins/registry.h"

#define BT_HINT_PLUGINS (BT_PLUGIN_MAX + 1) /* with extenders */

#define BT_NO_USE UINT32_MAX

/* A plugin's event registrations. is_there: the profile has it at any point, and upstream queries its events,
 * because it implements PreEnqueue, PreFilter, Filter, Reserve or Permit. */
struct bt_hint_plugin {
	bool is_there;
	bool every_event; /* it registers no events: every event is relevant */
	bool kinds_are_exact;
	const struct bt_registration *events;
	uint32_t event_n;
	const void *settings; /* of the plugin's own type */
};

/* A plugin at a point that does not evaluate nodes. */
struct bt_hook {
	uint32_t id; /* the plugin's; also its bit in sets of plugins */
	const struct bt_plugin *plugin;
	const void *settings; /* of the plugin's own type */
	uint32_t use;	      /* the plugin's entry in plugins, which evaluates nodes; BT_NO_USE: none */
	int64_t weight;	      /* at PlacementScore */
};

/* The plugins of a point, in order. */
struct bt_hooks {
	struct bt_hook items[BT_PLUGIN_MAX];
	uint32_t n;
	uint32_t traits; /* union of its plugins' pod traits */
};

/* Settings to free. */
struct bt_settings_end {
	const struct bt_plugin *plugin;
	const void *settings;
};

struct bt_flow_profile {
	struct bt_profile plugins;
	const struct bt_release *release; /* for rules and texts */
	struct bt_hint_plugin hint_plugins[BT_PLUGIN_MAX];
	int32_t percentage_of_nodes_to_score; /* 0: all */
	struct bt_hooks pre_enqueue, post_filter, group_post_filter, permit, pre_bind;
	struct bt_hooks placement_generate; /* only the first one is called */
	struct bt_hooks placement_score;
	const struct bt_hook *preemption; /* the plugin of post_filter that preempts, or NULL */
	bool reserve_always;		  /* a Reserve plugin concerns every pod */
	/* PostFilter has plugins that neither preempt nor report when they are idle: call them every time. */
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

/* Frees the plugins' settings: the profile is unusable afterwards. */
void bt_flow_profile_fini(struct bt_flow_profile *profile);

/* Is the plugin relevant for a pod with these traits? */
static inline bool bt_hook_concerns(const struct bt_hook *hook, uint32_t traits)
{
	return hook->plugin->traits == 0 || (hook->plugin->traits & traits);
}
