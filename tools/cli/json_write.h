/* SPDX-License-Identifier: Apache-2.0
 * Writes JSON into a buffer as a stream of calls, compact or with line breaks. Text that is not UTF-8 is
 * repaired with U+FFFD, so the output is always JSON. Context: one thread; allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

#define BT_JSON_WRITE_DEPTH_MAX 32

/* owner: private to json_write.c. Zeroes but for out: compact JSON. */
struct bt_json_writer {
	struct bt_buf *out;
	bool pretty;	/* two spaces an indentation */
	bool after_key; /* the next value belongs to a key */
	unsigned depth;
	uint64_t has_member; /* bit d: the container at depth d has a member already */
	uint64_t is_array;   /* bit d: the container at depth d is an array */
};

/* A container is begun and ended in pairs, at most BT_JSON_WRITE_DEPTH_MAX deep; in an object every value
 * follows a key. */
void bt_json_write_begin_object(struct bt_json_writer *json);
void bt_json_write_begin_array(struct bt_json_writer *json);
void bt_json_write_end(struct bt_json_writer *json);
void bt_json_write_key(struct bt_json_writer *json, const char *key);
void bt_json_write_key_str(struct bt_json_writer *json, struct bt_str key);

void bt_json_write_str(struct bt_json_writer *json, struct bt_str value);
void bt_json_write_text(struct bt_json_writer *json, const char *value);
void bt_json_write_int(struct bt_json_writer *json, int64_t value);
void bt_json_write_bool(struct bt_json_writer *json, bool value);
void bt_json_write_null(struct bt_json_writer *json);

/* A number with that many decimals. Non-finite numbers are written as null, since JSON has none. */
void bt_json_write_real(struct bt_json_writer *json, double value, int digits);
