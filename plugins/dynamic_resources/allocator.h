/* SPDX-License-Identifier: Apache-2.0
 * Allocates devices for claims on one node: returns the first solution of a backtracking
 * search in upstream's order.
 * Source: structured/internal/incubating and stable, v1.36.3.
 */
#pragma once

#include "cache/device_view.h"
#include "cache/view.h"

/* A claim to allocate. */
struct bt_wanted_claim {
	uint32_t namespace_;
	struct bt_str name;
	const struct bt_device_request *requests;
	const struct bt_device_constraint *constraints;
	uint32_t request_n, constraint_n;
};

struct bt_pool_counters;

/* State that the searches of one cycle share. Zero-initialised at the start of a cycle. */
struct bt_allocation_cycle {
	/* Counters of pools by name, read at first use. */
	struct bt_pool_counters *counters[64];
};

struct bt_allocation_request {
	const struct bt_view *view;
	uint32_t node_ix;
	const struct bt_wanted_claim *claims;
	uint32_t claim_n;
	struct bt_allocation_cycle *cycle;
	uint64_t step_limit; /* maximum number of steps; 0: no limit */
};

enum bt_allocation_outcome {
	BT_ALLOCATED = 0,
	BT_NOT_ALLOCATED,
	BT_POOLS_INVALID, /* no solution, and some pools were invalid */
	BT_ALLOCATION_TIMED_OUT,
	BT_ALLOCATION_FAILED /* a claim or class is invalid */
};

/*
 * Searches. out_allocations: one for each claim, set on BT_ALLOCATED; new shares of devices have the ID
 * BT_NAME_EMPTY. out_error: upstream's text of a failure.
 * Context: the scheduling thread. Owns: allocations live in the store's scratch.
 */
enum bt_allocation_outcome bt_allocate(const struct bt_allocation_request *request,
	struct bt_allocation *out_allocations, struct bt_buf *out_error);
