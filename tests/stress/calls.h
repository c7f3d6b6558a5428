/* SPDX-License-Identifier: Apache-2.0
 * Calls of the C library, counted: the linker's --wrap (CALLS_WRAPPED in CMakeLists.txt) leads them through
 * calls.c.
 */
#pragma once

#include <stdint.h>

struct calls {
	uint32_t allocation_n; /* and frees */
	uint32_t lock_n;       /* mutexes, conditions, read-write locks */
	uint32_t log_n;	       /* stdio and write */
};

/* Counts the calling thread's calls from now on, and up to now. */
void calls_begin(void);
struct calls calls_end(void);
