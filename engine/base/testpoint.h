/* SPDX-License-Identifier: Apache-2.0
 * BT_TESTPOINT("module.function.where") marks race windows. In builds with the CMake option BT_TESTPOINTS
 * (all but release builds) a point is a branch that is not taken until a test delays threads at all points,
 * or holds one at a chosen point; in others it compiles to nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/compiler.h"

/* owner: testpoint.c */
struct bt_testpoint_state {
	const char *name;
	struct bt_testpoint_state *next;
	_Atomic uint32_t listed;
	_Atomic uint64_t hit_n;
};

extern _Atomic uint32_t bt_testpoint_mode; /* private: the points' mode; 0: off */

/* private: the slow path of a point */
void bt_testpoint_hit(struct bt_testpoint_state *point);

#if BT_TESTPOINTS
#define BT_TESTPOINT(point_name)                                                                             \
	do {                                                                                                 \
		static struct bt_testpoint_state testpoint_here = {.name = (point_name)};                    \
		if (BT_UNLIKELY(bt_load_relaxed(&bt_testpoint_mode))) {                                      \
			bt_testpoint_hit(&testpoint_here);                                                   \
		}                                                                                            \
	} while (0)
#else
#define BT_TESTPOINT(point_name) ((void)sizeof(point_name))
#endif

/*
 * For tests; from one thread, which controls the others. Without BT_TESTPOINTS they have no effect.
 */

/* Are points compiled in? */
bool bt_testpoint_is_built(void);

/* Makes points record hits, for bt_testpoint_points. */
void bt_testpoint_record(void);

/* Delays threads at some of the points: a few spins, a yield, or a short sleep. The seed and the order in
 * which threads first reach a point select which. */
void bt_testpoint_delay(uint64_t seed);

/* Stops the next thread that reaches the point after skip_n passes; others pass. A held thread keeps its
 * state, for example as a registered online reader. One point at a time. */
void bt_testpoint_hold(const char *name, uint64_t skip_n);

/* Waits until a thread is held. Returns: false when timeout_ns passed first. */
bool bt_testpoint_await_held(int64_t timeout_ns);

/* Resumes the held thread, or cancels the hold. */
void bt_testpoint_release(void);

/* Turns points off, clears hits, and resumes a held thread. */
void bt_testpoint_off(void);

/* The names of up to n different points that were hit since bt_testpoint_off, in no order.
 * Returns: how many there are. */
size_t bt_testpoint_points(const char **out_names, size_t n);
