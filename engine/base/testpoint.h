/* SPDX-License-Identifier: Apache-2.0
 * Places where threads can meet in an unlucky order carry BT_TESTPOINT("module.function.where"). In builds
 * with the CMake option BT_TESTPOINTS (all but release builds) a point is a branch that is never taken
 * until a test
 * delays threads at all points, or holds one at a chosen point; in others it is nothing.
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

extern _Atomic uint32_t bt_testpoint_mode; /* private: what points do; 0: nothing */

/* private: the part of a point behind its branch */
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

/* Whether points do anything in this build. */
bool bt_testpoint_is_built(void);

/* From now on points note that they were hit, for bt_testpoint_points. */
void bt_testpoint_record(void);

/* From now on threads linger at some of the points that they pass: a few turns, a yield, or a short sleep.
 * The seed and the order in which threads first come decide which. */
void bt_testpoint_delay(uint64_t seed);

/* From now on the thread that comes to the point, after skip_n have passed it, stops there; the others pass.
 * A thread that is held stays what it was: a registered reader that is online, for instance. One point at a
 * time. */
void bt_testpoint_hold(const char *name, uint64_t skip_n);

/* Waits until a thread is held. Returns: false when timeout_ns passed first. */
bool bt_testpoint_await_held(int64_t timeout_ns);

/* Lets the held thread go on, or gives up holding one. */
void bt_testpoint_release(void);

/* Points do nothing any more, and have not been hit; nobody is held. */
void bt_testpoint_off(void);

/* The names of up to n different points that were hit since bt_testpoint_off, in no order.
 * Returns: how many there are. */
size_t bt_testpoint_points(const char **out_names, size_t n);
