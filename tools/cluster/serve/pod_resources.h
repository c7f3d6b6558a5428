/* SPDX-License-Identifier: Apache-2.0
 * /metrics/resources: what each pod requests, and its limits, as the scheduler and the kubelet count them.
 * Fed by the watch; sums are computed when a pod changes, and pods with equal sums share them.
 * Source: pkg/scheduler/metrics/resources and component-helpers' PodRequests and PodLimits, v1.36.3.
 */
#pragma once

#include "engine/model/intern.h"
#include "tools/cluster/watch/watch.h"

struct bt_pod_resources;

/* names: interns names, and outlives it. Owns: bt_pod_resources_destroy. Requires: by then no more events of
 * its listener. */
struct bt_pod_resources *bt_pod_resources_create(struct bt_intern *names);
void bt_pod_resources_destroy(struct bt_pod_resources *resources);

/* For bt_watch_options.listeners. */
struct bt_watch_listener bt_pod_resources_listener(struct bt_pod_resources *resources);

/* Appends the metrics of all pods. Context: any thread; the watch's thread may wait meanwhile. */
void bt_pod_resources_write(struct bt_pod_resources *resources, struct bt_buf *out);
