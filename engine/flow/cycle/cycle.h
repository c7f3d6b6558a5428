/* SPDX-License-Identifier: Apache-2.0
 * One pod's scheduling cycle, as a value: what is looked up once, when it begins, and handed on to every
 * function of the cycle. A pod that is only explained gets one too.
 * Owns: nothing. Writer: who makes it (bt_engine_cycle_of). Thread: the scheduling thread.
 */
#pragma once

#include "cache/ledger.h"
#include "engine/score/plan.h"

struct bt_profile_runtime;

struct bt_cycle {
	uint64_t number; /* cycles are numbered; of a pod that is only explained: of the last one */
	uint32_t pod_ix;
	const struct bt_pod *pod;	      /* valid until the ledger changes */
	const struct bt_signature *signature; /* as the cycle began */
	struct bt_profile_runtime *runtime;   /* NULL: another scheduler's */
	struct bt_plan *plan;		      /* NULL: not made yet */
	int64_t begin_ns;		      /* where durations are measured; else 0 */
};
