/* SPDX-License-Identifier: Apache-2.0
 * Reading the scheduler's configuration.
 */
#include "tools/kube/config/config_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/cli/output.h"
#include "tools/cli/message.h"
#include "tools/format/input.h"
#include "tools/kube/config/config_decode.h"
#include "tools/kube/config/config_encode.h"
#include "tools/kube/config/plugin_file.h"

/* Source: colonSeparatedMultimapStringString, v1.36.3: gates may have the component prefix "kube:". */
static void drop_component(const char *text, struct bt_buf *out)
{
	bt_buf_clear(out);
	for (struct bt_str rest = bt_str(text); rest.len;) {
		size_t end = bt_str_find(rest, ',', 0);
		struct bt_str item = bt_str_sub(rest, 0, end);

		bt_buf_text(out, out->len ? "," : "");
		bt_buf_str(out, bt_str_starts(item, "kube:") ? bt_str_sub(item, 5, item.len) : item);
		rest = bt_str_sub(rest, end < rest.len ? end + 1 : end, rest.len);
	}
}

/* The release's gates by number, without those that it lacks. */
static const char *gate_name(const void *context, size_t ix)
{
	const struct bt_release *release = context;

	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		if (bt_gate_spec((enum bt_gate)gate, release)->stage != BT_GATE_ABSENT && ix-- == 0) {
			return bt_gate_name((enum bt_gate)gate);
		}
	}
	return NULL;
}

/* A gate of a later release, perhaps of one that is only announced. */
static void report_later_gate(uint32_t since, struct bt_buf *error)
{
	char name[16];

	snprintf(name, sizeof(name), "1.%" PRIu32, since);
	bt_buf_printf(error, "; Kubernetes %s brings it", name);
	bt_buf_text(
		error, bt_release_find(bt_str(name)) ? "" : ", and is not supported yet: leave the gate out");
}

/* Suggests the nearest of hundreds of gates. */
static int report_gates(
	const struct bt_invocation *invocation, const struct bt_release *release, struct bt_buf *error)
{
	static const char unknown[] = "unrecognized feature gate: ";

	if (bt_str_starts(bt_buf_view(error), unknown)) {
		const char *name = error->ptr + strlen(unknown);
		const char *near = bt_name_suggest(name, gate_name, release);
		uint32_t since = bt_gate_since(bt_str(name));

		if (since > release->minor) {
			report_later_gate(since, error);
		} else {
			bt_buf_printf(error,
				near ? "; did you mean %s?" : "; kube-scheduler v%s has none of that name",
				near ? near : release->name);
		}
	}
	return bt_invocation_wrong(invocation->command, "--feature-gates: %s", error->ptr);
}

int bt_configuration_release(const struct bt_invocation *invocation, const struct bt_release **out_release)
{
	return bt_configuration_release_of(invocation, "kubernetes-version", out_release);
}

int bt_configuration_release_of(
	const struct bt_invocation *invocation, const char *option, const struct bt_release **out_release)
{
	const char *name = bt_invocation_text(invocation, option);
	struct bt_buf known = {0};

	*out_release = bt_release_find(bt_str(name));
	if (*out_release) {
		return BT_EXIT_OK;
	}
	bt_release_list(&known);
	int status = bt_invocation_wrong(
		invocation->command, "--%s: '%s' is not supported; use %s", option, name, known.ptr);
	bt_buf_fini(&known);
	return status;
}

bool bt_configuration_try_gates(const struct bt_invocation *invocation, const char *option,
	const struct bt_release *release, struct bt_gates *out_gates, struct bt_buf *out_error)
{
	struct bt_buf list = {0};
	bool good = true;
	const char *text;

	bt_gates_init(out_gates, release);
	for (size_t i = 0; good && (text = bt_invocation_item(invocation, option, i)); i++) {
		drop_component(text, &list);
		good = !list.len || bt_gates_parse(out_gates, bt_buf_view(&list), out_error) == BT_OK;
	}
	bt_buf_fini(&list);
	return good;
}

int bt_configuration_gates_of(
	const struct bt_invocation *invocation, const struct bt_release *release, struct bt_gates *out_gates)
{
	struct bt_buf error = {0};
	int status = BT_EXIT_OK;

	if (!bt_configuration_try_gates(invocation, "feature-gates", release, out_gates, &error)) {
		status = report_gates(invocation, release, &error);
	}
	bt_buf_fini(&error);
	return status;
}

int bt_configuration_gates(const struct bt_invocation *invocation, struct bt_gates *out_gates)
{
	const struct bt_release *release;
	int status = bt_configuration_release(invocation, &release);

	return status ? status : bt_configuration_gates_of(invocation, release, out_gates);
}

int bt_configuration_plugins(const struct bt_invocation *invocation)
{
	struct bt_buf error = {0};
	int status = BT_EXIT_OK;
	const char *path;

	for (size_t i = 0; !status && (path = bt_invocation_item(invocation, "plugin", i)); i++) {
		if (bt_plugin_file_load(path, &error) != BT_OK) {
			bt_message("berth %s: --plugin %s\n", invocation->command->name, error.ptr);
			status = BT_EXIT_INPUT;
		}
	}
	bt_buf_fini(&error);
	return status;
}

static void config_file_diagnose(void *context, const struct bt_diagnosis *diagnosis)
{
	const struct bt_invocation *invocation = context;
	struct bt_buf text = {0};

	bt_diagnosis_text(diagnosis, &text);
	bt_message("berth %s: %s\n", invocation->command->name, text.ptr);
	bt_buf_fini(&text);
}

/* Is it upstream's error of a name that no plugin has? */
static bool lacks_plugin(const char *error)
{
	const char *behind = strstr(error, "Plugin \"");

	return behind && strstr(behind, "\" does not exist");
}

int bt_configuration_text(const struct bt_invocation *invocation, struct bt_buf *out_text)
{
	const char *path = bt_invocation_text(invocation, "config"), *command = invocation->command->name;
	struct bt_input_file file;
	struct stat about;
	int status = BT_EXIT_INPUT;

	bt_buf_clear(out_text);
	if (!path || !*path) {
		return BT_EXIT_OK;
	}
	if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
		bt_message("berth %s: %s: this is a directory; --config takes one file\n", command, path);
		return BT_EXIT_INPUT;
	}
	struct bt_input *input = bt_input_create(config_file_diagnose, (void *)invocation);

	if (bt_input_add(input, path) == BT_OK && bt_input_next(input, &file)) {
		bt_buf_str(out_text, file.text);
		status = BT_EXIT_OK;
	}
	bt_input_destroy(input);
	return status;
}

int bt_configuration_decode(const struct bt_invocation *invocation, const struct bt_gates *gates,
	const struct bt_buf *text, struct bt_config *out_config, struct bt_buf *out_error)
{
	const char *path = bt_invocation_text(invocation, "config");

	bt_config_init(out_config, gates);
	if (!path || !*path) {
		bt_config_default(out_config);
		return BT_EXIT_OK;
	}
	return bt_config_load(out_config, path, bt_buf_view(text), out_error) == BT_OK ? BT_EXIT_OK
										       : BT_EXIT_INPUT;
}

int bt_configuration_read_text(const struct bt_invocation *invocation, const struct bt_gates *gates,
	const struct bt_buf *text, struct bt_config *out_config)
{
	struct bt_buf error = {0};
	int status = bt_configuration_decode(invocation, gates, text, out_config, &error);

	if (status) {
		bt_message("berth %s: %s\n"
			   "Correct the file, or leave out --config for kube-scheduler's defaults.\n%s",
			invocation->command->name, error.ptr,
			lacks_plugin(error.ptr) ? "A plugin that is not berth's own has to be "
						  "loaded: --plugin FILE.so.\n"
						: "");
	}
	bt_buf_fini(&error);
	return status;
}

int bt_configuration_read_again(
	const struct bt_invocation *invocation, const struct bt_gates *gates, struct bt_config *out_config)
{
	struct bt_buf text = {0};
	int status = bt_configuration_text(invocation, &text);

	if (status) {
		bt_config_init(out_config, gates); /* so that it can be freed */
	} else {
		status = bt_configuration_read_text(invocation, gates, &text, out_config);
	}
	bt_buf_fini(&text);
	return status ? BT_EXIT_INPUT : BT_EXIT_OK;
}

int bt_configuration_read(
	const struct bt_invocation *invocation, const struct bt_gates *gates, struct bt_config *out_config)
{
	if (bt_configuration_plugins(invocation)) {
		bt_config_init(out_config, gates); /* so that it can be freed */
		return BT_EXIT_INPUT;
	}
	return bt_configuration_read_again(invocation, gates, out_config);
}

int bt_configuration_refused(const struct bt_invocation *invocation, struct bt_config_errors *errors)
{
	const char *path = bt_invocation_text(invocation, "config");
	struct bt_buf text = {0};

	bt_config_errors_text(errors, &text);
	bt_message("berth %s: %s: %s\n", invocation->command->name, path ? path : "--feature-gates",
		text.ptr ? text.ptr : "");
	bt_buf_fini(&text);
	bt_config_errors_fini(errors);
	return BT_EXIT_INPUT;
}

int bt_configuration_write(const struct bt_config *config, const char *path)
{
	struct bt_buf text = {0};

	bt_config_encode_whole(config, &text);
	bt_buf_char(&text, '\n');
	int status = bt_output_write(path, bt_buf_view(&text));

	bt_buf_fini(&text);
	return status;
}

enum bt_node_sampling bt_configuration_sampling(const char *word)
{
	if (strcmp(word, "upstream") == 0) {
		return BT_SAMPLING_UPSTREAM;
	}
	return strcmp(word, "all") == 0 ? BT_SAMPLING_NONE : BT_SAMPLING_AS_CONFIGURED;
}
