/* SPDX-License-Identifier: Apache-2.0
 * A Lease object for leader election: holder, times and duration. The rest is kept as text and written back
 * unchanged. Source: client-go's resourcelock.LeaderElectionRecord, v0.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/str.h"

struct bt_lease_record {
	struct bt_buf text;	/* private: backs the views below */
	struct bt_arena arena;	/* private */
	struct bt_str metadata; /* JSON, with the resourceVersion; empty: there is no object */
	struct bt_str holder;	/* empty: no holder */
	int32_t duration_s, transitions;
	struct bt_str acquire_time, renew_time;
	struct bt_str strategy, preferred_holder; /* JSON, of coordinated leader election; empty: absent */
};

void bt_lease_record_fini(struct bt_lease_record *record);

/* Reads a Lease. Returns: false with the reason appended to out_error; record is then empty. */
bool bt_lease_record_read(struct bt_lease_record *record, struct bt_str json, struct bt_buf *out_error);

/* Whether both have the same holder and times. */
bool bt_lease_record_same(const struct bt_lease_record *a, const struct bt_lease_record *b);

/* What to write: our record on top of an old one. */
struct bt_lease_write {
	struct bt_str namespace_, name; /* of a new object */
	struct bt_str holder;
	int32_t duration_s, transitions;
	struct bt_str acquire_time; /* not a time, such as empty: now_ns */
	int64_t now_ns;		    /* wall clock */
};

/* An event about the Lease. */
struct bt_lease_event {
	struct bt_str namespace_, name; /* of the Lease */
	struct bt_str component, message;
	int64_t now_ns; /* wall clock */
};

/* Writes it as an Event of the core API. out is replaced. Source: resourcelock's LeaseLock.RecordEvent and
 * the recorder of client-go's tools/record, v0.36.3. */
void bt_lease_event_write(
	const struct bt_lease_record *lease, const struct bt_lease_event *event, struct bt_buf *out);

/* Writes the Lease; metadata and unknown fields are kept from old. out is replaced. */
void bt_lease_record_write(
	const struct bt_lease_record *old, const struct bt_lease_write *write, struct bt_buf *out);
