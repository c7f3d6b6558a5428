/* SPDX-License-Identifier: Apache-2.0
 * Histories: an initial cluster, steps that change it, and the scheduling queue after each step.
 */
#pragma once

#include "tools/offline/verdict/api.h"

/* An object's identity. */
struct bt_history_ref {
	struct bt_str api_version, kind, namespace_, name;
};

/* Options of a cycle. */
struct bt_history_cycle {
	struct bt_str pin; /* the node to take when it is feasible; otherwise the first by name of the best */
	bool fail_bind;	   /* the API rejects the binding */
};

/* A step holds exactly one of these. */
struct bt_history_step {
	struct bt_str create, update; /* JSON texts; empty: not this */
	struct bt_str advance;	      /* seconds, as JSON text */
	bool deletes, cycles, begins, ends;
	struct bt_history_ref delete_;
	struct bt_history_cycle cycle, begin;
	struct bt_history_cycle end; /* has no members */
};

/* A parsed history. Owns: nothing; strings belong to the text and the cursor's arena. */
struct bt_history {
	struct bt_str id, note;
	struct bt_str config;  /* JSON text; empty when there is none */
	struct bt_str gates;   /* "A=true,B=false" */
	struct bt_str objects; /* JSON text of the array */
	struct bt_history_step *steps;
	uint32_t step_n;
	bool has_steps; /* may be empty */
	/* The release to decide as. Parsing keeps the default. */
	const struct bt_release *release;
	/* Set by the caller: decide by columns and state cached across cycles, as usual. The answer is the
	 * same without PostFilter's messages. */
	bool by_columns;
	/* Set by the caller: only write each whole cycle's duration and result, by columns, with any of
	 * the best nodes. */
	bool elapsed;
};

/* Reads one history at the cursor. Returns: false with the error in out_error. */
bool bt_history_read(struct bt_json *json, struct bt_arena *arena, struct bt_history *out_history,
	struct bt_buf *out_error);

/* Plays a history and appends the answer, one line. Returns: false with the place and the reason in
 * out_error, and a remedy, a static text, in out_remedy. */
bool bt_history_play(const struct bt_history *history, struct bt_buf *out_line, struct bt_buf *out_error,
	const char **out_remedy);
