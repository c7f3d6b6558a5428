/* SPDX-License-Identifier: Apache-2.0
 * Results of workloads, for people and for programs: a table, and upstream's data items. Context: one
 * thread.
 */
#pragma once

#include "tools/offline/bench/bench.h"
#include "tools/cli/bench_text.h"
#include "tools/cli/emit.h"

#define BT_BENCH_SCHEMA "berth.bench/v1"

/* First the schema; then, after all runs, rows, stages, problems, and upstream's data items, which tables
 * omit. */
void bt_bench_report_begin(struct bt_emit *emit);
void bt_bench_report(struct bt_emit *emit, const struct bt_bench_result *results, size_t n, double speed);
