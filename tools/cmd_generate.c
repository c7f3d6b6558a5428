/* SPDX-License-Identifier: Apache-2.0
 * berth generate: a synthetic cluster or a trace, written as Kubernetes objects.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "tools/cli/entry.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/cli/message.h"
#include "tools/offline/generate/generate.h"
#include "tools/offline/generate/serialize.h"
#include "tools/kube/config/config_file.h"
#include "tools/offline/trace/openb.h"

struct generate_writer {
	struct bt_output output;
	struct bt_serialize_stream stream;
	struct bt_buf text;
	struct bt_progress progress;
	uint64_t object_n;
};

static void cmd_generate_begin(
	struct generate_writer *writer, const struct bt_invocation *invocation, uint64_t total)
{
	bool yaml = strcmp(bt_invocation_text(invocation, "output"), "yaml") == 0;

	*writer = (struct generate_writer){0};
	bt_output_open_standard(false, &writer->output);
	bt_serialize_begin(&writer->stream, yaml ? BT_DOC_YAML : BT_DOC_JSON, &writer->text);
	bt_progress_begin(&writer->progress, "writing objects", total, false);
}

static bool take(void *context, const struct bt_object *object)
{
	struct generate_writer *writer = context;

	bt_serialize_next(&writer->stream, object, &writer->text);
	bt_output_add(&writer->output, writer->text.ptr, writer->text.len);
	bt_buf_clear(&writer->text);
	bt_progress_update(&writer->progress, ++writer->object_n);
	return !bt_output_failed(&writer->output) && !bt_interrupt_pending();
}

/* Closes the List also when interrupted, so that what was written can be read. */
static int cmd_generate_end(struct generate_writer *writer)
{
	bt_progress_end(&writer->progress);
	bt_serialize_end(&writer->stream, &writer->text);
	bt_output_add(&writer->output, writer->text.ptr, writer->text.len);
	bt_buf_fini(&writer->text);
	int status = bt_output_close(&writer->output);

	if (status == BT_EXIT_OK && bt_interrupt_pending()) {
		bt_message("berth generate: interrupted after %llu objects\n",
			(unsigned long long)writer->object_n);
		return BT_EXIT_INTERRUPTED;
	}
	return status;
}

static void cmd_generate_diagnose(void *context, const char *message)
{
	(void)context;
	bt_message("%s\n", message);
}

static int write_trace(const struct bt_invocation *invocation)
{
	struct bt_openb_reader reader = {
		.strict = bt_invocation_has(invocation, "strict"), .diagnose = cmd_generate_diagnose};
	struct bt_trace trace = {0};
	struct generate_writer writer;
	bool go_on = true;

	if (!bt_invocation_has(invocation, "nodes") || !bt_invocation_has(invocation, "pods")) {
		return bt_invocation_wrong(
			invocation->command, "--trace needs the trace's files: --nodes FILE --pods FILE");
	}
	enum bt_status status = bt_openb_read_nodes(&reader, bt_invocation_text(invocation, "nodes"), &trace);

	if (status == BT_OK) {
		status = bt_openb_read_pods(&reader, bt_invocation_text(invocation, "pods"), &trace);
	}
	if (status != BT_OK) {
		bt_trace_fini(&trace);
		return BT_EXIT_INPUT;
	}
	cmd_generate_begin(&writer, invocation, trace.node_n + trace.pod_n);
	for (size_t i = 0; go_on && i < trace.node_n; i++) {
		go_on = take(&writer, &trace.nodes[i]);
	}
	for (size_t i = 0; go_on && i < trace.pod_n; i++) {
		go_on = take(&writer, &trace.pods[i].object);
	}
	bt_trace_fini(&trace);
	return cmd_generate_end(&writer);
}

/* A count from the command line: --nodes and --pods are files with --trace, so the table takes any text for
 * them. */
static bool parse_count(
	const struct bt_invocation *invocation, const char *option, uint64_t max, uint64_t *out_count)
{
	const char *text = bt_invocation_text(invocation, option);
	char *rest;

	errno = 0;
	*out_count = strtoull(text, &rest, 10);
	if (*text >= '0' && *text <= '9' && *rest == 0 && errno == 0 && *out_count <= max) {
		return true;
	}
	bt_invocation_wrong(invocation->command, "--%s is a whole number from 0 to %llu, not '%s'", option,
		(unsigned long long)max, text);
	return false;
}

static void report_unknown(const struct bt_invocation *invocation, struct bt_str profile)
{
	struct bt_buf names = {0};
	const char *name;

	for (size_t i = 0; (name = bt_profile_name(i)); i++) {
		bt_buf_printf(&names, "%s%s", i ? ", " : "", name);
	}
	bt_invocation_wrong(invocation->command, "there is no profile '%.*s'; there are %s",
		BT_STR_ARG(profile), names.ptr);
	bt_buf_fini(&names);
}

static bool parse_profiles(const struct bt_invocation *invocation, uint32_t *profiles)
{
	const char *text = bt_invocation_text(invocation, "profile");

	for (size_t i = 0; text; i++) {
		struct bt_str unknown;

		if (bt_profile_parse(bt_str(text), profiles, &unknown) != BT_OK) {
			report_unknown(invocation, unknown);
			return false;
		}
		text = bt_invocation_item(invocation, "profile", i);
	}
	return true;
}

/* What gangs are in --kubernetes-version. Returns: enum bt_exit. */
static int choose_gangs(const struct bt_invocation *invocation, struct bt_generate_options *options)
{
	const struct bt_release *release;
	int status = bt_configuration_release(invocation, &release);

	if (status != BT_EXIT_OK) {
		return status;
	}
	options->workloads = bt_release_has(release, BT_RULE_PODS_NAME_WORKLOADS);
	if (options->workloads && (options->profiles & BT_PROFILE_TOPOLOGY)) {
		return bt_invocation_wrong(invocation->command,
			"--profile topology: Workloads of Kubernetes %s have no topology constraints; use a "
			"later "
			"--kubernetes-version, or --profile gangs",
			release->name);
	}
	return BT_EXIT_OK;
}

int bt_cmd_generate(struct bt_invocation *invocation)
{
	struct bt_generate_options options = {
		.seed = bt_invocation_number(invocation, "seed"),
		.zone_n = (uint32_t)bt_invocation_number(invocation, "zones"),
		.signature_n = (uint32_t)bt_invocation_number(invocation, "signatures"),
		.distinct_requests = bt_invocation_has(invocation, "distinct-requests"),
		.gang_size = (uint32_t)bt_invocation_number(invocation, "gang-size"),
		.bound = bt_invocation_fraction(invocation, "bound"),
		.load = bt_invocation_fraction(invocation, "load"),
	};
	struct generate_writer writer;
	uint64_t node_n;

	if (bt_invocation_text(invocation, "trace")) {
		return write_trace(invocation);
	}
	if (!parse_count(invocation, "nodes", BT_GENERATE_NODES_MAX, &node_n) ||
		!parse_count(invocation, "pods", BT_GENERATE_PODS_MAX, &options.pod_n) ||
		!parse_profiles(invocation, &options.profiles)) {
		return BT_EXIT_USAGE;
	}
	int status = choose_gangs(invocation, &options);
	if (status != BT_EXIT_OK) {
		return status;
	}
	options.node_n = (uint32_t)node_n;
	cmd_generate_begin(&writer, invocation, node_n + options.pod_n);
	bt_generate(&options, take, &writer);
	return cmd_generate_end(&writer);
}
