/* SPDX-License-Identifier: Apache-2.0
 * When answers agree: random results upstream, errors, and missing items.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare.h"

static bool agree(const struct answers_kind *kind, const char *want, const char *got)
{
	struct answers_comparison comparison;

	answers_comparison_begin(&comparison, kind);
	bool read = answers_compare(&comparison, bt_str(want), bt_str(got));
	bool same = read && comparison.differing_n == 0;
	answers_comparison_end(&comparison);
	return same;
}

#define VERDICT(members) "{\"id\":\"s\",\"pods\":[{\"pod\":\"default/a\"" members "}]}"

static bool verdicts_agree(const char *want, const char *got)
{
	return agree(&answers_of_scenarios, want, got);
}

#define STEP(members)		 "{\"active\":[],\"backoff\":[],\"unschedulable\":[]," members "}"
#define GATED(pod, plugin, more) "{\"pod\":\"" pod "\",\"plugins\":[\"" plugin "\"]" more "}"
#define HISTORY(more, steps)	 "{\"id\":\"h\"" more ",\"steps\":[" steps "]}"
#define POPPED(pod)		 STEP("\"popped\":\"" pod "\",\"gated\":[]")

static bool histories_agree(const char *want, const char *got)
{
	return agree(&answers_of_histories, want, got);
}

static void equal_answers_agree_and_different_ones_do_not(void **state)
{
	(void)state;
	assert_true(verdicts_agree(VERDICT(",\"best\":[\"n1\"]"), VERDICT(",\"best\":[\"n1\"]")));
	assert_false(verdicts_agree(VERDICT(",\"best\":[\"n1\"]"), VERDICT(",\"best\":[\"n2\"]")));
	assert_false(verdicts_agree(VERDICT(",\"best\":[\"n1\"]"), VERDICT("")));
	assert_false(verdicts_agree(VERDICT(""), "{\"id\":\"s\",\"pods\":[]}"));
	assert_false(verdicts_agree(VERDICT(""), "{\"id\":\"other\",\"pods\":[]}"));
	assert_true(histories_agree(HISTORY("", POPPED("a")), HISTORY("", POPPED("a"))));
	assert_false(histories_agree(HISTORY("", POPPED("a")), HISTORY("", POPPED("b"))));
}

static void a_pod_left_to_chance_agrees_with_anything(void **state)
{
	(void)state;
	assert_true(
		verdicts_agree(VERDICT(",\"any\":true,\"best\":[\"n1\"]"), VERDICT(",\"message\":\"no\"")));
	assert_false(
		verdicts_agree(VERDICT(",\"any\":false,\"best\":[\"n1\"]"), VERDICT(",\"message\":\"no\"")));
}

static void any_of_the_plugins_that_gate_a_pod_may_be_named(void **state)
{
#define BY(plugin) "{\"plugin\":\"" plugin "\",\"code\":\"Pending\",\"reasons\":[\"r\"]}"
	static const char want[] = VERDICT(",\"gated\":" BY("A") ",\"gatedToo\":[" BY("B") "," BY("C") "]");

	(void)state;
	assert_true(verdicts_agree(want, VERDICT(",\"gated\":" BY("A"))));
	assert_true(verdicts_agree(want, VERDICT(",\"gated\":" BY("C"))));
	assert_false(verdicts_agree(want, VERDICT(",\"gated\":" BY("D"))));
	assert_false(verdicts_agree(want, VERDICT("")));
	assert_false(verdicts_agree(VERDICT(""), VERDICT(",\"gated\":" BY("A"))));
}

static void any_of_the_outcomes_of_preemption_that_were_seen_is_right(void **state)
{
#define ON(node) "{\"node\":\"" node "\",\"victims\":[\"default/v\"]}"
	static const char want[] = VERDICT(",\"preemptions\":[" ON("n1") "," ON("n2") "]");

	(void)state;
	assert_true(verdicts_agree(want, VERDICT(",\"preemptions\":[" ON("n2") "]")));
	assert_false(verdicts_agree(want, VERDICT(",\"preemptions\":[" ON("n3") "]")));
	assert_false(verdicts_agree(want, VERDICT("")));
	assert_false(verdicts_agree(VERDICT(""), VERDICT(",\"preemptions\":[" ON("n1") "]")));
}

static void any_of_the_plugins_that_gate_a_waiting_pod_may_be_named(void **state)
{
#define TWO(first, second) HISTORY("", STEP("\"gated\":[" first "," second "]"))
	static const char want[] = TWO(GATED("a", "X", ",\"or\":[\"Y\",\"Z\"]"), GATED("a-b", "X", ""));

	(void)state;
	assert_true(histories_agree(want, TWO(GATED("a-b", "X", ""), GATED("a", "X", ""))));
	assert_true(histories_agree(want, TWO(GATED("a", "Z", ""), GATED("a-b", "X", ""))));
	assert_false(histories_agree(want, TWO(GATED("a", "W", ""), GATED("a-b", "X", ""))));
	assert_false(histories_agree(want, TWO(GATED("a", "X", ""), GATED("a-b", "Y", ""))));
	assert_false(histories_agree(want, TWO(GATED("c", "X", ""), GATED("a-b", "X", ""))));
	assert_false(histories_agree(want, HISTORY("", STEP("\"gated\":[" GATED("a", "X", "") "]"))));
}

static void from_where_chance_begins_no_step_is_compared(void **state)
{
	static const char want[] = HISTORY(",\"any\":1", POPPED("a") "," POPPED("b") "," POPPED("c"));

	(void)state;
	assert_true(histories_agree(want, HISTORY("", POPPED("a") "," POPPED("x") "," POPPED("c"))));
	assert_true(histories_agree(want, HISTORY("", POPPED("a"))));
	assert_false(histories_agree(want, HISTORY("", POPPED("x") "," POPPED("b") "," POPPED("c"))));
}

static void an_error_agrees_with_an_error_and_with_no_answer(void **state)
{
	static const char want[] = HISTORY(",\"error\":\"step 2: no\"", POPPED("a") "," POPPED("b"));

	(void)state;
	assert_true(histories_agree(want, ""));
	assert_true(histories_agree(want, HISTORY(",\"error\":\"otherwise said\"", POPPED("a"))));
	assert_false(histories_agree(want, HISTORY(",\"error\":\"otherwise said\"", POPPED("x"))));
	assert_false(histories_agree(want, HISTORY("", POPPED("a") "," POPPED("b"))));
	assert_false(histories_agree(HISTORY("", POPPED("a")), ""));
	assert_false(histories_agree(HISTORY("", POPPED("a")), HISTORY("", POPPED("a") "," POPPED("b"))));
}

static void a_scenarios_error_agrees_with_an_error_of_each_pod(void **state)
{
	static const char want[] = "{\"id\":\"s\",\"error\":\"no\",\"pods\":[]}";

	(void)state;
	assert_true(verdicts_agree(want, VERDICT(",\"error\":\"otherwise said\"")));
	assert_true(verdicts_agree(want, ""));
	assert_false(verdicts_agree(want, VERDICT(",\"best\":[\"n1\"]")));
	assert_false(verdicts_agree(VERDICT(",\"best\":[\"n1\"]"), want));
}

static void a_member_that_is_not_known_is_no_agreement(void **state)
{
	(void)state;
	assert_false(
		verdicts_agree("{\"id\":\"s\",\"pods\":[],\"perhaps\":1}", "{\"id\":\"s\",\"pods\":[]}"));
	assert_false(histories_agree(
		HISTORY("", STEP("\"gated\":[],\"perhaps\":1")), HISTORY("", STEP("\"gated\":[]"))));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_answers_agree_and_different_ones_do_not),
		cmocka_unit_test(a_pod_left_to_chance_agrees_with_anything),
		cmocka_unit_test(any_of_the_plugins_that_gate_a_pod_may_be_named),
		cmocka_unit_test(any_of_the_outcomes_of_preemption_that_were_seen_is_right),
		cmocka_unit_test(any_of_the_plugins_that_gate_a_waiting_pod_may_be_named),
		cmocka_unit_test(from_where_chance_begins_no_step_is_compared),
		cmocka_unit_test(an_error_agrees_with_an_error_and_with_no_answer),
		cmocka_unit_test(a_scenarios_error_agrees_with_an_error_of_each_pod),
		cmocka_unit_test(a_member_that_is_not_known_is_no_agreement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
