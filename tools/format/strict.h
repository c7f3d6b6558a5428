/* SPDX-License-Identifier: Apache-2.0
 * Decodes JSON to C structs like upstream's strict decoder, with its error texts: unknown and duplicate
 * members are collected with their paths; the error of a value of a wrong type names the Go struct and type.
 * The decoder is that of schema.h, which has its own texts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "engine/model/schema.h"
#include "tools/format/json.h"

#define BT_STRICT_FAULT_MAX 100

/* One decoding. The caller sets the first three and ends it with bt_strict_fini. */
struct bt_strict {
	struct bt_json *json;
	struct bt_arena *arena;
	bool sorted; /* the text is from YAML, whose members upstream reads in the order of their names */

	struct bt_buf fatal;  /* the fatal error, or empty */
	struct bt_buf faults; /* unknown and repeated members, joined by ", " */
	size_t offset;	      /* of the first error of either kind */
	bool has_offset;

	/* private */
	const struct bt_schema *root;
	struct bt_str fault_texts[BT_STRICT_FAULT_MAX];
	uint32_t fault_n;
};

/*
 * Decodes the object at the cursor into out, which the caller has zeroed or filled with defaults. Returns:
 * false when fatal is set; otherwise faults may have text.
 */
bool bt_strict_decode(struct bt_strict *strict, const struct bt_schema *schema, void *out);

void bt_strict_fini(struct bt_strict *strict);

/* Upstream's word for a JSON type in errors. Context: any thread. */
const char *bt_strict_type_word(enum bt_json_type type);
