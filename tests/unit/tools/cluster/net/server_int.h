/* SPDX-License-Identifier: Apache-2.0
 * Shared by the test server's two protocols.
 */
#pragma once

#include <pthread.h>

#include "server.h"

struct stream;

struct peer {
	struct peer *next;
	struct server *server;
	pthread_t thread;
	int fd;
	SSL *tls;
	struct stream *stream; /* NULL: HTTP/1.1; else one of a connection's */
};

struct server {
	int listener, stop[2];
	uint16_t port;
	SSL_CTX *tls;
	handler *handle;
	void *context;
	pthread_t thread;
	pthread_mutex_t lock;
	struct peer *peers;	    /* lock: all connections, open or closed */
	uint32_t peer_n, request_n; /* lock: */
	uint32_t stream_max;	    /* per connection; 0: not announced */
};

/* Returns: false when the server stops or the peer has disconnected. */
bool peer_wait_readable(struct peer *peer);

/* Serves an HTTP/2 connection to its end. */
void serve_h2(struct peer *peer);

bool stream_send(struct stream *stream, const char *bytes, size_t n);
bool stream_is(struct stream *stream, const char *common_name);
bool stream_resumed(struct stream *stream);
void stream_hang(struct stream *stream);
