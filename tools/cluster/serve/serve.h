/* SPDX-License-Identifier: Apache-2.0
 * The HTTPS server: health, metrics, configuration and debugging, for whom the API server allows it.
 * Connections have limits: how many there are, of all and of one peer, how long each step may take
 * (connections.h), 32 KiB of request. Certificates are read again when they have changed.
 */
#pragma once

#include "tools/cluster/serve/auth.h"
#include "tools/cluster/serve/connections.h"
#include "tools/cluster/serve/sources.h"

struct bt_serve;

struct bt_serve_options {
	struct bt_serve_settings settings;
	struct bt_serve_sources sources; /* what they lead to outlives the server; tally and work_queues are
					    the server's */
	/* Who carries TokenReviews and the look-up of the client CA, and who SubjectAccessReviews. NULL:
	 * see struct bt_auth_options. */
	struct bt_http *authentication, *authorization;
	bt_auth_fetch fetch; /* bt_http_fetch */
	bool any_port;	     /* settings.port does not count; for tests */
	/* Zeroes: bt_connections_create's, and no more connections than half of the descriptors that the
	 * process may have: the scheduler needs the others. */
	struct bt_connection_limits limits;
	int64_t look_ns; /* how often files are looked at; 0: 10 s; BT_FOREVER: never */
};

/* Is it one of Go's numbers of key exchanges (tls.CurveID)? */
bool bt_serve_knows_curve(uint32_t id);

/* Is it one of Go's names of cipher suites? */
bool bt_serve_knows_suite(struct bt_str name);

/* Says that a cipher suite is none, and which there are. */
void bt_serve_refuse_suite(struct bt_str name, struct bt_buf *out_error);

/* Lets the process open as many files as the system allows it, as Go's runtime does. Call it before
 * bt_serve_create, which leaves half of them to others. Returns: how many. */
uint64_t bt_serve_raise_files(void);

/*
 * Begins to serve. Signals are delivered to other threads.
 * Context: any thread. The sources' parts work already, or are not started yet.
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
