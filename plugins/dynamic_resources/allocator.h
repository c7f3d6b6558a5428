/* SPDX-License-Identifier: Apache-2.0
 * Allocates devices for claims on one node: the first solution of a search through all combinations, in
 * upstream's order. Source: structured/internal/incubating and stable, v1.36.3.
 */
#pragma once

#include "cache/device_view.h"
#include "cache/view.h"

/* A claim that is to be allocated. */
struct bt_wanted_claim {
	uint32_t namespace_;
	struct bt_str name;
	const struct bt_device_request *requests;
	const struct bt_device_constraint *constraints;
	uint32_t request_n, constraint_n;
};

struct bt_pool_counters;

/* What one cycle's searches share. All zeroes begin a cycle. */
struct bt_allocation_cycle {
	/* The counters of pools, by name, as the first search that asked for them found them. */
	struct bt_pool_counters *counters[64];
};

struct bt_allocation_request {
	const struct bt_view *view;
	uint32_t node_ix;
	const struct bt_wanted_claim *claims;
	uint32_t claim_n;
	struct bt_allocation_cycle *cycle;
	uint64_t step_limit; /* so many steps, and the search times out; 0: no limit */
};

enum bt_allocation_outcome {
	BT_ALLOCATED = 0,
	BT_NOT_ALLOCATED,
	BT_POOLS_INVALID, /* nothing was found, and pools had to be left out */
	BT_ALLOCATION_TIMED_OUT,
	BT_ALLOCATION_FAILED /* something is wrong with a claim or class */
};

/*
 * Searches. out_allocations: one for each claim, set when they were found; new shares of devices have the ID
 * BT_NAME_EMPTY there. out_error: upstream's text of a failure.
 * Context: the scheduling thread. Owns: allocations live in the store's scratch.
 */
enum bt_allocation_outcome bt_allocate(const struct bt_allocation_request *request,
	struct bt_allocation *out_allocations, struct bt_buf *out_error);
