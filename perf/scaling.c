/* SPDX-License-Identifier: Apache-2.0
 * Speedup by workers. The argument is their number, including the scheduling thread; rates use wall-clock
 * time. hand_over: an empty job for all workers.
 */
#include "engine/base/team.h"
#include "placement.h"
#include "suites.h"

static struct bt_team *team_of(struct bt_bench *bench, uint32_t worker_n)
{
	const struct bt_team_options options = {.worker_n = worker_n};
	enum bt_status status;
	struct bt_team *team = bt_team_create(&options, &status);

	if (!team) {
		bt_bench_skip(bench, "no thread could be started");
	}
	return team;
}

static void run(struct bt_bench *bench, struct bt_bench_placing placing)
{
	placing.team = team_of(bench, (uint32_t)bt_bench_arg(bench));
	if (placing.team) {
		bt_bench_place(bench, &placing);
	}
	bt_team_destroy(placing.team);
}

static void one_signature(struct bt_bench *bench)
{
	run(bench, (struct bt_bench_placing){.node_n = 5000, .signature_n = 1, .plain = true});
}

static void mixed(struct bt_bench *bench)
{
	run(bench, (struct bt_bench_placing){.node_n = 5000, .signature_n = 1000});
}

static void own_sizes(struct bt_bench *bench)
{
	run(bench, (struct bt_bench_placing){.node_n = 5000, .signature_n = 1000, .own = true});
}

static void own_sizes_large(struct bt_bench *bench)
{
	run(bench, (struct bt_bench_placing){.node_n = 50000, .signature_n = 300, .own = true});
}

static void nothing(void *context, uint32_t worker)
{
	(void)context;
	(void)worker;
}

static void hand_over(struct bt_bench *bench)
{
	struct bt_team *team = team_of(bench, (uint32_t)bt_bench_arg(bench));

	while (team && bt_bench_keep_running(bench)) {
		bt_team_run(team, nothing, NULL);
	}
	if (team) {
		bt_bench_counter_mean(bench, "taken_over", (double)bt_team_taken_over_n(team));
	}
	bt_team_destroy(team);
}

static const struct bt_bench_case cases[] = {
	{.name = "hand_over", .run = hand_over, .args = {2, 4}, .arg_n = 2, .wall = true},
	{.name = "one_signature_5000", .run = one_signature, .args = {1, 2}, .arg_n = 2, .wall = true},
	{.name = "mixed_1000_5000", .run = mixed, .args = {1, 2}, .arg_n = 2, .wall = true},
	{.name = "own_sizes_5000", .run = own_sizes, .args = {1, 2}, .arg_n = 2, .wall = true},
	{.name = "own_sizes_50000", .run = own_sizes_large, .args = {1, 2}, .arg_n = 2, .wall = true},
};

const struct bt_bench_suite bt_bench_scaling = {
	.name = "scaling", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
