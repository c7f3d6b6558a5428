/* SPDX-License-Identifier: Apache-2.0
 * What an HTTP client needs of a client config: the endpoint, which never changes, and the identity, which
 * does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "tools/cluster/net/client_config.h"

/* init: the server. Strings end in NUL; NULL: none. */
struct bt_endpoint {
	const char *server;	/* as configured, for messages */
	const char *url;	/* without a trailing slash; its host is the name for TLS */
	const char *connect_to; /* "name:port:host:port" where the name for TLS is not the host */
	const char *host;	/* the header "Host: ...", likewise */
	const char *proxy;	/* "" for none */
	const char *user_agent;
	bool tls, insecure, compressed;
};

/* The credentials of calls. Immutable and shared by the calls that use it; its memory is cleared on free. */
struct bt_identity {
	_Atomic uint32_t holder_n;	/* atomic: the last holder frees it */
	uint64_t number;		/* never 0; each identity has its own */
	struct bt_str authority;	/* PEM of trusted certificates; empty: the system's */
	struct bt_str certificate, key; /* PEM; empty: none */
	char **headers;			/* "Authorization: ...", "Impersonate-User: ..." */
	uint32_t header_n;
};

enum bt_client_config_answer {
	BT_CLIENT_CONFIG_READY = 0, /* *out_identity is held: bt_identity_release */
	BT_CLIENT_CONFIG_LATER,	    /* ready(context) is called once, on another thread: call again then */
	BT_CLIENT_CONFIG_FAILED	    /* out_error has the reason; a later call may succeed */
};

const struct bt_endpoint *bt_client_config_endpoint(const struct bt_client_config *access);

/*
 * The current identity. refused: the number of an identity that was answered by 401, so that files are read
 * and a plugin is run again even if their last result is still valid; 0: none.
 * Context: any thread; reads files that may have changed, never waits.
 */
enum bt_client_config_answer bt_client_config_identity(const struct bt_client_config *access,
	uint64_t refused, void (*ready)(void *context), void *context, struct bt_identity **out_identity,
	struct bt_buf *out_error);

/* Cancels the ready callback with this context. Context: any thread. */
void bt_client_config_forget(const struct bt_client_config *access, void *context);

/* Adds a holder; returns identity. */
struct bt_identity *bt_identity_hold(struct bt_identity *identity);
void bt_identity_release(struct bt_identity *identity);
