/* SPDX-License-Identifier: Apache-2.0
 * Paths.
 */
#include "tools/cluster/serve/routes.h"

#include "debug_int.h"
#include "engine/base/quote.h"
#include "metrics_int.h"
#include "profiles_int.h"
#include "tools/cli/doc_write.h"
#include "tools/kube/config/config_encode.h"
#include "tools/cluster/serve/health.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/serve/metrics.h"
#include "zpages_int.h"

#define TEXT	"text/plain; charset=utf-8"
#define JSON	"application/json"
#define METRICS "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

struct bt_str bt_route_argument(const struct bt_route_request *request, const char *name)
{
	for (size_t i = 0; i < request->argument_n; i++) {
		if (bt_str_is(request->arguments[i].name, name)) {
			return request->arguments[i].value.ptr ? request->arguments[i].value : bt_str("");
		}
	}
	return (struct bt_str){0};
}

void bt_route_status(unsigned code, const char *reason, struct bt_str message, struct bt_route_answer *out)
{
	struct bt_doc doc;

	*out = (struct bt_route_answer){.status = code, .type = JSON, .body = out->body};
	bt_buf_clear(&out->body);
	bt_doc_init(&doc, BT_DOC_JSON_PRETTY, &out->body);
	bt_doc_begin_object(&doc);
	bt_doc_key(&doc, "kind");
	bt_doc_text(&doc, "Status");
	bt_doc_key(&doc, "apiVersion");
	bt_doc_text(&doc, "v1");
	bt_doc_key(&doc, "metadata");
	bt_doc_begin_object(&doc);
	bt_doc_end(&doc);
	bt_doc_key(&doc, "status");
	bt_doc_text(&doc, "Failure");
	bt_doc_key(&doc, "message");
	bt_doc_str(&doc, message);
	bt_doc_key(&doc, "reason");
	bt_doc_text(&doc, reason);
	if (code == 403) { /* without a resource */
		bt_doc_key(&doc, "details");
		bt_doc_begin_object(&doc);
		bt_doc_end(&doc);
	}
	bt_doc_key(&doc, "code");
	bt_doc_int(&doc, code);
	bt_doc_end(&doc);
	bt_buf_char(&out->body, '\n');
}

static void answer_health(const struct bt_serve_sources *sources, enum bt_health_point point,
	struct bt_str check, const struct bt_route_request *request, struct bt_route_answer *out)
{
	struct bt_str excluded[BT_ROUTE_ARGUMENTS];
	struct bt_health_request health = {.point = point,
		.verbose = bt_route_argument(request, "verbose").ptr != NULL,
		.excluded = excluded};

	for (size_t i = 0; i < request->argument_n; i++) {
		if (bt_str_is(request->arguments[i].name, "exclude")) {
			excluded[health.excluded_n++] = request->arguments[i].value;
		}
	}
	out->status = check.len ? bt_health_answer_one(sources, point, check, &out->body)
				: bt_health_answer(sources, &health, &out->body);
}

static void answer_healthz(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	answer_health(sources, BT_HEALTHZ, rest, request, out);
}

static void answer_livez(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	answer_health(sources, BT_LIVEZ, rest, request, out);
}

static void answer_readyz(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	answer_health(sources, BT_READYZ, rest, request, out);
}

/* As upstream prints the configuration objects of components: by name, in JSON. */
static void answer_configz(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	(void)request;
	(void)rest;
	out->type = JSON;
	bt_buf_text(&out->body, "{\"componentconfig\":");
	bt_config_encode(sources->config, &out->body);
	bt_buf_text(&out->body, "}\n");
}

static void answer_version(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	const struct bt_release *release = bt_release_binary(bt_served_release(sources));
	struct bt_doc doc;

	(void)request;
	(void)rest;
	out->type = JSON;
	bt_doc_init(&doc, BT_DOC_JSON_PRETTY, &out->body);
	bt_doc_begin_object(&doc);
	bt_doc_key(&doc, "major");
	bt_doc_text(&doc, "1");
	bt_doc_key(&doc, "minor");
	bt_doc_text(&doc, release->minor_text);
	bt_doc_key(&doc, "gitVersion");
	bt_doc_text(&doc, release->version);
	bt_doc_key(&doc, "berth");
	bt_doc_text(&doc, sources->version ? sources->version : "");
	bt_doc_end(&doc);
	bt_buf_char(&out->body, '\n');
}

static bool has_profiling(const struct bt_serve_sources *sources)
{
	return sources->config && sources->config->enable_profiling.value;
}

/* The list of flags that can be set: one. */
static void answer_flags(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	(void)sources;
	(void)request;
	(void)rest;
	out->type = "text/html; charset=utf-8";
	bt_buf_text(&out->body,
		"<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\n"
		"flags:<br>\n<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n"
		"</html>\n");
}

/* PUT sets the verbosity of the log. Source: GlogSetter and StringFlagPutHandler, v1.36.3. */
static void answer_verbosity(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	bool good = request->body.len > 0 && request->body.len <= 9;
	uint32_t verbosity = 0;

	(void)sources;
	(void)rest;
	out->type = "text/plain";
	for (size_t i = 0; i < request->body.len && good; i++) {
		char c = request->body.ptr[i];

		good = c >= '0' && c <= '9';
		verbosity = verbosity * 10 + (uint32_t)(c - '0');
	}
	if (!request->puts) {
		out->status = 406;
		bt_buf_text(&out->body, "unsupported http method\n");
	} else if (!good) {
		out->status = 400;
		bt_buf_text(&out->body, "strconv.ParseUint: parsing ");
		bt_quote_json(&out->body, request->body);
		bt_buf_text(&out->body, ": invalid syntax\n");
	} else {
		bt_log_set_verbosity((int)verbosity);
		bt_buf_printf(&out->body, "successfully set klog.logging.verbosity to %u\n", verbosity);
	}
}

static bool has_flagz(const struct bt_serve_sources *sources)
{
	return sources->each_flag && sources->config && sources->config->gates.on[BT_GATE_COMPONENT_FLAGZ];
}

static bool has_statusz(const struct bt_serve_sources *sources)
{
	return sources->config && sources->config->gates.on[BT_GATE_COMPONENT_STATUSZ];
}

/* rest: the path after this one and a slash. */
static const struct route {
	const char *path;
	bool below; /* also matches everything below it */
	bool needs_config, needs_pipeline;
	void (*answer)(const struct bt_serve_sources *sources, const struct bt_route_request *request,
		struct bt_str rest, struct bt_route_answer *out);
	const char *text;
	bool (*applies)(const struct bt_serve_sources *sources); /* NULL: always */
	bool puts;						 /* supports PUT */
} routes[] = {
	{"/healthz", true, false, false, answer_healthz, "is the process well?", NULL, false},
	{"/livez", true, false, false, answer_livez, "should it be left running?", NULL, false},
	{"/readyz", true, false, false, answer_readyz, "does it know the cluster?", NULL, false},
	{"/configz", false, true, false, answer_configz, "the configuration as it counts", NULL, false},
	{"/version", false, false, false, answer_version, "berth's version, and the decisions'", NULL, false},
	{"/debug/queue", false, false, true, bt_debug_queue, "pods that wait, ?limit=N of each kind", NULL,
		false},
	{"/debug/cache", false, false, true, bt_debug_cache,
		"nodes and what is used, ?node=NAME with its pods", NULL, false},
	{"/debug/compare", false, false, true, bt_debug_compare, "the ledger beside the API's pods", NULL,
		false},
	{"/debug/unread", false, false, true, bt_debug_unread,
		"objects that could not be read whole, and why, ?limit=N", NULL, false},
	{"/debug/explain", false, false, true, bt_debug_explain, "?pod=NAMESPACE/NAME, &output=json|yaml|csv",
		NULL, false},
	{"/debug/pprof", true, false, false, bt_profiles_answer,
		"profiles: where time and memory go, threads", has_profiling, false},
	{"/flagz", false, false, false, bt_zpages_flagz, "flags and their values", has_flagz, false},
	{"/statusz", false, false, false, bt_zpages_statusz, "what runs here, and since when", has_statusz,
		false},
	{"/debug/flags/v", false, false, false, answer_verbosity, "PUT sets -v", has_profiling, true},
	{"/debug/flags", true, false, false, answer_flags, "the flags that can be set", has_profiling, false},
};

#define ROUTE_N (sizeof(routes) / sizeof(*routes))

static void list_paths(struct bt_route_answer *out)
{
	bt_buf_text(&out->body, "/metrics  what is counted, for Prometheus\n");
	bt_buf_text(&out->body, "/metrics/slis  what health checks have said\n");
	bt_buf_text(&out->body, "/metrics/resources  resource requests, pod by pod\n");
	for (size_t i = 0; i < ROUTE_N; i++) {
		if (routes[i].text) {
			bt_buf_printf(&out->body, "%s  %s\n", routes[i].path, routes[i].text);
		}
	}
}

static const struct route *routes_find(struct bt_str path, struct bt_str *out_rest)
{
	for (size_t i = 0; i < ROUTE_N; i++) {
		size_t n = strlen(routes[i].path);

		*out_rest = (struct bt_str){0};
		if (bt_str_is(path, routes[i].path)) {
			return &routes[i];
		}
		if (routes[i].below && path.len > n && bt_str_starts(path, routes[i].path) &&
			path.ptr[n] == '/') {
			*out_rest = bt_str_sub(path, n + 1, path.len);
			return &routes[i];
		}
	}
	return NULL;
}

/* Only the leader answers, so that several replicas do not report the same pods. Source:
 * installMetricHandler, v1.36.3. */
static void answer_resources(const struct bt_serve_sources *sources, struct bt_buf *out)
{
	if (!sources->leads || sources->leads(sources->context)) {
		bt_pod_resources_write(sources->pod_resources, out);
	}
}

static bool is_there(const struct route *route, const struct bt_serve_sources *sources)
{
	return (sources->config || !route->needs_config) && (sources->pipeline || !route->needs_pipeline) &&
	       (!route->applies || route->applies(sources));
}

bool bt_route_takes_put(const struct bt_serve_sources *sources, struct bt_str path)
{
	struct bt_str rest;
	const struct route *route = routes_find(path, &rest);

	return route && route->puts && is_there(route, sources);
}

bool bt_route_is_prompt(struct bt_str path)
{
	struct bt_str rest;
	const struct route *route = routes_find(path, &rest);

	return route && (route->answer == answer_healthz || route->answer == answer_livez ||
				route->answer == answer_readyz);
}

void bt_route(const struct bt_serve_sources *sources, const struct bt_metric_settings *metrics,
	const struct bt_route_request *request, struct bt_route_answer *out_answer)
{
	struct bt_str rest;
	const struct route *route = routes_find(request->path, &rest);

	out_answer->status = 200;
	out_answer->type = TEXT;
	out_answer->warning = NULL;
	if (bt_str_is(request->path, "/metrics")) {
		out_answer->type = METRICS;
		bt_metrics_write(sources, metrics, &out_answer->body);
	} else if (bt_str_is(request->path, "/metrics/slis")) {
		out_answer->type = METRICS;
		bt_metrics_write_slis(sources, &out_answer->body);
	} else if (bt_str_is(request->path, "/metrics/resources") && sources->pod_resources) {
		out_answer->type = METRICS;
		answer_resources(sources, &out_answer->body);
	} else if (bt_str_is(request->path, "/")) {
		list_paths(out_answer);
	} else if (route && is_there(route, sources)) {
		route->answer(sources, request, rest, out_answer);
	} else {
		out_answer->status = 404;
	}
	if (out_answer->status == 404 && out_answer->body.len == 0) {
		bt_buf_text(&out_answer->body, "404 page not found\n");
	}
}
