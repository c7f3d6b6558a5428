/* SPDX-License-Identifier: Apache-2.0
 * The seed of a random test: printed, and repeated by setting BT_SEED.
 */
#pragma once

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline uint64_t seed_of_test(void)
{
	const char *given = getenv("BT_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : 20260101;

	printf("BT_SEED=%" PRIu64 "\n", seed);
	return seed;
}
