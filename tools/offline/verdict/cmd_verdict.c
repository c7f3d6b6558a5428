/* SPDX-License-Identifier: Apache-2.0
 * berth verdict: answers scenarios, one line in, one line out.
 */

#include "tools/cli/entry.h"
#include "tools/cli/message.h"
#include "tools/kube/config/config_file.h"
#include "tools/offline/verdict/lines.h"
#include "tools/offline/verdict/verdict.h"

struct verdict_options {
	const struct bt_release *release;
	uint64_t seed;
};

/* Extenders' responses are unknown here. */
static void warn_of_extenders(const struct bt_scenario *scenario, const struct bt_scenario_cluster *cluster)
{
	if (cluster->config.extender_n) {
		bt_message("berth verdict: %.*s: config: extenders are not called, and the verdict is as if "
			   "they "
			   "had no "
			   "objections and no preferences\n",
			BT_STR_ARG(scenario->id));
	}
}

static bool answer(const void *context, struct bt_json *json, struct bt_arena *arena, struct bt_buf *out_line,
	struct bt_buf *out_error, const char **out_remedy)
{
	const struct verdict_options *options = context;
	struct bt_scenario_cluster cluster;
	struct bt_scenario scenario;

	(void)out_remedy;
	if (!bt_scenario_read(json, arena, &scenario, out_error)) {
		return false;
	}
	scenario.release = options->release;
	if (bt_scenario_open(&scenario, options->seed, &cluster, out_error) == BT_OK) {
		warn_of_extenders(&scenario, &cluster);
		bt_verdict_write(&scenario, &cluster, out_line);
		bt_scenario_close(&cluster);
	} else {
		bt_verdict_write_error(&scenario, bt_buf_view(out_error), out_line);
	}
	return true;
}

int bt_cmd_verdict(struct bt_invocation *invocation)
{
	struct verdict_options options = {.seed = bt_invocation_number(invocation, "seed")};
	int status = bt_configuration_release(invocation, &options.release);

	return status ? status
		      : bt_lines_run(invocation, &(struct bt_lines_answer){"verdict", "scenario", "scenarios",
							 answer, &options});
}
