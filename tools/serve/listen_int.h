/* SPDX-License-Identifier: Apache-2.0
 * The socket that is listened at, and who comes there.
 */
#pragma once

#include <sys/socket.h>

#include "engine/base/buf.h"
#include "tools/serve/settings.h"

/* Returns: the socket, and its port in out_port; -1 with the reason and the remedy in out_error. */
int bt_listen(const struct bt_serve_settings *settings, bool any_port, uint16_t *out_port,
	struct bt_buf *out_error);

struct bt_doorman {
	int listen_fd, end_fd; /* it goes on until something can be read from end_fd */
	/* Owns: the connection. */
	void (*take)(void *context, int fd, const struct sockaddr *peer, socklen_t peer_bytes);
	void *context;
};

/* Takes connections, and rests while the process or the system has no room for one. Context: a thread of its
 * own; returns at the end. */
void bt_doorman_run(const struct bt_doorman *doorman);
