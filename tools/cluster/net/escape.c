/* SPDX-License-Identifier: Apache-2.0
 * Escapes names and tokens for the paths and queries of URLs.
 */
#include "tools/cluster/net/escape.h"

#include <string.h>

void bt_escape(struct bt_buf *out, struct bt_str text)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:";

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] && strchr(safe, text.ptr[i])) {
			bt_buf_char(out, text.ptr[i]);
		} else {
			bt_buf_printf(out, "%%%02X", (unsigned char)text.ptr[i]);
		}
	}
}
