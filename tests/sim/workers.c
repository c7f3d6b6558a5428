/* SPDX-License-Identifier: Apache-2.0
 * Workers that are held. The linker's --wrap redirects their waits to __wrap_bt_eventcount_wait.
 */
#include "workers.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/atomic.h"
#include "engine/base/eventcount.h"
#include "engine/base/thread.h"

/* Names required by --wrap. */
bool __real_bt_eventcount_wait(struct bt_eventcount *park, uint32_t key, int64_t timeout_ns);
bool __wrap_bt_eventcount_wait(struct bt_eventcount *park, uint32_t key, int64_t timeout_ns);

static struct {
	struct bt_team *team;
	struct bt_eventcount gate;
	_Atomic uint32_t held[SIM_WORKERS], parked[SIM_WORKERS]; /* atomic: by worker; acquire, release */
} here;

/* 0: not a worker. */
static uint32_t own_ix(void)
{
	const char *name = bt_thread_name();

	return strncmp(name, "worker-", 7) == 0 ? (uint32_t)strtoul(name + 7, NULL, 10) % SIM_WORKERS : 0;
}

bool __wrap_bt_eventcount_wait(struct bt_eventcount *park, uint32_t key, int64_t timeout_ns)
{
	uint32_t ix = own_ix();

	if (ix == 0) {
		return __real_bt_eventcount_wait(park, key, timeout_ns);
	}
	bt_store_release(&here.parked[ix], 1u);
	bool woken = __real_bt_eventcount_wait(park, key, timeout_ns);
	while (bt_load_acquire(&here.held[ix])) {
		uint32_t gate_key = bt_eventcount_prepare(&here.gate);

		if (bt_load_acquire(&here.held[ix])) {
			__real_bt_eventcount_wait(&here.gate, gate_key, BT_EVENTCOUNT_FOREVER);
		}
	}
	bt_store_release(&here.parked[ix], 0u);
	return woken;
}

struct bt_team *sim_team(void)
{
	const struct bt_team_options options = {.worker_n = SIM_WORKERS, .spin_n = 1};
	enum bt_status status;

	if (!here.team) {
		bt_eventcount_init(&here.gate);
		here.team = bt_team_create(&options, &status);
	}
	return here.team;
}

void sim_team_end(void)
{
	sim_let_workers_go();
	if (here.team) {
		bt_team_destroy(here.team);
		here.team = NULL;
	}
}

void sim_hold_worker(uint32_t ix)
{
	bt_store_release(&here.held[ix], 1u);
	while (!bt_load_acquire(&here.parked[ix])) {
		bt_thread_yield();
	}
}

void sim_let_workers_go(void)
{
	for (uint32_t i = 0; i < SIM_WORKERS; i++) {
		bt_store_release(&here.held[i], 0u);
	}
	bt_eventcount_wake(&here.gate);
}
