/* SPDX-License-Identifier: Apache-2.0
 * One simulation: the API server, what the engine was shown of it and what it has decided, and the engine.
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
#define SIM_RING    4 /* places between stages */

enum sim_stage { SIM_INGEST = 0, SIM_SCHEDULER, SIM_BINDER, SIM_ANSWERS, SIM_STAGE_N };

/* How far a stream has been read. */
struct sim_feed {
	uint32_t next; /* in the log */
	uint64_t seen; /* the version up to which the engine knows it */
	bool gap;      /* something was lost: only a list helps */
};

/* What the engine calls a pod that it was shown of, and where the binder has said it is. */
struct sim_known {
	uint32_t ix, confirmed;
	/* Of its last refusal: how many events had been shown, and whether these plugins refused a node. */
	uint64_t refused_at;
	bool by_other_pods, by_claims;
	bool evicted; /* the engine was answered that its deletion has begun */
	bool twin_evicted;
};

/* A binding on its way: decided, then done (or not), then answered. */
struct sim_binding {
	uint32_t slot, uid, node, pod_ix;
	struct sim_pod_spec spec;
	bool held; /* it counts on its node */
	/* The device that is allocated with it; SIM_NONE: none, its claim has one already, or it has none. */
	uint32_t wanted;
	uint32_t claim_uid; /* of the claim that it is for */
	uint64_t wrote;	    /* the version of that claim that its binder has written; 0: none */
	bool has_device;    /* that one is not free, and its claim is not either */
	bool done, good;
	int64_t due_ns; /* the binder gives up waiting then */
	/* Of a pipeline: */
	uint64_t number, handle;
	bool silent, replied;
};

/* What came of a cycle. */
struct sim_cycle {
	uint32_t slot, pod_ix;
	enum bt_outcome outcome;
	uint32_t node;	    /* SIM_NONE: none */
	uint32_t nominated; /* before the cycle; the same */
	uint32_t victim_n;
	bt_plugin_set unschedulable_plugins;
	bool grouped; /* with its PodGroup: what it comes to depends on the others */
	bool yields;  /* a pod that it has to yield to may be nominated to a node */
};

/* An event on its way through a pipeline. */
struct sim_watch_event {
	const struct bt_watch_event *watch_event;
	enum sim_stream stream;
	uint32_t ix;
	struct sim_object object;
	bool malformed;
};

/* A victim that is to be deleted, or a claim that is to be released, and for whom. */
struct sim_eviction {
	uint32_t slot, uid, for_uid;
	bool releases, released;
	uint64_t handle; /* of a pipeline's; 0: the binder has not been called */
};

#define SIM_PARCELS 256

struct sim {
	uint64_t seed;
	bool trace;
	struct sim_api *api;
	struct sim_feed feeds[SIM_STREAM_N];
	struct sim_object shown[SIM_STREAM_N][SIM_OBJECTS];
	/* Of a pipeline: what its publisher has let through. */
	struct sim_object published[SIM_STREAM_N][SIM_OBJECTS];
	struct sim_known known[SIM_PODS];
	bool port_twice[SIM_NODES];
	uint64_t move_n;     /* nodes that engines[0] has given other slots */
	uint64_t pod_move_n; /* and pods that it has given other indices */
	struct sim_binding bindings[SIM_BINDINGS];
	uint32_t binding_n;
	struct sim_eviction evictions[SIM_PODS * 2];
	uint32_t eviction_n;

	/* The same cluster decided in other ways: by columns, and without them. */
	struct bt_engine *engines[SIM_ENGINES];
	uint32_t engine_n;
	struct bt_decision decisions[SIM_ENGINES];
	bool begun; /* between the halves of a cycle */
	struct sim_pod_spec deciding;
	enum sim_answer verdicts[SIM_NODES]; /* of that cycle's pod */
	const char *reasons[SIM_NODES];
	/* In the cycle of a PodGroup: its members that have a node, while the others are decided. */
	struct sim_placed in_group[SIM_PODS];
	uint32_t in_group_n;

	/* Or as a pipeline; engines[0] is its engine then. */
	struct bt_pipeline *pipeline;
	struct sim_object fed[SIM_STREAM_N][SIM_OBJECTS]; /* as each source has it */
	struct sim_watch_event watch_events[SIM_PARCELS];
	uint32_t event_n;
	uint32_t bind_how; /* how the binder's next call goes */
	/* What the twin has come to for the members of a group that the pipeline has not shown of yet. */
	struct bt_decision twin_group[SIM_PODS];
	uint32_t twin_group_n, twin_group_at;
	bool group_touched[SIM_GROUPS]; /* a member was placed */
	/* engines[1] is shown and decides the same one by one, without columns, stages and batches. */
	int64_t twin_ns; /* its clock */

	/* A visitor who is slow: what it looks at stays as it was when it began. */
	bool visiting;
	struct bt_published look;
	uint64_t sight; /* a hash of all that there is to see */
	uint32_t visit_until;

	int64_t now_ns, latest_ns;
	bool leader, settling;
	/* Of two schedulers over one API server: this one decides nobody, because it does not lead. */
	bool shares_api, held;
	bool fenced;	 /* and writes no status either */
	uint32_t number; /* of them, from 0 */
	/* What the engine knows of claims before it is shown: what binders have written, until that version
	 * or a younger one is shown (0: nothing). */
	struct sim_device kept[SIM_DEVICE_CLAIMS];
	uint64_t kept_version[SIM_DEVICE_CLAIMS];
	bool gangs;	     /* PodGroups count */
	bool works;	     /* workers score nodes with the first engine */
	uint32_t held_until; /* 0: no worker is held */
	uint64_t taken_over_n;
	uint64_t shown_n, node_shown_at, node_gone_at,
		pod_shown_at; /* events, and when the last of a kind was */
	/* A pod is on another node than it was nominated to, or assumed on. */
	bool untold;
	uint64_t excused_n;
	uint32_t step_no, paused_until[SIM_STAGE_N], starved_until[BT_MEM_USE_N];
	uint64_t faults[SIM_FAULT_N];
	uint64_t placed_n, refused_n;
	struct bt_arena arena; /* of one step */

	bool failed;
	const char *invariant;
	struct bt_buf message, notes;
};

/* The configuration that simulations share: with PodGroups, or without. */
const struct bt_config *sim_config(bool gangs);

/* Plays a history and lets it come to rest. Returns false when an invariant did not hold; message says which.
 * Owns: sim_end, in any case. */
struct sim *sim_play(const struct sim_history *history, bool trace);
void sim_end(struct sim *sim);

void sim_fail(struct sim *sim, const char *invariant, const char *format, ...) BT_PRINTF(3, 4);
void sim_note(struct sim *sim, const char *format, ...) BT_PRINTF(2, 3);

/* One scheduler, over an API server of its own, or one that it shares (NULL: its own). */
struct sim *sim_create(const struct sim_history *history, bool trace, struct sim_api *api);
/* Everything that can move does, until nothing does. Returns: is it at rest? */
bool sim_settle_for_now(struct sim *sim);

/* ---- leaders.c ---- */
/* As sim_play, with two schedulers of which one leads. */
struct sim *sim_play_leaders(const struct sim_history *history, bool trace);

/* ---- steps.c ---- */
void sim_do(struct sim *sim, struct sim_step step);
/* The visitor leaves, if there is one. */
void sim_leave(struct sim *sim);
/* Workers that were held come again. */
void sim_let_go(struct sim *sim);
/* Everything that waits for somebody to move it moves once; returns whether anything did. */
bool sim_move_on(struct sim *sim);

/* Is memory short for that now? */
bool sim_is_starved(const struct sim *sim, enum bt_mem_use use);

/* How a binding goes when nothing goes wrong. */
#define SIM_FAULTLESS 99

/* The binder's call for a binding, which may go wrong. */
void sim_call_bind(struct sim *sim, struct sim_binding *binding, uint32_t how);
/* A stream ends; the next one begins with a list of the present. */
void sim_list(struct sim *sim, enum sim_stream stream, uint32_t position);
/* What the binder answers: with what it has written of claims. claim: room for one. */
struct bt_binding_answer sim_answer_of(
	struct sim *sim, const struct sim_binding *binding, struct bt_written_claim *claim);

/* ---- shown.c ---- */
uint32_t sim_number(struct bt_engine *engine, uint32_t name);
const struct bt_pod *sim_pod_at(struct bt_engine *engine, uint32_t pod_ix);
uint32_t sim_node_number(struct bt_engine *engine, uint32_t node_ix);
/* The engine is shown of an object. Afterwards: sim_find_pod for a pod, sim_note_ports. */
void sim_account(struct sim *sim, enum sim_stream stream, uint32_t ix, const struct sim_object *object);
/* The node that a pod is nominated to in the engine. */
uint32_t sim_nominated(struct sim *sim, uint32_t slot);
void sim_find_pod(struct sim *sim, uint32_t slot);
/* The index of the pod with that UID, or BT_NO_POD. */
uint32_t sim_pod_of(struct sim *sim, uint32_t uid);
/* Pods may have got other indices: when pods and nodes come and go. */
void sim_follow_moves(struct sim *sim);
void sim_note_ports(struct sim *sim);
/* A pod's cycle begins: what the rules say; and what has come of it. */
void sim_begin_cycle(struct sim *sim, uint32_t slot, uint32_t uid);
void sim_check_cycle(struct sim *sim, const struct sim_cycle *cycle);
struct sim_binding *sim_add_binding(struct sim *sim, struct sim_binding binding);
void sim_end_binding(struct sim *sim, uint32_t ix);
void sim_note_victim(struct sim *sim, struct sim_eviction victim);
/* The status of a pod that waits is patched when its cycle has nominated it, or has cleared that. */
void sim_patch(struct sim *sim, uint32_t pod_ix, bool nominated);

/* Pods that are to leave a node for another one. */
struct sim_victims {
	uint32_t uids[SIM_PODS], n;
};

/* Nobody whom a budget protects is chosen while elsewhere there is enough of others. */
void sim_check_victims(struct sim *sim, uint32_t slot, const struct sim_victims *victims);

/* The device that is pending for a pod in the engine; SIM_NONE: none. */
uint32_t sim_pending_device(struct bt_engine *engine, uint32_t pod_ix);
/* A claim keeps a pod out: its allocation is taken back. */
void sim_release_claim(struct sim *sim, uint32_t ix, uint32_t uid);

/* ---- groups.c ---- */
/* Has the pod that was popped to be decided with its PodGroup? */
bool sim_is_grouped(const struct sim *sim, uint32_t slot);
/* Decides it and its companions, in every engine. */
void sim_decide_group(struct sim *sim, uint32_t pod_ix);
/* How many members of a slot's group are on nodes. */
uint32_t sim_group_placed_n(const struct sim *sim, uint32_t slot);
/* How many are on none. */
uint32_t sim_group_waiting_n(const struct sim *sim, uint32_t slot);
/* What must hold of a group's cycle: all or nothing. fits_n: members that had a node when they were decided;
 * before_n were on nodes before. */
void sim_check_group(struct sim *sim, uint32_t slot, uint32_t before_n, uint32_t fits_n, uint32_t placed_n);

/* ---- direct.c ---- */
/* In the dictionary that is made next resources have columns or are rare, which depends on the seed. Of two
 * engines, which must decide the same, one has it so and the other one has it otherwise. */
void sim_crowd(const struct sim *sim, bool other);

/* An engine is shown of an object, or of its end. */
enum bt_status sim_take(
	struct bt_engine *engine, const struct bt_object *object, bool there, uint32_t *out_ix);
struct bt_engine *sim_engine_create(struct sim *sim, bool by_evaluation, bool binds);
/* Returns: false when memory is short, so that nothing has changed. */
bool sim_show_change(struct sim *sim, enum sim_stream stream, uint32_t ix, const struct sim_object *object);
bool sim_decide(struct sim *sim);
bool sim_begin(struct sim *sim);
void sim_finish(struct sim *sim);
/* What has come of a cycle, against the rules; and the status that it leaves. */
void sim_judge_decision(struct sim *sim, struct bt_engine *engine, const struct bt_decision *decision);
void sim_patch_after(struct sim *sim, const struct bt_decision *decision);
void sim_answer(struct sim *sim, uint32_t binding_ix);
void sim_tick(struct sim *sim);
/* A victim could not be deleted. */
void sim_evict_failed(struct sim *sim, const struct sim_eviction *eviction);
void sim_show_malformed(struct sim *sim, uint32_t slot, uint32_t what);

/* ---- piped.c ---- */
void sim_pipe_create(struct sim *sim);
/* An event goes into its source's ring; false when that is full. */
bool sim_pipe_feed(struct sim *sim, enum sim_stream stream, uint32_t ix, const struct sim_object *object);
bool sim_pipe_feed_malformed(struct sim *sim, uint32_t slot, uint32_t what);
/* Its stages, one step each. */
bool sim_pipe_stage(struct sim *sim, uint32_t which);
bool sim_pipe_decide(struct sim *sim, uint32_t cycles);
bool sim_pipe_bind(struct sim *sim, uint32_t thread, uint32_t how);
/* An answer that the binder still owes. */
bool sim_pipe_reply(struct sim *sim, uint32_t which);
/* Everything that may move does; for rest. */
bool sim_pipe_move_on(struct sim *sim);
bool sim_pipe_is_idle(const struct sim *sim);

/* ---- check.c ---- */
void sim_collect(const struct sim *sim, struct sim_state *out);
/* I1, I4, I7, after every step. */
void sim_check(struct sim *sim);
/* Whether a pod waits that fits; if upstream, too, would let it wait for the flush, that is no failure yet.
 */
bool sim_check_waiting(struct sim *sim, bool flushed);
/* I4, when nothing moves any more. */
void sim_check_rest(struct sim *sim);
