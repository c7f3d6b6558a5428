/* SPDX-License-Identifier: Apache-2.0
 * One value of a report as text, for tables and CSV.
 */
#include <string.h>

#include "tools/cli/emit_int.h"

static void add_grouped(struct bt_buf *out, const char *digits, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0) {
			bt_buf_char(out, ',');
		}
		bt_buf_char(out, digits[i]);
	}
}

static void add_number(const struct bt_emit_value *value, bool grouped, struct bt_buf *out)
{
	struct bt_buf text = {0};

	if (value->type == BT_EMIT_INT) {
		bt_buf_int(&text, value->integer);
	} else {
		bt_buf_printf(&text, "%.*f", value->digits, value->real);
	}
	size_t sign = text.ptr[0] == '-';
	size_t whole_n = strspn(text.ptr + sign, "0123456789");

	bt_buf_add(out, text.ptr, sign);
	if (grouped) {
		add_grouped(out, text.ptr + sign, whole_n);
	} else {
		bt_buf_add(out, text.ptr + sign, whole_n);
	}
	bt_buf_text(out, text.ptr + sign + whole_n);
	bt_buf_fini(&text);
}

static void add_plain(const struct bt_emit_value *value, bool grouped, struct bt_buf *out)
{
	switch (value->type) {
	case BT_EMIT_STR:
		bt_buf_str(out, value->str);
		break;
	case BT_EMIT_INT:
	case BT_EMIT_REAL:
		add_number(value, grouped, out);
		break;
	case BT_EMIT_BOOL:
		bt_buf_text(out, value->truth ? "true" : "false");
		break;
	case BT_EMIT_NULL:
	case BT_EMIT_OBJECT:
	case BT_EMIT_ARRAY:
		break;
	}
}

void bt_emit_value_text(const struct bt_emit_value *value, bool grouped, struct bt_buf *out)
{
	if (value->type != BT_EMIT_ARRAY) {
		add_plain(value, grouped, out);
		return;
	}
	for (const struct bt_emit_value *item = value->members.first; item; item = item->next) {
		add_plain(item, grouped, out);
		bt_buf_text(out, item->next ? ", " : "");
	}
}
