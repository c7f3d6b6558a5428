/* SPDX-License-Identifier: Apache-2.0
 * Shared by stress tests: duration, threads that start together, and holding a thread at every testpoint.
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

/* Threads that run(context, ix) with their index. None starts before all exist. */
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

/* Starts them, waits for all, and empties the team. */
void stress_run(struct stress_team *team);

/* Pins the calling thread to the ix-th CPU that it may use; with fewer CPUs, does nothing. */
void stress_pin(uint32_t ix);

/* Spins, then yields, while waiting for another thread. */
void stress_wait_turn(uint32_t *turns);

/*
 * Runs the scenario until it has hit at least point_n testpoints with this prefix. Then, for each of them,
 * runs it again and holds a thread there for a while: the first one that reaches it, and a later one.
 * Fails when no thread does.
 */
void stress_hold_at_each(
	const char *prefix, size_t point_n, void (*scenario)(void *context), void *context, uint64_t seed);

/* A check for any thread: a failure prints it and aborts, so that no other thread
 * waits for the failed one. */
#define STRESS_CHECK(condition) ((condition) ? (void)0 : stress_failed(__FILE__, __LINE__, #condition))
void stress_failed(const char *file, int line, const char *condition);
