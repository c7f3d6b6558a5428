/* SPDX-License-Identifier: Apache-2.0
 * The scan for any processor, and the choice.
 */
#include "engine/score/scan_int.h"

size_t bt_scan_best_portable(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start)
{
	return best_slot(a, b, padded_n, start);
}

size_t bt_scan_best(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start)
{
#ifdef BT_HAVE_AVX2
	if (__builtin_cpu_supports("avx2")) {
		return bt_scan_best_avx2(a, b, padded_n, start);
	}
#endif
	return bt_scan_best_portable(a, b, padded_n, start);
}
