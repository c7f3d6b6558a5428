/* SPDX-License-Identifier: Apache-2.0
 * TLS of a client between two buffers: what came from the socket goes in, what has to go there comes out, and
 * nobody here makes a system call. Context: one thread.
 */
#pragma once

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "tools/cluster/net/client_config_int.h"
#include "tools/cluster/net/http_int.h"

/*
 * Whom to trust, and what to show; and the sessions that a server offers to go on with, so that a connection
 * after the first costs neither side signatures. They are of this context alone: another certificate, another
 * context, so that a session never carries an old identity over. A session is used once (RFC 8446, C.4).
 */
struct bt_client_tls_context;

/* Who a server has to be, and why the last one that was refused is not. Context: the client's thread. */
struct bt_client_tls_judge {
	struct bt_buf name;  /* init: the host of the endpoint's URL */
	struct bt_buf proxy; /* init: likewise of a proxy that is spoken to by TLS; empty: none */
	bool insecure;	     /* init: anybody is taken */
	struct bt_buf refusal;
};

void bt_client_tls_judge_init(struct bt_client_tls_judge *judge, const struct bt_endpoint *endpoint);
void bt_client_tls_judge_fini(struct bt_client_tls_judge *judge);

/*
 * What all clients have in common, as client-go's have it by Go's defaults: TLS 1.2 at least and its suites,
 * no renegotiation, and who is trusted (tools/cluster/net/verify.h). They show the certificates that they
 * were given, and no CA that they trust: OpenSSL would let it go along, and a kube-apiserver verifies all
 * that is shown anew with each request. judge: outlives the SSL_CTX and its connections.
 */
void bt_client_tls_prepare(SSL_CTX *ssl, struct bt_client_tls_judge *judge);

/* Returns: NULL: *out_fault and out_why say why. Owns: bt_client_tls_context_free, also before its
 * connections. */
struct bt_client_tls_context *bt_client_tls_context_create(const struct bt_identity *identity,
	struct bt_client_tls_judge *judge, enum bt_http_fault *out_fault, struct bt_buf *out_why);
void bt_client_tls_context_free(struct bt_client_tls_context *context);

/* Whether there is a certificate to trust. Context: any thread. */
bool bt_client_tls_trusts(struct bt_str authority);

/* Whether a certificate can be shown with this key. Context: any thread. */
bool bt_client_tls_belong(struct bt_str certificate, struct bt_str key);

/* What an error of a server that is not trusted begins with; the judge's refusal follows. */
#define BT_TLS_REFUSAL "SSL certificate problem: "

/* One connection's. All zeroes: none. */
struct bt_client_tls {
	SSL *ssl;
	BIO *in, *out; /* of ssl */
	const struct bt_client_tls_judge *judge;
};

/* Begins to shake hands with a server whose certificate must be for the judge's name. */
bool bt_client_tls_init(struct bt_client_tls *tls, struct bt_client_tls_context *context);
void bt_client_tls_fini(struct bt_client_tls *tls);

enum bt_client_tls_state { BT_TLS_READY = 0, BT_TLS_LATER, BT_TLS_FAILED };

enum bt_client_tls_state bt_client_tls_shake(
	struct bt_client_tls *tls, enum bt_http_fault *out_fault, struct bt_buf *out_why);

/* Whether the server has chosen HTTP/2. */
bool bt_client_tls_is_h2(const struct bt_client_tls *tls);

/* What came from the socket. */
void bt_client_tls_feed(struct bt_client_tls *tls, const char *bytes, size_t n);

/* What was in it; BT_TLS_READY with out_n bytes, BT_TLS_LATER where there is no more, BT_TLS_FAILED with why.
 */
enum bt_client_tls_state bt_client_tls_read(
	struct bt_client_tls *tls, char *bytes, size_t cap, size_t *out_n, struct bt_buf *out_why);

bool bt_client_tls_write(struct bt_client_tls *tls, struct bt_str bytes);

/* What has to go to the socket, and that so much of it went. */
struct bt_str bt_client_tls_out(const struct bt_client_tls *tls);
void bt_client_tls_sent(struct bt_client_tls *tls, size_t n);
