/* SPDX-License-Identifier: Apache-2.0
 * The report of berth check: sections for people and programs, SARIF for code reviews, JUnit for CI systems.
 */
#pragma once

#include "tools/offline/check/judge.h"

/* Does the application pass: it fits and, with --no-preemption, preempts nothing? */
bool bt_check_passes(const struct bt_check *check);

/* Writes the report in the format of --output to standard output. Returns: enum bt_exit. */
int bt_check_report(const struct bt_check *check);

/* SARIF 2.1.0: a result for each workload that does not fit, or preempts, with its place in the manifests. */
void bt_check_write_sarif(const struct bt_check *check, struct bt_buf *out);

/* JUnit's XML: a test case for each workload. */
void bt_check_write_junit(const struct bt_check *check, struct bt_buf *out);

/* Do workloads that preempt fail, by --no-preemption? */
bool bt_check_forbids_preemption(const struct bt_check *check);

/* Why a workload fails, or, if it passes, what it preempts, in a sentence. Returns: false when there is
 * nothing to say. */
bool bt_check_sentence(const struct bt_check *check, uint32_t workload, struct bt_buf *out);

/* Does the workload fail? */
bool bt_check_workload_fails(const struct bt_check *check, uint32_t workload);
