/* SPDX-License-Identifier: Apache-2.0
 * A small server for tests: a thread listens on a free port of 127.0.0.1, and a thread for each connection
 * reads requests and calls a handler. HTTP/1.1, with or without TLS; and HTTP/2 if TLS has selected it, with
 * a thread per stream. Handlers always write HTTP/1.1, which is translated for HTTP/2.
 */
#pragma once

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

struct server;
struct peer; /* a connection */

struct request {
	struct bt_str method, path, headers, body; /* headers: their lines */
	uint32_t nth;				   /* on this connection, from 0 */
};

/* Returns: whether the connection stays open. Context: the connection's thread. */
typedef bool handler(void *context, struct peer *peer, const struct request *request);

/* tls: NULL: none; owned by the caller, valid until the server has stopped. */
struct server *server_start(SSL_CTX *tls, handler *handle, void *context);
uint16_t server_port(const struct server *server);
uint32_t server_connection_n(struct server *server);
uint32_t server_request_n(struct server *server); /* complete ones, answered or not */

/* Closes connections and joins threads. */
void server_stop(struct server *server);

/* Writes. Returns: false: the peer has closed the connection. */
bool peer_send(struct peer *peer, const char *text);
bool peer_send_bytes(struct peer *peer, const char *bytes, size_t n);
bool peer_answer(struct peer *peer, int status, const char *headers, const char *body);

/* Does the peer present a client certificate with this common name, and no other? Over TLS only. */
bool peer_is(struct peer *peer, const char *common_name);

/* Has the peer's TLS resumed a session; has it selected HTTP/2? */
bool peer_resumed(struct peer *peer);
bool peer_speaks_h2(const struct peer *peer);

/* Waits until the server stops, or the peer disconnects. */
void peer_hang(struct peer *peer);

/* ---- HTTP/2 only ---- */

#define SERVER_NO_STREAMS UINT32_MAX

/* Limit of concurrent streams per connection; call before any connects. */
void server_limit_streams(struct server *server, uint32_t n);

/* Ends the stream of a request by RST_STREAM. */
void peer_reset(struct peer *peer, uint32_t code);

/* GOAWAY: streams up to this request's are served, or only those before it. */
void peer_goaway(struct peer *peer, bool with_this);

/* Holds back output from here on, until the connection is closed after the handler has returned
 * false: the client cannot call again in between. Without HTTP/2: no effect. */
void peer_hold(struct peer *peer);

/* Stops reading and writing on the request's connection, until the server stops or the peer disconnects. */
void peer_fall_silent(struct peer *peer);

/* Waits until this many PINGs have arrived on the connection, or it ends. */
void peer_await_pings(struct peer *peer, uint32_t n);

/* Writes raw bytes to the connection. Returns: false: it has ended. */
bool peer_write_raw(struct peer *peer, const char *bytes, size_t n);

/* The value of a request's header; empty: none. */
struct bt_str request_header(const struct request *request, const char *name);
