/* SPDX-License-Identifier: Apache-2.0
 * berth verdict: answers scenarios, one line in, one line out.
 */
#include <stdio.h>

#include "tools/cli/entry.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/output.h"
#include "tools/codec/input.h"
#include "tools/verdict/verdict.h"

struct run {
	struct bt_output output;
	struct bt_buf line, error;
	uint64_t seed;
	bool wrong; /* something could not be read */
};

static void complain(void *context, const struct bt_diagnosis *diagnosis)
{
	struct run *run = context;
	struct bt_buf text = {0};

	bt_diagnosis_text(diagnosis, &text);
	fprintf(stderr, "berth verdict: %s\n", text.ptr);
	bt_buf_fini(&text);
	run->wrong = true;
}

static void answer(struct run *run, const struct bt_scenario *scenario)
{
	struct bt_scenario_cluster cluster;

	bt_buf_clear(&run->line);
	bt_buf_clear(&run->error);
	if (bt_scenario_open(scenario, run->seed, &cluster, &run->error) == BT_OK) {
		bt_verdict_write(scenario, &cluster, &run->line);
		bt_scenario_close(&cluster);
	} else {
		bt_verdict_write_error(scenario, bt_buf_view(&run->error), &run->line);
	}
	bt_output_add(&run->output, run->line.ptr, run->line.len);
}

/* A line that cannot be read is said, and the next one follows. */
static void read_file(struct run *run, const struct bt_input_file *file)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_str rest = file->text;
	size_t line = 0, found = 0;

	while (rest.len && !bt_interrupt_pending() && !bt_output_failed(&run->output)) {
		size_t end = bt_str_find(rest, '\n', 0);
		struct bt_str text = bt_str_sub(rest, 0, end);
		struct bt_scenario scenario;

		rest = bt_str_sub(rest, end + (end < rest.len), rest.len);
		line++;
		bt_arena_reset(&arena);
		bt_json_begin(json, text, &arena);
		if (!bt_json_more(json) && bt_json_error(json)->status == BT_OK) {
			continue;
		}
		found++;
		bt_buf_clear(&run->error);
		if (bt_scenario_read(json, &arena, &scenario, &run->error)) {
			answer(run, &scenario);
		} else {
			complain(run, &(struct bt_diagnosis){.file = file->name,
					      .line = line,
					      .message = run->error.ptr,
					      .remedy = "a scenario is one JSON document on one line"});
		}
	}
	if (!found && !bt_interrupt_pending()) {
		complain(run, &(struct bt_diagnosis){.file = file->name,
				      .message = "the file holds no scenarios",
				      .remedy = "write one JSON document a line"});
	}
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}

int bt_cmd_verdict(struct bt_invocation *invocation)
{
	struct run run = {.seed = bt_invocation_number(invocation, "seed")};
	struct bt_input *input = bt_input_create(complain, &run);
	struct bt_input_file file;

	if (bt_output_open("-", &run.output) != BT_OK) {
		bt_input_destroy(input);
		return BT_EXIT_IO;
	}
	bt_input_add(input, invocation->operand_n ? invocation->operands[0] : "-");
	while (bt_input_next(input, &file)) {
		read_file(&run, &file);
	}
	bt_input_destroy(input);
	bt_buf_fini(&run.line);
	bt_buf_fini(&run.error);
	int status = bt_output_close(&run.output);
	if (status != BT_EXIT_OK) {
		return status;
	}
	if (bt_interrupt_pending()) {
		return BT_EXIT_INTERRUPTED;
	}
	return run.wrong ? BT_EXIT_INPUT : BT_EXIT_OK;
}
