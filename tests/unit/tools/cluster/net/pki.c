/* SPDX-License-Identifier: Apache-2.0
 * Certificates by OpenSSL.
 */
#include "pki.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "engine/base/atomic.h"
#include "engine/base/check.h"

static void add_extension(X509 *certificate, X509 *issuer, int kind, const char *value)
{
	X509V3_CTX context;

	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);

	BT_REQUIRE(extension && X509_add_ext(certificate, extension, -1) == 1);
	X509_EXTENSION_free(extension);
}

static void take_pem(BIO *bio, struct bt_buf *out)
{
	char *bytes;
	long n = BIO_get_mem_data(bio, &bytes);

	bt_buf_add(out, bytes, (size_t)n);
	BIO_free(bio);
}

static void add_constraints(X509 *certificate, const struct pki_options *options)
{
	X509 *issuer = options->issuer ? options->issuer->certificate : certificate;
	bool signs = options->authority || !options->issuer;

	if (signs && !options->silent) {
		add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE");
	}
	if (signs || options->usage) {
		add_extension(certificate, issuer, NID_key_usage,
			options->usage ? options->usage : "critical,keyCertSign,cRLSign");
	}
	if (options->names) {
		add_extension(certificate, issuer, NID_subject_alt_name, options->names);
	}
	if (options->uses) {
		add_extension(certificate, issuer, NID_ext_key_usage, options->uses);
	}
	if (options->constraints) {
		add_extension(certificate, issuer, NID_name_constraints, options->constraints);
	}
	if (options->other) {
		add_extension(certificate, issuer, NID_id_pkix_OCSP_CrlID, options->other);
	}
}

/* An identifier that belongs to no key. */
static void add_wrong_id(X509 *certificate)
{
	AUTHORITY_KEYID *id = AUTHORITY_KEYID_new();

	id->keyid = ASN1_OCTET_STRING_new();
	ASN1_OCTET_STRING_set(id->keyid, (const unsigned char *)"nobody", 6);
	X509_add1_ext_i2d(certificate, NID_authority_key_identifier, id, 0, X509V3_ADD_DEFAULT);
	AUTHORITY_KEYID_free(id);
}

static EVP_PKEY *make_key(const struct pki_options *options)
{
	if (options->key) {
		EVP_PKEY_up_ref(options->key->key);
		return options->key->key;
	}
	return options->rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
}

void pki_make_as(struct pki_pair *pair, const struct pki_options *options)
{
	static long serial = 1;
	X509 *certificate = X509_new();
	bool usual = !options->from_s && !options->until_s;

	*pair = (struct pki_pair){.certificate = certificate, .key = make_key(options)};
	X509_set_version(certificate, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
	X509_gmtime_adj(X509_getm_notBefore(certificate), usual ? -3600 : options->from_s);
	X509_gmtime_adj(X509_getm_notAfter(certificate), usual ? 86400 : options->until_s);
	X509_set_pubkey(certificate, pair->key);
	X509_NAME *name = X509_get_subject_name(certificate);

	X509_NAME_add_entry_by_txt(
		name, "CN", MBSTRING_ASC, (const unsigned char *)options->common_name, -1, -1, 0);
	X509_set_issuer_name(
		certificate, options->issuer ? X509_get_subject_name(options->issuer->certificate) : name);
	add_constraints(certificate, options);
	if (options->wrong_id) {
		add_wrong_id(certificate);
	}
	BT_REQUIRE(X509_sign(certificate, options->issuer ? options->issuer->key : pair->key,
			   options->sha1 ? EVP_sha1() : EVP_sha256()) > 0);
	BIO *text = BIO_new(BIO_s_mem()), *key = BIO_new(BIO_s_mem());

	PEM_write_bio_X509(text, certificate);
	PEM_write_bio_PrivateKey(key, pair->key, NULL, NULL, 0, NULL, NULL);
	take_pem(text, &pair->certificate_pem);
	take_pem(key, &pair->key_pem);
}

void pki_make(
	struct pki_pair *pair, const struct pki_pair *issuer, const char *common_name, const char *names)
{
	pki_make_as(
		pair, &(struct pki_options){.issuer = issuer, .common_name = common_name, .names = names});
}

void pki_fini(struct pki_pair *pair)
{
	X509_free(pair->certificate);
	EVP_PKEY_free(pair->key);
	bt_buf_fini(&pair->certificate_pem);
	bt_buf_fini(&pair->key_pem);
}

SSL_CTX *pki_server(const struct pki_pair *pair, const struct pki_pair *clients)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());

	SSL_CTX_set_security_level(context, 0); /* allow the weak parameters of tests */
	BT_REQUIRE(SSL_CTX_use_certificate(context, pair->certificate) == 1);
	BT_REQUIRE(SSL_CTX_use_PrivateKey(context, pair->key) == 1);
	if (clients) {
		X509_STORE_add_cert(SSL_CTX_get_cert_store(context), clients->certificate);
		SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
		SSL_CTX_set_session_id_context(context, (const unsigned char *)"t", 1);
	}
	return context;
}

static int choose_h2(SSL *tls, const unsigned char **out, unsigned char *out_n, const unsigned char *in,
	unsigned n, void *context)
{
	const _Atomic bool *whether = context;

	(void)tls;
	if (whether && !bt_load_acquire(whether)) {
		return SSL_TLSEXT_ERR_NOACK;
	}
	for (unsigned at = 0; at + 2 < n; at += in[at] + 1u) {
		if (in[at] == 2 && in[at + 1] == 'h' && in[at + 2] == '2') {
			*out = in + at + 1;
			*out_n = 2;
			return SSL_TLSEXT_ERR_OK;
		}
	}
	return SSL_TLSEXT_ERR_NOACK;
}

void pki_choose_h2(SSL_CTX *context)
{
	SSL_CTX_set_alpn_select_cb(context, choose_h2, NULL);
}

void pki_choose_h2_while(SSL_CTX *context, _Atomic bool *whether)
{
	SSL_CTX_set_alpn_select_cb(context, choose_h2, whether);
}
