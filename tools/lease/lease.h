/* SPDX-License-Identifier: Apache-2.0
 * Leader election by a Lease object: one replica leads, the others watch its lease. Source: client-go's
 * tools/leaderelection, v0.36.3. Time is measured by the monotonic clock from what was seen here, so jumps of
 * the wall clock do not matter.
 */
#pragma once

#include "tools/net/http.h"

struct bt_lease;

struct bt_lease_options {
	struct bt_http *http; /* its thread drives the election; give it one of its own */
	const char *namespace_, *name, *identity;
	int64_t lease_ns, renew_deadline_ns, retry_ns;
	bool release_on_stop;
	/* Context: the client's thread. */
	void (*started_leading)(void *context);
	void (*stopped_leading)(void *context); /* lost: the process should end, as upstream's does */
	void (*new_leader)(void *context, struct bt_str identity);
	void *context;
};

struct bt_lease *bt_lease_create(const struct bt_lease_options *options, struct bt_buf *out_error);

/* Releases the lease if it is held and that was asked for; waits for it at most limit_ns. */
void bt_lease_destroy(struct bt_lease *lease, int64_t limit_ns);

/*
 * Is the lease surely held now? False as soon as the last renewal that was answered is renew_deadline_ns old,
 * counted from when it was sent, whatever any timer does. Context: any thread.
 */
bool bt_lease_is_held(const struct bt_lease *lease);
