/* SPDX-License-Identifier: Apache-2.0
 * Names: one number per string, as long as it is held, or permanently.
 */
#include "object_fixture.h"

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "seed.h"

static void a_string_has_one_number(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	uint32_t a = bt_intern_add(intern, bt_str("alpha")), b = bt_intern_add(intern, bt_str("beta"));

	(void)state;
	assert_int_not_equal(a, b);
	assert_int_equal(bt_intern_add(intern, bt_str("alpha")), a);
	assert_int_equal(bt_intern_find(intern, bt_str("beta")), b);
	assert_str(bt_intern_str(intern, a), "alpha");
	bt_intern_destroy(intern);
}

static void unknown_strings_are_not_found(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	uint32_t before = bt_intern_count(intern);

	(void)state;
	assert_int_equal(bt_intern_find(intern, bt_str("never")), BT_NAME_NONE);
	assert_int_equal(bt_intern_count(intern), before);
	assert_int_equal(bt_intern_str(intern, BT_NAME_NONE).len, 0);
	bt_intern_destroy(intern);
}

static void fixed_names_have_their_numbers(void **state)
{
	struct bt_intern *intern = bt_intern_create();

	(void)state;
	assert_int_equal(bt_intern_find(intern, bt_str("")), BT_NAME_EMPTY);
	assert_int_equal(bt_intern_find(intern, bt_str("NoSchedule")), BT_NAME_NO_SCHEDULE);
	assert_int_equal(bt_intern_find(intern, bt_str("PreferNoSchedule")), BT_NAME_PREFER_NO_SCHEDULE);
	assert_int_equal(bt_intern_find(intern, bt_str("NoExecute")), BT_NAME_NO_EXECUTE);
	assert_int_equal(bt_intern_find(intern, bt_str("node.kubernetes.io/unschedulable")),
		BT_NAME_UNSCHEDULABLE_TAINT);
	assert_int_equal(bt_intern_find(intern, bt_str("default-scheduler")), BT_NAME_DEFAULT_SCHEDULER);
	assert_int_equal(bt_intern_find(intern, bt_str("0.0.0.0")), BT_NAME_ANY_IP);
	assert_int_equal(bt_intern_find(intern, bt_str("topology.kubernetes.io/zone")), BT_NAME_ZONE);
	assert_int_equal(bt_intern_find(intern, bt_str("kubernetes.io/hostname")), BT_NAME_HOSTNAME);
	bt_intern_destroy(intern);
}

static void many_strings_stay_apart_and_in_place(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	const char *first = bt_intern_str(intern, bt_intern_add(intern, bt_str("name-0"))).ptr;
	uint32_t numbers[5000];
	char text[32];

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name-%" PRIu32, i);
		numbers[i] = bt_intern_add(intern, bt_str(text));
	}
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name-%" PRIu32, i);
		assert_int_equal(bt_intern_find(intern, bt_str(text)), numbers[i]);
		assert_str(bt_intern_str(intern, numbers[i]), text);
	}
	assert_ptr_equal(bt_intern_str(intern, numbers[0]).ptr, first);
	bt_intern_destroy(intern);
}

static void bytes_of_any_kind_are_names(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	struct bt_str nul = {"a\0b", 3}, shorter = {"a", 1};

	(void)state;
	assert_int_not_equal(bt_intern_add(intern, nul), bt_intern_add(intern, shorter));
	assert_int_equal(bt_intern_str(intern, bt_intern_find(intern, nul)).len, 3);
	bt_intern_destroy(intern);
}

static void held_names_go_with_their_last_holder(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	uint32_t before = bt_intern_count(intern), name = bt_intern_hold(intern, bt_str("pod-1"));

	(void)state;
	assert_int_equal(bt_intern_hold(intern, bt_str("pod-1")), name);
	bt_intern_hold_again(intern, name);
	bt_intern_release(intern, name);
	bt_intern_release(intern, name);
	assert_int_equal(bt_intern_find(intern, bt_str("pod-1")), name);
	assert_str(bt_intern_str(intern, name), "pod-1");
	bt_intern_release(intern, name);
	assert_int_equal(bt_intern_find(intern, bt_str("pod-1")), BT_NAME_NONE);
	assert_int_equal(bt_intern_count(intern), before);
	bt_intern_hold_again(intern, BT_NAME_NONE);
	bt_intern_release(intern, BT_NAME_NONE);
	bt_intern_destroy(intern);
}

static void pinned_names_stay(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	uint32_t added = bt_intern_hold(intern, bt_str("a")), pinned = bt_intern_hold(intern, bt_str("b"));

	(void)state;
	assert_int_equal(bt_intern_add(intern, bt_str("a")), added);
	bt_intern_pin(intern, pinned);
	for (int i = 0; i < 3; i++) {
		bt_intern_release(intern, added);
		bt_intern_release(intern, pinned);
	}
	assert_int_equal(bt_intern_find(intern, bt_str("a")), added);
	assert_int_equal(bt_intern_hold(intern, bt_str("b")), pinned);
	assert_str(bt_intern_str(intern, pinned), "b");
	bt_intern_destroy(intern);
}

/* Like the pods of a cluster that are added and deleted; of all lengths, including
 * names too long for a record. */
static void memory_follows_the_names_that_are_held(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	static uint32_t held[500];
	char text[1200];
	size_t early = 0;

	(void)state;
	memset(held, 0, sizeof(held));
	memset(text, 'x', sizeof(text));
	for (uint32_t i = 0; i < 300000; i++) {
		int n = snprintf(text, sizeof(text), "pod-%" PRIu32, i);
		text[n] = 'x';
		size_t len = i % 7 ? 20 + i % 30 : 200 + i % 900;
		uint32_t at = i % COUNT_OF(held);
		bt_intern_release(intern, held[at]);
		held[at] = bt_intern_hold(intern, (struct bt_str){text, len});
		assert_int_equal(bt_intern_str(intern, held[at]).len, len);
		assert_memory_equal(bt_intern_str(intern, held[at]).ptr, text, len);
		assert_int_equal(bt_intern_str(intern, held[at]).ptr[len], 0);
		early = i == 100000 ? bt_mem_in_use_bytes() : early;
	}
	assert_in_range(bt_mem_in_use_bytes(), 0, early + 65536);
	assert_int_equal(bt_intern_count(intern), BT_NAME_FIXED_N - 1 + COUNT_OF(held));
	bt_intern_destroy(intern);
}

/* Of very many names few remain, scattered, and new ones replace the others: memory is near to what these
 * need, and does not grow when that is repeated. */
static void memory_of_names_that_have_gone_is_given_back(void **state)
{
	enum { MANY = 200000, EACH = 100 };
	struct bt_intern *intern = bt_intern_create();
	uint32_t *held = bt_mem_zalloc(MANY, sizeof(*held));
	/* 0: a sanitizer's allocator, which does not report it. */
	size_t before = bt_mem_in_use_bytes(), most = 0, left = 0;
	char text[64];

	(void)state;
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < MANY; i++) {
			int n = snprintf(
				text, sizeof(text), "round-%" PRIu32 "-%0*" PRIu32, round, (int)(i % 40), i);

			bt_intern_release(intern, held[i]);
			held[i] = bt_intern_hold(intern, (struct bt_str){text, (size_t)n});
		}
		size_t now = bt_mem_in_use_bytes() - before;
		assert_in_range(now, 0, round ? most + most / 8 : SIZE_MAX);
		most = round ? most : now;
		for (uint32_t i = 0; i < MANY; i++) {
			if (i % EACH) {
				bt_intern_release(intern, held[i]);
				held[i] = BT_NAME_NONE;
			}
		}
		for (uint32_t i = 0; i < MANY; i += EACH) {
			int n = snprintf(text, sizeof(text), "left-%" PRIu32, i);

			bt_intern_release(intern, held[i]);
			held[i] = bt_intern_hold(intern, (struct bt_str){text, (size_t)n});
		}
		for (uint32_t i = 0; i < MANY; i += EACH) {
			int n = snprintf(text, sizeof(text), "left-%" PRIu32, i);

			assert_int_equal(bt_intern_find(intern, (struct bt_str){text, (size_t)n}), held[i]);
			assert_string_equal(bt_intern_str(intern, held[i]).ptr, text);
		}
		left = bt_mem_in_use_bytes() - before;
		print_message("%zu KiB, then %zu KiB\n", now / 1024, left / 1024);
		assert_in_range(left, 0, most / 2);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		bt_intern_release(intern, held[i]);
	}
	assert_int_equal(bt_intern_count(intern), BT_NAME_FIXED_N - 1);
	bt_intern_destroy(intern);
	bt_mem_free(held);
}

/* The expected state of a name. */
struct known {
	uint32_t number, holders;
	bool pinned;
};

static void release_one(struct bt_intern *intern, struct known *known)
{
	bt_intern_release(intern, known->number);
	known->holders--;
	if (!known->holders && !known->pinned) {
		known->number = BT_NAME_NONE;
	}
}

static void hold_one(struct bt_intern *intern, struct known *known, struct bt_str text, bool pin)
{
	uint32_t number = (pin ? bt_intern_add : bt_intern_hold)(intern, text);

	if (known->number) {
		assert_int_equal(number, known->number);
	}
	*known = (struct known){number, known->holders + !pin, known->pinned || pin};
}

static void check_all(const struct bt_intern *intern, const struct known *known, uint32_t n)
{
	uint32_t there = BT_NAME_FIXED_N - 1;
	char text[32];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "n%" PRIu32, i * i);
		assert_int_equal(bt_intern_find(intern, bt_str(text)), known[i].number);
		if (known[i].number) {
			assert_str(bt_intern_str(intern, known[i].number), text);
			there++;
		}
	}
	assert_int_equal(bt_intern_count(intern), there);
}

static void any_history_leaves_what_is_held(void **state)
{
	struct bt_rng rng = {.state = seed_of_test()};
	struct bt_intern *intern = bt_intern_create();
	static struct known known[2000];
	char text[32];

	(void)state;
	memset(known, 0, sizeof(known));
	for (uint32_t step = 0; step < 100000; step++) {
		uint32_t i = (uint32_t)bt_rng_below(&rng, COUNT_OF(known));
		bool pin = bt_rng_below(&rng, 1000) == 0;

		snprintf(text, sizeof(text), "n%" PRIu32, i * i);
		if (known[i].holders && bt_rng_below(&rng, 2)) {
			release_one(intern, &known[i]);
		} else {
			hold_one(intern, &known[i], bt_str(text), pin);
		}
		if (step % 10000 == 0) {
			check_all(intern, known, COUNT_OF(known));
		}
	}
	check_all(intern, known, COUNT_OF(known));
	bt_intern_destroy(intern);
}

/* Tests that vary the numbers rely on this. */
static void shuffled_dictionaries_number_in_other_orders(void **state)
{
	uint32_t swapped_n = 0, pairs = 100, seeds = 8;
	char a[16], b[16];

	(void)state;
	for (uint32_t seed = 1; seed <= seeds; seed++) {
		bt_intern_shuffle(seed);
		struct bt_intern *intern = bt_intern_create();
		for (uint32_t i = 0; i < pairs; i++) {
			snprintf(a, sizeof(a), "a%" PRIu32, i);
			snprintf(b, sizeof(b), "b%" PRIu32, i);
			swapped_n += bt_intern_add(intern, bt_str(a)) > bt_intern_add(intern, bt_str(b));
		}
		assert_int_equal(bt_intern_find(intern, bt_str("TCP")), BT_NAME_TCP);
		bt_intern_destroy(intern);
	}
	bt_intern_shuffle(0);
	assert_in_range(swapped_n, pairs * seeds / 4, pairs * seeds * 3 / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_string_has_one_number),
		cmocka_unit_test(unknown_strings_are_not_found),
		cmocka_unit_test(fixed_names_have_their_numbers),
		cmocka_unit_test(many_strings_stay_apart_and_in_place),
		cmocka_unit_test(bytes_of_any_kind_are_names),
		cmocka_unit_test(held_names_go_with_their_last_holder),
		cmocka_unit_test(pinned_names_stay),
		cmocka_unit_test(memory_follows_the_names_that_are_held),
		cmocka_unit_test(memory_of_names_that_have_gone_is_given_back),
		cmocka_unit_test(any_history_leaves_what_is_held),
		cmocka_unit_test(shuffled_dictionaries_number_in_other_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
