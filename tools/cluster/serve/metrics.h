/* SPDX-License-Identifier: Apache-2.0
 * /metrics: kube-scheduler's metrics with their names, types, labels and buckets, and berth's own. README.md
 * lists the missing ones of kube-scheduler, and why.
 */
#pragma once

#include "tools/cluster/serve/sources.h"

/* Appends /metrics/slis: results of health checks. Context: any thread. */
void bt_metrics_write_slis(const struct bt_serve_sources *sources, struct bt_buf *out);

/* Appends all metrics. settings: NULL: everything is shown. Context: any thread but the pipeline's; waits for
 * the end of a cycle. */
void bt_metrics_write(const struct bt_serve_sources *sources, const struct bt_metric_settings *settings,
	struct bt_buf *out);
