/* SPDX-License-Identifier: Apache-2.0
 * What stands for the input in reports, and the input that is made where none is given.
 */
#include "command_line.h"

#include "engine/base/buf.h"
#include "tools/offline/simulate/load.h"

static void files_are_named_in_their_order(void **state)
{
	struct command_line line;
	struct bt_buf source = {0};

	(void)state;
	assert_int_equal(command_line_parse(&line, "quality", "-f b.yaml a.yaml -"), BT_PARSE_RUN);
	bt_load_source(&line.invocation, &source);
	assert_string_equal(source.ptr, "b.yaml, a.yaml, standard input");
	bt_buf_fini(&source);
	bt_invocation_fini(&line.invocation);
}

/* How many objects of each kind were made. */
struct made {
	size_t node_n, pod_n;
	size_t limit; /* after so many no more are wanted */
};

static bool count(void *context, const struct bt_object *object)
{
	struct made *made = context;

	made->node_n += object->kind == BT_KIND_NODE;
	made->pod_n += object->kind == BT_KIND_POD;
	return made->node_n + made->pod_n < made->limit;
}

static void the_default_input_matches_its_description(void **state)
{
	struct made made = {.limit = SIZE_MAX};
	struct command_line line;
	struct bt_buf source = {0}, want = {0};

	(void)state;
	assert_int_equal(command_line_parse(&line, "quality", "--seed 7"), BT_PARSE_RUN);
	bt_load_default(&line.invocation, &source, count, &made);
	bt_buf_printf(&want, "made by berth: %zu nodes, %zu pods, ", made.node_n, made.pod_n);
	assert_memory_equal(source.ptr, want.ptr, want.len);
	assert_non_null(strstr(source.ptr, "; give it files with -f"));
	assert_true(made.node_n > 0 && made.pod_n > 0);
	bt_buf_fini(&source);
	bt_buf_fini(&want);
	bt_invocation_fini(&line.invocation);
}

static void the_default_input_ends_when_no_more_is_wanted(void **state)
{
	struct made made = {.limit = 3};
	struct command_line line;

	(void)state;
	assert_int_equal(command_line_parse(&line, "quality", ""), BT_PARSE_RUN);
	bt_load_default(&line.invocation, NULL, count, &made); /* and needs no description */
	assert_int_equal(made.node_n + made.pod_n, 3);
	bt_invocation_fini(&line.invocation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_named_in_their_order),
		cmocka_unit_test(the_default_input_matches_its_description),
		cmocka_unit_test(the_default_input_ends_when_no_more_is_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
