/* SPDX-License-Identifier: Apache-2.0
 * Feature gates: every name that kube-scheduler accepts; per release its stage, its default, and whether the
 * default is locked. The table is gate.def.
 * Context: any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/str.h"

struct bt_release;

enum bt_gate_stage {
	BT_GATE_ALPHA = 0,
	BT_GATE_BETA,
	BT_GATE_GA,
	BT_GATE_DEPRECATED,
	BT_GATE_ABSENT /* the release does not accept the name */
};

enum bt_gate {
#define BT_GATE(id, name, ...) BT_GATE_##id,
#include "engine/model/gate.def"
#undef BT_GATE
	BT_GATE_N
};

/* A gate's specification from a minor version on. */
struct bt_gate_spec {
	uint8_t since; /* 1.since */
	uint8_t stage; /* enum bt_gate_stage */
	bool on;       /* the default; of an absent gate: whether the release has the feature */
	bool locked;
};

/* The name, such as "DRAAdminAccess". */
const char *bt_gate_name(enum bt_gate gate);

/* The gate's specification in the release; never NULL. */
const struct bt_gate_spec *bt_gate_spec(enum bt_gate gate, const struct bt_release *release);

/* The gate of that name if the release or its emulating binary accepts it; otherwise BT_GATE_N. */
enum bt_gate bt_gate_find(struct bt_str name, const struct bt_release *release);

/* The minor version of the first entry of a gate of that name: since when there is one. 0: never. */
uint32_t bt_gate_since(struct bt_str name);

/* A gate that cannot be on while another one is off. */
struct bt_gate_need {
	enum bt_gate gate, needs;
	uint32_t since; /* minor version */
};

/* The release's next dependency after one, or the first for NULL; grouped by gate, then in order of names.
 * Returns: NULL at the end. */
const struct bt_gate_need *bt_gate_next_need(
	const struct bt_release *release, const struct bt_gate_need *behind);

/* In the release, does the gate require the other to be on? */
bool bt_gate_needs(enum bt_gate gate, enum bt_gate other, const struct bt_release *release);
