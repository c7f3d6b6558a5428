/* SPDX-License-Identifier: Apache-2.0
 * Which certificates are trusted, by the rules of Go's crypto/x509, which kube-scheduler and kube-apiserver
 * follow: every issuer of a subject is tried, names stand in subjectAltName alone. OpenSSL checks each chain
 * that is found.
 * Context: any thread.
 */
#pragma once

#include <openssl/x509.h>
#include <stdbool.h>

#include "engine/base/buf.h"

/* What a certificate, and every authority above it that lists uses, must be good for. */
enum bt_verify_use { BT_VERIFY_SERVER = 0, BT_VERIFY_CLIENT };

/*
 * Whether a chain leads from own, by others (whatever was shown beside it; NULL: nothing), to a certificate
 * of store. level: what keys and digests must be worth, as SSL_CTX_get_security_level; never below 1, which
 * leaves SHA-1 out.
 * Returns: X509_V_OK, or why there is none; then out_why has it in words.
 */
int bt_verify_chain(X509 *own, STACK_OF(X509) * others, X509_STORE *store, enum bt_verify_use use, int level,
	struct bt_buf *out_why);

/* Whether a certificate is for a host, which is a name or an address. Returns: likewise. */
int bt_verify_name(const X509 *own, struct bt_str host, struct bt_buf *out_why);
