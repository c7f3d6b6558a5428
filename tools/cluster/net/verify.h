/* SPDX-License-Identifier: Apache-2.0
 * Which certificates are trusted, by the rules of Go's crypto/x509, which kube-scheduler and kube-apiserver
 * follow: every issuer with a matching subject is tried, names are read from subjectAltName only. OpenSSL
 * checks each chain that is found.
 * Context: any thread.
 */
#pragma once

#include <openssl/x509.h>
#include <stdbool.h>

#include "engine/base/buf.h"

/* The usage that a certificate, and every CA above it that lists usages, must allow. */
enum bt_verify_use { BT_VERIFY_SERVER = 0, BT_VERIFY_CLIENT };

/*
 * Whether a chain leads from own, through others (the certificates that the peer sent with it; NULL: none),
 * to a certificate of store. level: the minimal strength of keys and digests, as SSL_CTX_get_security_level;
 * never below 1, which excludes SHA-1.
 * Returns: X509_V_OK, or an error; then out_why has the reason as text.
 */
int bt_verify_chain(X509 *own, STACK_OF(X509) * others, X509_STORE *store, enum bt_verify_use use, int level,
	struct bt_buf *out_why);

/* Whether a certificate is valid for a host, a name or an address. Returns: likewise. */
int bt_verify_name(const X509 *own, struct bt_str host, struct bt_buf *out_why);
