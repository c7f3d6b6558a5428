/* SPDX-License-Identifier: Apache-2.0
 * The pods that the API has on nodes, and the nodes, asked for by whoever compares them with something: by
 * calls of its own, page by page, without what a reader knows. Of each pod its identity is read and nothing
 * else.
 * Context: one thread at a time, which waits for the server; not a client's.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/model/object.h"
#include "tools/cluster/net/http.h"

/* A pod on a node. Views, until the next page. */
struct bt_watch_pod {
	struct bt_str namespace_, name, uid, node;
};

struct bt_pod_pages_options {
	struct bt_http *http;
	/* bt_http_fetch; a test puts another one there. */
	enum bt_http_end (*fetch)(struct bt_http *http, const struct bt_http_call *call,
		struct bt_http_head *out_head, struct bt_buf *out_body, struct bt_buf *out_error);
	uint32_t page; /* pods a page; 0: 250 */
	bool json;     /* ask for nothing else */
};

struct bt_pod_pages;

/* Owns: bt_pod_pages_destroy. */
struct bt_pod_pages *bt_pod_pages_create(const struct bt_pod_pages_options *options);
void bt_pod_pages_destroy(struct bt_pod_pages *pages);

/* A list begins: of the pods on that node, or with an empty one on any. */
void bt_pod_pages_begin(struct bt_pod_pages *pages, struct bt_str node);

/* The same for all nodes, for bt_pod_pages_next_nodes. */
void bt_pod_pages_begin_nodes(struct bt_pod_pages *pages);

enum bt_pages {
	BT_PAGES_MORE = 0, /* other pages follow */
	BT_PAGES_END,	   /* the list is whole */
	BT_PAGES_FAILED /* this list tells nothing; a page may have been too large: the next one asks for less
			 */
};

/* Asks for the next page and calls for every pod on it. */
enum bt_pages bt_pod_pages_next(struct bt_pod_pages *pages,
	void (*call)(void *context, const struct bt_watch_pod *pod), void *context);

/* The same for nodes, which are read as far as they can be. What node points to is there during the call. */
enum bt_pages bt_pod_pages_next_nodes(
	struct bt_pod_pages *pages, void (*call)(void *context, const struct bt_object *node), void *context);

/* Why the last call has failed. A view, until the next one. */
struct bt_str bt_pod_pages_error(const struct bt_pod_pages *pages);

/* How long the server wants to be left alone after a failure; -1: it has not said. */
int64_t bt_pod_pages_retry_after_ns(const struct bt_pod_pages *pages);

/*
 * Asks for one pod, read as far as it can be.
 * Returns: the status, 200 or 404 for instance; 0: there was no answer, or none with a pod. Owns: of 200 what
 *          out points to lives in arena.
 */
uint32_t bt_pod_pages_get(struct bt_pod_pages *pages, struct bt_str namespace_, struct bt_str name,
	struct bt_arena *arena, struct bt_object *out);
