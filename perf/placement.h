/* SPDX-License-Identifier: Apache-2.0
 * Cases of the suite placement that are in separate files.
 */
#pragma once

#include "bench.h"

struct bt_team;

/* Placements of pods with this many signatures, by a team or (NULL) one thread. */
struct bt_bench_placing {
	uint32_t node_n, signature_n;
	bool plain; /* no selectors, tolerations or preferences */
	bool own;   /* each signature has its own request vector */
	struct bt_team *team;
};
void bt_bench_place(struct bt_bench *bench, const struct bt_bench_placing *placing);

/* topology.c */
#define BT_TOPOLOGY_SPECS 4

/* Specs of pods with terms about other pods: text that takes the number of an application. */
extern const char *const bt_topology_specs[BT_TOPOLOGY_SPECS];
void bt_bench_affinity_spread(struct bt_bench *bench);
void bt_bench_anti_affinity(struct bt_bench *bench);
void bt_bench_preferred_affinity(struct bt_bench *bench);
void bt_bench_hard_spread(struct bt_bench *bench);
void bt_bench_soft_spread(struct bt_bench *bench);
void bt_bench_default_spread(struct bt_bench *bench);

/* queue.c */
void bt_bench_behind_infeasible(struct bt_bench *bench);
void bt_bench_behind_infeasible_kinds(struct bt_bench *bench);
void bt_bench_all_infeasible(struct bt_bench *bench);
void bt_bench_all_infeasible_kinds(struct bt_bench *bench);

/* preemption.c */
void bt_bench_preemption(struct bt_bench *bench);
