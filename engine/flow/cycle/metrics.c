/* SPDX-License-Identifier: Apache-2.0
 * Series of durations.
 */
#include "engine/flow/cycle/metrics.h"

#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"

/* Buckets that grow by a factor, and room for series. Source: ExponentialBuckets of pkg/scheduler/metrics. */
static const struct {
	double start_s, factor;
	uint32_t n, cap;
} shapes[BT_MEASURE_N] = {
	[BT_MEASURE_POINT] = {1e-4, 2, 12, 256},
	[BT_MEASURE_PLUGIN] = {1e-5, 1.5, 20, 64},
	[BT_MEASURE_HINT] = {1e-5, 1.5, 20, 1024},
	[BT_MEASURE_EVENT] = {1e-4, 2, 12, 256},
	[BT_MEASURE_EVICTING] = {1e-2, 2, 20, 4},
	[BT_MEASURE_GROUP] = {1e-3, 2, 15, 256},
	[BT_MEASURE_GROUP_DECIDING] = {1e-3, 2, 15, 4},
};

struct bt_cycle_metrics *bt_cycle_metrics_create(void)
{
	struct bt_cycle_metrics *measures = bt_mem_zalloc(1, sizeof(*measures));

	measures->event_label = UINT32_MAX;
	for (int i = 0; i < BT_MEASURE_N; i++) {
		struct bt_measure_table *table = &measures->tables[i];

		table->cap = shapes[i].cap;
		table->series = bt_mem_zalloc(table->cap, sizeof(*table->series));
	}
	return measures;
}

void bt_cycle_metrics_destroy(struct bt_cycle_metrics *measures)
{
	for (int i = 0; measures && i < BT_MEASURE_N; i++) {
		bt_mem_free(measures->tables[i].series);
	}
	bt_mem_free(measures);
}

uint32_t bt_measure_bounds(enum bt_measure measure, double out_seconds[BT_MEASURE_BOUNDS])
{
	double bound_s = shapes[measure].start_s;

	for (uint32_t i = 0; i < shapes[measure].n; i++) {
		out_seconds[i] = bound_s;
		bound_s *= shapes[measure].factor;
	}
	return shapes[measure].n;
}

/* The series with those labels, begun now if it is new; NULL: there is no room. */
static struct bt_series *series_of(struct bt_measure_table *table, const uint16_t labels[4])
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

void bt_cycle_metrics_note(
	struct bt_cycle_metrics *measures, enum bt_measure measure, const uint16_t labels[4], int64_t took_ns)
{
	struct bt_measure_table *table = &measures->tables[measure];
	struct bt_series *series = series_of(table, labels);
	double bound_s = shapes[measure].start_s, took_s = (double)took_ns / 1e9;
	uint32_t i = 0;

	if (!series) {
		table->lost_n++;
		return;
	}
	while (i < shapes[measure].n && took_s > bound_s) {
		bound_s *= shapes[measure].factor;
		i++;
	}
	series->counts[i]++;
	series->sum_ns += took_ns;
	series->n++;
}

void bt_cycle_metrics_decided(struct bt_cycle_metrics *measures, int64_t took_ns)
{
	measures->took_ns = took_ns;
}

void bt_cycle_metrics_note_event(struct bt_cycle_metrics *measures, uint32_t label)
{
	measures->event_label = label;
}

uint32_t bt_cycle_metrics_take_event(struct bt_cycle_metrics *measures)
{
	uint32_t label = measures->event_label;

	measures->event_label = UINT32_MAX;
	return label;
}

bool bt_cycle_metrics_samples_hint(struct bt_cycle_metrics *measures)
{
	return measures->hint_n++ % BT_MEASURE_HINTS == 0;
}

int64_t bt_cycle_metrics_took_ns(const struct bt_cycle_metrics *measures)
{
	return measures->took_ns;
}
