/* SPDX-License-Identifier: Apache-2.0
 * Reads CSV (RFC 4180) from memory, a record at a time: quoted fields, doubled quotes, line breaks inside
 * quotes, CRLF, a byte order mark. Context: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "engine/base/str.h"

#define BT_CSV_COLUMNS_MAX 64

/* owner: private to csv.c, except line and the fields, which the caller reads. */
struct bt_csv {
	struct bt_str text;
	size_t at;
	uint64_t next_line;
	struct bt_arena *arena; /* for fields with doubled quotes */
	uint64_t line;		/* where the record starts, from 1 */
	struct bt_str fields[BT_CSV_COLUMNS_MAX];
	size_t field_n;
	const char *error; /* the record's error, after BT_INVALID */
};

void bt_csv_init(struct bt_csv *csv, struct bt_str text, struct bt_arena *arena);

/*
 * Reads the next record that is not an empty line.
 * Returns : BT_OK; BT_INVALID for an invalid record, which is skipped; BT_NOT_FOUND at the end.
 */
enum bt_status bt_csv_next(struct bt_csv *csv);
