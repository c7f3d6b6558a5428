/* SPDX-License-Identifier: Apache-2.0
 * Hashes: published values, and every input bit matters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/hash.h"

static void bytes_hash_to_the_published_values_of_xxh3(void **state)
{
	(void)state;
	assert_true(bt_hash_bytes("", 0) == 0x2d06800538d394c2u);
	assert_true(bt_hash_bytes("a", 1) == 0xe6c632b61e964e1fu);
	assert_true(bt_hash_bytes("abc", 3) == 0x78af5f94892f3950u);
}

static void a_hash_depends_on_every_byte_and_on_the_length(void **state)
{
	char bytes[300];

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	for (size_t n = 1; n <= sizeof(bytes); n++) {
		uint64_t whole = bt_hash_bytes(bytes, n);

		assert_true(whole != bt_hash_bytes(bytes, n - 1));
		bytes[n - 1] ^= 1;
		assert_true(whole != bt_hash_bytes(bytes, n));
		bytes[n - 1] ^= 1;
		assert_true(whole == bt_hash_bytes(bytes, n));
	}
}

static void numbers_mix_without_collisions_in_the_low_bits(void **state)
{
	static unsigned char hits[1 << 16];
	int worst = 0;

	(void)state;
	assert_true(bt_hash_u64(0) == 0);
	for (uint64_t i = 0; i < 1 << 16; i++) {
		unsigned char *cell = &hits[bt_hash_u64(i << 32) & 0xffff];

		worst = ++*cell > worst ? *cell : worst;
	}
	/* One per cell on average; ten has a probability of 10^-7 for each cell. */
	assert_true(worst < 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_hash_to_the_published_values_of_xxh3),
		cmocka_unit_test(a_hash_depends_on_every_byte_and_on_the_length),
		cmocka_unit_test(numbers_mix_without_collisions_in_the_low_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
