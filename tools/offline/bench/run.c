/* SPDX-License-Identifier: Apache-2.0
 * A run: the engine, the order of operations, time, and final messages.
 */
#include "tools/offline/bench/run.h"

#include <stdio.h>
#include <time.h>

#include "engine/base/mem.h"
#include "tools/offline/bench/run_int.h"
#include "tools/cli/interrupt.h"
#include "tools/format/input.h"
#include "tools/kube/config/config_decode.h"

#define SECOND_NS INT64_C(1000000000)
#define SLEEP_NS  (SECOND_NS / 100) /* the longest sleep */

bool bt_bench_run_fail(struct bt_bench_run *run, enum bt_bench_run_end end, const char *format, ...)
{
	va_list args;

	if (run->result->end != BT_BENCH_RUN_DONE) {
		return false;
	}
	run->result->end = end;
	va_start(args, format);
	bt_buf_vprintf(&run->result->why, format, args);
	va_end(args);
	return false;
}

bool bt_bench_run_goes_on(struct bt_bench_run *run)
{
	return !bt_interrupt_pending() || bt_bench_run_fail(run, BT_BENCH_RUN_INTERRUPTED, "interrupted");
}

/* ---- time ---- */

int64_t bt_bench_run_span(const struct bt_bench_run *run, double ns)
{
	double span = ns / run->options->speed;

	run->result->timed = true;
	return span < 1 ? 1 : span < 9e18 ? (int64_t)span : INT64_MAX / 2;
}

struct bt_bench_run_timer *bt_bench_run_add_timer(
	struct bt_bench_run *run, const struct bt_bench_op *op, int64_t interval_ns)
{
	run->timers = bt_mem_grow(run->timers, run->timer_n, &run->timer_cap, sizeof(*run->timers));
	struct bt_bench_run_timer *timer = &run->timers[run->timer_n++];

	*timer = (struct bt_bench_run_timer){
		.op = op, .interval_ns = interval_ns, .next_ns = bt_clock_monotonic_ns() + interval_ns};
	return timer;
}

/* Runs each due timer once. As with Go's tickers, missed ticks are dropped. */
static bool fire(struct bt_bench_run *run, int64_t now_ns)
{
	bool did = false;

	for (size_t i = 0; i < run->timer_n; i++) {
		struct bt_bench_run_timer *timer = &run->timers[i];

		if (timer->next_ns > now_ns) {
			continue;
		}
		timer->next_ns += timer->interval_ns;
		timer->next_ns = timer->next_ns < now_ns ? now_ns + 1 : timer->next_ns;
		bool more = timer->op->kind == BT_BENCH_OP_CHURN ? bt_bench_run_churn_again(run, timer)
								 : bt_bench_run_delete_again(run, timer);
		timer->fired_n++;
		if (!more) {
			timer->next_ns = INT64_MAX;
		}
		did = true;
	}
	return did;
}

bool bt_bench_run_pump(struct bt_bench_run *run)
{
	int64_t now_ns = bt_clock_monotonic_ns();
	bool did = fire(run, now_ns);

	if (run->collecting) {
		bt_bench_run_collect_tick(run, now_ns);
	}
	bt_progress_update(run->options->progress, run->world.counts.bound_n);
	return bt_world_step(&run->world) || did;
}

/* The next time, by the monotonic clock, at which there may be work although there is none now. */
static int64_t next_moment(const struct bt_bench_run *run, int64_t now_ns)
{
	int64_t next = INT64_MAX;
	int64_t backoff = bt_engine_next_backoff_ns(bt_pipeline_engine(run->world.pipeline));

	/* Without nodes no pod can be placed. */
	if (run->world.node_n == 0 && run->timer_n == 0) {
		return INT64_MAX;
	}
	for (size_t i = 0; i < run->timer_n; i++) {
		next = run->timers[i].next_ns < next ? run->timers[i].next_ns : next;
	}
	if (backoff != INT64_MAX) {
		int64_t left = backoff - bt_clock_real().now_ns(NULL);

		next = now_ns + left < next ? now_ns + (left > 0 ? left : 0) : next;
	}
	return next;
}

static void sleep_until(int64_t moment_ns)
{
	int64_t left = moment_ns - bt_clock_monotonic_ns();
	const struct timespec slice = {.tv_nsec = left < SLEEP_NS ? left : SLEEP_NS};

	if (left > 0) {
		nanosleep(&slice, NULL);
	}
}

bool bt_bench_run_until(struct bt_bench_run *run, const struct bt_bench_op *op,
	bool (*done)(struct bt_bench_run *run, const void *context), const void *context)
{
	int64_t begin_ns = bt_clock_monotonic_ns();

	while (!done(run, context)) {
		bool did = bt_bench_run_pump(run);
		int64_t now_ns = bt_clock_monotonic_ns();

		if (run->result->end != BT_BENCH_RUN_DONE) {
			return false;
		}
		if (!bt_bench_run_goes_on(run)) {
			return false;
		}
		if (now_ns - begin_ns > run->options->timeout_ns) {
			return bt_bench_run_fail(run, BT_BENCH_RUN_FAILED,
				"%s (line %zu) took longer than the timeout", bt_bench_op_word(op->kind),
				op->line);
		}
		if (did || done(run, context)) {
			continue;
		}
		int64_t next = next_moment(run, now_ns);
		if (next == INT64_MAX) {
			return bt_bench_run_fail(run, BT_BENCH_RUN_FAILED, "%s (line %zu) waits in vain",
				bt_bench_op_word(op->kind), op->line);
		}
		sleep_until(next);
	}
	return true;
}

bool bt_bench_run_pass(struct bt_bench_run *run, int64_t until_ns)
{
	while (bt_clock_monotonic_ns() < until_ns) {
		if (!bt_bench_run_goes_on(run)) {
			return false;
		}
		if (!bt_bench_run_pump(run)) {
			int64_t next = next_moment(run, bt_clock_monotonic_ns());

			sleep_until(next < until_ns ? next : until_ns);
		}
	}
	return run->result->end == BT_BENCH_RUN_DONE;
}

/* ---- short operations ---- */

static bool create_namespaces(struct bt_bench_run *run, const struct bt_bench_op *op)
{
	const struct bt_namespace_object *labels = NULL;
	struct bt_spec_object made;

	if (op->namespace_template.len) {
		const struct bt_spec *spec = bt_bench_run_file(run, op->namespace_template);

		if (!spec || !bt_bench_run_object(run,
				     &(struct bt_spec_request){.spec = spec,
					     .plain = true,
					     .kind = BT_KIND_NAMESPACE,
					     .arena = &run->world.arena},
				     &made)) {
			return false;
		}
		labels = &made.object.namespace_;
	}
	for (int64_t i = 0; i < op->count; i++) {
		if (!bt_bench_run_goes_on(run)) {
			return false;
		}
		bt_world_namespace(&run->world,
			bt_world_text(&run->world, "%.*s-%lld", BT_STR_ARG(op->prefix), (long long)i),
			labels);
	}
	return true;
}

static bool is_reached(struct bt_bench_run *run, const void *context)
{
	const struct bt_world_watch *watch = &run->world.wait;
	const uint64_t *wanted = context;

	return wanted[1] ? watch->tried_n >= wanted[0] : watch->bound_n >= wanted[0];
}

static bool await_space(struct bt_bench_run *run, const struct bt_bench_op *op, uint32_t space)
{
	bool attempted = bt_str_is(op->stage, "Attempted");
	const uint64_t wanted[2] = {run->world.spaces[space].expected_n, attempted};

	run->world.wait = (struct bt_world_watch){
		.spaces = &space, .space_n = 1, .labels = op->labels.n ? &op->labels : NULL};
	bt_world_watch(&run->world, &run->world.wait);
	bool ok = bt_bench_run_until(run, op, is_reached, wanted);
	run->world.wait.on = false;
	if (!ok && run->result->end == BT_BENCH_RUN_FAILED) {
		bt_buf_printf(&run->result->why, ": %llu pods of namespace %.*s are %s, not %llu",
			(unsigned long long)(attempted ? run->world.wait.tried_n : run->world.wait.bound_n),
			BT_STR_ARG(run->world.spaces[space].name), attempted ? "tried" : "bound",
			(unsigned long long)wanted[0]);
	}
	run->world.spaces[space].expected_n = attempted ? wanted[0] : 0;
	return ok;
}

static bool barrier(struct bt_bench_run *run, const struct bt_bench_op *op)
{
	for (uint32_t i = 0; i < op->namespaces.n; i++) {
		if (!await_space(run, op, bt_world_namespace(&run->world, op->namespaces.items[i], NULL))) {
			return false;
		}
	}
	for (uint32_t i = 0; i < run->world.space_n && op->namespaces.n == 0; i++) {
		if (run->world.spaces[i].expected_n && !await_space(run, op, i)) {
			return false;
		}
	}
	return true;
}

static bool do_op(struct bt_bench_run *run, const struct bt_bench_op *op, uint32_t op_ix)
{
	switch (op->kind) {
	case BT_BENCH_OP_CREATE_NODES:
		return bt_bench_run_create_nodes(run, op, op_ix);
	case BT_BENCH_OP_CREATE_NAMESPACES:
		return create_namespaces(run, op);
	case BT_BENCH_OP_CREATE_PODS:
		return bt_bench_run_create_pods(run, op, op_ix);
	case BT_BENCH_OP_DELETE_PODS:
		return bt_bench_run_delete_pods(run, op);
	case BT_BENCH_OP_CHURN:
		return bt_bench_run_churn(run, op, op_ix);
	case BT_BENCH_OP_CREATE_ANY:
		return bt_bench_run_create_any(run, op);
	case BT_BENCH_OP_CREATE_CLAIMS:
		return bt_bench_run_create_claims(run, op);
	case BT_BENCH_OP_CREATE_DRIVER:
		return bt_bench_run_create_driver(run, op);
	case BT_BENCH_OP_ALLOC_CLAIMS:
		return bt_bench_run_alloc_claims(run, op);
	case BT_BENCH_OP_UPDATE_ANY:
		return bt_bench_run_update_any(run, op);
	case BT_BENCH_OP_BARRIER:
		return barrier(run, op);
	case BT_BENCH_OP_SLEEP:
		return bt_bench_run_pass(
			run, bt_clock_monotonic_ns() + bt_bench_run_span(run, (double)op->duration_ns));
	case BT_BENCH_OP_START_METRICS:
		return bt_bench_run_collect_begin(run, op, op->name);
	case BT_BENCH_OP_STOP_METRICS:
		return bt_bench_run_collect_end(run, op);
	case BT_BENCH_OP_CREATE_POD_SETS: /* taken apart before */
	case BT_BENCH_OP_N:
		break;
	}
	return bt_bench_run_fail(run, BT_BENCH_RUN_UNSUPPORTED, "operation %s", bt_bench_op_word(op->kind));
}

/* ---- the engine ---- */

static bool read_config(struct bt_bench_run *run)
{
	const struct bt_str path = run->plan->test_case->config_path;
	struct bt_buf error = {0};

	if (path.len == 0) {
		bt_config_init_default(&run->config, &run->plan->gates);
		return true;
	}
	bt_config_init(&run->config, &run->plan->gates);
	const struct bt_spec *file = bt_bench_run_file(run, path);
	if (!file) {
		return false;
	}
	bool ok = bt_config_load(&run->config, file->path, file->text, &error) == BT_OK;
	if (!ok) {
		bt_bench_run_fail(run, BT_BENCH_RUN_FAILED, "%s", error.ptr);
	}
	bt_buf_fini(&error);
	return ok;
}

static bool make_pipeline(struct bt_bench_run *run)
{
	const struct bt_pipeline_options options = {
		.limits = bt_limits_default(),
		.engine = {.seed = run->options->seed,
			.clock = bt_clock_real(),
			.sampling = BT_SAMPLING_NONE},
		.binder = bt_world_binder(&run->world),
		.sink = bt_world_sink(&run->world),
		.stages = run->options->stages,
	};
	struct bt_config_errors errors = {0};
	struct bt_buf text = {0};

	run->world.pipeline = bt_pipeline_create(&run->config, &options, &errors);
	if (!run->world.pipeline) {
		bt_config_errors_text(&errors, &text);
		bt_bench_run_fail(run, BT_BENCH_RUN_UNSUPPORTED, "%s", text.ptr);
	}
	bt_buf_fini(&text);
	bt_config_errors_fini(&errors);
	return run->world.pipeline != NULL;
}

/* ---- the end ---- */

/* Reports why the first pending pod is not placed, for a run that cannot finish. */
static void report_first_pending(struct bt_bench_run *run)
{
	struct bt_engine *engine = bt_pipeline_engine(run->world.pipeline);
	const struct bt_world_pod *pod = run->world.pods, *end = pod + run->world.pod_n;
	struct bt_explanation why = {.pod_ix = BT_NO_POD};
	struct bt_buf text = {0};

	while (pod < end && pod->state != BT_WORLD_WAITING && pod->state != BT_WORLD_TRIED) {
		pod++;
	}
	uint32_t ix = pod == end ? BT_NO_POD
				 : bt_engine_find_pod(engine, run->world.spaces[pod->space].name, pod->name);
	if (ix == BT_NO_POD) {
		return;
	}
	bt_engine_explain(engine, ix, &why);
	bt_engine_message(engine, &why, &text);
	bt_buf_printf(&run->result->why, "; the first pod that waits, %.*s/%.*s: %.*s",
		BT_STR_ARG(run->world.spaces[pod->space].name), BT_STR_ARG(pod->name),
		BT_STR_ARG(bt_buf_view(&text)));
	bt_explanation_fini(&why);
	bt_buf_fini(&text);
}

/*
 * After all objects are processed, the counts here must equal the ledger's. Waiting pods stay
 * in the queue, as upstream.
 */
static bool check_end(struct bt_bench_run *run)
{
	uint64_t bound_n = 0;

	for (int64_t begin_ns = bt_clock_monotonic_ns(); bt_world_step(&run->world);) {
		if (bt_clock_monotonic_ns() - begin_ns > run->options->timeout_ns) {
			return bt_bench_run_fail(
				run, BT_BENCH_RUN_FAILED, "the end took longer than the timeout");
		}
	}
	for (size_t i = 0; i < run->world.pod_n; i++) {
		bound_n += run->world.pods[i].state == BT_WORLD_BOUND;
	}
	const struct bt_engine_counts counts = bt_engine_counts(bt_pipeline_engine(run->world.pipeline));
	if (counts.sets.scheduled != bound_n || counts.sets.assumed != 0 ||
		counts.placed_n < run->world.counts.bound_n) {
		return bt_bench_run_fail(run, BT_BENCH_RUN_FAILED,
			"%llu pods were bound, but the ledger has %llu scheduled and %llu assumed, of %llu "
			"placements",
			(unsigned long long)bound_n, (unsigned long long)counts.sets.scheduled,
			(unsigned long long)counts.sets.assumed, (unsigned long long)counts.placed_n);
	}
	return !run->collecting ||
	       bt_bench_run_fail(run, BT_BENCH_RUN_FAILED, "metrics are still being collected");
}

/* If the engine rejected objects, the cluster differs from the file's. */
static bool check_limits(struct bt_bench_run *run)
{
	uint64_t refused_n = bt_pipeline_counts(run->world.pipeline).refused_n;

	if (refused_n == 0) {
		return true;
	}
	bt_buf_clear(&run->result->why);
	run->result->end = BT_BENCH_RUN_DONE;
	return bt_bench_run_fail(run, BT_BENCH_RUN_UNSUPPORTED,
		"the engine did not take %llu objects, or not wholly: it tells no more than %d names of "
		"resources apart, %d where pods name them first, and a pod may request %d",
		(unsigned long long)refused_n, BT_RESOURCE_MAX, BT_RESOURCE_POD_MAX, BT_REQUEST_MAX);
}

static void fini(struct bt_bench_run *run)
{
	for (size_t i = 0; i < run->timer_n; i++) {
		bt_mem_free(run->timers[i].pods);
		bt_mem_free(run->timers[i].objects);
		bt_mem_free(run->timers[i].churned);
	}
	bt_mem_free(run->timers);
	bt_mem_free(run->before);
	bt_mem_free(run->collected_spaces);
	if (run->world.pipeline) {
		bt_pipeline_stop(run->world.pipeline, BT_END_ABANDON, SECOND_NS);
		bt_pipeline_destroy(run->world.pipeline);
	}
	bt_world_fini(&run->world);
	bt_config_fini(&run->config);
}

void bt_bench_run_workload(const struct bt_bench_run_plan *plan, const struct bt_bench_run_options *options,
	struct bt_specs *specs, struct bt_bench_run_result *out_result)
{
	int64_t begin_ns = bt_clock_monotonic_ns();
	struct bt_bench_run run = {.plan = plan, .options = options, .specs = specs, .result = out_result};

	*out_result = (struct bt_bench_run_result){.end = BT_BENCH_RUN_DONE};
	bool ok = read_config(&run) && make_pipeline(&run);
	for (uint32_t i = 0; i < plan->ops.n && ok; i++) {
		ok = do_op(&run, &plan->ops.ops[i], i);
		if (!ok && out_result->end == BT_BENCH_RUN_DONE) {
			bt_bench_run_fail(&run, BT_BENCH_RUN_FAILED,
				"%s (line %zu): a file that it names could not be used",
				bt_bench_op_word(plan->ops.ops[i].kind), plan->ops.ops[i].line);
		}
	}
	ok = ok && check_end(&run);
	if (!ok && out_result->end == BT_BENCH_RUN_DONE) {
		bt_bench_run_fail(&run, BT_BENCH_RUN_FAILED, "a file could not be used");
	} else if (!ok && out_result->end == BT_BENCH_RUN_FAILED && run.world.pipeline) {
		report_first_pending(&run);
	}
	if (run.world.pipeline && out_result->end <= BT_BENCH_RUN_FAILED) {
		check_limits(&run);
	}
	out_result->node_n = run.world.node_n;
	out_result->pod_n = run.world.pod_n;
	out_result->counts = run.world.counts;
	fini(&run);
	out_result->took_ns = bt_clock_monotonic_ns() - begin_ns;
}

void bt_bench_run_result_fini(struct bt_bench_run_result *result)
{
	for (size_t i = 0; i < result->collected_n; i++) {
		bt_mem_free(result->collected[i].name);
		bt_mem_free(result->collected[i].rates);
		bt_mem_free(result->collected[i].heaps);
		bt_mem_free(result->collected[i].stages);
	}
	bt_mem_free(result->collected);
	bt_buf_fini(&result->why);
	*result = (struct bt_bench_run_result){.end = BT_BENCH_RUN_DONE};
}
