/* SPDX-License-Identifier: Apache-2.0
 * Lists the API's pods on nodes, and the nodes, for comparisons: with separate calls, page by page,
 * independent of the reflectors. Of a pod only its identity is decoded.
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
	/* bt_http_fetch; tests replace it. */
	enum bt_http_end (*fetch)(struct bt_http *http, const struct bt_http_call *call,
		struct bt_http_head *out_head, struct bt_buf *out_body, struct bt_buf *out_error);
	uint32_t page; /* pods a page; 0: 250 */
	bool json;     /* request JSON only */
};

struct bt_pod_pages;

/* Owns: bt_pod_pages_destroy. */
struct bt_pod_pages *bt_pod_pages_create(const struct bt_pod_pages_options *options);
void bt_pod_pages_destroy(struct bt_pod_pages *pages);

/* Begins a list: of the pods on that node; if node is empty, on any. */
void bt_pod_pages_begin(struct bt_pod_pages *pages, struct bt_str node);

/* Begins a list of all nodes, for bt_pod_pages_next_nodes. */
void bt_pod_pages_begin_nodes(struct bt_pod_pages *pages);

enum bt_pages {
	BT_PAGES_MORE = 0, /* more pages follow */
	BT_PAGES_END,	   /* the list is complete */
	BT_PAGES_FAILED	   /* the list is unusable; a page may have been too large: the next one is smaller */
};

/* Requests the next page and calls call for every pod on it. */
enum bt_pages bt_pod_pages_next(struct bt_pod_pages *pages,
	void (*call)(void *context, const struct bt_watch_pod *pod), void *context);

/* The same for nodes, decoded as far as possible. node is valid during the callback. */
enum bt_pages bt_pod_pages_next_nodes(
	struct bt_pod_pages *pages, void (*call)(void *context, const struct bt_object *node), void *context);

/* Why the last call failed. A view, until the next one. */
struct bt_str bt_pod_pages_error(const struct bt_pod_pages *pages);

/* The server's Retry-After of a failure; -1: none. */
int64_t bt_pod_pages_retry_after_ns(const struct bt_pod_pages *pages);

/*
 * Requests one pod, decoded as far as possible.
 * Returns: the status, 200 or 404 for instance; 0: there was no answer, or none with a pod.
 * Owns: of 200 what out points to lives in arena.
 */
uint32_t bt_pod_pages_get(struct bt_pod_pages *pages, struct bt_str namespace_, struct bt_str name,
	struct bt_arena *arena, struct bt_object *out);
