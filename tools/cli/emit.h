/* SPDX-License-Identifier: Apache-2.0
 * Reports: a small tree that is built once and written as a table, JSON, YAML or CSV.
 *
 * The outermost value is an object. As a table and as CSV: its plain members come first, a nested object is a
 * section of names and values, a nested array of objects is a section with a column for each key (nested
 * objects become columns such as "cpu.mean"), and an array of plain values is one line. Context: one thread;
 * allocates.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/str.h"
#include "tools/cli/output.h"

struct bt_emit;

enum bt_emit_format { BT_EMIT_TABLE, BT_EMIT_JSON, BT_EMIT_YAML, BT_EMIT_CSV };

/* Owns: bt_emit_destroy. Keys and labels are copied, as values are. */
struct bt_emit *bt_emit_create(void);
void bt_emit_destroy(struct bt_emit *emit);

/*
 * Members of the container that is open; the first is the report's object. key is NULL in an array.
 * Each begin has its bt_emit_end; the report's own object is open from the start and never ended.
 */
void bt_emit_begin_object(struct bt_emit *emit, const char *key);
void bt_emit_begin_array(struct bt_emit *emit, const char *key);
void bt_emit_end(struct bt_emit *emit);
void bt_emit_str(struct bt_emit *emit, const char *key, struct bt_str value);
void bt_emit_text(struct bt_emit *emit, const char *key, const char *value);
void bt_emit_int(struct bt_emit *emit, const char *key, int64_t value);
void bt_emit_real(struct bt_emit *emit, const char *key, double value, int digits);
void bt_emit_bool(struct bt_emit *emit, const char *key, bool value);
void bt_emit_null(struct bt_emit *emit, const char *key);

/*
 * Sets the table's label and unit of the last begun or added member. JSON, YAML and CSV keep to keys, which
 * should name the unit ("read_s"). In an array, only the first row's labels count.
 */
void bt_emit_label(struct bt_emit *emit, const char *label);
void bt_emit_unit(struct bt_emit *emit, const char *unit);

/* A number with its label. */
void bt_emit_count(struct bt_emit *emit, const char *key, const char *label, uint64_t n);

/* Leaves the member begun or added last out of the table; the other formats have it. */
void bt_emit_hide(struct bt_emit *emit);

/* Starts a heading in the table, from the last begun row of an array on. */
void bt_emit_heading(struct bt_emit *emit, const char *heading);

/* The last begun row of the open array, as a handle; NULL: none. */
typedef struct bt_emit_value bt_emit_row;
bt_emit_row *bt_emit_last_row(struct bt_emit *emit);

/* The row after row in the open array (NULL: the first); NULL: none. */
bt_emit_row *bt_emit_row_after(struct bt_emit *emit, bt_emit_row *row);

/*
 * Moves the first row, from first on, with these texts key and second before first, with first's heading, and
 * adds mark to it, a text under mark_key in a column without title.
 * Returns : whether there is such a row.
 */
struct bt_emit_choice {
	const char *key, *second, *mark_key, *mark;
	struct bt_str value, second_value;
};
bool bt_emit_raise(struct bt_emit *emit, bt_emit_row *first, const struct bt_emit_choice *choice);

/* The format of --output's word: table, json, yaml or csv. */
enum bt_emit_format bt_emit_format_of(const char *word);

/* Writes the whole report; color only matters for tables. */
void bt_emit_write(
	const struct bt_emit *emit, enum bt_emit_format format, bool color, struct bt_output *output);
