/* SPDX-License-Identifier: Apache-2.0
 * The simulation's nodes, pods, claims and volumes as plain values, so small that a few lines of code can
 * check them, and the API objects built from them. A value follows from one number, its shape.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/model/object.h"

#define SIM_NODES	  6
#define SIM_PODS	  24
#define SIM_CLAIMS	  4 /* each with the volume of the same number */
#define SIM_BUDGETS	  4
#define SIM_DEVICE_CLAIMS 4	   /* ResourceClaims with one device each */
#define SIM_USERS	  SIM_PODS /* of a ResourceClaim at a time; fewer than the API's limit of 256 */
#define SIM_GROUPS	  2	   /* one per namespace */
#define SIM_OBJECTS	  SIM_PODS
#define SIM_NONE	  UINT32_MAX

/* Scope of a rule about pods of the same application. */
enum sim_scope { SIM_NOWHERE = 0, SIM_HOST, SIM_ZONE };

struct sim_node_spec {
	int64_t milli_cpu, mem_mib, pods, widgets;
	uint32_t zone; /* 0: no such label */
	bool dedicated, unschedulable, broken;
};

struct sim_pod_spec {
	int64_t milli_cpu, mem_mib, widgets;
	int32_t priority;
	uint32_t app;				/* the application that its rules concern */
	uint32_t label;				/* its own application; initially the same */
	uint32_t zone;				/* required; 0: any */
	uint32_t port;				/* on the host; 0: none */
	uint32_t claim;				/* SIM_NONE: none */
	uint32_t device_claim;			/* the same */
	enum sim_scope apart, together, spread; /* hard constraints */
	enum sim_scope likes;			/* preferences */
	bool tolerates, gated, foreign, never_preempts, finalized;
	bool grouped; /* it belongs to the PodGroup of its namespace */
};

struct sim_claim_spec {
	bool bound, once; /* once: ReadWriteOncePod */
};

struct sim_volume_spec {
	uint32_t zone; /* 0: reachable from everywhere */
};

/* The PodDisruptionBudget of an application, in the namespace with its number. */
struct sim_budget_spec {
	uint32_t app;
	int32_t allowed; /* allowed disruptions */
};

struct sim_slice_spec {
	uint32_t device_n; /* of the node with its number */
};

struct sim_device_claim_spec {
	uint32_t node, device;		   /* allocated device; SIM_NONE: none */
	uint32_t users[SIM_USERS], user_n; /* UIDs of the pods for which it is reserved */
	uint32_t touched;		   /* number of irrelevant changes */
};

struct sim_group_spec {
	uint32_t min_count; /* of its gang; 0: no gang */
};

struct sim_pod {
	struct sim_pod_spec spec;
	uint32_t node, nominated; /* SIM_NONE: none */
	int64_t creation_ns, deletion_ns;
	bool preempted, ended;
};

/* An object's current or earlier state at the API server. */
struct sim_object {
	bool there;
	uint32_t uid;
	uint64_t version; /* resourceVersion */
	union {
		struct sim_node_spec node;
		struct sim_pod pod;
		struct sim_claim_spec claim;
		struct sim_volume_spec volume;
		struct sim_budget_spec budget;
		struct sim_group_spec group;
		struct sim_slice_spec slice;
		struct sim_device_claim_spec device_claim;
	};
};

/* The priority of a PodGroup, and, where groups are queued, of its members. */
static inline int32_t sim_group_priority(uint32_t ix)
{
	return ix % 2 ? 5 : 0;
}

struct sim_node_spec sim_node_spec_of(uint32_t shape);
/* slot: the pod's number, which determines its namespace and so its claim's. From SIM_PLAIN_SHAPES on
 * pods have more fields. */
#define SIM_PLAIN_SHAPES 100000
#define SIM_POD_SHAPES	 (2 * SIM_PLAIN_SHAPES)
struct sim_pod_spec sim_pod_spec_of(uint32_t shape, uint32_t slot);

static inline uint32_t sim_namespace_of(uint32_t slot)
{
	return slot % 2;
}

/* Texts live in the arena, or are static. */
struct bt_str sim_node_name(struct bt_arena *arena, uint32_t ix);
struct bt_str sim_pod_name(struct bt_arena *arena, uint32_t slot);
struct bt_str sim_namespace(struct bt_arena *arena, uint32_t slot);
/* The number after the last "-". */
uint32_t sim_number_of(struct bt_str name);

/* The API objects; they live in the arena. */
const struct bt_object *sim_node_object(struct bt_arena *arena, uint32_t ix, const struct sim_object *object);
struct bt_pod_object *sim_pod_object(struct bt_arena *arena, uint32_t slot, const struct sim_object *object);
const struct bt_object *sim_claim_object(
	struct bt_arena *arena, uint32_t ix, const struct sim_object *object);
const struct bt_object *sim_volume_object(
	struct bt_arena *arena, uint32_t ix, const struct sim_object *object);
const struct bt_object *sim_budget_object(
	struct bt_arena *arena, uint32_t ix, const struct sim_object *object);
const struct bt_object *sim_group_object(
	struct bt_arena *arena, uint32_t ix, const struct sim_object *object);
const struct bt_object *sim_slice_object(
	struct bt_arena *arena, uint32_t ix, const struct sim_object *object);
const struct bt_object *sim_device_claim_object(
	struct bt_arena *arena, uint32_t ix, const struct sim_object *object);
/* The class of all claims and volumes, and that of all devices. */
const struct bt_object *sim_class_object(struct bt_arena *arena);
const struct bt_object *sim_device_class_object(struct bt_arena *arena);
