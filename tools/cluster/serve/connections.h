/* SPDX-License-Identifier: Apache-2.0
 * The server's connections: who may stay for how long, and who has to leave when there is no room. Knows no
 * sockets and no clock: one thread tells it what happens when, and does what it says.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* What 0 stands for is in bt_connections_create. */
struct bt_connection_limits {
	uint32_t connections;
	int64_t stay_ns; /* so long a connection stays, however many others wait */
	/* How long a client may take for the TLS handshake, for a request's head, for its body, for reading
	 * an answer, and between two requests. */
	int64_t handshake_ns, head_ns, body_ns, write_ns, idle_ns;
};

/*
 * A connection: handshake -> head -> body -> answering -> writing -> idle -> body -> ...; each goes to
 * closing, and from there out of the table. Arrows are bt_connections_enter, which asserts them.
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
 * kept for clients that nobody knows: probes. Owns: bt_connections_destroy. */
struct bt_connections *bt_connections_create(const struct bt_connection_limits *limits);
void bt_connections_destroy(struct bt_connections *connections);

/* What counts, with its defaults. */
const struct bt_connection_limits *bt_connections_limits(const struct bt_connections *connections);

/*
 * When another connection may be accepted, and which one leaves for it: of those whose client is not
 * authenticated the oldest one, of peers that have their share of all connections or more; else the one that
 * has been idle for longest. A peer is an address; of IPv6, a network of 64 bits.
 * Returns: 0: there is room; else when *out_victim may leave (BT_CONNECTION_NONE: nobody has to);
 * INT64_MAX: nobody may, until something happens.
 */
int64_t bt_connections_room_ns(const struct bt_connections *connections, uint32_t *out_victim);

/* The connection that leaves first, at once, when the process has no descriptor left; BT_CONNECTION_NONE:
 * nobody. */
uint32_t bt_connections_victim(const struct bt_connections *connections);

/* A connection in the handshake. Requires: there is room. */
uint32_t bt_connections_add(struct bt_connections *connections, const struct sockaddr *peer, int64_t now_ns);
void bt_connections_remove(struct bt_connections *connections, uint32_t ix);

/* Its state from now on, with that state's deadline. */
void bt_connections_enter(
	struct bt_connections *connections, uint32_t ix, enum bt_connection_state state, int64_t now_ns);

/* Its client is known: it no longer makes room for others, but while it is idle. Nothing happens when known
 * clients have all that is not kept for the others. */
void bt_connections_authenticated(struct bt_connections *connections, uint32_t ix);

/* A connection whose time is over; BT_CONNECTION_NONE: none. */
uint32_t bt_connections_late(const struct bt_connections *connections, int64_t now_ns);

/* When the next one's time is over; INT64_MAX: never. */
int64_t bt_connections_deadline(const struct bt_connections *connections);

uint32_t bt_connections_n(const struct bt_connections *connections);
enum bt_connection_state bt_connections_state(const struct bt_connections *connections, uint32_t ix);
