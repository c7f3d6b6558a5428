/* SPDX-License-Identifier: Apache-2.0
 * /metrics: kube-scheduler's metrics by their names, types, labels and buckets, as far as berth has the
 * numbers, and berth's own. README.md says which of kube-scheduler's are missing, and why.
 */
#pragma once

#include "tools/cluster/serve/sources.h"

/* Appends /metrics/slis: what health checks have said. Context: any thread. */
void bt_metrics_write_slis(const struct bt_serve_sources *sources, struct bt_buf *out);

/* Appends all metrics. settings: NULL: everything is shown. Context: any thread but the pipeline's; waits for
 * the end of a cycle. */
void bt_metrics_write(const struct bt_serve_sources *sources, const struct bt_metric_settings *settings,
	struct bt_buf *out);
