/* SPDX-License-Identifier: Apache-2.0
 * The report of berth check: sections for people and programs, SARIF for code reviews, JUnit for CI systems.
 */
#pragma once

#include "tools/offline/check/outcome.h"

/* Writes the report in the format of --output to standard output. Returns: enum bt_exit. */
int bt_check_report(const struct bt_check *check);

/* SARIF 2.1.0: a result for each workload that does not fit, or preempts, with its place in the manifests. */
void bt_check_write_sarif(const struct bt_check *check, struct bt_buf *out);

/* JUnit's XML: a test case for each workload. */
void bt_check_write_junit(const struct bt_check *check, struct bt_buf *out);
