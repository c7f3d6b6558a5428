/* SPDX-License-Identifier: Apache-2.0
 * An in-memory API server, in virtual time: a history's objects, and the events for the scheduler. Every
 * write, also the scheduler's, is applied to the engine before it returns.
 */
#pragma once

#include "engine/base/map.h"
#include "tools/offline/verdict/scenario.h"

/* A stored object: its texts, and later changes. */
struct bt_api_object {
	struct bt_str kind, namespace_, name, uid;
	struct bt_str doc, status_doc; /* status_doc: the document with the effective status */
	int64_t creation_ns, deletion_ns;
	/* Of pods. */
	struct bt_str node, nominated;
	bool nominated_set;    /* nominated overrides the document's */
	bool start_set;	       /* start_ns is set */
	bool disrupted;	       /* it has the condition DisruptionTarget by preemption */
	struct bt_str refusal; /* why it is not placed, as in its condition PodScheduled */
	int64_t start_ns;
	/* status.extendedResourceClaimStatus written by PreBind; without a mapping the document's is used. */
	struct bt_str extended_claim;
	struct bt_extended_mapping_object *extended_mappings;
	uint32_t extended_mapping_n;
	/* status.nodeAllocatableResourceClaimStatuses, if PreBind has written it. */
	struct bt_node_claim_object *node_claims;
	uint32_t node_claim_n;
	bool node_claims_set;
	uint32_t pod_ix; /* the engine's index, or BT_NO_POD */
	/* For a ResourceClaim: replaces the texts, in the cluster's arena; NULL: the texts apply. */
	const struct bt_resource_claim_object *claim;
	uint64_t version; /* its resource version */
	bool gone;
};

/* A ResourceClaim at the start of a cycle. */
struct bt_api_seen {
	struct bt_str namespace_, name;
	const struct bt_resource_claim_object *claim;
	uint64_t version; /* its resource version, if another one is a conflict; else 0 */
	uint32_t pod_ix;  /* the pod of a group that has read it; BT_NO_POD: any */
};

/* Why a pod could not be bound. */
struct bt_api_bind_error {
	uint32_t pod_ix;
	struct bt_str text;
};

struct bt_api {
	struct bt_scenario_cluster cluster; /* its arena holds the objects' memory */
	struct bt_api_object *objects;
	size_t object_n, object_cap;
	struct bt_arena scratch; /* one decoded object */
	struct bt_json *json;
	int64_t now_ns;
	uint32_t uid_n, start_n;
	uint64_t version; /* the last assigned resource version */
	/* The cycle's writes of claims are based on the claims at its start: without conflicts, the last
	 * write wins. */
	struct bt_api_seen *seen;
	size_t seen_n, seen_cap;
	struct bt_prebind_writes **writes; /* memory of stored claims */
	size_t writes_n, writes_cap;
	struct bt_str refusal_before;	       /* of the cycle's pod, at the start of the cycle */
	bool fail_bind;			       /* bindings fail */
	struct bt_buf bind_error;	       /* error of the last binding; empty: success */
	struct bt_api_bind_error *bind_errors; /* of this cycle's pods, if any */
	size_t bind_error_n, bind_error_cap;
	struct bt_str *evicted; /* namespace/name, since the cycle began */
	size_t evicted_n, evicted_cap;
	struct bt_buf text;
	bool timed;
	int64_t serving_ns,
		serving_cpu_ns; /* when timed: time of the scheduler's writes of a cycle in this API */
};

/* The start of every history: 2026-01-01T00:00:00Z. */
#define BT_API_EPOCH_NS (1767225600 * INT64_C(1000000000))

struct bt_api_options {
	const struct bt_release *release; /* of the kube-scheduler to follow */
	struct bt_str config;		  /* JSON text; empty: none */
	struct bt_str gates;		  /* "A=true,B=false" */
	bool by_columns;		  /* the engine uses columns as usual, without PostFilter's texts */
	struct bt_permit_observer permit;
};

/* Returns: BT_OK; otherwise the reason in out_error. Owns: bt_api_close, in any case. */
enum bt_status bt_api_open(struct bt_api *api, const struct bt_api_options *how, struct bt_buf *out_error);
void bt_api_close(struct bt_api *api);

/* Advances time, with the queue's timers at each whole second. */
void bt_api_advance(struct bt_api *api, int64_t ns);

/* Creates the object of a JSON text, which must outlive the API. Returns: BT_OK, or the reason in out_error.
 */
enum bt_status bt_api_create(struct bt_api *api, struct bt_str doc, struct bt_buf *out_error);

/*
 * Replaces an object; identity stays, and for a pod the node and, if the new one has none, the status.
 * Returns: BT_OK; BT_NOT_FOUND; otherwise the reason in out_error.
 */
enum bt_status bt_api_update(struct bt_api *api, struct bt_str doc, struct bt_buf *out_error);

/* Removes an object immediately. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_api_delete(
	struct bt_api *api, struct bt_str kind, struct bt_str namespace_, struct bt_str name);

/* Begins the cycle of a pod: records the claims that it reads, and its status. */
void bt_api_see_pod(struct bt_api *api, uint32_t pod_ix);

/* A pod of a group has just been decided: records the claims that it reads. */
void bt_api_see_member(struct bt_api *api, uint32_t pod_ix);

/* The pod's binding error since bind_error_n was set to 0; empty: none. */
struct bt_str bt_api_bind_error(const struct bt_api *api, uint32_t pod_ix);

/* Sets the seen pod's condition PodScheduled to the refusal or binding error, unless it was equal when
 * seen. */
void bt_api_note_refusal(struct bt_api *api, uint32_t pod_ix, struct bt_str why);

/* Records why a waiting pod is refused. Returns whether its condition had this reason already. */
bool bt_api_repeats_refusal(struct bt_api *api, uint32_t pod_ix, struct bt_str why);

/* The stored object of an engine's pod, or NULL if deleted. */
struct bt_api_object *bt_api_pod(struct bt_api *api, uint32_t pod_ix);
