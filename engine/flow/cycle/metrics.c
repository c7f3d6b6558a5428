/* SPDX-License-Identifier: Apache-2.0
 * Series of durations.
 */
#include "engine/flow/cycle/metrics.h"

#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"

/* Exponential buckets, and the number of series. Source: ExponentialBuckets of pkg/scheduler/metrics. */
static const struct {
	double start_s, factor;
	uint32_t n, cap;
} shapes[BT_CYCLE_METRIC_N] = {
	[BT_CYCLE_METRIC_POINT] = {1e-4, 2, 12, 256},
	[BT_CYCLE_METRIC_PLUGIN] = {1e-5, 1.5, 20, 64},
	[BT_CYCLE_METRIC_HINT] = {1e-5, 1.5, 20, 1024},
	[BT_CYCLE_METRIC_EVENT] = {1e-4, 2, 12, 256},
	[BT_CYCLE_METRIC_EVICTING] = {1e-2, 2, 20, 4},
	[BT_CYCLE_METRIC_GROUP] = {1e-3, 2, 15, 256},
	[BT_CYCLE_METRIC_GROUP_DECIDING] = {1e-3, 2, 15, 4},
	[BT_CYCLE_METRIC_GROUP_PREEMPTING] = {1e-3, 2, 16, 8},
	[BT_CYCLE_METRIC_GROUP_VICTIMS] = {1, 2, 11, 4},
	[BT_CYCLE_METRIC_GROUP_DISRUPTIONS] = {1, 2, 11, 8},
	[BT_CYCLE_METRIC_EVALUATING] = {1e-3, 2, 16, 32},
	[BT_CYCLE_METRIC_EXECUTING] = {1e-3, 2, 16, 16},
	[BT_CYCLE_METRIC_VIOLATIONS] = {1, 2, 11, 8},
	[BT_CYCLE_METRIC_PLACEMENT] = {1e-3, 2, 15, 4},
	[BT_CYCLE_METRIC_PLACEMENTS] = {1e-3, 2, 15, 4},
	[BT_CYCLE_METRIC_PERMIT_WAIT] = {1e-3, 2, 15, 4},
};

struct bt_cycle_metrics *bt_cycle_metrics_create(void)
{
	struct bt_cycle_metrics *metrics = bt_mem_zalloc(1, sizeof(*metrics));

	metrics->event_label = UINT32_MAX;
	for (int i = 0; i < BT_CYCLE_METRIC_N; i++) {
		struct bt_cycle_metric_table *table = &metrics->tables[i];

		table->cap = shapes[i].cap;
		table->series = bt_mem_zalloc(table->cap, sizeof(*table->series));
	}
	return metrics;
}

void bt_cycle_metrics_destroy(struct bt_cycle_metrics *metrics)
{
	for (int i = 0; metrics && i < BT_CYCLE_METRIC_N; i++) {
		bt_mem_free(metrics->tables[i].series);
	}
	bt_mem_free(metrics);
}

uint32_t bt_cycle_metric_bounds(enum bt_cycle_metric metric, double out_seconds[BT_CYCLE_METRIC_BOUNDS])
{
	double bound_s = shapes[metric].start_s;

	for (uint32_t i = 0; i < shapes[metric].n; i++) {
		out_seconds[i] = bound_s;
		bound_s *= shapes[metric].factor;
	}
	return shapes[metric].n;
}

/* The series with those labels, created if new; NULL: no room. */
static struct bt_series *series_of(struct bt_cycle_metric_table *table, const uint16_t labels[4])
{
	uint64_t key;

	memcpy(&key, labels, sizeof(key));
	for (uint32_t i = (uint32_t)bt_hash_u64(key);; i++) {
		struct bt_series *series = &table->series[i & (table->cap - 1)];

		if (series->n && memcmp(series->labels, labels, sizeof(series->labels)) == 0) {
			return series;
		}
		if (series->n == 0) {
			if (table->n >= table->cap / 2) {
				return NULL;
			}
			table->n++;
			memcpy(series->labels, labels, sizeof(series->labels));
			return series;
		}
	}
}

void bt_cycle_metrics_note(struct bt_cycle_metrics *metrics, enum bt_cycle_metric metric,
	const uint16_t labels[4], int64_t took_ns)
{
	struct bt_cycle_metric_table *table = &metrics->tables[metric];
	struct bt_series *series = series_of(table, labels);
	double bound_s = shapes[metric].start_s, took_s = (double)took_ns / 1e9;
	uint32_t i = 0;

	if (!series) {
		table->lost_n++;
		return;
	}
	while (i < shapes[metric].n && took_s > bound_s) {
		bound_s *= shapes[metric].factor;
		i++;
	}
	series->counts[i]++;
	series->sum_ns += took_ns;
	series->n++;
}

void bt_cycle_metrics_decided(struct bt_cycle_metrics *metrics, int64_t took_ns)
{
	metrics->took_ns = took_ns;
}

void bt_cycle_metrics_note_event(struct bt_cycle_metrics *metrics, uint32_t label)
{
	metrics->event_label = label;
}

uint32_t bt_cycle_metrics_take_event(struct bt_cycle_metrics *metrics)
{
	uint32_t label = metrics->event_label;

	metrics->event_label = UINT32_MAX;
	return label;
}

bool bt_cycle_metrics_samples_hint(struct bt_cycle_metrics *metrics)
{
	return metrics->hint_n++ % BT_CYCLE_METRIC_HINTS == 0;
}

int64_t bt_cycle_metrics_took_ns(const struct bt_cycle_metrics *metrics)
{
	return metrics->took_ns;
}
