/* SPDX-License-Identifier: Apache-2.0
 * The server's connections: deadlines, and which one is closed when there is no room. Has no sockets and no
 * clock: one thread reports events and closes the connections that this module selects.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* bt_connections_create lists the defaults for 0. */
struct bt_connection_limits {
	uint32_t connections;
	int64_t stay_ns; /* minimal time that a connection stays open, however many others wait */
	/* Timeouts of a client for the TLS handshake, for a request's head, for its body, for reading an
	 * answer, and between two requests. */
	int64_t handshake_ns, head_ns, body_ns, write_ns, idle_ns;
};

/*
 * A connection: handshake -> head -> body -> answering -> writing -> idle -> body ->...; each goes to
 * closing, and from there out of the table. bt_connections_enter makes and asserts each transition.
 */
enum bt_connection_state {
	BT_CONNECTION_FREE = 0,
	BT_CONNECTION_HANDSHAKE,
	BT_CONNECTION_HEAD,
	BT_CONNECTION_BODY,
	BT_CONNECTION_ANSWERING, /* the server's own time: no deadline */
	BT_CONNECTION_WRITING,
	BT_CONNECTION_IDLE,
	BT_CONNECTION_CLOSING,
};

#define BT_CONNECTION_NONE UINT32_MAX

struct bt_connections;

/* Zeroes become: 512 connections, 0.2 s to stay, 10 s for a handshake, 32 s for a head (kube-scheduler's) and
 * for a body, 60 s for reading an answer, 90 s between two requests (kube-scheduler's). An eighth of all is
 * reserved for unauthenticated clients: probes. Owns: bt_connections_destroy. */
struct bt_connections *bt_connections_create(const struct bt_connection_limits *limits);
void bt_connections_destroy(struct bt_connections *connections);

/* The limits, with defaults. */
const struct bt_connection_limits *bt_connections_limits(const struct bt_connections *connections);

/*
 * When another connection may be accepted, and which one is closed for it: of unauthenticated clients the
 * oldest one, among the peers that have their share of all connections or more; else the one that has been
 * idle for longest. A peer is an address; of IPv6, a network of 64 bits.
 * Returns: 0: there is room; else when *out_victim may be closed (BT_CONNECTION_NONE: none needs to be);
 * INT64_MAX: none may be, until the next event.
 */
int64_t bt_connections_room_ns(const struct bt_connections *connections, uint32_t *out_victim);

/* The connection to close first, immediately, when the process has no descriptor left; BT_CONNECTION_NONE:
 * none. */
uint32_t bt_connections_victim(const struct bt_connections *connections);

/* Adds a connection in the handshake. Requires: there is room. */
uint32_t bt_connections_add(struct bt_connections *connections, const struct sockaddr *peer, int64_t now_ns);
void bt_connections_remove(struct bt_connections *connections, uint32_t ix);

/* Enters a state, and starts that state's deadline. */
void bt_connections_enter(
	struct bt_connections *connections, uint32_t ix, enum bt_connection_state state, int64_t now_ns);

/* Its client is authenticated: it is closed for others only while it is idle. No effect when authenticated
 * clients have all connections that are not reserved. */
void bt_connections_authenticated(struct bt_connections *connections, uint32_t ix);

/* A connection whose deadline has passed; BT_CONNECTION_NONE: none. */
uint32_t bt_connections_late(const struct bt_connections *connections, int64_t now_ns);

/* The next deadline; INT64_MAX: none. */
int64_t bt_connections_deadline(const struct bt_connections *connections);

uint32_t bt_connections_n(const struct bt_connections *connections);
enum bt_connection_state bt_connections_state(const struct bt_connections *connections, uint32_t ix);
