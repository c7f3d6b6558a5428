/* SPDX-License-Identifier: Apache-2.0
 * Private: what replay.c and follow.c share. Writer: replay.c; of following follow.c. Context: one thread.
 */
#pragma once

#include "engine/flow/pipeline/pipeline_int.h"

/* The journal's decision that is followed. Its texts are views of the record. */
struct bt_followed {
	uint64_t outcome, preempt;
	struct bt_str namespace_, name, node, nominated;
	struct bt_victim *victims;
	uint32_t victim_n;
	size_t victim_cap;
	bool missing; /* a victim is not there */
};

/* Owns: bt_follow_fini. */
struct bt_following {
	struct bt_followed journal;
	struct bt_explanation explanation;
	struct bt_buf victims; /* of the pod's own decision, as text */
};

struct bt_journal_player {
	struct bt_pipeline *pipeline;
	const struct bt_replay_options *options;
	struct bt_journal_header header;
	struct bt_replay_result *result;
	int64_t now_ns;
	/* Decisions that were not compared yet: their bodies behind each other, and where each ends. */
	struct bt_buf bodies, error;
	size_t *ends;
	size_t end_n, end_cap, compared_n;
	struct bt_written_claim *claims; /* of an answer */
	size_t claim_cap;
	struct bt_journal_reader extenders; /* the next answer of an extender is there or behind */
	struct bt_following following;
	bool lost; /* one was asked, and there is no such answer */
};

/* Says that a record is wrong. Returns: BT_INVALID. */
enum bt_status bt_replay_bad_record(
	struct bt_journal_player *r, const struct bt_journal_record *record, const char *what);

/* ---- follow.c ---- */

/* Decides the pod of a decision's record, tells what was decided, and carries the journal's decision out. */
enum bt_status bt_follow_decision(struct bt_journal_player *r, const struct bt_journal_record *record);
void bt_follow_fini(struct bt_following *following);
