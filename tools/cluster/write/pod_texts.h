/* SPDX-License-Identifier: Apache-2.0
 * What the API has of a pod that is text, as bytes: pods with the same share them, in a dictionary.
 * Context: any thread.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/flow/cycle/cycle_api_calls.h"

/* Scheduler's name, nominated node and conditions of a pod, in place of what is in out. */
void bt_pod_texts_write(const struct bt_api_pod *pod, struct bt_buf *out);

/* Sets these of a pod by what bt_pod_texts_write made of them; texts are copied into the arena. */
void bt_pod_texts_read(struct bt_str bytes, struct bt_arena *arena, struct bt_api_pod *out_pod);
