/* SPDX-License-Identifier: Apache-2.0
 * A non-owning view of bytes; not NUL-terminated. The empty view may have a NULL pointer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct bt_str {
	const char *ptr;
	size_t len;
};

/* A view of a string literal, usable in static initialisers. */
#define BT_STR(literal)                                                                                      \
	{                                                                                                    \
		(literal), sizeof(literal) - 1                                                               \
	}

/* printf arguments for "%.*s". */
#define BT_STR_ARG(s) (int)(s).len, ((s).ptr ? (s).ptr : "")

static inline struct bt_str bt_str(const char *text)
{
	return (struct bt_str){text, text ? strlen(text) : 0};
}

static inline bool bt_str_eq(struct bt_str a, struct bt_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool bt_str_is(struct bt_str a, const char *text)
{
	return bt_str_eq(a, bt_str(text));
}

/* Byte order; a prefix comes first. */
static inline int bt_str_cmp(struct bt_str a, struct bt_str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int order = n ? memcmp(a.ptr, b.ptr, n) : 0;

	if (order) {
		return order;
	}
	return a.len < b.len ? -1 : a.len > b.len;
}

static inline bool bt_str_starts(struct bt_str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && memcmp(s.ptr, prefix, n) == 0;
}

static inline bool bt_str_ends(struct bt_str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.len >= n && memcmp(s.ptr + s.len - n, suffix, n) == 0;
}

/* The index of the first byte c at or after from, or len when there is none. */
static inline size_t bt_str_find(struct bt_str s, char c, size_t from)
{
	const char *hit = from < s.len ? memchr(s.ptr + from, c, s.len - from) : NULL;

	return hit ? (size_t)(hit - s.ptr) : s.len;
}

static inline struct bt_str bt_str_sub(struct bt_str s, size_t from, size_t to)
{
	return (struct bt_str){s.ptr ? s.ptr + from : NULL, to - from};
}
