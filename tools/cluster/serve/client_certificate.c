/* SPDX-License-Identifier: Apache-2.0
 * Client certificates by OpenSSL.
 */
#include "tools/cluster/serve/client_certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "engine/base/mem.h"
#include "tools/cluster/net/pem.h"
#include "tools/cluster/net/verify.h"

struct bt_authorities {
	X509_STORE *store;
};

void bt_authorities_destroy(struct bt_authorities *authorities)
{
	if (authorities) {
		X509_STORE_free(authorities->store);
		bt_mem_free(authorities);
	}
}

struct bt_authorities *bt_authorities_create(struct bt_str pem, struct bt_buf *out_error)
{
	struct bt_authorities *authorities = bt_mem_zalloc(1, sizeof(*authorities));
	uint32_t broken_n;

	authorities->store = X509_STORE_new();
	uint32_t n = bt_pem_trust(pem, authorities->store, &broken_n);

	if (n == 0 || broken_n) {
		bt_buf_text(out_error,
			broken_n ? "a certificate in PEM cannot be read" : "no certificate in PEM");
		bt_authorities_destroy(authorities);
		return NULL;
	}
	return authorities;
}

static X509 *parse(struct bt_str der)
{
	const unsigned char *at = (const unsigned char *)der.ptr;

	return d2i_X509(NULL, &at, (long)der.len);
}

/* Converts an entry of a name to UTF-8. */
static void take_entry(const X509_NAME_ENTRY *entry, struct bt_buf *out)
{
	unsigned char *text = NULL;
	int n = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));

	bt_buf_clear(out);
	if (n > 0) {
		bt_buf_add(out, text, (size_t)n);
	}
	OPENSSL_free(text);
}

static enum bt_status identify(X509 *own, struct bt_buf *out_name,
	void (*group)(void *context, struct bt_str name), void *context, struct bt_buf *out_error)
{
	X509_NAME *subject = X509_get_subject_name(own);
	struct bt_buf organization = {0};
	int at = -1;

	bt_buf_clear(out_name);
	while ((at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0) {
		take_entry(X509_NAME_get_entry(subject, at), out_name); /* the last one wins */
	}
	if (out_name->len == 0) {
		bt_buf_text(out_error, "x509: the certificate has no common name");
		return BT_INVALID;
	}
	while ((at = X509_NAME_get_index_by_NID(subject, NID_organizationName, at)) >= 0) {
		take_entry(X509_NAME_get_entry(subject, at), &organization);
		group(context, bt_buf_view(&organization));
	}
	bt_buf_fini(&organization);
	return BT_OK;
}

enum bt_status bt_authorities_verify(const struct bt_authorities *authorities, const struct bt_str *chain,
	uint32_t chain_n, struct bt_buf *out_name, void (*group)(void *context, struct bt_str name),
	void *context, struct bt_buf *out_error)
{
	X509 *own = parse(chain[0]);
	STACK_OF(X509) *others = sk_X509_new_null();
	enum bt_status status = BT_INVALID;

	for (uint32_t i = 1; i < chain_n; i++) {
		X509 *other = parse(chain[i]);

		if (other) {
			sk_X509_push(others, other);
		}
	}
	if (own) {
		struct bt_buf why = {0};
		int verified = bt_verify_chain(own, others, authorities->store, BT_VERIFY_CLIENT, 1, &why);

		if (verified != X509_V_OK) {
			bt_buf_printf(out_error, "x509: %.*s", BT_STR_ARG(bt_buf_view(&why)));
		}
		status = verified == X509_V_OK ? BT_OK : BT_INVALID;
		bt_buf_fini(&why);
	} else {
		bt_buf_text(out_error, "x509: the certificate cannot be read");
	}
	if (status == BT_OK) {
		status = identify(own, out_name, group, context, out_error);
	}
	sk_X509_pop_free(others, X509_free);
	X509_free(own);
	ERR_clear_error();
	return status;
}
