/* SPDX-License-Identifier: Apache-2.0
 * A team of workers for simulations, and workers that do not come: what the system does when it lets a thread
 * wait, at a moment that the history says.
 */
#pragma once

#include "engine/base/team.h"

#define SIM_WORKERS 3 /* with the caller */

/* The team of this process, made when it is first asked for. Context: the thread that simulates. */
struct bt_team *sim_team(void);
void sim_team_end(void);

/* From now on a worker (1 and on) does not come, whatever wakes it. */
void sim_hold_worker(uint32_t ix);
void sim_let_workers_go(void);
