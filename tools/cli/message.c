/* SPDX-License-Identifier: Apache-2.0
 * The only writer of text to standard error.
 */
#include "tools/cli/message.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "engine/base/buf.h"
#include "engine/base/quote.h"

static void put(struct bt_str text)
{
	while (text.len) {
		ssize_t n = write(STDERR_FILENO, text.ptr, text.len);

		if (n < 0 && errno != EINTR) {
			return; /* no way left to report it */
		}
		text = n > 0 ? bt_str_sub(text, (size_t)n, text.len) : text;
	}
}

void bt_message(const char *format, ...)
{
	struct bt_buf raw = {0}, shown = {0};
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&raw, format, args);
	va_end(args);
	for (struct bt_str rest = bt_buf_view(&raw); rest.len;) {
		size_t end = bt_str_find(rest, '\n', 0);

		bt_printable(&shown, bt_str_sub(rest, 0, end));
		bt_buf_text(&shown, end < rest.len ? "\n" : "");
		rest = bt_str_sub(rest, end + (end < rest.len), rest.len);
	}
	put(bt_buf_view(&shown));
	bt_buf_fini(&raw);
	bt_buf_fini(&shown);
}
