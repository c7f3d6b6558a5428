/* SPDX-License-Identifier: Apache-2.0
 * Which proxy leads to a server. Source: golang.org/x/net/http/httpproxy, which net/http's
 * ProxyFromEnvironment uses, v0.49.0.
 */
#include "tools/cluster/net/plan_int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An address of a host, IPv4 as an IPv6 that stands for it. */
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

/* Splits "host:port" and "[host]:port" as Go's net.SplitHostPort. Returns: false: there is no port. */
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

/* Whether an address is in "10.0.0.0/8". out_is: whether text is of that form at all. */
static bool in_range(struct bt_str text, const struct address *address, bool *out_is)
{
	size_t slash = bt_str_find(text, '/', 0);
	struct address network;
	unsigned bits = 0, first;

	*out_is = slash < text.len && slash + 1 < text.len &&
		  parse_address(bt_str_sub(text, 0, slash), &network);
	for (size_t i = slash + 1; *out_is && i < text.len; i++) {
		*out_is = text.ptr[i] >= '0' && text.ptr[i] <= '9' && bits <= 128;
		bits = bits * 10 + (unsigned)(text.ptr[i] - '0');
	}
	first = *out_is && is_ipv4(&network) ? 96 : 0;
	*out_is = *out_is && bits + first <= 128;
	if (!*out_is || !address || (first && !is_ipv4(address))) {
		return false;
	}
	for (unsigned bit = first; bit < first + bits; bit++) {
		unsigned mask = 0x80u >> (bit % 8);

		if ((network.bytes[bit / 8] ^ address->bytes[bit / 8]) & mask) {
			return false;
		}
	}
	return true;
}

/* Whether "example.com", ".example.com", "*.example.com" or an address, each also with a port, means a host.
 */
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

static bool is_exempt(struct bt_str host, struct bt_str port)
{
	struct bt_str rules = bt_str(variable("NO_PROXY", "no_proxy"));
	struct address address;
	bool numeric = parse_address(host, &address), range;

	if (same_text(host, bt_str("localhost")) || (numeric && is_loopback(&address))) {
		return true;
	}
	for (size_t at = 0; at < rules.len;) {
		size_t end = bt_str_find(rules, ',', at);
		struct bt_str rule = bt_str_sub(rules, at, end);

		at = end + 1;
		while (rule.len && rule.ptr[0] == ' ') {
			rule = bt_str_sub(rule, 1, rule.len);
		}
		while (rule.len && rule.ptr[rule.len - 1] == ' ') {
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

bool bt_proxy_url(struct bt_str url, struct bt_buf *out_proxy)
{
	struct bt_str rest;

	for (size_t i = 0; i < url.len; i++) {
		if (url.ptr[i] <= ' ' || url.ptr[i] == 0x7f) {
			return false;
		}
	}
	if (bt_str_starts(url, "http://") || bt_str_starts(url, "https://")) {
		bt_buf_str(out_proxy, url);
	} else if (bt_str_starts(url, "socks5://")) {
		rest = bt_str_sub(url, strlen("socks5://"), url.len);
		bt_buf_text(out_proxy, "socks5h://"); /* the proxy looks names up, as with Go */
		bt_buf_str(out_proxy, rest);
	} else {
		return false;
	}
	return true;
}

bool bt_proxy_from_environment(struct bt_str url, struct bt_buf *out_proxy, struct bt_buf *out_error)
{
	bool tls = bt_str_starts(url, "https://");
	struct bt_str proxy =
		bt_str(tls ? variable("HTTPS_PROXY", "https_proxy") : variable("HTTP_PROXY", "http_proxy"));
	size_t from = strlen(tls ? "https://" : "http://");
	struct bt_str authority = bt_str_sub(url, from, bt_str_find(url, '/', from));
	struct bt_str host = authority, port = bt_str(tls ? "443" : "80");

	if (!split_port(authority, &host, &port) && host.len > 1 && host.ptr[0] == '[') {
		host = bt_str_sub(host, 1, host.len - 1);
	}
	if (!proxy.len || is_exempt(host, port)) {
		bt_buf_add(out_proxy, "", 0);
		return true;
	}
	if (!strstr(proxy.ptr, "://")) {
		bt_buf_text(out_proxy, "http://");
		bt_buf_str(out_proxy, proxy);
		return true;
	}
	if (!bt_proxy_url(proxy, out_proxy)) {
		bt_buf_printf(out_error,
			"%s: not the URL of a proxy; its scheme must be http, https or socks5",
			tls ? "HTTPS_PROXY" : "HTTP_PROXY");
		return false;
	}
	return true;
}
