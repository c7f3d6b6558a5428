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

/* Appends a struct of a schema as a JSON object. */
void bt_schema_encode(const struct bt_schema *schema, const void *in, struct bt_buf *out);
