/* SPDX-License-Identifier: Apache-2.0
 * Verdicts: the complete decisions about a scenario's pods, as one JSON document.
 */
#pragma once

#include "tools/offline/verdict/scenario.h"

/* Judges every pending pod of a scenario and appends the verdict, one line. */
void bt_verdict_write(
	const struct bt_scenario *scenario, struct bt_scenario_cluster *cluster, struct bt_buf *out_line);

/* Appends the verdict of a scenario that could not be opened: each pending pod with that error. */
void bt_verdict_write_error(const struct bt_scenario *scenario, struct bt_str error, struct bt_buf *out_line);
