/* SPDX-License-Identifier: Apache-2.0
 * TLS of a client between two buffers: received bytes go in, bytes to send come out; no system calls are made
 * here. Context: one thread.
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
 * Trusted certificates and our own, and a cache of the server's session tickets, so that later connections
 * need no signatures on either side. Sessions belong to this context alone: another certificate needs another
 * context, so a session never carries an old identity over. A session is used once (RFC 8446, C.4).
 */
struct bt_client_tls_context;

/* The expected server, and why the last rejected one is not it. Context: the client's thread. */
struct bt_client_tls_judge {
	struct bt_buf name;  /* init: the host of the endpoint's URL */
	struct bt_buf proxy; /* init: likewise of a proxy over TLS; empty: none */
	bool insecure;	     /* init: any server is accepted */
	struct bt_buf refusal;
};

void bt_client_tls_judge_init(struct bt_client_tls_judge *judge, const struct bt_endpoint *endpoint);
void bt_client_tls_judge_fini(struct bt_client_tls_judge *judge);

/*
 * Settings that all clients share, which are Go's defaults as in client-go: TLS 1.2 at least and its suites,
 * no renegotiation, trust by tools/cluster/net/verify.h. Clients send their own certificates only, and no CA
 * that they trust: OpenSSL would add it, and a kube-apiserver verifies the whole chain again at each request.
 * judge: outlives the SSL_CTX and its connections.
 */
void bt_client_tls_prepare(SSL_CTX *ssl, struct bt_client_tls_judge *judge);

/* Returns: NULL: *out_fault and out_why have the reason. Owns: bt_client_tls_context_free, which may precede
 * the end of its connections. */
struct bt_client_tls_context *bt_client_tls_context_create(const struct bt_identity *identity,
	struct bt_client_tls_judge *judge, enum bt_http_fault *out_fault, struct bt_buf *out_why);
void bt_client_tls_context_free(struct bt_client_tls_context *context);

/* Whether authority contains a certificate. Context: any thread. */
bool bt_client_tls_trusts(struct bt_str authority);

/* Whether the key belongs to the certificate. Context: any thread. */
bool bt_client_tls_key_matches(struct bt_str certificate, struct bt_str key);

/* Prefix of the error for an untrusted server; the judge's reason follows. */
#define BT_TLS_REFUSAL "SSL certificate problem: "

/* The TLS of one connection. All zeroes: none. */
struct bt_client_tls {
	SSL *ssl;
	BIO *in, *out; /* of ssl */
	const struct bt_client_tls_judge *judge;
};

/* Starts a handshake with a server whose certificate must be for the judge's name. */
bool bt_client_tls_init(struct bt_client_tls *tls, struct bt_client_tls_context *context);
void bt_client_tls_fini(struct bt_client_tls *tls);

enum bt_client_tls_state { BT_TLS_READY = 0, BT_TLS_LATER, BT_TLS_FAILED };

enum bt_client_tls_state bt_client_tls_handshake(
	struct bt_client_tls *tls, enum bt_http_fault *out_fault, struct bt_buf *out_why);

/* Whether the server chose HTTP/2. */
bool bt_client_tls_is_h2(const struct bt_client_tls *tls);

/* Feeds bytes from the socket. */
void bt_client_tls_feed(struct bt_client_tls *tls, const char *bytes, size_t n);

/* Decrypted bytes: BT_TLS_READY with out_n bytes, BT_TLS_LATER when there are no more, BT_TLS_FAILED with the
 * reason. */
enum bt_client_tls_state bt_client_tls_read(
	struct bt_client_tls *tls, char *bytes, size_t cap, size_t *out_n, struct bt_buf *out_why);

bool bt_client_tls_write(struct bt_client_tls *tls, struct bt_str bytes);

/* Bytes for the socket; bt_client_tls_sent removes the first n. */
struct bt_str bt_client_tls_out(const struct bt_client_tls *tls);
void bt_client_tls_sent(struct bt_client_tls *tls, size_t n);
