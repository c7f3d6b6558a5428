/* SPDX-License-Identifier: Apache-2.0
 * resource.Quantity: a fixed-point number with a suffix, as Kubernetes writes amounts of resources.
 * Exact to a billionth: finer digits round away from zero when read, as upstream does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/status.h"
#include "engine/base/str.h"

/* How the number was written; decides how bt_quantity_format writes it. */
enum bt_quantity_format {
	BT_DECIMAL_SI = 0,
	BT_BINARY_SI,
	BT_DECIMAL_EXPONENT
};

struct bt_quantity {
	__extension__ __int128 nano; /* the value times 10^9 */
	enum bt_quantity_format format;
};

#define BT_QUANTITY_TEXT_MAX 64

/*
 * Reads a quantity: sign, digits with at most one point, then a suffix (n u m k M G T P E, Ki Mi Gi Ti Pi Ei, e or E with an exponent).
 * Context : any thread; no allocation.
 * Returns : BT_OK; BT_INVALID when the text does not follow the grammar.
 */
enum bt_status bt_quantity_parse(struct bt_str text, struct bt_quantity *out_quantity);

/* The amount in whole units, rounded up as resource.Quantity.Value does; saturated where that is. */
int64_t bt_quantity_value(struct bt_quantity quantity);

/* The amount in thousandths, rounded up as resource.Quantity.MilliValue does. */
int64_t bt_quantity_milli(struct bt_quantity quantity);

static inline bool bt_quantity_is_zero(struct bt_quantity quantity)
{
	return quantity.nano == 0;
}

/* Writes the canonical text of the quantity, NUL-terminated. Returns its length. */
size_t bt_quantity_text(struct bt_quantity quantity, char out_text[BT_QUANTITY_TEXT_MAX]);
