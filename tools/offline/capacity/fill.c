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
	uint64_t number, part_number; /* of the next pod and part */
	uint32_t *members;	      /* of a part with groups */
	size_t member_n, member_cap;
};

/* The name of a copy's group. A dot at the end is no valid name, so that no object of the cluster has it. */
static struct bt_str name_group(const struct filling *f, struct bt_str name, struct bt_buf *text)
{
	bt_buf_clear(text);
	bt_buf_printf(text, "capacity-%llu-%.*s.", (unsigned long long)f->part_number, BT_STR_ARG(name));
	return bt_buf_view(text);
}

static uint32_t add_pod(struct filling *f, const struct bt_pod_object *template, bool grouped)
{
	struct bt_pod_object pod = *template;
	struct bt_buf group = {0};
	char name[64], uid[64];
	uint32_t pod_ix;
	int n = snprintf(name, sizeof(name), "capacity-%llu.", (unsigned long long)f->number);
	int m = snprintf(uid, sizeof(uid), "capacity-uid-%llu", (unsigned long long)f->number++);

	pod.meta.name = (struct bt_str){name, (size_t)n};
	pod.meta.uid = (struct bt_str){uid, (size_t)m};
	if (grouped) {
		pod.spec.pod_group = name_group(f, pod.spec.pod_group, &group);
	}
	(void)bt_transaction_add_pod(f->cluster->engine, &pod, &pod_ix);
	bt_buf_fini(&group);
	BT_REQUIRE(pod_ix != BT_NO_POD);
	return pod_ix;
}

static void keep(struct filling *f, uint32_t pod_ix)
{
	f->pods = bt_mem_grow(f->pods, f->pod_n, &f->pod_cap, sizeof(*f->pods));
	f->pods[f->pod_n++] = pod_ix;
}

/* A pod of the copy has no node: reads why. */
static void note_refusal(struct filling *f, const struct bt_pod_object *pod, uint32_t pod_ix)
{
	f->out->stops_at = pod->meta.name;
	bt_refusal_rows_collect(f->cluster->engine, pod_ix, &f->out->refusals);
}

static bool add_pods(struct filling *f, const struct bt_capacity_part *part)
{
	for (size_t i = 0; i < part->pod_n; i++) {
		uint32_t node_ix, pod_ix = add_pod(f, &part->pods[i], false);

		if (bt_transaction_place(f->cluster->engine, pod_ix, &node_ix) != BT_PLACED) {
			note_refusal(f, &part->pods[i], pod_ix);
			return false;
		}
		keep(f, pod_ix);
	}
	return true;
}

/* ---- gangs ---- */

static void add_groups(struct filling *f, const struct bt_capacity_part *part)
{
	struct bt_buf name = {0}, parent = {0};

	for (size_t i = 0; i < part->group_n; i++) {
		struct bt_object group = part->groups[i];

		group.pod_group.meta.name = name_group(f, group.pod_group.meta.name, &name);
		if (group.pod_group.parent.len) {
			group.pod_group.parent = name_group(f, group.pod_group.parent, &parent);
		}
		enum bt_status status = bt_transaction_add_group(f->cluster->engine, &group);
		BT_REQUIRE(status == BT_OK);
	}
	bt_buf_fini(&name);
	bt_buf_fini(&parent);
}

static bool has_node(const struct filling *f, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(f->cluster->engine)->ledger, pod_ix)->state == BT_POD_ASSUMED;
}

/* Why a gang does not fit: as many of its pods as can be are placed one by one, and the next one's nodes
 * tell. If each has a node, it is the group that refuses them. */
static void note_gang_refusal(struct filling *f, const struct bt_capacity_part *part, struct bt_str why)
{
	struct bt_engine *engine = f->cluster->engine;
	uint32_t node_ix;

	for (size_t i = 0; i < f->member_n; i++) {
		if (!has_node(f, f->members[i]) &&
			bt_transaction_place(engine, f->members[i], &node_ix) != BT_PLACED) {
			note_refusal(f, &part->pods[i], f->members[i]);
			return;
		}
	}
	f->out->stops_at = part->groups[0].meta.name;
	bt_refusal_rows_add(
		&f->out->refusals, "PodGroup", why, bt_engine_cache(engine)->view.snapshot->node_n);
}

static bool add_gang(struct filling *f, const struct bt_capacity_part *part)
{
	struct bt_buf why = {0};

	add_groups(f, part);
	f->member_n = 0;
	for (size_t i = 0; i < part->pod_n; i++) {
		f->members = bt_mem_grow(f->members, f->member_n, &f->member_cap, sizeof(*f->members));
		f->members[f->member_n] = add_pod(f, &part->pods[i], true);
		f->member_n++;
	}
	enum bt_outcome outcome =
		bt_transaction_place_group(f->cluster->engine, f->members, (uint32_t)f->member_n, &why);
	bool whole = outcome == BT_PLACED;
	for (size_t i = 0; whole && i < f->member_n; i++) {
		whole = has_node(f, f->members[i]);
	}
	if (whole) {
		for (size_t i = 0; i < f->member_n; i++) {
			keep(f, f->members[i]);
		}
	} else {
		if (outcome == BT_PLACED) {
			bt_buf_text(&why, "its placement has no room for all of its pods");
		}
		note_gang_refusal(f, part, bt_buf_view(&why));
	}
	bt_buf_fini(&why);
	return whole;
}

/* Adds a copy; of one that does not fit as a whole nothing stays. */
static bool add_copy(struct filling *f)
{
	struct bt_engine *engine = f->cluster->engine;
	size_t before = f->pod_n;
	bool fits = true;

	bt_transaction_begin(engine);
	for (size_t i = 0; fits && i < f->unit->part_n; i++) {
		const struct bt_capacity_part *part = &f->unit->parts[i];

		fits = part->group_n ? add_gang(f, part) : add_pods(f, part);
		f->part_number++;
	}
	if (fits) {
		bt_transaction_commit(engine, NULL);
	} else {
		bt_transaction_roll_back(engine);
		f->pod_n = before;
	}
	return fits;
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
	bt_mem_free(f.members);
	return bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : BT_EXIT_OK;
}

void bt_capacity_fill_fini(struct bt_capacity_fill *fill)
{
	bt_mem_free(fill->pods_by_node);
	bt_refusal_rows_fini(&fill->refusals);
	bt_utilization_fini(&fill->full);
}
