/* SPDX-License-Identifier: Apache-2.0
 * Outcomes of workloads, for all formats of the report: which fail, and why.
 */
#pragma once

#include "tools/offline/check/judge.h"

/* Do workloads that preempt fail, by --no-preemption? */
bool bt_check_forbids_preemption(const struct bt_check *check);

/* Does the workload fail? */
bool bt_check_workload_fails(const struct bt_check *check, uint32_t workload);

/* Does the application pass: it fits and, with --no-preemption, preempts nothing? */
bool bt_check_passes(const struct bt_check *check);

/* Why a workload fails, or, if it passes, what it preempts, in a sentence. Returns: false when there is
 * neither. */
bool bt_check_sentence(const struct bt_check *check, uint32_t workload, struct bt_buf *out);
