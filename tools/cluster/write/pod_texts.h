/* SPDX-License-Identifier: Apache-2.0
 * The texts of a stored pod, as bytes: pods with equal texts share them in a dictionary.
 * Context: any thread.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/flow/cycle/cycle_api_calls.h"

/* Replaces out by a pod's scheduler name, nominated node and conditions. */
void bt_pod_texts_write(const struct bt_api_pod *pod, struct bt_buf *out);

/* Reads the bytes of bt_pod_texts_write into a pod; texts are copied into the arena. */
void bt_pod_texts_read(struct bt_str bytes, struct bt_arena *arena, struct bt_api_pod *out_pod);
