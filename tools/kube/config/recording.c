/* SPDX-License-Identifier: Apache-2.0
 * Journals of simulations.
 */
#include "tools/kube/config/recording.h"

#include "tools/cli/command.h"

#include "tools/kube/config/config_decode.h"
#include "tools/kube/config/config_encode.h"
#include "tools/kube/objects/watch_event.h"

/* ---- the configuration ---- */

/* A line with the gates that are not at their defaults, then the configuration as JSON. */
static void write_config(const struct bt_config *config, struct bt_buf *out)
{
	const char *between = "";

	for (int i = 0; i < BT_GATE_N; i++) {
		bool on = bt_gate_spec((enum bt_gate)i, config->gates.release)->on;

		if (config->gates.on[i] != on) {
			bt_buf_printf(out, "%s%s=%s", between, bt_gate_name((enum bt_gate)i),
				on ? "false" : "true");
			between = ",";
		}
	}
	bt_buf_char(out, '\n');
	bt_config_encode(config, out);
}

enum bt_status bt_recording_config(struct bt_str text, struct bt_config *out_config, struct bt_buf *out_error)
{
	size_t end = bt_str_find(text, '\n', 0);
	struct bt_gates gates;

	bt_gates_init(&gates, bt_release_default());
	if (end == text.len ||
		(end && bt_gates_parse(&gates, bt_str_sub(text, 0, end), out_error) != BT_OK)) {
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
	bt_output_flush(output); /* whatever becomes of the simulation */
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
