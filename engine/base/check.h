/* SPDX-License-Identifier: Apache-2.0
 * Assertions for our own bugs. Bad input is a status with a diagnosis instead. Which one to use:
 *
 * - BT_REQUIRE: a caller's contract in calls that are rare compared with scheduling: creation, configuration,
 *   added and removed objects, the public interface. Always on, in Release too.
 * - BT_REQUIRE_HOT: the same where a call happens for every pod, node or value.
 * - BT_INVARIANT: the module's own guarantees: counts, links, orders, states and their transitions.
 *
 * The last two are on in every build but Release (BT_INVARIANTS=OFF), where they are compiled and cost
 * nothing. A condition takes time that does not grow with the cluster, and changes nothing.
 */
#pragma once

#include "engine/base/compiler.h"

/* Prints the place and the failed condition to standard error and aborts. Context: any thread. */
BT_NORETURN void bt_check_failed(const char *file, int line, const char *kind, const char *condition);

#define BT_CHECK_AS(kind, condition)                                                                         \
	((condition) ? (void)0 : bt_check_failed(__FILE__, __LINE__, kind, #condition))

#define BT_REQUIRE(condition) BT_CHECK_AS("requirement", condition)

#if BT_INVARIANTS
#define BT_REQUIRE_HOT(condition) BT_CHECK_AS("requirement", condition)
#define BT_INVARIANT(condition)	  BT_CHECK_AS("invariant", condition)
#else
/* Compiled but never evaluated, so that variables used only in assertions count as used. */
#define BT_REQUIRE_HOT(condition) ((void)(0 && (condition)))
#define BT_INVARIANT(condition)	  ((void)(0 && (condition)))
#endif
