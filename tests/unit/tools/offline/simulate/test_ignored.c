/* SPDX-License-Identifier: Apache-2.0
 * Kinds that the simulator does not apply, and their effect in a cluster.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/offline/simulate/ignored.h"

static void a_kind_that_changes_placements_has_an_effect(void **state)
{
	(void)state;
	assert_string_equal(bt_ignored_effect("ResourceQuota (v1)"), "no pod is refused because of a quota");
	assert_non_null(bt_ignored_effect("RuntimeClass (node.k8s.io/v1)"));
	assert_non_null(bt_ignored_effect("LimitRange"));
}

static void a_kind_of_another_version_is_to_be_written_in_the_known_one(void **state)
{
	(void)state;
	assert_non_null(strstr(bt_ignored_effect("Deployment (extensions/v1beta1)"), "another version"));
}

static void a_kind_without_influence_has_no_effect(void **state)
{
	(void)state;
	assert_null(bt_ignored_effect("ConfigMap (v1)"));
	assert_null(bt_ignored_effect("LimitRangeList"));
	assert_null(bt_ignored_effect("Limit"));
	assert_null(bt_ignored_effect(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kind_that_changes_placements_has_an_effect),
		cmocka_unit_test(a_kind_of_another_version_is_to_be_written_in_the_known_one),
		cmocka_unit_test(a_kind_without_influence_has_no_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
