/* SPDX-License-Identifier: Apache-2.0
 * What clients have asked of API servers. Source: component-base's metrics/prometheus/restclient, v0.36.3.
 */
#include <stdio.h>
#include <string.h>

#include "engine/base/mem.h"
#include "metrics_int.h"

/* A server, and what all who call it have asked. */
struct server {
	const char *host;
	struct bt_traffic traffic;
};

struct servers {
	struct server items[BT_SERVE_SERVERS];
	int n;
};

static struct server *server_of(struct servers *servers, const char *host)
{
	for (int i = 0; i < servers->n; i++) {
		if (strcmp(servers->items[i].host, host) == 0) {
			return &servers->items[i];
		}
	}
	servers->items[servers->n].host = host;
	return &servers->items[servers->n++];
}

static void add_codes(struct bt_exposition *x, const struct server *server, enum bt_http_method method)
{
	for (uint32_t status = 0; status < BT_TRAFFIC_CODES; status++) {
		uint64_t n = bt_traffic_code_n(&server->traffic, method, status);
		char code[8];

		if (n) {
			snprintf(code, sizeof(code), "%u", status);
			bt_expose_label(x, "code", bt_str(status ? code : "<error>"));
			bt_expose_label(x, "host", bt_str(server->host));
			bt_expose_label(x, "method", bt_str(bt_traffic_method(method)));
			bt_expose_count(x, n);
		}
	}
}

static void add_measure(struct bt_exposition *x, const struct servers *servers,
	enum bt_traffic_measure measure, const char *name, const char *help)
{
	struct bt_traffic_view view;

	bt_expose(x, name, BT_METRIC_HISTOGRAM, help);
	for (int i = 0; i < servers->n; i++) {
		for (int method = 0; method < BT_TRAFFIC_METHODS; method++) {
			enum bt_http_method of = (enum bt_http_method)method;

			bt_traffic_read(&servers->items[i].traffic, measure, of, &view);
			if (view.n) {
				bt_expose_label(x, "host", bt_str(servers->items[i].host));
				bt_expose_label(x, "verb", bt_str(bt_traffic_method(of)));
				bt_expose_buckets(x, &(struct bt_metric_buckets){view.bounds, view.counts,
							     view.bound_n, view.sum});
			}
		}
	}
}

void bt_metrics_of_clients(const struct bt_serve_sources *sources, struct bt_exposition *x)
{
	struct servers *servers = bt_mem_zalloc(1, sizeof(*servers));

	for (int i = 0; i < BT_SERVE_SERVERS && sources->servers[i].host; i++) {
		bt_traffic_merge(
			&server_of(servers, sources->servers[i].host)->traffic, sources->servers[i].traffic);
	}
	if (servers->n) {
		add_measure(x, servers, BT_TRAFFIC_DURATION, "rest_client_request_duration_seconds",
			"[ALPHA] Request latency in seconds. Broken down by verb, and host.");
		add_measure(x, servers, BT_TRAFFIC_SENT, "rest_client_request_size_bytes",
			"[ALPHA] Request size in bytes. Broken down by verb and host.");
		bt_expose(x, "rest_client_requests_total", BT_METRIC_COUNTER,
			"[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.");
	}
	for (int i = 0; i < servers->n; i++) {
		for (int method = 0; method < BT_TRAFFIC_METHODS; method++) {
			add_codes(x, &servers->items[i], (enum bt_http_method)method);
		}
	}
	if (servers->n) {
		add_measure(x, servers, BT_TRAFFIC_RECEIVED, "rest_client_response_size_bytes",
			"[ALPHA] Response size in bytes. Broken down by verb and host.");
	}
	bt_mem_free(servers);
}
