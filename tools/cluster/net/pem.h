/* SPDX-License-Identifier: Apache-2.0
 * Bundles of certificates in PEM. A block that is not a certificate does not end a bundle: as in Go, later
 * ones are still read.
 * Context: any thread.
 */
#pragma once

#include <openssl/x509.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

/*
 * Appends the certificates of a text to out, in PEM without anything between them. Text between blocks,
 * blocks of another type, and invalid blocks are skipped.
 * Returns: the number of certificates; out_broken_n: the number of blocks labelled as certificates that are
 * not.
 */
uint32_t bt_pem_certificates(struct bt_str text, struct bt_buf *out, uint32_t *out_broken_n);

/* The same, into a store. */
uint32_t bt_pem_trust(struct bt_str text, X509_STORE *store, uint32_t *out_broken_n);

/* A password callback for OpenSSL's PEM readers that never prompts. */
int bt_pem_no_password(char *out, int size, int writes, void *context);
