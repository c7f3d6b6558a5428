/* SPDX-License-Identifier: Apache-2.0
 * Reads queue and cache between two cycles, and compares them with the API.
 */
#include "debug_int.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/hints.h"
#include "tools/cli/doc_write.h"
#include "tools/kube/report/explain.h"

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX     100000
#define DIFFERENCES   100

/* Context of a read between two cycles. */
struct debug_request {
	const struct bt_serve_sources *sources;
	const struct bt_route_request *request;
	struct bt_route_answer *out;
	struct bt_doc doc;
	uint32_t limit;
};

static uint32_t limit_of(const struct bt_route_request *request)
{
	struct bt_str text = bt_route_argument(request, "limit");
	uint32_t limit = 0;

	for (size_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' && limit < LIMIT_MAX;
		i++) {
		limit = limit * 10 + (uint32_t)(text.ptr[i] - '0');
	}
	return limit == 0 ? LIMIT_DEFAULT : limit < LIMIT_MAX ? limit : LIMIT_MAX;
}

static void debug_begin(struct debug_request *look, const struct bt_serve_sources *sources,
	const struct bt_route_request *request, struct bt_route_answer *out)
{
	*look = (struct debug_request){
		.sources = sources, .request = request, .out = out, .limit = limit_of(request)};
	out->type = "application/json";
	bt_doc_init(&look->doc, BT_DOC_JSON_PRETTY, &out->body);
	bt_doc_begin_object(&look->doc);
}

static void debug_end(struct debug_request *look)
{
	bt_doc_end(&look->doc);
	bt_buf_char(&look->out->body, '\n');
}

static struct bt_str debug_text_of(struct bt_engine *engine, uint32_t name)
{
	return bt_intern_str(bt_engine_cache(engine)->dictionary->intern, name);
}

static void add_text(struct bt_doc *doc, const char *key, struct bt_str value)
{
	bt_doc_key(doc, key);
	bt_doc_str(doc, value);
}

static void add_int(struct bt_doc *doc, const char *key, int64_t value)
{
	bt_doc_key(doc, key);
	bt_doc_int(doc, value);
}

static void add_pod_name(struct bt_doc *doc, const char *key, struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix);
	struct bt_buf name = {0};

	bt_buf_str(&name, debug_text_of(engine, pod->signature->namespace_));
	bt_buf_char(&name, '/');
	bt_buf_str(&name, debug_text_of(engine, pod->name));
	add_text(doc, key, bt_buf_view(&name));
	bt_buf_fini(&name);
}

/* ---- the queue ---- */

static void add_plugins(struct bt_doc *doc, bt_plugin_set plugins)
{
	bt_doc_key(doc, "plugins");
	bt_doc_begin_array(doc);
	for (; plugins; plugins = bt_plugin_set_rest(plugins)) {
		bt_doc_text(doc, bt_hints_name(bt_plugin_set_first(plugins)));
	}
	bt_doc_end(doc);
}

static void add_waiting(struct debug_request *look, struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(engine), pod_ix);
	const struct bt_pod *pod = bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix);
	bt_plugin_set plugins = info.unschedulable_plugins | info.pending;

	if (info.where == BT_WAIT_GATED && info.gate >= 0) {
		plugins = bt_plugin_set_of((uint32_t)info.gate);
	}
	bt_doc_begin_object(&look->doc);
	add_pod_name(&look->doc, "pod", engine, pod_ix);
	add_int(&look->doc, "priority", pod->priority);
	add_int(&look->doc, "attempts", info.attempts);
	if (plugins) {
		add_plugins(&look->doc, plugins);
	}
	bt_doc_end(&look->doc);
}

static void show_queue(void *context, struct bt_engine *engine)
{
	static const struct {
		enum bt_wait where;
		const char *name;
	} places[] = {{BT_WAIT_ACTIVE, "active"}, {BT_WAIT_BACKOFF, "backoff"},
		{BT_WAIT_UNSCHEDULABLE, "unschedulable"}, {BT_WAIT_GATED, "gated"},
		{BT_WAIT_INCOMPLETE, "incomplete"}, {BT_WAIT_PENDING, "pending"}};
	struct debug_request *look = context;
	const struct bt_queue_counts counts = bt_queue_counts(bt_engine_queue(engine));
	const uint64_t sizes[] = {counts.active, counts.backoff, counts.unschedulable, counts.gated,
		counts.incomplete, counts.pending};
	uint32_t *pods = bt_mem_zalloc(look->limit, sizeof(*pods));

	bt_doc_key(&look->doc, "counts");
	bt_doc_begin_object(&look->doc);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		add_int(&look->doc, places[i].name, (int64_t)sizes[i]);
	}
	add_int(&look->doc, "inFlight", (int64_t)counts.in_flight);
	add_int(&look->doc, "binding", (int64_t)counts.binding);
	bt_doc_end(&look->doc);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		uint32_t n = bt_queue_list(bt_engine_queue(engine), places[i].where, pods, look->limit);

		bt_doc_key(&look->doc, places[i].name);
		bt_doc_begin_array(&look->doc);
		for (uint32_t k = 0; k < n && k < look->limit; k++) {
			add_waiting(look, engine, pods[k]);
		}
		bt_doc_end(&look->doc);
	}
	bt_mem_free(pods);
}

void bt_debug_queue(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	struct debug_request look;

	(void)rest;
	debug_begin(&look, sources, request, out);
	bt_pipeline_call(sources->pipeline, show_queue, &look);
	debug_end(&look);
}

/* ---- the cache ---- */

static void add_resources(struct debug_request *look, const struct bt_cache *cache, uint32_t node_ix)
{
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	const struct bt_usage *usage = bt_ledger_usage(cache->ledger);

	bt_doc_key(&look->doc, "resources");
	bt_doc_begin_object(&look->doc);
	for (uint32_t slot = 0; slot < (uint32_t)bt_resource_count(cache->dictionary); slot++) {
		int64_t alloc = bt_node_alloc(snapshot, slot, node_ix);
		int64_t used = bt_node_used(usage, slot, node_ix);
		struct bt_buf name = {0};

		if (alloc || used) {
			bt_buf_str(&name, bt_resource_name(cache->dictionary, slot));
			bt_buf_text(&name, slot == BT_CPU ? " (milli)" : "");
			bt_doc_key_str(&look->doc, bt_buf_view(&name));
			bt_doc_begin_object(&look->doc);
			add_int(&look->doc, "allocatable", alloc);
			add_int(&look->doc, "used", used);
			bt_doc_end(&look->doc);
		}
		bt_buf_fini(&name);
	}
	bt_doc_end(&look->doc);
}

static void add_pods_of(struct debug_request *look, struct bt_engine *engine, uint32_t node_ix)
{
	const struct bt_ledger *ledger = bt_engine_cache(engine)->ledger;
	uint32_t n = 0;

	bt_doc_key(&look->doc, "pods");
	bt_doc_begin_array(&look->doc);
	for (uint32_t pod_ix = bt_ledger_first_on(ledger, node_ix); pod_ix != BT_NO_POD && n < look->limit;
		pod_ix = bt_ledger_next(ledger, pod_ix), n++) {
		bt_doc_begin_object(&look->doc);
		add_pod_name(&look->doc, "pod", engine, pod_ix);
		bt_doc_key(&look->doc, "assumed");
		bt_doc_bool(&look->doc, bt_ledger_pod(ledger, pod_ix)->state == BT_POD_ASSUMED);
		bt_doc_end(&look->doc);
	}
	bt_doc_end(&look->doc);
}

static void add_node(struct debug_request *look, struct bt_engine *engine, uint32_t node_ix, bool with_pods)
{
	const struct bt_cache *cache = bt_engine_cache(engine);

	bt_doc_begin_object(&look->doc);
	add_text(&look->doc, "node", debug_text_of(engine, cache->view.snapshot->nodes[node_ix].name));
	add_int(&look->doc, "allocatablePods", cache->view.snapshot->rooms[node_ix].pods);
	add_int(&look->doc, "usedPods", bt_ledger_usage(cache->ledger)->nodes[node_ix].pod_n);
	bt_doc_key(&look->doc, "unschedulable");
	bt_doc_bool(&look->doc, cache->view.snapshot->nodes[node_ix].unschedulable);
	add_resources(look, cache, node_ix);
	if (with_pods) {
		add_pods_of(look, engine, node_ix);
	}
	bt_doc_end(&look->doc);
}

static void show_cache(void *context, struct bt_engine *engine)
{
	struct debug_request *look = context;
	struct bt_str wanted = bt_route_argument(look->request, "node");
	const struct bt_snapshot *snapshot = bt_engine_cache(engine)->view.snapshot;
	const struct bt_engine_counts counts = bt_engine_counts(engine);
	uint32_t n = 0;

	add_int(&look->doc, "nodes", snapshot->node_n);
	add_int(&look->doc, "scheduledPods", (int64_t)counts.sets.scheduled);
	add_int(&look->doc, "assumedPods", (int64_t)counts.sets.assumed);
	add_int(&look->doc, "queuedPods", (int64_t)counts.sets.queued);
	bt_doc_key(&look->doc, "items");
	bt_doc_begin_array(&look->doc);
	for (uint32_t i = 0; i < snapshot->slot_n && n < look->limit; i++) {
		if (!bt_bitmap_test(snapshot->live, i) ||
			(wanted.ptr && !bt_str_eq(debug_text_of(engine, snapshot->nodes[i].name), wanted))) {
			continue;
		}
		add_node(look, engine, i, wanted.ptr != NULL);
		n++;
	}
	bt_doc_end(&look->doc);
}

void bt_debug_cache(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	struct debug_request look;

	(void)rest;
	debug_begin(&look, sources, request, out);
	bt_pipeline_call(sources->pipeline, show_cache, &look);
	debug_end(&look);
}

/* ---- comparison with the API ---- */

/* The API's view of a pod on a node; offsets in the text until that is complete. */
struct known_pod {
	size_t namespace_, name, node, end;
};

struct comparison_request {
	struct debug_request *look;
	struct bt_buf text;
	struct known_pod *pods;
	size_t pod_n, pod_cap;
	struct bt_map by_key; /* hashes of names, of the API's pods */
	uint64_t difference_n;
};

static uint64_t debug_key_of(struct bt_str namespace_, struct bt_str name)
{
	return bt_hash_u64(bt_hash_bytes(namespace_.ptr, namespace_.len) * 3 +
			   bt_hash_bytes(name.ptr, name.len)) |
	       1;
}

static void take_pod(void *context, const struct bt_watch_pod *pod)
{
	struct comparison_request *c = context;

	c->pods = bt_mem_grow(c->pods, c->pod_n, &c->pod_cap, sizeof(*c->pods));
	struct known_pod *known = &c->pods[c->pod_n];

	known->namespace_ = c->text.len;
	bt_buf_str(&c->text, pod->namespace_);
	known->name = c->text.len;
	bt_buf_str(&c->text, pod->name);
	known->node = c->text.len;
	bt_buf_str(&c->text, pod->node);
	known->end = c->text.len;
	bt_map_put(&c->by_key, debug_key_of(pod->namespace_, pod->name), (uint32_t)c->pod_n++);
}

static void add_difference(struct comparison_request *c, struct bt_str namespace_, struct bt_str name,
	struct bt_str api, struct bt_str ledger)
{
	struct bt_doc *doc = &c->look->doc;

	if (c->difference_n++ >= DIFFERENCES) {
		return;
	}
	bt_doc_begin_object(doc);
	add_text(doc, "namespace", namespace_);
	add_text(doc, "name", name);
	add_text(doc, "api", api);
	add_text(doc, "ledger", ledger);
	bt_doc_end(doc);
}

/* The ledger's node of a pod, or an empty text. */
static struct bt_str node_of(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	uint32_t node_ix = pod_ix == BT_NO_POD ? BT_NO_NODE : bt_ledger_pod(cache->ledger, pod_ix)->node_ix;

	return node_ix == BT_NO_NODE ? (struct bt_str){0}
				     : debug_text_of(engine, cache->view.snapshot->nodes[node_ix].name);
}

/* Looks up each of the API's pods in the ledger. */
static void compare_api(struct comparison_request *c, struct bt_engine *engine)
{
	struct bt_str all = bt_buf_view(&c->text);

	for (size_t i = 0; i < c->pod_n; i++) {
		struct bt_str namespace_ = bt_str_sub(all, c->pods[i].namespace_, c->pods[i].name);
		struct bt_str name = bt_str_sub(all, c->pods[i].name, c->pods[i].node);
		struct bt_str node = bt_str_sub(all, c->pods[i].node, c->pods[i].end);
		struct bt_str there = node_of(engine, bt_engine_find_pod(engine, namespace_, name));

		if (!bt_str_eq(there, node)) {
			add_difference(c, namespace_, name, node, there);
		}
	}
}

/* Finds scheduled pods of the ledger that the API has on no node. */
static void compare_ledger(struct comparison_request *c, struct bt_engine *engine)
{
	const struct bt_ledger *ledger = bt_engine_cache(engine)->ledger;

	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);
		uint32_t ix;

		if (pod->state != BT_POD_SCHEDULED || pod->detached) {
			continue;
		}
		struct bt_str namespace_ = debug_text_of(engine, pod->signature->namespace_);
		struct bt_str name = debug_text_of(engine, pod->name);
		if (!bt_map_get(&c->by_key, debug_key_of(namespace_, name), &ix)) {
			add_difference(c, namespace_, name, (struct bt_str){0}, node_of(engine, i));
		}
	}
}

static void compare(void *context, struct bt_engine *engine)
{
	struct comparison_request *c = context;
	struct bt_doc *doc = &c->look->doc;

	bt_doc_key(doc, "differences");
	bt_doc_begin_array(doc);
	compare_api(c, engine);
	compare_ledger(c, engine);
	bt_doc_end(doc);
	const struct bt_engine_counts counts = bt_engine_counts(engine);

	add_int(doc, "differenceCount", (int64_t)c->difference_n);
	add_int(doc, "apiPods", (int64_t)c->pod_n);
	add_int(doc, "ledgerScheduledPods", (int64_t)counts.sets.scheduled);
	add_int(doc, "ledgerAssumedPods", (int64_t)counts.sets.assumed);
}

void bt_debug_compare(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	struct comparison_request c = {0};
	struct debug_request look;

	(void)rest;
	if (!sources->list_pods) {
		out->status = 404;
		return;
	}
	if (!sources->list_pods(sources->context, take_pod, &c)) {
		out->status = 503;
		bt_buf_text(&out->body, "the API server has not listed all pods: try again\n");
	} else {
		debug_begin(&look, sources, request, out);
		c.look = &look;
		add_text(&look.doc, "note",
			bt_str("All pods on nodes were listed from the API server, and then the ledger was "
			       "read: changes in between show as differences for a moment. An empty node: "
			       "not on any, or not known."));
		bt_pipeline_call(sources->pipeline, compare, &c);
		debug_end(&look);
	}
	bt_buf_fini(&c.text);
	bt_map_fini(&c.by_key);
	bt_mem_free(c.pods);
}

/* ---- incompletely decoded objects ---- */

static void add_unread(void *context, const char *resource, const struct bt_unread_object *object)
{
	struct debug_request *look = context;

	if (look->limit == 0) {
		return;
	}
	look->limit--;
	bt_doc_begin_object(&look->doc);
	add_text(&look->doc, "resource", bt_str(resource));
	add_text(&look->doc, "namespace", object->namespace_);
	add_text(&look->doc, "name", object->name);
	add_text(&look->doc, "uid", object->uid);
	add_text(&look->doc, "read",
		bt_str(object->extent == BT_PROTO_REPLACED ? "with U+FFFD for bytes that are not UTF-8"
							   : "in part"));
	add_text(&look->doc, "why", object->why);
	bt_doc_end(&look->doc);
}

/* Pods that were decoded, but of which the engine does not use all fields. */
static void show_incomplete(void *context, struct bt_engine *engine)
{
	struct debug_request *look = context;
	const struct bt_ledger *ledger = bt_engine_cache(engine)->ledger;

	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger) && look->limit; i++) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);

		if (pod->state == BT_POD_VACANT || !pod->signature->incomplete) {
			continue;
		}
		look->limit--;
		bt_doc_begin_object(&look->doc);
		add_pod_name(&look->doc, "pod", engine, i);
		add_text(&look->doc, "node", node_of(engine, i));
		add_text(&look->doc, "why", bt_str(pod->signature->incomplete));
		bt_doc_end(&look->doc);
	}
}

void bt_debug_unread(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	struct debug_request look;

	(void)rest;
	debug_begin(&look, sources, request, out);
	add_text(&look.doc, "note",
		bt_str("What is read in part counts with what was read; pods of which something is missing "
		       "are not bound. Correct the field, or create the object again without it."));
	bt_doc_key(&look.doc, "objects");
	bt_doc_begin_array(&look.doc);
	if (sources->watch && sources->each_unread) {
		sources->each_unread(sources->watch, add_unread, &look);
	}
	bt_doc_end(&look.doc);
	bt_doc_key(&look.doc, "incompletePods");
	bt_doc_begin_array(&look.doc);
	bt_pipeline_call(sources->pipeline, show_incomplete, &look);
	bt_doc_end(&look.doc);
	debug_end(&look);
}

/* ---- explain ---- */

struct explanation {
	struct bt_str namespace_, name;
	struct bt_emit *emit;
	bool found;
};

static void debug_explain(void *context, struct bt_engine *engine)
{
	struct explanation *e = context;
	uint32_t pod_ix = bt_engine_find_pod(engine, e->namespace_, e->name);

	e->found = pod_ix != BT_NO_POD;
	if (e->found) {
		bool absent = bt_engine_absent_begin(engine, pod_ix);

		bt_emit_begin_array(e->emit, "nodes");
		bt_report_explain(e->emit, engine, pod_ix);
		bt_emit_end(e->emit);
		if (absent) {
			bt_engine_absent_end(engine, pod_ix);
		}
	}
}

static void write_explanation(
	const struct bt_route_request *request, struct bt_emit *emit, struct bt_route_answer *out)
{
	struct bt_str format = bt_route_argument(request, "output");
	struct bt_output output;

	bt_output_open_buf(&out->body, &output);
	out->type = bt_str_is(format, "json") ? "application/json" : out->type;
	bt_emit_write(emit,
		bt_emit_format_of(bt_str_is(format, "json")   ? "json"
				  : bt_str_is(format, "yaml") ? "yaml"
				  : bt_str_is(format, "csv")  ? "csv"
							      : "table"),
		false, &output);
	bt_output_flush(&output);
}

void bt_debug_explain(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	struct bt_str pod = bt_route_argument(request, "pod");
	size_t slash = bt_str_find(pod, '/', 0);
	struct explanation e = {0};

	(void)rest;
	if (slash == pod.len) {
		out->status = 400;
		bt_buf_text(&out->body, "name the pod: ?pod=NAMESPACE/NAME\n");
		return;
	}
	e.namespace_ = bt_str_sub(pod, 0, slash);
	e.name = bt_str_sub(pod, slash + 1, pod.len);
	e.emit = bt_emit_create();
	bt_pipeline_call(sources->pipeline, debug_explain, &e);
	if (e.found) {
		write_explanation(request, e.emit, out);
	} else {
		out->status = 404;
		bt_buf_printf(&out->body, "the scheduler knows no pod %.*s\n", BT_STR_ARG(pod));
	}
	bt_emit_destroy(e.emit);
}
