/* SPDX-License-Identifier: Apache-2.0
 * The wire of protobuf: every value cut at every byte, and values of each type stepped over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/format/wire.h"

static struct bt_wire_in wire_of(const char *bytes, size_t n)
{
	return (struct bt_wire_in){.at = (const uint8_t *)bytes, .end = (const uint8_t *)bytes + n};
}

static void varints_have_up_to_64_bits(void **state)
{
	struct bt_wire_in in = wire_of("\x7f\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);
	uint64_t number;

	(void)state;
	assert_true(bt_wire_varint(&in, &number) && number == 127);
	assert_true(bt_wire_varint(&in, &number) && number == 300);
	assert_true(bt_wire_varint(&in, &number) && number == UINT64_MAX);
	assert_ptr_equal(in.at, in.end);
	in = wire_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
	assert_false(bt_wire_varint(&in, &number) || in.cut);
	assert_string_equal(in.error, "a number has more than 64 bits");
}

static void fields_without_a_number_are_rejected(void **state)
{
	struct bt_wire_in in = wire_of("\x0a\x07", 2);
	uint32_t number, type;

	(void)state;
	assert_true(bt_wire_tag(&in, &number, &type));
	assert_int_equal(number, 1);
	assert_int_equal(type, BT_WIRE_BYTES);
	assert_false(bt_wire_tag(&in, &number, &type));
	assert_non_null(in.error);
}

static void values_are_stepped_over_whole_or_reported_as_cut(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		uint32_t type;
	} rows[] = {{"\x96\x01", 2, BT_WIRE_VARINT}, {"12345678", 8, BT_WIRE_FIXED64},
		{"\x03"
		 "abc",
			4, BT_WIRE_BYTES},
		{"1234", 4, BT_WIRE_FIXED32}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_wire_in whole = wire_of(rows[i].bytes, rows[i].n);

		assert_true(bt_wire_skip(&whole, rows[i].type));
		assert_ptr_equal(whole.at, whole.end);
		for (size_t n = 0; n < rows[i].n; n++) {
			struct bt_wire_in part = wire_of(rows[i].bytes, n);

			assert_false(bt_wire_skip(&part, rows[i].type));
			assert_true(part.cut && part.error);
		}
	}
}

static void groups_are_rejected(void **state)
{
	struct bt_wire_in in = wire_of("\x01", 1);

	(void)state;
	assert_false(bt_wire_skip(&in, 3));
	assert_true(in.error && !in.cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_have_up_to_64_bits),
		cmocka_unit_test(fields_without_a_number_are_rejected),
		cmocka_unit_test(values_are_stepped_over_whole_or_reported_as_cut),
		cmocka_unit_test(groups_are_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
