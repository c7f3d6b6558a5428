/* SPDX-License-Identifier: Apache-2.0
 * What the API server gets to see of a scheduling cycle, as plain values: events, changes of pods' status,
 * bindings and deletions, in upstream's order and with its texts. A pure function of what the cycle came to;
 * frontends carry the calls out or write them down. Source: schedule_one.go, framework/preemption/executor.go
 * and the recorder of client-go's tools/events, v1.36.3.
 *
 * Upstream passes the note of FailedScheduling as a format, which garbles "%" in it; here it stays as it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/flow/cycle/engine.h"

/* From where a PodGroup's victims go. Source: PodGroupEvaluator.Preempt, v1.37.2. */
#define BT_GROUP_DOMAIN "cluster"

/* The longest note of an event, in bytes. */
#define BT_CLUSTER_EVENT_NOTE_BYTES 1024

/* A condition of a pod's status. */
struct bt_pod_condition {
	struct bt_str type, status, reason, message;
	int64_t transition_s; /* lastTransitionTime, in seconds since 1970 */
	int64_t observed_generation;
};

/* A pod as the API server has it: what events refer to, and the status that patches change. */
struct bt_api_pod {
	struct bt_str namespace_, name, uid, scheduler_name;
	struct bt_str resource_version; /* may be empty */
	int64_t generation;		/* 0: unknown; then it is left out */
	const struct bt_pod_condition *conditions;
	uint32_t condition_n;
	struct bt_str nominated_node_name;
	/* It stands for a PodGroup, whose objects have this API version; empty: it is a pod. */
	struct bt_str group_version;
};

/* What a cycle does to status.nominatedNodeName. */
enum bt_nomination { BT_NOMINATION_LEAVE = 0, BT_NOMINATION_CLEAR, BT_NOMINATION_SET };

/* How a pod's turn ended. */
enum bt_cycle_end {
	BT_CYCLE_PLACED = 0,
	BT_CYCLE_UNSCHEDULABLE, /* no node fits, or there is none */
	BT_CYCLE_ERROR,
	BT_CYCLE_DELETING, /* it was being deleted when its turn came, so there was no cycle */
	BT_CYCLE_GATED	   /* it was created with scheduling gates, which the API server itself notes */
};

/* Both follow from a decision; a pod that only waits with its gates has no cycle. */
enum bt_cycle_end bt_cycle_end_of(const struct bt_decision *decision);
enum bt_nomination bt_nomination_of(const struct bt_decision *decision);

struct bt_api_victim {
	const struct bt_api_pod *pod;
	bool terminating; /* it is being deleted already: nothing is sent */
	bool in_memory;	  /* it waited on Permit or was in PreBind: its cycle is ended, nothing is deleted */
};

/* What became of a pod's turn. */
struct bt_api_cycle {
	const struct bt_api_pod *pod;
	enum bt_cycle_end end;
	struct bt_str node;    /* BT_CYCLE_PLACED: where; BT_NOMINATION_SET: the nominated node */
	struct bt_str message; /* BT_CYCLE_UNSCHEDULABLE, BT_CYCLE_ERROR: all of it */
	enum bt_nomination nomination;
	const struct bt_api_victim *victims; /* who leaves node for the pod, the most important first */
	uint32_t victim_n;
	const struct bt_api_pod
		*group; /* the PodGroup for which they leave their nodes; NULL: it is the pod */
	/* Lower pods that were nominated to node and are so no longer. */
	const struct bt_api_pod *const *cleared_nominations;
	uint32_t cleared_nominations_n;
	bool resizes;	       /* the pod sought room on its own node: nothing is said of it but to others */
	bool preempts_in_turn; /* the gate SchedulerAsyncPreemption is off: victims go before the rest */
	struct bt_str host;    /* the scheduler's; part of reportingInstance */
	int64_t now_s;
};

/* BT_API_PATCH_GROUP: a condition in a PodGroup's status; pod stands for the group. */
enum bt_api_verb { BT_API_EVENT = 0, BT_API_PATCH_STATUS, BT_API_PATCH_GROUP, BT_API_BIND, BT_API_DELETE };

struct bt_api_event {
	bool warning; /* of type Warning, else Normal */
	const char *reason, *action;
	struct bt_str note;
	struct bt_str reporting_controller, reporting_instance;
	const struct bt_api_pod *related; /* or NULL */
};

/* What changes in a pod's status. A condition is given as it is afterwards. */
struct bt_api_status {
	bool has_condition;
	struct bt_pod_condition condition;
	enum bt_nomination nomination; /* never BT_NOMINATION_SET to what is there already */
	struct bt_str nominated_node_name;
};

struct bt_api_call {
	enum bt_api_verb verb;
	bool by_server; /* the API server does it by itself */
	const struct bt_api_pod *pod;
	union {
		struct bt_api_event event;
		struct bt_api_status status;
		struct bt_str node; /* BT_API_BIND */
	};
};

/* Calls in order. All zeroes is an empty list. Owns: bt_api_calls_fini; texts live in its arena, pods stay
 * the caller's. */
struct bt_api_calls {
	struct bt_arena arena;
	struct bt_api_call *items;
	size_t n, cap;
};

/* Replaces the list by the calls of one cycle. What would change nothing is left out. */
void bt_api_calls_of(const struct bt_api_cycle *cycle, struct bt_api_calls *out_calls);

void bt_api_calls_fini(struct bt_api_calls *calls);

/* The condition of that type, or NULL. */
const struct bt_pod_condition *bt_api_condition(const struct bt_api_pod *pod, struct bt_str type);
