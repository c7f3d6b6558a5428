/* SPDX-License-Identifier: Apache-2.0
 * The proxy for a server. Source: golang.org/x/net/http/httpproxy, which net/http's ProxyFromEnvironment
 * uses, v0.49.0.
 */
#include "tools/cluster/net/plan_int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The address of a host; IPv4 is mapped to IPv6. */
struct address {
	uint8_t bytes[16];
};

static const char *variable(const char *upper, const char *lower)
{
	const char *value = getenv(upper);

	if (!value || !*value) {
		value = getenv(lower);
	}
	return value ? value : "";
}

static bool parse_address(struct bt_str text, struct address *out)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	char name[INET6_ADDRSTRLEN];

	if (!text.len || text.len >= sizeof(name)) {
		return false;
	}
	memcpy(name, text.ptr, text.len);
	name[text.len] = 0;
	memcpy(out->bytes, mapped, sizeof(mapped));
	return inet_pton(AF_INET, name, out->bytes + 12) == 1 || inet_pton(AF_INET6, name, out->bytes) == 1;
}

static bool is_ipv4(const struct address *address)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)address->bytes);
}

static bool is_loopback(const struct address *address)
{
	return is_ipv4(address) ? address->bytes[12] == 127
				: IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)(const void *)address->bytes);
}

/* Splits "host:port" and "[host]:port" as Go's net.SplitHostPort. Returns: false: no port. */
static bool split_port(struct bt_str text, struct bt_str *out_host, struct bt_str *out_port)
{
	size_t colon = text.len;

	while (colon && text.ptr[colon - 1] != ':') {
		colon--;
	}
	if (!colon) {
		return false;
	}
	struct bt_str host = bt_str_sub(text, 0, colon - 1);

	if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']') {
		host = bt_str_sub(host, 1, host.len - 1);
	} else if (bt_str_find(host, ':', 0) < host.len || bt_str_find(host, ']', 0) < host.len) {
		return false;
	}
	*out_host = host;
	*out_port = bt_str_sub(text, colon, text.len);
	return true;
}

static bool same_text(struct bt_str a, struct bt_str b)
{
	return a.len == b.len && (!a.len || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

/* Whether an address is in "10.0.0.0/8". out_is: whether text is a range at all. */
static bool in_range(struct bt_str text, const struct address *address, bool *out_is)
{
	size_t slash = bt_str_find(text, '/', 0);
	struct address network;
	unsigned bits = 0;

	*out_is = slash < text.len && slash + 1 < text.len &&
		  parse_address(bt_str_sub(text, 0, slash), &network);
	for (size_t i = slash + 1; *out_is && i < text.len; i++) {
		*out_is = text.ptr[i] >= '0' && text.ptr[i] <= '9' && bits <= 128;
		bits = bits * 10 + (unsigned)(text.ptr[i] - '0');
	}
	bits += bt_str_find(text, ':', 0) < text.len ? 0 : 96;
	*out_is = *out_is && bits <= 128;
	/* As Go: a range of IPv6, even ::/0, contains no address of IPv4. */
	if (!*out_is || !address || (is_ipv4(&network) && bits >= 96) != is_ipv4(address)) {
		return false;
	}
	for (unsigned bit = 0; bit < bits; bit++) {
		unsigned mask = 0x80u >> (bit % 8);

		if ((network.bytes[bit / 8] ^ address->bytes[bit / 8]) & mask) {
			return false;
		}
	}
	return true;
}

/* Whether "example.com", ".example.com", "*.example.com" or an address, each also with a port, matches a
 * host. */
static bool names_host(
	struct bt_str rule, struct bt_str host, struct bt_str port, const struct address *address)
{
	struct bt_str name = rule, rule_port = {0};
	struct address named;

	if (split_port(rule, &name, &rule_port) && !name.len) {
		return false;
	}
	if (rule_port.len && !bt_str_eq(rule_port, port)) {
		return false;
	}
	if (parse_address(name, &named)) {
		return address && memcmp(&named, address, sizeof(named)) == 0;
	}
	if (bt_str_starts(name, "*.")) {
		name = bt_str_sub(name, 1, name.len);
	}
	bool itself = name.len && name.ptr[0] != '.';

	if (itself && same_text(name, host)) {
		return true;
	}
	size_t dot = itself ? 1 : 0;

	return host.len > name.len + dot - (dot ? 0 : 1) && host.len >= name.len + dot &&
	       same_text(bt_str_sub(host, host.len - name.len, host.len), name) &&
	       (!dot || host.ptr[host.len - name.len - 1] == '.');
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_exempt(struct bt_str host, struct bt_str port)
{
	struct bt_str rules = bt_str(variable("NO_PROXY", "no_proxy"));
	struct address address;
	bool numeric = parse_address(host, &address), range;

	if (bt_str_is(host, "localhost") || (numeric && is_loopback(&address))) {
		return true;
	}
	for (size_t at = 0; at < rules.len;) {
		size_t end = bt_str_find(rules, ',', at);
		struct bt_str rule = bt_str_sub(rules, at, end);

		at = end + 1;
		while (rule.len && is_space(rule.ptr[0])) {
			rule = bt_str_sub(rule, 1, rule.len);
		}
		while (rule.len && is_space(rule.ptr[rule.len - 1])) {
			rule.len--;
		}
		if (!rule.len) {
			continue;
		}
		if (bt_str_is(rule, "*") || in_range(rule, numeric ? &address : NULL, &range) ||
			(!range && names_host(rule, host, port, numeric ? &address : NULL))) {
			return true;
		}
	}
	return false;
}

/* As libcurl expects it. socks5h: the proxy resolves names, as with Go. Without a port libcurl uses 1080 for
 * any proxy without TLS. */
static const struct {
	const char *scheme, *curl, *port;
} schemes[] = {
	{"http://", "http://", "80"},
	{"https://", "https://", "443"},
	{"socks5://", "socks5h://", "1080"},
	{"socks5h://", "socks5h://", "1080"},
};

/* "user@host:port/path" with the port, or the default one where it is empty. */
static bool add_with_port(struct bt_str rest, const char *port, struct bt_buf *out)
{
	struct bt_str authority = rest, host, given = {0};

	for (const char *end = "/?#"; *end; end++) {
		authority = bt_str_sub(authority, 0, bt_str_find(authority, *end, 0));
	}
	size_t at = authority.len;

	while (at && authority.ptr[at - 1] != '@') {
		at--;
	}
	bool named = split_port(bt_str_sub(authority, at, authority.len), &host, &given);

	bt_buf_str(out, authority);
	if (!given.len) {
		bt_buf_printf(out, named ? "%s" : ":%s", port);
	}
	bt_buf_str(out, bt_str_sub(rest, authority.len, rest.len));
	return authority.len > at && (!named || host.len);
}

bool bt_proxy_url(struct bt_str url, struct bt_buf *out_proxy)
{
	size_t n;

	for (size_t i = 0; i < url.len; i++) {
		if (url.ptr[i] <= ' ' || url.ptr[i] == 0x7f) {
			return false;
		}
	}
	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
		n = strlen(schemes[i].scheme);
		if (url.len >= n && strncasecmp(url.ptr, schemes[i].scheme, n) == 0) {
			bt_buf_text(out_proxy, schemes[i].curl);
			return add_with_port(bt_str_sub(url, n, url.len), schemes[i].port, out_proxy);
		}
	}
	return false;
}

bool bt_proxy_from_environment(struct bt_str url, struct bt_buf *out_proxy, struct bt_buf *out_error)
{
	bool tls = bt_str_starts(url, "https://");
	struct bt_str proxy =
		bt_str(tls ? variable("HTTPS_PROXY", "https_proxy") : variable("HTTP_PROXY", "http_proxy"));
	size_t from = strlen(tls ? "https://" : "http://");
	struct bt_str authority = bt_str_sub(url, from, bt_str_find(url, '/', from));
	struct bt_str host = authority, port = {0};
	struct bt_buf whole = {0};

	if (!split_port(authority, &host, &port) && host.len > 1 && host.ptr[0] == '[') {
		host = bt_str_sub(host, 1, host.len - 1);
	}
	port = port.len ? port : bt_str(tls ? "443" : "80");
	if (!proxy.len || is_exempt(host, port)) {
		bt_buf_add(out_proxy, "", 0);
		return true;
	}
	if (!strstr(proxy.ptr, "://")) {
		bt_buf_text(&whole, "http://");
	}
	bt_buf_str(&whole, proxy);
	bool good = bt_proxy_url(bt_buf_view(&whole), out_proxy);

	bt_secret_buf_fini(&whole);
	if (!good) {
		bt_buf_printf(out_error,
			"%s: not the URL of a proxy; its scheme must be http, https or socks5",
			tls ? "HTTPS_PROXY" : "HTTP_PROXY");
	}
	return good;
}
