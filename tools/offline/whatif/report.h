/* SPDX-License-Identifier: Apache-2.0
 * The report of berth whatif: a row a question, and, of a single question, its pods, its budgets and the use
 * of resources. JSON and YAML have these of every question.
 */
#pragma once

#include "tools/offline/simulate/loaded_cluster.h"
#include "tools/offline/whatif/answer.h"

struct bt_whatif_row {
	struct bt_str question;
	struct bt_whatif_answer answer;
};

/* Writes the report to standard output. Returns: BT_EXIT_OK, BT_EXIT_NO when an answer is bad, or as
 * bt_output_close. */
int bt_whatif_report(const struct bt_loaded_cluster *cluster, const struct bt_whatif_row *rows, size_t n);
