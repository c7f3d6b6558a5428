/* SPDX-License-Identifier: Apache-2.0
 * Latencies of stages.
 */
#include "engine/flow/cycle/stage_latency.h"

#include "engine/base/mem.h"

static const struct {
	const char *name, *text;
} stages_known[BT_STAGE_N] = {
#define X(name, word, text) [BT_STAGE_##name] = {#word, text},
#include "engine/flow/cycle/stage_latency.def"
#undef X
};

struct bt_stage_latency *bt_stage_latency_create(void)
{
	return bt_mem_column(1, sizeof(struct bt_stage_latency));
}

void bt_stage_latency_merge(struct bt_stage_latency *stages, const struct bt_stage_latency *other)
{
	for (int i = 0; i < BT_STAGE_N; i++) {
		bt_histogram_merge(&stages->histograms[i], &other->histograms[i]);
	}
}

void bt_stage_latency_subtract(struct bt_stage_latency *stages, const struct bt_stage_latency *earlier)
{
	for (int i = 0; i < BT_STAGE_N; i++) {
		bt_histogram_subtract(&stages->histograms[i], &earlier->histograms[i]);
	}
}

const char *bt_stage_name(enum bt_stage stage)
{
	return stages_known[stage].name;
}

const char *bt_stage_text(enum bt_stage stage)
{
	return stages_known[stage].text;
}
