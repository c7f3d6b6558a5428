/* SPDX-License-Identifier: Apache-2.0
 * Which kinds are read, and the tables that describe them.
 */
#pragma once

#include "engine/model/object.h"
#include "tools/format/schema.h"

struct bt_kind_schema {
	enum bt_kind id;
	struct bt_schema schema; /* of the struct for this kind, metadata included; fields 0 and 1 are
				    apiVersion and kind */
};

/* The entry for a kind; never NULL: what is not known decodes its metadata only. Context: any thread. */
const struct bt_kind_schema *bt_kind_schema(struct bt_str api_version, struct bt_str kind);

/* The entry that a kind is decoded by; of BT_KIND_OTHER the one of kinds that are not known. */
const struct bt_kind_schema *bt_kind_schema_of(enum bt_kind id);

/* For documents that hold parts of objects: metadata as struct bt_meta_object. */
extern const struct bt_schema bt_meta_schema;
