/* SPDX-License-Identifier: Apache-2.0
 * The scan for processors with AVX2; this file alone is compiled for them.
 */
#include "engine/score/scan_int.h"

size_t bt_scan_best_avx2(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start)
{
	return best_slot(a, b, padded_n, start);
}
