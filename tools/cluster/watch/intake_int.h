/* SPDX-License-Identifier: Apache-2.0
 * What a call brings, taken in: objects are passed to the listeners and the pipeline, what has gone is found.
 * Context: the client's thread.
 */
#pragma once

#include "tools/cluster/watch/reflector_int.h"

/*
 * Takes in what has come, as far as there is room; what has no room is taken in by a later call. Sets r->fate
 * when the call means nothing any more.
 */
void bt_intake(struct bt_reflector *r);

/* Is there no room for more? */
bool bt_intake_is_blocked(const struct bt_reflector *r);

/* The list is whole, at that version: what it has not shown has gone. */
void bt_intake_sweep(struct bt_reflector *r, struct bt_str version);

/* The kind is not to be had: the source has shown all that there is. */
void bt_intake_sync(struct bt_reflector *r);

/* What a Status means. */
enum bt_watch_fate bt_intake_fate(int32_t code, struct bt_str reason, struct bt_str message);

/* Remembers what is wrong, and says so, unless it has just said the same. level: as of bt_log. */
void bt_reflector_note(struct bt_reflector *r, const char *what, struct bt_str why);

/* A line of client-go's Reflector, at its level. why: empty: none. */
void bt_reflector_say(const struct bt_reflector *r, int verbosity, const char *what, struct bt_str why);

static inline void bt_reflector_set(struct bt_buf *buf, struct bt_str text)
{
	bt_buf_clear(buf);
	bt_buf_str(buf, text);
}
