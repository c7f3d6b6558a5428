/* SPDX-License-Identifier: Apache-2.0
 * Certificates of a bundle, by OpenSSL's reader, which is restarted after an unreadable block.
 */
#include "tools/cluster/net/pem.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "engine/base/check.h"

int bt_pem_no_password(char *out, int size, int writes, void *context)
{
	(void)out, (void)size, (void)writes, (void)context;
	return 0;
}

static void write_certificate(X509 *one, void *context)
{
	struct bt_buf *out = context;
	BIO *bio = BIO_new(BIO_s_mem());
	char *bytes;

	BT_REQUIRE(bio && PEM_write_bio_X509(bio, one) == 1);
	long n = BIO_get_mem_data(bio, &bytes);

	bt_buf_add(out, bytes, n > 0 ? (size_t)n : 0);
	BIO_free(bio);
}

static void add_to_store(X509 *one, void *context)
{
	X509_STORE_add_cert(context, one);
}

/* Calls take for each certificate; take keeps no reference. Returns: how many. */
static uint32_t read_each(
	struct bt_str text, void (*take)(X509 *one, void *context), void *context, uint32_t *out_broken_n)
{
	BIO *bio = BIO_new_mem_buf(text.len ? text.ptr : "", text.len < INT_MAX ? (int)text.len : INT_MAX);
	uint32_t n = 0;

	*out_broken_n = 0;
	BT_REQUIRE(bio);
	ERR_clear_error();
	/* Each iteration reads at least a line. */
	for (size_t left = BIO_ctrl_pending(bio), before = left + 1; left < before;) {
		X509 *one = PEM_read_bio_X509(bio, NULL, bt_pem_no_password, NULL);

		*out_broken_n += !one && ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_ASN1_LIB;
		ERR_clear_error(); /* the end of the text is an error there */
		if (one) {
			take(one, context);
			X509_free(one);
			n++;
		}
		before = left;
		left = BIO_ctrl_pending(bio);
	}
	BIO_free(bio);
	return n;
}

uint32_t bt_pem_certificates(struct bt_str text, struct bt_buf *out, uint32_t *out_broken_n)
{
	return read_each(text, write_certificate, out, out_broken_n);
}

uint32_t bt_pem_trust(struct bt_str text, X509_STORE *store, uint32_t *out_broken_n)
{
	return read_each(text, add_to_store, store, out_broken_n);
}
