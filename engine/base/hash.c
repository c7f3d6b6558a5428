/* SPDX-License-Identifier: Apache-2.0
 * Hashes by xxhash.
 */
#include "engine/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t bt_hash_bytes(const void *bytes, size_t n)
{
	return XXH3_64bits(bytes, n);
}
