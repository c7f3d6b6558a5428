/* SPDX-License-Identifier: Apache-2.0
 * Which diagnostics about the input are printed, counted, stored, or end a strict run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "caught.h"
#include "tools/kube/config/diagnostics.h"

static void find(struct bt_diagnostics *diagnostics, int n)
{
	for (int i = 0; i < n; i++) {
		bt_diagnostics_report(diagnostics, "Pod a/b", "spec", "wrong", "mend it");
	}
}

static int lines(const char *text)
{
	int n = 0;

	for (; (text = strchr(text, '\n')); text++) {
		n++;
	}
	return n;
}

static void the_first_twenty_are_printed_and_the_others_counted(void **state)
{
	struct bt_diagnostics diagnostics = {.command = "simulate"};

	(void)state;
	caught_begin();
	find(&diagnostics, 23);
	const char *text = caught_text();
	assert_int_equal(lines(text), 20);
	assert_non_null(strstr(text, "berth simulate: Pod a/b: spec: wrong; mend it\n"));
	bt_diagnostics_end(&diagnostics);
	assert_string_equal(caught_end(), "berth simulate: 3 more problems like these were skipped over\n");
	assert_int_equal(diagnostics.n, 23);
	assert_false(diagnostics.stop);
}

static void quiet_prints_only_what_is_fatal(void **state)
{
	struct bt_diagnostics diagnostics = {.command = "simulate", .quiet = true};

	(void)state;
	caught_begin();
	find(&diagnostics, 21);
	bt_diagnostics_warn(&diagnostics, bt_str("old"));
	bt_diagnostics_end(&diagnostics);
	assert_string_equal(caught_text(), "");
	bt_diagnostics_add(&diagnostics, &(struct bt_diagnosis){.message = "no such file", .fatal = true});
	assert_int_equal(lines(caught_end()), 1);
	assert_int_equal(diagnostics.n, 22);
}

static void a_strict_run_stops_at_the_first(void **state)
{
	struct bt_diagnostics diagnostics = {.command = "simulate", .quiet = true, .strict = true};

	(void)state;
	caught_begin();
	bt_diagnostics_warn(&diagnostics, bt_str("old"));
	assert_false(diagnostics.stop);
	find(&diagnostics, 1);
	assert_int_equal(lines(caught_end()), 1);
	assert_true(diagnostics.stop);
}

static void problems_that_may_lose_pods_are_counted_apart(void **state)
{
	struct bt_diagnostics diagnostics = {.command = "simulate", .quiet = true};

	(void)state;
	find(&diagnostics, 2);
	assert_int_equal(diagnostics.lost_n, 0);
	bt_diagnostics_report_lost(&diagnostics, "Pod a/b", "", "refused", NULL);
	bt_diagnostics_add(&diagnostics, &(struct bt_diagnosis){.message = "torn", .loss = BT_LOST_PART});
	assert_int_equal(diagnostics.lost_n, 2);
	assert_int_equal(diagnostics.n, 4);
}

static void kept_ones_are_printed_and_counted_once_passed_on(void **state)
{
	struct bt_diagnostics diagnostics = {.command = "simulate"}, kept = {.keeps = true};

	(void)state;
	caught_begin();
	find(&kept, 22);
	bt_diagnostics_report_lost(&kept, "Pod a/b", "", "refused", NULL);
	assert_string_equal(caught_text(), "");
	bt_diagnostics_pass(&diagnostics, &kept);
	assert_int_equal(lines(caught_end()), 20);
	assert_int_equal(diagnostics.n, 23);
	assert_int_equal(diagnostics.lost_n, 1);
	assert_int_equal(kept.n, 0);
	assert_true(kept.keeps && !kept.kept.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_twenty_are_printed_and_the_others_counted),
		cmocka_unit_test(quiet_prints_only_what_is_fatal),
		cmocka_unit_test(a_strict_run_stops_at_the_first),
		cmocka_unit_test(problems_that_may_lose_pods_are_counted_apart),
		cmocka_unit_test(kept_ones_are_printed_and_counted_once_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
