/* SPDX-License-Identifier: Apache-2.0
 * The handlers of paths. Independent of the HTTP library: a request is a path and its arguments, an answer a
 * status, a type and a body.
 */
#pragma once

#include "tools/cluster/serve/sources.h"

#define BT_ROUTE_ARGUMENTS 32

struct bt_route_argument {
	struct bt_str name, value;
};

struct bt_route_request {
	struct bt_str path;
	struct bt_route_argument arguments[BT_ROUTE_ARGUMENTS];
	size_t argument_n;
	bool puts;	      /* its method is PUT, else GET or HEAD */
	struct bt_str accept; /* the header; empty: none */
	struct bt_str body;
};

struct bt_route_answer {
	unsigned status;
	const char *type;    /* a constant */
	const char *warning; /* a header, or NULL; a constant */
	struct bt_buf body;
};

/* Answers an authorized request. Context: any thread but the pipeline's; waits for the end of a cycle.
 * metrics: NULL: all are shown. Owns: out_answer->body, which must be empty before. */
void bt_route(const struct bt_serve_sources *sources, const struct bt_metric_settings *metrics,
	const struct bt_route_request *request, struct bt_route_answer *out_answer);

/* Whether the path supports PUT. */
bool bt_route_takes_put(const struct bt_serve_sources *sources, struct bt_str path);

/* Whether it is answered without blocking. */
bool bt_route_is_prompt(struct bt_str path);

/* A metav1.Status, the form of the API server's errors. */
void bt_route_status(unsigned code, const char *reason, struct bt_str message, struct bt_route_answer *out);

/* The first value of an argument, or an empty one with a NULL pointer. */
struct bt_str bt_route_argument(const struct bt_route_request *request, const char *name);
