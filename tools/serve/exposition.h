/* SPDX-License-Identifier: Apache-2.0
 * Metrics in Prometheus' text format, version 0.0.4: a family (HELP, TYPE), then its samples.
 * Context: one thread; allocates.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/model/object.h"

enum bt_metric_type { BT_METRIC_COUNTER = 0, BT_METRIC_GAUGE, BT_METRIC_HISTOGRAM };

/* owner: private, but for what bt_exposition_begin is given */
struct bt_exposition {
	struct bt_buf *out;
	const struct bt_str_list *disabled; /* names of families that are left out; or NULL */
	const char *name;
	bool skips;
	struct bt_buf labels;
};

/* A histogram's buckets: le and how many values are at most that, not counting what comes behind. */
struct bt_metric_buckets {
	const double *bounds;
	const uint64_t *counts; /* of each bucket alone; counts[n]: beyond the last bound */
	uint32_t n;
	double sum;
};

void bt_exposition_begin(
	struct bt_exposition *exposition, const struct bt_str_list *disabled, struct bt_buf *out);
void bt_exposition_end(struct bt_exposition *exposition);

/* Begins a family. name and help are constants. */
void bt_expose(
	struct bt_exposition *exposition, const char *name, enum bt_metric_type type, const char *help);

/* A label of the sample that comes next. */
void bt_expose_label(struct bt_exposition *exposition, const char *label, struct bt_str value);

/* A sample, with the labels since the last one. */
void bt_expose_count(struct bt_exposition *exposition, uint64_t value);
void bt_expose_real(struct bt_exposition *exposition, double value);
void bt_expose_buckets(struct bt_exposition *exposition, const struct bt_metric_buckets *buckets);

/* A family of one sample without labels. */
void bt_expose_counter(struct bt_exposition *exposition, const char *name, const char *help, uint64_t value);
void bt_expose_gauge(struct bt_exposition *exposition, const char *name, const char *help, double value);
