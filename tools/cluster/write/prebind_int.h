/* SPDX-License-Identifier: Apache-2.0
 * Writes of volumes and claims before a binding: the bind request's writes
 * (engine/flow/cycle/prebind_writes.h) with copied texts, and the progress.
 */
#pragma once

#include "tools/cluster/write/writer_int.h"

struct bt_prebind_volume {
	struct bt_str claim, uid, volume;
};

struct bt_prebind_result {
	struct bt_str request, text; /* members as JSON without tolerations and closing brace */
};

struct bt_prebind_request {
	struct bt_str name, class_;
	struct bt_str config; /* of its class: spec.config as JSON */
	bool has_config;      /* it was read */
};

struct bt_prebind_mapping {
	uint32_t container;
	struct bt_str resource, request;
};

/* A device of a claim. */
struct bt_prebind_device {
	struct bt_str driver;
	bool conditional; /* it has binding conditions */
};

struct bt_prebind_claim {
	struct bt_str name, uid;
	struct bt_str group, group_uid; /* the PodGroup for which it is reserved, or empty: for the pod */
	bool allocates, special, timed;
	bool held; /* reserved for the pod before this cycle: only rolled back */
	struct bt_prebind_result *results;
	struct bt_prebind_request *requests;
	struct bt_prebind_mapping *mappings;
	uint32_t result_n, request_n, mapping_n;
	struct bt_str selector; /* status.allocation.nodeSelector as JSON, or empty */
	/* The server's version: parts of its JSON. */
	struct bt_str version, finalizers, reserved, config, spec_requests;
	struct bt_prebind_device *devices;
	uint32_t device_n;
	bool conditional; /* at least one of its devices has binding conditions */
	bool deleting, allocated, dated, is_reserved, has_finalizer;
	/* What was written. */
	uint64_t written; /* the resource version after the write; 0: not written */
	bool reserves;	  /* for the pod */
	bool created, deleted;
};

struct bt_prebind {
	struct bt_prebind_volume *volumes;
	struct bt_prebind_claim *claims;
	uint32_t volume_n, claim_n; /* volumes: those that have a PersistentVolume first */
	uint32_t at;		    /* index of the current one */
	struct bt_str labels;	    /* the node's as JSON, as last read; empty: none */
	uint32_t migrated;	    /* in this round: bits by enum bt_in_tree */
	bool knows_migrated;	    /* the CSINode was read, because a volume needs it */
	struct bt_str made;	    /* the PersistentVolume of the current claim */
	bool is_bound;		    /* the claim is completely bound to it */
	/* The pod's status.nodeAllocatableResourceClaimStatuses as JSON; empty: not patched. */
	struct bt_str node_claims;
	bool undoes;
	struct bt_str why, message; /* why it is rolled back */
};

/* ---- prebind.c ---- */

/* Starts a step; bt_prebind_next: the next step, the next volume or claim, or the binding. */
void bt_prebind_go(struct bt_write_op *op, int stage);
void bt_prebind_next(struct bt_writer *writer, struct bt_write_op *op);

/* Fails the binding and rolls back what was written. why is copied. */
void bt_prebind_fail(struct bt_writer *writer, struct bt_write_op *op, const char *plugin, struct bt_str why);

/* ---- the steps, in order; the first ones are prebind.c's, from BT_PREBIND_CREATE on claims.c's ---- */

enum {
	BT_PREBIND_PV_GET = 0,
	BT_PREBIND_PV,
	BT_PREBIND_PVC,
	BT_PREBIND_NODE,     /* starts a round over all volumes */
	BT_PREBIND_WAIT,     /* a claim, and then */
	BT_PREBIND_CSI_NODE, /* the node's migrated plugins, if the volume is in-tree, and */
	BT_PREBIND_MADE,     /* its volume, and whether the node can reach it */
	BT_PREBIND_CREATE,
	BT_PREBIND_CLAIM_GET,
	BT_PREBIND_CLASS_GET,
	BT_PREBIND_FINALIZER,
	BT_PREBIND_CLAIM,
	BT_PREBIND_POD_GET,
	BT_PREBIND_POD,
	BT_PREBIND_READY,
	BT_PREBIND_UNRESERVE,
	BT_PREBIND_UNFINALIZE,
	BT_PREBIND_DELETE,
	BT_PREBIND_NODE_CLAIMS, /* node_claims.c's, after the claims */
	BT_PREBIND_CLEAR_NODE_CLAIMS
};

/* ---- claims.c ---- */

/* Waits until the claim's devices are ready. */
void bt_claim_wait(struct bt_writer *writer, struct bt_write_op *op);

/* Records the end of the wait; no effect when there was none. */
void bt_claim_waited(struct bt_writer *writer, const struct bt_write_op *op, enum bt_devices_end end);

/* The first step of a claim. */
void bt_claim_begin(struct bt_write_op *op);
bool bt_claim_request(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call);
void bt_claim_answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer);

/* The first step of rolling a claim back. Returns: false when there is nothing to roll back. */
bool bt_claim_undo(struct bt_write_op *op);

/* ---- node_claims.c: the pod's status.nodeAllocatableResourceClaimStatuses ---- */

/* The list as JSON, in the op's arena. Context: any thread. */
struct bt_str bt_node_claims_copy(struct bt_write_op *op, const struct bt_bind_request *bind_request);
void bt_node_claims_request(
	struct bt_writer *writer, const struct bt_write_op *op, struct bt_http_call *out_call);
void bt_node_claims_answered(
	struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer);

/* ---- claim_text.c: JSON of claims; all append to out ---- */

/* A copy of the bind request's writes in the op's arena. */
void bt_claim_copy(
	struct bt_write_op *op, const struct bt_bind_request_claim *from, struct bt_prebind_claim *out);

/* Copies a claim from an answer into the op's arena. Returns: false when it is not a claim. */
bool bt_claim_read(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body);

/* The state of a claim's devices. */
enum bt_claim_state { BT_CLAIM_READY = 0, BT_CLAIM_WAITS, BT_CLAIM_FAILED };

/* Whether the binding conditions of all devices are met. out_why: what failed. */
enum bt_claim_state bt_claim_state(
	struct bt_writer *writer, struct bt_str claim, struct bt_str name, struct bt_buf *out_why);

/* Lists the devices of the server's claim. */
void bt_claim_read_devices(
	struct bt_writer *writer, struct bt_write_op *op, struct bt_str body, struct bt_prebind_claim *out);

void bt_claim_special(const struct bt_write_op *op, const struct bt_prebind_claim *claim, struct bt_buf *out);
void bt_claim_finalize(const struct bt_prebind_claim *claim, bool adds, struct bt_buf *out);
void bt_claim_free(const struct bt_prebind_claim *claim, struct bt_buf *out);
void bt_claim_delete(const struct bt_prebind_claim *claim, struct bt_buf *out);
/* A strategic merge patch that removes a consumer from reservedFor. */
void bt_claim_unreserve(const struct bt_prebind_claim *claim, struct bt_str consumer, struct bt_buf *out);
void bt_claim_status(struct bt_writer *writer, const struct bt_write_op *op,
	const struct bt_prebind_claim *claim, struct bt_buf *out);

/* The raw value of a member; empty when it is missing. Valid as long as text. */
struct bt_str bt_json_member(struct bt_writer *writer, struct bt_str text, const char *name);

/* The next element of an array, by an offset that starts at 0. Returns: false at the end. */
bool bt_json_element(struct bt_writer *writer, struct bt_str array, size_t *offset, struct bt_str *out);

/* The text of a JSON string without escapes, as names are; empty when it is not one. */
struct bt_str bt_json_name(struct bt_str raw);
