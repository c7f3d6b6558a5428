/* SPDX-License-Identifier: Apache-2.0
 * Private: state that replay.c and follow.c share. Writer: replay.c, of struct bt_following follow.c.
 * Context: one thread.
 */
#pragma once

#include "engine/flow/pipeline/pipeline_int.h"

/* The journal's decision that is being followed. Strings are views of the record. */
struct bt_followed {
	uint64_t outcome, preempt;
	bool by_group, waits, waited;
	struct bt_str namespace_, name, node, nominated;
	uint32_t pod_ix;
	struct bt_victim *victims;
	uint32_t victim_n;
	size_t victim_cap;
	bool missing; /* a victim is unknown here */
	/* This engine's decision, whose strings are in bt_following.texts; judged: there is one. */
	struct bt_judgment judgment;
	bool judged;
};

/* Owns: bt_follow_fini. */
struct bt_following {
	/* Decisions in a row that are followed at once: of a pod, or of pods that this engine decides
	 * together. */
	struct bt_followed *run;
	size_t run_n, run_cap;
	size_t slot_n; /* that were ever used, and own their victims */
	struct bt_explanation explanation;
	struct bt_messages messages;
	struct bt_arena texts;
	struct bt_buf text; /* scratch */
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
	struct bt_journal_reader *reader;   /* behind the present record */
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
