/* SPDX-License-Identifier: Apache-2.0
 * Decompresses a response body (gzip) as it arrives. Context: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/str.h"

struct bt_gunzip;

struct bt_gunzip *bt_gunzip_create(void);
void bt_gunzip_destroy(struct bt_gunzip *gunzip);

/* Takes from the beginning of *in, and writes up to cap bytes, *out_n. Where that was all of cap, more may
 * come without input. Returns: false: it is no gzip. */
bool bt_gunzip_take(struct bt_gunzip *gunzip, struct bt_str *in, char *out, size_t cap, size_t *out_n);

/* Was the stream complete? */
bool bt_gunzip_is_whole(const struct bt_gunzip *gunzip);
