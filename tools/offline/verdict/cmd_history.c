/* SPDX-License-Identifier: Apache-2.0
 * berth history: plays histories, one line in, one line out.
 */
#include "tools/cli/entry.h"
#include "tools/offline/verdict/history.h"
#include "tools/offline/verdict/lines.h"

static bool answer(void *context, struct bt_json *json, struct bt_arena *arena, struct bt_buf *out_line,
	struct bt_buf *out_error, const char **out_remedy)
{
	struct bt_history history;

	(void)context;
	return bt_history_read(json, arena, &history, out_error) &&
	       bt_history_play(&history, out_line, out_error, out_remedy);
}

int bt_cmd_history(struct bt_invocation *invocation)
{
	return bt_lines_run(
		invocation, &(struct bt_lines_answer){"history", "history", "histories", answer, NULL});
}
