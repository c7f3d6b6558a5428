/* SPDX-License-Identifier: Apache-2.0
 * Kinds that the simulator does not apply, and their effect in a cluster.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/offline/simulate/ignored.h"

static void a_kind_that_changes_placements_has_an_effect(void **state)
{
	(void)state;
	assert_string_equal(bt_ignored_effect("ResourceClaimTemplate (resource.k8s.io/v1)"),
		"no ResourceClaims are created from templates");
	assert_non_null(bt_ignored_effect("MutatingWebhookConfiguration"));
}

static void a_kind_without_influence_has_no_effect(void **state)
{
	(void)state;
	assert_null(bt_ignored_effect("ConfigMap (v1)"));
	assert_null(bt_ignored_effect("ResourceClaimTemplateList"));
	assert_null(bt_ignored_effect("ResourceClaim"));
	assert_null(bt_ignored_effect(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kind_that_changes_placements_has_an_effect),
		cmocka_unit_test(a_kind_without_influence_has_no_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
