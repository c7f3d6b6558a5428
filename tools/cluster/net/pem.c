/* SPDX-License-Identifier: Apache-2.0
 * Blocks of PEM. Source: Decode of encoding/pem, CertPool.AppendCertsFromPEM of crypto/x509, Go 1.26, and
 * ParseCertsPEM of client-go's util/cert, v0.36.3.
 */
#include "tools/cluster/net/pem.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include "engine/base/check.h"
#include "tools/format/base64.h"

#define BEGIN  "-----BEGIN "
#define END    "\n-----END "
#define DASHES "-----"

struct block {
	struct bt_str type, body; /* body: in Base64 */
	bool has_headers;
};

/* The index of the first text, or of the last; the length of s when there is none. */
static size_t find_text(struct bt_str s, const char *text, bool last)
{
	const char *at = NULL, *next = s.len ? memmem(s.ptr, s.len, text, strlen(text)) : NULL;

	while (next) {
		at = next;
		next = last ? memmem(at + 1, s.len - (size_t)(at + 1 - s.ptr), text, strlen(text)) : NULL;
	}
	return at ? (size_t)(at - s.ptr) : s.len;
}

/* The line at the beginning, without its end and spaces there. */
static struct bt_str take_line(struct bt_str *rest)
{
	size_t end = bt_str_find(*rest, '\n', 0), n = end;

	n -= n && n < rest->len && rest->ptr[n - 1] == '\r' ? 1 : 0;
	while (n && (rest->ptr[n - 1] == ' ' || rest->ptr[n - 1] == '\t')) {
		n--;
	}
	struct bt_str line = bt_str_sub(*rest, 0, n);

	*rest = bt_str_sub(*rest, end < rest->len ? end + 1 : end, rest->len);
	return line;
}

/* The block whose head is the last BEGIN before an END. at_end: what stands before END; rest: what stands
 * behind, of which a block takes its line. */
static bool read_block(struct bt_str at_end, struct bt_str *rest, struct block *out)
{
	size_t begin = find_text(at_end, BEGIN, true), type_n;
	struct bt_str body = bt_str_sub(at_end, begin, at_end.len), behind = *rest;

	if (begin == at_end.len || (begin && at_end.ptr[begin - 1] != '\n')) {
		return false;
	}
	*out = (struct block){.type = take_line(&body)};
	if (!bt_str_ends(out->type, DASHES)) {
		return false;
	}
	out->type = bt_str_sub(out->type, strlen(BEGIN), out->type.len);
	type_n = out->type.len;
	struct bt_str same = bt_str_sub(behind, 0, type_n < behind.len ? type_n : behind.len);

	behind = bt_str_sub(behind, same.len, behind.len);
	if (!bt_str_eq(same, out->type) || take_line(&behind).len) {
		return false;
	}
	*rest = behind;
	out->type.len -= strlen(DASHES);
	while (body.len) {
		struct bt_str ahead = body, line = take_line(&ahead);

		if (bt_str_find(line, ':', 0) == line.len) {
			break;
		}
		out->has_headers = true;
		body = ahead;
	}
	out->body = body;
	return true;
}

static bool next_block(struct bt_str *rest, struct block *out)
{
	for (;;) {
		size_t end = find_text(*rest, END, false);

		if (end == rest->len) {
			return false;
		}
		struct bt_str at_end = bt_str_sub(*rest, 0, end);

		*rest = bt_str_sub(*rest, end + strlen(END), rest->len);
		if (read_block(at_end, rest, out)) {
			return true;
		}
	}
}

static bool decode(struct bt_str body, struct bt_buf *out)
{
	struct bt_buf text = {0};
	size_t bad;

	for (size_t i = 0; i < body.len; i++) {
		if (body.ptr[i] != ' ' && body.ptr[i] != '\t') {
			bt_buf_char(&text, body.ptr[i]);
		}
	}
	bt_buf_clear(out);
	bool good = bt_base64_decode(bt_buf_view(&text), out, &bad);

	bt_buf_fini(&text);
	return good;
}

static void write_certificate(X509 *one, struct bt_buf *out)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *bytes;

	BT_REQUIRE(bio && PEM_write_bio_X509(bio, one) == 1);
	long n = BIO_get_mem_data(bio, &bytes);

	bt_buf_add(out, bytes, n > 0 ? (size_t)n : 0);
	BIO_free(bio);
}

/* One certificate, or several one after the other, as client-go reads client CAs; an empty block has none.
 * Returns: how many; *out_broken: there is something else. */
static uint32_t add_certificates(const struct bt_buf *der, struct bt_buf *out, bool *out_broken)
{
	const unsigned char *at = (const unsigned char *)der->ptr, *end = at + der->len;
	size_t before = out->len;
	uint32_t n = 0;

	*out_broken = der->len > LONG_MAX;
	while (at < end && !*out_broken) {
		X509 *one = d2i_X509(NULL, &at, (long)(end - at));

		if (one) {
			write_certificate(one, out);
			n++;
		}
		*out_broken = !one;
		X509_free(one);
	}
	out->len = *out_broken ? before : out->len;
	return *out_broken ? 0 : n;
}

uint32_t bt_pem_certificates(struct bt_str text, struct bt_buf *out, uint32_t *out_broken_n)
{
	struct bt_buf der = {0};
	struct block block;
	uint32_t n = 0;
	bool broken;

	*out_broken_n = 0;
	while (next_block(&text, &block)) {
		if (!decode(block.body, &der) || !bt_str_is(block.type, "CERTIFICATE") || block.has_headers) {
			continue;
		}
		n += add_certificates(&der, out, &broken);
		*out_broken_n += broken;
	}
	ERR_clear_error();
	bt_buf_fini(&der);
	return n;
}
