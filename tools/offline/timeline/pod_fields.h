/* SPDX-License-Identifier: Apache-2.0
 * A pod as the API server stores it: the fields that berth reads, as paths and values, such as
 * spec.nodeName and status.conditions[PodScheduled].reason.
 */
#pragma once

#include <stddef.h>

#include "engine/base/str.h"
#include "engine/model/object.h"

struct bt_pod_field;

/* Is called for each field that changes. before, after: empty when the field is not there. Valid during the
 * call. */
struct bt_pod_field_observer {
	void (*changed)(void *context, struct bt_str path, struct bt_str before, struct bt_str after);
	void *context;
};

/* Zero-initialized, it has no fields. Context: one thread; allocates. Owns: bt_pod_fields_fini. */
struct bt_pod_fields {
	/* private: */
	struct bt_pod_field *items; /* in the order in which they came */
	size_t n, cap;
};

/* The API server stores this pod now. */
void bt_pod_fields_show(struct bt_pod_fields *fields, const struct bt_pod_object *pod,
	const struct bt_pod_field_observer *observer);

/* One field gets this value; an empty one removes it. Requires: a path. */
void bt_pod_fields_set(struct bt_pod_fields *fields, struct bt_str path, struct bt_str value,
	const struct bt_pod_field_observer *observer);

/* The value of a field; empty: it is not there. Valid until the next change. */
struct bt_str bt_pod_fields_get(const struct bt_pod_fields *fields, struct bt_str path);

void bt_pod_fields_fini(struct bt_pod_fields *fields);
