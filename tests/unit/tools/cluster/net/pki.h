/* SPDX-License-Identifier: Apache-2.0
 * Certificates for tests, made when they are needed.
 */
#pragma once

#include <openssl/ssl.h>

#include "engine/base/buf.h"

struct pki_pair {
	X509 *certificate;
	EVP_PKEY *key;
	struct bt_buf certificate_pem, key_pem;
};

/* A certificate that is not as usual. Zeroes: as usual. */
struct pki_wish {
	const struct pki_pair *issuer; /* NULL: signs itself */
	const char *common_name, *names;
	bool authority; /* may sign others */
	bool silent;	/* an authority without basic constraints */
	const char *uses, *constraints, *usage,
		*other;		    /* extendedKeyUsage, nameConstraints, keyUsage; an unknown, critical */
	const struct pki_pair *key; /* whose key it has */
	long from_s, until_s;	    /* from now; both 0: an hour ago, tomorrow */
	bool sha1, rsa;
	bool wrong_id; /* an authorityKeyIdentifier that is nobody's */
};

void pki_make_as(struct pki_pair *pair, const struct pki_wish *wish);

/* issuer: NULL: signs itself and may sign others. names: "DNS:localhost,IP:127.0.0.1"; NULL: none. */
void pki_make(
	struct pki_pair *pair, const struct pki_pair *issuer, const char *common_name, const char *names);
void pki_fini(struct pki_pair *pair);

/* What a server shows, and from whom it takes client certificates (NULL: it asks for none). */
SSL_CTX *pki_server(const struct pki_pair *pair, const struct pki_pair *clients);

/* Has the server choose HTTP/2; or only while *whether. */
void pki_choose_h2(SSL_CTX *context);
void pki_choose_h2_while(SSL_CTX *context, _Atomic bool *whether);
