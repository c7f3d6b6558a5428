/* SPDX-License-Identifier: Apache-2.0
 * The bare loop for processors with AVX2; this file alone is compiled for them.
 */
#include "bare.h"

uint16_t bt_bare_avx2(const uint16_t *a, const uint16_t *b, size_t n)
{
	uint16_t bits = 0;

	for (size_t i = 0; i < n; i++) {
		bits |= a[i] | b[i];
	}
	return bits;
}
