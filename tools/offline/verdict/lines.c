/* SPDX-License-Identifier: Apache-2.0
 * One line in, one line out.
 */
#include "tools/offline/verdict/lines.h"

#include <stdio.h>

#include "tools/cli/entry.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/output.h"
#include "tools/cli/message.h"
#include "tools/format/input.h"

struct line_reader {
	const struct bt_lines_answer *answer;
	struct bt_output output;
	struct bt_buf line, error;
	bool wrong; /* a line was invalid */
};

static void lines_diagnose(void *context, const struct bt_diagnosis *diagnosis)
{
	struct line_reader *run = context;
	struct bt_buf text = {0};

	bt_diagnosis_text(diagnosis, &text);
	bt_message("berth %s: %s\n", run->answer->command, text.ptr);
	bt_buf_fini(&text);
	run->wrong = true;
}

static void answer_line(
	struct line_reader *run, struct bt_json *json, struct bt_arena *arena, const char *file, size_t line)
{
	const char *remedy = NULL;
	char usual[96];

	bt_buf_clear(&run->line);
	bt_buf_clear(&run->error);
	if (run->answer->answer(run->answer->context, json, arena, &run->line, &run->error, &remedy)) {
		bt_output_add(&run->output, run->line.ptr, run->line.len);
		return;
	}
	snprintf(usual, sizeof(usual), "a %s is one JSON document on one line", run->answer->what);
	lines_diagnose(run, &(struct bt_diagnosis){.file = file,
				    .line = line,
				    .message = run->error.ptr,
				    .remedy = remedy ? remedy : usual});
}

static void read_file(struct line_reader *run, const struct bt_input_file *file)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_str rest = file->text;
	size_t line = 0, found = 0;

	while (rest.len && !bt_interrupt_pending() && !bt_output_failed(&run->output)) {
		size_t end = bt_str_find(rest, '\n', 0);

		bt_arena_reset(&arena);
		bt_json_begin(json, bt_str_sub(rest, 0, end), &arena);
		rest = bt_str_sub(rest, end + (end < rest.len), rest.len);
		line++;
		if (bt_json_more(json) || bt_json_error(json)->status != BT_OK) {
			found++;
			answer_line(run, json, &arena, file->name, line);
		}
	}
	if (!found && !bt_interrupt_pending()) {
		char message[64];

		snprintf(message, sizeof(message), "the file holds no %s", run->answer->plural);
		lines_diagnose(run, &(struct bt_diagnosis){.file = file->name,
					    .message = message,
					    .remedy = "write one JSON document a line"});
	}
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}

int bt_lines_run(const struct bt_invocation *invocation, const struct bt_lines_answer *answer)
{
	struct line_reader run = {.answer = answer};
	struct bt_input *input = bt_input_create(lines_diagnose, &run);
	struct bt_input_file file;

	bt_output_open_standard(false, &run.output);
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
