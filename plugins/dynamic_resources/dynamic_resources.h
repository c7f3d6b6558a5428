/* SPDX-License-Identifier: Apache-2.0
 * DynamicResources: pods get the devices that their claims request, or that serve for their extended
 * resources.
 */
#pragma once

#include "engine/model/release.h"
#include "plugins/plugin.h"

/* Its arguments. */
struct bt_dynamic_resources_args {
	struct bt_config_duration filter_timeout, binding_timeout;
};

extern const struct bt_plugin_args bt_dynamic_resources_args_info;
const void *bt_dynamic_resources_make_settings(const struct bt_settings_env *env, const void *args);

struct bt_dynamic_resources_settings {
	bool scores;		    /* the gate DRAPrioritizedList */
	bool pre_filtered;	    /* the profile has its PreFilter */
	bool filtered;		    /* the profile has its Filter, without which there is nothing to score */
	bool timeout_refuses;	    /* a node where the search times out, instead of failing */
	bool allocated_break;	    /* Score, when some claims have been allocated and others not */
	uint64_t step_limit;	    /* of a search on one node, instead of filterTimeout; 0: none */
	int64_t binding_timeout_ns; /* how long binding conditions may take */
};

extern const struct bt_plugin bt_plugin_dynamic_resources;

/* What a claim for extended resources is called before it is made. */
#define BT_EXTENDED_CLAIM "<extended-resources>"

/* One second of filterTimeout: upstream's search makes fewer steps in it. */
#define BT_SEARCH_STEPS_PER_SECOND 1000000

/*
 * PreEnqueue: what is wrong with the pod's claims, as upstream says it; NULL when nothing is. The text is
 * kept (bt_keep_text). Context: the scheduling thread.
 */
const char *bt_dynamic_resources_gate(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t pod_name, uint32_t pod_uid);
