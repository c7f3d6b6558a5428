/* SPDX-License-Identifier: Apache-2.0
 * "vol-1", "aws://zone/vol-1" and "aws:///vol-1" are all vol-1; text without the scheme is used as it is. For
 * an address in brackets, which no zone has, only the characters are checked.
 * Source: KubernetesVolumeIDToEBSVolumeID, v1.36.3; URLs as Go's net/url parses them, 1.26.
 */
#include "engine/model/ebs_id.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/quote.h"

#define SCHEME	"aws://"
#define IN_HOST "!$&'()*+,;=:[]<>\"-_.~"
#define IN_USER "-._:~!$&'()*+,;=%@"

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_among(char c, const char *set)
{
	return c && strchr(set, c);
}

static bool is_ascii(char c)
{
	return (unsigned char)c < 0x80;
}

/* The value of a hexadecimal digit, or -1. */
static int hex_of(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static bool fail_quoting(struct bt_buf *why, const char *before, struct bt_str text, const char *behind)
{
	bt_buf_text(why, before);
	bt_quote(why, text);
	bt_buf_text(why, behind);
	return false;
}

/* Is there an escape such as %2f at an offset? In a host, only of a byte that is not ASCII. */
static bool is_escape(struct bt_str text, size_t at, bool in_host)
{
	if (at + 2 >= text.len || hex_of(text.ptr[at + 1]) < 0 || hex_of(text.ptr[at + 2]) < 0) {
		return false;
	}
	return !in_host || hex_of(text.ptr[at + 1]) >= 8 || bt_str_is(bt_str_sub(text, at, at + 3), "%25");
}

/* Are all escapes valid, and in a host all other characters? If not, appends the reason. */
static bool check_part(struct bt_str text, bool in_host, struct bt_buf *why)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (c == '%' && !is_escape(text, i, in_host)) {
			size_t end = i + 3 < text.len ? i + 3 : text.len;

			return fail_quoting(why, "invalid URL escape ", bt_str_sub(text, i, end), "");
		}
		if (c == '%') {
			i += 2;
		} else if (in_host && is_ascii(c) && !is_alphanumeric(c) && !is_among(c, IN_HOST)) {
			return fail_quoting(
				why, "invalid character ", bt_str_sub(text, i, i + 1), " in host name");
		}
	}
	return true;
}

/* Is it nothing, or a colon and digits? */
static bool check_port(struct bt_str port, struct bt_buf *why)
{
	bool good = !port.len || port.ptr[0] == ':';

	for (size_t i = 1; good && i < port.len; i++) {
		good = port.ptr[i] >= '0' && port.ptr[i] <= '9';
	}
	return good || fail_quoting(why, "invalid port ", port, " after host");
}

/* The last index of a character; the length when absent. */
static size_t find_last(struct bt_str text, char c)
{
	size_t at = text.len;

	while (at && text.ptr[at - 1] != c) {
		at--;
	}
	return at ? at - 1 : text.len;
}

/* [address] or [address]:port */
static bool check_bracketed(struct bt_str host, struct bt_buf *why)
{
	size_t end = find_last(host, ']'), i = 1;

	if (end == host.len) {
		bt_buf_text(why, "missing ']' in host");
		return false;
	}
	if (!check_port(bt_str_sub(host, end + 1, host.len), why)) {
		return false;
	}
	struct bt_str address = bt_str_sub(host, 1, end);
	if (!check_part(address, true, why)) {
		return false;
	}
	while (i < end && (hex_of(host.ptr[i]) >= 0 || is_among(host.ptr[i], ":."))) {
		i++;
	}
	if (bt_str_find(address, ':', 0) < address.len && (i == end || host.ptr[i] == '%')) {
		return true;
	}
	return fail_quoting(why, "invalid host: ParseAddr(", address, "): unable to parse IP");
}

static bool check_host(struct bt_str host, struct bt_buf *why)
{
	size_t bracket = find_last(host, '[');

	if (bracket < host.len && bracket > 0) {
		bt_buf_text(why, "invalid IP-literal");
		return false;
	}
	if (bracket < host.len) {
		return check_bracketed(host, why);
	}
	return check_port(bt_str_sub(host, find_last(host, ':'), host.len), why) &&
	       check_part(host, true, why);
}

static bool check_user(struct bt_str user, struct bt_buf *why)
{
	size_t colon = bt_str_find(user, ':', 0);

	for (size_t i = 0; i < user.len; i++) {
		if (!is_alphanumeric(user.ptr[i]) && !is_among(user.ptr[i], IN_USER)) {
			bt_buf_text(why, "net/url: invalid userinfo");
			return false;
		}
	}
	return check_part(bt_str_sub(user, 0, colon), false, why) &&
	       check_part(bt_str_sub(user, colon, user.len), false, why);
}

/* Checks a URL without its fragment, and finds its path. */
static bool parse(struct bt_str url, struct bt_str *out_path, struct bt_buf *why)
{
	for (size_t i = 0; i < url.len; i++) {
		if ((unsigned char)url.ptr[i] < 0x20 || url.ptr[i] == 0x7f) {
			bt_buf_text(why, "net/url: invalid control character in URL");
			return false;
		}
	}
	struct bt_str rest = bt_str_sub(url, sizeof(SCHEME) - 1, bt_str_find(url, '?', 0));
	size_t slash = bt_str_find(rest, '/', 0);
	struct bt_str authority = bt_str_sub(rest, 0, slash);
	size_t at = find_last(authority, '@');
	bool has_user = at < authority.len;

	*out_path = bt_str_sub(rest, slash, rest.len);
	return check_host(has_user ? bt_str_sub(authority, at + 1, authority.len) : authority, why) &&
	       (!has_user || check_user(bt_str_sub(authority, 0, at), why)) &&
	       check_part(*out_path, false, why);
}

/* Appends a path without its escapes. Requires: valid escapes (check_part). */
static void unescape(struct bt_str path, struct bt_buf *out)
{
	for (size_t i = 0; i < path.len; i++) {
		if (path.ptr[i] == '%') {
			BT_REQUIRE(path.len - i > 2);
			bt_buf_char(out, (char)(hex_of(path.ptr[i + 1]) << 4 | hex_of(path.ptr[i + 2])));
			i += 2;
		} else {
			bt_buf_char(out, path.ptr[i]);
		}
	}
}

/* Appends the volume that a path names, if any. */
static bool take_path(struct bt_str path, struct bt_buf *out)
{
	struct bt_buf text = {0};

	unescape(path, &text);
	struct bt_str name = bt_buf_view(&text);
	while (name.len && name.ptr[0] == '/') {
		name = bt_str_sub(name, 1, name.len);
	}
	while (name.len && name.ptr[name.len - 1] == '/') {
		name.len--;
	}
	bool good = bt_str_starts(name, "vol-") && bt_str_find(name, '/', 0) == name.len;
	if (good) {
		bt_buf_str(out, name);
	}
	bt_buf_fini(&text);
	return good;
}

bool bt_ebs_volume(struct bt_str id, struct bt_buf *out)
{
	struct bt_str url = bt_str_sub(id, 0, bt_str_find(id, '#', 0)), path;
	struct bt_buf why = {0};
	bool good = true;

	if (!bt_str_starts(id, SCHEME)) {
		bt_buf_str(out, id);
		return true;
	}
	bool parsed = parse(url, &path, &why);
	if (parsed && !check_part(bt_str_sub(id, url.len, id.len), false, &why)) {
		parsed = false;
		url = id; /* as upstream */
	}
	if (!parsed) {
		bt_buf_text(out, "Invalid disk name (");
		bt_buf_str(out, id);
		fail_quoting(out, "): parse ", url, ": ");
		bt_buf_str(out, bt_buf_view(&why));
		good = false;
	} else if (!take_path(path, out)) {
		bt_buf_text(out, "Invalid format for AWS volume (");
		bt_buf_str(out, id);
		bt_buf_char(out, ')');
		good = false;
	}
	bt_buf_fini(&why);
	return good;
}
