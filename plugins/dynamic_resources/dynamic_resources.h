/* SPDX-License-Identifier: Apache-2.0
 * DynamicResources: allocates the devices that a pod's claims or extended resources request.
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
	bool pre_filtered;	    /* the profile enables PreFilter */
	bool filtered;		    /* the profile enables Filter; otherwise there is nothing to score */
	bool timeout_refuses;	    /* a timeout refuses the node instead of failing */
	bool allocated_break;	    /* Score: mixed allocated and new claims break it */
	uint64_t step_limit;	    /* per node, instead of filterTimeout; 0: no limit */
	int64_t binding_timeout_ns; /* timeout of binding conditions */
};

extern const struct bt_plugin bt_plugin_dynamic_resources;

/* The name of a claim for extended resources before it is created. */
#define BT_EXTENDED_CLAIM "<extended-resources>"

/* Steps per second of filterTimeout. Upstream's search makes fewer. */
#define BT_SEARCH_STEPS_PER_SECOND 1000000

/*
 * PreEnqueue: upstream's message for the pod's claims; NULL when all are available. The text is
 * kept (bt_keep_text). Context: the scheduling thread.
 */
const char *bt_dynamic_resources_gate(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t pod_name, uint32_t pod_uid);
