/* SPDX-License-Identifier: Apache-2.0
 * What stress tests share: how long they take, threads that begin together, and holding a thread at every
 * race point.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/base/atomic.h"

/* When a test ends: BT_STRESS_SECONDS after its start, or a fraction of a second. */
int64_t stress_end_ns(void);
bool stress_goes_on(int64_t end_ns);

enum { STRESS_THREADS_MAX = 8 };

/* Threads that run(context, ix) with their number. None begins before all are there. */
struct stress_team {
	struct stress_member {
		struct stress_team *team;
		void (*run)(void *context, uint32_t ix);
		void *context;
		uint32_t ix;
		pthread_t thread;
	} members[STRESS_THREADS_MAX];
	uint32_t member_n;
	_Atomic uint32_t begins;
};

void stress_add(struct stress_team *team, void (*run)(void *context, uint32_t ix), void *context);

/* Lets them begin, waits for all to end, and empties the team. */
void stress_run(struct stress_team *team);

/* Lets the calling thread run on the ix-th CPU alone of those that it may use; if there are
 * fewer, wherever it may. */
void stress_pin(uint32_t ix);

/* Looks again, politely, at what another thread is about to do. */
void stress_wait_turn(uint32_t *turns);

/*
 * Runs the scenario until it has hit at least point_n race points with this prefix. Then, for each of them,
 * runs it again and holds a thread there for a moment, the first that comes and one that comes later. Fails
 * when nobody came.
 */
void stress_hold_at_each(
	const char *prefix, size_t point_n, void (*scenario)(void *context), void *context, uint64_t seed);

/* A check in any thread: a failure prints it and aborts, so that nobody waits for the thread that failed. */
#define STRESS_CHECK(condition) ((condition) ? (void)0 : stress_failed(__FILE__, __LINE__, #condition))
void stress_failed(const char *file, int line, const char *condition);
