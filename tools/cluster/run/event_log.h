/* SPDX-License-Identifier: Apache-2.0
 * kube-scheduler's log lines about watch events of nodes and pods. Source: eventhandlers.go, v1.36.3.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"

/* As bt_pipeline_sink.event. intern: resolves names. */
void bt_event_log(const struct bt_intern *intern, enum bt_cluster_event_resource resource, uint32_t action,
	const struct bt_delta *delta);
