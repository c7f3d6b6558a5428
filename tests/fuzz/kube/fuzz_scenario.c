/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a scenario: rejected with a reason, or answered with one line of JSON, the same twice.
 */
#include "answer_line.h"

#include "tools/offline/verdict/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(const struct bt_scenario *scenario, struct bt_buf *out)
{
	struct bt_scenario_cluster cluster;
	struct bt_buf error = {0};

	if (bt_scenario_open(scenario, 1, &cluster, &error) == BT_OK) {
		bt_verdict_write(scenario, &cluster, out);
		bt_scenario_close(&cluster);
	} else {
		BT_REQUIRE(error.len > 0);
		bt_verdict_write_error(scenario, bt_buf_view(&error), out);
	}
	bt_buf_fini(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_buf error = {0}, first = {0}, second = {0};
	struct bt_scenario scenario;

	bt_json_begin(json, (struct bt_str){(const char *)data, size}, &arena);
	if (bt_scenario_read(json, &arena, &scenario, &error)) {
		answer(&scenario, &first);
		answer(&scenario, &second);
		BT_REQUIRE(bt_str_eq(bt_buf_view(&first), bt_buf_view(&second)));
		answer_line_check(bt_buf_view(&first));
	} else {
		BT_REQUIRE(error.len > 0);
	}
	bt_buf_fini(&error);
	bt_buf_fini(&first);
	bt_buf_fini(&second);
	bt_arena_fini(&arena);
	bt_json_destroy(json);
	return 0;
}
