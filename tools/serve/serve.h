/* SPDX-License-Identifier: Apache-2.0
 * The HTTPS server: health, metrics, configuration and debugging, for whom the API server allows it. The seam
 * to libmicrohttpd and GnuTLS. A connection has a thread of its own while it lasts, and limits: 64 of them,
 * 32 KiB of request, 30 s without progress. Certificates are read again when they have changed.
 */
#pragma once

#include "tools/serve/auth.h"
#include "tools/serve/sources.h"

struct bt_serve;

struct bt_serve_options {
	struct bt_serve_settings settings;
	struct bt_serve_sources sources; /* what they lead to outlives the server; tally is the server's */
	/* Who carries TokenReviews and the look-up of the client CA, and who SubjectAccessReviews. NULL:
	 * see struct bt_auth_options. */
	struct bt_http *authentication, *authorization;
	bt_auth_fetch fetch; /* bt_http_fetch */
	bool any_port;	     /* settings.port does not count; for tests */
	int64_t look_ns;     /* how often files are looked at; 0: 10 s; BT_FOREVER: never */
};

/*
 * Begins to serve. Signals are delivered to other threads.
 * Context: any thread. Requires: the sources' parts work already, or are not started yet.
 * Returns: the server; NULL with the reason and the remedy in out_error.
 * Owns: bt_serve_destroy, before the parts end.
 */
struct bt_serve *bt_serve_create(const struct bt_serve_options *options, struct bt_buf *out_error);
void bt_serve_destroy(struct bt_serve *serve);

uint16_t bt_serve_port(const struct bt_serve *serve);

/*
 * Reads certificates and the client CA again, and serves with them from the next connection on when they have
 * changed; with the old ones when they cannot be used, and a line of the log says why.
 * Context: any thread. Returns: whether there are new ones.
 */
bool bt_serve_reload(struct bt_serve *serve);
