/* SPDX-License-Identifier: Apache-2.0
 * The steps of a simulation, including faults. A history is a list of steps derived from a seed. Any
 * subset is also a history, because a step without an object does nothing. Text: one step per line, its
 * name and up to three numbers.
 */
#pragma once

#include "api.h"
#include "engine/base/buf.h"
#include "engine/base/mem.h"
#include "workers.h"

/* A stream; numbers from FEW_STREAMS on mean the pods' stream. */
#define SIM_FEW_STREAMS 4
#define SIM_DELIVERIES	(SIM_FEW_STREAMS + SIM_STREAM_N)

/* X(name, weight, upper limits of a, b and c) */
#define SIM_OPS(X)                                                                                           \
	X(put_node, 6, SIM_NODES, 1000, 1) /* a: node, b: shape; new or changed */                           \
	X(delete_node, 2, SIM_NODES, 1, 1) /* a: node */                                                     \
	X(flap_node, 4, SIM_NODES, 2, 1)   /* a: node; b: toggles its taint or unschedulable flag */         \
	X(create_pod, 30, SIM_PODS, SIM_POD_SHAPES, 1) /* a: pod, b: shape */                                \
	X(delete_pod, 6, SIM_PODS, 12, 1)	       /* a: pod, b: seconds of grace */                     \
	X(replace_pod, 5, SIM_PODS, SIM_POD_SHAPES, 1) /* a pod is deleted immediately, and created again */ \
	X(end_pod, 4, SIM_PODS, 1, 1)		       /* a: pod, which succeeds */                          \
	X(change_pod, 6, SIM_PODS, 4, 3)	       /* a: pod, b: field; c: value */                      \
	X(bind_elsewhere, 3, SIM_PODS, SIM_NODES, 1)   /* a: pod, b: node; by another scheduler */           \
	X(kubelet, 10, 1, 1, 1)			       /* removes pods after their grace period */           \
	X(put_claim, 4, SIM_CLAIMS, 4, 1)	       /* a: claim; b: bit 0 bound, bit 1 once */            \
	X(delete_claim, 1, SIM_CLAIMS, 1, 1)                                                                 \
	X(put_volume, 4, SIM_CLAIMS, 4, 1) /* b: zone */                                                     \
	X(delete_volume, 1, SIM_CLAIMS, 1, 1)                                                                \
	X(put_budget, 5, SIM_BUDGETS, 9, 1) /* b: application, and allowed disruptions */                    \
	X(delete_budget, 1, SIM_BUDGETS, 1, 1)                                                               \
	X(put_group, 5, SIM_GROUPS, 4, 1) /* b: minCount */                                                  \
	X(delete_group, 1, SIM_GROUPS, 1, 1)                                                                 \
	X(put_slice, 6, SIM_NODES, 4, 1) /* b: devices */                                                    \
	X(delete_slice, 1, SIM_NODES, 1, 1)                                                                  \
	X(put_device_claim, 8, SIM_DEVICE_CLAIMS, 1, 1) /* new, or an irrelevant change */                   \
	X(delete_device_claim, 1, SIM_DEVICE_CLAIMS, 1, 1)                                                   \
	X(deliver, 120, SIM_DELIVERIES, 6, 1) /* a: stream; b + 1 events */                                  \
	X(duplicate, 2, SIM_STREAM_N, 1, 1)   /* repeats the last event */                                   \
	X(stale, 2, SIM_STREAM_N, 20, 1)      /* repeats an older event; b: how much older */                \
	X(drop, 2, SIM_STREAM_N, 1, 1)	      /* an event is lost */                                         \
	X(cut, 3, SIM_STREAM_N, 1, 1)	      /* the stream ends; another begins with a list */              \
	X(stale_list, 2, SIM_STREAM_N, 20, 1) /* the same with a list of b events ago */                     \
	X(malformed, 3, SIM_PODS, 7, 1)	      /* a malformed object; b: which */                             \
	X(stage, 0, 12, 6, 1)		      /* a: a stage of the pipeline, b + 1 times; only there */      \
	X(decide, 90, 1, 3, 1)		      /* b + 1 cycles */                                             \
	X(begin, 4, 1, 1, 1)		      /* the first half of a cycle */                                \
	X(end, 8, 1, 1, 1)		      /* the second */                                               \
	X(bind, 100, 4, 100, 1)		      /* a: which; b: outcome */                                     \
	X(answer, 100, 4, 1, 1)		      /* a: which; sends the binder's answer */                      \
	X(evict, 12, 4, 100, 1)		      /* a: which; deletes a victim; b: outcome */                   \
	X(clock, 12, 1, 4000, 1)	      /* b: milliseconds */                                          \
	X(jump, 1, 1, 6, 1)		      /* b: the clock jumps forward by hours, or back */             \
	X(leader, 1, 1, 1, 1)		      /* leadership is lost, or won */                               \
	X(visit, 3, 1, 100, 1)		      /* a reader reads the nodes for b steps */                     \
	X(pause, 2, SIM_STAGE_N, 40, 1)	      /* a: stage; it is paused for b steps */                       \
	X(starve, 7, BT_MEM_USE_N, 90, 1)     /* a: use; memory for it is short for b steps */               \
	X(hold, 8, SIM_WORKERS - 1, 60, 1)    /* a: worker; it is held for b steps */                        \
	X(keep_node, 4, SIM_NODES, 1, 1)      /* a: node; deletes all others; odd: with pods; in some seeds */

enum sim_op {
#define X(name, weight, a, b, c) SIM_OP_##name,
	SIM_OPS(X)
#undef X
		SIM_OP_N
};

/* The faults. A full run must meet each of them. */
#define SIM_FAULTS(X)                                                                                        \
	X(DROP, "notification dropped")                                                                      \
	X(DUPLICATE, "notification repeated")                                                                \
	X(DELAY, "notification late by ten or more")                                                         \
	X(REORDER, "stream overtaken by another")                                                            \
	X(STALE, "older notification again")                                                                 \
	X(CUT, "stream cut, list of the present")                                                            \
	X(STALE_LIST, "stream cut, list of the past")                                                        \
	X(LOST_REQUEST, "request to bind lost")                                                              \
	X(LOST_ANSWER, "bound, but the binder gets an error")                                                \
	X(LOST_SILENTLY, "bound, but the binder gets no answer in time")                                     \
	X(REFUSED_409, "binding refused: conflict")                                                          \
	X(REFUSED_404, "binding refused: not found")                                                         \
	X(REFUSED_500, "binding refused: server error")                                                      \
	X(NODE_DELETED, "node deleted")                                                                      \
	X(NODE_AGAIN, "node re-created with another capacity")                                               \
	X(NODE_FLAP, "node flaps")                                                                           \
	X(POD_AGAIN, "pod re-created under its name before its end was shown")                               \
	X(DELETED_MEANWHILE, "pod deleted between decision and binding")                                     \
	X(CHANGED_MEANWHILE, "pod changed between decision and binding")                                     \
	X(BOUND_MEANWHILE, "pod bound by somebody else between decision and binding")                        \
	X(TOLD_IN_CYCLE, "pod changed in its cycle")                                                         \
	X(RING_FULL, "ring full")                                                                            \
	X(MALFORMED, "malformed object")                                                                     \
	X(VISITED, "node changed while a visitor holds on to it")                                            \
	X(PAUSED, "stage paused")                                                                            \
	X(CLOCK_FORWARD, "clock set forward by hours")                                                       \
	X(CLOCK_BACK, "clock set back")                                                                      \
	X(LEADER_MOVED, "another scheduler leads")                                                           \
	X(LEADER_STOPPED, "leader stopped, and late to see that another one leads")                          \
	X(NOT_LEADER, "leadership lost with a binding on its way")                                           \
	X(PREEMPTED, "pod preempted")                                                                        \
	X(VICTIM_IN_FLIGHT, "victim whose binding is on its way")                                            \
	X(EVICTION_FAILED, "eviction refused")                                                               \
	X(EVICTION_FAILED_AT_ONCE, "eviction refused while others are requested")                            \
	X(EVICTION_LOST, "eviction without an answer")                                                       \
	X(BUDGET_SPARED, "victims chosen beside a budget")                                                   \
	X(GANG_PLACED, "gang placed together")                                                               \
	X(GANG_BACK, "gang taken back, because too few of it fit")                                           \
	X(GROUP_PREEMPTS, "PodGroup of 1.37 preempts as one")                                                \
	X(GANG_LACKS, "gang that lacks several pods, enough of which wait, at rest")                         \
	X(GANG_CHANGED, "gang that was shown otherwise, or not at all, with members on nodes")               \
	X(GANG_LATE, "gang that is shown after its members")                                                 \
	X(GANG_BOUND, "member of a gang bound by somebody else while others wait")                           \
	X(DEVICE_ALLOCATED, "device allocated")                                                              \
	X(DEVICE_SHARED, "claim shared by another pod")                                                      \
	X(DEVICE_CONFLICT, "claim was not as it was when the pod is bound")                                  \
	X(DEVICE_TAKEN_BACK, "allocation taken back for a pod that it keeps out")                            \
	X(RELEASE_FAILED, "claim that could not be released for a pod that it keeps out")                    \
	X(DEVICE_UNTOLD, "claim shown as it was before it was allocated")                                    \
	X(WORKER_PAUSED, "worker that does not come")                                                        \
	X(KEPT_OUT, "preemptor kept out when its cycle ends")                                                \
	X(NO_MEMORY_OBJECT, "no memory for an object")                                                       \
	X(NO_MEMORY_BINDING, "no memory for more bindings")                                                  \
	X(NO_MEMORY_EVENT, "no memory for the events of pods in flight")                                     \
	X(NO_MEMORY_PLAN, "no memory for the columns of a plan")                                             \
	X(NO_MEMORY_NOTES, "no memory for notes of preemption")                                              \
	X(ASKED_AGAIN, "binding without an answer is checked")                                               \
	X(NODE_MOVED, "node moved to a lower slot")                                                          \
	X(NODE_MOVED_ASSUMED, "node moved while bindings are on their way")                                  \
	X(POD_MOVED, "pod moved to a lower index")                                                           \
	X(POD_MOVED_WAITING, "waiting pod moved to a lower index")                                           \
	X(POD_MOVED_ASSUMED, "pod moved while bindings are on their way")                                    \
	X(PORT_TWICE, "host port taken twice")

enum sim_fault {
#define X(name, text) SIM_##name,
	SIM_FAULTS(X)
#undef X
		SIM_FAULT_N
};

struct sim_step {
	enum sim_op op;
	uint32_t a, b, c;
};

struct sim_history {
	uint64_t seed;
	bool piped;   /* through the pipeline; else by calls of the engine */
	bool leaders; /* through two pipelines, one of which leads */
	struct sim_step *steps;
	uint32_t step_n;
	size_t step_cap;
};

/* Which PodGroups a simulation has. */
enum sim_groups {
	SIM_UNGROUPED = 0,
	SIM_COLLECTED, /* 1.36: the members that wait are collected when one of them is popped */
	SIM_QUEUED,    /* 1.37: a group waits in the queue as one, and preempts as one */
	SIM_GROUP_KINDS
};

static inline enum sim_groups sim_groups_of(uint64_t seed)
{
	return seed / 4 % 4 != 1 ? SIM_UNGROUPED : seed / 32 % 2 ? SIM_QUEUED : SIM_COLLECTED;
}

/* Are PodGroups enabled for a seed? */
static inline bool sim_has_gangs(uint64_t seed)
{
	return sim_groups_of(seed) != SIM_UNGROUPED;
}

/* Owns: sim_history_fini. */
void sim_history_of_seed(uint64_t seed, struct sim_history *out);
void sim_history_fini(struct sim_history *history);

void sim_history_add(struct sim_history *history, struct sim_step step);

/* Conversion to text and back. Returns: false, with nothing to free, when a line is no step. */
void sim_step_write(const struct sim_step *step, struct bt_buf *out);
void sim_history_write(const struct sim_history *history, struct bt_buf *out);
bool sim_history_read(struct bt_str text, struct sim_history *out);

const char *sim_fault_text(enum sim_fault fault);
