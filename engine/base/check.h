/* SPDX-License-Identifier: Apache-2.0
 * Assertions for our own bugs: BT_REQUIRE is the caller's contract and always on, BT_INVARIANT is ours and
 * off in benchmark builds. Never for bad input, which is a status with a diagnosis.
 */
#pragma once

#include "engine/base/compiler.h"

/* Prints the place and the broken condition on standard error and aborts. Context: any thread. */
BT_NORETURN void bt_check_failed(const char *file, int line, const char *kind, const char *condition);

#define BT_REQUIRE(condition)                                                                                \
	((condition) ? (void)0 : bt_check_failed(__FILE__, __LINE__, "requirement", #condition))

#if BT_INVARIANTS
#define BT_INVARIANT(condition)                                                                              \
	((condition) ? (void)0 : bt_check_failed(__FILE__, __LINE__, "invariant", #condition))
#else
#define BT_INVARIANT(condition) ((void)sizeof(!(condition)))
#endif
