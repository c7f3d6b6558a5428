/* SPDX-License-Identifier: Apache-2.0
 * Seeded random numbers: SplitMix64, as a stream and as a function of (seed, counter). Decisions use the
 * counter form: it does not depend on earlier calls. Source: Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators".
 */
#pragma once

#include <stdint.h>

#include "engine/base/hash.h"

struct bt_rng {
	uint64_t state;
};

static inline uint64_t bt_rng_at(uint64_t seed, uint64_t counter)
{
	return bt_hash_u64(seed + (counter + 1) * 0x9e3779b97f4a7c15u);
}

static inline uint64_t bt_rng_next(struct bt_rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15u;
	return bt_hash_u64(rng->state);
}

/* A number in [0, n) from 64 random bits; n > 0. The bias is below n / 2^32 (Lemire's multiply-shift). */
static inline uint32_t bt_rng_scale(uint64_t bits, uint32_t n)
{
	return (uint32_t)(((bits >> 32) * n) >> 32);
}

static inline uint32_t bt_rng_below(struct bt_rng *rng, uint32_t n)
{
	return bt_rng_scale(bt_rng_next(rng), n);
}
