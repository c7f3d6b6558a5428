/* SPDX-License-Identifier: Apache-2.0
 * Checks that an answer is one line with one JSON document.
 */
#pragma once

#include "engine/base/check.h"
#include "tools/format/json.h"

static inline void answer_line_check(struct bt_str line)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};

	bt_json_begin(json, line, &arena);
	BT_REQUIRE(bt_json_skip(json) && !bt_json_more(json));
	BT_REQUIRE(line.ptr[line.len - 1] == '\n');
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}
