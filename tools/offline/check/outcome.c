/* SPDX-License-Identifier: Apache-2.0
 * Outcomes of workloads: which fail, and why.
 */
#include "tools/offline/check/outcome.h"

bool bt_check_forbids_preemption(const struct bt_check *check)
{
	return bt_invocation_has(check->cluster.invocation, "no-preemption");
}

bool bt_check_workload_fails(const struct bt_check *check, uint32_t workload)
{
	const struct bt_workload_result *result = &check->results[workload];

	return result->reason || (result->victim_n && bt_check_forbids_preemption(check));
}

bool bt_check_passes(const struct bt_check *check)
{
	for (uint32_t i = 0; i < check->app.workload_n; i++) {
		if (bt_check_workload_fails(check, i)) {
			return false;
		}
	}
	return true;
}

static void write_victims(const struct bt_check *check, uint32_t workload, struct bt_buf *out)
{
	const char *before = "";

	bt_buf_printf(out, "it preempts %llu pod%s: ", (unsigned long long)check->results[workload].victim_n,
		check->results[workload].victim_n == 1 ? "" : "s");
	for (size_t i = 0; i < check->victim_n; i++) {
		const struct bt_check_victim *victim = &check->victims[i];

		if (victim->workload != workload) {
			continue;
		}
		bt_buf_printf(out, "%s%s", before, victim->victim);
		if (victim->budget) {
			bt_buf_printf(out, " (violates PodDisruptionBudget %s)", victim->budget);
		}
		before = ", ";
	}
}

bool bt_check_sentence(const struct bt_check *check, uint32_t workload, struct bt_buf *out)
{
	const struct bt_workload_result *result = &check->results[workload];

	bt_buf_clear(out);
	bt_buf_text(out, result->reason ? result->reason : "");
	if (result->victim_n) {
		bt_buf_text(out, out->len ? "; " : "");
		write_victims(check, workload, out);
	}
	return out->len > 0;
}
