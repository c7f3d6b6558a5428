/* SPDX-License-Identifier: Apache-2.0
 * Which metrics are shown, and which values of their labels, by the flags that every component of Kubernetes
 * has. Source: component-base's metrics and metrics/api/v1, v0.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/object.h"
#include "engine/model/release.h"

/* The allowed values of a metric's label; others are shown as "unexpected". */
struct bt_label_allowance {
	struct bt_str metric, label;
	struct bt_str_list values;
};

/* Plain values; texts are those of the flags. Zero-initialised: everything is shown. */
struct bt_metric_settings {
	struct bt_str_list disabled; /* names, each once */
	struct bt_label_allowance *allowances;
	uint32_t allowance_n;
};

/*
 * Each adds a flag's value to settings; the result lives in arena or in the text.
 * Returns: false with the reason in out_error, with upstream's text where it has one.
 */

/* --disabled-metrics: names, separated by commas. */
bool bt_metric_settings_disable(struct bt_metric_settings *settings, struct bt_arena *arena,
	struct bt_str text, struct bt_buf *out_error);

/* --allow-metric-labels: METRIC,LABEL=VALUE,VALUE; several of them in double quotes, separated by commas. A
 * repeated key gets the new values. */
bool bt_metric_settings_allow(struct bt_metric_settings *settings, struct bt_arena *arena, struct bt_str text,
	struct bt_buf *out_error);

/* --allow-metric-labels-manifest: a YAML file, of "METRIC,LABEL": "VALUE,VALUE". */
bool bt_metric_settings_allow_file(struct bt_metric_settings *settings, struct bt_arena *arena,
	const char *path, struct bt_buf *out_error);

/* --show-hidden-metrics-for-version: the minor version before the release. No metric is hidden as deprecated,
 * so it has no effect. */
bool bt_metric_settings_show_hidden(
	const struct bt_release *release, struct bt_str version, struct bt_buf *out_error);

bool bt_metric_is_disabled(const struct bt_metric_settings *settings, const char *metric);

/* Whether any label of the metric has a list of values. */
bool bt_metric_is_allowanced(const struct bt_metric_settings *settings, const char *metric);

/* Whether the value may be shown. */
bool bt_metric_allows(const struct bt_metric_settings *settings, const char *metric, const char *label,
	struct bt_str value);
