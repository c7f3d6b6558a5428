/* SPDX-License-Identifier: Apache-2.0
 * berth history: plays histories, one line in, one line out.
 */
#include "tools/cli/entry.h"
#include "tools/kube/config/config_file.h"
#include "tools/offline/verdict/history.h"
#include "tools/offline/verdict/lines.h"

struct history_options {
	const struct bt_release *release;
	bool elapsed;
};

static bool answer(const void *context, struct bt_json *json, struct bt_arena *arena, struct bt_buf *out_line,
	struct bt_buf *out_error, const char **out_remedy)
{
	const struct history_options *options = context;
	struct bt_history history;

	if (!bt_history_read(json, arena, &history, out_error)) {
		return false;
	}
	history.release = options->release;
	history.elapsed = options->elapsed;
	return bt_history_play(&history, out_line, out_error, out_remedy);
}

int bt_cmd_history(struct bt_invocation *invocation)
{
	struct history_options options = {.elapsed = bt_invocation_has(invocation, "elapsed")};
	int status = bt_configuration_release(invocation, &options.release);

	return status ? status
		      : bt_lines_run(invocation, &(struct bt_lines_answer){"history", "history", "histories",
							 answer, &options});
}
