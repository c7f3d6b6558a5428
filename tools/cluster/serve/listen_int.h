/* SPDX-License-Identifier: Apache-2.0
 * The listening socket, and accept.
 */
#pragma once

#include <sys/socket.h>

#include "engine/base/buf.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/serve/settings.h"

/* Returns: the socket, and its port in out_port; -1 with the reason and the remedy in out_error. */
int bt_listen(const struct bt_serve_settings *settings, bool any_port, uint16_t *out_port,
	struct bt_buf *out_error);

/* Backoff of accept when descriptors or memory are short. Zero-initialised. */
struct bt_accept_backoff {
	int64_t until_ns; /* 0: no backoff; its owner resets it */
	int64_t last_ns;  /* the last delay */
	struct bt_log_limit log_limit;
};

/* Accepts a connection, non-blocking. Returns: its socket; -1: none is pending, or there is a shortage and
 * the backoff has started: 5 ms to 1 s, doubling, as Go's server. */
int bt_accept(int listen_fd, struct sockaddr *out_peer, socklen_t *out_n, struct bt_accept_backoff *rest,
	int64_t now_ns);
