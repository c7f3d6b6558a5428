/* SPDX-License-Identifier: Apache-2.0
 * Filling a cluster with copies of a unit.
 */
#include "tools/offline/capacity/fill.h"

#include <stdio.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/transaction.h"
#include "tools/cli/interrupt.h"

#define LOOK 256 /* copies between two looks at the interrupt */

struct filling {
	struct bt_loaded_cluster *cluster;
	const struct bt_capacity_unit *unit;
	struct bt_capacity_fill *out;
	uint32_t *pods; /* placed, in order */
	size_t pod_n, pod_cap;
	uint64_t number; /* of the next pod */
};

/* Adds a pod and finds a node for it. Returns its index; placed or not. */
static uint32_t place(struct filling *f, const struct bt_pod_object *template, bool *out_placed)
{
	struct bt_engine *engine = f->cluster->engine;
	struct bt_pod_object pod = *template;
	char name[64], uid[64];
	uint32_t pod_ix, node_ix;
	int n = snprintf(name, sizeof(name), "capacity-%llu.", (unsigned long long)f->number);
	int m = snprintf(uid, sizeof(uid), "capacity-uid-%llu", (unsigned long long)f->number++);

	/* A dot at the end is no valid name, so that no pod of the cluster has it. */
	pod.meta.name = (struct bt_str){name, (size_t)n};
	pod.meta.uid = (struct bt_str){uid, (size_t)m};
	(void)bt_transaction_add_pod(engine, &pod, &pod_ix);
	BT_REQUIRE(pod_ix != BT_NO_POD);
	*out_placed = bt_transaction_place(engine, pod_ix, &node_ix) == BT_PLACED;
	return pod_ix;
}

static void keep(struct filling *f, uint32_t pod_ix)
{
	f->pods = bt_mem_grow(f->pods, f->pod_n, &f->pod_cap, sizeof(*f->pods));
	f->pods[f->pod_n++] = pod_ix;
}

/* Adds a copy; of one that does not fit as a whole nothing stays. */
static bool add_copy(struct filling *f)
{
	struct bt_engine *engine = f->cluster->engine;
	size_t before = f->pod_n;

	bt_transaction_begin(engine);
	for (size_t i = 0; i < f->unit->pod_n; i++) {
		bool placed;
		uint32_t pod_ix = place(f, &f->unit->pods[i], &placed);

		if (placed) {
			keep(f, pod_ix);
			continue;
		}
		f->out->stops_at = f->unit->pods[i].meta.name;
		bt_refusal_rows_collect(engine, pod_ix, &f->out->refusals);
		bt_transaction_roll_back(engine);
		f->pod_n = before;
		return false;
	}
	bt_transaction_commit(engine, NULL);
	return true;
}

static void count_nodes(struct filling *f)
{
	const struct bt_cache *cache = bt_engine_cache(f->cluster->engine);
	struct bt_capacity_fill *out = f->out;

	out->slot_n = cache->view.snapshot->slot_n;
	out->pods_by_node = bt_mem_zalloc(out->slot_n, sizeof(*out->pods_by_node));
	for (size_t i = 0; i < f->pod_n; i++) {
		uint32_t node_ix = bt_ledger_pod(cache->ledger, f->pods[i])->node_ix;

		BT_REQUIRE(node_ix < out->slot_n);
		out->used_node_n += out->pods_by_node[node_ix]++ == 0;
	}
	bt_utilization_measure(cache, &out->full);
}

int bt_capacity_fill(struct bt_loaded_cluster *cluster, const struct bt_capacity_unit *unit, uint64_t limit,
	struct bt_capacity_fill *out)
{
	struct filling f = {.cluster = cluster, .unit = unit, .out = out};

	*out = (struct bt_capacity_fill){0};
	bt_transaction_begin(cluster->engine);
	bt_progress_begin(&cluster->progress, "adding copies", 0, cluster->quiet);
	while (out->fits < limit && !(out->fits % LOOK == 0 && bt_interrupt_pending()) && add_copy(&f)) {
		bt_progress_update(&cluster->progress, ++out->fits);
	}
	bt_progress_end(&cluster->progress);
	out->limited = out->fits == limit;
	count_nodes(&f);
	bt_transaction_roll_back(cluster->engine);
	bt_mem_free(f.pods);
	return bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : BT_EXIT_OK;
}

void bt_capacity_fill_fini(struct bt_capacity_fill *fill)
{
	bt_mem_free(fill->pods_by_node);
	bt_refusal_rows_fini(&fill->refusals);
	bt_utilization_fini(&fill->full);
}
