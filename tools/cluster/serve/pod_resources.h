/* SPDX-License-Identifier: Apache-2.0
 * /metrics/resources: what each pod requests, and its limits, as the scheduler and the kubelet count them.
 * Hears of pods from who watches them; sums are made when a pod changes, and pods with equal sums share them.
 * Source: pkg/scheduler/metrics/resources and component-helpers' PodRequests and PodLimits, v1.36.3.
 */
#pragma once

#include "engine/model/intern.h"
#include "tools/cluster/watch/watch.h"

struct bt_pod_resources;

/* names: where names are held, and outlives it. Owns: bt_pod_resources_destroy, when nobody tells it anything
 * any more. */
struct bt_pod_resources *bt_pod_resources_create(struct bt_intern *names);
void bt_pod_resources_destroy(struct bt_pod_resources *resources);

/* For bt_watch_options.listeners. */
struct bt_watch_listener bt_pod_resources_listener(struct bt_pod_resources *resources);

/* Appends the metrics of all pods. Context: any thread; who tells of pods waits meanwhile. */
void bt_pod_resources_write(struct bt_pod_resources *resources, struct bt_buf *out);
