/* SPDX-License-Identifier: Apache-2.0
 * Answers a file of JSON documents, one per line: one line in, one line out.
 */
#pragma once

#include "engine/base/buf.h"
#include "tools/cli/invocation.h"
#include "tools/format/json.h"

/* How a command answers one document. */
struct bt_lines_answer {
	const char *command;	   /* as in "berth command" */
	const char *what, *plural; /* the name of a document: "scenario", "scenarios" */
	/*
	 * Reads the document at the cursor and appends its answer, a line, to out_line.
	 * Returns: false with the reason in out_error, and a remedy, a static text, in out_remedy, which is
	 * initially NULL: the line is no document of that kind.
	 */
	bool (*answer)(const void *context, struct bt_json *json, struct bt_arena *arena,
		struct bt_buf *out_line, struct bt_buf *out_error, const char **out_remedy);
	const void *context;
};

/* Answers every line of the invocation's operand on standard output. Reports invalid lines on standard error,
 * and continues with the next one. Returns: an exit code. */
int bt_lines_run(const struct bt_invocation *invocation, const struct bt_lines_answer *answer);
