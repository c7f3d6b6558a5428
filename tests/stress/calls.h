/* SPDX-License-Identifier: Apache-2.0
 * Counts calls of the C library: the linker's --wrap (CALLS_WRAPPED in CMakeLists.txt)
 * redirects them to calls.c.
 */
#pragma once

#include <stdint.h>

struct calls {
	uint32_t allocation_n; /* and frees */
	uint32_t lock_n;       /* mutexes, conditions, read-write locks */
	uint32_t log_n;	       /* stdio and write */
};

/* Start and stop counting the calls of the calling thread. */
void calls_begin(void);
struct calls calls_end(void);
