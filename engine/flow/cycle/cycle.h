/* SPDX-License-Identifier: Apache-2.0
 * One pod's scheduling cycle, as a value: looked up once, when it begins, and passed to every function of the
 * cycle. Explaining a pod uses one too.
 * Owns: nothing. Writer: bt_engine_cycle_of. Thread: the scheduling thread.
 */
#pragma once

#include "cache/ledger.h"
#include "engine/score/plan.h"

struct bt_profile_runtime;

struct bt_cycle {
	uint64_t number; /* of the cycle; while a pod is only explained: of the last cycle */
	uint32_t pod_ix;
	const struct bt_pod *pod;	      /* valid until the ledger changes */
	const struct bt_signature *signature; /* as of the cycle's start */
	struct bt_profile_runtime *runtime;   /* NULL: the pod of another scheduler */
	struct bt_plan *plan;		      /* NULL: not built yet */
	int64_t begin_ns;		      /* 0 unless durations are measured */
};
