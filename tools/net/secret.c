/* SPDX-License-Identifier: Apache-2.0
 * Bytes that are cleared, and base64.
 */
#include "tools/net/plan_int.h"

#include <openssl/evp.h>
#include <string.h>

#include "engine/base/mem.h"

void bt_secret_set(struct bt_secret *secret, const void *bytes, size_t n)
{
	bt_secret_fini(secret);
	secret->ptr = bt_mem_copy(bytes, n);
	secret->len = n;
}

void bt_secret_fini(struct bt_secret *secret)
{
	if (secret->ptr) {
		explicit_bzero(secret->ptr, secret->len);
	}
	bt_mem_free(secret->ptr);
	*secret = (struct bt_secret){0};
}

void bt_secret_buf_fini(struct bt_buf *buf)
{
	if (buf->ptr) {
		explicit_bzero(buf->ptr, buf->cap);
	}
	bt_buf_fini(buf);
}

/* OpenSSL's decoder takes spaces, and ends at '-'. */
static bool is_base64(struct bt_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (!letter && c != '+' && c != '/' && c != '=' && c != '\n' && c != '\r') {
			return false;
		}
	}
	return text.len <= INT32_MAX;
}

bool bt_base64_decode(struct bt_str text, struct bt_buf *out)
{
	EVP_ENCODE_CTX *decoder = EVP_ENCODE_CTX_new();
	size_t at = out->len, room = text.len / 4 * 3 + 4;
	int n = 0, rest = 0;

	bt_buf_reserve(out, room);
	EVP_DecodeInit(decoder);
	unsigned char *to = (unsigned char *)out->ptr + at;
	bool good = is_base64(text) &&
		    EVP_DecodeUpdate(decoder, to, &n, (const unsigned char *)text.ptr, (int)text.len) >= 0 &&
		    EVP_DecodeFinal(decoder, to + n, &rest) == 1;

	EVP_ENCODE_CTX_free(decoder);
	if (good) {
		out->len = at + (size_t)n + (size_t)rest;
		out->ptr[out->len] = 0;
	}
	return good;
}

void bt_base64_encode(struct bt_str bytes, struct bt_buf *out)
{
	bt_buf_reserve(out, (bytes.len + 2) / 3 * 4);
	out->len += (size_t)EVP_EncodeBlock(
		(unsigned char *)out->ptr + out->len, (const unsigned char *)bytes.ptr, (int)bytes.len);
}

void bt_access_plan_fini(struct bt_access_plan *plan)
{
	bt_secret_fini(&plan->authority);
	bt_secret_fini(&plan->certificate);
	bt_secret_fini(&plan->key);
	bt_secret_fini(&plan->token);
	bt_secret_fini(&plan->username);
	bt_secret_fini(&plan->password);
	bt_arena_fini(&plan->arena);
	*plan = (struct bt_access_plan){0};
}
