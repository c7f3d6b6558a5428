/* SPDX-License-Identifier: Apache-2.0
 * A run of a cluster as a journal in memory.
 */
#include "tools/offline/compare/record.h"

#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"
#include "tools/kube/config/config_file.h"
#include "tools/kube/config/recording.h"
#include "tools/offline/simulate/drive.h"
#include "tools/offline/simulate/load.h"

struct recorder {
	const struct bt_invocation *invocation;
	struct bt_recording recording;
	struct bt_pipeline *pipeline;
	struct bt_diagnostics diagnostics;
	struct bt_intake intake;
	struct bt_load load;
	struct bt_simulate_run run;
	struct bt_progress progress;
	bool quiet, reschedule;
};

static int make_pipeline(struct recorder *s, const struct bt_config *config)
{
	const struct bt_pipeline_options options = {
		.limits = bt_limits_default(),
		.engine = {.seed = bt_invocation_number(s->invocation, "seed"),
			.clock = bt_clock_virtual(&s->run.now_ns),
			.sampling = BT_SAMPLING_NONE,
			.groups_by_events = true,
			.evictor = bt_simulate_run_evictor(&s->run)},
		.step_driver = bt_run_step_driver(&s->run),
		.sink = bt_simulate_run_sink(&s->run),
		.journal = s->recording.journal,
	};
	struct bt_config_errors errors = {0};

	s->pipeline = bt_pipeline_create(config, &options, &errors);
	if (!s->pipeline) {
		return bt_configuration_refused(s->invocation, &errors);
	}
	bt_config_errors_fini(&errors);
	s->run.pipeline = s->pipeline;
	s->run.engine = bt_pipeline_engine(s->pipeline);
	s->run.intake = &s->intake;
	s->intake = (struct bt_intake){.diagnostics = &s->diagnostics};
	s->load = (struct bt_load){.pipeline = s->pipeline,
		.intake = &s->intake,
		.diagnostics = &s->diagnostics,
		.expand = !bt_invocation_has(s->invocation, "no-expand")};
	bt_load_init(&s->load);
	return BT_EXIT_OK;
}

static bool goes_on(const struct recorder *s)
{
	return !s->diagnostics.stop && !bt_interrupt_pending();
}

static bool record_take(void *context, const struct bt_object *object)
{
	struct recorder *s = context;
	struct bt_object copy = *object;

	if (s->reschedule && copy.kind == BT_KIND_POD) {
		copy.pod.spec.node_name = (struct bt_str){.len = 0};
	}
	bt_load_object(&s->load, &copy);
	return goes_on(s);
}

static int load(struct recorder *s)
{
	bool usable = true;

	if (bt_invocation_input(s->invocation, 0)) {
		usable = bt_load_each(s->invocation, &s->diagnostics, record_take, s);
	} else {
		bt_load_default(s->invocation, NULL, record_take, s);
	}

	if (usable) {
		bt_load_finish(&s->load);
		bt_intake_end(&s->intake, s->run.engine);
	}
	bt_diagnostics_end(&s->diagnostics);
	if (bt_interrupt_pending()) {
		return BT_EXIT_INTERRUPTED;
	}
	if (!usable || s->diagnostics.stop) {
		return BT_EXIT_INPUT;
	}
	bt_load_warn(&s->load);
	if (s->intake.counts.nodes == 0) {
		bt_message("berth %s: the input holds no nodes; give it the cluster's nodes as well\n",
			s->invocation->command->name);
		return BT_EXIT_INPUT;
	}
	return BT_EXIT_OK;
}

/* Runs until nothing happens any more. */
static int decide(struct recorder *s)
{
	struct bt_simulate_run *run = &s->run;

	run->now_ns = bt_load_begin_ns(&s->load);
	run->until_ns = INT64_MAX;
	run->graces = &s->intake.graces;
	bt_simulate_run_expect_ends(run, &s->intake);
	bt_progress_begin(&s->progress, "placing pods", s->intake.counts.pending, s->quiet);
	bt_drive(&(struct bt_drive){.run = run, .progress = &s->progress});
	bt_progress_end(&s->progress);
	return bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : BT_EXIT_OK;
}

int bt_record_run(const struct bt_invocation *invocation, const struct bt_config *config,
	struct bt_recorded *out_recorded)
{
	struct recorder s = {.invocation = invocation,
		.quiet = bt_invocation_has(invocation, "quiet"),
		.reschedule = bt_invocation_has(invocation, "reschedule")};

	s.diagnostics = bt_diagnostics_of(invocation);
	bt_recording_open_memory(&s.recording, &out_recorded->journal, config);
	bt_simulate_run_init(&s.run);
	int status = make_pipeline(&s, config);
	if (status == BT_EXIT_OK) {
		status = load(&s);
	}
	if (status == BT_EXIT_OK) {
		status = decide(&s);
	}
	out_recorded->node_n = s.intake.counts.nodes;
	if (s.pipeline) {
		bt_pipeline_stop(s.pipeline, BT_END_ABANDON, BT_FOREVER);
	}
	bt_recording_close_memory(&s.recording);
	bt_simulate_run_fini(&s.run);
	bt_load_fini(&s.load);
	bt_intake_fini(&s.intake);
	bt_pipeline_destroy(s.pipeline);
	return status;
}
