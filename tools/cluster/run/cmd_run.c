/* SPDX-License-Identifier: Apache-2.0
 * berth run: schedules the pods of a real cluster.
 */
#include <time.h>

#include "engine/model/release.h"
#include "tools/cli/entry.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/output.h"
#include "tools/cli/say.h"
#include "tools/cluster/run/scheduler.h"
#include "tools/cluster/serve/serve.h"
#include "tools/kube/config/config_file.h"

#define LOOK_NS	      50000000
#define STOP_LIMIT_NS INT64_C(10000000000)

static int print_version(enum bt_run_version version)
{
	const char *upstream = bt_release_find(bt_str(BT_RELEASE_RUN_TEXT))->version;
	struct bt_buf text = {0};

	if (version == BT_RUN_VERSION) {
		bt_buf_printf(&text, "Kubernetes %s (berth " BERTH_VERSION ")\n", upstream);
	} else {
		bt_buf_printf(
			&text, "version.Info{GitVersion:\"%s\", Berth:\"" BERTH_VERSION "\"}\n", upstream);
	}
	int status = bt_output_write("-", bt_buf_view(&text));

	bt_buf_fini(&text);
	return status;
}

static int check(struct bt_config *config)
{
	struct bt_config_errors errors = {0};
	struct bt_buf text = {0};
	int status = BT_EXIT_OK;

	if (bt_config_validate(config, &errors) != BT_OK) {
		bt_config_errors_text(&errors, &text);
		bt_say("berth run: %s\n", text.ptr);
		status = BT_EXIT_INPUT;
	}
	bt_buf_fini(&text);
	bt_config_errors_fini(&errors);
	return status;
}

/* The file, and the flags that count beside it; or the defaults, and the flags. */
static int configure(const struct bt_invocation *invocation, const struct bt_run_flags *flags,
	struct bt_config *out_config)
{
	int status;

	if (flags->config) {
		status = bt_configuration_read(invocation, &flags->gates, out_config);
		if (!status) {
			status = bt_run_flags_apply(invocation, out_config);
		}
	} else {
		bt_config_init(out_config, &flags->gates);
		status = bt_configuration_plugins(invocation);
		if (!status) {
			bt_config_default(out_config);
			status = bt_run_flags_apply(invocation, out_config);
		}
	}
	return status ? status : check(out_config);
}

static int cmd_run_fail(const struct bt_buf *why)
{
	bt_log(BT_LOG_ERROR, 0, "Failed", bt_log_fields(bt_log_str("err", bt_buf_view(why))));
	return BT_EXIT_INPUT;
}

/* Ends scheduler, unless a part of it does not come to its end: then the process ends with it. */
static int serve(struct bt_scheduler *scheduler)
{
	struct bt_buf why = {0};
	int status = BT_EXIT_OK;

	if (bt_scheduler_start(scheduler, &why) != BT_OK && !bt_interrupt_pending()) {
		status = cmd_run_fail(&why);
	} else {
		while (!bt_interrupt_pending()) {
			if (!bt_scheduler_look(scheduler)) {
				bt_log(BT_LOG_ERROR, 0, "Leaderelection lost", NULL);
				status = BT_EXIT_NO;
				break;
			}
			nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL); /* a signal ends it */
		}
		if (bt_interrupt_pending()) {
			bt_log(BT_LOG_INFO, 0, "Received a signal, ending in order", NULL);
		}
	}
	if (bt_scheduler_stop(scheduler, STOP_LIMIT_NS)) {
		bt_scheduler_destroy(scheduler);
	} else {
		bt_log(BT_LOG_ERROR, 0, "Writes to the API server have not come to their end", NULL);
		status = status ? status : BT_EXIT_NO;
	}
	bt_buf_fini(&why);
	return status;
}

static int schedule(const struct bt_invocation *invocation, const struct bt_run_flags *flags,
	const struct bt_config *config)
{
	struct bt_buf why = {0};
	int status;

	bt_log_setup(flags->log_format, flags->verbosity);
	bt_run_flags_warn(invocation);
	bt_run_config_warn(config);
	bt_serve_raise_files();
	struct bt_scheduler *scheduler = bt_scheduler_create(flags, config, &why);
	if (scheduler) {
		status = serve(scheduler);
	} else {
		status = cmd_run_fail(&why);
	}
	bt_buf_fini(&why);
	return status;
}

int bt_cmd_run(struct bt_invocation *invocation)
{
	struct bt_run_flags flags;
	struct bt_config config;
	int status = bt_run_flags_read(invocation, &flags);

	if (status || flags.version) {
		status = status ? status : print_version(flags.version);
		bt_run_flags_fini(&flags);
		return status;
	}
	status = configure(invocation, &flags, &config);
	if (!status) {
		status = flags.write_config_to ? bt_configuration_write(&config, flags.write_config_to)
					       : schedule(invocation, &flags, &config);
	}
	bt_config_fini(&config);
	bt_run_flags_fini(&flags);
	return status;
}
