/* SPDX-License-Identifier: Apache-2.0
 * Reduces failing histories to a minimum.
 */
#pragma once

#include "step.h"

/*
 * The result of a history: the violated invariant, "crash" or "hang"; empty when all hold. Plays it
 * in a child process. out_message (or NULL) gets its message, and with trace the log of all steps.
 */
struct sim_verdict {
	char text[16];
};

/* Limits this process's processor time. */
void sim_limit_cpu(uint32_t seconds);

struct sim_verdict sim_try(const struct sim_history *history, bool trace, struct bt_buf *out_message);

/* Removes steps from a history as long as its verdict stays the same (delta debugging). */
void sim_minimize(struct sim_history *history, struct sim_verdict verdict);
