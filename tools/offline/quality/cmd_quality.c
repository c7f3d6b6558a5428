/* SPDX-License-Identifier: Apache-2.0
 * berth quality: the same pods placed by evaluating every node and a sample, by least and by most
 * allocated, and the outcome of each.
 */

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "tools/cli/emit.h"
#include "tools/cli/entry.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"
#include "tools/cli/print.h"
#include "tools/format/object_reader.h"
#include "tools/offline/quality/measure.h"
#include "tools/kube/config/config_file.h"
#include "tools/offline/simulate/drive.h"
#include "tools/offline/simulate/load.h"

#define SCHEMA	 "berth.quality/v1"
#define POLICIES 4

/* A way of placing pods. */
struct policy {
	const char *scoring; /* NodeResourcesFit's scoringStrategy */
	bool samples;
};

static const struct policy policies[POLICIES] = {
	{"LeastAllocated", false},
	{"LeastAllocated", true},
	{"MostAllocated", false},
	{"MostAllocated", true},
};

/* What becomes of the pods under a policy. */
struct trial {
	struct bt_config config;
	struct bt_pipeline *pipeline;
	struct bt_diagnostics diagnostics;
	struct bt_intake intake;
	struct bt_load load;
	struct bt_simulate_run run;
	struct bt_quality quality;
	double decide_s;
};

struct quality_comparison {
	struct bt_invocation *invocation;
	struct trial trials[POLICIES];
	struct bt_mean_pod mean;
	struct bt_progress progress;
	struct bt_buf source;
	bool quiet;
};

static const char *option(const struct quality_comparison *c, const char *name)
{
	return bt_invocation_text(c->invocation, name);
}

/* ---- engines ---- */

/* Sets the scoring strategy and the sampling of every profile. */
static void apply_policy(struct bt_config *config, const struct policy *policy, int32_t percentage)
{
	config->percentage_of_nodes_to_score = (struct bt_config_int){percentage, true};
	for (uint32_t p = 0; p < config->profile_n; p++) {
		struct bt_profile_config *profile = &config->profiles[p];

		profile->percentage_of_nodes_to_score = (struct bt_config_int){percentage, true};
		for (uint32_t i = 0; i < profile->arg_n; i++) {
			if (profile->args[i].type == &bt_node_resources_fit_args_info) {
				struct bt_node_resources_fit_args *args = profile->args[i].value;

				args->strategy.type = bt_str(policy->scoring);
				args->strategy.ratio_set = false;
			}
		}
	}
}

static int make_pipeline(struct quality_comparison *c, struct trial *trial, const struct policy *policy)
{
	const struct bt_pipeline_options options = {
		.limits = bt_limits_default(),
		.engine = {.seed = bt_invocation_number(c->invocation, "seed"),
			.clock = bt_clock_virtual(&trial->run.now_ns),
			.sampling = policy->samples ? BT_SAMPLING_UPSTREAM : BT_SAMPLING_NONE,
			.groups_by_events = true,
			.evictor = bt_simulate_run_evictor(&trial->run)},
		.step_driver = bt_run_step_driver(&trial->run),
		.sink = bt_simulate_run_sink(&trial->run),
	};
	struct bt_config_errors errors = {0};
	struct bt_gates gates;
	int status = bt_configuration_gates(c->invocation, &gates);

	if (status == BT_EXIT_OK) {
		status = bt_configuration_read(c->invocation, &gates, &trial->config);
	}
	if (status != BT_EXIT_OK) {
		return status;
	}
	if (trial->config.extender_n && policy == policies) { /* once */
		bt_message(
			"berth quality: %s: extenders are not called, and pods are placed as if they had no "
			"objections and no preferences\n",
			option(c, "config"));
	}
	apply_policy(&trial->config, policy, (int32_t)bt_invocation_number(c->invocation, "percentage"));
	trial->pipeline = bt_pipeline_create(&trial->config, &options, &errors);
	if (!trial->pipeline) {
		return bt_configuration_refused(c->invocation, &errors);
	}
	bt_config_errors_fini(&errors);
	return BT_EXIT_OK;
}

static int make_trial(struct quality_comparison *c, struct trial *trial, const struct policy *policy)
{
	int status = make_pipeline(c, trial, policy);

	if (status != BT_EXIT_OK) {
		return status;
	}
	trial->run.pipeline = trial->pipeline;
	trial->run.engine = bt_pipeline_engine(trial->pipeline);
	trial->run.intake = &trial->intake;
	trial->intake = (struct bt_intake){.diagnostics = &trial->diagnostics};
	trial->load = (struct bt_load){.pipeline = trial->pipeline,
		.intake = &trial->intake,
		.diagnostics = &trial->diagnostics,
		.expand = !bt_invocation_has(c->invocation, "no-expand")};
	bt_load_init(&trial->load);
	return BT_EXIT_OK;
}

static int make_trials(struct quality_comparison *c)
{
	int status = BT_EXIT_OK;

	for (int i = 0; i < POLICIES && status == BT_EXIT_OK; i++) {
		/* Problems of the input are reported once. */
		c->trials[i].diagnostics = bt_diagnostics_of(c->invocation);
		c->trials[i].diagnostics.quiet = c->quiet || i > 0;
		status = make_trial(c, &c->trials[i], &policies[i]);
	}
	return status;
}

/* ---- input ---- */

static bool goes_on(const struct quality_comparison *c)
{
	return !c->trials[0].diagnostics.stop && !bt_interrupt_pending();
}

/* Every engine gets the object. */
static bool take(void *context, const struct bt_object *object)
{
	struct quality_comparison *c = context;

	for (int i = 0; i < POLICIES; i++) {
		struct bt_object copy = *object;

		bt_load_object(&c->trials[i].load, &copy);
	}
	return goes_on(c);
}

static int load(struct quality_comparison *c)
{
	bool usable = true;

	if (bt_invocation_input(c->invocation, 0)) {
		bt_load_source(c->invocation, &c->source);
		usable = bt_load_each(c->invocation, &c->trials[0].diagnostics, take, c);
	} else {
		bt_load_default(c->invocation, &c->source, take, c);
	}
	for (int i = 0; i < POLICIES && usable; i++) {
		bt_load_finish(&c->trials[i].load);
		bt_intake_end(&c->trials[i].intake, c->trials[i].run.engine);
	}
	bt_diagnostics_end(&c->trials[0].diagnostics);
	if (bt_interrupt_pending()) {
		return BT_EXIT_INTERRUPTED;
	}
	if (!usable || c->trials[0].diagnostics.stop) {
		return BT_EXIT_INPUT;
	}
	bt_load_warn(&c->trials[0].load);
	if (c->trials[0].intake.counts.nodes == 0) {
		bt_message("berth quality: the input holds no nodes; give it the cluster's nodes as well\n");
		return BT_EXIT_INPUT;
	}
	return BT_EXIT_OK;
}

/* ---- deciding ---- */

/* Runs until nothing happens any more, and measures. */
static void decide(struct quality_comparison *c, struct trial *trial)
{
	struct bt_simulate_run *run = &trial->run;
	int64_t begin_ns = bt_clock_monotonic_ns();

	run->now_ns = bt_load_begin_ns(&trial->load);
	run->until_ns = INT64_MAX;
	run->graces = &trial->intake.graces;
	bt_simulate_run_expect_ends(run, &trial->intake);
	bt_drive(&(struct bt_drive){.run = run, .progress = &c->progress});
	trial->decide_s = (double)(bt_clock_monotonic_ns() - begin_ns) / 1e9;
	bt_quality_measure(run->engine, &c->mean, &trial->config.gates, &trial->quality);
}

static void decide_all(struct quality_comparison *c)
{
	c->mean = bt_quality_mean_pod(c->trials[0].run.engine);
	for (int i = 0; i < POLICIES && !bt_interrupt_pending(); i++) {
		bt_progress_begin(&c->progress, "placing pods", c->trials[i].intake.counts.pending, c->quiet);
		decide(c, &c->trials[i]);
		bt_progress_end(&c->progress);
	}
}

/* ---- report ---- */

static void add_percent(struct bt_emit *emit, const char *key, double share, const char *label)
{
	bt_emit_real(emit, key, 100 * share, 2);
	bt_emit_label(emit, label);
}

static void add_real(struct bt_emit *emit, const char *key, double value, const char *label)
{
	bt_emit_real(emit, key, value, 2);
	bt_emit_label(emit, label);
}

static void add_row(struct bt_emit *emit, const struct policy *policy, const struct trial *trial)
{
	const struct bt_quality *q = &trial->quality;

	bt_emit_begin_object(emit, NULL);
	bt_emit_text(emit, "scoring", policy->scoring);
	bt_emit_text(emit, "looked_at", policy->samples ? "a sample" : "every node");
	bt_emit_label(emit, "looked at");
	bt_emit_count(emit, "unplaced", "unplaced", q->unplaced_n);
	add_percent(emit, "unplaced_percent", q->pod_n ? (double)q->unplaced_n / (double)q->pod_n : 0,
		"% of pods");
	bt_emit_count(emit, "nodes_used", "nodes used", q->used_node_n);
	add_percent(emit, "cpu_used_percent", q->cpu_used, "cpu used %");
	add_percent(emit, "memory_used_percent", q->memory_used, "memory used %");
	add_percent(emit, "cpu_stranded_percent", q->cpu_stranded, "cpu stranded %");
	add_percent(emit, "memory_stranded_percent", q->memory_stranded, "memory stranded %");
	bt_emit_count(emit, "room", "room for", q->room_n);
	bt_emit_count(emit, "spread_violated", "spread violated", q->spread_violated_n);
	add_real(emit, "skew_excess", q->skew_excess, "mean excess over maxSkew");
	bt_emit_count(emit, "evicted", "evicted", trial->run.tally.evicted_n);
	add_real(emit, "decide_s", trial->decide_s, "s");
	bt_emit_end(emit);
}

static int report(const struct quality_comparison *c)
{
	const struct trial *first = &c->trials[0];
	struct bt_emit *emit = bt_emit_create();

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_hide(emit);
	bt_emit_str(emit, "source", bt_buf_view(&c->source));
	bt_emit_int(emit, "seed", (int64_t)bt_invocation_number(c->invocation, "seed"));
	bt_emit_int(emit, "percentage", (int64_t)bt_invocation_number(c->invocation, "percentage"));
	bt_emit_label(emit, "sample: percentage of nodes, 0 as kube-scheduler adapts it");
	bt_emit_count(emit, "nodes", "nodes", first->quality.node_n);
	bt_emit_count(emit, "pods_scheduled_before", "pods on nodes before", first->intake.counts.scheduled);
	bt_emit_count(emit, "pods_pending", "pods to place", first->intake.counts.pending);
	bt_emit_count(emit, "spread_constraints", "spread constraints", first->quality.spread_n);
	add_real(emit, "mean_cpu", c->mean.milli_cpu / 1000, "average pod: cores");
	add_real(emit, "mean_memory_gib", c->mean.memory_bytes / (double)(1 << 30), "average pod: GiB");
	bt_emit_begin_array(emit, "policies");
	for (int i = 0; i < POLICIES; i++) {
		add_row(emit, &policies[i], &c->trials[i]);
	}
	bt_emit_end(emit);
	return bt_print_report(emit, c->invocation);
}

static void cmd_quality_end(struct quality_comparison *c)
{
	for (int i = 0; i < POLICIES; i++) {
		struct trial *trial = &c->trials[i];

		bt_simulate_run_fini(&trial->run);
		bt_load_fini(&trial->load);
		bt_intake_fini(&trial->intake);
		bt_pipeline_destroy(trial->pipeline);
		bt_config_fini(&trial->config);
	}
	bt_buf_fini(&c->source);
}

int bt_cmd_quality(struct bt_invocation *invocation)
{
	struct quality_comparison c = {
		.invocation = invocation, .quiet = bt_invocation_has(invocation, "quiet")};
	int status = make_trials(&c);

	if (status == BT_EXIT_OK) {
		status = load(&c);
	}
	if (status == BT_EXIT_OK) {
		decide_all(&c);
		status = bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : report(&c);
	}
	cmd_quality_end(&c);
	return status;
}
