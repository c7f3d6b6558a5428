/* SPDX-License-Identifier: Apache-2.0
 * Annotations for helgrind and drd, in builds with the CMake option BT_VALGRIND: they support pthreads, but
 * neither C11 atomics nor the synchronization of ck, liburcu and the kernel. Used by atomic.h, which has a
 * second form of its macros for them.
 */
#pragma once

#include <stddef.h>

/* Accesses to these bytes are atomic, so no two of them are a race. */
void bt_valgrind_atomic(const void *address, size_t bytes);

/*
 * Annotates a release: a later acquire of the address, in any thread, happens after this thread's accesses.
 */
void bt_valgrind_release(const void *address);
void bt_valgrind_acquire(const void *address);
