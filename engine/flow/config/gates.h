/* SPDX-License-Identifier: Apache-2.0
 * Feature gates: every name that upstream's scheduler accepts, its stage and default, and whether it may be
 * changed.
 */
#pragma once

#include <stdbool.h>

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"

enum bt_gate_stage { BT_GATE_ALPHA = 0, BT_GATE_BETA, BT_GATE_GA, BT_GATE_DEPRECATED };

enum bt_gate {
#define BT_GATE(id, name, stage, on, locked) BT_GATE_##id,
#include "engine/flow/config/gates.def"
#undef BT_GATE
	BT_GATE_N
};

/* The state of every gate. A plain value. */
struct bt_gates {
	bool on[BT_GATE_N];
};

struct bt_gate_info {
	const char *name;
	enum bt_gate_stage stage;
	bool on, locked; /* the default, and whether it is fixed */
};

/* The facts about a gate. Context: any thread. */
const struct bt_gate_info *bt_gate_info(enum bt_gate gate);

/* The gate with that name, or BT_GATE_N. Context: any thread. */
enum bt_gate bt_gate_find(struct bt_str name);

/* Can the gate not be on while the other is off? Context: any thread. */
bool bt_gate_needs(enum bt_gate gate, enum bt_gate other);

/* Every gate at its default. */
void bt_gates_init(struct bt_gates *gates);

/*
 * Applies a list such as "TaintTolerationComparisonOperators=true,AllBeta=false", then checks the
 * dependencies. Returns : BT_OK; BT_INVALID with upstream's text in out_error and gates untouched.
 */
enum bt_status bt_gates_parse(struct bt_gates *gates, struct bt_str text, struct bt_buf *out_error);
