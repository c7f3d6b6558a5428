/* SPDX-License-Identifier: Apache-2.0
 * Structs into JSON, by the tables that decode them (schema.h): what the tables read is written, so that
 * decoding gives the same struct again. Times are written to the nanosecond, quantities as Kubernetes would.
 * Context: any thread; allocates.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/model/object.h"
#include "tools/format/schema.h"

/* Appends an object with its apiVersion and kind; of one that does not say them, those of its kind. */
void bt_object_encode(const struct bt_object *object, struct bt_buf *out);

/* What the owner of a struct says where it is written as Go's encoding/json writes it. */
struct bt_encode_go {
	const char *api_version; /* of BT_FIELD_META; the kind is the schema's go_name */
	bool zeroes;		 /* members without omitempty are written whatever they are */
	/* Appends what a member of BT_FIELD_RAW stands for, of the struct in. Returns whether there is any;
	 * out may be NULL. */
	bool (*raw)(const void *in, const struct bt_encode_go *go, struct bt_buf *out);
};

/* Appends a struct of a schema as Go writes it: members in byte order of their names, '<', '>' and '&'
 * escaped, empty lists and maps left out. */
void bt_schema_encode_go(
	const struct bt_schema *schema, const void *in, const struct bt_encode_go *go, struct bt_buf *out);
