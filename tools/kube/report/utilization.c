/* SPDX-License-Identifier: Apache-2.0
 * Utilization of a cluster.
 */
#include "tools/kube/report/utilization.h"

#include <stdlib.h>

#include "engine/base/mem.h"

#define FULL_SHARE 0.99

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The index of a percentile in n sorted values (nearest rank). */
static uint64_t rank(uint64_t n, uint64_t percent)
{
	return (n * percent + 99) / 100 - 1;
}

/* Measures one resource; shares is scratch for all slots. */
static struct bt_utilization measure(
	const struct bt_snapshot *snapshot, struct bt_cells alloc, struct bt_cells used, double *shares)
{
	struct bt_utilization u = {0};
	double sum = 0;

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		int64_t all = bt_cell(alloc, i);

		if (!bt_bitmap_test(snapshot->live, i) || all <= 0) {
			continue;
		}
		double use = (double)bt_cell(used, i);

		u.used += use;
		u.allocatable += (double)all;
		shares[u.node_n] = use / (double)all;
		sum += shares[u.node_n++];
	}
	if (u.node_n) {
		qsort(shares, u.node_n, sizeof(*shares), by_value);
		u.mean = sum / (double)u.node_n;
		u.p50 = shares[rank(u.node_n, 50)];
		u.p99 = shares[rank(u.node_n, 99)];
		u.highest = shares[u.node_n - 1];
	}
	return u;
}

static void measure_resources(const struct bt_cache *cache, struct bt_cluster_utilization *out)
{
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	const struct bt_usage *usage = cache->view.usage;
	int count = bt_resource_count(cache->dictionary);
	int resource_n = count < BT_FIRST_RARE ? count : BT_FIRST_RARE;
	double *shares = bt_mem_zalloc(snapshot->slot_n, sizeof(*shares));

	out->resources = bt_mem_zalloc((size_t)resource_n + 1, sizeof(*out->resources));
	for (int slot = 0; slot < resource_n; slot++) {
		struct bt_utilization u = measure(snapshot, bt_alloc_cells(snapshot, (uint32_t)slot),
			bt_used_cells(usage, (uint32_t)slot), shares);
		u.name = bt_resource_name(cache->dictionary, (uint32_t)slot);
		u.slot = (uint32_t)slot;
		if (u.node_n) {
			out->resources[out->resource_n++] = u;
		}
	}
	if (snapshot->node_n) {
		struct bt_utilization u =
			measure(snapshot, bt_room_cells(snapshot), bt_pod_cells(usage), shares);
		u.name = bt_str("pods");
		u.slot = BT_FIRST_RARE;
		out->resources[out->resource_n++] = u;
	}
	bt_mem_free(shares);
}

static int by_name(const void *a, const void *b)
{
	const struct bt_zone_utilization *x = a, *y = b;

	return bt_str_cmp(x->name, y->name);
}

static struct bt_zone_utilization *zone_of(
	struct bt_cluster_utilization *out, size_t *cap, struct bt_str name)
{
	for (size_t z = 0; z < out->zone_n; z++) {
		if (bt_str_eq(out->zones[z].name, name)) {
			return &out->zones[z];
		}
	}
	out->zones = bt_mem_grow(out->zones, out->zone_n, cap, sizeof(*out->zones));
	out->zones[out->zone_n] = (struct bt_zone_utilization){.name = name};
	return &out->zones[out->zone_n++];
}

static void measure_zones(const struct bt_cache *cache, struct bt_cluster_utilization *out)
{
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	const struct bt_usage *usage = cache->view.usage;
	size_t cap = 0;

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		if (!bt_bitmap_test(snapshot->live, i)) {
			continue;
		}
		uint32_t name = bt_labels_get(snapshot->nodes[i].labels, BT_NAME_ZONE);
		struct bt_zone_utilization *zone =
			zone_of(out, &cap, bt_intern_str(cache->dictionary->intern, name));

		zone->node_n++;
		zone->pod_n += (uint64_t)usage->nodes[i].pod_n;
		zone->cpu_used += (double)bt_node_used(usage, BT_CPU, i);
		zone->cpu += (double)bt_node_alloc(snapshot, BT_CPU, i);
		zone->memory_used += (double)bt_node_used(usage, BT_MEMORY, i);
		zone->memory += (double)bt_node_alloc(snapshot, BT_MEMORY, i);
	}
	if (out->zone_n) {
		qsort(out->zones, out->zone_n, sizeof(*out->zones), by_name);
	}
}

static bool used_up(int64_t all, int64_t used)
{
	return all > 0 && (double)used > FULL_SHARE * (double)all;
}

static void count_extremes(const struct bt_cache *cache, struct bt_cluster_utilization *out)
{
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	const struct bt_usage *usage = cache->view.usage;

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		if (!bt_bitmap_test(snapshot->live, i)) {
			continue;
		}
		out->empty_node_n += usage->nodes[i].pod_n == 0;
		out->full_node_n +=
			used_up(snapshot->rooms[i].pods, usage->nodes[i].pod_n) ||
			used_up(bt_node_alloc(snapshot, BT_CPU, i), bt_node_used(usage, BT_CPU, i)) ||
			used_up(bt_node_alloc(snapshot, BT_MEMORY, i), bt_node_used(usage, BT_MEMORY, i));
	}
}

void bt_utilization_measure(const struct bt_cache *cache, struct bt_cluster_utilization *out)
{
	*out = (struct bt_cluster_utilization){0};
	measure_resources(cache, out);
	measure_zones(cache, out);
	count_extremes(cache, out);
}

void bt_utilization_fini(struct bt_cluster_utilization *utilization)
{
	bt_mem_free(utilization->resources);
	bt_mem_free(utilization->zones);
}

static double free_on(const struct bt_cache *cache, uint32_t slot, uint32_t node_ix)
{
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	double left = (double)bt_node_alloc(snapshot, slot, node_ix) -
		      (double)bt_node_used(cache->view.usage, slot, node_ix);

	return bt_bitmap_test(snapshot->live, node_ix) && left > 0 ? left : 0;
}

/* Does any of the nodes have room for one more pod? */
static bool has_room(const struct bt_cache *cache, const uint32_t *nodes, uint32_t n)
{
	const struct bt_snapshot *snapshot = cache->view.snapshot;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t ix = nodes ? nodes[i] : i;

		if (bt_bitmap_test(snapshot->live, ix) &&
			cache->view.usage->nodes[ix].pod_n < snapshot->rooms[ix].pods) {
			return true;
		}
	}
	return false;
}

bool bt_utilization_sum_fits(const struct bt_cache *cache, const struct bt_signature *signature,
	const uint32_t *nodes, uint32_t node_n)
{
	struct bt_amounts fit = signature->requests.fit;
	uint32_t n = nodes ? node_n : cache->view.snapshot->slot_n;

	if (!has_room(cache, nodes, n)) {
		return false;
	}

	for (uint32_t r = 0; r < fit.n; r++) {
		uint32_t slot = fit.items[r].slot;
		double available = 0;

		for (uint32_t i = 0; i < n; i++) {
			available += free_on(cache, slot, nodes ? nodes[i] : i);
		}
		if ((double)fit.items[r].amount > available) {
			return false;
		}
	}
	return true;
}

static bool is_in_bytes(struct bt_str resource)
{
	return bt_str_is(resource, "memory") || bt_str_is(resource, "ephemeral-storage") ||
	       bt_str_starts(resource, "hugepages-");
}

void bt_amount_text(struct bt_str resource, double amount, struct bt_buf *out)
{
	static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	size_t unit = 0;

	if (!is_in_bytes(resource)) {
		double number = bt_str_is(resource, "cpu") ? amount / 1000 : amount;

		/* At most three decimals, without trailing zeroes. */
		bt_buf_printf(out, "%.3f", number);
		while (out->ptr[out->len - 1] == '0') {
			out->len--;
		}
		out->len -= out->ptr[out->len - 1] == '.';
		out->ptr[out->len] = '\0';
		return;
	}
	while ((amount >= 1024 || amount <= -1024) && unit + 1 < sizeof(units) / sizeof(units[0])) {
		amount /= 1024;
		unit++;
	}
	bt_buf_printf(out, "%.4g%s", amount, units[unit]);
}
