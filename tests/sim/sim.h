/* SPDX-License-Identifier: Apache-2.0
 * One simulation: the API server, the record of events and decisions, and the engines.
 */
#pragma once

#include "api.h"
#include "engine/base/compiler.h"
#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/pipeline/pipeline.h"
#include "model.h"
#include "step.h"
#include "workers.h"

#define SIM_SECOND  INT64_C(1000000000)
#define SIM_ENGINES 2
#define SIM_RING    4 /* entries of the rings between stages */

enum sim_stage { SIM_INGEST = 0, SIM_SCHEDULER, SIM_BINDER, SIM_ANSWERS, SIM_STAGE_N };

/* Read position of a stream. */
struct sim_feed {
	uint32_t next; /* index in the log */
	uint64_t seen; /* the version up to which the engine has seen it */
	bool gap;      /* an event was lost; requires a list */
};

/* The engine's index of a pod, and the binder's result. */
struct sim_known {
	uint32_t ix, confirmed;
	/* Of its last refusal: the number of events before it, and whether these plugins refused a node. */
	uint64_t refused_at;
	bool by_other_pods, by_claims;
	bool evicted; /* the engine has got the answer that its eviction has begun */
	bool twin_evicted;
};

/* A binding: decided, then sent (or not), then answered. */
struct sim_binding {
	uint32_t slot, uid, node, pod_ix;
	struct sim_pod_spec spec;
	bool held; /* it counts on its node */
	/* The device to be allocated; SIM_NONE: none, its claim has one already, or there is no claim. */
	uint32_t wanted;
	uint32_t claim_uid; /* of its claim */
	uint64_t wrote;	    /* the claim's version that the binder has written; 0: none */
	bool has_device;    /* neither the device nor its claim is free */
	bool done, good;
	int64_t due_ns; /* the binder's timeout */
	/* In a pipeline: */
	uint64_t number, handle;
	bool silent, replied;
};

/* The result of a cycle. */
struct sim_cycle {
	uint32_t slot, pod_ix;
	enum bt_outcome outcome;
	uint32_t node;	    /* SIM_NONE: none */
	uint32_t nominated; /* before the cycle; the same */
	uint32_t victim_n;
	bt_plugin_set unschedulable_plugins;
	bool grouped; /* decided with its PodGroup: the result depends on the others */
	bool yields;  /* a pod of higher priority may be nominated to a node */
};

/* An event in a pipeline. */
struct sim_watch_event {
	const struct bt_watch_event *watch_event;
	enum sim_stream stream;
	uint32_t ix;
	struct sim_object object;
	bool malformed;
};

/* A victim to be deleted or a claim to be released, and its preemptor. */
struct sim_eviction {
	uint32_t slot, uid, for_uid;
	bool releases, released;
	uint64_t handle; /* in a pipeline; 0: the binder has not been called */
};

#define SIM_PARCELS 256

struct sim {
	uint64_t seed;
	bool trace;
	struct sim_api *api;
	struct sim_feed feeds[SIM_STREAM_N];
	struct sim_object shown[SIM_STREAM_N][SIM_OBJECTS];
	/* In a pipeline: the objects that its publisher has passed on. */
	struct sim_object published[SIM_STREAM_N][SIM_OBJECTS];
	struct sim_known known[SIM_PODS];
	bool port_twice[SIM_NODES];
	uint64_t move_n;     /* moves of nodes to other slots in engines[0] */
	uint64_t pod_move_n; /* moves of pods to other indices */
	struct sim_binding bindings[SIM_BINDINGS];
	uint32_t binding_n;
	struct sim_eviction evictions[SIM_PODS * 2];
	uint32_t eviction_n;

	/* The same cluster, decided in several ways: by columns, and without them. */
	struct bt_engine *engines[SIM_ENGINES];
	uint32_t engine_n;
	struct bt_decision decisions[SIM_ENGINES];
	bool begun; /* between the halves of a cycle */
	struct sim_pod_spec deciding;
	enum sim_answer verdicts[SIM_NODES]; /* of that cycle's pod */
	const char *reasons[SIM_NODES];
	/* In the cycle of a PodGroup: members with a node, while the others are decided. */
	struct sim_placed in_group[SIM_PODS];
	uint32_t in_group_n;

	/* Or a pipeline; engines[0] is its engine then. */
	struct bt_pipeline *pipeline;
	struct sim_object fed[SIM_STREAM_N][SIM_OBJECTS]; /* by source */
	struct sim_watch_event watch_events[SIM_PARCELS];
	uint32_t event_n;
	uint32_t bind_how; /* the outcome of the binder's next call */
	/* The twin's decisions for members of a group that the pipeline has not reported yet. */
	struct bt_decision twin_group[SIM_PODS];
	uint32_t twin_group_n, twin_group_at;
	bool group_touched[SIM_GROUPS]; /* a member was placed */
	/* engines[1] gets the same events and decides one by one, without columns, stages and batches. */
	int64_t twin_ns; /* its clock */

	/* A slow reader: what it reads stays as it was at its start. */
	bool visiting;
	struct bt_published look;
	uint64_t sight; /* a hash of everything that it reads */
	uint32_t visit_until;

	int64_t now_ns, latest_ns;
	bool leader, settling;
	/* One of two schedulers with one API server: it does not lead, and decides no pod. */
	bool shares_api, held;
	bool fenced;	 /* nor writes a status */
	uint32_t number; /* its index, from 0 */
	/* Claims known before the watch shows them: the binders' writes, until that version or a newer one is
	 * shown (0: none). */
	struct sim_device kept[SIM_DEVICE_CLAIMS];
	uint64_t kept_version[SIM_DEVICE_CLAIMS];
	bool gangs;	     /* PodGroups are enabled */
	bool works;	     /* workers score nodes with the first engine */
	uint32_t held_until; /* 0: no worker is held */
	uint64_t taken_over_n;
	uint64_t shown_n, node_shown_at, node_gone_at,
		pod_shown_at; /* number of events, at the last one of a kind */
	/* An event happened that upstream's hints miss. */
	bool untold;
	uint64_t excused_n;
	uint32_t step_no, paused_until[SIM_STAGE_N], starved_until[BT_MEM_USE_N];
	uint64_t faults[SIM_FAULT_N];
	uint64_t placed_n, refused_n;
	struct bt_arena arena; /* valid for one step */

	bool failed;
	const char *invariant;
	struct bt_buf message, notes;
};

/* The shared configuration of simulations with such PodGroups, or without. */
const struct bt_config *sim_config(enum sim_groups groups);

/*
 * Plays a history until the system is at rest. Returns false when an invariant was
 * violated; message has details.
 * Owns: sim_end, in any case.
 */
struct sim *sim_play(const struct sim_history *history, bool trace);
void sim_end(struct sim *sim);

void sim_fail(struct sim *sim, const char *invariant, const char *format, ...) BT_PRINTF(3, 4);
void sim_note(struct sim *sim, const char *format, ...) BT_PRINTF(2, 3);

/* One scheduler, with its own API server (NULL), or a shared one. */
struct sim *sim_create(const struct sim_history *history, bool trace, struct sim_api *api);
/* Runs everything that can run, until nothing is left to do. Returns: is it at rest? */
bool sim_settle_for_now(struct sim *sim);

/* ---- leaders.c ---- */
/* As sim_play, with two schedulers, one of which leads. */
struct sim *sim_play_leaders(const struct sim_history *history, bool trace);

/* ---- steps.c ---- */
void sim_do(struct sim *sim, struct sim_step step);
/* Ends the reader's section, if there is one. */
void sim_leave(struct sim *sim);
/* Releases held workers. */
void sim_let_go(struct sim *sim);
/* Advances everything that waits by one step; returns whether anything moved. */
bool sim_move_on(struct sim *sim);

/* Is memory for that use short now? */
bool sim_is_starved(const struct sim *sim, enum bt_mem_use use);

/* The outcome of a binding without faults. */
#define SIM_FAULTLESS 99

/* The binder's call for a binding, with an outcome. */
void sim_call_bind(struct sim *sim, struct sim_binding *binding, uint32_t how);
/* A stream ends; the next one begins with a list at a position of the log. */
void sim_list(struct sim *sim, enum sim_stream stream, uint32_t position);
/* The binder's answer, with the claims that it has written. claim: room for one. */
struct bt_binding_answer sim_answer_of(
	struct sim *sim, const struct sim_binding *binding, struct bt_written_claim *claim);

/* ---- shown.c ---- */
uint32_t sim_number(struct bt_engine *engine, uint32_t name);
const struct bt_pod *sim_pod_at(struct bt_engine *engine, uint32_t pod_ix);
uint32_t sim_node_number(struct bt_engine *engine, uint32_t node_ix);
/* The engine sees an object. Afterwards call sim_find_pod for a pod, sim_note_ports. */
void sim_account(struct sim *sim, enum sim_stream stream, uint32_t ix, const struct sim_object *object);
/* The node to which the engine has nominated a pod. */
uint32_t sim_nominated(struct sim *sim, uint32_t slot);
void sim_find_pod(struct sim *sim, uint32_t slot);
/* The index of the pod with that UID, or BT_NO_POD. */
uint32_t sim_pod_of(struct sim *sim, uint32_t uid);
/* Updates pods' indices, which may change when pods and nodes are added and removed. */
void sim_follow_moves(struct sim *sim);
void sim_note_ports(struct sim *sim);
/* Begins a pod's cycle: evaluates the rules; and ends it with its result. */
void sim_begin_cycle(struct sim *sim, uint32_t slot, uint32_t uid);
void sim_check_cycle(struct sim *sim, const struct sim_cycle *cycle);
struct sim_binding *sim_add_binding(struct sim *sim, struct sim_binding binding);
void sim_end_binding(struct sim *sim, uint32_t ix);
void sim_note_victim(struct sim *sim, struct sim_eviction victim);
/* Patches the status of a waiting pod when its cycle has set or cleared its nomination. */
void sim_patch(struct sim *sim, uint32_t pod_ix, bool nominated);

/* The victims of a decision. */
struct sim_victims {
	uint32_t uids[SIM_PODS], n;
};

/* No victim is protected by a budget if another node has enough others. */
void sim_check_victims(struct sim *sim, uint32_t slot, const struct sim_victims *victims);

/* The device pending for a pod in the engine; SIM_NONE: none. */
uint32_t sim_pending_device(struct bt_engine *engine, uint32_t pod_ix);
/* Deallocates a claim that keeps a pod out. */
void sim_release_claim(struct sim *sim, uint32_t ix, uint32_t uid);

/* ---- groups.c ---- */
/* Must the popped pod be decided with its PodGroup? */
bool sim_is_grouped(const struct sim *sim, uint32_t slot);
/* Decides it and its group in every engine. */
void sim_decide_group(struct sim *sim, uint32_t pod_ix);
/* Members of a slot's group on nodes. */
uint32_t sim_group_placed_n(const struct sim *sim, uint32_t slot);
/* Members on no node. */
uint32_t sim_group_waiting_n(const struct sim *sim, uint32_t slot);
/* Invariant of a group's cycle: all or nothing. fits_n: members that had a node when they were decided;
 * before_n: members on nodes before. */
void sim_check_group(struct sim *sim, uint32_t slot, uint32_t before_n, uint32_t fits_n, uint32_t placed_n);

/* ---- direct.c ---- */
/* Makes resources have columns or be rare in the next dictionary, by the seed. Of two engines, which must
 * decide the same, other gets the opposite. */
void sim_prefill(const struct sim *sim, bool other);

/* Applies an object, or its deletion, to an engine. */
enum bt_status sim_take(
	struct bt_engine *engine, const struct bt_object *object, bool there, uint32_t *out_ix);
struct bt_engine *sim_engine_create(struct sim *sim, bool by_evaluation, bool binds);
/* Returns: false when memory is short, so that nothing has changed. */
bool sim_show_change(struct sim *sim, enum sim_stream stream, uint32_t ix, const struct sim_object *object);
bool sim_decide(struct sim *sim);
bool sim_begin(struct sim *sim);
void sim_finish(struct sim *sim);
/* Checks a cycle's result against the rules, and writes the status. */
void sim_judge_decision(struct sim *sim, struct bt_engine *engine, const struct bt_decision *decision);
void sim_patch_after(struct sim *sim, const struct bt_decision *decision);
void sim_answer(struct sim *sim, uint32_t binding_ix);
void sim_tick(struct sim *sim);
/* A victim's deletion failed. */
void sim_evict_failed(struct sim *sim, const struct sim_eviction *eviction);
void sim_show_malformed(struct sim *sim, uint32_t slot, uint32_t what);

/* ---- piped.c ---- */
void sim_pipe_create(struct sim *sim);
/* Pushes an event into its source's ring; false when that is full. */
bool sim_pipe_feed(struct sim *sim, enum sim_stream stream, uint32_t ix, const struct sim_object *object);
bool sim_pipe_feed_malformed(struct sim *sim, uint32_t slot, uint32_t what);
/* Runs one step of a stage. */
bool sim_pipe_stage(struct sim *sim, uint32_t which);
bool sim_pipe_decide(struct sim *sim, uint32_t cycles);
bool sim_pipe_bind(struct sim *sim, uint32_t thread, uint32_t how);
/* Sends a pending answer of the binder. */
bool sim_pipe_reply(struct sim *sim, uint32_t which);
/* Runs everything that can run; for rest. */
bool sim_pipe_move_on(struct sim *sim);
bool sim_pipe_is_idle(const struct sim *sim);

/* ---- check.c ---- */
void sim_collect(const struct sim *sim, struct sim_state *out);
/* I1, I4, I7, after every step. */
void sim_check(struct sim *sim);
/* Does a pod wait that fits? If upstream, too, leaves it waiting for the flush, that is no failure yet. */
bool sim_check_waiting(struct sim *sim, bool flushed);
/* I4, at rest. */
void sim_check_rest(struct sim *sim);
