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

/* Reads from the beginning of *in, and writes up to cap bytes, *out_n. When *out_n is cap, more output may
 * follow without input. Returns: false: not gzip. */
bool bt_gunzip_take(struct bt_gunzip *gunzip, struct bt_str *in, char *out, size_t cap, size_t *out_n);

/* Whether the stream was complete. */
bool bt_gunzip_is_whole(const struct bt_gunzip *gunzip);
