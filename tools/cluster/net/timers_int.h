/* SPDX-License-Identifier: Apache-2.0
 * Functions to call at a time, earliest first; those of one time in the order of their registration.
 * Context: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bt_timer {
	int64_t due_ns;
	uint64_t number; /* private */
	void (*call)(void *context);
	void *context;
};

/* A binary heap. An empty one is all zeroes. */
struct bt_timers {
	struct bt_timer *items;
	size_t n, cap_n;
	uint64_t timer_n;
};

void bt_timers_fini(struct bt_timers *timers);
void bt_timers_add(struct bt_timers *timers, int64_t due_ns, void (*call)(void *context), void *context);

/* When the first one is due; INT64_MAX: none. */
int64_t bt_timers_due_ns(const struct bt_timers *timers);

/* Takes the first one. Returns false when none is due. */
bool bt_timers_take(struct bt_timers *timers, int64_t now_ns, struct bt_timer *out_timer);

/* Removes all timers of a context. */
void bt_timers_forget(struct bt_timers *timers, const void *context);
