/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a history: rejected with a reason and a remedy, or answered with one line
 * of JSON, the same twice.
 */
#include "answer_line.h"

#include "tools/offline/verdict/history.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Plays the history; writes the answer or the error. Returns whether there is an answer. */
static bool play(const struct bt_history *history, struct bt_buf *out_line)
{
	struct bt_buf error = {0};
	const char *remedy = NULL;
	bool played = bt_history_play(history, out_line, &error, &remedy);

	BT_REQUIRE(played == (error.len == 0) && played == !remedy);
	bt_buf_fini(&error);
	return played;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_buf error = {0}, first = {0}, second = {0};
	struct bt_history history;

	bt_json_begin(json, (struct bt_str){(const char *)data, size}, &arena);
	if (!bt_history_read(json, &arena, &history, &error)) {
		BT_REQUIRE(error.len > 0);
	} else if (play(&history, &first)) {
		BT_REQUIRE(play(&history, &second));
		BT_REQUIRE(bt_str_eq(bt_buf_view(&first), bt_buf_view(&second)));
		answer_line_check(bt_buf_view(&first));
	}
	bt_buf_fini(&error);
	bt_buf_fini(&first);
	bt_buf_fini(&second);
	bt_arena_fini(&arena);
	bt_json_destroy(json);
	return 0;
}
