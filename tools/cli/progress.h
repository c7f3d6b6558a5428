/* SPDX-License-Identifier: Apache-2.0
 * A progress bar on standard error: only on a terminal, only after a second, redrawn ten times a second.
 * Context: one thread. An update costs a comparison; the clock is read about a hundred times a second.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* owner: private, except for the inline functions below. */
struct bt_progress {
	const char *label; /* such as "placing pods" */
	uint64_t total;	   /* 0 when not known */
	uint64_t done, next_look, stride;
	int64_t start_ns, last_look_ns, next_draw_ns;
	void (*show)(void *context); /* instead of the bar, or NULL */
	void *context;
	bool enabled, drawn;
};

/* Starts a bar. With quiet, or when standard error is not a terminal or a dumb one, it never draws. */
void bt_progress_begin(struct bt_progress *progress, const char *label, uint64_t total, bool quiet);

/* Makes show display the progress, on a terminal or not: it is called about a hundred times a second. */
void bt_progress_show_by(struct bt_progress *progress, void (*show)(void *context), void *context);

/* Removes the bar from the terminal. */
void bt_progress_end(struct bt_progress *progress);

/* Reads the clock and draws when due; for callers that wait. */
void bt_progress_poll(struct bt_progress *progress);

/* Writes the progress text after a number of seconds, in at most columns characters: a narrow terminal gets a
 * shorter bar or none, and a truncated label. Returns: as snprintf. */
int bt_progress_text(
	const struct bt_progress *progress, double seconds, unsigned columns, char *out_text, size_t cap);

/* Sets the total amount done. */
static inline void bt_progress_update(struct bt_progress *progress, uint64_t done)
{
	progress->done = done;
	if (done >= progress->next_look) {
		bt_progress_poll(progress);
	}
}
