/* SPDX-License-Identifier: Apache-2.0
 * The log of decisions, one JSON document per line, in the order of decisions:
 * {"pod":"ns/name","node":"n1"} placed, {"pod":"ns/name","node":null,"message":"..."} refused,
 * {"pod":"ns/name","delete":true} deleted. A refused pod that is nominated also has "nominated":"n1",
 * and "evicted":["ns/other"] if it has preempted pods. Context: one thread.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "tools/cli/output.h"
#include "tools/offline/simulate/evicted.h"

/* Zero-initialized except for the first two fields. Owns: bt_decision_log_fini. */
struct bt_decision_log {
	struct bt_output *output; /* NULL: nothing is written */
	struct bt_engine *engine;
	/* private: */
	struct bt_buf line, key;
	struct bt_evicted evicted;
};

/* A decision that has been carried out. message: why the pod was not placed. */
void bt_decision_log_decision(
	struct bt_decision_log *log, const struct bt_decision *decision, struct bt_str message);

/* Logs the eviction of a pod for the next decision. */
void bt_decision_log_evict(struct bt_decision_log *log, uint32_t pod_ix);

/* Logs the deletion of a pod. */
void bt_decision_log_delete(struct bt_decision_log *log, uint32_t pod_ix);

void bt_decision_log_fini(struct bt_decision_log *log);
