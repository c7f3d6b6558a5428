/* SPDX-License-Identifier: Apache-2.0
 * A scheduling cycle's calls to the API server, as plain values: events, patches of pods' status, bindings
 * and deletions, in upstream's order and with its texts. A pure function of the cycle's result; frontends
 * send the calls or print them. Source: schedule_one.go, framework/preemption/executor.go and the recorder of
 * client-go's tools/events, v1.36.3.
 *
 * Upstream uses the note of FailedScheduling as a format string, which garbles "%" in it; this code does not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/flow/cycle/engine.h"

/* The node in events about a PodGroup's victims. Source: PodGroupEvaluator.Preempt, v1.37.2. */
#define BT_GROUP_DOMAIN "cluster"

/* The longest note of an event, in bytes. */
#define BT_CLUSTER_EVENT_NOTE_BYTES 1024

/* A condition of a pod's status. */
struct bt_pod_condition {
	struct bt_str type, status, reason, message;
	int64_t transition_s; /* lastTransitionTime, in seconds since 1970 */
	int64_t observed_generation;
};

/* A pod in the API server: the object that events refer to, and the status that patches change. */
struct bt_api_pod {
	struct bt_str namespace_, name, uid, scheduler_name;
	struct bt_str resource_version; /* may be empty */
	int64_t generation;		/* 0: unknown; then it is omitted */
	const struct bt_pod_condition *conditions;
	uint32_t condition_n;
	struct bt_str nominated_node_name;
	/* API version of the PodGroup, or CompositePodGroup, that it represents; empty: it is a pod. */
	struct bt_str group_version;
	bool composite;
};

/* A cycle's change to status.nominatedNodeName. */
enum bt_nomination { BT_NOMINATION_LEAVE = 0, BT_NOMINATION_CLEAR, BT_NOMINATION_SET };

/* The result of a pod's cycle. */
enum bt_cycle_end {
	BT_CYCLE_PLACED = 0,
	BT_CYCLE_UNSCHEDULABLE, /* no node fits, or there is none */
	BT_CYCLE_ERROR,
	BT_CYCLE_DELETING, /* it was already being deleted, so there was no cycle */
	BT_CYCLE_GATED,	   /* created with scheduling gates; the API server sets the condition */
	BT_CYCLE_WAITS,	   /* assumed on a node, it waits at Permit; that node becomes the nominated one */
	BT_CYCLE_TAINTED   /* no cycle: the taint eviction controller evicts it from its node */
};

/* Derived from a decision; a pod that stays gated has no cycle. */
enum bt_cycle_end bt_cycle_end_of(const struct bt_decision *decision);
enum bt_nomination bt_nomination_of(const struct bt_decision *decision);

struct bt_api_victim {
	const struct bt_api_pod *pod;
	bool terminating; /* already being deleted: no call */
	bool in_memory;	  /* waiting on Permit or in PreBind: its cycle is ended, nothing is deleted */
	bool rejected;	  /* the same for a pod rejected while it waits on Permit, without an event */
};

/* The result of a pod's cycle, with the objects that calls refer to. */
struct bt_api_cycle {
	const struct bt_api_pod *pod;
	enum bt_cycle_end end;
	/* BT_CYCLE_PLACED, BT_CYCLE_WAITS: the pod's node; BT_NOMINATION_SET: the nominated node */
	struct bt_str node;
	struct bt_str message; /* BT_CYCLE_UNSCHEDULABLE, BT_CYCLE_ERROR: the full text */
	enum bt_nomination nomination;
	const struct bt_api_victim *victims; /* evicted from node for the pod, the most important first */
	uint32_t victim_n;
	const struct bt_api_pod *group; /* the PodGroup, or root of a tree, that preempts; NULL: the pod */
	/* Pods of lower priority whose nomination to node is cleared. */
	const struct bt_api_pod *const *cleared_nominations;
	uint32_t cleared_nominations_n;
	bool resizes;	       /* the pod is resized on its own node: only other pods get calls */
	bool preempts_in_turn; /* the gate SchedulerAsyncPreemption is off: victims precede the rest */
	struct bt_str host;    /* the scheduler's host name, part of reportingInstance */
	int64_t now_s;
};

/* BT_API_PATCH_GROUP: sets a condition in a PodGroup's status; pod stands for the group. */
enum bt_api_verb { BT_API_EVENT = 0, BT_API_PATCH_STATUS, BT_API_PATCH_GROUP, BT_API_BIND, BT_API_DELETE };

/* Who makes a call: BT_API_SERVER makes the change itself. */
enum bt_api_caller { BT_API_SCHEDULER = 0, BT_API_SERVER, BT_API_TAINT_EVICTION };

struct bt_api_event {
	bool warning; /* type Warning, otherwise Normal */
	const char *reason, *action;
	struct bt_str note;
	struct bt_str reporting_controller, reporting_instance;
	const struct bt_api_pod *related; /* or NULL */
};

/* A patch of a pod's status. The condition is the new value. */
struct bt_api_status {
	bool has_condition;
	struct bt_pod_condition condition;
	enum bt_nomination nomination; /* never BT_NOMINATION_SET to the present node */
	struct bt_str nominated_node_name;
};

struct bt_api_call {
	enum bt_api_verb verb;
	enum bt_api_caller caller;
	const struct bt_api_pod *pod;
	union {
		struct bt_api_event event;
		struct bt_api_status status;
		struct bt_str node; /* BT_API_BIND */
	};
};

/* Calls in order. Zero-initialized, it is empty. Owns: bt_api_calls_fini; strings live in its arena, the
 * caller keeps pods. */
struct bt_api_calls {
	struct bt_arena arena;
	struct bt_api_call *items;
	size_t n, cap;
};

/* Replaces the list by the calls of one cycle. Calls without effect are omitted. */
void bt_api_calls_of(const struct bt_api_cycle *cycle, struct bt_api_calls *out_calls);

void bt_api_calls_fini(struct bt_api_calls *calls);

/* The condition of that type, or NULL. */
const struct bt_pod_condition *bt_api_condition(const struct bt_api_pod *pod, struct bt_str type);
