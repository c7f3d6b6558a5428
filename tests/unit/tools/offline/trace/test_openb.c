/* SPDX-License-Identifier: Apache-2.0
 * The openb trace: the objects of rows, and errors in wrong ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/base/buf.h"
#include "tools/offline/trace/openb.h"

#define NODE_HEADER "sn,cpu_milli,memory_mib,gpu,model\n"
#define POD_HEADER                                                                                           \
	"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"    \
	"scheduled_time\n"

struct diagnostics {
	char last[512];
	int n;
};

static void diagnose(void *context, const char *message)
{
	struct diagnostics *diagnostics = context;

	strncpy(diagnostics->last, message, sizeof(diagnostics->last) - 1);
	diagnostics->n++;
}

static int64_t amount(const struct bt_resource_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_is(list->items[i].name, name)) {
			return (int64_t)(list->items[i].quantity.nano / 1000000);
		}
	}
	return -1;
}

static void nodes_offer_gpus_whole_and_in_thousandths(void **state)
{
	struct bt_openb_reader reader = {0};
	struct bt_trace trace = {0};

	(void)state;
	assert_int_equal(
		bt_openb_parse_nodes(&reader, "n",
			(struct bt_str)BT_STR(NODE_HEADER "a,32000,262144,0,\nb,64000,1024,2,P100\n"),
			&trace),
		BT_OK);
	assert_int_equal(trace.node_n, 2);
	const struct bt_node_object *node = &trace.nodes[1].node;

	assert_true(bt_str_is(node->meta.name, "b"));
	assert_int_equal(amount(&node->allocatable, "cpu"), 64000);
	assert_int_equal(amount(&node->allocatable, "memory"), 1024 * INT64_C(1048576) * 1000);
	assert_int_equal(amount(&node->allocatable, "openb.berth.dev/gpu-milli"), 2000000);
	assert_true(bt_str_is(node->meta.labels.items[1].value, "P100"));
	assert_int_equal(amount(&trace.nodes[0].node.allocatable, "openb.berth.dev/gpu-milli"), -1);
	bt_trace_fini(&trace);
}

static void pods_are_in_order_of_creation_with_times_and_gpu_shares(void **state)
{
	struct bt_openb_reader reader = {0};
	struct bt_trace trace = {0};

	(void)state;
	assert_int_equal(bt_openb_parse_pods(&reader, "p",
				 (struct bt_str)BT_STR(
					 POD_HEADER "late,1000,10,1,460,V100M16|P100,LS,Running,50,60,50\n"
						    "early,2000,20,2,1000,,BE,Pending,7,,\n"
						    "also-early,1,1,0,0,,BE,Failed,7,9,8\n"),
				 &trace),
		BT_OK);
	assert_int_equal(trace.pod_n, 3);
	const struct bt_pod_object *early = &trace.pods[0].object.pod, *late = &trace.pods[2].object.pod;

	assert_true(bt_str_is(early->meta.name, "early"));
	assert_true(bt_str_is(trace.pods[1].object.meta.name, "also-early"));
	assert_int_equal(trace.pods[0].create_s, 7);
	assert_true(trace.pods[0].delete_s == INT64_MAX);
	assert_int_equal(trace.pods[2].delete_s, 60);
	assert_int_equal(early->meta.creation_ns, (BT_TRACE_EPOCH_S + 7) * INT64_C(1000000000));
	assert_int_equal(early->spec.containers[0].resources.requests.n, 3);
	assert_int_equal(
		amount(&early->spec.containers[0].resources.requests, "openb.berth.dev/gpu-milli"), 2000000);
	assert_int_equal(late->spec.containers[0].resources.requests.n, 3);
	assert_int_equal(
		amount(&late->spec.containers[0].resources.limits, "openb.berth.dev/gpu-milli"), 460000);
	const struct bt_requirement_object *models =
		&late->spec.affinity.node_affinity.required.terms[0].match_expressions.items[0];

	assert_int_equal(models->values.n, 2);
	assert_true(bt_str_is(models->values.items[1], "P100"));
	assert_false(early->spec.affinity.node_affinity.set);
	bt_trace_fini(&trace);
}

static void wrong_rows_are_reported_with_place_and_remedy_and_skipped(void **state)
{
	static const struct {
		const char *row, *message;
	} cases[] = {
		{"a,x,1,0,", "t.csv:3: column cpu_milli: \"x\" is not a whole number from 0 to 1000000000; "
			     "correct it or remove the row"},
		{"a,-1,1,0,", "column cpu_milli"},
		{"a,1,99999999999999999999,0,", "column memory_mib"},
		{"a,1,,0,", "column memory_mib: \"\""},
		{"a,1,1,4000,", "column gpu"},
		{"ok,1,1,0,", "column sn: ok is there twice"},
		{"UPPER,1,1,0,", "column sn: \"UPPER\" is not a name"},
		{",1,1,0,", "column sn"},
		{"-a,1,1,0,", "column sn"},
		{"a,1,1,0,a model", "column model: \"a model\" cannot be a label's value"},
		{"a", "column memory_mib: \"\""},
		{"a\"b,1,1,0,", "quote"},
	};
	struct diagnostics diagnostics = {{0}, 0};
	struct bt_openb_reader reader = {.diagnose = diagnose, .context = &diagnostics};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bt_trace trace = {0};
		struct bt_buf text = {0};

		bt_buf_printf(&text, NODE_HEADER "ok,1,1,0,\n%s\nlast,1,1,0,\n", cases[i].row);
		assert_int_equal(bt_openb_parse_nodes(&reader, "t.csv", bt_buf_view(&text), &trace), BT_OK);
		assert_int_equal(trace.node_n, 2);
		assert_int_equal(trace.skipped_n, 1);
		assert_non_null(strstr(diagnostics.last, cases[i].message));
		bt_trace_fini(&trace);
		reader.strict = true;
		assert_int_equal(
			bt_openb_parse_nodes(&reader, "t.csv", bt_buf_view(&text), &trace), BT_INVALID);
		reader.strict = false;
		bt_trace_fini(&trace);
		bt_buf_fini(&text);
	}
}

static void a_file_that_is_no_trace_is_refused(void **state)
{
	static const char *const texts[] = {
		"", "\n\n", "sn,cpu_milli\n", "a,b,c\n1,2,3\n", NODE_HEADER, "\"open"};
	struct diagnostics diagnostics = {{0}, 0};
	struct bt_openb_reader reader = {.diagnose = diagnose, .context = &diagnostics};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct bt_trace trace = {0};

		assert_int_equal(
			bt_openb_parse_nodes(&reader, "t.csv", bt_str(texts[i]), &trace), BT_INVALID);
		assert_int_equal(diagnostics.n, (int)i + 1);
		bt_trace_fini(&trace);
	}
}

static void columns_are_found_by_name_in_any_order(void **state)
{
	struct bt_openb_reader reader = {0};
	struct bt_trace trace = {0};

	(void)state;
	assert_int_equal(
		bt_openb_parse_nodes(&reader, "n",
			(struct bt_str)BT_STR("gpu,memory_mib,new,cpu_milli,sn\r\n1,2,x,3,n1\r\n"), &trace),
		BT_OK);
	assert_true(bt_str_is(trace.nodes[0].meta.name, "n1"));
	assert_int_equal(amount(&trace.nodes[0].node.allocatable, "cpu"), 3);
	bt_trace_fini(&trace);
}

static void a_missing_file_is_reported(void **state)
{
	struct diagnostics diagnostics = {{0}, 0};
	struct bt_openb_reader reader = {.diagnose = diagnose, .context = &diagnostics};
	struct bt_trace trace = {0};

	(void)state;
	assert_int_equal(bt_openb_read_nodes(&reader, "/nonexistent/nodes.csv", &trace), BT_IO);
	assert_string_equal(
		diagnostics.last, "/nonexistent/nodes.csv: cannot read: No such file or directory");
	assert_int_equal(bt_openb_read_pods(&reader, "/", &trace), BT_IO);
	bt_trace_fini(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_offer_gpus_whole_and_in_thousandths),
		cmocka_unit_test(pods_are_in_order_of_creation_with_times_and_gpu_shares),
		cmocka_unit_test(wrong_rows_are_reported_with_place_and_remedy_and_skipped),
		cmocka_unit_test(a_file_that_is_no_trace_is_refused),
		cmocka_unit_test(columns_are_found_by_name_in_any_order),
		cmocka_unit_test(a_missing_file_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
