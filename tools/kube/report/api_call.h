/* SPDX-License-Identifier: Apache-2.0
 * A call to the API server as one line of JSON: verb, resource, name, and the object or patch that is sent,
 * such as
 * {"time":…,"user":…,"verb":"create","resource":"events","namespace":…,"name":…,"object":{…}}.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/flow/cycle/cycle_api_calls.h"

/*
 * Appends the line, with its line break. now_ns: since 1970; events are named by it, so no two calls should
 * share it. Context: any thread; allocates in out_line.
 */
void bt_api_call_write(const struct bt_api_call *call, int64_t now_ns, struct bt_buf *out_line);

/* An event's series: the count, and the last time. */
struct bt_api_series {
	int64_t count; /* 0: no series */
	int64_t last_ns;
};

/* Appends the name of an event about a pod of that name, and the event itself (BT_API_EVENT). */
void bt_api_event_name(struct bt_str pod, int64_t now_ns, struct bt_buf *out_name);
void bt_api_event_write(const struct bt_api_call *call, struct bt_str name, int64_t now_ns,
	const struct bt_api_series *series, struct bt_buf *out_event);

/* Appends the strategic merge patch that starts or continues an event's series. */
void bt_api_series_write(const struct bt_api_series *series, struct bt_buf *out_patch);

/* Appends the Binding of a BT_API_BIND. */
void bt_api_binding_write(const struct bt_api_call *call, struct bt_buf *out_binding);

/* Appends the strategic merge patch of a BT_API_PATCH_STATUS or BT_API_PATCH_GROUP, as upstream sends it. */
void bt_api_patch_write(const struct bt_api_call *call, struct bt_buf *out_patch);
