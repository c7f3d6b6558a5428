/* SPDX-License-Identifier: Apache-2.0
 * The message of a pod that fits nowhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/flow/cycle/fit_error.h"

static void check(struct bt_fit_error *error, uint64_t node_n, const char *want)
{
	struct bt_buf text = {0};

	bt_fit_error_text(error, node_n, &text);
	assert_string_equal(text.ptr, want);
	bt_buf_fini(&text);
}

static void reasons_are_counted_and_sorted(void **state)
{
	struct bt_fit_error error = {0};

	(void)state;
	bt_fit_error_add(&error, bt_str("node(s) had untolerated taint(s)"), 1);
	bt_fit_error_add(&error, bt_str("Insufficient memory"), 1);
	bt_fit_error_add(&error, bt_str("Insufficient cpu"), 2);
	bt_fit_error_add(&error, bt_str("Insufficient memory"), 1);
	check(&error, 3,
		"0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu, 2 "
		"Insufficient memory.");
	bt_fit_error_fini(&error);
}

static void entries_sort_as_bytes_not_as_numbers(void **state)
{
	struct bt_fit_error error = {0};

	(void)state;
	bt_fit_error_add(&error, bt_str("Too many pods"), 2);
	bt_fit_error_add(&error, bt_str("node(s) were unschedulable"), 10);
	bt_fit_error_add(&error, bt_str("Insufficient cpu"), 10);
	check(&error, 22,
		"0/22 nodes are available: 10 Insufficient cpu, 10 node(s) were unschedulable, 2 Too many "
		"pods.");
	bt_fit_error_fini(&error);
}

static void without_reasons_there_is_no_full_stop(void **state)
{
	struct bt_fit_error error = {0};

	(void)state;
	check(&error, 1, "0/1 nodes are available:");
	bt_fit_error_fini(&error);
}

static void a_cleared_error_records_the_next_one(void **state)
{
	struct bt_fit_error error = {0};

	(void)state;
	bt_fit_error_add(&error, bt_str("Insufficient cpu"), 5);
	bt_fit_error_clear(&error);
	bt_fit_error_add(&error, bt_str("Insufficient cpu"), 1);
	check(&error, 1, "0/1 nodes are available: 1 Insufficient cpu.");
	bt_fit_error_fini(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_are_counted_and_sorted),
		cmocka_unit_test(entries_sort_as_bytes_not_as_numbers),
		cmocka_unit_test(without_reasons_there_is_no_full_stop),
		cmocka_unit_test(a_cleared_error_records_the_next_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
