/* SPDX-License-Identifier: Apache-2.0
 * gzip and zstd, recognised by their first bytes. The seam to zlib and libzstd is unpack.c.
 */
#pragma once

#include <stddef.h>

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"

enum bt_packing { BT_PACKING_NONE, BT_PACKING_GZIP, BT_PACKING_ZSTD };

enum bt_packing bt_packing(struct bt_str bytes);

/*
 * Appends what bytes, one or more members or frames, unfold to.
 * Returns : BT_OK; BT_TRUNCATED; BT_RANGE when what has been read unfolds to more than
 * bt_input_unpacked_max has it, with raised; BT_INVALID when it is damaged.
 */
enum bt_status bt_unpack(enum bt_packing packing, struct bt_str bytes, size_t raised, struct bt_buf *out);
