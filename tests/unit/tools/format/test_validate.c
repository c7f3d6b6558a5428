/* SPDX-License-Identifier: Apache-2.0
 * What a validating reader reports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/format/object_reader.h"

static struct bt_buf found;
static unsigned problem_n;

static void note(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	problem_n += diagnosis->severity != BT_UNVALIDATED;
	bt_diagnosis_text(diagnosis, &found);
	bt_buf_char(&found, '\n');
}

/* Reads YAML, all of whose objects are valid for berth, and compares the reports. */
static void reports(const char *yaml, bool validates, uint32_t objects, const char *want)
{
	struct bt_object_reader *reader = bt_object_reader_create(note, NULL);
	uint32_t n = 0;

	problem_n = 0;
	bt_buf_clear(&found);
	bt_object_reader_validate(reader, validates);
	bt_object_reader_begin_text(reader, "f", bt_str(yaml), BT_FORMAT_YAML);
	while (bt_object_reader_next(reader)) {
		n++;
	}
	bt_buf_char(&found, '\0');
	assert_string_equal(found.ptr, want);
	assert_int_equal(n, objects);
	assert_int_equal(problem_n, 0);
	bt_object_reader_destroy(reader);
}

#define POD(meta, spec)                                                                                      \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: p" meta "}\nspec:\n  containers: [{name: c}]\n" spec

static void an_unknown_field_is_reported_with_its_line_and_a_suggestion(void **state)
{
	(void)state;
	reports(POD("", "  toleration: []\n"), true, 1,
		"f:6: Pod p: spec.toleration: unknown field; did you mean \"tolerations\"?\n");
	reports(POD("", "  initContainers:\n  - name: i\n    resorces: {}\n"), true, 1,
		"f:8: Pod p: spec.initContainers[0].resorces: unknown field; did you mean \"resources\"?\n");
	reports(POD("", "  zzzzzzzzzzzz: 1\n"), true, 1,
		"f:6: Pod p: spec.zzzzzzzzzzzz: unknown field; the API server ignores it; leave it out\n");
}

static void fields_that_scheduling_ignores_are_known(void **state)
{
	(void)state;
	reports(POD("", "  dnsPolicy: Default\n  securityContext: {runAsUser: 1}\n  volumes: [{name: v, "
			"configMap: {name: x, items: [{key: a, path: b}]}}]\n"),
		true, 1, "");
	reports(POD("", "  securityContext: {runAsUsr: 1}\n"), true, 1,
		"f:6: Pod p: spec.securityContext.runAsUsr: unknown field; did you mean \"runAsUser\"?\n");
}

static void words_and_numbers_that_the_api_does_not_take_are_reported(void **state)
{
	(void)state;
	reports(POD("", "  tolerations: [{key: a, operator: Exist, effect: NoSchedul}]\n"), true, 1,
		"f:6: Pod p: spec.tolerations[0].operator: unsupported value \"Exist\"; the API server takes "
		"Exists, Equal, Lt, Gt\n"
		"f:6: Pod p: spec.tolerations[0].effect: unsupported value \"NoSchedul\"; the API server "
		"takes "
		"NoSchedule, PreferNoSchedule, NoExecute\n");
	reports(POD("", "  topologySpreadConstraints: [{maxSkew: 0, topologyKey: k, whenUnsatisfiable: "
			"DoNotSchedule}]\n"),
		true, 1,
		"f:6: Pod p: spec.topologySpreadConstraints[0].maxSkew: 0 is outside 1 to 2147483647; use a "
		"number in this range\n");
	/* An empty word is the same as none. */
	reports(POD("", "  tolerations: [{key: a, operator: \"\", effect: \"\"}]\n"), true, 1, "");
}

static void a_version_that_is_not_read_is_reported_once(void **state)
{
	(void)state;
	reports("apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: d}\nspec: {zz: 1}\n",
		true, 1,
		"f:1: Deployment d: apiVersion: no matches for kind \"Deployment\" in version "
		"\"extensions/v1beta1\"; the object is ignored; write it as apps/v1\n");
	/* A kind of another group is another kind. */
	reports("apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: s}\n", true, 1, "");
}

static void an_object_of_an_api_server_is_not_checked(void **state)
{
	(void)state;
	reports(POD(", uid: u", "  toleration: []\n"), true, 1, "");
	reports(POD("", "  toleration: []\n"), false, 1, "");
}

static void what_follows_a_fault_is_read_as_ever(void **state)
{
	(void)state;
	reports(POD("", "  toleration: {a: [1, {b: 2}]}\n") "---\n" POD("", "  nodeNam: n\n"), true, 2,
		"f:6: Pod p: spec.toleration: unknown field; did you mean \"tolerations\"?\n"
		"f:13: Pod p: spec.nodeNam: unknown field; did you mean \"nodeName\"?\n");
}

static int free_found(void **state)
{
	(void)state;
	bt_buf_fini(&found);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_field_is_reported_with_its_line_and_a_suggestion),
		cmocka_unit_test(fields_that_scheduling_ignores_are_known),
		cmocka_unit_test(words_and_numbers_that_the_api_does_not_take_are_reported),
		cmocka_unit_test(a_version_that_is_not_read_is_reported_once),
		cmocka_unit_test(an_object_of_an_api_server_is_not_checked),
		cmocka_unit_test(what_follows_a_fault_is_read_as_ever),
	};

	return cmocka_run_group_tests(tests, NULL, free_found);
}
