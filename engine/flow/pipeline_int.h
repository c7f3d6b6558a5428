/* SPDX-License-Identifier: Apache-2.0
 * The pipeline's insides, shared by the files that make it up.
 */
#pragma once

#include "engine/flow/group_cycle.h"
#include "engine/flow/messages.h"
#include "engine/flow/pipeline.h"
#include "engine/flow/ring_int.h"

/* ---- asks.c: what is asked of the binder ---- */

enum bt_ask_kind { BT_ASK_BIND = 0, BT_ASK_CHECK, BT_ASK_EVICT };

/* Where an ask is. */
enum bt_ask_state {
	BT_ASK_FREE = 0,
	BT_ASK_READY,	  /* on its way to a binder thread */
	BT_ASK_CALLED,	  /* the binder has it */
	BT_ASK_CANCELLED, /* taken back before the binder had it */
	BT_ASK_YES,	  /* answered: bound, evicted */
	BT_ASK_NO,	  /* answered: it failed */
	BT_ASK_UNKNOWN	  /* answered: nobody can tell */
};

#define BT_ASK_STATE_BITS 3
#define BT_REASON_MAX	  128
#define BT_NO_ASK	  UINT32_MAX

struct bt_ask_slot {
	uint64_t word;	      /* atomic: generation and state */
	uint32_t answer_next; /* who answers writes it, who takes answers reads it: the next one, plus one */
	char reason[BT_REASON_MAX];
	/* The rest is the scheduling thread's; text and ends are not written while the state is ready. */
	uint32_t ix;
	enum bt_ask_kind kind;
	uint32_t pod_ix, node_ix, birth;
	uint64_t number; /* of its kind, from 1 */
	uint64_t target; /* of a check: the handle of the binding */
	int64_t due_ns;	 /* when it is overdue, or is looked at again */
	bool sent, overdue, checking;
	uint32_t previous, next; /* in its list; BT_NO_ASK: none */
	struct bt_buf text;	 /* namespace, name, uid, node */
	size_t ends[4];
};

/* A list of slots through previous and next. */
struct bt_ask_list {
	uint32_t first, last;
};

#define BT_ASK_CHUNKS	   24
#define BT_ASK_FIRST_CHUNK 64u

/* Slots stay where they are; chunk k has BT_ASK_FIRST_CHUNK << k of them. */
struct bt_asks {
	struct bt_ask_slot
		*chunks[BT_ASK_CHUNKS]; /* written by the scheduling thread before a handle is given out */
	uint32_t slot_n;
	uint32_t answers; /* atomic: the last answered slot, plus one */
	uint32_t *vacant;
	size_t vacant_n, vacant_cap;
	struct bt_ask_list outgoing; /* decided, no room in a ring yet */
	struct bt_ask_list waiting;  /* sent, not overdue: the oldest first */
	struct bt_ask_list overdue;
	uint32_t *slot_of_pod; /* by pod: the slot of its binding, plus one, or 0 */
	size_t pod_n;
	uint32_t *births; /* by node slot: how often a node of that name has gone */
	size_t birth_n;
	uint64_t numbers[3]; /* of each kind */
	uint32_t open_n;     /* bindings */
	uint32_t turn;	     /* the binder thread that gets the next one */
};

/* ---- the whole ---- */

struct bt_source_lane {
	uint64_t fed_n, published_n;
	bool synced;
	struct bt_ring *feeds, *deltas; /* by ingestion thread */
};

struct bt_binder_lane {
	struct bt_ring asks;
	struct bt_buf text;
};

struct bt_pipeline {
	struct bt_pipeline_options options;
	struct bt_limits limits;
	struct bt_engine *engine;
	int64_t now_ns; /* the engine's clock */
	struct bt_source_lane *sources;
	struct bt_binder_lane *binders;
	struct bt_ring inbox;

	uint32_t publish_turn;
	struct bt_freshness freshness;
	struct bt_asks asks;
	struct bt_pipeline_counts counts;
	uint32_t synced_n;
	/* Of the decision under way. */
	struct bt_messages messages;
	struct bt_buf group_text;
	struct bt_group_note *notes;
	size_t note_n, note_cap;
	struct bt_pod_ref *victims;
	size_t victim_cap;
};

/* ---- reconcile.c: what the source shows ---- */

/* Takes an event in. Owns: the parcel stays the caller's. */
void bt_pipeline_take_parcel(struct bt_pipeline *p, const struct bt_parcel *parcel);

/* ---- asks.c ---- */

void bt_asks_init(struct bt_pipeline *p);
void bt_asks_fini(struct bt_pipeline *p);

/* The engine's binder and evictor. */
void bt_asks_bind(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);
void bt_asks_evict(void *context, struct bt_engine *engine, uint32_t pod_ix);

/* May another pod be popped, as far as bindings go? */
bool bt_asks_have_room(const struct bt_pipeline *p);

/* Hands what is decided to the binder threads, as far as there is room. */
bool bt_asks_send(struct bt_pipeline *p);

/* Takes the binder's answers. */
bool bt_asks_take_answers(struct bt_pipeline *p);

/* Looks after those that have no answer. */
bool bt_asks_watch(struct bt_pipeline *p);

/* When bt_asks_watch has something to do next, or INT64_MAX. */
int64_t bt_asks_next_ns(const struct bt_pipeline *p);

/* The binding of a pod that has none else, or NULL. */
struct bt_ask_slot *bt_asks_of_pod(struct bt_pipeline *p, uint32_t pod_ix);

/* The pod or the node of a binding is not what it was: the binding is taken back if the binder has not been
 * called. */
void bt_asks_cancel(struct bt_pipeline *p, struct bt_ask_slot *slot);

/* A node has gone, or another one has its name. */
void bt_asks_node_gone(struct bt_pipeline *p, uint32_t node_ix);

/* Ends a binding with what is true of it. yes: it came about. */
void bt_asks_conclude(struct bt_pipeline *p, struct bt_ask_slot *slot, bool yes);

/* ---- decide.c ---- */

/* One pod's turn, or its group's. Returns false when there is none to take. */
bool bt_pipeline_decide_one(struct bt_pipeline *p);

/* A pod's identity as texts; valid until the pod goes. */
struct bt_pod_ref bt_pipeline_pod_ref(const struct bt_pipeline *p, uint32_t pod_ix);
