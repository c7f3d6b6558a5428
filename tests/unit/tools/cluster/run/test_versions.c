/* SPDX-License-Identifier: Apache-2.0
 * The release that --emulated-version and --min-compatibility-version select.
 * test_flags.c tests their syntax.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/flow/config/gates.h"
#include "tools/cluster/run/versions.h"

/* Applies the flags to a release. Returns: upstream's text, or NULL. */
static const char *apply(const char *binary, uint32_t emulated, uint32_t compatible, struct bt_release *out)
{
	static char text[256];
	const struct bt_run_versions versions = {.emulated = emulated, .compatible = compatible};
	struct bt_buf error = {0};
	bool good = bt_run_versions_apply(&versions, bt_release_find(bt_str(binary)), out, &error);

	assert_int_equal(good, error.len == 0);
	snprintf(text, sizeof(text), "%.*s", (int)error.len, error.ptr ? error.ptr : "");
	bt_buf_fini(&error);
	return good ? NULL : text;
}

static void without_flags_a_release_stays_what_it_is(void **state)
{
	struct bt_release release;

	(void)state;
	assert_null(apply("1.36", 0, 0, &release));
	assert_memory_equal(&release, bt_release_find(bt_str("1.36")), sizeof(release));
}

static void an_emulated_release_has_its_own_rules_and_gates(void **state)
{
	const struct bt_release *old = bt_release_find(bt_str("1.36"));
	struct bt_gates emulated, gates;
	struct bt_release release;

	(void)state;
	assert_null(apply("1.37", 36, 0, &release));
	bt_gates_init(&emulated, &release);
	bt_gates_init(&gates, old);
	assert_memory_equal(emulated.on, gates.on, sizeof(gates.on));
}

static void only_releases_from_the_floor_to_the_binarys_own_are_emulated(void **state)
{
	struct bt_release release;

	(void)state;
	assert_string_equal(apply("1.36", 37, 0, &release),
		"--emulated-version: emulation version 1.37 is not between [1.33, 1.36.0]");
	assert_string_equal(apply("1.36", 32, 0, &release),
		"--emulated-version: emulation version 1.32 is not between [1.33, 1.36.0]");
}

static void the_compatible_release_is_not_younger_than_the_emulated_one(void **state)
{
	struct bt_release release;

	(void)state;
	assert_null(apply("1.37", 36, 36, &release));
	assert_string_equal(apply("1.37", 36, 37, &release),
		"--min-compatibility-version: minCompatibilityVersion version 1.37 is not between "
		"[1.34, 1.36]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_flags_a_release_stays_what_it_is),
		cmocka_unit_test(an_emulated_release_has_its_own_rules_and_gates),
		cmocka_unit_test(only_releases_from_the_floor_to_the_binarys_own_are_emulated),
		cmocka_unit_test(the_compatible_release_is_not_younger_than_the_emulated_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
