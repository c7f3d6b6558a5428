/* SPDX-License-Identifier: Apache-2.0
 * HTTP: one thread accepts and serves all connections, so that slow clients cost a descriptor and no thread;
 * other threads answer requests that may block. The seam to libmicrohttpd.
 */
#pragma once

#include "tls_int.h"
#include "tools/cluster/serve/front_proxy.h"
#include "tools/cluster/serve/connections.h"
#include "tools/cluster/serve/routes.h"

#define BT_FRONT_CERTIFICATES 16
#define BT_FRONT_HEADERS      128

/* Views, valid until the answer is complete. */
struct bt_front_request {
	const char *path, *method;
	struct bt_str authorization, accept; /* headers; empty: none */
	struct bt_str certificates[BT_FRONT_CERTIFICATES];
	uint32_t certificate_n;
	struct bt_header headers[BT_FRONT_HEADERS]; /* as many as fit */
	uint32_t header_n;
	struct bt_route_argument arguments[BT_ROUTE_ARGUMENTS];
	size_t argument_n;
	struct bt_str body; /* all of a short body; of others the beginning */
};

struct bt_front_options {
	int listen_fd; /* outlives it */
	struct bt_connection_limits limits;
	struct bt_server_tls *tls; /* taken over */
	/* Whether this can be answered without blocking. Context: the front's thread. */
	bool (*is_prompt)(void *context, const struct bt_front_request *request);
	/* Context: the front's thread for prompt requests, else one of several others. out_known: the client
	 * is authenticated. Owns: out_answer->body is the front's. */
	void (*answer)(void *context, const struct bt_front_request *request,
		struct bt_route_answer *out_answer, bool *out_known);
	void *context;
};

struct bt_front;

/* Returns: NULL with the reason and the remedy in out_error. Owns: bt_front_destroy, which waits for answers
 * in progress. */
struct bt_front *bt_front_create(const struct bt_front_options *options, struct bt_buf *out_error);
void bt_front_destroy(struct bt_front *front);

/* Uses tls from the next connection on. Context: any thread. Owns: takes *tls. */
void bt_front_set_tls(struct bt_front *front, struct bt_server_tls **tls);
