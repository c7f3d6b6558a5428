/* SPDX-License-Identifier: Apache-2.0
 * Wraps xxhash: 64-bit hashes of bytes. Not safe against adversaries; tables with untrusted keys bound their
 * size.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/base/str.h"

/* XXH3, 64 bits, of n bytes. */
uint64_t bt_hash_bytes(const void *bytes, size_t n);

/* The same for a text; ptr may be NULL if it is empty. */
static inline uint64_t bt_hash_str(struct bt_str text)
{
	return bt_hash_bytes(text.len ? text.ptr : "", text.len);
}

/* A hash as the key of a bt_map, where 0 is no key. */
static inline uint64_t bt_hash_key(uint64_t hash)
{
	return hash ? hash : 1;
}

/* Mixes one number (the finaliser of SplitMix64). */
static inline uint64_t bt_hash_u64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}
