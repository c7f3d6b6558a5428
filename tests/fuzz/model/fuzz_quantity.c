/* SPDX-License-Identifier: Apache-2.0
 * Parses any bytes as a quantity: a valid one can be rounded, added and written, and parsing its canonical
 * text gives the same quantity.
 */
#include "engine/base/check.h"
#include "engine/model/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* From 10^21 units on the text may lack its suffix, and the amount may be at its limit. */
	__extension__ const __int128 exact = (__int128)1000000000000000 * 1000000000000000;
	char text[BT_QUANTITY_TEXT_MAX];
	struct bt_quantity quantity;
	struct bt_quantity again;

	if (bt_quantity_parse((struct bt_str){(const char *)data, size}, &quantity) != BT_OK) {
		return 0;
	}
	struct bt_quantity sum = bt_quantity_add(bt_quantity_round_milli(quantity), quantity);
	BT_REQUIRE(sum.nano != 0 || (bt_quantity_value(sum) == 0 && bt_quantity_milli(sum) == 0));
	size_t len = bt_quantity_text(quantity, text);
	BT_REQUIRE(bt_quantity_parse((struct bt_str){text, len}, &again) == BT_OK);
	BT_REQUIRE(quantity.nano == again.nano || quantity.nano >= exact || quantity.nano <= -exact);
	return 0;
}
