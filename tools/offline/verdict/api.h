/* SPDX-License-Identifier: Apache-2.0
 * An API server in memory, in virtual time: what a history's objects are, and what the scheduler is shown of
 * them. Every write, also the scheduler's own, reaches the engine before it returns.
 */
#pragma once

#include "engine/base/map.h"
#include "tools/offline/verdict/scenario.h"

/* An object as it is stored: the texts that it came from, and what was done to it since. */
struct bt_api_object {
	struct bt_str kind, namespace_, name, uid;
	struct bt_str doc, status_doc; /* status_doc: the document whose status counts */
	int64_t creation_ns, deletion_ns;
	/* Of pods. */
	struct bt_str node, nominated;
	bool nominated_set;    /* nominated counts, not the document's */
	bool start_set;	       /* start_ns counts */
	bool disrupted;	       /* it has the condition that preemption gives its victims */
	struct bt_str refusal; /* why it is not placed, as its condition PodScheduled says it */
	int64_t start_ns;
	/* status.extendedResourceClaimStatus as PreBind wrote it; no mapping: the document's counts. */
	struct bt_str extended_claim;
	struct bt_extended_mapping_object *extended_mappings;
	uint32_t extended_mapping_n;
	uint32_t pod_ix; /* what the engine calls it, or BT_NO_POD */
	/* Of a ResourceClaim: what counts instead of the texts, in the cluster's arena; NULL: these do. */
	const struct bt_resource_claim_object *claim;
	uint64_t version; /* its resource version */
	bool gone;
};

/* A ResourceClaim as it was when a cycle began. */
struct bt_api_seen {
	struct bt_str namespace_, name;
	const struct bt_resource_claim_object *claim;
};

/* Why a pod could not be bound. */
struct bt_api_bind_error {
	uint32_t pod_ix;
	struct bt_str text;
};

struct bt_api {
	struct bt_scenario_cluster cluster; /* its arena holds what objects point to */
	struct bt_api_object *objects;
	size_t object_n, object_cap;
	struct bt_arena scratch; /* one decoded object */
	struct bt_json *json;
	int64_t now_ns;
	uint32_t uid_n, start_n;
	uint64_t version; /* the last resource version that was given */
	/* What the cycle's pod writes of claims is made of what it has read when its cycle began: there is no
	 * conflict, the last write counts. */
	struct bt_api_seen *seen;
	size_t seen_n, seen_cap;
	struct bt_prebind_writes **writes; /* which stored claims point into */
	size_t writes_n, writes_cap;
	struct bt_str refusal_before;	       /* of the cycle's pod, when its cycle began */
	bool fail_bind;			       /* the API refuses bindings now */
	struct bt_buf bind_error;	       /* what became of the last binding; empty: it is there */
	struct bt_api_bind_error *bind_errors; /* of this cycle's pods, as far as there are any */
	size_t bind_error_n, bind_error_cap;
	struct bt_str *evicted; /* namespace/name, since the cycle began */
	size_t evicted_n, evicted_cap;
	struct bt_buf text;
	bool timed;
	int64_t serving_ns,
		serving_cpu_ns; /* when timed: what the scheduler's own writes of a cycle took here */
};

/* When every history begins: 2026-01-01T00:00:00Z. */
#define BT_API_EPOCH_NS (1767225600 * INT64_C(1000000000))

struct bt_api_options {
	const struct bt_release *release; /* whose kube-scheduler decides */
	struct bt_str config;		  /* JSON text; empty when there is none */
	struct bt_str gates;		  /* "A=true,B=false" */
	bool by_columns; /* the engine decides as it does elsewhere, and says no texts of PostFilter */
};

/* Returns: BT_OK; otherwise the reason in out_error. Owns: bt_api_close, in any case. */
enum bt_status bt_api_open(struct bt_api *api, const struct bt_api_options *how, struct bt_buf *out_error);
void bt_api_close(struct bt_api *api);

/* Lets time pass, with what the queue does at each whole second. */
void bt_api_advance(struct bt_api *api, int64_t ns);

/* Creates the object of a JSON text, which must outlive the API. Returns: BT_OK, or the reason in out_error.
 */
enum bt_status bt_api_create(struct bt_api *api, struct bt_str doc, struct bt_buf *out_error);

/*
 * Replaces an object; identity stays, and of a pod the node and, when the new one has none, the status.
 * Returns: BT_OK; BT_NOT_FOUND: there is none; otherwise the reason in out_error.
 */
enum bt_status bt_api_update(struct bt_api *api, struct bt_str doc, struct bt_buf *out_error);

/* Removes an object at once. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_api_delete(
	struct bt_api *api, struct bt_str kind, struct bt_str namespace_, struct bt_str name);

/* The cycle of a pod begins: what it reads of claims is noted, and what its status says. */
void bt_api_see_pod(struct bt_api *api, uint32_t pod_ix);

/* Why the pod could not be bound, since bind_error_n was set to 0; empty when it could. */
struct bt_str bt_api_bind_error(const struct bt_api *api, uint32_t pod_ix);

/* Why the seen pod was refused or not bound goes into its condition PodScheduled, unless it said so when it
 * was seen. */
void bt_api_note_refusal(struct bt_api *api, uint32_t pod_ix, struct bt_str why);

/* The stored object that the engine knows as that pod, or NULL when it has gone. */
struct bt_api_object *bt_api_pod(struct bt_api *api, uint32_t pod_ix);
