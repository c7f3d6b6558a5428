/* SPDX-License-Identifier: Apache-2.0
 * The live view of a long job: on a terminal a picture four times a second, elsewhere a line a second.
 * Context: one thread, which calls bt_live_look often.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/offline/live/view.h"

struct bt_live_options {
	bool quiet; /* no lines where there is no terminal */
	bool color;
	/* Fills in what is known now, into zeroes; elapsed_ns is set already. */
	void (*fill)(void *context, struct bt_live_numbers *out);
	void *context;
};

struct bt_live;

/* Begins to show, on standard error. Owns: bt_live_end. */
struct bt_live *bt_live_begin(const struct bt_live_options *options);

/* Shows what is so now, if it is time. Cheap enough to be called a hundred times a second. */
void bt_live_look(struct bt_live *live);

/* Ends the view; the terminal is as it was before. NULL is fine. */
void bt_live_end(struct bt_live *live);
