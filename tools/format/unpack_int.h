/* SPDX-License-Identifier: Apache-2.0
 * gzip and zstd, recognised by their first bytes. zlib and libzstd are used only by unpack.c.
 */
#pragma once

#include <stddef.h>

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"

enum bt_packing { BT_PACKING_NONE, BT_PACKING_GZIP, BT_PACKING_ZSTD };

enum bt_packing bt_packing(struct bt_str bytes);

/*
 * Appends the decompressed bytes of one or more members or frames.
 * Returns : BT_OK; BT_TRUNCATED; BT_RANGE when the output exceeds bt_input_unpacked_max, with raised;
 * BT_INVALID when damaged.
 */
enum bt_status bt_unpack(enum bt_packing packing, struct bt_str bytes, size_t raised, struct bt_buf *out);
