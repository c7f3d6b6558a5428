/* SPDX-License-Identifier: Apache-2.0
 * Journals of simulations.
 */
#include "tools/kube/config/recording.h"

#include "plugins/out_of_tree.h"
#include "plugins/registry.h"
#include "tools/cli/command.h"

#include "tools/kube/config/config_decode.h"
#include "tools/kube/config/config_encode.h"
#include "tools/kube/objects/watch_event.h"

/* ---- the configuration ---- */

/* The loaded out-of-tree plugins, each as a tab, its name, a tab, and its identity. */
static void write_plugins(struct bt_buf *out)
{
	for (uint32_t id = BT_PLUGIN_IN_TREE; id < bt_plugin_n(); id++) {
		bt_buf_printf(out, "\t%s\t", bt_plugin_at(id)->name);
		bt_out_of_tree_identity(id, out);
	}
}

/* Is the plugin loaded with which the journal was written? */
static bool check_plugin(struct bt_str name, struct bt_str identity, struct bt_buf *out_error)
{
	uint32_t id = bt_plugin_find(name);
	struct bt_buf here = {0};

	if (id == BT_PLUGIN_NONE) {
		bt_buf_printf(out_error,
			"the journal was written with plugin \"%.*s\" (%.*s), which is not loaded: give its "
			"file "
			"with --plugin",
			BT_STR_ARG(name), BT_STR_ARG(identity));
		return false;
	}
	bt_out_of_tree_identity(id, &here);
	bool same = bt_str_eq(bt_buf_view(&here), identity);
	if (!same) {
		bt_buf_printf(out_error,
			"the journal was written with another plugin \"%.*s\": there %.*s, here %.*s; give "
			"the "
			"file that it was written with",
			BT_STR_ARG(name), BT_STR_ARG(identity), BT_STR_ARG(bt_buf_view(&here)));
	}
	bt_buf_fini(&here);
	return same;
}

/* Removes and returns the text up to a tab. */
static struct bt_str take_field(struct bt_str *rest)
{
	size_t end = bt_str_find(*rest, '\t', 0);
	struct bt_str field = bt_str_sub(*rest, 0, end);

	*rest = bt_str_sub(*rest, end < rest->len ? end + 1 : end, rest->len);
	return field;
}

static bool check_plugins(struct bt_str list, struct bt_buf *out_error)
{
	while (list.len) {
		struct bt_str name = take_field(&list), identity = take_field(&list);

		if (!check_plugin(name, identity, out_error)) {
			return false;
		}
	}
	return true;
}

/* The release precedes the gates, in the same syntax. */
#define RELEASE "kubernetes="

/* Removes the release from a list of gates. Returns: NULL: unknown, with the reason. */
static const struct bt_release *take_release(struct bt_str *gates, struct bt_buf *out_error)
{
	struct bt_str name = bt_str(BT_RELEASE_UNRECORDED_TEXT);

	if (bt_str_starts(*gates, RELEASE)) {
		size_t end = bt_str_find(*gates, ',', 0);

		name = bt_str_sub(*gates, strlen(RELEASE), end);
		*gates = bt_str_sub(*gates, end < gates->len ? end + 1 : end, gates->len);
	}
	const struct bt_release *release = bt_release_find(name);
	if (!release) {
		bt_buf_printf(out_error,
			"the journal was written with decisions of Kubernetes %.*s, which are not known "
			"here; "
			"replay it with the berth that wrote it",
			BT_STR_ARG(name));
	}
	return release;
}

/* A line with the release, the gates that are not at its defaults, and plugins; then the configuration as
 * JSON. */
static void write_config(const struct bt_config *config, struct bt_buf *out)
{
	const struct bt_release *release = bt_release_binary(config->gates.release);

	bt_buf_printf(out, RELEASE "%s", release->name);

	for (int i = 0; i < BT_GATE_N; i++) {
		bool on = bt_gate_spec((enum bt_gate)i, release)->on;

		if (config->gates.on[i] != on) {
			bt_buf_printf(out, ",%s=%s", bt_gate_name((enum bt_gate)i), on ? "false" : "true");
		}
	}
	write_plugins(out);
	bt_buf_char(out, '\n');
	bt_config_encode(config, out);
}

enum bt_status bt_recording_config(struct bt_str text, struct bt_config *out_config, struct bt_buf *out_error)
{
	size_t end = bt_str_find(text, '\n', 0);
	struct bt_str rest = bt_str_sub(text, 0, end), on = take_field(&rest);
	struct bt_gates gates;

	const struct bt_release *release = take_release(&on, out_error);
	if (!release) {
		return BT_NOT_FOUND;
	}
	bt_gates_init(&gates, release);
	if (!check_plugins(rest, out_error)) {
		return BT_NOT_FOUND;
	}
	if (end == text.len || (on.len && bt_gates_parse(&gates, on, out_error) != BT_OK)) {
		bt_buf_text(out_error, " (feature gates of the journal's configuration)");
		return BT_INVALID;
	}
	bt_config_init(out_config, &gates);
	return bt_config_load(
		out_config, "the journal's configuration", bt_str_sub(text, end + 1, text.len), out_error);
}

/* ---- recording ---- */

#define RING_BYTES (4u << 20)

/* Context: the journal's thread. */
static bool write_bytes(void *context, const char *bytes, size_t n)
{
	struct bt_recording *recording = context;
	struct bt_output *output = &recording->output;

	bt_output_add(output, bytes, n);
	bt_output_flush(output); /* even if the simulation fails later */
	bt_store_relaxed(&recording->error, output->error);
	return !bt_output_failed(output);
}

enum bt_status bt_recording_open(struct bt_recording *recording, const char *path, enum bt_output_way way,
	const struct bt_config *config)
{
	if (bt_output_open(path, way, &recording->output) != BT_OK) {
		return BT_IO;
	}
	write_config(config, &recording->config);
	const struct bt_journal_options options = {.write = write_bytes,
		.context = recording,
		.codec = bt_journal_json(NULL),
		.config = bt_buf_view(&recording->config),
		.ring_bytes = RING_BYTES};
	recording->journal = bt_journal_create(&options);
	return BT_OK;
}

static bool keep_bytes(void *context, const char *bytes, size_t n)
{
	bt_buf_add(context, bytes, n);
	return true;
}

void bt_recording_open_memory(
	struct bt_recording *recording, struct bt_buf *out_bytes, const struct bt_config *config)
{
	write_config(config, &recording->config);
	const struct bt_journal_options options = {.write = keep_bytes,
		.context = out_bytes,
		.codec = bt_journal_json(NULL),
		.config = bt_buf_view(&recording->config)};
	recording->journal = bt_journal_create(&options);
}

void bt_recording_close_memory(struct bt_recording *recording)
{
	(void)bt_journal_finish(recording->journal);
	bt_journal_destroy(recording->journal);
	bt_buf_fini(&recording->config);
	recording->journal = NULL;
}

int bt_recording_close(struct bt_recording *recording, bool whole)
{
	if (!recording->journal) {
		return BT_EXIT_OK;
	}
	/* The output remembers its failures. */
	(void)bt_journal_finish(recording->journal);
	bt_journal_destroy(recording->journal);
	bt_buf_fini(&recording->config);
	recording->journal = NULL;
	if (whole) {
		return bt_output_close(&recording->output);
	}
	bt_output_drop(&recording->output);
	return BT_EXIT_OK;
}
