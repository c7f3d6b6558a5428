/* SPDX-License-Identifier: Apache-2.0
 * A front proxy names the user in headers; they are trusted if the proxy has a certificate of the configured
 * CA.
 * Source: k8s.io/apiserver/pkg/authentication/request/headerrequest, v0.36.3.
 * Context: any thread; immutable once made.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "tools/cluster/serve/review.h"
#include "tools/cluster/serve/settings.h"

/* A header of a request, as it was sent. */
struct bt_header {
	struct bt_str name, value;
};

struct bt_front_proxy;

/*
 * Creates a front proxy from its CA in PEM and its header names; texts are copied.
 * Returns: NULL with the reason in out_error when the CA cannot be parsed.
 * Owns: bt_front_proxy_destroy.
 */
struct bt_front_proxy *bt_front_proxy_create(
	struct bt_str pem, const struct bt_front_proxy_settings *settings, struct bt_buf *out_error);
void bt_front_proxy_destroy(struct bt_front_proxy *proxy);

/*
 * The user of a request whose client sent this chain of certificates (DER, its own first).
 * Returns: BT_OK with the user; BT_NOT_FOUND: it is the proxy, but names no user; BT_INVALID with the reason
 * in out_error: it is not such a proxy.
 */
enum bt_status bt_front_proxy_identify(const struct bt_front_proxy *proxy, const struct bt_str *chain,
	uint32_t chain_n, const struct bt_header *headers, uint32_t header_n, struct bt_user *out_user,
	struct bt_buf *out_error);
