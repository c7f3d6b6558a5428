/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: per node, whether the plugins that depend on its usage let a pod pass and what they score it, in one number.
 * Kept until the node changes; the usage's journal says which nodes did.
 */
#pragma once

#include "plugins/plugin.h"

/* A plugin's term as a column uses it. */
struct bt_column_part {
	const struct bt_plugin *plugin;
	const void *term;
	int64_t weight;
	bool filter, score;
};

struct bt_column {
	struct bt_column_part parts[BT_PROFILE_USES];
	uint32_t part_n;
	uint16_t *value;  /* by node slot: 0 refused, else 1 + the weighted sum */
	uint32_t slot_n;
	uint64_t journal_at; /* how far the journal has been taken in */
	bool built;
	bool odd; /* some score was outside 0..100 and does not fit: the column cannot be used */
};

/* Brings the column up to date with the usage. */
void bt_column_catch_up(struct bt_column *column, const struct bt_view *view);
