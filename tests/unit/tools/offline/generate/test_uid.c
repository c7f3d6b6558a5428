/* SPDX-License-Identifier: Apache-2.0
 * UIDs of generated objects: in the format of a UUID, unique by kind and number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/offline/generate/generate_int.h"

static void assert_uid(enum bt_kind kind, uint64_t ix, const char *want)
{
	char uid[BT_GEN_UID_BYTES];

	bt_gen_uid(uid, kind, ix);
	assert_int_equal(strlen(want), BT_GEN_UID_BYTES);
	assert_memory_equal(uid, want, BT_GEN_UID_BYTES);
}

static void a_uid_has_its_kind_and_number(void **state)
{
	(void)state;
	assert_uid((enum bt_kind)0, 0, "00000000-0000-4000-8000-000000000000");
	assert_uid((enum bt_kind)0x1a, 0xbeef, "0000001a-0000-4000-8000-00000000beef");
}

static void the_largest_number_does_not_reach_the_fixed_parts(void **state)
{
	(void)state;
	assert_uid((enum bt_kind)1, UINT64_MAX, "00000001-0000-4000-8000-ffffffffffff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_uid_has_its_kind_and_number),
		cmocka_unit_test(the_largest_number_does_not_reach_the_fixed_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
