/* SPDX-License-Identifier: Apache-2.0
 * Journals record what the scheduling thread takes in, in its order, and what it decides. Decisions depend
 * only on that and the configuration, so a journal replays to the same decisions for any number of threads
 * (I9).
 *
 * Format: "BERTHJNL", the version as a little-endian uint32_t, then records: the length of the body as a
 * varint, a byte for the kind, the body, and a uint32_t of XXH3 over that byte and the body. Bodies are
 * varints (LEB128) and length-prefixed strings. The first record is the header, the last one the end.
 *
 * Objects go through a codec, because the engine knows no text format. Context: a writer belongs to the
 * scheduling thread; ingestion threads call the codec's encode concurrently.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/flow/cycle/engine.h"
#include "engine/model/object.h"

#define BT_JOURNAL_MAGIC "BERTHJNL" /* the first bytes of a journal */

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
	int64_t begin_ns; /* clock at the engine's creation */
	bool has_clock;
	bool binds;	     /* a binder answers; otherwise every binding succeeds at once */
	bool evicts;	     /* an evictor is called; otherwise nothing is evicted */
	bool evicts_at_once; /* its victims terminate at once; otherwise on a record */
	bool releases;	     /* the source shows when blocking claims change; otherwise at once */
	bool extends;	     /* extenders are called */
	bool strict_order, no_backoff, groups_by_events, evaluate_always, moves_pods, status_is_shown;
	enum bt_node_sampling sampling;
	uint32_t tombstones;  /* bt_limits.tombstones */
	struct bt_str config; /* the configuration, in the writing program's own format */
};

enum bt_journal_kind {
	BT_JOURNAL_HEADER = 1,
	BT_JOURNAL_APPLY,    /* the source shows an object */
	BT_JOURNAL_DELETE,   /* the source shows that an object was deleted */
	BT_JOURNAL_TIME,     /* the clock was read */
	BT_JOURNAL_BOUND,    /* the binding with that number succeeded */
	BT_JOURNAL_FAILED,   /* it failed */
	BT_JOURNAL_EVICTED,  /* the victim of that number is being deleted */
	BT_JOURNAL_TAKEN,    /* a pod was taken out of the queue before it reached the head */
	BT_JOURNAL_DECISION, /* a cycle ended */
	BT_JOURNAL_END,
	BT_JOURNAL_EVICT_FAILED, /* deleting the victim with that number failed */
	BT_JOURNAL_EXTENDER	 /* an extender's response that a decision depends on */
};

/* In a decision's record. Beside preempt: the victims are the PodGroup's (bt_decision.by_group). Beside the
 * outcome: a wait at Permit begins, or has ended. */
#define BT_JOURNAL_BY_GROUP UINT64_C(8)
#define BT_JOURNAL_OUTCOME  UINT64_C(7)
#define BT_JOURNAL_WAITS    UINT64_C(8)
#define BT_JOURNAL_WAITED   UINT64_C(16)

/* What the engine does when the clock is read. */
enum bt_journal_time { BT_TIME_SET = 0, BT_TIME_TICK = 1, BT_TIME_START = 2 };

/* ---- writing ---- */

struct bt_journal_options {
	/* Writes bytes. Returns: false on failure; then nothing more is written. Context: the scheduling
	 * thread, when a buffer is full; with a ring the journal's own thread. */
	bool (*write)(void *context, const char *bytes, size_t n);
	void *context;
	struct bt_journal_codec codec;
	struct bt_str config; /* read until the header is written */
	size_t buffer_bytes;  /* 0: 256 KiB */
	/* Size of the ring in bytes, a power of two: the journal's own thread writes records a few
	 * milliseconds later. The scheduling thread blocks when the ring is full. 0: no ring, the scheduling
	 * thread writes. */
	uint32_t ring_bytes;
};

struct bt_journal;

/* Owns: bt_journal_destroy, which writes what is buffered. */
struct bt_journal *bt_journal_create(const struct bt_journal_options *options);
void bt_journal_destroy(struct bt_journal *journal);

/* Writes the end record. Returns: BT_OK; BT_IO when a write failed. */
enum bt_status bt_journal_finish(struct bt_journal *journal);

/* Writes the header, once and first; config comes from the options. Starts the thread of a journal with a
 * ring: a caller that confines itself (Landlock) does so before. */
void bt_journal_begin(struct bt_journal *journal, const struct bt_journal_header *header);

/* Encodes an object. Context: any thread. */
void bt_journal_encode(const struct bt_journal *journal, const struct bt_object *object, struct bt_buf *out);

/* BT_JOURNAL_APPLY and BT_JOURNAL_DELETE: bytes from bt_journal_encode. */
void bt_journal_object(struct bt_journal *journal, enum bt_journal_kind kind, struct bt_str bytes);

void bt_journal_time(struct bt_journal *journal, int64_t now_ns, enum bt_journal_time what);

/* BT_JOURNAL_BOUND and BT_JOURNAL_FAILED: number counts bindings from 1. The claims that the binder wrote
 * follow. */
void bt_journal_binding(struct bt_journal *journal, uint64_t number, const struct bt_binding_answer *answer);

/* BT_JOURNAL_EVICTED and BT_JOURNAL_EVICT_FAILED: number counts evictions from 1. */
void bt_journal_answer(struct bt_journal *journal, enum bt_journal_kind kind, uint64_t number);

/* BT_JOURNAL_EXTENDER: precedes the decision that depends on it; bytes from struct bt_extender_hooks's
 * keep. */
void bt_journal_extender(struct bt_journal *journal, struct bt_str answer);

void bt_journal_taken(struct bt_journal *journal, uint32_t pod_ix);

/* Records a decision that has just been carried out. */
void bt_journal_decision(
	struct bt_journal *journal, struct bt_engine *engine, const struct bt_decision *decision);

/* ---- reading ---- */

/* A position in a journal. Owns: nothing; the caller keeps bytes. */
struct bt_journal_reader {
	struct bt_str bytes;
	size_t offset;
};

struct bt_journal_record {
	enum bt_journal_kind kind;
	size_t offset; /* of the record's first byte */
	struct bt_str body;
};

/*
 * Opens a journal.
 * Returns: BT_OK with the header, whose strings are views of bytes; BT_INVALID, BT_UNSUPPORTED (another
 *          version) or BT_TRUNCATED with the reason in out_error.
 */
enum bt_status bt_journal_open(struct bt_str bytes, struct bt_journal_reader *out_reader,
	struct bt_journal_header *out_header, struct bt_buf *out_error);

/* Reads the next record. Returns: BT_OK; BT_NOT_FOUND after the end; BT_TRUNCATED or BT_INVALID with the
 * reason and the offset in out_error; then the reader does not advance. */
enum bt_status bt_journal_next(
	struct bt_journal_reader *reader, struct bt_journal_record *out_record, struct bt_buf *out_error);

/* Appends the body of a decision's record. Two decisions are equal when their bodies are. */
void bt_journal_write_decision(
	struct bt_engine *engine, const struct bt_decision *decision, struct bt_buf *out_body);

/* Formats a decision's body as text. */
void bt_journal_decision_text(struct bt_str body, struct bt_buf *out_text);

/* Reads a written claim off the front of a body; its strings are views. Returns: false when there is none. */
bool bt_journal_claim(struct bt_str *body, struct bt_written_claim *out_claim);

/* ---- replaying ---- */

/* A follower's own decision. Strings are valid during the call. */
struct bt_judgment {
	uint64_t number; /* of the decision, from 1 */
	struct bt_str namespace_, name;
	enum bt_outcome outcome;
	struct bt_str node;	 /* BT_PLACED: the journal's if it is among the best, else the chosen one */
	struct bt_str nominated; /* BT_REFUSED: the nominated node, or empty */
	struct bt_str victims;	 /* "ns/a, ns/b", in eviction order; or empty */
	struct bt_str message;	 /* of a refusal; BT_GATED: why the pod does not take part in its group */
	uint64_t cycle_n;	 /* number of the cycle before this decision's */
	bool agrees;		 /* the journal's decision could be this one; messages are not compared */
};

/* Follows a journal. The engine decides each pod at the same point as the journal's scheduler, reports that
 * decision, and then carries out the journal's. So it judges every decision in the cluster state that the
 * journal's scheduler saw. */
struct bt_follow {
	void (*judged)(void *context, const struct bt_judgment *judgment);
	/* The cycle_n that a decision had in another pass, so that ties are broken alike. NULL: cycles are
	 * counted. */
	uint64_t (*cycle_n)(void *context, uint64_t number);
	void *context;
};

struct bt_pipeline;
struct bt_pipeline_sink;

/* Observes a replay. Each member may be NULL. Context: the replaying thread. */
struct bt_replay_observer {
	/* The first record follows. The pipeline is valid until ends. */
	void (*begins)(void *context, struct bt_pipeline *pipeline);
	void (*ends)(void *context); /* no record follows */
	/* An object is applied, or deleted, next. Valid during the call. */
	void (*shows)(void *context, const struct bt_object *object, bool deletes);
	/* A pod is evicted next. */
	void (*evicts)(void *context, uint32_t pod_ix);
	void *context;
	const struct bt_pipeline_sink *sink; /* with messages, if it has cycle_ended */
	const struct bt_queue_observer *queue;
};

struct bt_replay_options {
	struct bt_follow follow; /* judged == NULL: compares decisions, and ends at the first difference */
	const struct bt_config *config; /* from the header */
	struct bt_journal_codec codec;
	size_t plan_memory_bytes; /* 0: the default */
	uint32_t workers;	  /* that score nodes; 0: one */
	struct bt_replay_observer observer;
};

struct bt_replay_result {
	uint64_t apply_n, delete_n, time_n, answer_n, decision_n, placed_n;
	bool ended;	/* the journal is complete */
	bool differs;	/* the last decision differs from the journal's */
	size_t offset;	/* the record at which it ended */
	int64_t now_ns; /* the clock at that record */
};

/*
 * Replays a journal in one thread and compares every decision. Stops at the first difference, at the first
 * record that cannot be read, and at the end.
 * Returns: BT_OK when the journal was replayed completely without a difference; BT_CONFLICT when a decision
 *          differs, with both in out_text; otherwise the fault of the journal or the configuration, in
 *          out_text. out_result shows how far the replay got.
 */
enum bt_status bt_journal_replay(struct bt_str bytes, const struct bt_replay_options *options,
	struct bt_replay_result *out_result, struct bt_buf *out_text);
