/* SPDX-License-Identifier: Apache-2.0
 * Front proxies.
 */
#include "tools/cluster/serve/front_proxy.h"

#include <strings.h>

#include "engine/base/arena.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "tools/cluster/serve/client_certificate.h"

struct bt_front_proxy {
	struct bt_authorities *authorities;
	struct bt_arena arena;
	struct bt_front_proxy_settings settings;
};

struct bt_front_proxy *bt_front_proxy_create(
	struct bt_str pem, const struct bt_front_proxy_settings *settings, struct bt_buf *out_error)
{
	struct bt_authorities *authorities = bt_authorities_create(pem, out_error);

	if (!authorities) {
		return NULL;
	}
	struct bt_front_proxy *proxy = bt_mem_zalloc(1, sizeof(*proxy));

	proxy->authorities = authorities;
	proxy->settings = (struct bt_front_proxy_settings){
		.allowed_names = bt_serve_copy_list(&proxy->arena, &settings->allowed_names),
		.username_headers = bt_serve_copy_list(&proxy->arena, &settings->username_headers),
		.uid_headers = bt_serve_copy_list(&proxy->arena, &settings->uid_headers),
		.group_headers = bt_serve_copy_list(&proxy->arena, &settings->group_headers),
		.extra_prefixes = bt_serve_copy_list(&proxy->arena, &settings->extra_prefixes),
	};
	return proxy;
}

void bt_front_proxy_destroy(struct bt_front_proxy *proxy)
{
	if (proxy) {
		bt_authorities_destroy(proxy->authorities);
		bt_arena_fini(&proxy->arena);
		bt_mem_free(proxy);
	}
}

/* ---- headers ---- */

/* The headers of a proxy's request. */
struct proxy_headers {
	const struct bt_header *headers;
	uint32_t n;
};

static bool same_name(struct bt_str a, struct bt_str b)
{
	return a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

/* The first value of the first of these headers that is present. */
static struct bt_str value_of(const struct proxy_headers *request, const struct bt_str_list *names)
{
	for (uint32_t i = 0; i < names->n; i++) {
		for (uint32_t k = 0; k < request->n; k++) {
			if (same_name(request->headers[k].name, names->items[i])) {
				if (request->headers[k].value.len) {
					return request->headers[k].value;
				}
				break; /* of several values of a header the first is used */
			}
		}
	}
	return (struct bt_str){0};
}

/* Returns: whether one of the groups already states whether the user is authenticated. */
static bool add_groups(
	const struct proxy_headers *request, const struct bt_str_list *names, struct bt_user *user)
{
	bool is_listed = false;

	for (uint32_t i = 0; i < names->n; i++) {
		for (uint32_t k = 0; k < request->n; k++) {
			struct bt_str value = request->headers[k].value;

			if (value.len && same_name(request->headers[k].name, names->items[i])) {
				bt_user_add_group(user, value);
				is_listed = is_listed || bt_str_is(value, "system:authenticated") ||
					    bt_str_is(value, "system:unauthenticated");
			}
		}
	}
	return is_listed;
}

static int hex_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The rest of a header's name after the prefix, in lower case and percent-decoded; unchanged where it is not
 * decodable. */
static void write_key(struct bt_str escaped, struct bt_buf *out)
{
	size_t from = out->len;
	bool good = true;

	for (size_t i = 0; i < escaped.len; i++) {
		char c = escaped.ptr[i];

		bt_buf_char(out, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
	}
	size_t at = from;

	for (size_t i = from; i < out->len && good; i++) {
		char c = out->ptr[i];
		int high = c == '%' && i + 2 < out->len ? hex_of(out->ptr[i + 1]) : -1;
		int low = high >= 0 ? hex_of(out->ptr[i + 2]) : -1;

		good = c != '%' || low >= 0;
	}
	for (size_t i = from; i < out->len && good; i++) {
		bool escape = out->ptr[i] == '%';

		out->ptr[at++] =
			escape ? (char)(hex_of(out->ptr[i + 1]) * 16 + hex_of(out->ptr[i + 2])) : out->ptr[i];
		i += escape ? 2 : 0;
	}
	if (good) {
		out->len = at;
	}
}

/* A value of an extra key. */
struct extra {
	struct bt_buf key;
	struct bt_str value;
};

static uint32_t gather_extra(
	const struct proxy_headers *request, const struct bt_str_list *prefixes, struct extra *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < prefixes->n; i++) {
		struct bt_str prefix = prefixes->items[i];

		for (uint32_t k = 0; k < request->n; k++) {
			struct bt_str name = request->headers[k].name;

			if (name.len >= prefix.len && strncasecmp(name.ptr, prefix.ptr, prefix.len) == 0) {
				write_key(bt_str_sub(name, prefix.len, name.len), &out[n].key);
				out[n++].value = request->headers[k].value;
			}
		}
	}
	return n;
}

static bool same_key(const struct extra *a, const struct extra *b)
{
	return bt_str_eq(bt_buf_view(&a->key), bt_buf_view(&b->key));
}

/* {"key":["value",...],...}, keys and values in order of appearance. */
static void write_extra(const struct extra *extra, uint32_t n, struct bt_buf *out)
{
	bt_buf_clear(out);
	for (uint32_t i = 0; i < n; i++) {
		bool known = false;

		for (uint32_t k = 0; k < i; k++) {
			known = known || same_key(&extra[k], &extra[i]);
		}
		if (known) {
			continue;
		}
		bt_buf_char(out, out->len ? ',' : '{');
		bt_quote_json(out, bt_buf_view(&extra[i].key));
		bt_buf_text(out, ":[");
		bt_quote_json(out, extra[i].value);
		for (uint32_t k = i + 1; k < n; k++) {
			if (same_key(&extra[k], &extra[i])) {
				bt_buf_char(out, ',');
				bt_quote_json(out, extra[k].value);
			}
		}
		bt_buf_char(out, ']');
	}
	bt_buf_text(out, n ? "}" : "");
}

static void take_extra(
	const struct proxy_headers *request, const struct bt_str_list *prefixes, struct bt_user *user)
{
	size_t most = (size_t)request->n * prefixes->n + 1;
	struct extra *extra = bt_mem_zalloc(most, sizeof(*extra));
	uint32_t n = gather_extra(request, prefixes, extra);

	write_extra(extra, n, &user->extra);
	for (uint32_t i = 0; i < n; i++) {
		bt_buf_fini(&extra[i].key);
	}
	bt_mem_free(extra);
}

/* ---- identity ---- */

static void no_group(void *context, struct bt_str name)
{
	(void)context, (void)name;
}

static bool is_allowed(const struct bt_front_proxy *proxy, struct bt_str name)
{
	const struct bt_str_list *allowed = &proxy->settings.allowed_names;
	bool found = allowed->n == 0;

	for (uint32_t i = 0; i < allowed->n; i++) {
		found = found || bt_str_eq(allowed->items[i], name);
	}
	return found;
}

static enum bt_status verify(const struct bt_front_proxy *proxy, const struct bt_str *chain, uint32_t chain_n,
	struct bt_buf *out_error)
{
	struct bt_buf name = {0};
	enum bt_status status =
		bt_authorities_verify(proxy->authorities, chain, chain_n, &name, no_group, NULL, out_error);

	if (status == BT_OK && !is_allowed(proxy, bt_buf_view(&name))) {
		bt_buf_printf(out_error, "x509: subject with cn=%.*s is not in the allowed list",
			BT_STR_ARG(bt_buf_view(&name)));
		status = BT_INVALID;
	}
	bt_buf_fini(&name);
	return status;
}

enum bt_status bt_front_proxy_identify(const struct bt_front_proxy *proxy, const struct bt_str *chain,
	uint32_t chain_n, const struct bt_header *headers, uint32_t header_n, struct bt_user *out_user,
	struct bt_buf *out_error)
{
	const struct proxy_headers request = {headers, header_n};
	enum bt_status status = verify(proxy, chain, chain_n, out_error);

	if (status != BT_OK) {
		return status;
	}
	struct bt_str name = value_of(&request, &proxy->settings.username_headers);

	if (!name.len) {
		return BT_NOT_FOUND;
	}
	bt_buf_clear(&out_user->name);
	bt_buf_str(&out_user->name, name);
	bt_buf_clear(&out_user->uid);
	bt_buf_str(&out_user->uid, value_of(&request, &proxy->settings.uid_headers));
	bt_user_begin_groups(out_user);
	bool is_listed = add_groups(&request, &proxy->settings.group_headers, out_user);

	bt_user_end_groups(out_user, is_listed || bt_str_is(name, "system:anonymous"));
	take_extra(&request, &proxy->settings.extra_prefixes, out_user);
	return BT_OK;
}
