/* SPDX-License-Identifier: Apache-2.0
 * Annotations for helgrind and drd, in builds with the CMake option BT_VALGRIND: they know threads and locks
 * of pthreads, but neither C11 atomics nor what ck, liburcu and the kernel order. For atomic.h, which has a
 * second form of its macros for that.
 */
#pragma once

#include <stddef.h>

/* Accesses to these bytes are atomic, so no two of them are a race. */
void bt_valgrind_atomic(const void *address, size_t bytes);

/* An acquire of the address afterwards, in any thread, comes after what this thread has done. */
void bt_valgrind_release(const void *address);
void bt_valgrind_acquire(const void *address);
