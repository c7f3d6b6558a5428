/* SPDX-License-Identifier: Apache-2.0
 * The table of every node for one pod: who refuses it and by how much, or what it scores and for what.
 */
#pragma once

#include "engine/flow/engine.h"
#include "tools/cli/emit.h"

/*
 * Adds one row per node to the array that is open: feasible nodes first, the best on top, then the others by
 * name. A pod that is gated, refused as a whole or in error gets one row that says so.
 */
void bt_report_explain(struct bt_emit *emit, struct bt_engine *engine, uint32_t pod_ix);
