/* SPDX-License-Identifier: Apache-2.0
 * Profiles of synthetic clusters: the plugins that nodes and pods exercise. tools/cli/commands.c explains
 * each to users.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/base/status.h"
#include "engine/base/str.h"

/* A set of these is a uint32_t. */
enum bt_generate_profile {
	BT_PROFILE_BASIC = 1 << 0,
	BT_PROFILE_FIT = 1 << 1,
	BT_PROFILE_AFFINITY = 1 << 2,
	BT_PROFILE_TAINTS = 1 << 3,
	BT_PROFILE_PORTS = 1 << 4,
	BT_PROFILE_IMAGES = 1 << 5,
	BT_PROFILE_GATES = 1 << 6,
	BT_PROFILE_PRIORITY = 1 << 7,
	BT_PROFILE_SPREAD = 1 << 8,
	BT_PROFILE_INTERPOD = 1 << 9,
	BT_PROFILE_VOLUMES = 1 << 10,
	BT_PROFILE_PREEMPTION = 1 << 11,
	BT_PROFILE_CHURN = 1 << 12,
	BT_PROFILE_DEVICES = 1 << 13,
	BT_PROFILE_GANGS = 1 << 14,
	BT_PROFILE_RACKS = 1 << 15,
	BT_PROFILE_RESIZE = 1 << 16,
	BT_PROFILE_TOPOLOGY = 1 << 17, /* of gangs */
	BT_PROFILE_EVERYDAY = BT_PROFILE_BASIC | BT_PROFILE_FIT | BT_PROFILE_AFFINITY | BT_PROFILE_TAINTS |
			      BT_PROFILE_IMAGES | BT_PROFILE_PRIORITY,
	BT_PROFILE_MIXED = BT_PROFILE_DEVICES - 1 /* all without feature gates */
};

/*
 * Adds the profiles of a comma-separated list to *profiles.
 * Returns : BT_OK; BT_NOT_FOUND with the unknown name in *out_unknown, and *profiles untouched.
 */
enum bt_status bt_profile_parse(struct bt_str list, uint32_t *profiles, struct bt_str *out_unknown);

/* The name of the ix-th profile for lists, NULL after the last. */
const char *bt_profile_name(size_t ix);
