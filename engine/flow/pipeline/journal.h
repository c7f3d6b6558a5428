/* SPDX-License-Identifier: Apache-2.0
 * Journals: what a scheduling thread took in, in its order, and what it decided. That and the configuration
 * are all that decisions depend on, so a journal replays to the same decisions, whatever threads there were
 * (I9).
 *
 * Bytes: "BERTHJNL", the version as a little-endian uint32_t, then records: the length of the body as a
 * varint, a byte that says which record, the body, and a uint32_t of XXH3 over that byte and the body. Bodies
 * are varints (LEB128), and texts behind their lengths. The first record is the header, the last one the end.
 *
 * Objects go through a codec, because the engine knows no text format. Context: a writer belongs to the
 * scheduling thread; the codec's encode is called by ingestion threads at the same time.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/flow/cycle/engine.h"
#include "engine/model/object.h"

struct bt_journal_codec {
	void (*encode)(void *context, const struct bt_object *object, struct bt_buf *out);
	/* Strings and arrays live in arena. Returns: false with the reason in out_error. */
	bool (*decode)(void *context, struct bt_str bytes, struct bt_arena *arena, struct bt_object *out,
		struct bt_buf *out_error);
	void *context;
};

/* What decisions depend on besides the records. */
struct bt_journal_header {
	uint64_t seed;
	int64_t begin_ns; /* the clock when the engine was made */
	bool has_clock;
	bool binds;	     /* a binder answers; else every binding succeeds at once */
	bool evicts;	     /* an evictor is called; else none is */
	bool evicts_at_once; /* and its victims are being deleted at once; else when a record says so */
	bool releases;	     /* claims that keep pods out change when the source says so; else at once */
	bool extends;	     /* extenders are called */
	bool strict_order, no_backoff, groups_by_events, evaluate_always, moves_pods, status_is_shown;
	enum bt_node_sampling sampling;
	uint32_t tombstones;  /* the limit of that name */
	struct bt_str config; /* the configuration, in whatever form the writer's program has it */
};

enum bt_journal_kind {
	BT_JOURNAL_HEADER = 1,
	BT_JOURNAL_APPLY,    /* an object is shown */
	BT_JOURNAL_DELETE,   /* an object is shown to have gone */
	BT_JOURNAL_TIME,     /* the clock was read */
	BT_JOURNAL_BOUND,    /* the binding of that number came about */
	BT_JOURNAL_FAILED,   /* it did not */
	BT_JOURNAL_EVICTED,  /* the victim of that number is being deleted */
	BT_JOURNAL_TAKEN,    /* a pod was taken out of the queue before its turn */
	BT_JOURNAL_DECISION, /* a cycle ended */
	BT_JOURNAL_END,
	BT_JOURNAL_EVICT_FAILED, /* the victim of that number could not be deleted */
	BT_JOURNAL_EXTENDER	 /* what an extender has answered to a decision's question */
};

/* What happens besides when the clock is read. */
enum bt_journal_time { BT_TIME_SET = 0, BT_TIME_TICK = 1, BT_TIME_START = 2 };

/* ---- writing ---- */

struct bt_journal_options {
	/* Takes bytes. Returns: false when it cannot; then nothing more is written. Context: the scheduling
	 * thread, when a buffer is full; with a ring a thread of the journal's own. */
	bool (*write)(void *context, const char *bytes, size_t n);
	void *context;
	struct bt_journal_codec codec;
	struct bt_str config; /* kept until the header is written */
	size_t buffer_bytes;  /* 0: 256 KiB */
	/* A ring of so many bytes, a power of two, by which another thread writes what is recorded a few
	 * milliseconds later; full, the scheduling thread waits. 0: it writes itself. */
	uint32_t ring_bytes;
};

struct bt_journal;

/* Owns: bt_journal_destroy, which writes what is left. */
struct bt_journal *bt_journal_create(const struct bt_journal_options *options);
void bt_journal_destroy(struct bt_journal *journal);

/* Writes the end. Returns: BT_OK; BT_IO when something could not be written. */
enum bt_status bt_journal_finish(struct bt_journal *journal);

/* The header, once and first; config is the options'. Starts the thread of a journal with a ring: a caller
 * that confines itself (Landlock) does so before. */
void bt_journal_begin(struct bt_journal *journal, const struct bt_journal_header *header);

/* The bytes of an object. Context: any thread. */
void bt_journal_encode(const struct bt_journal *journal, const struct bt_object *object, struct bt_buf *out);

/* BT_JOURNAL_APPLY and BT_JOURNAL_DELETE: bytes of bt_journal_encode. */
void bt_journal_object(struct bt_journal *journal, enum bt_journal_kind kind, struct bt_str bytes);

void bt_journal_time(struct bt_journal *journal, int64_t now_ns, enum bt_journal_time what);

/* BT_JOURNAL_BOUND and BT_JOURNAL_FAILED: number counts bindings from 1. What was written of claims follows.
 */
void bt_journal_binding(struct bt_journal *journal, uint64_t number, const struct bt_binding_answer *answer);

/* BT_JOURNAL_EVICTED and BT_JOURNAL_EVICT_FAILED: number counts evictions from 1. */
void bt_journal_answer(struct bt_journal *journal, enum bt_journal_kind kind, uint64_t number);

/* BT_JOURNAL_EXTENDER: before the decision that depends on it; bytes of struct bt_extender_hooks's keep. */
void bt_journal_extender(struct bt_journal *journal, struct bt_str answer);

void bt_journal_taken(struct bt_journal *journal, uint32_t pod_ix);

/* A decision that has just been carried out. */
void bt_journal_decision(
	struct bt_journal *journal, struct bt_engine *engine, const struct bt_decision *decision);

/* ---- reading ---- */

/* A place in a journal. Owns: nothing; bytes stay the caller's. */
struct bt_journal_reader {
	struct bt_str bytes;
	size_t offset;
};

struct bt_journal_record {
	enum bt_journal_kind kind;
	size_t offset; /* where it begins */
	struct bt_str body;
};

/*
 * Begins to read.
 * Returns: BT_OK with the header, whose texts are views of bytes; BT_INVALID, BT_UNSUPPORTED (another
 * version)          or BT_TRUNCATED with the reason in out_error.
 */
enum bt_status bt_journal_open(struct bt_str bytes, struct bt_journal_reader *out_reader,
	struct bt_journal_header *out_header, struct bt_buf *out_error);

/* The next record. Returns: BT_OK; BT_NOT_FOUND behind the end; BT_TRUNCATED or BT_INVALID with the reason
 * and the offset in out_error, and the reader stands still. */
enum bt_status bt_journal_next(
	struct bt_journal_reader *reader, struct bt_journal_record *out_record, struct bt_buf *out_error);

/* Appends the body of a decision's record; two decisions are the same when their bodies are. */
void bt_journal_write_decision(
	struct bt_engine *engine, const struct bt_decision *decision, struct bt_buf *out_body);

/* A decision's body in words. */
void bt_journal_decision_text(struct bt_str body, struct bt_buf *out_text);

/* Reads a claim that was written off the front; its texts are views. Returns: false when there is none. */
bool bt_journal_claim(struct bt_str *body, struct bt_written_claim *out_claim);

/* ---- replaying ---- */

/* What a follower has decided itself. Texts are valid during the call. */
struct bt_judgment {
	uint64_t number; /* of the decision, from 1 */
	struct bt_str namespace_, name;
	enum bt_outcome outcome;
	struct bt_str node; /* BT_PLACED: the journal's, if that is one of the best; else the chosen one */
	struct bt_str nominated; /* BT_REFUSED, or empty */
	struct bt_str victims;	 /* "ns/a, ns/b", in their order; or empty */
	struct bt_str message;	 /* of a refusal */
	bool agrees;		 /* the journal's decision might be this one, texts apart */
};

/* Follows a journal. The engine decides each pod at the journal's moment, reports that, and then carries out
 * what the journal says. So it judges every decision in the cluster that the journal's scheduler saw. */
struct bt_follow {
	void (*judged)(void *context, const struct bt_judgment *judgment);
	void *context;
};

struct bt_replay_options {
	struct bt_follow
		follow; /* judged == NULL: decisions are compared, and the first that differs ends it */
	const struct bt_config *config; /* of the header */
	struct bt_journal_codec codec;
	size_t plan_memory_bytes; /* 0: the usual */
	uint32_t workers;	  /* that score nodes; 0: one */
};

struct bt_replay_result {
	uint64_t apply_n, delete_n, time_n, answer_n, decision_n, placed_n;
	bool ended;	/* the journal is whole */
	bool differs;	/* the last decision is not the journal's */
	size_t offset;	/* the record at which it ended */
	int64_t now_ns; /* the clock there */
};

/*
 * Plays a journal in one thread and compares every decision. Stops at the first that differs, at the first
 * record that cannot be read, and at the end.
 * Returns: BT_OK when all of it was played and nothing differs; BT_CONFLICT when a decision differs, with
 * both          in out_text; otherwise what is wrong with the journal or the configuration, in out_text;
 * result          says how far it came.
 */
enum bt_status bt_journal_replay(struct bt_str bytes, const struct bt_replay_options *options,
	struct bt_replay_result *out_result, struct bt_buf *out_text);
