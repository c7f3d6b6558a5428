/* SPDX-License-Identifier: Apache-2.0
 * berth run: schedules the pods of a real cluster.
 */
#include <time.h>

#include "engine/base/clock.h"
#include "engine/model/release.h"
#include "tools/cli/entry.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/output.h"
#include "tools/cli/message.h"
#include "tools/cluster/run/release_watch.h"
#include "tools/cluster/run/scheduler.h"
#include "tools/cluster/serve/serve.h"
#include "tools/kube/config/config_file.h"

#define LOOK_NS	      50000000
#define STOP_LIMIT_NS INT64_C(10000000000)

static int print_version(const struct bt_run_flags *flags)
{
	const struct bt_release *fixed = flags->versions.fixed;
	const char *upstream = (fixed ? fixed : bt_release_default())->version;
	struct bt_buf text = {0};

	if (flags->version == BT_RUN_VERSION) {
		bt_buf_printf(&text, "Kubernetes %s (berth " BERTH_VERSION ")\n", upstream);
	} else {
		bt_buf_printf(
			&text, "version.Info{GitVersion:\"%s\", Berth:\"" BERTH_VERSION "\"}\n", upstream);
	}
	int status = bt_output_write("-", bt_buf_view(&text));

	bt_buf_fini(&text);
	return status;
}

/* State that outlives a scheduler: the next one may have another release. owner: the main thread */
struct run_command {
	const struct bt_invocation *invocation;
	struct bt_run_flags *flags;
	struct bt_buf text; /* of --config: in the sandbox, the file cannot be read again */
	struct bt_config config;
	bool configured;
	struct bt_run_access *access;
	const struct bt_release *release; /* in effect, or assumed */
	bool undecided;			  /* release is assumed: the server has not answered yet */
};

/* ---- configuration ---- */

static int check(struct bt_config *config)
{
	struct bt_config_errors errors = {0};
	struct bt_buf text = {0};
	int status = BT_EXIT_OK;

	if (bt_config_validate(config, &errors) != BT_OK) {
		bt_config_errors_text(&errors, &text);
		status = BT_EXIT_INPUT;
		bt_message("berth run: %s\n", text.ptr);
	}
	bt_buf_fini(&text);
	bt_config_errors_fini(&errors);
	return status;
}

static void forget_configuration(struct run_command *run)
{
	if (run->configured) {
		bt_config_fini(&run->config);
	}
	run->configured = false;
}

/* Reads the file, and the flags that override it; or the defaults, and the flags. Validated by the release.
 * Requires: no scheduler uses the old configuration. */
static int configure(struct run_command *run, const struct bt_release *release)
{
	int status = bt_run_flags_settle(run->flags, release);

	forget_configuration(run);
	if (!status) {
		run->configured = true;
		status = bt_configuration_read_text(
			run->invocation, &run->flags->gates, &run->text, &run->config);
	}
	if (!status) {
		status = bt_run_flags_apply(run->invocation, &run->config);
	}
	run->release = release;
	return status ? status : check(&run->config);
}

/* Whether flags and configuration are valid under the release. Prints nothing. */
static bool is_good(const struct run_command *run, const struct bt_release *binary, struct bt_buf *out_error)
{
	struct bt_release release;
	struct bt_gates gates;
	struct bt_config config;

	if (!bt_run_versions_apply(&run->flags->versions, binary, &release, out_error) ||
		!bt_configuration_try_gates(run->invocation, "feature-gates", &release, &gates, out_error)) {
		return false;
	}
	int status = bt_configuration_decode(run->invocation, &gates, &run->text, &config, out_error);

	bt_config_fini(&config);
	return !status;
}

/* The configuration has the server's address, and the server's release validates the configuration: the
 * newest release that accepts it is assumed. If none does, the default release reads it, for its error
 * messages. */
static const struct bt_release *assume(const struct run_command *run)
{
	const struct bt_release *assumed = NULL, *next;
	struct bt_buf ignored = {0};

	for (uint32_t i = 0; (next = bt_release_at(i)); i++) {
		assumed = is_good(run, next, &ignored) ? next : assumed;
	}
	bt_buf_fini(&ignored);
	return assumed ? assumed : bt_release_default();
}

static int cmd_run_fail(const struct bt_buf *why)
{
	bt_log(BT_LOG_ERROR, 0, "Failed", bt_log_fields(bt_log_str("err", bt_buf_view(why))));
	return BT_EXIT_INPUT;
}

/* ---- which release is in effect ---- */

static enum bt_server_answer read_version(
	void *context, struct bt_server_version *out_version, struct bt_buf *out_error)
{
	const struct run_command *run = context;

	return bt_server_version_get(run->access->api, out_version, out_error);
}

static struct bt_release_watch_options watch_options(struct run_command *run)
{
	return (struct bt_release_watch_options){.release = run->release,
		.fixed = run->flags->versions.fixed != NULL,
		.undecided = run->undecided,
		.follow = run->flags->follow_server,
		.read_version = read_version,
		.context = run};
}

/* Reads the server's version, unless --kubernetes-version is given. */
static int find_release(struct run_command *run)
{
	const struct bt_release_watch_options options = watch_options(run);
	const struct bt_release *release;

	if (options.fixed) {
		bt_log(BT_LOG_INFO, 0, "Decisions are those of --kubernetes-version",
			bt_log_fields(bt_log_str("release", bt_str(run->release->name))));
		return BT_EXIT_OK;
	}
	if (!bt_release_watch_begin(&options, &release, &run->undecided)) {
		return BT_EXIT_INPUT;
	}
	return release == run->release ? BT_EXIT_OK : configure(run, release);
}

/* Whether the scheduler can restart under another release. If not, the old one stays in effect. */
static bool may_change(const struct run_command *run, const struct bt_release *release)
{
	struct bt_buf why = {0};
	bool good = is_good(run, release, &why);

	if (!good) {
		bt_log(BT_LOG_ERROR, 0,
			"The API server's release does not take the configuration or flags; correct them "
			"before "
			"the next start. Decisions stay those of the release before",
			bt_log_fields(bt_log_str("release", bt_str(run->release->name)),
				bt_log_str("server", bt_str(release->name)),
				bt_log_str("err", bt_buf_view(&why))));
	}
	bt_buf_fini(&why);
	return good;
}

/* ---- one scheduler ---- */

/* Why a scheduler ends. */
enum ending { GOES_ON = 0, SIGNALLED, LOST, REFUSED, CHANGES };

static enum ending check_release(struct run_command *run, struct bt_release_watch *watch,
	struct bt_scheduler *scheduler, const struct bt_release **out_next)
{
	switch (bt_release_watch_tick(watch, bt_clock_monotonic_ns(), out_next)) {
	case BT_RELEASE_SETTLED:
		run->undecided = false;
		bt_scheduler_decide(scheduler);
		return GOES_ON;
	case BT_RELEASE_CHANGE:
		if (run->undecided || may_change(run, *out_next)) {
			run->undecided = false;
			return CHANGES;
		}
		bt_release_watch_decline(watch);
		return GOES_ON;
	case BT_RELEASE_REFUSED:
		return REFUSED;
	case BT_RELEASE_UNCHANGED:
		break;
	}
	return GOES_ON;
}

static enum ending supervise(
	struct run_command *run, struct bt_scheduler *scheduler, const struct bt_release **out_next)
{
	const struct bt_release_watch_options options = watch_options(run);
	struct bt_release_watch watch;
	enum ending ending = GOES_ON;

	bt_release_watch_init(&watch, &options, bt_clock_monotonic_ns());
	while (!ending && !bt_interrupt_pending()) {
		if (!bt_scheduler_tick(scheduler)) {
			bt_log(BT_LOG_ERROR, 0, "Leaderelection lost", NULL);
			return LOST;
		}
		ending = check_release(run, &watch, scheduler, out_next);
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL); /* a signal interrupts it */
	}
	if (bt_interrupt_pending()) {
		bt_log(BT_LOG_INFO, 0, "Received a signal, ending in order", NULL);
		ending = SIGNALLED;
	}
	return ending;
}

/* Stops the scheduler. If a part does not stop in time, the process exits without freeing it. out_next: the
 * release to restart with, or NULL. */
static int serve(struct run_command *run, struct bt_scheduler *scheduler, const struct bt_release **out_next)
{
	struct bt_buf why = {0};
	const struct bt_release *next = NULL;
	enum ending ending = SIGNALLED;
	int status = BT_EXIT_OK;

	if (bt_scheduler_start(scheduler, &why) != BT_OK && !bt_interrupt_pending()) {
		status = cmd_run_fail(&why);
	} else {
		ending = supervise(run, scheduler, &next);
		status = ending == LOST ? BT_EXIT_NO : ending == REFUSED ? BT_EXIT_INPUT : BT_EXIT_OK;
	}
	if (bt_scheduler_stop(scheduler, STOP_LIMIT_NS)) {
		bt_scheduler_destroy(scheduler);
	} else {
		bt_log(BT_LOG_ERROR, 0, "Writes to the API server have not come to their end", NULL);
		status = status ? status : BT_EXIT_NO;
	}
	*out_next = ending == CHANGES && !status ? next : NULL;
	bt_buf_fini(&why);
	return status;
}

/* A journal is of one release, and cannot be opened again. */
static int cannot_change(const struct run_command *run, const struct bt_release *next)
{
	bt_log(BT_LOG_ERROR, 0,
		"The journal was begun as another release than the API server's; start berth again, or "
		"choose "
		"the release by --kubernetes-version",
		bt_log_fields(bt_log_str("journal", bt_str(run->flags->journal)),
			bt_log_str("release", bt_str(next->name))));
	return BT_EXIT_NO;
}

static int schedule(struct run_command *run, const struct bt_release **out_next)
{
	struct bt_buf why = {0};
	int status;
	struct bt_scheduler *scheduler =
		bt_scheduler_create(run->flags, &run->config, run->access, run->undecided, &why);

	*out_next = NULL;
	if (scheduler) {
		status = serve(run, scheduler, out_next);
	} else {
		status = cmd_run_fail(&why);
	}
	bt_buf_fini(&why);
	return status;
}

/* Runs one scheduler after the other, each under the server's release. */
static int schedule_all(struct run_command *run)
{
	const struct bt_release *next = NULL;
	struct bt_buf why = {0};
	int status;

	bt_log_setup(run->flags->log_format, run->flags->verbosity);
	bt_run_flags_warn(run->invocation);
	bt_run_config_warn(&run->config);
	bt_serve_raise_files();
	run->access = bt_run_access_create(run->flags, &run->config, &why);
	status = run->access ? find_release(run) : cmd_run_fail(&why);
	bt_buf_fini(&why);
	while (!status && !bt_interrupt_pending()) {
		status = schedule(run, &next);
		if (status || !next) {
			break;
		}
		status = run->flags->journal ? cannot_change(run, next) : configure(run, next);
	}
	return status;
}

int bt_cmd_run(struct bt_invocation *invocation)
{
	struct bt_run_flags flags;
	struct run_command run = {.invocation = invocation, .flags = &flags};
	int status = bt_run_flags_read(invocation, &flags);

	if (status || flags.version) {
		status = status ? status : print_version(&flags);
		bt_run_flags_fini(&flags);
		return status;
	}
	status = bt_configuration_plugins(invocation);
	if (!status) {
		status = bt_configuration_text(invocation, &run.text);
	}
	if (!status) {
		status = configure(&run, flags.versions.fixed ? flags.versions.fixed : assume(&run));
	}
	if (!status) {
		status = flags.write_config_to ? bt_configuration_write(&run.config, flags.write_config_to)
					       : schedule_all(&run);
	}
	forget_configuration(&run);
	bt_run_access_destroy(run.access);
	bt_buf_fini(&run.text);
	bt_run_flags_fini(&flags);
	return status;
}
