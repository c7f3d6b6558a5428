/* SPDX-License-Identifier: Apache-2.0
 * The live view of a long job: on a terminal a screen four times a second, elsewhere one line per second.
 * Context: one thread, which calls bt_live_poll often.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/offline/live/view.h"

struct bt_live_options {
	bool quiet; /* no lines without a terminal */
	bool color;
	/* Fills in current numbers; out is zeroed, with elapsed_ns set. */
	void (*fill)(void *context, struct bt_live_numbers *out);
	void *context;
};

struct bt_live;

/* Begins to show, on standard error. Owns: bt_live_end. */
struct bt_live *bt_live_begin(const struct bt_live_options *options);

/* Updates the view if due. Cheap enough to be called a hundred times a second. */
void bt_live_poll(struct bt_live *live);

/* Ends the view; restores the terminal. NULL is ignored. */
void bt_live_end(struct bt_live *live);
