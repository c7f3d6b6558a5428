/* SPDX-License-Identifier: Apache-2.0
 * A call to the API server as one line of JSON: verb, resource, name, and the object or patch that is sent,
 * such as
 * {"time":…,"user":…,"verb":"create","resource":"events","namespace":…,"name":…,"object":{…}}.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/flow/api_result.h"

/*
 * Appends the line, with its line break. now_ns: since 1970; events are named by it, so no two calls should
 * share it. Context: any thread; allocates in out_line.
 */
void bt_api_call_write(const struct bt_api_call *call, int64_t now_ns, struct bt_buf *out_line);

/* Appends the strategic merge patch of a BT_API_PATCH_STATUS, as upstream's client sends it. */
void bt_api_patch_write(const struct bt_api_call *call, struct bt_buf *out_patch);
