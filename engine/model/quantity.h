/* SPDX-License-Identifier: Apache-2.0
 * resource.Quantity: a fixed-point number with a suffix, as Kubernetes writes amounts of resources.
 * Exact to a billionth: finer digits round away from zero when read, as upstream does.
 *
 * Amounts whose Value fits an int64 are exact. Beyond that upstream returns 0 or the low 64 bits, depending
 * on its representation of the number; the private fields record the representation, so that berth returns
 * the same. Big decimals above 1.2 * 10^21 are the exception: they are capped at that limit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/status.h"
#include "engine/base/str.h"

/* The notation of the number, which bt_quantity_text uses. */
enum bt_quantity_format { BT_DECIMAL_SI = 0, BT_BINARY_SI, BT_DECIMAL_EXPONENT };

/* A quantity with only nano and format set is valid, too. */
struct bt_quantity {
	/*
	 * The value times 10^9. At most 2^100 in magnitude (1.2 * 10^21 units), so that millions of them can
	 * be added.
	 */
	__extension__ __int128 nano;
	/*
	 * Private. Not 0: upstream has a 64-bit amount, mantissa * 10^nano_exp nanos. 0 with nonzero nano:
	 * upstream has a big decimal in units of 10^nano_exp nanos.
	 */
	int64_t mantissa;
	uint32_t nano_exp;
	enum bt_quantity_format format;
};

#define BT_QUANTITY_TEXT_MAX 64

/*
 * Reads a quantity: sign, digits with at most one point, then a suffix: n u m k M G T P E, Ki Mi Gi Ti Pi Ei,
 * or e or E with an exponent. Binary suffixes are capped at 2^63-1. The caller strips surrounding blanks.
 *
 * Context : any thread; no allocation.
 * Returns : BT_OK; BT_INVALID when the text does not follow the grammar.
 */
enum bt_status bt_quantity_parse(struct bt_str text, struct bt_quantity *out_quantity);

/* Private: the amount in units of 10^unit_exp nanos. */
int64_t bt_quantity_scaled(const struct bt_quantity *quantity, uint32_t unit_exp);

/* The amount in whole units, rounded up as resource.Quantity.Value does, beyond int64 too. */
static inline int64_t bt_quantity_value(struct bt_quantity quantity)
{
	/* The common case, without conversion. */
	return quantity.mantissa && quantity.nano_exp == 9 ? quantity.mantissa
							   : bt_quantity_scaled(&quantity, 9);
}

/* The amount in thousandths, rounded up as resource.Quantity.MilliValue does, beyond int64 too. */
static inline int64_t bt_quantity_milli(struct bt_quantity quantity)
{
	return quantity.mantissa && quantity.nano_exp == 6 ? quantity.mantissa
							   : bt_quantity_scaled(&quantity, 6);
}

/* The amount rounded away from zero to thousandths, as the API server's defaulting does. */
struct bt_quantity bt_quantity_round_milli(struct bt_quantity quantity);

/* The sum; a zero gets the other operand's format. */
struct bt_quantity bt_quantity_add(struct bt_quantity a, struct bt_quantity b);

/* The difference; a zero gets the other operand's format. */
struct bt_quantity bt_quantity_sub(struct bt_quantity a, struct bt_quantity b);

/* A quantity of whole units, or of thousandths. */
struct bt_quantity bt_quantity_of_int64(int64_t value, enum bt_quantity_format format);
struct bt_quantity bt_quantity_of_milli(int64_t milli, enum bt_quantity_format format);

/*
 * The amount as resource.Quantity.AsInt64 returns it: only if upstream has a 64-bit amount of whole units.
 * Returns : false, and *out_value untouched, for fractions, even of zeroes ("0.0"), and for big decimals.
 */
bool bt_quantity_int64(struct bt_quantity quantity, int64_t *out_value);

/* The amount as resource.Quantity.AsApproximateFloat64 returns it, to the last bit. */
double bt_quantity_approximate(struct bt_quantity quantity);

/* Negative, 0 or positive as a is below, equal to or above b. */
static inline int bt_quantity_cmp(struct bt_quantity a, struct bt_quantity b)
{
	return (a.nano > b.nano) - (a.nano < b.nano);
}

/* Writes the canonical text of the quantity, NUL-terminated. Returns its length. */
size_t bt_quantity_text(struct bt_quantity quantity, char out_text[BT_QUANTITY_TEXT_MAX]);
