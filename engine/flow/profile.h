/* SPDX-License-Identifier: Apache-2.0
 * From a resolved profile of the configuration to plugins that can run: their settings in interned names,
 * their order at each point, and what the profile does where berth has no plugin yet.
 */
#pragma once

#include "engine/flow/config.h"
#include "plugins/plugin.h"

struct bt_flow_profile {
	struct bt_profile plugins;
	int32_t percentage_of_nodes_to_score; /* 0: all */
	uint32_t needs_missing; /* enum bt_need bits whose plugin the profile has and berth does not */
	/* DynamicResources at PostFilter without its PreFilter's state ends in an error of its own; see
	 * engine/flow/fit_error. */
	bool dra_post_filter;
	uint32_t dra_pre_filter_after; /* how many of plugins.pre_filter run before it; UINT32_MAX: it is not
					  there */
	bool gates_checked;	       /* SchedulingGates is there */
};

/*
 * Builds a profile. Context: the owner of dictionary.
 * Owns: settings live in arena; the configuration must outlive the profile.
 */
void bt_flow_profile_init(struct bt_flow_profile *profile, const struct bt_resolved_profile *resolved,
	const struct bt_gates *gates, struct bt_dictionary *dictionary, struct bt_arena *arena);
