/* SPDX-License-Identifier: Apache-2.0
 * DynamicResources: pods get the devices that their claims ask for, or that serve for their extended
 * resources.
 */
#pragma once

#include "engine/model/release.h"
#include "plugins/plugin.h"

struct bt_dynamic_resources_settings {
	bool scores;		    /* the gate DRAPrioritizedList */
	bool pre_filtered;	    /* the profile has its PreFilter */
	bool filtered;		    /* the profile has its Filter, without which there is nothing to score */
	uint64_t step_limit;	    /* of a search on one node, instead of filterTimeout; 0: none */
	int64_t binding_timeout_ns; /* how long binding conditions may take */
};

extern const struct bt_plugin bt_plugin_dynamic_resources;

/* One second of filterTimeout: upstream's search makes fewer steps in it. */
#define BT_SEARCH_STEPS_PER_SECOND 1000000

/*
 * PreEnqueue: what is wrong with the pod's claims, as upstream says it; NULL when nothing is. The text is
 * kept (bt_keep_text). Context: the scheduling thread.
 */
const char *bt_dynamic_resources_gate(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t pod_name, uint32_t pod_uid);

/*
 * What Reserve is to assume for a node that passed Filter in this cycle. Returns their number, with the first
 * in out_choices, in the store's scratch.
 */
uint32_t bt_dynamic_resources_choose(const struct bt_compiled *compiled, const struct bt_view *view,
	uint32_t node_ix, const struct bt_device_choice **out_choices);

/* What PostFilter does. */
enum bt_claims_release {
	BT_CLAIMS_NONE = 0,   /* the pod has no claims */
	BT_CLAIMS_KEPT,	      /* nothing can be released */
	BT_CLAIMS_DEALLOCATE, /* this claim's allocation goes */
	BT_CLAIMS_DELETE      /* this claim for extended resources goes */
};

/* What it does to which claim, which may have gone when that is carried out: the last three are set for the
 * last two. */
struct bt_claim_release {
	enum bt_claims_release what;
	uint32_t claim_ix, name, uid;
};

/*
 * Decides what PostFilter does. Context: when its turn comes in the cycle, before later plugins of PostFilter
 * ask Filter again: what these find unavailable counts for who comes after them.
 */
struct bt_claim_release bt_dynamic_resources_release(
	const struct bt_compiled *compiled, const struct bt_view *view);

/*
 * DeviceClasses may have changed since nodes were asked in this cycle: who asks again gets another answer.
 * Requires: the pod's claims, slices and what is allocated of devices are as they were.
 */
void bt_dynamic_resources_ask_anew(const struct bt_compiled *compiled);

/* Does the pod have claims in this cycle, about which PostFilter decides by pod? */
bool bt_dynamic_resources_holds(const struct bt_compiled *compiled);

/* What PostFilter says in that release of Kubernetes. */
const char *bt_dynamic_resources_release_text(
	const struct bt_release *kubernetes, enum bt_claims_release release);
