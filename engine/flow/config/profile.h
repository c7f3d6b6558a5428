/* SPDX-License-Identifier: Apache-2.0
 * From a resolved profile of the configuration to plugins that can run: their settings in interned names,
 * their order at each point, and what the profile does where berth has no plugin yet.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "engine/model/release.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/plugin.h"

/* What runs at PostFilter. */
enum bt_post_filter {
	BT_POST_FILTER_CLAIMS = 0, /* DynamicResources */
	BT_POST_FILTER_PREEMPTION
};

#define BT_POST_FILTERS 2

#define BT_HINTERS (BT_PLUGIN_N + 1) /* with extenders */

/* A plugin. It is there if the profile has it at any point, and upstream asks which events concern it: it has
 * PreEnqueue, PreFilter, Filter, Reserve or Permit, here or elsewhere. */
struct bt_hinter {
	bool is_there;
	const struct bt_registration *events;
	uint32_t event_n;
	const void *settings; /* of the plugin's own type */
};

struct bt_flow_profile {
	struct bt_profile plugins;
	const struct bt_release *release; /* whose rules and texts count */
	struct bt_hinter hinters[BT_PLUGIN_N];
	int32_t percentage_of_nodes_to_score;		   /* 0: all */
	enum bt_post_filter post_filters[BT_POST_FILTERS]; /* in order */
	uint32_t post_filter_n;
	struct bt_preemption_settings preemption;
	/* DynamicResources at PostFilter without its PreFilter's state ends in an error of its own. */
	uint32_t dra_pre_filter_after; /* how many of plugins.pre_filter run before it; UINT32_MAX: it is not
					  there */
	bool gates_checked;	       /* SchedulingGates is there */
	bool claims_checked;	       /* DynamicResources is there, at PreEnqueue */
	bool groups_checked;	       /* GangScheduling is there, at PreEnqueue */
	bool groups_permitted;	       /* and at Permit */
};

/*
 * Builds a profile. Context: the owner of dictionary.
 * Owns: settings live in arena; the configuration must outlive the profile.
 */
void bt_flow_profile_init(struct bt_flow_profile *profile, const struct bt_resolved_profile *resolved,
	const struct bt_gates *gates, struct bt_dictionary *dictionary, struct bt_arena *arena);
