/* SPDX-License-Identifier: Apache-2.0
 * The HTTPS server: health, metrics, configuration and debugging, for clients that the API server authorizes.
 * Connections are limited: their number, in total and per peer, the time of each step (connections.h), 32 KiB
 * per request. Certificates are read again when they have changed.
 */
#pragma once

#include "tools/cluster/serve/auth.h"
#include "tools/cluster/serve/connections.h"
#include "tools/cluster/serve/sources.h"

struct bt_serve;

struct bt_serve_options {
	struct bt_serve_settings settings;
	struct bt_serve_sources sources; /* its parts outlive the server; tally and work_queues are the
					  * server's */
	/* The clients for TokenReviews and the lookup of the client CA, and for SubjectAccessReviews. NULL:
	 * see struct bt_auth_options. */
	struct bt_http *authentication, *authorization;
	bt_auth_fetch fetch; /* bt_http_fetch */
	bool any_port;	     /* ignores settings.port; for tests */
	/* Zeroes: the defaults of bt_connections_create, but no more connections than half of the descriptors
	 * that the process may have: the scheduler needs the others. */
	struct bt_connection_limits limits;
	int64_t look_ns; /* how often files are checked; 0: 10 s; BT_FOREVER: never */
};

/* Whether it is one of Go's curve ids (tls.CurveID). */
bool bt_serve_knows_curve(uint32_t id);

/* Whether it is one of Go's names of cipher suites. */
bool bt_serve_knows_suite(struct bt_str name);

/* Appends that the cipher suite is unknown, and the known ones. */
void bt_serve_refuse_suite(struct bt_str name, struct bt_buf *out_error);

/* Raises the limit of open files to the hard limit, as Go's runtime does. To be called before
 * bt_serve_create, which leaves half of them to others. Returns: the limit. */
uint64_t bt_serve_raise_files(void);

/*
 * Starts to serve. Signals are delivered to other threads.
 * Context: any thread. The sources' parts are running, or not started yet.
 * Returns: the server; NULL with the reason and the remedy in out_error.
 * Owns: bt_serve_destroy, before the parts end.
 */
struct bt_serve *bt_serve_create(const struct bt_serve_options *options, struct bt_buf *out_error);
void bt_serve_destroy(struct bt_serve *serve);

uint16_t bt_serve_port(const struct bt_serve *serve);

/*
 * Reads certificates and the client CA again. Changed ones are used from the next connection on; if they are
 * not valid, the old ones stay, and the reason is logged.
 * Context: any thread. Returns: whether there are new ones.
 */
bool bt_serve_reload(struct bt_serve *serve);
