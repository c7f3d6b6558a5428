/* SPDX-License-Identifier: Apache-2.0
 * A growing byte buffer for building text. An empty buffer is all zeroes.
 * Context: one thread at a time; allocates.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/compiler.h"
#include "engine/base/str.h"

struct bt_buf {
	char *ptr; /* NUL-terminated after the first write */
	size_t len, cap;
};

void bt_buf_fini(struct bt_buf *buf);

/* Makes sure that n more bytes fit, and a NUL. */
void bt_buf_reserve(struct bt_buf *buf, size_t n);

void bt_buf_add(struct bt_buf *buf, const void *bytes, size_t n);
void bt_buf_str(struct bt_buf *buf, struct bt_str s);
void bt_buf_text(struct bt_buf *buf, const char *text);
void bt_buf_char(struct bt_buf *buf, char c);
void bt_buf_int(struct bt_buf *buf, int64_t value);
void bt_buf_printf(struct bt_buf *buf, const char *format, ...) BT_PRINTF(2, 3);
void bt_buf_vprintf(struct bt_buf *buf, const char *format, va_list args) BT_PRINTF(2, 0);

static inline void bt_buf_clear(struct bt_buf *buf)
{
	buf->len = 0;
}

static inline struct bt_str bt_buf_view(const struct bt_buf *buf)
{
	return (struct bt_str){buf->ptr, buf->len};
}
