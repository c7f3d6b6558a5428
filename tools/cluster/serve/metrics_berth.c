/* SPDX-License-Identifier: Apache-2.0
 * berth's own metrics: of the pipeline, the reflectors, the writer and the clients.
 */
#include "engine/base/mem.h"
#include "metrics_int.h"
#include "tools/kube/log/log.h"

#define RINGS_MAX   128
#define THREADS_MAX 128
#define KINDS_MAX   64

static void labelled(struct bt_exposition *x, const char *label, const char *value, uint64_t count)
{
	bt_expose_label(x, label, bt_str(value));
	bt_expose_count(x, count);
}

static void add_stages(struct bt_exposition *x, struct bt_pipeline *pipeline)
{
	/* From 100 ns, factor four, to 27 s. */
	enum { BOUNDS = 15 };
	struct bt_stage_latency *stages = bt_stage_latency_create();
	uint64_t counts[BOUNDS + 1];
	double seconds[BOUNDS];
	int64_t bounds[BOUNDS];

	for (int i = 0; i < BOUNDS; i++) {
		bounds[i] = INT64_C(100) << (2 * i);
		seconds[i] = (double)bounds[i] / 1e9;
	}
	bt_pipeline_stages(pipeline, stages);
	bt_expose(x, "berth_stage_duration_seconds", BT_METRIC_HISTOGRAM,
		"Durations of a pod's stages; a value within 1/64 below a bound may count above it.");
	for (int stage = 0; stage < BT_STAGE_N; stage++) {
		double sum = bt_histogram_cut(&stages->histograms[stage], bounds, BOUNDS, counts);

		bt_expose_label(x, "stage", bt_str(bt_stage_name((enum bt_stage)stage)));
		bt_expose_buckets(x, &(struct bt_metric_buckets){seconds, counts, BOUNDS, sum / 1e9});
	}
	bt_mem_free(stages);
}

/* One sample for all rings of a name. */
static void add_ring_family(
	struct bt_exposition *x, const struct bt_pipeline_ring *rings, uint32_t n, bool full)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t count = 0;
		bool first = true;

		for (uint32_t k = 0; k < n; k++) {
			if (bt_str_is(bt_str(rings[k].name), rings[i].name)) {
				first = first && k >= i;
				count += full ? rings[k].full_n : rings[k].count;
			}
		}
		if (first) {
			labelled(x, "ring", rings[i].name, count);
		}
	}
}

static void add_rings(struct bt_exposition *x, struct bt_pipeline *pipeline)
{
	struct bt_pipeline_ring rings[RINGS_MAX];
	uint32_t n = bt_pipeline_rings(pipeline, rings, RINGS_MAX);

	n = n < RINGS_MAX ? n : RINGS_MAX;
	bt_expose(x, "berth_ring_entries", BT_METRIC_GAUGE, "Entries in the rings between stages, by name.");
	add_ring_family(x, rings, n, false);
	bt_expose(x, "berth_ring_full_total", BT_METRIC_COUNTER, "How often a ring was full, by name.");
	add_ring_family(x, rings, n, true);
}

static void add_threads(struct bt_exposition *x, struct bt_pipeline *pipeline)
{
	struct bt_pipeline_thread threads[THREADS_MAX];
	uint32_t n = bt_pipeline_threads(pipeline, threads, THREADS_MAX);

	n = n < THREADS_MAX ? n : THREADS_MAX;
	bt_expose(x, "berth_thread_steps_total", BT_METRIC_COUNTER, "Steps that did work, by thread.");
	for (uint32_t i = 0; i < n; i++) {
		labelled(x, "thread", threads[i].name, threads[i].step_n);
	}
	bt_expose(x, "berth_thread_stalled", BT_METRIC_GAUGE,
		"1: the thread has work and has done nothing for too long, or it ended early.");
	for (uint32_t i = 0; i < n; i++) {
		labelled(x, "thread", threads[i].name, threads[i].stalled);
	}
}

static void add_pipeline(struct bt_exposition *x, struct bt_pipeline *pipeline)
{
	struct bt_pipeline_counts counts = bt_pipeline_counts(pipeline);

	bt_expose(x, "berth_pipeline_total", BT_METRIC_COUNTER,
		"Counts of the pipeline, by what; engine/flow/pipeline/pipeline_counts.def describes each.");
#define X(name, text)                                                                                        \
	bt_expose_label(x, "what", (struct bt_str){#name, sizeof(#name) - sizeof("_n")});                    \
	bt_expose_count(x, counts.name);
#include "engine/flow/pipeline/pipeline_counts.def"
#undef X
	bt_expose_gauge(x, "berth_bindings_in_flight", "Bindings that wait for a response.",
		(double)counts.binding_n);
	bt_expose_gauge(x, "berth_evictions_in_flight", "Evictions that wait for a response.",
		(double)counts.evicting_n);
}

static void add_watch_counts(struct bt_exposition *x, const struct bt_watch_state *states, uint32_t n)
{
	static const char *const names[] = {"berth_watch_lists_total", "berth_watch_watches_total",
		"berth_watch_events_total", "berth_watch_errors_total", "berth_watch_received_bytes_total"};
	static const char *const helps[] = {"Lists started, by resource.", "Watches started, by resource.",
		"Events received, by resource.", "Lists and watches that failed, by resource.",
		"Bytes received, by resource."};

	for (int k = 0; k < 5; k++) {
		bt_expose(x, names[k], BT_METRIC_COUNTER, helps[k]);
		for (uint32_t i = 0; i < n; i++) {
			const uint64_t values[] = {states[i].list_n, states[i].watch_n, states[i].event_n,
				states[i].error_n, states[i].byte_n};

			labelled(x, "resource", states[i].resource, values[k]);
		}
	}
}

static void add_unread(struct bt_exposition *x, const struct bt_watch_state *states, uint32_t n)
{
	bt_expose(x, "berth_watch_unread_objects", BT_METRIC_GAUGE,
		"Objects that could not be read completely, by resource and how they were read: with bytes "
		"that are not UTF-8 replaced, or in part; /debug/unread lists them.");
	for (uint32_t i = 0; i < n; i++) {
		bt_expose_label(x, "resource", bt_str(states[i].resource));
		bt_expose_label(x, "read", bt_str("replaced"));
		bt_expose_count(x, states[i].replaced_n);
		bt_expose_label(x, "resource", bt_str(states[i].resource));
		bt_expose_label(x, "read", bt_str("part"));
		bt_expose_count(x, states[i].in_part_n);
	}
	bt_expose(x, "berth_watch_nameless_objects_total", BT_METRIC_COUNTER,
		"Objects skipped because their names could not be read, by resource.");
	for (uint32_t i = 0; i < n; i++) {
		labelled(x, "resource", states[i].resource, states[i].skipped_n);
	}
}

static void add_watch(struct bt_exposition *x, const struct bt_serve_sources *sources)
{
	struct bt_watch_state *states = bt_mem_zalloc(KINDS_MAX, sizeof(*states));
	uint32_t n = sources->watch_states(sources->watch, states, KINDS_MAX);

	n = n < KINDS_MAX ? n : KINDS_MAX;
	bt_expose(x, "berth_watch_synced", BT_METRIC_GAUGE, "1: the first list of the resource is complete.");
	for (uint32_t i = 0; i < n; i++) {
		labelled(x, "resource", states[i].resource, states[i].synced);
	}
	bt_expose(x, "berth_watch_objects", BT_METRIC_GAUGE, "Objects in the store, by resource.");
	for (uint32_t i = 0; i < n; i++) {
		labelled(x, "resource", states[i].resource, states[i].object_n);
	}
	add_watch_counts(x, states, n);
	add_unread(x, states, n);
	bt_mem_free(states);
}

static void add_writer(struct bt_exposition *x, const struct bt_serve_sources *sources)
{
	struct bt_writer_counts c = sources->writer_counts(sources->writer);
	const struct {
		const char *what; /* metric names append _n */
		uint64_t n;
	} rows[] = {
#define X(name, words) {#name, c.name},
		BT_WRITER_COUNTS(X)
#undef X
	};

	bt_expose(x, "berth_writes_total", BT_METRIC_COUNTER,
		"Writes to the API server and their outcomes, by what; fenced: not written, because this "
		"instance is not the leader.");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bt_str what = bt_str(rows[i].what);

		bt_expose_label(x, "what", bt_str_sub(what, 0, what.len - 2));
		bt_expose_count(x, rows[i].n);
	}
	bt_expose_gauge(x, "berth_writes_in_flight", "Writes that wait for a response.", c.in_flight);
	bt_expose_gauge(x, "berth_writes_waiting", "Writes that have not been sent yet.", c.waiting);
}

static void add_clients(struct bt_exposition *x, const struct bt_serve_sources *sources)
{
	static const char *const names[] = {"berth_http_calls_total", "berth_http_errors_total",
		"berth_http_sent_bytes_total", "berth_http_received_bytes_total",
		"berth_http_connects_total"};
	static const char *const helps[] = {"Calls to the API server, by client.",
		"Calls without a response, by client.", "Bytes sent, by client.",
		"Bytes received, by client.", "Connections made, by client."};

	for (int k = 0; k < 5; k++) {
		bt_expose(x, names[k], BT_METRIC_COUNTER, helps[k]);
		for (int i = 0; i < BT_SERVE_CLIENTS && sources->clients[i].name; i++) {
			struct bt_http_counts c = sources->http_counts(sources->clients[i].http);
			const uint64_t values[] = {
				c.call_n, c.error_n, c.sent_bytes, c.received_bytes, c.connect_n};

			labelled(x, "client", sources->clients[i].name, values[k]);
		}
	}
}

void bt_metrics_of_berth(const struct bt_serve_sources *sources, struct bt_exposition *x)
{
	if (sources->pipeline) {
		add_stages(x, sources->pipeline);
		add_pipeline(x, sources->pipeline);
		add_rings(x, sources->pipeline);
		add_threads(x, sources->pipeline);
	}
	if (sources->watch) {
		add_watch(x, sources);
	}
	if (sources->writer) {
		add_writer(x, sources);
	}
	if (sources->clients[0].name) {
		add_clients(x, sources);
	}
	bt_expose_counter(
		x, "berth_log_lines_lost_total", "Log lines that could not be written.", bt_log_lost_n());
	bt_expose_gauge(
		x, "berth_memory_in_use_bytes", "Bytes of memory in use.", (double)bt_mem_in_use_bytes());
}
