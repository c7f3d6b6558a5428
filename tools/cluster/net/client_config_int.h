/* SPDX-License-Identifier: Apache-2.0
 * What a client of calls asks of an access: where to connect, which never changes, and what to show there,
 * which does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "tools/cluster/net/client_config.h"

/* init: where the server is. Strings end in NUL; NULL: none. */
struct bt_endpoint {
	const char *server;	/* as it was named, for messages */
	const char *url;	/* without a slash at its end; its host is the name that TLS asks for */
	const char *connect_to; /* "name:port:host:port" where TLS asks for another name than the host's */
	const char *host;	/* the header "Host: ...", likewise */
	const char *proxy;	/* "" for none */
	const char *user_agent;
	bool tls, insecure, compressed;
};

/* What is shown to the server. Immutable, shared by the calls that show it; its memory is cleared at the end.
 */
struct bt_identity {
	_Atomic uint32_t holder_n;	/* atomic: the last one frees it */
	uint64_t number;		/* never 0; another one, another identity */
	struct bt_str authority;	/* PEM of whom to trust; empty: whom the system trusts */
	struct bt_str certificate, key; /* PEM; empty: none */
	char **headers;			/* "Authorization: ...", "Impersonate-User: ..." */
	uint32_t header_n;
};

enum bt_client_config_answer {
	BT_CLIENT_CONFIG_READY = 0, /* *out_identity is held: bt_identity_release */
	BT_CLIENT_CONFIG_LATER,	    /* ready(context) is called once, in another thread: ask again then */
	BT_CLIENT_CONFIG_FAILED	    /* out_error says why; asking again later may help */
};

const struct bt_endpoint *bt_client_config_endpoint(const struct bt_client_config *access);

/*
 * As whom to call now. refused: the number of an identity that was answered by 401, so that files are read
 * and a plugin is run again whatever they said before; 0: none.
 * Context: any thread; reads files that may have changed, never waits.
 */
enum bt_client_config_answer bt_client_config_identity(const struct bt_client_config *access,
	uint64_t refused, void (*ready)(void *context), void *context, struct bt_identity **out_identity,
	struct bt_buf *out_error);

/* No ready with this context is called any more. Context: any thread. */
void bt_client_config_forget(const struct bt_client_config *access, void *context);

/* One holder more; returns it. */
struct bt_identity *bt_identity_hold(struct bt_identity *identity);
void bt_identity_release(struct bt_identity *identity);
