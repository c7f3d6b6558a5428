/* SPDX-License-Identifier: Apache-2.0
 * Why pods were refused, in kube-scheduler's words. Pods of one kind share a text as long as the cluster does
 * not change, so that 100,000 replicas that fit nowhere are explained once. Context: one thread.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

struct bt_message;

/* Zeroes but for the engine. Owns: bt_messages_fini. */
struct bt_messages {
	struct bt_engine *engine;
	/* private: */
	struct bt_explanation explanation;
	struct bt_message *items; /* by signature */
	size_t n;
};

/*
 * The text of the FailedScheduling event of a pod that has just been refused, before that is carried out
 * (between bt_engine_begin and bt_engine_end). Valid until the next call.
 */
struct bt_str bt_messages_of(struct bt_messages *messages, uint32_t pod_ix);

/* Adds to out_text what is against a pod as it is now, without looking at what was said before. */
void bt_messages_add(struct bt_messages *messages, uint32_t pod_ix, struct bt_buf *out_text);

void bt_messages_fini(struct bt_messages *messages);
