/* SPDX-License-Identifier: Apache-2.0
 * Authentication by front proxies, client certificates and TokenReviews; authorization by
 * SubjectAccessReviews. Answers are cached for a while; tokens themselves are not stored. Source:
 * k8s.io/apiserver/pkg/{authentication,authorization,server/options} (the delegating options), v0.36.3.
 * Context: any thread; waits for the API server.
 */
#pragma once

#include "engine/base/clock.h"
#include "tools/cluster/net/http.h"
#include "tools/cluster/serve/front_proxy.h"
#include "tools/cluster/serve/settings.h"
#include "tools/cluster/serve/work_queues.h"

struct bt_auth;

typedef enum bt_http_end (*bt_auth_fetch)(struct bt_http *http, const struct bt_http_call *call,
	struct bt_http_head *out_head, struct bt_buf *out_body, struct bt_buf *out_error);

struct bt_auth_options {
	const struct bt_serve_settings *settings; /* outlives it */
	/* The clients for reviews. NULL: none; then tokens are ignored, and everything that is not always
	 * allowed is forbidden. */
	struct bt_http *authentication, *authorization;
	bt_auth_fetch fetch; /* bt_http_fetch */
	struct bt_clock clock;
	struct bt_work_queues *work_queues; /* counts rounds of bt_auth_reload, or NULL */
};

/* A request's credentials and target. */
struct bt_auth_request {
	struct bt_str authorization;	   /* the header; empty: none */
	const struct bt_str *certificates; /* of the client, in DER, its own first */
	uint32_t certificate_n;
	const struct bt_header *headers; /* all headers, including a front proxy's */
	uint32_t header_n;
	struct bt_str path;
	const char *verb; /* the method in lower case */
};

/* Marks the work of the next bt_auth_reload as queued, by the monotonic clock. */
void bt_auth_add_work(const struct bt_auth *auth, int64_t now_ns);

struct bt_auth *bt_auth_create(const struct bt_auth_options *options);
void bt_auth_destroy(struct bt_auth *auth);

/*
 * Reads the CAs of client certificates and of front proxies: the files, and the cluster's ConfigMap unless
 * the lookup is disabled. What cannot be read keeps its last valid value.
 * Returns: BT_OK; BT_IO, BT_INVALID with the reason in out_error; out_by_files: the error is in a configured
 * file.
 */
enum bt_status bt_auth_reload(struct bt_auth *auth, bool *out_by_files, struct bt_buf *out_error);

/* Appends the current CA certificates, in PEM; none: client certificates are ignored. */
void bt_auth_authorities(struct bt_auth *auth, struct bt_buf *out_pem);

/* Returns: 200; 401, 403 or 500 with upstream's message in out_message; out_known: the client is
 * authenticated. */
unsigned bt_auth_decide(struct bt_auth *auth, const struct bt_auth_request *request, bool *out_known,
	struct bt_buf *out_message);

/* Whether the answer needs no call to the API server: the path is always allowed, and there are no
 * credentials. */
bool bt_auth_is_prompt(const struct bt_auth *auth, const struct bt_auth_request *request);
