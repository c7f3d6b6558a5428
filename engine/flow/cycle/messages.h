/* SPDX-License-Identifier: Apache-2.0
 * Why pods were refused, with kube-scheduler's texts. Pods of one kind share a text while the cluster is
 * unchanged, so that 100,000 replicas that fit nowhere are explained once. Context: one thread.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

struct bt_message;

/* Zero-initialized except for the engine. Owns: bt_messages_fini. */
struct bt_messages {
	struct bt_engine *engine;
	/* private: */
	struct bt_explanation explanation;
	struct bt_message *items; /* by signature */
	size_t n;
};

/*
 * The text of the FailedScheduling event of a pod that has just been refused, before the refusal is carried
 * out (between bt_engine_begin and bt_engine_end). Valid until the next call.
 */
struct bt_str bt_messages_of(struct bt_messages *messages, uint32_t pod_ix);

/* Appends why the pod is refused at present, without the cache. */
void bt_messages_add(struct bt_messages *messages, uint32_t pod_ix, struct bt_buf *out_text);

void bt_messages_fini(struct bt_messages *messages);
