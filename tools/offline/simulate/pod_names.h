/* SPDX-License-Identifier: Apache-2.0
 * Names of pods as users type them: reads one, and suggests the nearest to a mistyped one.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

/* Says on standard error that there is no pod of the typed name, and which one is near. what: the command,
 * and the option if any. Context: the scheduling thread, between cycles. */
void bt_pod_names_unknown(struct bt_engine *engine, const char *what, const char *typed);

/*
 * Reads NAMESPACE/NAME, or NAME in the namespace default. out_namespace and out_name are views of out_pod,
 * which becomes "namespace/name".
 * Returns: false: it is no such name; then the views mean nothing. Owns: the caller out_pod. Context: any
 *          thread.
 */
bool bt_pod_names_read(
	const char *typed, struct bt_buf *out_pod, struct bt_str *out_namespace, struct bt_str *out_name);
