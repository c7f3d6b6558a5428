/* SPDX-License-Identifier: Apache-2.0
 * Bundles of certificates in PEM, as Go's encoding/pem and crypto/x509 read them: OpenSSL ends at the first
 * block that is none, and what stands behind it would not be trusted.
 * Context: any thread.
 */
#pragma once

#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

/*
 * Appends the certificates of a text to out, in PEM and nothing between them. Text between blocks, blocks of
 * another type or with headers, and what is no block are passed over.
 * Returns: how many; out_broken_n: how many blocks say that they are a certificate, and are none.
 */
uint32_t bt_pem_certificates(struct bt_str text, struct bt_buf *out, uint32_t *out_broken_n);
