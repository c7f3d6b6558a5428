/* SPDX-License-Identifier: Apache-2.0
 * Which metrics are shown, and which values of their labels, as the flags that every component of Kubernetes
 * has say it. Source: component-base's metrics and metrics/api/v1, v0.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/object.h"
#include "engine/model/release.h"

/* The values that a label of a metric may have; another one is shown as "unexpected". */
struct bt_label_allowance {
	struct bt_str metric, label;
	struct bt_str_list values;
};

/* Plain values; texts are those of the flags. All zeroes: everything is shown. */
struct bt_metric_settings {
	struct bt_str_list disabled; /* names, each once */
	struct bt_label_allowance *allowances;
	uint32_t allowance_n;
};

/*
 * What one of the flags says, added to settings; what they hold lies in arena or is the text's.
 * Returns: false with the reason in out_error, in upstream's words as far as it has some.
 */

/* --disabled-metrics: names, separated by commas. */
bool bt_metric_settings_disable(struct bt_metric_settings *settings, struct bt_arena *arena,
	struct bt_str text, struct bt_buf *out_error);

/* --allow-metric-labels: METRIC,LABEL=VALUE,VALUE; several of them in double quotes, separated by commas. A
 * key that was there gets the new values. */
bool bt_metric_settings_allow(struct bt_metric_settings *settings, struct bt_arena *arena, struct bt_str text,
	struct bt_buf *out_error);

/* --allow-metric-labels-manifest: a YAML file, of "METRIC,LABEL": "VALUE,VALUE". */
bool bt_metric_settings_allow_file(struct bt_metric_settings *settings, struct bt_arena *arena,
	const char *path, struct bt_buf *out_error);

/* --show-hidden-metrics-for-version: the minor version before the release. None are hidden for their age, so
 * it changes nothing. */
bool bt_metric_settings_show_hidden(
	const struct bt_release *release, struct bt_str version, struct bt_buf *out_error);

bool bt_metric_is_disabled(const struct bt_metric_settings *settings, const char *metric);

/* Has any label of the metric a list of values? */
bool bt_metric_is_allowanced(const struct bt_metric_settings *settings, const char *metric);

/* May it be shown? */
bool bt_metric_allows(const struct bt_metric_settings *settings, const char *metric, const char *label,
	struct bt_str value);
