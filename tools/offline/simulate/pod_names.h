/* SPDX-License-Identifier: Apache-2.0
 * Names of pods that users mistype: suggests the nearest one.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

/* Says on standard error that there is no pod of the typed name, and which one is near. what: the command,
 * and the option if any. Context: the scheduling thread, between cycles. */
void bt_pod_names_unknown(struct bt_engine *engine, const char *what, const char *typed);
