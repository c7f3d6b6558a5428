/* SPDX-License-Identifier: Apache-2.0
 * The server's data sources: the parts of a scheduler, read at each request. NULL sources are omitted. The
 * functions are the parts' own with the same names; tests replace them.
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

/* init: all of it; the functions are called from any thread. */
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
	/* Lists all pods on nodes from the API server. Returns: false when the list is incomplete. NULL: not
	 * available. */
	bool (*list_pods)(void *context, void (*call)(void *to, const struct bt_watch_pod *pod), void *to);
	struct bt_pod_resources *pod_resources;
	const struct bt_writer *writer;
	struct bt_writer_counts (*writer_counts)(const struct bt_writer *writer);
	void (*each_device_wait)(const struct bt_writer *writer,
		void (*call)(void *context, const struct bt_device_series *series), void *context);
	bool (*leads)(void *context); /* NULL: no election, and the next two are not called */
	bool (*lease_is_well)(void *context);
	uint64_t (*lease_slow_n)(void *context);
	struct bt_health_tally *tally;	    /* counts health checks; NULL: not counted */
	struct bt_work_queues *work_queues; /* the server's; NULL: not counted */
	/* The servers of clients, with their metrics; ends with a NULL host. */
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
	/* Whether the process is about to end. NULL: it is not. */
	bool (*is_ending)(void *context);
	/* Calls call for every flag of the command line, sorted by name. NULL: none are shown. */
	void (*each_flag)(
		void *context, void (*call)(void *to, const char *name, struct bt_str value), void *to);
	/* Adds further metrics. NULL: none. */
	void (*more_metrics)(void *context, struct bt_exposition *exposition);
	void *context;
};
