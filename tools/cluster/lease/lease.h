/* SPDX-License-Identifier: Apache-2.0
 * Leader election by a Lease object: one replica leads, the others watch its lease. Source: client-go's
 * tools/leaderelection, v0.36.3. Time is measured from what was seen here, by a clock that neither jumps nor
 * stops while the machine sleeps, so the wall clock does not matter.
 */
#pragma once

#include "engine/base/clock.h"
#include "tools/cluster/net/http.h"

struct bt_lease;

struct bt_lease_options {
	struct bt_http *http; /* its thread drives the election; give it one of its own */
	const char *namespace_, *name, *identity;
	const char *component; /* the reporter of events about the lease; NULL: there are none */
	int64_t lease_ns, renew_deadline_ns, retry_ns;
	bool release_on_stop;
	/* Context: the client's thread. */
	void (*started_leading)(void *context);
	void (*stopped_leading)(void *context); /* lost: the process should end, as upstream's does */
	void (*new_leader)(void *context, struct bt_str identity);
	void *context;
	/* For tests; zeroes: CLOCK_BOOTTIME, and the machine's time for what is written. */
	struct bt_clock steady, wall;
};

/* What is wrong with the times, or NULL. Source: client-go's NewLeaderElector, v0.36.3. */
const char *bt_lease_fault(int64_t lease_ns, int64_t renew_deadline_ns, int64_t retry_ns);

/*
 * Begins to try for the lease at once: every retry_ns (and up to 1.2 times more), when a watch shows that it
 * was released, and when the lease of another has ended.
 * Returns: NULL with the reason in out_error.
 * Owns: strings are copied; ends by bt_lease_destroy, before the client does.
 */
struct bt_lease *bt_lease_create(const struct bt_lease_options *options, struct bt_buf *out_error);

/*
 * Releases the lease if it is held and that was asked for; waits for it at most limit_ns. Calls back no more,
 * not even stopped_leading.
 * Context : not the client's thread; the client must still run.
 * Writers under the lease stop before: another may lead as soon as it is released.
 */
void bt_lease_destroy(struct bt_lease *lease, int64_t limit_ns);

/*
 * Has the election not gone wrong? False when this is the leader by all that it knows and has not renewed the
 * lease for its duration and tolerance_ns more: a leader should have stopped long before. Source: client-go's
 * LeaderElector.Check, v0.36.3. Context: any thread.
 */
bool bt_lease_is_well(const struct bt_lease *lease, int64_t tolerance_ns);

/* How often a renewal that was written without reading first had to be done anew. Context: any thread. */
uint64_t bt_lease_slow_n(const struct bt_lease *lease);

/*
 * Is the lease surely held now? False as soon as the last renewal that was answered is renew_deadline_ns old,
 * counted from when it was sent, whatever any timer does. Context: any thread.
 */
bool bt_lease_is_held(const struct bt_lease *lease);
