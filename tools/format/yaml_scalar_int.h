/* SPDX-License-Identifier: Apache-2.0
 * The type of a YAML scalar by the rules of go-yaml v2, which kubectl uses.
 */
#pragma once

#include <stdbool.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

enum bt_scalar {
	BT_SCALAR_STRING,
	BT_SCALAR_NULL,
	BT_SCALAR_BOOL,
	BT_SCALAR_INT,
	BT_SCALAR_UINT, /* above the largest int64 */
	BT_SCALAR_FLOAT,
	BT_SCALAR_NO_NUMBER /* infinite or NaN: not representable in JSON */
};

/* Resolves a plain scalar. Anything but a string is appended to out as JSON; as_key: in its form as a key. */
enum bt_scalar bt_scalar_resolve(struct bt_str text, bool as_key, struct bt_buf *out);
