/* SPDX-License-Identifier: Apache-2.0
 * What the server tells about: the parts of a scheduler, asked whenever somebody asks the server. What is
 * NULL is left out. The functions are the parts' own of the same names; a test puts others there.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"
#include "tools/cluster/net/client_metrics.h"
#include "tools/cluster/serve/exposition.h"
#include "tools/cluster/serve/attempt_metrics.h"
#include "tools/cluster/serve/pod_resources.h"
#include "tools/cluster/watch/pod_pages.h"
#include "tools/cluster/watch/watch.h"
#include "tools/cluster/write/writer.h"

#define BT_SERVE_CLIENTS 8
#define BT_SERVE_SERVERS 3

struct bt_health_tally;
struct bt_work_queues;

/* init: all of it; what pointers lead to is asked by the functions beside them, from any thread. */
struct bt_serve_sources {
	const char *version; /* berth's */
	const struct bt_config *config;
	struct bt_pipeline *pipeline;
	const struct bt_attempt_metrics *attempts;
	struct bt_watch *watch;
	uint32_t (*watch_states)(const struct bt_watch *watch, struct bt_watch_state *out, uint32_t cap);
	void (*each_unread)(struct bt_watch *watch,
		void (*call)(void *to, const char *resource, const struct bt_unread_object *object),
		void *to);
	/* Asks the API server for all pods on nodes. Returns: false when it did not tell of all. NULL: nobody
	 * can ask. */
	bool (*list_pods)(void *context, void (*call)(void *to, const struct bt_watch_pod *pod), void *to);
	struct bt_pod_resources *pod_resources;
	const struct bt_writer *writer;
	struct bt_writer_counts (*writer_counts)(const struct bt_writer *writer);
	void (*each_device_wait)(const struct bt_writer *writer,
		void (*call)(void *context, const struct bt_device_series *series), void *context);
	bool (*leads)(void *context); /* NULL: nobody is elected, and the next two are not asked */
	bool (*lease_is_well)(void *context);
	uint64_t (*lease_slow_n)(void *context);
	struct bt_health_tally *tally;	    /* who counts health checks; NULL: nobody */
	struct bt_work_queues *work_queues; /* the server's; NULL: nobody counts */
	/* Whom clients call, and what has come of it; ends with a NULL host. */
	struct {
		const char *host;
		const struct bt_client_metrics *metrics;
		const struct bt_client_config *access;
	} servers[BT_SERVE_SERVERS];
	void (*access_count)(const struct bt_client_config *access, struct bt_client_config_counts *counts);
	struct {
		const char *name;
		const struct bt_http *http;
	} clients[BT_SERVE_CLIENTS]; /* ends with a NULL name */
	struct bt_http_counts (*http_counts)(const struct bt_http *http);
	/* Is the process about to end? NULL: it is not. */
	bool (*is_ending)(void *context);
	/* Calls for every flag of the command line, in the order of names. NULL: none are shown. */
	void (*each_flag)(
		void *context, void (*call)(void *to, const char *name, struct bt_str value), void *to);
	/* Adds metrics of whoever has more to say. NULL: nobody. */
	void (*more_metrics)(void *context, struct bt_exposition *exposition);
	void *context;
};
