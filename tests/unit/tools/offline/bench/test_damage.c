/* SPDX-License-Identifier: Apache-2.0
 * Random text as templates and damaged workload files: accepted, or rejected with a message; nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "seed.h"
#include "tools/offline/bench/template.h"
#include "tools/offline/bench/workload.h"

static void count_diagnosis(void *context, const struct bt_diagnosis *diagnosis)
{
	uint32_t *n = context;

	(void)diagnosis;
	*n += 1;
}

static void random_text_is_a_template_or_refused(void **state)
{
	static const char *const parts[] = {"{{", "}}", ".Index", ".Count", "AddInt ", "Mod ", "DivideFloat ",
		"(", ")", "|", " ", "-", "1", "0", "9e999", "\"", "`", "/*", "*/", "\n", "x", "{", "}", "$",
		"if "};
	struct bt_rng rng = {.state = seed_of_test()};

	(void)state;
	for (int round = 0; round < 200000; round++) {
		struct bt_buf text = {0}, out = {0};
		struct bt_template template_;
		struct bt_template_error error = {0};

		for (uint64_t n = bt_rng_below(&rng, 12); n > 0; n--) {
			bt_buf_text(&text, parts[bt_rng_below(&rng, sizeof(parts) / sizeof(parts[0]))]);
		}
		enum bt_status parsed = bt_template_parse(bt_buf_view(&text), &template_, &error),
			       made = BT_OK;
		if (parsed == BT_OK) {
			made = bt_template_expand(
				&template_, (int64_t)bt_rng_below(&rng, 3), 3, &out, &error);
			bt_template_fini(&template_);
		}
		assert_int_equal(parsed != BT_OK || made != BT_OK, error.message[0] != 0);
		bt_buf_fini(&text);
		bt_buf_fini(&out);
	}
}

static void a_damaged_file_is_taken_or_refused(void **state)
{
	static const char whole[] =
		"- name: Case\n  featureGates: {A: true}\n  labels: [x]\n  workloadTemplate:\n"
		"  - {opcode: createNodes, countParam: $nodes, labelNodePrepareStrategy: {labelKey: k, "
		"labelValues: [v]}}\n"
		"  - {opcode: createPodSets, count: 2, namespacePrefix: p, createPodsOp: {opcode: "
		"createPods, count: 3}}\n"
		"  - {opcode: createPods, count: 1, steadyState: true, duration: 1m, collectMetrics: true}\n"
		"  - {opcode: churn, mode: recreate, number: 2, templatePaths: [t]}\n"
		"  workloads:\n  - {name: w, threshold: {dra: 5}, params: {nodes: 5, more: x}}\n";
	struct bt_rng rng = {.state = seed_of_test()};
	uint32_t taken_n = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct bt_workload_file file;
		struct bt_bench_op_list list;
		char text[sizeof(whole)];
		uint32_t diagnosis_n = 0;

		memcpy(text, whole, sizeof(whole));
		for (uint64_t n = bt_rng_below(&rng, 4); n > 0; n--) {
			text[bt_rng_below(&rng, sizeof(whole) - 1)] =
				" \n{}[]:,-$\"x0"[bt_rng_below(&rng, 13)];
		}
		if (bt_workload_file_parse(&file, "f", bt_str(text), count_diagnosis, &diagnosis_n) !=
			BT_OK) {
			assert_true(diagnosis_n > 0);
			continue;
		}
		taken_n++;
		for (uint32_t i = 0; i < file.cases[0].workload_n; i++) {
			(void)bt_workload_ops(&file, &file.cases[0], &file.cases[0].workloads[i], &list,
				count_diagnosis, &diagnosis_n);
		}
		bt_workload_file_fini(&file);
	}
	assert_in_range(taken_n, 1000, 19000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_text_is_a_template_or_refused),
		cmocka_unit_test(a_damaged_file_is_taken_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
