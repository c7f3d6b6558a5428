/* SPDX-License-Identifier: Apache-2.0
 * Histories that fail, made as short as they can be.
 */
#pragma once

#include "step.h"

/*
 * What becomes of a history: the invariant that it breaks, "crash" or "hang"; empty when it holds. Plays it
 * in a process of its own. out_message (NULL: not wanted) gets what it said, and with trace everything that
 * happened.
 */
struct sim_verdict {
	char text[16];
};

/* Ends this process after so much processor time. */
void sim_limit_cpu(uint32_t seconds);

struct sim_verdict sim_try(const struct sim_history *history, bool trace, struct bt_buf *out_message);

/* Takes steps out of a history for as long as its verdict stays the same (delta debugging). */
void sim_minimize(struct sim_history *history, struct sim_verdict verdict);
