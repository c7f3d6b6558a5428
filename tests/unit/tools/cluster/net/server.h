/* SPDX-License-Identifier: Apache-2.0
 * A small server for tests: a thread listens on a free port of 127.0.0.1, and each connection has a thread
 * that reads requests and has a handler answer them. It speaks HTTP/1.1, over TLS or not; and HTTP/2 where
 * its TLS has chosen that, with a thread a stream. Handlers write HTTP/1.1 either way, which is translated.
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

/* Returns: whether the connection goes on. Context: the connection's thread. */
typedef bool handler(void *context, struct peer *peer, const struct request *request);

/* tls: NULL: none; stays the caller's until the server has stopped. */
struct server *server_start(SSL_CTX *tls, handler *handle, void *context);
uint16_t server_port(const struct server *server);
uint32_t server_connection_n(struct server *server);
uint32_t server_request_n(struct server *server); /* whole ones, also those that are not answered */

/* Connections are cut, threads joined. */
void server_stop(struct server *server);

/* Writes. Returns: false: the peer is gone. */
bool peer_send(struct peer *peer, const char *text);
bool peer_send_bytes(struct peer *peer, const char *bytes, size_t n);
bool peer_answer(struct peer *peer, int status, const char *headers, const char *body);

/* Whether the peer shows a client certificate of that common name, and none beside it; over TLS only. */
bool peer_is(struct peer *peer, const char *common_name);

/* Whether the peer's TLS goes on with an earlier session, and whether it has chosen HTTP/2. */
bool peer_resumed(struct peer *peer);
bool peer_speaks_h2(const struct peer *peer);

/* Waits until the server stops, or the peer goes. */
void peer_hang(struct peer *peer);

/* ---- of HTTP/2 alone ---- */

#define SERVER_NO_STREAMS UINT32_MAX

/* How many streams clients may have open on a connection; before any connects. */
void server_limit_streams(struct server *server, uint32_t n);

/* Ends the stream of a request by RST_STREAM. */
void peer_reset(struct peer *peer, uint32_t code);

/* GOAWAY: streams up to the one of this request are served, or those before it alone. */
void peer_goaway(struct peer *peer, bool with_this);

/* What is written from here on goes out with the cut that ends the connection, once the handler has returned
 * false: the client cannot call again in between. Without HTTP/2: nothing. */
void peer_hold(struct peer *peer);

/* Reads and writes nothing more on the connection of a request, until the server stops or the peer goes. */
void peer_fall_silent(struct peer *peer);

/* Waits until so many PINGs have come on the connection, or it ends. */
void peer_await_pings(struct peer *peer, uint32_t n);

/* Writes into the connection whatever it is. Returns: false: it has ended. */
bool peer_write_raw(struct peer *peer, const char *bytes, size_t n);

/* The value of a header of a request; empty: it has none. */
struct bt_str request_header(const struct request *request, const char *name);
