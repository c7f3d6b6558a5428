/* SPDX-License-Identifier: Apache-2.0
 * Internals of berth capacity, shared by its files.
 */
#pragma once

#include "tools/offline/capacity/fill.h"

#define BT_CAPACITY_SCHEMA "berth.capacity/v1"

/* One cluster with the copies that it takes. Zero-initialized but for invocation and the cluster's paths, it
 * is empty. Owns: bt_capacity_fini. */
struct bt_capacity_run {
	struct bt_invocation *invocation;
	struct bt_loaded_cluster cluster;
	struct bt_capacity_templates templates;
	struct bt_capacity_fill *fills; /* one a unit */
};

/* Loads the cluster and counts the copies of each template. Reports errors on standard error. Returns: enum
 * bt_exit. */
int bt_capacity_measure(struct bt_capacity_run *capacity);
void bt_capacity_fini(struct bt_capacity_run *capacity);

/* What stops the next copy on most nodes. */
const char *bt_capacity_stops(const struct bt_capacity_fill *fill);

/* The clusters of --cluster, ranked. Returns: enum bt_exit. */
int bt_capacity_rank(struct bt_invocation *invocation);
