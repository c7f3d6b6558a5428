/* SPDX-License-Identifier: Apache-2.0
 * Certificates and keys for tests: authorities, clients and servers, valid or not.
 */
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

struct identity {
	EVP_PKEY *key;
	X509 *certificate;
	unsigned char *der;
	int der_n;
	char pem[4096], key_pem[4096];
};

static inline void identity_extend(X509 *certificate, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX context;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);

	assert_non_null(extension);
	assert_int_equal(X509_add_ext(certificate, extension, -1), 1);
	X509_EXTENSION_free(extension);
}

static inline void identity_write(BIO *bio, char *out, size_t size)
{
	char *bytes;
	long n = BIO_get_mem_data(bio, &bytes);

	assert_true(n > 0 && (size_t)n < size);
	snprintf(out, size, "%.*s", (int)n, bytes);
	BIO_free(bio);
}

/* Signed by issuer, or a self-signed CA when that is NULL; valid from an hour ago until then.
 * alternatives: subject alternative names in OpenSSL's syntax. Owns: takes key. */
static inline void identity_make_for(struct identity *out, EVP_PKEY *key, const struct identity *issuer,
	const char *name, const char *organization, const char *alternatives, long seconds)
{
	static long serial = 100;
	BIO *bio = BIO_new(BIO_s_mem()), *key_bio = BIO_new(BIO_s_mem());

	out->key = key;
	out->certificate = X509_new();
	X509 *by = issuer ? issuer->certificate : out->certificate;
	X509_NAME *subject = X509_get_subject_name(out->certificate);

	X509_set_version(out->certificate, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(out->certificate), serial++);
	X509_gmtime_adj(X509_getm_notBefore(out->certificate), -3600);
	X509_gmtime_adj(X509_getm_notAfter(out->certificate), seconds);
	X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0);
	if (organization) {
		X509_NAME_add_entry_by_txt(
			subject, "O", MBSTRING_UTF8, (const unsigned char *)organization, -1, -1, 0);
	}
	X509_set_issuer_name(out->certificate, X509_get_subject_name(by));
	X509_set_pubkey(out->certificate, out->key);
	identity_extend(out->certificate, by, NID_basic_constraints,
		issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
	if (issuer) {
		identity_extend(out->certificate, by, NID_ext_key_usage, "clientAuth,serverAuth");
		identity_extend(out->certificate, by, NID_subject_alt_name, alternatives);
	}
	assert_true(X509_sign(out->certificate, issuer ? issuer->key : out->key, EVP_sha256()) > 0);
	out->der = NULL;
	out->der_n = i2d_X509(out->certificate, &out->der);
	assert_true(out->der_n > 0);
	assert_int_equal(PEM_write_bio_X509(bio, out->certificate), 1);
	assert_int_equal(PEM_write_bio_PrivateKey(key_bio, out->key, NULL, NULL, 0, NULL, NULL), 1);
	identity_write(bio, out->pem, sizeof(out->pem));
	identity_write(key_bio, out->key_pem, sizeof(out->key_pem));
}

static inline void identity_make(struct identity *out, const struct identity *issuer, const char *name,
	const char *organization, long seconds)
{
	identity_make_for(
		out, EVP_EC_gen("P-256"), issuer, name, organization, "DNS:localhost,IP:127.0.0.1", seconds);
}

static inline void identity_drop(struct identity *identity)
{
	OPENSSL_free(identity->der);
	X509_free(identity->certificate);
	EVP_PKEY_free(identity->key);
}
