/* SPDX-License-Identifier: Apache-2.0
 * The tree behind a report: emit.c builds it, emit_table.c lays it out, emit_value.c writes a value of it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

enum bt_emit_type {
	BT_EMIT_OBJECT,
	BT_EMIT_ARRAY,
	BT_EMIT_STR,
	BT_EMIT_INT,
	BT_EMIT_REAL,
	BT_EMIT_BOOL,
	BT_EMIT_NULL
};

struct bt_emit_value {
	enum bt_emit_type type;
	bool hidden;
	int digits;			/* of a real */
	const char *key, *label, *unit; /* NULL when there is none */
	const char *heading;		/* of the rows from this one on, in a table; or NULL */
	union {
		struct bt_str str;
		int64_t integer;
		double real;
		bool truth;
		struct {
			struct bt_emit_value *first, *last;
		} members;
	};
	struct bt_emit_value *next, *parent;
};

static inline bool bt_emit_is_plain(const struct bt_emit_value *value)
{
	return value->type != BT_EMIT_OBJECT && value->type != BT_EMIT_ARRAY;
}

static inline bool bt_emit_is_number(const struct bt_emit_value *value)
{
	return value->type == BT_EMIT_INT || value->type == BT_EMIT_REAL;
}

/* Whether the array's elements are objects, that is rows. */
static inline bool bt_emit_has_rows(const struct bt_emit_value *value)
{
	return value->type == BT_EMIT_ARRAY && value->members.first &&
	       value->members.first->type == BT_EMIT_OBJECT;
}

/* The value as text; grouped puts a comma between thousands. An array is its elements with ", " between. */
void bt_emit_value_text(const struct bt_emit_value *value, bool grouped, struct bt_buf *out);

void bt_emit_write_table(const struct bt_emit_value *root, bool color, struct bt_buf *out);
void bt_emit_write_csv(const struct bt_emit_value *root, struct bt_buf *out);
