/* SPDX-License-Identifier: Apache-2.0
 * berth recommend: which nodes to add so that all pods fit, and which could go.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/mem.h"
#include "tools/cli/emit.h"
#include "tools/cli/entry.h"
#include "tools/cli/print.h"
#include "tools/offline/recommend/purchase.h"
#include "tools/offline/recommend/removal.h"

#define SCHEMA "berth.recommend/v1"

struct recommendation {
	struct bt_invocation *invocation;
	struct bt_loaded_cluster cluster;
	struct bt_inventory inventory;
	struct bt_node_types types;
	struct bt_purchase purchase;
	struct bt_removal removal;
	bool buys, removes;
};

static int buy(struct recommendation *r)
{
	struct bt_progress *progress = &r->cluster.progress;

	r->purchase = (struct bt_purchase){.engine = r->cluster.engine,
		.types = &r->types,
		.progress = progress,
		.trial_max = bt_invocation_number(r->invocation, "trials"),
		.rng = {bt_invocation_number(r->invocation, "seed")}};
	bt_progress_begin(progress, "trying nodes", 0, r->cluster.quiet);
	int status = bt_purchase_find(&r->purchase);
	bt_progress_end(progress);
	return status;
}

static int consolidate(struct recommendation *r)
{
	struct bt_progress *progress = &r->cluster.progress;

	r->removal = (struct bt_removal){
		.engine = r->cluster.engine, .inventory = &r->inventory, .progress = progress};
	bt_progress_begin(progress, "draining nodes", r->cluster.intake.counts.nodes, r->cluster.quiet);
	int status = bt_removal_find(&r->removal);
	bt_progress_end(progress);
	return status;
}

/* ---- report ---- */

static void add_summary(const struct recommendation *r, struct bt_emit *emit)
{
	const struct bt_purchase *p = &r->purchase;

	bt_emit_str(emit, "source", bt_buf_view(&r->cluster.source));
	bt_emit_count(emit, "nodes", "nodes", r->cluster.intake.counts.nodes);
	bt_emit_count(emit, "pending", "pods without a place", p->pod_n);
	if (p->gated_n) {
		bt_emit_count(emit, "gated", "  left out: gated", p->gated_n);
	}
	if (p->grouped_n) {
		bt_emit_count(emit, "grouped", "  left out: of PodGroups", p->grouped_n);
	}
	if (!r->buys) {
		return;
	}
	bt_emit_count(emit, "placed", "placed on the cluster with the new nodes", p->placed_n);
	bt_emit_real(emit, "price", p->price, 4);
	bt_emit_label(emit, "price of the new nodes");
	bt_emit_real(emit, "bound", isfinite(p->bound) ? p->bound : 0, 4);
	bt_emit_label(emit, "no nodes hold these pods for less than");
	bt_emit_real(emit, "gap_percent", p->price > 0 ? 100 * (p->price - p->bound) / p->price : 0, 1);
	bt_emit_label(emit, "gap, %");
}

static uint64_t pods_on(const struct bt_purchase *p, const struct bt_node_type *type)
{
	uint64_t n = 0;
	struct bt_buf stem = {0};

	bt_buf_printf(&stem, "%.*s-new-", BT_STR_ARG(type->name));
	for (size_t i = 0; i < p->pod_n; i++) {
		n += bt_str_starts(p->pods[i].node, stem.ptr);
	}
	bt_buf_fini(&stem);
	return n;
}

static void add_purchase(const struct recommendation *r, struct bt_emit *emit)
{
	const struct bt_purchase *p = &r->purchase;

	bt_emit_begin_array(emit, "recommend");
	bt_emit_label(emit, "Nodes to add");
	for (size_t j = 0; r->buys && j < r->types.n; j++) {
		if (p->counts[j] == 0) {
			continue;
		}
		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "type", r->types.items[j].name);
		bt_emit_count(emit, "nodes", "nodes", p->counts[j]);
		bt_emit_real(emit, "price_each", r->types.items[j].price, 4);
		bt_emit_label(emit, "price each");
		bt_emit_real(emit, "price", r->types.items[j].price * p->counts[j], 4);
		bt_emit_count(emit, "pods", "pods", pods_on(p, &r->types.items[j]));
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

/* The pods that fit nowhere, or, in no table, where the others go in the replay. */
static void add_places(const struct recommendation *r, struct bt_emit *emit, bool placed)
{
	const struct bt_cache *cache = bt_engine_cache(r->cluster.engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_purchase *p = &r->purchase;

	bt_emit_begin_array(emit, placed ? "places" : "unplaced");
	if (placed) {
		bt_emit_hide(emit);
	} else {
		bt_emit_label(emit, "Pods that fit on no node of these types");
	}
	for (size_t i = 0; r->buys && i < p->pod_n; i++) {
		const struct bt_pod *pod = bt_ledger_pod(cache->ledger, p->pods[i].order.ix);
		struct bt_buf name = {0};

		if ((p->pods[i].node.len > 0) != placed) {
			continue;
		}
		bt_buf_printf(&name, "%.*s/%.*s",
			BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
			BT_STR_ARG(bt_intern_str(intern, pod->name)));
		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "pod", bt_buf_view(&name));
		if (placed) {
			bt_emit_str(emit, "node", p->pods[i].node);
		}
		bt_emit_end(emit);
		bt_buf_fini(&name);
	}
	bt_emit_end(emit);
}

static void add_removal(const struct recommendation *r, struct bt_emit *emit)
{
	bt_emit_begin_array(emit, "remove");
	bt_emit_label(emit, "Nodes that could go, drained in this order");
	for (size_t i = 0; i < r->removal.node_n; i++) {
		const struct bt_removable_node *node = &r->removal.nodes[i];
		const struct bt_node_type *type = bt_node_types_find(&r->types, node->type);

		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "node", node->name);
		bt_emit_str(emit, "type", node->type);
		bt_emit_count(emit, "moved", "pods that move", node->moved_n);
		if (type) {
			bt_emit_real(emit, "price", type->price, 4);
		} else {
			bt_emit_null(emit, "price");
		}
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static void add_stays(const struct recommendation *r, struct bt_emit *emit)
{
	static const char *const keys[BT_STAY_N] = {"removable", "needed", "budget", "unowned"};
	static const char *const labels[BT_STAY_N] = {"could go", "stay: a pod fits nowhere else",
		"stay: a PodDisruptionBudget forbids it", "stay: a pod has no controller"};

	bt_emit_begin_object(emit, "nodes_by_result");
	bt_emit_label(emit, "Nodes, drained one after the other");
	for (int i = 0; i < BT_STAY_N; i++) {
		bt_emit_count(emit, keys[i], labels[i], r->removal.stays[i]);
	}
	bt_emit_end(emit);
}

static int report_recommendation(const struct recommendation *r)
{
	struct bt_emit *emit = bt_emit_create();

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_hide(emit);
	add_summary(r, emit);
	add_purchase(r, emit);
	add_places(r, emit, false);
	add_places(r, emit, true);
	if (r->removes) {
		add_removal(r, emit);
		add_stays(r, emit);
	}
	int status = bt_print_report(emit, r->invocation);

	return status != BT_EXIT_OK				     ? status
	       : r->buys && r->purchase.placed_n < r->purchase.pod_n ? BT_EXIT_NO
								     : BT_EXIT_OK;
}

/* ---- the command ---- */

static int read_types(struct recommendation *r)
{
	const char *path;
	int status = BT_EXIT_OK;

	for (size_t i = 0;
		status == BT_EXIT_OK && (path = bt_invocation_item(r->invocation, "node-types", i)); i++) {
		status = bt_node_types_read(&r->types, &r->cluster, path);
	}
	return status;
}

static int load_and_find(struct recommendation *r)
{
	int status = bt_loaded_cluster_open(&r->cluster, r->invocation);

	if (status == BT_EXIT_OK) {
		status = bt_loaded_cluster_settle(&r->cluster);
	}
	if (status == BT_EXIT_OK) {
		status = read_types(r);
	}
	if (status == BT_EXIT_OK && r->buys) {
		status = buy(r);
	}
	if (status == BT_EXIT_OK && r->removes) {
		status = consolidate(r);
	}
	return status == BT_EXIT_OK ? report_recommendation(r) : status;
}

int bt_cmd_recommend(struct bt_invocation *invocation)
{
	struct recommendation *r;

	if (!bt_invocation_item(invocation, "node-types", 0) && !bt_invocation_has(invocation, "remove")) {
		return bt_invocation_wrong(invocation->command,
			"nothing to buy; give --node-types a file with types and prices, or --remove");
	}
	r = bt_mem_zalloc(1, sizeof(*r));
	r->invocation = invocation;
	r->buys = bt_invocation_item(invocation, "node-types", 0) != NULL;
	r->removes = bt_invocation_has(invocation, "remove");
	r->inventory.recreates_all = bt_invocation_has(invocation, "recreate-all");
	r->cluster.entered = bt_inventory_note_pod;
	r->cluster.object_entered = bt_inventory_note_object;
	r->cluster.context = &r->inventory;
	int status = load_and_find(r);
	bt_purchase_fini(&r->purchase);
	bt_removal_fini(&r->removal);
	bt_node_types_fini(&r->types);
	bt_loaded_cluster_close(&r->cluster);
	bt_inventory_fini(&r->inventory);
	bt_mem_free(r);
	return status;
}
