/* SPDX-License-Identifier: Apache-2.0
 * berth simulate: reads a cluster and its pending pods, places every pod as kube-scheduler would, and
 * reports.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "tools/cli/entry.h"
#include "tools/cli/files.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"
#include "tools/cli/terminal.h"
#include "tools/offline/live/live.h"
#include "tools/offline/live/look.h"
#include "tools/kube/report/explain.h"
#include "tools/kube/report/simulation.h"
#include "tools/kube/config/config_file.h"
#include "tools/offline/simulate/objects_file.h"
#include "tools/offline/simulate/drive.h"
#include "tools/offline/simulate/ignored.h"
#include "tools/offline/simulate/load.h"
#include "tools/offline/simulate/places.h"
#include "tools/offline/simulate/pod_names.h"
#include "tools/kube/config/recording.h"

#define NS_PER_S INT64_C(1000000000)

struct simulation {
	struct bt_invocation *invocation;
	struct bt_config config;
	struct bt_places places;
	struct bt_pipeline *pipeline;
	struct bt_engine *engine; /* the pipeline's; owner: the scheduling thread, while that runs */
	struct bt_diagnostics diagnostics;
	struct bt_diagnostics late; /* of the scheduling thread */
	struct bt_intake intake;
	struct bt_load load;
	struct bt_trace trace;
	struct bt_trace_player replay;
	struct bt_simulate_run run;
	struct bt_recording recording;
	struct bt_output decisions, events;
	struct bt_objects_file objects;
	struct bt_api_log api;
	struct bt_progress progress;
	struct bt_live *live;
	struct bt_stage_latency *stages; /* NULL: not requested */
	struct bt_emit *emit;
	struct bt_buf source;
	bool has_decisions, has_events, timed, quiet, has_until, threads, decided;
	bool has_fates; /* of --explain, in the report */
	bool unknown;	/* --explain names a pod that is not there */
	struct bt_virtual_time until;
	double read_s, decide_s;
};

static const char *option(const struct simulation *s, const char *name)
{
	return bt_invocation_text(s->invocation, name);
}

static double seconds_since(int64_t start_ns)
{
	return (double)(bt_clock_monotonic_ns() - start_ns) / 1e9;
}

/* ---- configuration ---- */

/* Extenders' responses are unknown here. */
static int warn_of_extenders(struct simulation *s)
{
	if (s->config.extender_n > 0) {
		bt_diagnostics_report(&s->diagnostics, option(s, "config"), "extenders",
			"extenders are not called, and pods are placed as if they had no objections and no "
			"preferences",
			"take the result as that, or leave them out");
	}
	return s->diagnostics.stop ? BT_EXIT_INPUT : BT_EXIT_OK;
}

static void bind(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	(void)context;
	(void)bt_pipeline_bound(pipeline, request->handle); /* every binding succeeds */
}

static struct bt_pipeline_options options_of(struct simulation *s)
{
	struct bt_pipeline_options options = {
		.limits = bt_limits_default(),
		.engine = {.seed = bt_invocation_number(s->invocation, "seed"),
			.clock = bt_clock_virtual(&s->run.now_ns),
			.sampling = bt_configuration_sampling(option(s, "node-sampling")),
			.groups_by_events = true,
			.evictor = bt_simulate_run_evictor(&s->run),
			.batch = (uint32_t)bt_invocation_number(s->invocation, "batch")},
		.topo = s->places.topo,
		.plan = s->places.topo ? &s->places.plan : NULL,
		.step_driver = bt_run_step_driver(&s->run),
		.binder.bind = s->threads ? bind : NULL,
		.sink = bt_simulate_run_sink(&s->run),
		.stages = s->stages,
		.messages = option(s, "decisions") || option(s, "events"),
		.journal = s->recording.journal,
	};

	options.limits.workers = s->places.worker_n ? s->places.worker_n : 1;
	options.limits.ingest_threads = options.limits.bind_threads = s->threads ? s->places.thread_n : 1;
	return options;
}

static int start_threads(struct simulation *s)
{
	struct bt_buf why = {0};
	bool started = !s->threads || bt_pipeline_start(s->pipeline, &why) == BT_OK;

	if (!started) {
		bt_message("berth simulate: %s\n", why.len ? why.ptr : "the system gives no more threads");
	}
	bt_buf_fini(&why);
	return started ? BT_EXIT_OK : BT_EXIT_IO;
}

static int make_pipeline(struct simulation *s)
{
	const struct bt_pipeline_options options = options_of(s);
	struct bt_config_errors errors = {0};

	s->pipeline = bt_pipeline_create(&s->config, &options, &errors);
	if (!s->pipeline) {
		return bt_configuration_refused(s->invocation, &errors);
	}
	bt_config_errors_fini(&errors);
	s->engine = s->run.engine = bt_pipeline_engine(s->pipeline);
	s->run.pipeline = s->pipeline;
	return BT_EXIT_OK;
}

/* ---- explaining ---- */

static void cmd_simulate_explain(void *context, struct bt_simulate_run_watch *watch, uint32_t pod_ix)
{
	struct simulation *s = context;

	watch->seen = true;
	watch->first = bt_report_explain_attempt(s->emit, s->engine, pod_ix, ++watch->attempt_n);
}

static void explained(void *context, struct bt_simulate_run_watch *watch, const struct bt_decision *decision)
{
	struct simulation *s = context;

	if (!watch->first) {
		return;
	}
	if (decision->outcome == BT_PLACED) {
		bt_report_explain_mark(
			s->emit, s->engine, watch->first, decision->pod_ix, decision->node_ix, "chosen");
	} else if (decision->victim_n) {
		bt_report_explain_mark(s->emit, s->engine, watch->first, decision->pod_ix,
			decision->nominated_ix, "nominated");
	}
	watch->first = NULL;
}

static void note_ignored(void *context, const struct bt_pod_object *pod, const char *why)
{
	struct simulation *s = context;
	struct bt_simulate_run_watch *watch =
		bt_simulate_run_find_watch(&s->run, pod->meta.namespace_, pod->meta.name);

	if (watch) {
		watch->ignored = why;
	}
}

static void find_watches(struct simulation *s)
{
	const char *pod;

	for (size_t i = 0; (pod = bt_invocation_item(s->invocation, "explain", i)); i++) {
		struct bt_str name = bt_str(pod);
		size_t slash = bt_str_find(name, '/', 0);

		if (bt_simulate_run_find_watch(&s->run, bt_str_sub(name, 0, slash),
			    bt_str_sub(name, slash + (slash < name.len), name.len))) {
			continue; /* already reported */
		}
		s->run.watches = bt_mem_realloc(s->run.watches, s->run.watch_n + 1, sizeof(*s->run.watches));
		s->run.watches[s->run.watch_n++] = (struct bt_simulate_run_watch){.pod = name};
	}
}

static uint32_t watched_pod(const struct simulation *s, const struct bt_simulate_run_watch *watch)
{
	size_t slash = bt_str_find(watch->pod, '/', 0);

	return slash == watch->pod.len ? BT_NO_POD
				       : bt_engine_find_pod(s->engine, bt_str_sub(watch->pod, 0, slash),
						 bt_str_sub(watch->pod, slash + 1, watch->pod.len));
}

static void report_unknown(const struct simulation *s, const struct bt_simulate_run_watch *watch)
{
	bt_pod_names_unknown(s->engine, "simulate: --explain", watch->pod.ptr);
}

/* Before the first decision: explains bound pods now, since they may be deleted later. Unknown names end the
 * run, unless more pods may be added. */
static void begin_explaining(void *context, struct bt_engine *engine)
{
	struct simulation *s = context;

	bt_emit_begin_array(s->emit, "explain");
	bt_emit_label(s->emit, "Node verdicts");
	for (size_t i = 0; i < s->run.watch_n; i++) {
		struct bt_simulate_run_watch *watch = &s->run.watches[i];
		uint32_t pod_ix = watched_pod(s, watch);

		if (pod_ix != BT_NO_POD &&
			bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix)->state == BT_POD_SCHEDULED) {
			watch->seen = true;
			(void)bt_report_explain_attempt(s->emit, engine, pod_ix, 0);
		} else if (pod_ix == BT_NO_POD && !watch->ignored && !s->timed) {
			s->unknown = true;
			report_unknown(s, watch);
		}
	}
}

static void add_fate(struct simulation *s, const struct bt_simulate_run_watch *watch, const char *verdict,
	const char *plugin, const char *reason)
{
	const struct bt_report_verdict fate = {watch->pod, verdict, plugin, reason};

	bt_report_explain_verdict(s->emit, &fate, !s->has_fates);
	s->has_fates = true;
}

/* Explains the preemption of a watched pod. */
static void explain_eviction(struct simulation *s, const struct bt_simulate_run_watch *watch)
{
	const struct bt_simulate_tally *tally = &s->run.tally;
	const struct bt_intern *intern = bt_engine_cache(s->engine)->dictionary->intern;
	struct bt_buf text = {0};

	for (size_t i = 0; i < tally->preemption_n; i++) {
		const struct bt_report_preemption *p = &tally->preemptions[i];

		for (size_t v = p->first_victim; v < p->first_victim + p->victim_n; v++) {
			if (bt_simulate_run_find_watch(&s->run,
				    bt_intern_str(intern, tally->victims[v].namespace_),
				    bt_intern_str(intern, tally->victims[v].name)) != watch) {
				continue;
			}
			bt_buf_clear(&text);
			bt_buf_printf(&text, "preempted by %.*s/%.*s on node %.*s",
				BT_STR_ARG(bt_intern_str(intern, p->pod.namespace_)),
				BT_STR_ARG(bt_intern_str(intern, p->pod.name)),
				BT_STR_ARG(bt_intern_str(intern, p->node)));
			add_fate(s, watch, "evicted", "DefaultPreemption", text.ptr);
		}
	}
	bt_buf_fini(&text);
}

/* Explains the watched pods without an attempt, and the results of the others. */
static void end_explaining(struct simulation *s)
{
	for (size_t i = 0; i < s->run.watch_n; i++) {
		struct bt_simulate_run_watch *watch = &s->run.watches[i];
		uint32_t pod_ix = watch->seen ? BT_NO_POD : watched_pod(s, watch);

		explain_eviction(s, watch);
		if (pod_ix != BT_NO_POD) {
			(void)bt_report_explain_attempt(s->emit, s->engine, pod_ix, 0);
		} else if (!watch->seen && watch->ignored) {
			add_fate(s, watch, "ignored", "", watch->ignored);
		} else if (!watch->seen) {
			s->unknown = true;
			report_unknown(s, watch);
		}
	}
	bt_emit_end(s->emit);
}

/* ---- input ---- */

static bool take_generated(void *context, const struct bt_object *object)
{
	struct simulation *s = context;
	struct bt_object copy = *object;

	bt_load_object(&s->load, &copy);
	return !bt_interrupt_pending();
}

static int load_paths(struct simulation *s)
{
	bt_load_source(s->invocation, &s->source);
	s->load.helper_n = bt_places_helper_n(s->invocation);
	return bt_load_paths(&s->load, s->invocation) ? BT_EXIT_OK : BT_EXIT_INPUT;
}

static void diagnose_nodes(void *context, const char *message)
{
	bt_diagnostics_report(context, NULL, NULL, message, NULL);
}

static void diagnose_pods(void *context, const char *message)
{
	bt_diagnostics_report_lost(context, NULL, NULL, message, NULL);
}

static int load_trace(struct simulation *s)
{
	const char *nodes = option(s, "nodes"), *pods = option(s, "pods");

	if (!nodes || !pods) {
		return bt_invocation_wrong(
			s->invocation->command, "--trace needs --nodes FILE and --pods FILE");
	}
	struct bt_openb_reader reader = {
		.strict = s->diagnostics.strict, .diagnose = diagnose_nodes, .context = &s->diagnostics};
	bt_buf_printf(&s->source, "openb trace: %s, %s", nodes, pods);
	enum bt_status status = bt_openb_read_nodes(&reader, nodes, &s->trace);
	if (status == BT_OK) {
		reader.diagnose = diagnose_pods;
		status = bt_openb_read_pods(&reader, pods, &s->trace);
	}
	if (status != BT_OK) {
		bt_message("berth simulate: the trace cannot be read%s\n",
			s->quiet ? "; run without --quiet to see why" : "");
		return BT_EXIT_INPUT;
	}
	s->timed = !bt_invocation_has(s->invocation, "no-time");
	for (size_t i = 0; i < s->trace.node_n; i++) {
		bt_load_object(&s->load, &s->trace.nodes[i]);
	}
	for (size_t i = 0; i < s->trace.pod_n && !s->timed; i++) {
		bt_load_object(&s->load, &s->trace.pods[i].object);
	}
	for (size_t i = 0; i < s->trace.pod_n && s->timed; i++) {
		bt_defaults_scheme(&s->trace.pods[i].object, &s->trace.arena);
	}
	return BT_EXIT_OK;
}

static void log_deleting(void *context, const struct bt_pod_object *pod)
{
	struct simulation *s = context;

	note_ignored(s, pod, "the pod is being deleted");
	if (s->has_events) {
		bt_api_log_deleting(&s->api, pod);
	}
}

static void log_entered(void *context, uint32_t pod_ix, const struct bt_pod_object *pod)
{
	struct simulation *s = context;

	if (s->has_events) {
		bt_api_log_entered(&s->api, pod_ix, pod);
	}
}

static void end_intake(void *context, struct bt_engine *engine)
{
	struct simulation *s = context;

	if (!s->diagnostics.stop) {
		bt_intake_end(&s->intake, engine);
	}
}

/* All objects are loaded: reports problems. */
static int finish_load(struct simulation *s)
{
	bt_load_finish(&s->load);
	bt_diagnostics_pass(&s->diagnostics, &s->late);
	bt_pipeline_call(s->pipeline, end_intake, s);
	bt_diagnostics_pass(&s->diagnostics, &s->late);
	return s->diagnostics.stop ? BT_EXIT_INPUT : BT_EXIT_OK;
}

static void write_object(void *context, const struct bt_object *object)
{
	struct simulation *s = context;

	bt_objects_file_add(&s->objects, object);
}

static int load_input(struct simulation *s)
{
	int64_t start_ns = bt_clock_monotonic_ns();
	int status = BT_EXIT_OK;

	s->late = (struct bt_diagnostics){.keeps = true, .strict = s->diagnostics.strict};
	s->intake = (struct bt_intake){.diagnostics = s->threads ? &s->late : &s->diagnostics,
		.entered = log_entered,
		.ignored = note_ignored,
		.context = s};
	s->run.intake = &s->intake;
	s->run.explain = cmd_simulate_explain;
	s->run.explained = explained;
	s->run.context = s;
	find_watches(s);
	s->load = (struct bt_load){
		.pipeline = s->pipeline,
		.threads = s->threads,
		.intake = &s->intake,
		.diagnostics = &s->diagnostics,
		.expand = !bt_invocation_has(s->invocation, "no-expand"),
		.enforce_quota = bt_invocation_has(s->invocation, "enforce-quota"),
		.deleting = log_deleting,
		.written = option(s, "write-objects") ? write_object : NULL,
		.context = s,
	};
	bt_load_init(&s->load);
	if (option(s, "trace")) {
		status = load_trace(s);
	} else if (option(s, "nodes") || option(s, "pods") || bt_invocation_has(s->invocation, "no-time")) {
		status = bt_invocation_wrong(
			s->invocation->command, "--nodes, --pods and --no-time belong to --trace");
	} else if (bt_invocation_input(s->invocation, 0)) {
		status = load_paths(s);
	} else {
		bt_load_default(s->invocation, &s->source, take_generated, s);
	}
	if (status == BT_EXIT_OK) {
		status = finish_load(s);
	}
	s->read_s = seconds_since(start_ns);
	return status;
}

/* ---- time ---- */

/* Reads the options about time. */
static int read_times(struct simulation *s)
{
	const char *until = option(s, "until"), *speed = option(s, "speed");

	s->has_until = until != NULL;
	if (until && !bt_virtual_time_parse(until, &s->until)) {
		return bt_invocation_wrong(s->invocation->command,
			"--until is a duration such as 90, 90s, 5m or 1h30m, or a time such as "
			"2026-01-01T00:05:00Z, not '%s'",
			until);
	}
	s->run.one_by_one = bt_str_is(bt_str(option(s, "preemption")), "wait");
	if (s->run.one_by_one && option(s, "trace")) {
		return bt_invocation_wrong(
			s->invocation->command, "--preemption=wait is for clusters, not for traces");
	}
	if (speed && !bt_speed_parse(speed, &s->run.speed)) {
		return bt_invocation_wrong(s->invocation->command,
			"--speed is a number that is not below 0, such as 1 or 60, not '%s'", speed);
	}
	return BT_EXIT_OK;
}

/* Sets the clock to the latest creation time, or to where a trace begins. */
static int set_clock(struct simulation *s)
{
	struct bt_simulate_run *run = &s->run;
	int64_t zero_ns = s->timed ? BT_TRACE_EPOCH_S * NS_PER_S : bt_load_begin_ns(&s->load);

	run->now_ns = zero_ns < BT_VIRTUAL_TIME_MAX ? zero_ns : BT_VIRTUAL_TIME_MAX;
	run->until_ns = INT64_MAX;
	run->graces = &s->intake.graces;
	if (s->has_until) {
		run->until_ns = s->until.is_date ? s->until.ns : bt_later(run->now_ns, s->until.ns);
	}
	if (run->until_ns < run->now_ns) {
		return bt_invocation_wrong(s->invocation->command,
			"--until %s is before the simulation's beginning, which is the latest creation time "
			"in "
			"the input",
			option(s, "until"));
	}
	if (s->timed) {
		bt_trace_player_init(&s->replay, &s->trace);
		run->comes_and_goes = true;
		int64_t first_ns = bt_trace_player_next_ns(&s->replay);
		run->now_ns = first_ns == INT64_MAX	 ? run->now_ns
			      : first_ns < run->until_ns ? first_ns
							 : run->until_ns;
	}
	bt_simulate_run_expect_ends(run, &s->intake);
	return BT_EXIT_OK;
}

/* ---- showing ---- */

/* What the pipeline's threads have measured so far. */
static const struct bt_stage_latency *measured(struct simulation *s)
{
	memset(s->stages, 0, sizeof(*s->stages));
	bt_pipeline_stages(s->pipeline, s->stages);
	return s->stages;
}

static void fill(void *context, struct bt_live_numbers *out)
{
	struct simulation *s = context;

	out->label = s->progress.label;
	out->virtual_ns = bt_load_relaxed(&s->run.seen_ns);
	if (s->has_until) {
		/* Pods may all have been decided long before. */
		out->unit = "virtual s";
		out->done = (uint64_t)(out->virtual_ns / NS_PER_S);
		out->total = (uint64_t)((s->run.until_ns - s->run.begin_ns) / NS_PER_S);
	} else {
		out->unit = "pods";
		out->done = s->progress.done;
		out->total = s->progress.total;
	}
	bt_live_of_process(out);
	if (s->threads) {
		bt_live_of_pipeline(out, s->pipeline);
	} else {
		bt_live_of_engine(out, s->engine);
		bt_live_of_stages(out, measured(s));
	}
}

static void show(void *context)
{
	struct simulation *s = context;

	bt_live_poll(s->live);
}

static void begin_progress(struct simulation *s)
{
	const struct bt_live_options options = {
		.quiet = s->quiet,
		.color = bt_terminal_color(option(s, "color"), STDERR_FILENO),
		.fill = fill,
		.context = s,
	};

	bt_progress_begin(
		&s->progress, "placing pods", s->timed ? s->trace.pod_n : s->intake.counts.pending, s->quiet);
	if (bt_invocation_has(s->invocation, "live")) {
		s->live = bt_live_begin(&options);
		bt_progress_show_by(&s->progress, show, s);
	}
}

static void end_progress(struct simulation *s)
{
	bt_live_end(s->live);
	s->live = NULL;
	bt_progress_end(&s->progress);
}

/* ---- deciding ---- */

static void begin_events(void *context, struct bt_engine *engine)
{
	struct simulation *s = context;

	(void)engine;
	bt_api_log_begin(&s->api);
}

static void decide(struct simulation *s)
{
	int64_t start_ns = bt_clock_monotonic_ns();

	s->run.decisions.output = s->has_decisions ? &s->decisions : NULL;
	if (s->has_events) {
		s->run.api = &s->api;
		bt_pipeline_call(s->pipeline, begin_events, s);
	}
	begin_progress(s);
	bt_drive(&(struct bt_drive){
		&s->run, s->timed ? &s->replay : NULL, &s->progress, .threads = s->threads});
	end_progress(s);
	s->decide_s = seconds_since(start_ns);
	if (s->run.watch_n) {
		end_explaining(s);
	}
}

/* ---- report ---- */

/* The means and peaks of a trace. */
static void sum_uses(const struct bt_simulate_run *run, struct bt_report_use uses[BT_FIRST_RARE + 1])
{
	double lasted_s = (double)(run->now_ns - run->begin_ns) / NS_PER_S;

	for (int i = 0; i <= BT_FIRST_RARE; i++) {
		uses[i].mean = lasted_s > 0 ? run->uses[i].second_sum / lasted_s : run->uses[i].now;
		uses[i].peak = run->uses[i].peak;
	}
}

static struct bt_queueing_facts queueing_of(const struct bt_simulate_run *run, bool all)
{
	const struct bt_simulate_tally *tally = &run->tally;

	return (struct bt_queueing_facts){
		.begin_ns = run->begin_ns,
		.attempts = tally->attempts,
		.unwaited_n = tally->unwaited_n,
		.waits = tally->waits,
		.wait_n = tally->wait_n,
		.preemptions = tally->preemptions,
		.victims = tally->victims,
		.preemption_n = tally->preemption_n,
		.preemptor_n = tally->preemptor_n,
		.evicted_n = tally->evicted_n,
		.all = all,
	};
}

/* A log on standard output excludes the report, which then goes to standard error, for people. */
static int write_report(struct simulation *s, enum bt_emit_format format)
{
	bool aside = bt_files_use_standard(s->invocation);
	struct bt_output output;

	if (aside && s->quiet) {
		return BT_EXIT_OK;
	}
	bt_output_open_standard(aside, &output);
	bt_emit_write(s->emit, format,
		bt_terminal_color(option(s, "color"), aside ? STDERR_FILENO : STDOUT_FILENO), &output);
	return bt_output_close(&output);
}

/* The section "missing": referenced objects that the input lacks. */
static void add_missing(struct simulation *s)
{
	struct bt_missing missing[BT_LOAD_MISSING_MAX];
	size_t n = bt_load_missing(&s->load, missing);

	if (n == 0) {
		return;
	}
	bt_emit_begin_array(s->emit, "missing");
	bt_emit_label(s->emit, "Objects that the input refers to and lacks");
	for (size_t i = 0; i < n; i++) {
		bt_emit_begin_object(s->emit, NULL);
		bt_emit_text(s->emit, "kind", missing[i].kind);
		bt_emit_int(s->emit, "objects", (int64_t)missing[i].object_n);
		bt_emit_str(s->emit, "example", missing[i].example);
		bt_emit_int(s->emit, "referrers", (int64_t)missing[i].referrer_n);
		bt_emit_text(s->emit, "referrer_kind", missing[i].referrer);
		bt_emit_label(s->emit, "of kind");
		bt_emit_text(s->emit, "kubectl_get", missing[i].resource);
		bt_emit_label(s->emit, "add to kubectl get");
		bt_emit_end(s->emit);
	}
	bt_emit_end(s->emit);
}

static int report(struct simulation *s)
{
	const struct bt_load_counts *counts = &s->load.counts;
	const struct bt_intake_counts *taken = &s->intake.counts;
	struct bt_report_kind *kinds = bt_mem_zalloc(s->load.kind_n, sizeof(*kinds));
	enum bt_emit_format format = bt_emit_format_of(option(s, "output"));
	bool all = format != BT_EMIT_TABLE || bt_invocation_has(s->invocation, "all"); /* programs read all */
	struct bt_report_use uses[BT_FIRST_RARE + 1];

	sum_uses(&s->run, uses);
	for (size_t i = 0; i < s->load.kind_n; i++) {
		const struct bt_kind_count *kind = &s->load.kinds[i];

		kinds[i] = (struct bt_report_kind){
			kind->name, kind->n, kind->used, kind->used ? NULL : bt_ignored_effect(kind->name)};
	}
	add_missing(s);
	const struct bt_simulation_facts facts = {
		.pods_scheduled_before = taken->scheduled,
		.pods_expanded = counts->expanded,
		.pods_ended = taken->ended,
		.pods_other_schedulers = taken->other_schedulers,
		.pods_deleting = counts->deleting,
		.pods_on_unknown_nodes = taken->on_unknown_nodes,
		.pods_deleted = s->run.deleted_n,
		.pods_deleted_waiting = s->run.deleted_waiting_n,
		.pods_leaving = bt_terminations_count(&s->run.ends),
		.problems = s->diagnostics.n,
		.pods_lost = s->diagnostics.lost_n,
		.bytes_read = counts->bytes,
		.read_s = s->read_s,
		.decide_s = s->decide_s,
		.has_uses = s->timed,
		.virtual_s = (double)(s->run.now_ns - s->run.begin_ns) / NS_PER_S,
		.queueing = queueing_of(&s->run, all),
		.uses = uses,
		.kinds = kinds,
		.kind_n = s->load.kind_n,
		.stages = s->stages ? measured(s) : NULL,
		.interrupted = bt_interrupt_pending(),
		.all = all,
	};
	bt_report_simulation(s->emit, s->engine, &facts);
	bt_mem_free(kinds);
	return write_report(s, format);
}

/* With --speed, readers follow the output. */
static enum bt_output_way way_of(const struct simulation *s)
{
	return s->run.speed > 0 ? BT_OUTPUT_FOLLOWED : BT_OUTPUT_WHOLE;
}

static int open_journal(struct simulation *s)
{
	if (!option(s, "journal")) {
		return BT_EXIT_OK;
	}
	return bt_recording_open(&s->recording, option(s, "journal"), way_of(s), &s->config) == BT_OK
		       ? BT_EXIT_OK
		       : BT_EXIT_IO;
}

/* Opens the requested logs. */
static int open_logs(struct simulation *s)
{
	const char *decisions = option(s, "decisions"), *events = option(s, "events");

	if (decisions) {
		s->has_decisions = bt_output_open(decisions, way_of(s), &s->decisions) == BT_OK;
	}
	if (events && (!decisions || s->has_decisions)) {
		s->has_events = bt_output_open(events, way_of(s), &s->events) == BT_OK;
	}
	s->api = (struct bt_api_log){
		.output = &s->events,
		.engine = s->engine,
		.now_ns = &s->run.now_ns,
		.preempts_in_turn = !s->config.gates.on[BT_GATE_SCHEDULER_ASYNC_PREEMPTION],
		.nominates_waiting = s->config.gates.on[BT_GATE_NOMINATED_NODE_NAME_FOR_EXPECTATION],
	};
	if ((decisions && !s->has_decisions) || (events && !s->has_events)) {
		return BT_EXIT_IO;
	}
	return bt_objects_file_open(&s->objects, option(s, "write-objects"));
}

/* Ends a log; a failed run keeps the old file. */
static int close_log(const struct simulation *s, struct bt_output *log)
{
	if (s->decided) {
		return bt_output_close(log);
	}
	bt_output_drop(log);
	return BT_EXIT_OK;
}

static int close_logs(struct simulation *s, int status)
{
	int closed = s->has_decisions ? close_log(s, &s->decisions) : BT_EXIT_OK;

	if (s->has_events) {
		int events = close_log(s, &s->events);

		closed = closed == BT_EXIT_OK ? events : closed;
	}
	int journal = bt_recording_close(&s->recording, s->decided);
	closed = closed == BT_EXIT_OK ? journal : closed;
	int objects = bt_objects_file_close(&s->objects, s->decided);
	closed = closed == BT_EXIT_OK ? objects : closed;
	return status == BT_EXIT_OK ? closed : status;
}

static int simulate(struct simulation *s)
{
	struct bt_gates gates;
	int status = bt_configuration_gates(s->invocation, &gates);

	if (status == BT_EXIT_OK) {
		status = read_times(s);
	}
	if (status == BT_EXIT_OK) {
		status = bt_configuration_read(s->invocation, &gates, &s->config);
	}
	if (status == BT_EXIT_OK && option(s, "write-config-to")) {
		return bt_configuration_write(&s->config, option(s, "write-config-to"));
	}
	if (status == BT_EXIT_OK) {
		status = warn_of_extenders(s);
	}
	if (status == BT_EXIT_OK) {
		status = bt_places_find(&s->places, s->invocation);
		s->threads = s->places.thread_n > 0;
	}
	if (status == BT_EXIT_OK) {
		status = open_journal(s);
	}
	if (status == BT_EXIT_OK) {
		status = make_pipeline(s);
	}
	if (status == BT_EXIT_OK) {
		status = open_logs(s);
	}
	if (status == BT_EXIT_OK) {
		status = start_threads(s);
	}
	if (status == BT_EXIT_OK) {
		status = load_input(s);
	}
	bt_diagnostics_end(&s->diagnostics);
	if (status == BT_EXIT_OK) {
		bt_load_warn(&s->load);
		status = set_clock(s);
	}
	if (status != BT_EXIT_OK) {
		return bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : status;
	}
	bt_report_begin(s->emit, s->source.ptr, bt_invocation_number(s->invocation, "seed"));
	if (s->run.watch_n) {
		bt_pipeline_call(s->pipeline, begin_explaining, s);
	}
	if (s->unknown) {
		return BT_EXIT_INPUT;
	}
	decide(s);
	s->decided = true;
	status = report(s);
	return status == BT_EXIT_OK && s->unknown ? BT_EXIT_INPUT : status;
}

int bt_cmd_simulate(struct bt_invocation *invocation)
{
	struct simulation s = {.invocation = invocation};

	s.quiet = bt_invocation_has(invocation, "quiet");
	s.diagnostics = bt_diagnostics_of(invocation);
	s.emit = bt_emit_create();
	if (bt_invocation_has(invocation, "live") || bt_invocation_has(invocation, "stats")) {
		s.stages = bt_stage_latency_create();
	}
	bt_simulate_run_init(&s.run);
	int status = simulate(&s);
	if (s.pipeline) {
		bt_pipeline_stop(s.pipeline, BT_END_ABANDON, BT_FOREVER);
	}
	status = close_logs(&s, status);
	if (status == BT_EXIT_OK && bt_interrupt_pending()) {
		status = BT_EXIT_INTERRUPTED;
	}
	/* Unreadable input counts as not placed. */
	bool unplaced = s.engine && (bt_engine_counts(s.engine).sets.queued || s.diagnostics.lost_n);
	if (status == BT_EXIT_OK && unplaced && bt_invocation_has(invocation, "fail-on-unplaced")) {
		status = BT_EXIT_NO;
	}
	bt_simulate_run_fini(&s.run);
	bt_api_log_fini(&s.api);
	bt_mem_free(s.run.watches);
	bt_load_fini(&s.load);
	bt_intake_fini(&s.intake);
	bt_trace_player_fini(&s.replay);
	bt_pipeline_destroy(s.pipeline);
	bt_places_fini(&s.places);
	bt_config_fini(&s.config);
	bt_trace_fini(&s.trace);
	bt_emit_destroy(s.emit);
	bt_mem_free(s.stages);
	bt_buf_fini(&s.source);
	return status;
}
