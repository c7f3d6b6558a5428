/* SPDX-License-Identifier: Apache-2.0
 * The addresses of a host, and connections to them without blocking.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "engine/base/buf.h"

#define BT_DIAL_ADDRESSES 8 /* addresses tried, in the resolver's order */

struct bt_dial_addresses {
	struct sockaddr_storage items[BT_DIAL_ADDRESSES];
	socklen_t sizes[BT_DIAL_ADDRESSES];
	uint32_t n;
};

struct bt_resolver;

/* Strings outlive it. resolved(context) reports the result, on the resolver's thread. */
struct bt_resolver *bt_resolver_create(
	const char *host, const char *port, void (*resolved)(void *context), void *context);
void bt_resolver_destroy(struct bt_resolver *resolver);

enum bt_resolved { BT_RESOLVED = 0, BT_RESOLVE_LATER, BT_RESOLVE_FAILED };

/* Resolves the host. Returns the addresses immediately when the host is an address itself. Otherwise resolved
 * is called, once for all calls since the last one, and bt_resolver_take has the result. Context: the
 * owner's thread. */
enum bt_resolved bt_resolver_start(
	struct bt_resolver *resolver, struct bt_dial_addresses *out, struct bt_buf *out_why);
enum bt_resolved bt_resolver_take(
	struct bt_resolver *resolver, struct bt_dial_addresses *out, struct bt_buf *out_why);

/* Starts to connect. Returns: a socket, which becomes writable when the attempt ends; -1: errno has the
 * reason. */
int bt_dial(const struct bt_dial_addresses *addresses, uint32_t ix, int64_t dead_ns);
