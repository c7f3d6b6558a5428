/* SPDX-License-Identifier: Apache-2.0
 * Private: state that replay.c and follow.c share. Writer: replay.c, of struct bt_following follow.c.
 * Context: one thread.
 */
#pragma once

#include "engine/flow/pipeline/pipeline_int.h"

/* The journal's decision that is being followed. Strings are views of the record. */
struct bt_followed {
	uint64_t outcome, preempt;
	struct bt_str namespace_, name, node, nominated;
	struct bt_victim *victims;
	uint32_t victim_n;
	size_t victim_cap;
	bool missing; /* a victim is unknown here */
};

/* Owns: bt_follow_fini. */
struct bt_following {
	struct bt_followed journal;
	struct bt_explanation explanation;
	struct bt_buf victims; /* of this engine's decision, as text */
};

struct bt_journal_player {
	struct bt_pipeline *pipeline;
	const struct bt_replay_options *options;
	struct bt_journal_header header;
	struct bt_replay_result *result;
	int64_t now_ns;
	/* Decisions that are not compared yet: their concatenated bodies, and the end of each. */
	struct bt_buf bodies, error;
	size_t *ends;
	size_t end_n, end_cap, compared_n;
	struct bt_written_claim *claims; /* scratch for an answer */
	size_t claim_cap;
	struct bt_journal_reader extenders; /* the next extender answer is here or later */
	struct bt_following following;
	bool lost; /* an extender was called, and the journal has no such answer */
};

/* Reports an invalid record. Returns: BT_INVALID. */
enum bt_status bt_replay_bad_record(
	struct bt_journal_player *r, const struct bt_journal_record *record, const char *what);

/* ---- follow.c ---- */

/* Decides the pod of a decision's record, reports the result, and applies the journal's decision. */
enum bt_status bt_follow_decision(struct bt_journal_player *r, const struct bt_journal_record *record);
void bt_follow_fini(struct bt_following *following);
