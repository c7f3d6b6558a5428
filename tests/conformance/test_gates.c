/* SPDX-License-Identifier: Apache-2.0
 * Compares the table of feature gates with a kube-scheduler's: the same names, each with its stage, its
 * default, and whether it is locked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "answers.h"
#include "engine/model/gate.h"

static const char *const stages[] = {"ALPHA", "BETA", "GA", "DEPRECATED"};

/* Writes our gate in the format of kube-scheduler's. */
static void write_gate(struct bt_buf *out, enum bt_gate gate, const struct bt_gate_spec *spec)
{
	bt_buf_clear(out);
	bt_buf_printf(out, "{\"name\":\"%s\",\"stage\":\"%s\",\"on\":%s%s}", bt_gate_name(gate),
		stages[spec->stage], spec->on ? "true" : "false", spec->locked ? ",\"locked\":true" : "");
}

int main(int argc, char **argv)
{
	struct bt_input_file file;
	struct bt_buf ours = {0};
	uint32_t n = 0, wrong_n = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: test_gates RELEASE GATES\n");
		return 2;
	}
	const struct bt_release *release = answers_release(argv[1]);
	struct bt_input *input = answers_open(argv[2], &file);

	/* Both are sorted by name. */
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		const struct bt_gate_spec *spec = bt_gate_spec((enum bt_gate)gate, release);

		if (bt_gate_find(bt_str(bt_gate_name((enum bt_gate)gate)), release) == BT_GATE_N) {
			continue;
		}
		struct bt_str wanted = answers_next_line(&file.text);

		write_gate(&ours, (enum bt_gate)gate, spec);
		n++;
		if (!bt_str_eq(bt_buf_view(&ours), wanted)) {
			fprintf(stderr, "ours:             %s\nkube-scheduler's: %.*s\n", ours.ptr,
				BT_STR_ARG(wanted));
			wrong_n++;
			break; /* later lines may be shifted */
		}
	}
	if (file.text.len && !wrong_n) {
		fprintf(stderr, "kube-scheduler has more gates: %.*s\n", BT_STR_ARG(file.text));
		wrong_n++;
	}
	fprintf(stderr, "%u gates of %s agree\n", n - wrong_n, argv[1]);
	bt_buf_fini(&ours);
	bt_input_destroy(input);
	return wrong_n || !n;
}
