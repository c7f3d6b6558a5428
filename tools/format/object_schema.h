/* SPDX-License-Identifier: Apache-2.0
 * The kinds that are read, and their tables.
 */
#pragma once

#include "engine/model/object.h"
#include "tools/format/schema.h"

struct bt_kind_schema {
	enum bt_kind id;
	struct bt_schema schema; /* of the struct for this kind, metadata included; fields 0 and 1 are
				    apiVersion and kind */
};

/* The entry for a kind; never NULL: for unknown kinds only metadata is decoded. Context: any thread. */
const struct bt_kind_schema *bt_kind_schema(struct bt_str api_version, struct bt_str kind);

/* The entry of a kind; for BT_KIND_OTHER that of unknown kinds. */
const struct bt_kind_schema *bt_kind_schema_of(enum bt_kind id);

/* For documents that hold parts of objects: metadata as struct bt_meta_object. */
extern const struct bt_schema bt_meta_schema;

/* A template of PersistentVolumeClaims, as struct bt_claim_object. */
extern const struct bt_schema bt_claim_template_schema;
