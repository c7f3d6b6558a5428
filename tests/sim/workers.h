/* SPDX-License-Identifier: Apache-2.0
 * A team of workers for simulations, which can be held as if the system did not schedule them, at a
 * moment chosen by the history.
 */
#pragma once

#include "engine/base/team.h"

#define SIM_WORKERS 3 /* including the caller */

/* The process's team, created on first use. Context: the simulating thread. */
struct bt_team *sim_team(void);
void sim_team_end(void);

/* From now on a worker (1 and on) stays asleep, even when woken. */
void sim_hold_worker(uint32_t ix);
void sim_let_workers_go(void);
