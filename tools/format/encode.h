/* SPDX-License-Identifier: Apache-2.0
 * Encodes structs as JSON with the tables that decode them (schema.h), so that decoding gives an equal
 * struct. Times are written to the nanosecond, quantities as in Kubernetes.
 * Context: any thread; allocates.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/model/object.h"
#include "tools/format/schema.h"

/* Appends an object with its apiVersion and kind; by default those of its kind. */
void bt_object_encode(const struct bt_object *object, struct bt_buf *out);

/* Options of a struct's owner for encoding like Go's encoding/json. */
struct bt_encode_go {
	const char *api_version; /* of BT_FIELD_META; the kind is the schema's go_name */
	bool zeroes;		 /* members without omitempty are written even when empty */
	/* Appends the value of a BT_FIELD_RAW member of the struct in. Returns whether it is present; out may
	 * be NULL. */
	bool (*raw)(const void *in, const struct bt_encode_go *go, struct bt_buf *out);
};

/* Appends a struct of a schema as Go writes it: members in byte order of their names, '<', '>' and '&'
 * escaped, empty lists and maps omitted. */
void bt_schema_encode_go(
	const struct bt_schema *schema, const void *in, const struct bt_encode_go *go, struct bt_buf *out);
