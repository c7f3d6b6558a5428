/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a trace of nodes and as one of pods.
 */
#include <stddef.h>
#include <stdint.h>

#include "engine/base/check.h"
#include "tools/offline/trace/openb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *context, const char *message)
{
	size_t *diagnosis_n = context;

	BT_REQUIRE(message[0] != 0);
	(*diagnosis_n)++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str text = {(const char *)data, size};

	for (int strict = 0; strict < 2; strict++) {
		size_t diagnosis_n = 0;
		struct bt_openb_reader reader = {
			.strict = strict, .diagnose = count, .context = &diagnosis_n};
		struct bt_trace trace = {0};
		enum bt_status nodes = bt_openb_parse_nodes(&reader, "nodes", text, &trace);
		enum bt_status pods = bt_openb_parse_pods(&reader, "pods", text, &trace);

		/* Every rejected or skipped line has been reported. */
		BT_REQUIRE(diagnosis_n >= trace.skipped_n);
		BT_REQUIRE((nodes == BT_OK && pods == BT_OK) || diagnosis_n > 0);
		for (size_t i = 1; i < trace.pod_n; i++) {
			BT_REQUIRE(trace.pods[i - 1].create_s <= trace.pods[i].create_s);
		}
		bt_trace_fini(&trace);
	}
	return 0;
}
