/* SPDX-License-Identifier: Apache-2.0
 * The identity in a client's certificate. Source: k8s.io/apiserver/pkg/authentication/request/x509, v0.36.3.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"

/* Trusted certificate authorities. */
struct bt_authorities;

/* From certificates in PEM, one after the other. Returns: NULL when there is none, or one that cannot be
 * parsed, with the reason in out_error. Owns: bt_authorities_destroy. */
struct bt_authorities *bt_authorities_create(struct bt_str pem, struct bt_buf *out_error);
void bt_authorities_destroy(struct bt_authorities *authorities);

/*
 * Verifies a chain in DER, the client's own first, for use by a client. Calls group for each organization.
 * Context: any thread. Returns: BT_OK with the common name in out_name; BT_INVALID with the reason in
 * out_error.
 */
enum bt_status bt_authorities_verify(const struct bt_authorities *authorities, const struct bt_str *chain,
	uint32_t chain_n, struct bt_buf *out_name, void (*group)(void *context, struct bt_str name),
	void *context, struct bt_buf *out_error);
