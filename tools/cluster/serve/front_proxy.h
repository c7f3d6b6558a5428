/* SPDX-License-Identifier: Apache-2.0
 * A front proxy says in headers who somebody is, and is believed when it shows a certificate of its own CA.
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
 * Of its CA in PEM, and of what it may say in which headers; texts are copied.
 * Returns: NULL with the reason in out_error when the CA cannot be read. Owns: bt_front_proxy_destroy.
 */
struct bt_front_proxy *bt_front_proxy_create(
	struct bt_str pem, const struct bt_front_proxy_settings *settings, struct bt_buf *out_error);
void bt_front_proxy_destroy(struct bt_front_proxy *proxy);

/*
 * Who a request is, whose client has shown this chain of certificates (DER, its own first).
 * Returns: BT_OK with the user; BT_NOT_FOUND: it is the proxy, and says nobody;
 * BT_INVALID with the reason in out_error: it is no such proxy.
 */
enum bt_status bt_front_proxy_identify(const struct bt_front_proxy *proxy, const struct bt_str *chain,
	uint32_t chain_n, const struct bt_header *headers, uint32_t header_n, struct bt_user *out_user,
	struct bt_buf *out_error);
