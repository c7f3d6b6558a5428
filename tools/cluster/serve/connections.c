/* SPDX-License-Identifier: Apache-2.0
 * The table of connections. It has a few hundred entries, so every lookup is a scan.
 */
#include "tools/cluster/serve/connections.h"

#include <netinet/in.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

#define SECOND_NS     INT64_C(1000000000)
#define PEER_BYTES    16
#define NETWORK_BYTES 8

struct client_connection {
	enum bt_connection_state state;
	bool authenticated;
	uint32_t peer_ix;
	uint64_t age;	     /* order of arrival; for authenticated clients, of becoming idle */
	int64_t stays_ns;    /* not closed for others before */
	int64_t deadline_ns; /* INT64_MAX: none */
};

struct peer {
	unsigned char name[PEER_BYTES];
	uint32_t connection_n; /* 0: free */
};

struct bt_connections {
	struct bt_connection_limits limits; /* init: */
	struct client_connection *items;    /* init: limits.connections of them */
	struct peer *peers;		    /* init: likewise */
	uint32_t n, known_n, peer_n;
	uint64_t next_age;
};

struct bt_connections *bt_connections_create(const struct bt_connection_limits *limits)
{
	struct bt_connections *table = bt_mem_zalloc(1, sizeof(*table));
	struct bt_connection_limits *of = &table->limits;

	*of = *limits;
	of->connections = of->connections ? of->connections : 512;
	of->stay_ns = of->stay_ns ? of->stay_ns : SECOND_NS / 5;
	of->handshake_ns = of->handshake_ns ? of->handshake_ns : 10 * SECOND_NS;
	of->head_ns = of->head_ns ? of->head_ns : 32 * SECOND_NS;
	of->body_ns = of->body_ns ? of->body_ns : 32 * SECOND_NS;
	of->write_ns = of->write_ns ? of->write_ns : 60 * SECOND_NS;
	of->idle_ns = of->idle_ns ? of->idle_ns : 90 * SECOND_NS;
	table->items = bt_mem_zalloc(of->connections, sizeof(*table->items));
	table->peers = bt_mem_zalloc(of->connections, sizeof(*table->peers));
	return table;
}

void bt_connections_destroy(struct bt_connections *table)
{
	if (table) {
		bt_mem_free(table->items);
		bt_mem_free(table->peers);
		bt_mem_free(table);
	}
}

const struct bt_connection_limits *bt_connections_limits(const struct bt_connections *table)
{
	return &table->limits;
}

/* The address in IPv6 form; only its network, because a host can choose the rest. */
static void name_peer(const struct sockaddr *peer, unsigned char out[PEER_BYTES])
{
	memset(out, 0, PEER_BYTES);
	if (peer->sa_family == AF_INET) {
		out[10] = out[11] = 0xff;
		memcpy(out + 12, &((const struct sockaddr_in *)(const void *)peer)->sin_addr, 4);
	} else if (peer->sa_family == AF_INET6) {
		const struct in6_addr *address =
			&((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;
		bool whole = IN6_IS_ADDR_V4MAPPED(address) || IN6_IS_ADDR_LOOPBACK(address);

		memcpy(out, address, whole ? PEER_BYTES : NETWORK_BYTES);
	}
}

/* Requires: fewer connections than the limit, so that an entry is free. */
static uint32_t find_peer(const struct bt_connections *table, const struct sockaddr *peer)
{
	unsigned char name[PEER_BYTES];
	uint32_t free_ix = 0;

	name_peer(peer, name);
	for (uint32_t i = 0; i < table->limits.connections; i++) {
		if (!table->peers[i].connection_n) {
			free_ix = i;
		} else if (memcmp(table->peers[i].name, name, PEER_BYTES) == 0) {
			return i;
		}
	}
	memcpy(table->peers[free_ix].name, name, PEER_BYTES);
	return free_ix;
}

/* A connection that is being answered stays: it ends soon by itself. */
static bool may_leave(const struct client_connection *one)
{
	return one->state != BT_CONNECTION_FREE && one->state != BT_CONNECTION_CLOSING &&
	       one->state != BT_CONNECTION_ANSWERING &&
	       (!one->authenticated || one->state == BT_CONNECTION_IDLE);
}

/* Whether a peer has its share of all connections, or more. */
static bool has_share(const struct bt_connections *table, const struct client_connection *one)
{
	return table->peers[one->peer_ix].connection_n >= table->n / table->peer_n;
}

/* The order of closing: unauthenticated clients before idle authenticated ones; those of peers with many
 * connections before those of peers with few; the oldest. */
static bool leaves_before(const struct bt_connections *table, const struct client_connection *one,
	const struct client_connection *other)
{
	if (one->authenticated != other->authenticated) {
		return !one->authenticated;
	}
	if (has_share(table, one) != has_share(table, other)) {
		return has_share(table, one);
	}
	return one->age < other->age;
}

uint32_t bt_connections_victim(const struct bt_connections *table)
{
	uint32_t victim = BT_CONNECTION_NONE;

	for (uint32_t i = 0; i < table->limits.connections; i++) {
		if (may_leave(&table->items[i]) &&
			(victim == BT_CONNECTION_NONE ||
				leaves_before(table, &table->items[i], &table->items[victim]))) {
			victim = i;
		}
	}
	return victim;
}

/* A closed client may reconnect immediately. Without a minimal stay, a few such clients would close a probe's
 * connection before its request; so others wait, in order of arrival, in the listen backlog. */
int64_t bt_connections_room_ns(const struct bt_connections *table, uint32_t *out_victim)
{
	bool full = table->n >= table->limits.connections;

	*out_victim = full ? bt_connections_victim(table) : BT_CONNECTION_NONE;
	if (!full) {
		return 0;
	}
	return *out_victim == BT_CONNECTION_NONE ? INT64_MAX : table->items[*out_victim].stays_ns;
}

static int64_t time_for(const struct bt_connections *table, enum bt_connection_state state)
{
	switch (state) {
	case BT_CONNECTION_HANDSHAKE:
		return table->limits.handshake_ns;
	case BT_CONNECTION_HEAD:
		return table->limits.head_ns;
	case BT_CONNECTION_BODY:
		return table->limits.body_ns;
	case BT_CONNECTION_WRITING:
		return table->limits.write_ns;
	case BT_CONNECTION_IDLE:
		return table->limits.idle_ns;
	case BT_CONNECTION_FREE:
	case BT_CONNECTION_ANSWERING:
	case BT_CONNECTION_CLOSING:
		break;
	}
	return INT64_MAX;
}

static void set_state(
	struct bt_connections *table, uint32_t ix, enum bt_connection_state state, int64_t now_ns)
{
	struct client_connection *one = &table->items[ix];
	int64_t time_ns = time_for(table, state);

	one->state = state;
	one->deadline_ns = time_ns < INT64_MAX - now_ns ? now_ns + time_ns : INT64_MAX;
}

uint32_t bt_connections_add(struct bt_connections *table, const struct sockaddr *peer, int64_t now_ns)
{
	uint32_t ix = 0;

	BT_REQUIRE(table->n < table->limits.connections);
	while (table->items[ix].state != BT_CONNECTION_FREE) {
		ix++;
	}
	table->items[ix] = (struct client_connection){.peer_ix = find_peer(table, peer),
		.age = table->next_age++,
		.stays_ns = now_ns + table->limits.stay_ns};
	table->peer_n += table->peers[table->items[ix].peer_ix].connection_n++ == 0;
	set_state(table, ix, BT_CONNECTION_HANDSHAKE, now_ns);
	table->n++;
	return ix;
}

void bt_connections_remove(struct bt_connections *table, uint32_t ix)
{
	BT_REQUIRE(ix < table->limits.connections && table->items[ix].state != BT_CONNECTION_FREE);
	table->known_n -= table->items[ix].authenticated;
	table->peer_n -= --table->peers[table->items[ix].peer_ix].connection_n == 0;
	table->items[ix] = (struct client_connection){.state = BT_CONNECTION_FREE};
	table->n--;
}

/* A client that sends its next request before it has read an answer goes from writing to idle at once. A
 * disconnect, or the server's end, ends a request at any of its steps. */
static bool is_next(enum bt_connection_state from, enum bt_connection_state to)
{
	switch (to) {
	case BT_CONNECTION_HEAD:
		return from == BT_CONNECTION_HANDSHAKE;
	case BT_CONNECTION_BODY:
		return from == BT_CONNECTION_HANDSHAKE || from == BT_CONNECTION_HEAD ||
		       from == BT_CONNECTION_IDLE;
	case BT_CONNECTION_ANSWERING:
		return from == BT_CONNECTION_BODY;
	case BT_CONNECTION_WRITING:
		return from == BT_CONNECTION_BODY || from == BT_CONNECTION_ANSWERING;
	case BT_CONNECTION_IDLE:
		return from == BT_CONNECTION_WRITING || from == BT_CONNECTION_BODY ||
		       from == BT_CONNECTION_ANSWERING;
	case BT_CONNECTION_CLOSING:
		return from != BT_CONNECTION_FREE;
	case BT_CONNECTION_FREE:
	case BT_CONNECTION_HANDSHAKE:
		break;
	}
	return false;
}

void bt_connections_enter(
	struct bt_connections *table, uint32_t ix, enum bt_connection_state state, int64_t now_ns)
{
	struct client_connection *one = &table->items[ix];

	if (one->state == BT_CONNECTION_CLOSING) {
		return; /* its remaining work changes nothing */
	}
	BT_REQUIRE(is_next(one->state, state));
	set_state(table, ix, state, now_ns);
	if (state == BT_CONNECTION_IDLE && one->authenticated) {
		one->age = table->next_age++;
	}
}

void bt_connections_authenticated(struct bt_connections *table, uint32_t ix)
{
	struct client_connection *one = &table->items[ix];
	uint32_t kept = (table->limits.connections + 7) / 8;

	if (!one->authenticated && table->known_n + kept < table->limits.connections) {
		one->authenticated = true;
		table->known_n++;
	}
}

uint32_t bt_connections_late(const struct bt_connections *table, int64_t now_ns)
{
	for (uint32_t i = 0; i < table->limits.connections; i++) {
		if (table->items[i].state != BT_CONNECTION_FREE && table->items[i].deadline_ns <= now_ns) {
			return i;
		}
	}
	return BT_CONNECTION_NONE;
}

int64_t bt_connections_deadline(const struct bt_connections *table)
{
	int64_t first_ns = INT64_MAX;

	for (uint32_t i = 0; i < table->limits.connections; i++) {
		const struct client_connection *one = &table->items[i];

		if (one->state != BT_CONNECTION_FREE && one->deadline_ns < first_ns) {
			first_ns = one->deadline_ns;
		}
	}
	return first_ns;
}

uint32_t bt_connections_n(const struct bt_connections *table)
{
	return table->n;
}

enum bt_connection_state bt_connections_state(const struct bt_connections *table, uint32_t ix)
{
	return table->items[ix].state;
}
