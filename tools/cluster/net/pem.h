/* SPDX-License-Identifier: Apache-2.0
 * Bundles of certificates in PEM. What is no certificate does not end a bundle: as in Go, those behind it
 * count.
 * Context: any thread.
 */
#pragma once

#include <openssl/x509.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

/*
 * Appends the certificates of a text to out, in PEM and nothing between them. Text between blocks, blocks of
 * another type, and what is no block are passed over.
 * Returns: how many; out_broken_n: how many blocks say that they are a certificate, and are none.
 */
uint32_t bt_pem_certificates(struct bt_str text, struct bt_buf *out, uint32_t *out_broken_n);

/* The same, into a store. */
uint32_t bt_pem_trust(struct bt_str text, X509_STORE *store, uint32_t *out_broken_n);

/* For OpenSSL's readers of PEM: nobody is asked for a password. */
int bt_pem_no_password(char *out, int size, int writes, void *context);
