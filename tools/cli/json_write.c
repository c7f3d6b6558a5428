/* SPDX-License-Identifier: Apache-2.0
 * A streaming JSON writer; the state of the open containers is two words of bits.
 */
#include "tools/cli/json_write.h"

#include <math.h>

#include "engine/base/check.h"
#include "engine/base/quote.h"

static void new_line(struct bt_json_writer *json)
{
	if (!json->pretty) {
		return;
	}
	bt_buf_char(json->out, '\n');
	for (unsigned i = 0; i < json->depth; i++) {
		bt_buf_text(json->out, "  ");
	}
}

/* Writes the separator before a member. */
static void separate(struct bt_json_writer *json)
{
	uint64_t bit = (uint64_t)1 << json->depth;

	if (json->has_member & bit) {
		bt_buf_char(json->out, ',');
	}
	json->has_member |= bit;
	if (json->depth > 0) {
		new_line(json);
	}
}

static void before_value(struct bt_json_writer *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	BT_INVARIANT(json->depth == 0 || (json->is_array >> json->depth & 1));
	if (json->depth > 0) {
		separate(json);
	}
}

static void json_write_begin(struct bt_json_writer *json, char bracket, uint64_t is_array)
{
	before_value(json);
	BT_REQUIRE(json->depth < BT_JSON_WRITE_DEPTH_MAX);
	bt_buf_char(json->out, bracket);
	json->depth++;
	json->has_member &= ~((uint64_t)1 << json->depth);
	json->is_array &= ~((uint64_t)1 << json->depth);
	json->is_array |= is_array << json->depth;
}

void bt_json_write_begin_object(struct bt_json_writer *json)
{
	json_write_begin(json, '{', 0);
}

void bt_json_write_begin_array(struct bt_json_writer *json)
{
	json_write_begin(json, '[', 1);
}

void bt_json_write_end(struct bt_json_writer *json)
{
	uint64_t bit = (uint64_t)1 << json->depth;

	BT_REQUIRE(json->depth > 0 && !json->after_key);
	json->depth--;
	if (json->has_member & bit) {
		new_line(json);
	}
	bt_buf_char(json->out, json->is_array & bit ? ']' : '}');
}

void bt_json_write_key_str(struct bt_json_writer *json, struct bt_str key)
{
	BT_REQUIRE(json->depth > 0 && !json->after_key && !(json->is_array >> json->depth & 1));
	separate(json);
	bt_quote_json(json->out, key);
	bt_buf_text(json->out, json->pretty ? ": " : ":");
	json->after_key = true;
}

void bt_json_write_key(struct bt_json_writer *json, const char *key)
{
	bt_json_write_key_str(json, bt_str(key));
}

void bt_json_write_str(struct bt_json_writer *json, struct bt_str value)
{
	before_value(json);
	bt_quote_json(json->out, value);
}

void bt_json_write_text(struct bt_json_writer *json, const char *value)
{
	bt_json_write_str(json, bt_str(value));
}

void bt_json_write_int(struct bt_json_writer *json, int64_t value)
{
	before_value(json);
	bt_buf_int(json->out, value);
}

void bt_json_write_bool(struct bt_json_writer *json, bool value)
{
	before_value(json);
	bt_buf_text(json->out, value ? "true" : "false");
}

void bt_json_write_null(struct bt_json_writer *json)
{
	before_value(json);
	bt_buf_text(json->out, "null");
}

void bt_json_write_real(struct bt_json_writer *json, double value, int digits)
{
	before_value(json);
	if (isfinite(value)) {
		bt_buf_printf(json->out, "%.*f", digits, value);
	} else {
		bt_buf_text(json->out, "null");
	}
}
