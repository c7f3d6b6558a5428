/* SPDX-License-Identifier: Apache-2.0
 * The writer's objects as protobuf: the API machinery's envelope, and the fields that are set. Source:
 * k8s.io/api core/v1 generated.proto and apimachinery runtime generated.proto, v0.36.3.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/flow/pipeline/pipeline.h"

#define BT_PROTO_TYPE "application/vnd.kubernetes.protobuf"

/* Appends a Binding of the pod to the node. */
void bt_proto_binding(const struct bt_pod_ref *pod, struct bt_str node, struct bt_buf *out);
