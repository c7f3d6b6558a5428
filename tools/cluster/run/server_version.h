/* SPDX-License-Identifier: Apache-2.0
 * Which version the API server says it is, and whose decisions go with it.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "engine/model/release.h"
#include "tools/cluster/net/client_config.h"

struct bt_server_version {
	int minor;    /* 1.minor: the one whose API it has, where it emulates another one */
	char git[64]; /* "v1.36.3" */
};

/* Reads what a server answers at /version. Returns: false: that is no version. */
bool bt_server_version_read(struct bt_str json, struct bt_server_version *out_version);

enum bt_server_answer {
	BT_SERVER_TOLD = 0,
	BT_SERVER_MUTE, /* it answers, but not with a version: asking again would not help */
	BT_SERVER_AWAY	/* it does not answer now */
};

/*
 * Asks the server, on a connection of its own: behind a load balancer that may be any of several servers.
 * Context: waits, 5 s at most; it starts a thread, which has ended when it returns.
 * Returns: what became of it; out_error has the reason unless it is BT_SERVER_TOLD.
 */
enum bt_server_answer bt_server_version_ask(const struct bt_client_config *access,
	struct bt_server_version *out_version, struct bt_buf *out_error);

/* The release of the server, or the newest one if the server is newer. NULL: the server is older than any
 * that is known. */
const struct bt_release *bt_server_version_release(const struct bt_server_version *version);
