/* SPDX-License-Identifier: Apache-2.0
 * Probes: with sys/sdt.h each leaves a note in the binary; nothing else happens.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/probe.h"

static void pass(uint64_t pod, int32_t node, const char *name)
{
	BT_PROBE1(test_one, pod);
	BT_PROBE2(test_two, pod, node);
	BT_PROBE3(test_three, pod, node, name);
	BT_PROBE4(test_four, pod, node, name, pod + 1);
}

static void passing_a_probe_does_nothing(void **state)
{
	(void)state;
	pass(1, -2, "pod");
}

/* Counts the notes of provider berth in this program whose name begins with test_. */
static int notes_n(void)
{
	char path[4096], command[4200], line[4096];
	int n = 0, in_berth = 0;
	FILE *self = fopen("/proc/self/cmdline", "r");

	assert_non_null(self);
	assert_true(fread(path, 1, sizeof(path) - 1, self) > 0);
	fclose(self);
	snprintf(command, sizeof(command), "readelf -n '%s'", path);
	FILE *notes = popen(command, "r");
	assert_non_null(notes);
	while (fgets(line, sizeof(line), notes)) {
		if (strstr(line, "Provider: ")) {
			in_berth = strstr(line, "Provider: berth\n") != NULL;
		}
		n += in_berth && strstr(line, "Name: test_") != NULL;
	}
	assert_int_equal(pclose(notes), 0);
	return n;
}

static void the_binary_has_a_note_for_each_probe(void **state)
{
	(void)state;
#if BT_SDT
	assert_int_equal(notes_n(), 4);
#else
	assert_int_equal(notes_n(), 0);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passing_a_probe_does_nothing),
		cmocka_unit_test(the_binary_has_a_note_for_each_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
