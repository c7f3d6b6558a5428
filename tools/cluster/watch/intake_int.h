/* SPDX-License-Identifier: Apache-2.0
 * Handles the answers of calls: passes objects to the listeners and the pipeline, and detects deleted ones.
 * Context: the client's thread.
 */
#pragma once

#include "tools/cluster/watch/reflector_int.h"

/*
 * Handles received data while there is room; a later call handles the rest. Sets r->fate when the call is of
 * no more use.
 */
void bt_intake(struct bt_reflector *r);

/* Whether there is no room for more. */
bool bt_intake_is_blocked(const struct bt_reflector *r);

/* The list is complete, at that version: objects that it did not contain are deleted. */
void bt_intake_sweep(struct bt_reflector *r, struct bt_str version);

/* The kind is not available: the source counts as synced. */
void bt_intake_sync(struct bt_reflector *r);

/* The meaning of a Status. */
enum bt_watch_fate bt_intake_fate(int32_t code, struct bt_str reason, struct bt_str message);

/* Records an error, and logs it unless it has just logged the same. level: as of bt_log. */
void bt_reflector_note(struct bt_reflector *r, const char *what, struct bt_str why);

/* Logs a line of client-go's Reflector, at its level. why: empty: none. */
void bt_reflector_log(const struct bt_reflector *r, int verbosity, const char *what, struct bt_str why);

static inline void bt_reflector_set(struct bt_buf *buf, struct bt_str text)
{
	bt_buf_clear(buf);
	bt_buf_str(buf, text);
}
