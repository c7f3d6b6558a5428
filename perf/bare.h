/* SPDX-License-Identifier: Apache-2.0
 * A loop that reads two columns and does almost nothing else: the lower bound of any scan over them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The bits that are set in any number of the columns. */
uint16_t bt_bare_portable(const uint16_t *a, const uint16_t *b, size_t n);

/* The same for AVX2. Requires: the processor has it. */
uint16_t bt_bare_avx2(const uint16_t *a, const uint16_t *b, size_t n);
