/* SPDX-License-Identifier: Apache-2.0
 * Counts for a simulation's report: waiting times, attempts, and results of preemptions. Times are virtual.
 * Context: one thread.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "tools/kube/report/queueing.h"

/* All zeroes except engine at first. Owns: bt_simulate_tally_fini. */
struct bt_simulate_tally {
	struct bt_engine *engine;
	struct bt_report_attempts attempts;
	uint64_t unwaited_n; /* pods that were placed at their arrival time */
	int64_t *waits;	     /* of the others, in nanoseconds */
	size_t wait_n;
	struct bt_report_preemption *preemptions;
	struct bt_report_victim *victims; /* of all preemptions */
	size_t preemption_n, victim_n;
	uint64_t preemptor_n, evicted_n; /* distinct preemptors; pods deleted for them */
	/* private: */
	size_t wait_cap, preemption_cap, victim_cap;
	struct bt_map open; /* by pod_ix plus one: its last preemption, until it has its node */
};

/* Counts a decision after it took effect. info: of its pod, before that. since_ns: when it was created. */
void bt_simulate_tally_decision(struct bt_simulate_tally *tally, const struct bt_decision *decision,
	const struct bt_queue_info *info, int64_t since_ns, int64_t now_ns);

/* Counts a pending pod that will be deleted. */
void bt_simulate_tally_leave(struct bt_simulate_tally *tally, uint32_t pod_ix);

/* At the end of the simulation: counts the pending pods. */
void bt_simulate_tally_end(struct bt_simulate_tally *tally);

void bt_simulate_tally_fini(struct bt_simulate_tally *tally);
