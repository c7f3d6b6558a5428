/* SPDX-License-Identifier: Apache-2.0
 * The version of the API server, and its release.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "engine/model/release.h"
#include "tools/cluster/net/client_config.h"

struct bt_server_version {
	int minor;    /* 1.minor; of the emulated version, where it emulates */
	char git[64]; /* "v1.36.3" */
};

/* Reads a server's answer at /version. Returns: false: not a version. */
bool bt_server_version_read(struct bt_str json, struct bt_server_version *out_version);

enum bt_server_answer {
	BT_SERVER_KNOWN = 0,
	BT_SERVER_NO_VERSION, /* it answers, but without a version: a retry would not help */
	BT_SERVER_UNREACHABLE /* it does not answer now */
};

/*
 * Reads the server's version, on a new connection: behind a load balancer that may be any of several servers.
 * Context: waits, 5 s at most; starts a thread, which has ended when it returns.
 * Returns: the outcome; out_error has the reason unless it is BT_SERVER_KNOWN.
 */
enum bt_server_answer bt_server_version_get(const struct bt_client_config *access,
	struct bt_server_version *out_version, struct bt_buf *out_error);

/* The release of the server, or the newest one if the server is newer. NULL: the server is older than any
 * known release. */
const struct bt_release *bt_server_version_release(const struct bt_server_version *version);
