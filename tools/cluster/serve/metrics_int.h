/* SPDX-License-Identifier: Apache-2.0
 * The parts of /metrics.
 */
#pragma once

#include "tools/cluster/serve/sources.h"

/* The release in effect. */
static inline const struct bt_release *bt_served_release(const struct bt_serve_sources *sources)
{
	return sources->config ? sources->config->gates.release : bt_release_default();
}

/* kube-scheduler's metrics of the engine and of attempts. */
void bt_metrics_of_scheduler(const struct bt_serve_sources *sources, struct bt_exposition *x);

/* berth's own: pipeline, watch, writer, clients. */
void bt_metrics_of_berth(const struct bt_serve_sources *sources, struct bt_exposition *x);

/* Metrics of the queue, and durations of parts of cycles. Context: between two cycles. */
void bt_metrics_of_queueing(
	const struct bt_config *config, struct bt_engine *engine, struct bt_exposition *x);

/* Metrics of clients of API servers, as client-go has them. */
void bt_metrics_of_clients(const struct bt_serve_sources *sources, struct bt_exposition *x);

/* When the process was started, in seconds since the epoch; 0: unknown. */
double bt_process_start_seconds(void);

/* The same, as a metric. */
void bt_metrics_start_time(struct bt_exposition *x, const char *help);

/* Metrics that every Kubernetes component and every process has. */
void bt_metrics_of_process(const struct bt_serve_sources *sources, struct bt_exposition *x);
