/* SPDX-License-Identifier: Apache-2.0
 * Leader election by a Lease object: one replica leads, the others watch its lease. Source: client-go's
 * tools/leaderelection, v0.36.3. Time is measured from local observations, by a clock that neither jumps nor
 * stops while the machine sleeps, so the wall clock does not matter.
 */
#pragma once

#include "engine/base/clock.h"
#include "tools/cluster/net/http.h"

struct bt_lease;

struct bt_lease_options {
	struct bt_http *http; /* its thread runs the election; not to be shared */
	const char *namespace_, *name, *identity;
	const char *component; /* reporter of events about the lease; NULL: no events */
	int64_t lease_ns, renew_deadline_ns, retry_ns;
	bool release_on_stop;
	/* Context: the client's thread. */
	void (*started_leading)(void *context);
	void (*stopped_leading)(void *context); /* lost: the process should end, as upstream's does */
	void (*new_leader)(void *context, struct bt_str identity);
	void *context;
	/* For tests; zeroes: CLOCK_BOOTTIME, and the wall clock for timestamps that are written. */
	struct bt_clock steady, wall;
};

/* What is wrong with the durations, or NULL. Source: client-go's NewLeaderElector, v0.36.3. */
const char *bt_lease_fault(int64_t lease_ns, int64_t renew_deadline_ns, int64_t retry_ns);

/*
 * Starts the election. It attempts to acquire at once, then every retry_ns (jittered by up to 1.2 times
 * more), when a watch shows a release, and when another's lease expires.
 * Returns: NULL with the reason in out_error.
 * Owns: strings are copied; ends by bt_lease_destroy, before the client does.
 */
struct bt_lease *bt_lease_create(const struct bt_lease_options *options, struct bt_buf *out_error);

/*
 * Releases the lease if it is held and the options require it; waits for that at most limit_ns. Makes no more
 * callbacks, not even stopped_leading.
 * Context : not the client's thread; the client must still run.
 * Requires: writers under the lease have stopped: another may lead as soon as it is released.
 */
void bt_lease_destroy(struct bt_lease *lease, int64_t limit_ns);

/* Health check. False when this leader has not renewed the lease for its duration plus tolerance_ns: it
 * should have stopped long before. Source: client-go's LeaderElector.Check, v0.36.3. Context: any thread. */
bool bt_lease_is_healthy(const struct bt_lease *lease, int64_t tolerance_ns);

/* Number of optimistic renewals (written without a read before) that had to be repeated. Context: any
 * thread. */
uint64_t bt_lease_slow_n(const struct bt_lease *lease);

/* Whether the lease is certainly held now. False once the last answered renewal is renew_deadline_ns old,
 * counted from when it was sent, whether or not any timer fired. Context: any thread. */
bool bt_lease_is_held(const struct bt_lease *lease);
