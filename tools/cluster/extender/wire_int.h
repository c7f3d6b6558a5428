/* SPDX-License-Identifier: Apache-2.0
 * Requests and responses of extenders: the JSON of extender/v1, as Go writes and reads it (member names match
 * in any case). Source: k8s.io/kube-scheduler/extender/v1, v1.36.3.
 * Context: one thread at a time.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/flow/cycle/extender.h"
#include "engine/flow/pipeline/pipeline.h"
#include "tools/format/json.h"

/* ExtenderArgs. pod: JSON. nodes: names when by_name, JSON of nodes else. */
void bt_wire_args(
	struct bt_str pod, const struct bt_str *nodes, uint32_t node_n, bool by_name, struct bt_buf *out);

/* A node, and the victims on it. */
struct bt_wire_candidate {
	struct bt_str node;
	const struct bt_str *victims; /* UIDs when by_uid, JSON of pods else */
	uint32_t victim_n;
	int64_t violation_n;
};

/* ExtenderPreemptionArgs. */
void bt_wire_preempt_args(struct bt_str pod, const struct bt_wire_candidate *candidates, uint32_t candidate_n,
	bool by_uid, struct bt_buf *out);

/* ExtenderBindingArgs. */
void bt_wire_binding_args(const struct bt_pod_ref *pod, struct bt_str node, struct bt_buf *out);

/* Context of one decode; texts live in the arena or in the body. */
struct bt_wire {
	struct bt_json *json;
	struct bt_arena *arena;
};

/*
 * Reads an answer into a reply: ExtenderFilterResult, HostPriorityList, ExtenderPreemptionResult. by_name:
 * the extender has a node cache, so NodeNames is read before Nodes.
 * Returns: false when the answer cannot be read, with Go's text, where it is known, in out_error. An error
 * that the answer itself contains fails the reply.
 */
bool bt_wire_filter_result(struct bt_wire *wire, struct bt_str body, bool by_name,
	struct bt_extender_reply *reply, struct bt_buf *out_error);
bool bt_wire_priorities(
	struct bt_wire *wire, struct bt_str body, struct bt_extender_reply *reply, struct bt_buf *out_error);
bool bt_wire_preempt_result(
	struct bt_wire *wire, struct bt_str body, struct bt_extender_reply *reply, struct bt_buf *out_error);

/* Reads an ExtenderBindingResult. Returns: whether the pod is bound; else out_error has the reason. */
bool bt_wire_binding_result(struct bt_wire *wire, struct bt_str body, struct bt_buf *out_error);
