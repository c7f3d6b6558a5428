/* SPDX-License-Identifier: Apache-2.0
 * Histories: a cluster's beginning and what happens in it, step by step, and what the scheduling queue holds
 * after each step.
 */
#pragma once

#include "tools/offline/verdict/api.h"

/* An object's identity. */
struct bt_history_ref {
	struct bt_str api_version, kind, namespace_, name;
};

/* How a cycle goes. */
struct bt_history_cycle {
	struct bt_str pin; /* the node to take when it is feasible; otherwise the first by name of the best */
	bool fail_bind;	   /* the API refuses the binding */
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

/* A history as it stands in its line. Owns: nothing; strings belong to the text and the cursor's arena. */
struct bt_history {
	struct bt_str id, note;
	struct bt_str config;  /* JSON text; empty when there is none */
	struct bt_str gates;   /* "A=true,B=false" */
	struct bt_str objects; /* JSON text of the array */
	struct bt_history_step *steps;
	uint32_t step_n;
	bool has_steps; /* maybe none */
	/* Whose kube-scheduler answers. Reading leaves the default one. */
	const struct bt_release *release;
	/* Set by the caller: decide by columns, and by what is remembered from cycle to cycle, as elsewhere.
	 * The answer is the same without what PostFilter says. */
	bool by_columns;
	/* Set by the caller: say of each whole cycle how long it took and what it came to, by columns, any of
	 * the best nodes being taken, and nothing else. */
	bool elapsed;
};

/* Reads one history at the cursor. Returns: false with the error in out_error. */
bool bt_history_read(struct bt_json *json, struct bt_arena *arena, struct bt_history *out_history,
	struct bt_buf *out_error);

/* Plays a history and appends the answer, one line. Returns: false with the place and the reason in
 * out_error, and what helps, a static text, in out_remedy. */
bool bt_history_play(const struct bt_history *history, struct bt_buf *out_line, struct bt_buf *out_error,
	const char **out_remedy);
