/* SPDX-License-Identifier: Apache-2.0
 * The state of every feature gate under a release, and parsing of gate settings as in upstream.
 * engine/model/gate.h lists the gates.
 */
#pragma once

#include <stdbool.h>

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"
#include "engine/model/gate.h"
#include "engine/model/release.h"

/* The state of every gate. A plain value. */
struct bt_gates {
	const struct bt_release *release; /* the release of the gates, and of the decisions made under them */
	bool on[BT_GATE_N];
};

/* Sets every gate to its default in the release. */
void bt_gates_init(struct bt_gates *gates, const struct bt_release *release);

/*
 * Applies a list such as "TaintTolerationComparisonOperators=true,AllBeta=false", then checks the
 * dependencies.
 * Returns : BT_OK; BT_INVALID with upstream's text in out_error and gates untouched.
 */
enum bt_status bt_gates_parse(struct bt_gates *gates, struct bt_str text, struct bt_buf *out_error);
