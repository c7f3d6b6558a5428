/* SPDX-License-Identifier: Apache-2.0
 * The formats of berth check for other programs: what is escaped, and which workloads fail.
 */
#include "app_fixture.h"

#include "tools/offline/check/report.h"

struct reported {
	struct command_line line;
	struct bt_app_workload workload;
	struct bt_workload_result result;
	struct bt_check check;
	struct bt_buf text;
};

static void begin_report(struct reported *r, const char *options)
{
	memset(r, 0, sizeof(*r));
	assert_int_equal(command_line_parse(&r->line, "check", options), BT_PARSE_RUN);
	r->workload = (struct bt_app_workload){.kind = BT_KIND_DEPLOYMENT,
		.namespace_ = bt_str("default"),
		.name = bt_str("web"),
		.label = "Deployment default/web",
		.file = "a/b.yaml",
		.line = 7};
	r->check.app.workloads = &r->workload;
	r->check.app.workload_n = 1;
	r->check.results = &r->result;
	r->check.cluster.invocation = &r->line.invocation;
}

static void end_report(struct reported *r)
{
	bt_buf_fini(&r->text);
	bt_invocation_fini(&r->line.invocation);
}

static bool has(const struct bt_buf *text, const char *part)
{
	return memmem(text->ptr, text->len, part, strlen(part)) != NULL;
}

static void assert_has(const struct bt_buf *text, const char *part)
{
	if (!has(text, part)) {
		fail_msg("no %s in %.*s", part, (int)text->len, text->ptr);
	}
}

static void texts_are_escaped_in_xml(void **state)
{
	struct reported r;
	char reason[] = "a < b & \"c\"\n\x01>";

	(void)state;
	begin_report(&r, "cluster");
	r.result.reason = reason;
	bt_check_write_junit(&r.check, &r.text);
	assert_has(&r.text, "message=\"a &lt; b &amp; &quot;c&quot;&#10;?&gt;\"");
	assert_has(&r.text, "<testcase classname=\"Deployment\" name=\"default/web\" file=\"a/b.yaml\" "
			    "line=\"7\">");
	assert_has(&r.text, "<testsuites tests=\"1\" failures=\"1\">");
	end_report(&r);
}

static void paths_become_uris(void **state)
{
	struct reported r;
	char reason[] = "no";

	(void)state;
	begin_report(&r, "cluster");
	r.result.reason = reason;
	r.workload.file = "a b/\xc3\xa9#1.yaml";
	bt_check_write_sarif(&r.check, &r.text);
	assert_has(&r.text, "\"uri\": \"a%20b/%C3%A9%231.yaml\"");
	assert_has(&r.text, "\"startLine\": 7");
	bt_buf_clear(&r.text);
	r.workload.file = "/abs.yaml";
	bt_check_write_sarif(&r.check, &r.text);
	assert_has(&r.text, "\"uri\": \"file:///abs.yaml\"");
	/* Standard input has no place. */
	bt_buf_clear(&r.text);
	r.workload.file = "-";
	bt_check_write_sarif(&r.check, &r.text);
	assert_false(has(&r.text, "locations"));
	end_report(&r);
}

static void preemption_fails_only_where_it_is_forbidden(void **state)
{
	struct bt_check_victim victim = {.victim = "d/low", .budget = "d/keep"};
	struct reported r;

	(void)state;
	for (int forbidden = 0; forbidden < 2; forbidden++) {
		begin_report(&r, forbidden ? "cluster --no-preemption" : "cluster");
		r.result.victim_n = 1;
		r.check.victims = &victim;
		r.check.victim_n = 1;
		assert_int_equal(bt_check_passes(&r.check), !forbidden);
		bt_check_write_sarif(&r.check, &r.text);
		assert_has(&r.text, forbidden ? "\"level\": \"error\"" : "\"level\": \"warning\"");
		assert_has(&r.text, "it preempts 1 pod: d/low (violates PodDisruptionBudget d/keep)");
		bt_buf_clear(&r.text);
		bt_check_write_junit(&r.check, &r.text);
		assert_int_equal(has(&r.text, "<failure type=\"preempts\""), forbidden);
		end_report(&r);
	}
}

static void a_workload_that_fits_has_nothing_to_say(void **state)
{
	struct reported r;

	(void)state;
	begin_report(&r, "cluster --no-preemption");
	assert_true(bt_check_passes(&r.check));
	assert_false(bt_check_sentence(&r.check, 0, &r.text));
	bt_check_write_junit(&r.check, &r.text);
	assert_has(&r.text, "line=\"7\"/>");
	bt_buf_clear(&r.text);
	bt_check_write_sarif(&r.check, &r.text);
	assert_has(&r.text, "\"results\": []");
	end_report(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_escaped_in_xml),
		cmocka_unit_test(paths_become_uris),
		cmocka_unit_test(preemption_fails_only_where_it_is_forbidden),
		cmocka_unit_test(a_workload_that_fits_has_nothing_to_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
