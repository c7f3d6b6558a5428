/* SPDX-License-Identifier: Apache-2.0
 * Certificates for tests, generated on demand.
 */
#pragma once

#include <openssl/ssl.h>

#include "engine/base/buf.h"

struct pki_pair {
	X509 *certificate;
	EVP_PKEY *key;
	struct bt_buf certificate_pem, key_pem;
};

/* Deviations of a certificate. Zeroes: none. */
struct pki_options {
	const struct pki_pair *issuer; /* NULL: self-signed */
	const char *common_name, *names;
	bool authority; /* a CA */
	bool silent;	/* a CA without basic constraints */
	const char *uses, *constraints, *usage,
		*other;		    /* extendedKeyUsage, nameConstraints, keyUsage; an unknown, critical */
	const struct pki_pair *key; /* the key to certify */
	long from_s, until_s;	    /* validity from now; both 0: from an hour ago until tomorrow */
	bool sha1, rsa;
	bool wrong_id; /* an authorityKeyIdentifier that matches no key */
};

void pki_make_as(struct pki_pair *pair, const struct pki_options *options);

/* issuer: NULL: a self-signed CA. names: "DNS:localhost,IP:127.0.0.1"; NULL: none. */
void pki_make(
	struct pki_pair *pair, const struct pki_pair *issuer, const char *common_name, const char *names);
void pki_fini(struct pki_pair *pair);

/* The server's certificate, and the CA of client certificates (NULL: none are requested). */
SSL_CTX *pki_server(const struct pki_pair *pair, const struct pki_pair *clients);

/* Makes the server select HTTP/2; or only while *whether. */
void pki_choose_h2(SSL_CTX *context);
void pki_choose_h2_while(SSL_CTX *context, _Atomic bool *whether);
