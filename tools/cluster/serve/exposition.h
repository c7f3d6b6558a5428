/* SPDX-License-Identifier: Apache-2.0
 * Metrics in Prometheus' text format, version 0.0.4: a family (HELP, TYPE), then its samples.
 * Context: one thread; allocates.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/release.h"
#include "tools/cluster/serve/metric_settings.h"

enum bt_metric_type { BT_METRIC_COUNTER = 0, BT_METRIC_GAUGE, BT_METRIC_HISTOGRAM };

/* A metric's stability level, which precedes its help as "[BETA] ". */
enum bt_stability { BT_STABILITY_ALPHA = 0, BT_STABILITY_BETA, BT_STABILITY_STABLE, BT_STABILITY_N };

/* Families with a stability level: shown and hidden ones; and values of labels that are not allowed. */
struct bt_exposition_counts {
	uint64_t shown[BT_STABILITY_N], hidden_n, unexpected_n;
};

struct bt_held_sample;

/* owner: private, except for the arguments of bt_exposition_begin, and the counts */
struct bt_exposition {
	struct bt_buf *out;
	const struct bt_metric_settings *settings;
	const struct bt_release *release; /* selects helps; NULL: the given ones */
	struct bt_exposition_counts counts;
	const char *name;
	enum bt_metric_type type;
	bool skips;
	struct bt_buf labels;
	uint32_t unexpected; /* number of unexpected values in the labels */
	/* In a family with restricted label values, samples are held back until its end: those with the same
	 * labels become one. */
	bool holds;
	struct bt_arena arena;
	struct bt_held_sample *held, **held_end;
};

/* A histogram's buckets: their upper bounds, and the number of values in each. */
struct bt_metric_buckets {
	const double *bounds;
	const uint64_t *counts; /* per bucket, not cumulative; counts[n]: beyond the last bound */
	uint32_t n;
	double sum;
};

/* settings outlive it; NULL: everything is shown. */
void bt_exposition_begin(
	struct bt_exposition *exposition, const struct bt_metric_settings *settings, struct bt_buf *out);
/* Completes its text and its counts. */
void bt_exposition_end(struct bt_exposition *exposition);

/* Begins a family. name and help are constants; a release may override the help. */
void bt_expose(
	struct bt_exposition *exposition, const char *name, enum bt_metric_type type, const char *help);

/* A label of the next sample. */
void bt_expose_label(struct bt_exposition *exposition, const char *label, struct bt_str value);

/* A sample, with the labels added since the last one. */
void bt_expose_count(struct bt_exposition *exposition, uint64_t value);
void bt_expose_real(struct bt_exposition *exposition, double value);
void bt_expose_buckets(struct bt_exposition *exposition, const struct bt_metric_buckets *buckets);

/* A family of one sample without labels. */
void bt_expose_counter(struct bt_exposition *exposition, const char *name, const char *help, uint64_t value);
void bt_expose_gauge(struct bt_exposition *exposition, const char *name, const char *help, double value);
