/* SPDX-License-Identifier: Apache-2.0
 * berth capacity: how many more copies of pods and workloads a cluster takes, where, and what stops the next.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/node_view.h"
#include "engine/base/mem.h"
#include "tools/cli/emit.h"
#include "tools/cli/entry.h"
#include "tools/cli/message.h"
#include "tools/cli/print.h"
#include "tools/offline/capacity/capacity_int.h"

/* ---- report ---- */

static void add_capacity(const struct bt_capacity_run *c, struct bt_emit *emit)
{
	bt_emit_begin_array(emit, "capacity");
	bt_emit_label(emit, "Copies that fit");
	for (size_t i = 0; i < c->templates.unit_n; i++) {
		const struct bt_capacity_fill *fill = &c->fills[i];

		bt_emit_begin_object(emit, NULL);
		bt_emit_text(emit, "template", c->templates.units[i].name);
		bt_emit_int(emit, "pods", (int64_t)c->templates.units[i].pod_n);
		bt_emit_label(emit, "pods each");
		bt_emit_int(emit, "fits", (int64_t)fill->fits);
		bt_emit_bool(emit, "limited", fill->limited);
		bt_emit_hide(emit);
		bt_emit_int(emit, "nodes", fill->used_node_n);
		bt_emit_label(emit, "on nodes");
		bt_emit_text(emit, "stops", bt_capacity_stops(fill));
		bt_emit_label(emit, "what stops the next one on most nodes");
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static struct bt_str node_name(const struct bt_capacity_run *c, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(c->cluster.engine);

	return bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
}

static void add_refusal(
	const struct bt_capacity_run *c, struct bt_emit *emit, size_t unit, const struct bt_refusal_row *row)
{
	bt_emit_begin_object(emit, NULL);
	bt_emit_text(emit, "template", c->templates.units[unit].name);
	bt_emit_str(emit, "pod", c->fills[unit].stops_at);
	bt_emit_hide(emit);
	bt_emit_int(emit, "nodes", (int64_t)row->node_n);
	bt_emit_text(emit, "plugin", row->plugin);
	bt_emit_text(emit, "reason", row->text);
	bt_emit_str(emit, "nearest_node",
		row->nearest_ix == BT_NO_NODE ? (struct bt_str){0} : node_name(c, row->nearest_ix));
	bt_emit_label(emit, "nearest node");
	bt_emit_text(emit, "lacks", row->lack_text ? row->lack_text : "");
	bt_emit_end(emit);
}

/* The nodes of each template sum to all nodes. */
static void add_refusals(const struct bt_capacity_run *c, struct bt_emit *emit)
{
	bt_emit_begin_array(emit, "refusals");
	bt_emit_label(emit, "What stops the next copy");
	for (size_t i = 0; i < c->templates.unit_n; i++) {
		for (size_t r = 0; r < c->fills[i].refusals.n; r++) {
			add_refusal(c, emit, i, &c->fills[i].refusals.items[r]);
		}
	}
	bt_emit_end(emit);
}

/* Nodes that agree in a label. */
struct place {
	struct bt_str value;
	uint64_t node_n, pod_n;
};

static int by_value(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return bt_str_cmp(x->value, y->value);
}

/* Groups the live nodes by their name (label NULL) or the value of a label; those without it have an empty
 * one. */
static size_t group_nodes(const struct bt_capacity_run *c, const struct bt_capacity_fill *fill,
	const char *label, struct place *out)
{
	const struct bt_cache *cache = bt_engine_cache(c->cluster.engine);
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	uint32_t key = label ? bt_intern_find(cache->dictionary->intern, bt_str(label)) : BT_NAME_NONE;
	size_t n = 0, groups = 0;

	for (uint32_t i = 0; i < snapshot->slot_n && i < fill->slot_n; i++) {
		if (!bt_bitmap_test(snapshot->live, i)) {
			continue;
		}
		uint32_t value = !label		       ? snapshot->nodes[i].name
				 : key == BT_NAME_NONE ? BT_NAME_NONE
						       : bt_labels_get(snapshot->nodes[i].labels, key);
		out[n++] = (struct place){
			bt_intern_str(cache->dictionary->intern, value), 1, fill->pods_by_node[i]};
	}
	if (n) {
		qsort(out, n, sizeof(*out), by_value);
	}
	for (size_t i = 0; i < n; i++) {
		if (groups && bt_str_eq(out[groups - 1].value, out[i].value)) {
			out[groups - 1].node_n += out[i].node_n;
			out[groups - 1].pod_n += out[i].pod_n;
		} else {
			out[groups++] = out[i];
		}
	}
	return groups;
}

static void add_places_by(const struct bt_capacity_run *c, struct bt_emit *emit, const char *by)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(c->cluster.engine)->view.snapshot;
	struct place *places = bt_mem_zalloc(snapshot->slot_n + 1, sizeof(*places));
	bool nodes = strcmp(by, "node") == 0;
	const char *label = strcmp(by, "zone") == 0 ? "topology.kubernetes.io/zone" : by;

	for (size_t i = 0; i < c->templates.unit_n; i++) {
		size_t n = group_nodes(c, &c->fills[i], nodes ? NULL : label, places);

		for (size_t p = 0; p < n; p++) {
			if (nodes && places[p].pod_n == 0) {
				continue;
			}
			bt_emit_begin_object(emit, NULL);
			bt_emit_text(emit, "template", c->templates.units[i].name);
			bt_emit_text(emit, "by", by);
			bt_emit_str(emit, "value", places[p].value);
			bt_emit_int(emit, "nodes", (int64_t)places[p].node_n);
			bt_emit_int(emit, "pods", (int64_t)places[p].pod_n);
			bt_emit_end(emit);
		}
	}
	bt_mem_free(places);
}

static void add_places(const struct bt_capacity_run *c, struct bt_emit *emit)
{
	const char *by;

	if (!bt_invocation_item(c->invocation, "by", 0)) {
		return;
	}
	bt_emit_begin_array(emit, "places");
	bt_emit_label(emit, "Where the copies' pods are");
	for (size_t i = 0; (by = bt_invocation_item(c->invocation, "by", i)); i++) {
		add_places_by(c, emit, by);
	}
	bt_emit_end(emit);
}

/* What is free with the copies, and no copy can use. */
static void add_stranded(const struct bt_capacity_run *c, struct bt_emit *emit)
{
	bt_emit_begin_array(emit, "stranded");
	bt_emit_label(emit, "Free with the copies in place");
	for (size_t i = 0; i < c->templates.unit_n; i++) {
		const struct bt_cluster_utilization *full = &c->fills[i].full;

		for (size_t r = 0; r < full->resource_n && !c->fills[i].limited; r++) {
			const struct bt_utilization *use = &full->resources[r];
			struct bt_buf text = {0};

			if (use->allocatable <= 0) {
				continue;
			}
			bt_amount_text(use->name, use->allocatable - use->used, &text);
			bt_emit_begin_object(emit, NULL);
			bt_emit_text(emit, "template", c->templates.units[i].name);
			bt_emit_str(emit, "resource", use->name);
			bt_emit_str(emit, "free", bt_buf_view(&text));
			bt_emit_real(emit, "free_percent",
				100 * (use->allocatable - use->used) / use->allocatable, 1);
			bt_emit_label(emit, "% of allocatable");
			bt_emit_end(emit);
			bt_buf_fini(&text);
		}
	}
	bt_emit_end(emit);
}

static struct bt_emit *report_of(const struct bt_capacity_run *c)
{
	struct bt_emit *emit = bt_emit_create();

	bt_emit_text(emit, "schema", BT_CAPACITY_SCHEMA);
	bt_emit_hide(emit);
	bt_emit_str(emit, "source", bt_buf_view(&c->cluster.source));
	bt_emit_count(emit, "nodes", "nodes", c->cluster.intake.counts.nodes);
	bt_emit_count(emit, "pods_on_nodes", "pods on nodes", c->cluster.intake.counts.scheduled);
	bt_emit_count(emit, "pods_placed_first", "pending pods placed first", c->cluster.placed_n);
	add_capacity(c, emit);
	add_refusals(c, emit);
	add_places(c, emit);
	add_stranded(c, emit);
	return emit;
}

/* Returns BT_EXIT_NO when fewer than --at-least copies of a template fit. */
static int verdict(const struct bt_capacity_run *c)
{
	uint64_t least = bt_invocation_number(c->invocation, "at-least");

	for (size_t i = 0; i < c->templates.unit_n; i++) {
		if (c->fills[i].fits < least) {
			return BT_EXIT_NO;
		}
	}
	return BT_EXIT_OK;
}

static int report(const struct bt_capacity_run *c)
{
	struct bt_emit *emit = report_of(c);

	int status = bt_print_report(emit, c->invocation);

	return status == BT_EXIT_OK ? verdict(c) : status;
}

int bt_cmd_capacity(struct bt_invocation *invocation)
{
	struct bt_capacity_run c = {.invocation = invocation};

	if (!bt_invocation_item(invocation, "pod", 0)) {
		return bt_invocation_wrong(
			invocation->command, "nothing to add; give --pod a file with a pod or a workload");
	}
	if (bt_invocation_number(invocation, "at-least") > bt_invocation_number(invocation, "limit")) {
		return bt_invocation_wrong(invocation->command, "--at-least is above --limit; raise --limit");
	}
	if (bt_invocation_item(invocation, "cluster", 0)) {
		return bt_capacity_rank(invocation);
	}
	int status = bt_capacity_measure(&c);
	if (status == BT_EXIT_OK) {
		status = report(&c);
	}
	bt_capacity_fini(&c);
	return status;
}
