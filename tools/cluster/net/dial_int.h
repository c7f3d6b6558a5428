/* SPDX-License-Identifier: Apache-2.0
 * The addresses of a host, and connections to them that nobody waits for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "engine/base/buf.h"

#define BT_DIAL_ADDRESSES 8 /* that are tried, in the resolver's order */

struct bt_dial_addresses {
	struct sockaddr_storage items[BT_DIAL_ADDRESSES];
	socklen_t sizes[BT_DIAL_ADDRESSES];
	uint32_t n;
};

struct bt_resolver;

/* Strings outlive it. came(context): the answer is there; in a thread of its own. */
struct bt_resolver *bt_resolver_create(
	const char *host, const char *port, void (*came)(void *context), void *context);
void bt_resolver_destroy(struct bt_resolver *resolver);

enum bt_resolved { BT_RESOLVED = 0, BT_RESOLVE_LATER, BT_RESOLVE_FAILED };

/* What a host's addresses are: at once where it is one itself; else came is called, once for all who have
 * asked since it was called last, and bt_resolver_take has the answer. Context: the owner's thread. */
enum bt_resolved bt_resolver_ask(
	struct bt_resolver *resolver, struct bt_dial_addresses *out, struct bt_buf *out_why);
enum bt_resolved bt_resolver_take(
	struct bt_resolver *resolver, struct bt_dial_addresses *out, struct bt_buf *out_why);

/* Begins to connect. Returns: a socket, which is writable when it is over; -1: errno says why. */
int bt_dial(const struct bt_dial_addresses *addresses, uint32_t ix, int64_t dead_ns);
