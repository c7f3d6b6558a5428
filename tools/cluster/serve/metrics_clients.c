/* SPDX-License-Identifier: Apache-2.0
 * Metrics of clients of API servers. Source: component-base's metrics/prometheus/restclient, v0.36.3.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "metrics_int.h"

/* A server, and the metrics of all its clients. */
struct server {
	const char *host;
	struct bt_client_metrics metrics;
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

/* label: the name of the method's label. */
static void add_codes(struct bt_exposition *x, const struct server *server, enum bt_http_method method,
	uint64_t (*count)(
		const struct bt_client_metrics *metrics, enum bt_http_method method, uint32_t status),
	const char *label)
{
	for (uint32_t status = 0; status < BT_CLIENT_METRICS_CODES; status++) {
		uint64_t n = count(&server->metrics, method, status);
		char code[8];

		if (n) {
			snprintf(code, sizeof(code), "%u", status);
			bt_expose_label(x, "code", bt_str(status ? code : "<error>"));
			bt_expose_label(x, "host", bt_str(server->host));
			bt_expose_label(x, label, bt_str(bt_client_metrics_method(method)));
			bt_expose_count(x, n);
		}
	}
}

static void add_measure(struct bt_exposition *x, const struct servers *servers, enum bt_client_metric metric,
	const char *name, const char *help)
{
	struct bt_client_metrics_view view;

	bt_expose(x, name, BT_METRIC_HISTOGRAM, help);
	for (int i = 0; i < servers->n; i++) {
		for (int method = 0; method < BT_CLIENT_METRICS_METHODS; method++) {
			enum bt_http_method of = (enum bt_http_method)method;

			bt_client_metrics_read(&servers->items[i].metrics, metric, of, &view);
			if (view.n) {
				bt_expose_label(x, "host", bt_str(servers->items[i].host));
				bt_expose_label(x, "verb", bt_str(bt_client_metrics_method(of)));
				bt_expose_buckets(x, &(struct bt_metric_buckets){view.bounds, view.counts,
							     view.bound_n, view.sum});
			}
		}
	}
}

static void add_all_codes(struct bt_exposition *x, const struct servers *servers,
	uint64_t (*count)(
		const struct bt_client_metrics *metrics, enum bt_http_method method, uint32_t status),
	const char *label)
{
	for (int i = 0; i < servers->n; i++) {
		for (int method = 0; method < BT_CLIENT_METRICS_METHODS; method++) {
			add_codes(x, &servers->items[i], (enum bt_http_method)method, count, label);
		}
	}
}

static void add_calls(struct bt_exposition *x, const struct servers *servers)
{
	add_measure(x, servers, BT_CLIENT_METRICS_WAIT, "rest_client_rate_limiter_duration_seconds",
		"[ALPHA] Client side rate limiter latency in seconds. Broken down by verb, and host.");
	add_measure(x, servers, BT_CLIENT_METRICS_DURATION, "rest_client_request_duration_seconds",
		"[ALPHA] Request latency in seconds. Broken down by verb, and host.");
	bt_expose(x, "rest_client_request_retries_total", BT_METRIC_COUNTER,
		"[ALPHA] Number of request retries, partitioned by status code, verb, and host.");
	add_all_codes(x, servers, bt_client_metrics_again_n, "verb");
	add_measure(x, servers, BT_CLIENT_METRICS_SENT, "rest_client_request_size_bytes",
		"[ALPHA] Request size in bytes. Broken down by verb and host.");
	bt_expose(x, "rest_client_requests_total", BT_METRIC_COUNTER,
		"[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.");
	add_all_codes(x, servers, bt_client_metrics_code_n, "method");
	add_measure(x, servers, BT_CLIENT_METRICS_RECEIVED, "rest_client_response_size_bytes",
		"[ALPHA] Response size in bytes. Broken down by verb and host.");
}

/* ---- credential plugins, and CA reloads ---- */

static void add_run(struct bt_exposition *x, const char *end, int code, uint64_t n)
{
	char text[12];

	if (n) {
		snprintf(text, sizeof(text), "%d", code);
		bt_expose_label(x, "call_status", bt_str(end));
		bt_expose_label(x, "code", bt_str(text));
		bt_expose_count(x, n);
	}
}

static void add_plugins(struct bt_exposition *x, const struct bt_client_config_counts *counts)
{
	struct bt_clock wall = bt_clock_real();

	bt_expose(x, "rest_client_exec_plugin_call_total", BT_METRIC_COUNTER,
		"[ALPHA] Number of calls to an exec plugin, partitioned by the type of event encountered "
		"(no_error, plugin_execution_error, plugin_not_found_error, client_internal_error) and an "
		"optional exit code. The exit code will be set to 0 if and only if the plugin call was "
		"successful.");
	add_run(x, "client_internal_error", 1, counts->failed_n);
	for (int code = 0; code < BT_EXEC_CODES; code++) {
		add_run(x, code ? "plugin_execution_error" : "no_error", code, counts->exits[code]);
	}
	add_run(x, "plugin_execution_error", -1, counts->killed_n);
	add_run(x, "plugin_not_found_error", 1, counts->missing_n);
	bt_expose(x, "rest_client_exec_plugin_certificate_rotation_age", BT_METRIC_HISTOGRAM,
		"[ALPHA] Histogram of the number of seconds the last auth exec plugin client certificate "
		"lived before being rotated. If auth exec plugin client certificates are unused, histogram "
		"will contain no data.");
	bt_expose_buckets(x, &(struct bt_metric_buckets){bt_client_config_age_bounds, counts->ages,
				     BT_EXEC_AGES, counts->age_sum_s});
	bt_expose_gauge(x, "rest_client_exec_plugin_ttl_seconds",
		"[ALPHA] Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by "
		"the auth exec plugin. The value is in seconds until certificate expiry (negative if already "
		"expired). If auth exec plugins are unused or manage no TLS certificates, the value will be "
		"+INF.",
		counts->expires_s == INT64_MAX
			? (double)INFINITY
			: (double)counts->expires_s - (double)bt_clock_now_ns(&wall) / 1e9);
}

static void add_reloads(struct bt_exposition *x, const struct bt_client_config_counts *counts)
{
	static const char *const reasons[] = {
		"read_error", "empty", "ca_parse_error", "unchanged", "updated"};

	bt_expose(x, "rest_client_transport_ca_reload_total", BT_METRIC_COUNTER,
		"[ALPHA] Number of times a CA reload is attempted, partitioned by the result and reason for "
		"the reload attempt");
	for (int i = 0; i < BT_RELOAD_N; i++) {
		if (counts->reloads[i]) {
			bt_expose_label(x, "reason", bt_str(reasons[i]));
			bt_expose_label(x, "result", bt_str(i < BT_RELOAD_UNCHANGED ? "failure" : "success"));
			bt_expose_count(x, counts->reloads[i]);
		}
	}
}

void bt_metrics_of_clients(const struct bt_serve_sources *sources, struct bt_exposition *x)
{
	struct servers *servers = bt_mem_zalloc(1, sizeof(*servers));
	struct bt_client_config_counts *counts = bt_mem_zalloc(1, sizeof(*counts));

	counts->expires_s = INT64_MAX;
	for (int i = 0; i < BT_SERVE_SERVERS && sources->servers[i].host; i++) {
		bt_client_metrics_merge(
			&server_of(servers, sources->servers[i].host)->metrics, sources->servers[i].metrics);
		if (sources->access_count) {
			sources->access_count(sources->servers[i].access, counts);
		}
	}
	if (servers->n) {
		add_calls(x, servers);
	}
	if (sources->access_count) {
		add_plugins(x, counts);
		add_reloads(x, counts);
	}
	bt_mem_free(counts);
	bt_mem_free(servers);
}
