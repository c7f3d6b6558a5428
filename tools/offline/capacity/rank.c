/* SPDX-License-Identifier: Apache-2.0
 * Which of several clusters takes the copies: one cluster is loaded at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/cli/emit.h"
#include "tools/cli/message.h"
#include "tools/cli/print.h"
#include "tools/offline/capacity/capacity_int.h"

/* A cluster of the command line. */
struct named_cluster {
	struct bt_str name;
	const char **paths;
	size_t path_n, path_cap;
	bool takes_all; /* every template, --at-least times */
};

/* A template on a cluster. */
struct ranked_row {
	char *template_name, *stops;
	size_t unit, cluster; /* their places */
	uint64_t pod_n, fits, node_n;
	uint32_t used_node_n;
	bool limited, takes;
};

struct ranking {
	struct bt_invocation *invocation;
	struct named_cluster *clusters; /* as given */
	struct ranked_row *rows;
	size_t cluster_n, cluster_cap, row_n, row_cap;
};

static struct named_cluster *find_cluster(struct ranking *r, struct bt_str name)
{
	for (size_t i = 0; i < r->cluster_n; i++) {
		if (bt_str_eq(r->clusters[i].name, name)) {
			return &r->clusters[i];
		}
	}
	r->clusters = bt_mem_grow(r->clusters, r->cluster_n, &r->cluster_cap, sizeof(*r->clusters));
	r->clusters[r->cluster_n] = (struct named_cluster){.name = name, .takes_all = true};
	return &r->clusters[r->cluster_n++];
}

static void add_path(struct named_cluster *cluster, const char *path)
{
	cluster->paths =
		bt_mem_grow(cluster->paths, cluster->path_n, &cluster->path_cap, sizeof(*cluster->paths));
	cluster->paths[cluster->path_n++] = path;
}

static int read_clusters(struct ranking *r)
{
	const struct bt_command *command = r->invocation->command;
	const char *text;
	int standard_n = 0;

	for (size_t i = 0; (text = bt_invocation_item(r->invocation, "cluster", i)); i++) {
		const char *equals = strchr(text, '=');

		if (!equals || equals == text || !equals[1]) {
			return bt_invocation_wrong(
				command, "--cluster is NAME=PATH, such as east=east.json, not '%s'", text);
		}
		add_path(find_cluster(r, (struct bt_str){text, (size_t)(equals - text)}), equals + 1);
		standard_n += strcmp(equals + 1, "-") == 0;
	}
	if (bt_invocation_input(r->invocation, 0)) {
		return bt_invocation_wrong(command,
			"'%s' has no name, and is not ranked with those of --cluster; give --cluster "
			"NAME=PATH",
			bt_invocation_input(r->invocation, 0));
	}
	if (bt_invocation_item(r->invocation, "by", 0)) {
		return bt_invocation_wrong(command, "--by is for one cluster; leave it out");
	}
	for (size_t i = 0; (text = bt_invocation_item(r->invocation, "pod", i)); i++) {
		standard_n += strcmp(text, "-") == 0 ? 2 : 0; /* each cluster needs it */
	}
	text = bt_invocation_text(r->invocation, "config");
	standard_n += text && strcmp(text, "-") == 0 ? 2 : 0;
	return standard_n > 1 ? bt_invocation_wrong(command,
					"standard input can be read only once; give files instead of -")
			      : BT_EXIT_OK;
}

static void keep_result(
	struct ranking *r, const struct bt_capacity_run *capacity, size_t cluster, size_t unit)
{
	const struct bt_capacity_fill *fill = &capacity->fills[unit];
	const struct bt_capacity_unit *template_ = &capacity->templates.units[unit];
	uint64_t least = bt_invocation_number(r->invocation, "at-least");
	const char *stops = bt_capacity_stops(fill);

	r->rows = bt_mem_grow(r->rows, r->row_n, &r->row_cap, sizeof(*r->rows));
	struct ranked_row *row = &r->rows[r->row_n++];
	*row = (struct ranked_row){.template_name = bt_mem_copy(template_->name, strlen(template_->name)),
		.stops = bt_mem_copy(stops, strlen(stops)),
		.unit = unit,
		.cluster = cluster,
		.pod_n = template_->pod_n,
		.fits = fill->fits,
		.node_n = capacity->cluster.intake.counts.nodes,
		.used_node_n = fill->used_node_n,
		.limited = fill->limited,
		.takes = fill->fits >= (least ? least : 1)};
	r->clusters[cluster].takes_all &= row->takes;
}

static int measure_cluster(struct ranking *r, size_t ix)
{
	const struct named_cluster *cluster = &r->clusters[ix];
	struct bt_capacity_run capacity = {.invocation = r->invocation,
		.cluster = {.paths = cluster->paths, .path_n = cluster->path_n, .is_another = ix > 0}};
	int status = bt_capacity_measure(&capacity);

	for (size_t i = 0; status == BT_EXIT_OK && i < capacity.templates.unit_n; i++) {
		keep_result(r, &capacity, ix, i);
	}
	if (status == BT_EXIT_INPUT) {
		bt_message("berth capacity: cluster %.*s is not usable, so none is ranked\n",
			BT_STR_ARG(cluster->name));
	}
	bt_capacity_fini(&capacity);
	return status;
}

static int by_rank(const void *a, const void *b)
{
	const struct ranked_row *x = a, *y = b;

	if (x->unit != y->unit) {
		return x->unit < y->unit ? -1 : 1;
	}
	if (x->fits != y->fits) {
		return x->fits > y->fits ? -1 : 1;
	}
	return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static void add_row(const struct ranking *r, struct bt_emit *emit, const struct ranked_row *row, int64_t rank)
{
	bt_emit_begin_object(emit, NULL);
	bt_emit_text(emit, "template", row->template_name);
	bt_emit_int(emit, "rank", rank);
	bt_emit_str(emit, "cluster", r->clusters[row->cluster].name);
	bt_emit_bool(emit, "takes", row->takes);
	bt_emit_label(emit, "takes it");
	bt_emit_int(emit, "pods", (int64_t)row->pod_n);
	bt_emit_label(emit, "pods each");
	bt_emit_int(emit, "fits", (int64_t)row->fits);
	bt_emit_bool(emit, "limited", row->limited);
	bt_emit_hide(emit);
	bt_emit_int(emit, "nodes", row->used_node_n);
	bt_emit_label(emit, "on nodes");
	bt_emit_int(emit, "of_nodes", (int64_t)row->node_n);
	bt_emit_label(emit, "of nodes");
	bt_emit_text(emit, "stops", row->stops);
	bt_emit_label(emit, "what stops the next one on most nodes");
	bt_emit_end(emit);
}

static int report_ranking(const struct ranking *r)
{
	struct bt_emit *emit = bt_emit_create();
	int64_t rank = 0;

	bt_emit_text(emit, "schema", BT_CAPACITY_SCHEMA);
	bt_emit_hide(emit);
	bt_emit_count(emit, "clusters", "clusters", r->cluster_n);
	bt_emit_begin_array(emit, "capacity");
	bt_emit_label(emit, "Copies that fit, by cluster");
	for (size_t i = 0; i < r->row_n; i++) {
		rank = i && r->rows[i].unit == r->rows[i - 1].unit ? rank + 1 : 1;
		add_row(r, emit, &r->rows[i], rank);
	}
	bt_emit_end(emit);
	return bt_print_report(emit, r->invocation);
}

static bool any_takes_all(const struct ranking *r)
{
	for (size_t i = 0; i < r->cluster_n; i++) {
		if (r->clusters[i].takes_all) {
			return true;
		}
	}
	return false;
}

static void ranking_fini(struct ranking *r)
{
	for (size_t i = 0; i < r->cluster_n; i++) {
		bt_mem_free(r->clusters[i].paths);
	}
	for (size_t i = 0; i < r->row_n; i++) {
		bt_mem_free(r->rows[i].template_name);
		bt_mem_free(r->rows[i].stops);
	}
	bt_mem_free(r->clusters);
	bt_mem_free(r->rows);
}

int bt_capacity_rank(struct bt_invocation *invocation)
{
	struct ranking r = {.invocation = invocation};
	int status = read_clusters(&r);

	for (size_t i = 0; status == BT_EXIT_OK && i < r.cluster_n; i++) {
		status = measure_cluster(&r, i);
	}
	if (status == BT_EXIT_OK) {
		qsort(r.rows, r.row_n, sizeof(*r.rows), by_rank);
		status = report_ranking(&r);
	}
	if (status == BT_EXIT_OK && !any_takes_all(&r)) {
		status = BT_EXIT_NO;
	}
	ranking_fini(&r);
	return status;
}
