/* SPDX-License-Identifier: Apache-2.0
 * A cluster that is loaded once.
 */
#include "tools/offline/simulate/loaded_cluster.h"

#include <string.h>

#include "engine/base/check.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"
#include "tools/kube/config/config_file.h"
#include "tools/offline/simulate/drive.h"

static int make_engine(struct bt_loaded_cluster *c)
{
	const struct bt_pipeline_options options = {
		.limits = bt_limits_default(),
		.messages = c->messages,
		.engine = {.seed = bt_invocation_number(c->invocation, "seed"),
			.clock = bt_clock_virtual(&c->run.now_ns),
			.groups_by_events = true,
			.observer = c->observer,
			.evictor = bt_simulate_run_evictor(&c->run)},
		.step_driver = bt_run_step_driver(&c->run),
		.sink = bt_simulate_run_sink(&c->run),
	};
	struct bt_config_errors errors = {0};

	c->pipeline = bt_pipeline_create(&c->config, &options, &errors);
	if (!c->pipeline) {
		return bt_configuration_refused(c->invocation, &errors);
	}
	bt_config_errors_fini(&errors);
	c->engine = c->run.engine = bt_pipeline_engine(c->pipeline);
	c->run.pipeline = c->pipeline;
	return BT_EXIT_OK;
}

static int configure(struct bt_loaded_cluster *c)
{
	struct bt_gates gates;
	int status = bt_configuration_gates(c->invocation, &gates);

	if (status == BT_EXIT_OK) {
		status = (c->is_another ? bt_configuration_read_again : bt_configuration_read)(
			c->invocation, &gates, &c->config);
	}
	if (status == BT_EXIT_OK && c->config.extender_n) {
		bt_message("berth %s: %s: extenders are not called, and pods are placed as if they had no "
			   "objections and no preferences\n",
			c->invocation->command->name, bt_invocation_text(c->invocation, "config"));
	}
	return status == BT_EXIT_OK ? make_engine(c) : status;
}

/* The ix-th file of the cluster; NULL after the last. */
static const char *path_of(const struct bt_loaded_cluster *c, size_t ix)
{
	return !c->paths ? bt_invocation_input(c->invocation, ix) : ix < c->path_n ? c->paths[ix] : NULL;
}

static int load_cluster(struct bt_loaded_cluster *c)
{
	const char *path;

	for (size_t i = 0; (path = path_of(c, i)); i++) {
		bt_buf_printf(&c->source, "%s%s", i ? ", " : "", strcmp(path, "-") ? path : "standard input");
	}
	bool usable = bt_load_paths_of(&c->load, c->invocation, c->paths, c->path_n);
	bt_load_finish(&c->load);
	bt_intake_end(&c->intake, c->engine);
	bt_diagnostics_end(&c->diagnostics);
	if (bt_interrupt_pending()) {
		return BT_EXIT_INTERRUPTED;
	}
	if (!usable || c->diagnostics.stop) {
		return BT_EXIT_INPUT;
	}
	bt_load_warn(&c->load);
	if (c->intake.counts.nodes == 0) {
		bt_message("berth %s: the input holds no nodes; give it the cluster's nodes as well\n",
			c->invocation->command->name);
		return BT_EXIT_INPUT;
	}
	return BT_EXIT_OK;
}

static void note_deleting(void *context, const struct bt_pod_object *pod)
{
	struct bt_loaded_cluster *c = context;

	c->ignored(c->context, pod, "the pod is being deleted");
}

int bt_loaded_cluster_open(struct bt_loaded_cluster *c, struct bt_invocation *invocation)
{
	c->invocation = invocation;
	c->quiet = bt_invocation_has(invocation, "quiet");
	if (!path_of(c, 0)) {
		return bt_invocation_wrong(invocation->command, "no cluster; give it files, folders, or -");
	}
	int status = configure(c);
	if (status != BT_EXIT_OK) {
		return status;
	}
	c->diagnostics = bt_diagnostics_of(invocation);
	c->intake = (struct bt_intake){.diagnostics = &c->diagnostics,
		.entered = c->entered,
		.ignored = c->ignored,
		.node = c->node,
		.context = c->context};
	if (c->evicts_by_taints) {
		c->taint_evictions = bt_taint_evictions_of(c->engine, &c->config.gates);
		c->run.taint_evictions = c->intake.taint_evictions = &c->taint_evictions;
	}
	c->run.intake = &c->intake;
	c->load = (struct bt_load){.pipeline = c->pipeline,
		.intake = &c->intake,
		.diagnostics = &c->diagnostics,
		.deleting = c->ignored ? note_deleting : NULL,
		.context = c,
		.entered = c->object_entered,
		.entered_context = c->context,
		.expand = !bt_invocation_has(invocation, "no-expand")};
	bt_load_init(&c->load);
	return load_cluster(c);
}

static int place_pods(struct bt_loaded_cluster *c, const char *label, uint64_t pod_n)
{
	struct bt_drive drive = {
		.run = &c->run, .progress = &c->progress, .resumes = bt_simulate_run_is_over(&c->run)};

	bt_progress_begin(&c->progress, label, pod_n, c->quiet);
	bt_drive(&drive);
	bt_progress_end(&c->progress);
	return bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : BT_EXIT_OK;
}

int bt_loaded_cluster_settle(struct bt_loaded_cluster *c)
{
	c->run.now_ns = bt_load_begin_ns(&c->load);
	c->run.until_ns = INT64_MAX;
	c->run.graces = &c->intake.graces;
	bt_simulate_run_expect_ends(&c->run, &c->intake);
	int status = place_pods(c, "placing pods", c->intake.counts.pending);
	c->placed_n = bt_engine_counts(c->engine).placed_n;
	return status;
}

int bt_loaded_cluster_continue(struct bt_loaded_cluster *c, const char *label, uint64_t pod_n)
{
	BT_REQUIRE(bt_simulate_run_is_over(&c->run));
	return place_pods(c, label, pod_n);
}

void bt_loaded_cluster_close(struct bt_loaded_cluster *c)
{
	bt_simulate_run_fini(&c->run);
	bt_taint_evictions_fini(&c->taint_evictions);
	bt_load_fini(&c->load);
	bt_intake_fini(&c->intake);
	bt_pipeline_destroy(c->pipeline);
	bt_config_fini(&c->config);
	bt_buf_fini(&c->source);
}
