/* SPDX-License-Identifier: Apache-2.0
 * A growing byte buffer.
 */
#include "engine/base/buf.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

void bt_buf_fini(struct bt_buf *buf)
{
	bt_mem_free(buf->ptr);
	*buf = (struct bt_buf){0};
}

void bt_buf_reserve(struct bt_buf *buf, size_t n)
{
	size_t need = buf->len + n + 1;

	BT_INVARIANT(buf->len < buf->cap || !buf->ptr);
	if (need <= buf->cap) {
		return;
	}
	size_t cap = buf->cap ? buf->cap * 2 : 128;
	buf->cap = cap > need ? cap : need;
	buf->ptr = bt_mem_realloc(buf->ptr, buf->cap, 1);
}

void bt_buf_add(struct bt_buf *buf, const void *bytes, size_t n)
{
	BT_REQUIRE_HOT(bytes || n == 0);
	bt_buf_reserve(buf, n);
	if (n) {
		memcpy(buf->ptr + buf->len, bytes, n);
	}
	buf->len += n;
	buf->ptr[buf->len] = '\0';
}

void bt_buf_str(struct bt_buf *buf, struct bt_str s)
{
	bt_buf_add(buf, s.ptr, s.len);
}

void bt_buf_text(struct bt_buf *buf, const char *text)
{
	bt_buf_add(buf, text, strlen(text));
}

void bt_buf_char(struct bt_buf *buf, char c)
{
	bt_buf_add(buf, &c, 1);
}

void bt_buf_int(struct bt_buf *buf, int64_t value)
{
	char digits[24];
	char *at = digits + sizeof(digits);
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0) {
		*--at = '-';
	}
	bt_buf_add(buf, at, (size_t)(digits + sizeof(digits) - at));
}

void bt_buf_vprintf(struct bt_buf *buf, const char *format, va_list args)
{
	va_list again;

	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	BT_REQUIRE(n >= 0);
	bt_buf_reserve(buf, (size_t)n);
	vsnprintf(buf->ptr + buf->len, (size_t)n + 1, format, args);
	BT_INVARIANT(buf->len + (size_t)n < buf->cap);
	buf->len += (size_t)n;
}

void bt_buf_printf(struct bt_buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(buf, format, args);
	va_end(args);
}
