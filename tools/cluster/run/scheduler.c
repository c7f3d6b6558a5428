/* SPDX-License-Identifier: Apache-2.0
 * Assembles the parts of a scheduler.
 */
#include "tools/cluster/run/scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/atomic.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "engine/base/topo.h"
#include "engine/flow/pipeline/pipeline.h"
#include "tools/cli/interrupt.h"
#include "tools/cluster/extender/extender.h"
#include "tools/cluster/lease/lease.h"
#include "tools/cluster/net/http.h"
#include "tools/cluster/run/cache_comparer.h"
#include "tools/cluster/run/cycle_log.h"
#include "tools/cluster/run/event_log.h"
#include "tools/cluster/run/queue_log.h"
#include "tools/cluster/run/node_comparer.h"
#include "tools/cluster/run/shadow_compare.h"
#include "tools/cluster/serve/serve.h"
#include "tools/kube/config/config_file.h"
#include "tools/kube/config/recording.h"
#include "tools/cluster/watch/watch.h"
#include "tools/cluster/write/writer.h"

#define SECOND_NS	   INT64_C(1000000000)
#define UNSYNCED_NS	   (30 * SECOND_NS) /* after that, and then repeatedly, missing kinds are logged */
#define HOST_BYTES	   256
#define FEW_CPUS	   4
#define LEASE_TOLERANCE_NS (20 * SECOND_NS) /* Source: makeLeaderElectionConfig, v1.36.3 */

/* owner: the main thread, except for atomics */
struct bt_scheduler {
	const struct bt_run_flags *flags;
	const struct bt_config *config;
	char host[HOST_BYTES], identity[HOST_BYTES + 40];
	struct bt_run_access *access;
	struct bt_topo *topo;
	struct bt_topo_plan plan;
	struct bt_recording recording;
	struct bt_extenders *extenders; /* NULL: no extenders are configured */
	struct bt_writer *writer;
	struct bt_pipeline *pipeline;
	struct bt_watch *watch;
	struct bt_http *lease_http, *comparer_http;
	struct bt_pod_pages *pages, *node_pages; /* for the pod comparer; for the node comparer */
	struct bt_node_comparer *nodes;
	struct bt_cache_comparer *comparer;
	struct bt_attempt_metrics *attempts;
	struct bt_cycle_log *cycle_log;
	struct bt_pod_resources *pod_resources;
	struct bt_shadow_compare *shadow; /* NULL: not in shadow mode */
	struct bt_pipeline_sink writes;	  /* the writer's */
	struct bt_http *authentication, *authorization;
	struct bt_serve *serve;
	struct bt_lease *lease;	   /* NULL: no election */
	struct bt_lock lease_lock; /* for lease, which the writer's thread reads, too */
	_Atomic uint32_t ending;   /* atomic: a flag alone, relaxed */
	_Atomic uint32_t lost;	   /* atomic: a flag alone, relaxed */
	bool started, elected, reported_synced, reported_journal;
	bool leads_next; /* synced, but the election has not started */
	bool undecided;	 /* the release in effect is not known yet */
	int64_t looked_ns, waits_since_ns;
};

/* ---- callbacks of parts ---- */

/* Context: any thread. */
static bool leads(void *context)
{
	struct bt_scheduler *s = context;

	bt_lock_acquire(&s->lease_lock);
	bool held = s->lease && bt_lease_is_held(s->lease);
	bt_lock_release(&s->lease_lock);
	return held;
}

/* Context: any thread, as the next one. */
static bool lease_is_well(void *context)
{
	struct bt_scheduler *s = context;

	bt_lock_acquire(&s->lease_lock);
	bool well = !s->lease || bt_lease_is_healthy(s->lease, LEASE_TOLERANCE_NS);
	bt_lock_release(&s->lease_lock);
	return well;
}

static uint64_t lease_slow_n(void *context)
{
	struct bt_scheduler *s = context;

	bt_lock_acquire(&s->lease_lock);
	uint64_t n = s->lease ? bt_lease_slow_n(s->lease) : 0;
	bt_lock_release(&s->lease_lock);
	return n;
}

/* Context: the writer's thread. */
static bool may_write(void *context)
{
	return !((struct bt_scheduler *)context)->elected || leads(context);
}

static bool is_ending(void *context)
{
	return bt_load_relaxed(&((struct bt_scheduler *)context)->ending);
}

/* ---- callbacks of the pipeline, for the writer and the metrics ---- */

static void on_event(
	void *context, enum bt_cluster_event_resource resource, uint32_t action, const struct bt_delta *delta)
{
	const struct bt_scheduler *s = context;
	const struct bt_cache *cache = bt_engine_cache(bt_pipeline_engine(s->pipeline));

	bt_event_log(cache->dictionary->intern, resource, action, delta);
}

static void on_cycle_begins(void *context, uint32_t pod_ix)
{
	const struct bt_scheduler *s = context;

	if (s->shadow) {
		bt_shadow_compare_score(s->shadow, bt_pipeline_engine(s->pipeline), pod_ix);
	}
	bt_cycle_log_begins(s->cycle_log, bt_pipeline_engine(s->pipeline), pod_ix);
}

/* In shadow mode. */
static void arrives(void *context, uint32_t pod_ix, struct bt_str node)
{
	const struct bt_scheduler *s = context;

	bt_shadow_compare_judge(s->shadow, bt_pipeline_engine(s->pipeline), pod_ix, node);
}

static void on_cycle_ended(void *context, const struct bt_decision *decision,
	const struct bt_queue_info *info, uint32_t nominated, struct bt_str message)
{
	const struct bt_scheduler *s = context;

	s->writes.cycle_ended(s->writes.context, decision, info, nominated, message);
	bt_attempt_metrics_cycle_ended(s->attempts, bt_pipeline_engine(s->pipeline), decision);
	bt_cycle_log_ended(s->cycle_log, bt_pipeline_engine(s->pipeline), decision, message);
}

static void on_group_ended(void *context, const struct bt_group_end *end)
{
	const struct bt_scheduler *s = context;

	s->writes.group_ended(s->writes.context, end);
	bt_cycle_log_group_ended(s->cycle_log, bt_pipeline_engine(s->pipeline), end);
}

static void on_waits(void *context, uint32_t pod_ix, uint32_t node_ix)
{
	const struct bt_scheduler *s = context;

	s->writes.waits(s->writes.context, pod_ix, node_ix);
	bt_cycle_log_waits(bt_pipeline_engine(s->pipeline), pod_ix);
}

static void on_preempted(void *context, uint32_t victim_ix, uint32_t preemptor_ix, uint32_t node_ix)
{
	const struct bt_scheduler *s = context;

	s->writes.preempted(s->writes.context, victim_ix, preemptor_ix, node_ix);
}

static void bound(void *context, uint32_t pod_ix, bool yes, const struct bt_queue_info *info, int64_t took_ns)
{
	const struct bt_scheduler *s = context;
	const struct bt_clock clock = bt_clock_real();

	bt_attempt_metrics_bound(s->attempts, bt_pipeline_engine(s->pipeline), pod_ix, yes, info, took_ns,
		bt_clock_now_ns(&clock));
	bt_cycle_log_bound(s->cycle_log, bt_pipeline_engine(s->pipeline), pod_ix, yes, info);
}

/* ---- callbacks of the lease ---- */

/* Context: the lease's thread, as the next two. */
static void started_leading(void *context)
{
	struct bt_scheduler *s = context;

	bt_pipeline_pause(s->pipeline, false);
}

static void stopped_leading(void *context)
{
	struct bt_scheduler *s = context;

	bt_pipeline_pause(s->pipeline, true);
	bt_store_relaxed(&s->lost, 1u);
}

static void new_leader(void *context, struct bt_str identity)
{
	const struct bt_scheduler *s = context;

	if (!bt_str_is(identity, s->identity)) {
		bt_log(BT_LOG_INFO, 0, "New leader elected", bt_log_fields(bt_log_str("identity", identity)));
	}
}

/* ---- create ---- */

static void name_host(struct bt_scheduler *s)
{
	uint64_t salt = (uint64_t)bt_clock_monotonic_ns() ^ ((uint64_t)getpid() << 40);

	if (gethostname(s->host, sizeof(s->host) - 1) != 0 || !s->host[0]) {
		snprintf(s->host, sizeof(s->host), "localhost");
	}
	/* Source: leader election's identity is the host name and something unique, v1.36.3. */
	snprintf(s->identity, sizeof(s->identity), "%s_%d-%016llx", s->host, (int)getpid(),
		(unsigned long long)salt);
}

/* The journal is truncated when it is opened, so it must not be a file that a configuration or a kubeconfig
 * names. */
static bool open_journal(struct bt_scheduler *s, struct bt_buf *out_error)
{
	const char *journal = s->flags->journal;

	if (!journal) {
		return true;
	}
	if (bt_run_access_reads(s->access, s->config, journal)) {
		bt_buf_printf(out_error, "--journal %s is also an input; write to another file", journal);
		return false;
	}
	if (bt_recording_open(&s->recording, journal, BT_OUTPUT_FOLLOWED, s->config) != BT_OK) {
		bt_buf_printf(out_error, "the journal %s cannot be written", journal);
		return false;
	}
	return true;
}

/* On a machine with few CPUs the API server is the bottleneck, and more pipeline threads would only wake each
 * other. */
static bool make_places(struct bt_scheduler *s, struct bt_buf *out_error)
{
	if (bt_topo_discover(&s->topo, out_error) != BT_OK) {
		return false;
	}
	bool few = bt_topo_machine(s->topo).usable_cpu_n <= FEW_CPUS && s->flags->workers <= 1 &&
		   !s->flags->threads;
	const struct bt_topo_request request = {
		.worker_n = few ? 1 : s->flags->workers,
		.ingestion_n = s->flags->threads,
		.binder_n = few ? 0 : 1,
		.cpus = s->flags->cpus,
	};

	return bt_topo_plan(s->topo, &request, &s->plan, out_error) == BT_OK;
}

static void take_timeouts(const struct bt_resolved_profile *profile, struct bt_writer_options *options)
{
	for (uint32_t id = 0; id < bt_plugin_n(); id++) {
		const struct bt_plugin *plugin = bt_plugin_at(id);
		int64_t *longest = plugin->traits & BT_TRAIT_VOLUMES ? &options->volume_timeout_ns
								     : &options->device_timeout_ns;

		if (profile->args[id] && plugin->args->bind_timeout_ns) {
			int64_t ns = plugin->args->bind_timeout_ns(profile->args[id]);

			*longest = ns > *longest ? ns : *longest;
		}
	}
}

/* How long a binding may wait for volumes and devices: the maximum over all profiles. Source:
 * VolumeBindingArgs' bindTimeoutSeconds and DynamicResourcesArgs' bindingTimeout. */
static void find_timeouts(const struct bt_config *config, struct bt_writer_options *options)
{
	for (uint32_t i = 0; i < config->profile_n; i++) {
		struct bt_resolved_profile profile;
		struct bt_config_errors errors = {0};

		if (bt_config_resolve(config, i, &errors, &profile) == BT_OK) {
			take_timeouts(&profile, options);
		}
		bt_config_errors_fini(&errors);
	}
}

/* Context: the writer's thread. */
static void extender_bind(void *context, const struct bt_extender_config *extender,
	const struct bt_pod_ref *pod, struct bt_str node,
	void (*done)(void *context, enum bt_extender_end end, struct bt_str error), void *done_context)
{
	bt_extenders_bind(context, extender, pod, node, done, done_context);
}

static bool make_extenders(struct bt_scheduler *s, struct bt_buf *out_error)
{
	s->extenders = bt_extenders_create(s->config, s->access->api, out_error);
	return s->extenders || !s->config->extender_n;
}

static bool make_writer(struct bt_scheduler *s, struct bt_buf *out_error)
{
	const struct bt_client_connection_config *connection = &s->config->client_connection;
	const struct bt_run_rate rate = bt_run_rate_of(connection);
	struct bt_writer_options options = {
		.access = s->access->api,
		.qps = rate.qps,
		.burst = rate.burst,
		.connections = s->flags->connections,
		.in_flight = s->flags->bindings_in_flight,
		.host = s->host,
		.configs_stand_once = bt_release_has(s->config->gates.release, BT_RULE_CONFIGS_STAND_ONCE),
		.devices_map_alone = bt_release_has(s->config->gates.release, BT_RULE_DEVICES_MAP_ALONE),
		.preempts_in_turn = !s->config->gates.on[BT_GATE_SCHEDULER_ASYNC_PREEMPTION],
		.nominates_waiting = s->config->gates.on[BT_GATE_NOMINATED_NODE_NAME_FOR_EXPECTATION],
		.json = bt_str_is(connection->content_type, "application/json"),
		.dry = s->flags->shadow,
		.may_write = may_write,
		.context = s,
		.extender_bind = s->extenders ? extender_bind : NULL,
		.extender_context = s->extenders,
	};

	find_timeouts(s->config, &options);
	s->writer = bt_writer_create(&options, out_error);
	if (s->writer) {
		s->writes = bt_writer_sink(s->writer);
	}
	return s->writer != NULL;
}

/* The source is the server, which buffers what it sends; a burst is buffered per kind. */
static void limit_rings(struct bt_limits *limits)
{
	limits->feed = limits->delta = 256;
	limits->inbox = limits->events = 512;
	limits->bind_requests = 1024;
	limits->spent = 128;
}

static bool make_pipeline(struct bt_scheduler *s, struct bt_buf *out_error)
{
	struct bt_pipeline_options options = {
		.limits = bt_limits_default(),
		.engine = {.seed = s->flags->seed,
			.clock = bt_clock_real(),
			.sampling = bt_configuration_sampling(s->flags->node_sampling)},
		.topo = s->topo,
		.plan = &s->plan,
		.binder = bt_writer_binder(s->writer),
		.sink = {.event = on_event,
			.cycle_begins = on_cycle_begins,
			.arrives = s->shadow ? arrives : NULL,
			.cycle_ended = on_cycle_ended,
			.group_ended = on_group_ended,
			.waits = on_waits,
			.preempted = on_preempted,
			.bound = bound,
			.context = s},
		.stages = true,
		.messages = true,
		.wait_for_sync = true,
		.paused = s->elected || s->undecided,
		.one_thread = s->plan.is_inline,
		.journal = s->recording.journal,
	};
	struct bt_config_errors errors = {0};

	options.engine.moves_pods = true;
	options.engine.observer = bt_queue_log_observer(&s->pipeline);
	limit_rings(&options.limits);
	if (s->extenders) {
		options.engine.extending = bt_extenders_hooks(s->extenders);
	}
	if (s->shadow) {
		/* At most one pod that the other scheduler has not bound yet is assumed here, so that both
		 * see the same cluster. */
		options.limits.bindings = 1;
		options.engine.status_is_shown = true; /* the other scheduler writes it */
	}
	options.limits.sources = bt_watch_source_n(&s->config->gates);
	options.limits.workers = s->plan.worker_n;
	options.limits.ingest_threads = s->flags->threads ? s->flags->threads : 1;
	s->pipeline = bt_pipeline_create(s->config, &options, &errors);
	if (!s->pipeline) {
		bt_config_errors_text(&errors, out_error);
	}
	bt_config_errors_fini(&errors);
	return s->pipeline != NULL;
}

/* Errors that would prevent it from ever leading are reported before anything starts. */
static bool check_election(const struct bt_scheduler *s, struct bt_buf *out_error)
{
	const struct bt_leader_election_config *election = &s->config->leader_election;
	const char *fault = s->elected ? bt_lease_fault(election->lease_duration_ns,
						 election->renew_deadline_ns, election->retry_period_ns)
				       : NULL;

	if (fault) {
		bt_buf_printf(out_error,
			"leaderElection: %s; see --leader-elect-lease-duration, "
			"--leader-elect-renew-deadline "
			"and --leader-elect-retry-period",
			fault);
	}
	return !fault;
}

struct bt_scheduler *bt_scheduler_create(const struct bt_run_flags *flags, const struct bt_config *config,
	struct bt_run_access *access, bool undecided, struct bt_buf *out_error)
{
	struct bt_scheduler *s = bt_mem_zalloc(1, sizeof(*s));

	s->flags = flags;
	s->config = config;
	s->access = access;
	s->undecided = undecided;
	s->elected = config->leader_election.leader_elect.value && !flags->shadow;
	s->attempts = bt_attempt_metrics_create(config);
	s->cycle_log = bt_cycle_log_create(!flags->shadow);
	s->shadow = flags->shadow ? bt_shadow_compare_create() : NULL;
	name_host(s);
	bt_lock_init(&s->lease_lock);
	if (!check_election(s, out_error)) {
		bt_scheduler_destroy(s);
		return NULL;
	}
	if (open_journal(s, out_error) && bt_run_access_confine(access, config, out_error) &&
		make_places(s, out_error) && make_extenders(s, out_error) && make_writer(s, out_error) &&
		make_pipeline(s, out_error)) {
		bt_writer_attach(s->writer, s->pipeline);
		return s;
	}
	bt_scheduler_destroy(s);
	return NULL;
}

/* ---- start ---- */

static bool start_watch(struct bt_scheduler *s, struct bt_buf *out_error)
{
	struct bt_watch_listener listeners[3] = {bt_writer_listener(s->writer)};
	uint32_t listener_n = 1;

	if (s->extenders) {
		listeners[listener_n++] = bt_extenders_listener(s->extenders);
	}
	if (s->flags->serving.port) { /* else there are no readers */
		s->pod_resources = bt_pod_resources_create(bt_pipeline_names(s->pipeline));
		listeners[listener_n++] = bt_pod_resources_listener(s->pod_resources);
	}
	const struct bt_watch_options options = {
		.access = s->access->api,
		.pipeline = s->pipeline,
		.gates = &s->config->gates,
		.names = bt_pipeline_names(s->pipeline),
		.listeners = listeners,
		.listener_n = listener_n,
		.page = s->flags->page,
		.json = bt_run_reads_json(&s->config->client_connection),
	};

	s->watch = bt_watch_create(&options, out_error);
	return s->watch != NULL;
}

static bool start_lease(struct bt_scheduler *s, struct bt_buf *out_error)
{
	const struct bt_leader_election_config *election = &s->config->leader_election;

	if (!s->elected) {
		return true;
	}
	s->lease_http = bt_http_create(
		&(struct bt_http_options){.access = s->access->api, .name = "lease"}, out_error);
	if (!s->lease_http) {
		return false;
	}
	char *namespace_ = bt_run_copy_text(election->resource_namespace),
	     *name = bt_run_copy_text(election->resource_name);
	char *component = bt_run_copy_text(s->config->profiles[0].scheduler_name);
	struct bt_lease *lease = bt_lease_create(
		&(struct bt_lease_options){
			.http = s->lease_http,
			.namespace_ = namespace_,
			.name = name,
			.identity = s->identity,
			.component = component,
			.lease_ns = election->lease_duration_ns,
			.renew_deadline_ns = election->renew_deadline_ns,
			.retry_ns = election->retry_period_ns,
			.release_on_stop = true,
			.started_leading = started_leading,
			.stopped_leading = stopped_leading,
			.new_leader = new_leader,
			.context = s,
		},
		out_error);
	bt_mem_free(namespace_);
	bt_mem_free(name);
	bt_mem_free(component);
	bt_lock_acquire(&s->lease_lock);
	s->lease = lease;
	bt_lock_release(&s->lease_lock);
	return s->lease != NULL;
}

static struct bt_pod_pages *make_pages(const struct bt_scheduler *s)
{
	return bt_pod_pages_create(&(struct bt_pod_pages_options){.http = s->comparer_http,
		.fetch = bt_http_fetch,
		.json = bt_run_reads_json(&s->config->client_connection)});
}

/* The API's pods on nodes, for comparisons on request. Context: a connection's thread. */
static bool list_pods(void *context, void (*call)(void *to, const struct bt_watch_pod *pod), void *to)
{
	struct bt_pod_pages *pages = make_pages(context);
	enum bt_pages step;

	bt_pod_pages_begin(pages, (struct bt_str){.len = 0});
	do {
		step = bt_pod_pages_next(pages, call, to);
	} while (step == BT_PAGES_MORE);
	bt_pod_pages_destroy(pages);
	return step == BT_PAGES_END;
}

static bool start_audit(struct bt_scheduler *s, struct bt_buf *out_error)
{
	s->comparer_http = bt_http_create(&(struct bt_http_options){.access = s->access->api,
						  .name = "audit",
						  .body_max_bytes = BT_HTTP_LIST_MAX,
						  .gives_up = bt_interrupt_pending},
		out_error);
	if (!s->comparer_http) {
		return false;
	}
	s->pages = make_pages(s);
	s->comparer = bt_cache_comparer_create(
		&(struct bt_cache_comparer_options){.pipeline = s->pipeline, .pages = s->pages});
	s->node_pages = make_pages(s);
	s->nodes = bt_node_comparer_create(
		&(struct bt_node_comparer_options){.pipeline = s->pipeline, .pages = s->node_pages});
	return true;
}

#define EXTENDERS_MAX 64

static void add_extender_metrics(const struct bt_scheduler *s, struct bt_exposition *x)
{
	struct bt_extender_counts counts[EXTENDERS_MAX];
	uint32_t n = bt_extenders_counts(s->extenders, counts, EXTENDERS_MAX);

	n = n < EXTENDERS_MAX ? n : EXTENDERS_MAX;
	bt_expose(x, "berth_extender_calls_total", BT_METRIC_COUNTER, "Calls of extenders.");
	for (uint32_t i = 0; i < n; i++) {
		bt_expose_label(x, "extender", counts[i].url);
		bt_expose_count(x, counts[i].call_n);
	}
	bt_expose(x, "berth_extender_errors_total", BT_METRIC_COUNTER,
		"Calls of extenders that failed, whether that was ignored or not.");
	for (uint32_t i = 0; i < n; i++) {
		bt_expose_label(x, "extender", counts[i].url);
		bt_expose_count(x, counts[i].error_n);
	}
	bt_expose(x, "berth_extender_wait_seconds_total", BT_METRIC_COUNTER,
		"How long cycles have waited for extenders.");
	for (uint32_t i = 0; i < n; i++) {
		bt_expose_label(x, "extender", counts[i].url);
		bt_expose_real(x, (double)counts[i].wait_ns / 1e9);
	}
}

/* Context: a thread of the server. */
static void add_metrics(void *context, struct bt_exposition *x)
{
	const struct bt_scheduler *s = context;
	const struct bt_cache_comparer_counts counts = bt_cache_comparer_counts(s->comparer);

	bt_expose_counter(x, "berth_audit_rounds_total", "Comparisons of the ledger with the API's objects.",
		counts.round_n);
	bt_expose_counter(x, "berth_audit_differences_total",
		"Nodes whose pods differed between the ledger and the API for good.", counts.differ_n);
	bt_expose_counter(x, "berth_audit_repaired_total",
		"Pods that the engine was shown again by the comparison.", counts.repaired_n);
	bt_expose_counter(x, "berth_audit_unanswered_total",
		"Pods of which the API server gave no answer to the comparison.", counts.failed_n);
	bt_expose_counter(x, "berth_audit_unlisted_total",
		"Lists of pods that the API server did not give the comparison to their end.",
		counts.unlisted_n);
	bt_expose_counter(x, "berth_audit_node_differences_total",
		"Nodes that differed between the scheduler and the API for good.",
		bt_node_comparer_counts(s->nodes).differ_n);
	if (s->extenders) {
		add_extender_metrics(s, x);
	}
	if (s->shadow) {
		bt_expose(x, "berth_shadow_pods_total", BT_METRIC_COUNTER,
			"Pods that another scheduler has placed, by what its node is here: the same or only "
			"best one, tied with others, crossed by bindings of pods that were decided before, "
			"of a "
			"lower score, or refused.");
		for (int v = 0; v < BT_SHADOW_COMPARE_VERDICT_N; v++) {
			enum bt_shadow_compare_verdict verdict = (enum bt_shadow_compare_verdict)v;

			bt_expose_label(x, "verdict", bt_str(bt_shadow_compare_verdict_text(verdict)));
			bt_expose_count(x, bt_shadow_compare_count(s->shadow, verdict));
		}
	}
}

/* A client for reviews; with its own kubeconfig if one was given. */
static bool make_reviewer(struct bt_scheduler *s, struct bt_client_config *own, struct bt_http **out_http,
	struct bt_buf *out_error)
{
	*out_http = bt_http_create(&(struct bt_http_options){.access = own ? own : s->access->api,
					   .name = "review",
					   .gives_up = bt_interrupt_pending},
		out_error);
	return *out_http != NULL;
}

static void each_flag(void *context, void (*call)(void *to, const char *name, struct bt_str value), void *to)
{
	bt_run_flags_each(((struct bt_scheduler *)context)->flags, call, to);
}

/* The servers that its clients call. */
static void name_servers(const struct bt_scheduler *s, struct bt_serve_sources *sources)
{
	const struct bt_client_config *all[] = {
		s->access->api, s->access->authentication, s->access->authorization};
	int n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (all[i]) {
			sources->servers[n].host = bt_client_config_host(all[i]);
			sources->servers[n].access = all[i];
			sources->servers[n++].metrics = bt_client_config_metrics(all[i]);
		}
	}
}

static bool start_serve(struct bt_scheduler *s, struct bt_buf *out_error)
{
	if (!s->flags->serving.port) {
		return true;
	}
	if (!make_reviewer(s, s->access->authentication, &s->authentication, out_error) ||
		!make_reviewer(s, s->access->authorization, &s->authorization, out_error)) {
		return false;
	}
	struct bt_serve_options options = {.settings = s->flags->serving,
		.sources = {.version = BERTH_VERSION,
			.config = s->config,
			.pipeline = s->pipeline,
			.attempts = s->attempts,
			.watch = s->watch,
			.watch_states = bt_watch_states,
			.each_unread = bt_watch_each_unread,
			.list_pods = list_pods,
			.pod_resources = s->pod_resources,
			.writer = s->writer,
			.writer_counts = bt_writer_counts,
			.each_device_wait = bt_writer_each_device_wait,
			.leads = s->elected ? leads : NULL,
			.lease_is_well = lease_is_well,
			.lease_slow_n = lease_slow_n,
			.clients = {{"audit", s->comparer_http}},
			.http_counts = bt_http_counts,
			.access_count = bt_client_config_count,
			.is_ending = is_ending,
			.each_flag = each_flag,
			.more_metrics = add_metrics,
			.context = s},
		.authentication = s->authentication,
		.authorization = s->authorization,
		.fetch = bt_http_fetch};

	name_servers(s, &options.sources);
	s->serve = bt_serve_create(&options, out_error);
	return s->serve != NULL;
}

enum bt_status bt_scheduler_start(struct bt_scheduler *s, struct bt_buf *out_error)
{
	bt_log(BT_LOG_INFO, 0, "Starting berth",
		bt_log_fields(bt_log_str("version", bt_str(BERTH_VERSION)),
			bt_log_str("server", bt_str(bt_client_config_server(s->access->api)))));
	s->started = true;
	s->waits_since_ns = bt_clock_monotonic_ns();
	if (bt_pipeline_start(s->pipeline, out_error) != BT_OK || !start_watch(s, out_error) ||
		!start_audit(s, out_error) || !start_serve(s, out_error)) {
		return BT_IO;
	}
	return BT_OK;
}

/* ---- periodic work ---- */

/* As upstream, the election starts once all kinds are synced. */
static void begin_to_lead(struct bt_scheduler *s)
{
	struct bt_buf why = {0};

	if (!start_lease(s, &why)) {
		bt_log(BT_LOG_ERROR, 0, "Leader election cannot begin",
			bt_log_fields(bt_log_str("err", bt_buf_view(&why))));
		bt_store_relaxed(&s->lost, 1u);
	}
	bt_buf_fini(&why);
}

/* Logs which kinds are not synced. */
static void log_unsynced(const struct bt_scheduler *s)
{
	struct bt_watch_state states[BT_KIND_N];
	uint32_t n = bt_watch_states(s->watch, states, BT_KIND_N);
	struct bt_buf kinds = {0};

	for (uint32_t i = 0; i < n && i < BT_KIND_N; i++) {
		if (!states[i].synced) {
			bt_buf_printf(&kinds, "%s%s", kinds.len ? ", " : "", states[i].resource);
		}
	}
	bt_log(BT_LOG_WARNING, 0,
		"No pod is scheduled before everything has been listed; some is missing yet",
		bt_log_fields(bt_log_str("missing", bt_buf_view(&kinds))));
	bt_buf_fini(&kinds);
}

static void check_sync(struct bt_scheduler *s, int64_t now_ns)
{
	const struct bt_pipeline_counts counts = bt_pipeline_counts(s->pipeline);

	if (!s->reported_synced && counts.synced_n == bt_watch_source_n(&s->config->gates)) {
		s->reported_synced = true;
		bt_log(BT_LOG_INFO, 0, "Everything that the API server has is known",
			bt_log_fields(bt_log_int("objects", (int64_t)counts.applied_n)));
		s->leads_next = true;
	}
	if (s->leads_next && !s->undecided) {
		s->leads_next = false;
		begin_to_lead(s);
	}
	if (!s->reported_synced && now_ns - s->waits_since_ns >= UNSYNCED_NS) {
		s->waits_since_ns = now_ns;
		log_unsynced(s);
	}
}

#define THREADS_MAX 64

static void report_stalls(const struct bt_scheduler *s)
{
	struct bt_pipeline_thread threads[THREADS_MAX];
	uint32_t n = bt_pipeline_threads(s->pipeline, threads, THREADS_MAX);

	for (uint32_t i = 0; i < n && i < THREADS_MAX; i++) {
		if (threads[i].stalled) {
			bt_log(BT_LOG_ERROR, 0, "A thread does not get on with its work",
				bt_log_fields(bt_log_str("thread", bt_str(threads[i].name)),
					bt_log_real("seconds", (double)threads[i].since_ns / 1e9)));
		}
	}
}

static void check_journal(struct bt_scheduler *s)
{
	int error = bt_recording_error(&s->recording);

	if (error && !s->reported_journal) {
		s->reported_journal = true;
		bt_log(BT_LOG_ERROR, 0, "The journal breaks off; pods are scheduled without it",
			bt_log_fields(bt_log_str("file", bt_str(s->flags->journal)),
				bt_log_str("err", bt_str(strerror(error)))));
	}
}

void bt_scheduler_decide(struct bt_scheduler *s)
{
	if (s->undecided) {
		s->undecided = false;
		bt_pipeline_pause(s->pipeline, s->elected);
	}
}

bool bt_scheduler_tick(struct bt_scheduler *s)
{
	int64_t now_ns = bt_clock_monotonic_ns();

	if (bt_load_relaxed(&s->lost)) {
		return false;
	}
	check_sync(s, now_ns);
	check_journal(s);
	if (s->reported_synced) {
		bt_cache_comparer_tick(s->comparer, now_ns);
		bt_node_comparer_tick(s->nodes, now_ns);
	}
	if (s->shadow) {
		bt_shadow_compare_tick(s->shadow, now_ns);
		bt_shadow_compare_report(s->shadow, now_ns);
	}
	if (now_ns - s->looked_ns >= 10 * SECOND_NS) {
		s->looked_ns = now_ns;
		report_stalls(s);
	}
	return true;
}

/* ---- shutdown ---- */

/* 1/REPORTS_SHARE of the shutdown's time is for the remaining events and conditions. */
#define REPORTS_SHARE 4

bool bt_scheduler_stop(struct bt_scheduler *s, int64_t limit_ns)
{
	if (!s->started) {
		return true;
	}
	s->started = false;
	bt_store_relaxed(&s->ending, 1u);
	if (s->extenders) {
		bt_extenders_close(s->extenders); /* the scheduling thread may wait for an extender */
	}
	bt_pipeline_pause(s->pipeline, true);
	bt_serve_destroy(s->serve);
	s->serve = NULL;
	bt_cache_comparer_destroy(s->comparer);
	s->comparer = NULL;
	bt_pod_pages_destroy(s->pages);
	s->pages = NULL;
	bt_node_comparer_destroy(s->nodes);
	s->nodes = NULL;
	bt_pod_pages_destroy(s->node_pages);
	s->node_pages = NULL;
	bt_watch_destroy(s->watch);
	s->watch = NULL;
	bt_writer_shutdown(s->writer, limit_ns / REPORTS_SHARE);
	bool drained = bt_writer_drain(s->writer, limit_ns);
	bool stopped = bt_pipeline_stop(s->pipeline, BT_END_ABANDON, limit_ns);
	if (!stopped) {
		report_stalls(s);
		return false;
	}
	if (s->shadow) {
		bt_shadow_compare_report_end(s->shadow);
	}
	bt_extenders_destroy(s->extenders); /* their bindings are the writer's */
	s->extenders = NULL;
	bt_writer_destroy(s->writer);
	s->writer = NULL;
	if (!drained) { /* a write may be in flight: no other replica may lead before the lease expires */
		return false;
	}
	bt_lease_destroy(s->lease, limit_ns);
	s->lease = NULL;
	return true;
}

void bt_scheduler_destroy(struct bt_scheduler *s)
{
	bt_extenders_destroy(s->extenders);
	if (s->writer) { /* never started: nothing is in flight */
		bt_writer_destroy(s->writer);
	}
	bt_http_destroy(s->lease_http);
	bt_http_destroy(s->comparer_http);
	bt_http_destroy(s->authentication);
	bt_http_destroy(s->authorization);
	bt_pod_resources_destroy(s->pod_resources); /* its names are the pipeline's */
	bt_pipeline_destroy(s->pipeline);
	bt_attempt_metrics_destroy(s->attempts);
	bt_cycle_log_destroy(s->cycle_log);
	bt_shadow_compare_destroy(s->shadow);
	(void)bt_recording_close(&s->recording, true);
	bt_topo_plan_fini(&s->plan);
	bt_topo_destroy(s->topo);
	bt_lock_fini(&s->lease_lock);
	bt_mem_free(s);
}
