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

struct bt_stages *bt_stages_create(void)
{
	return bt_mem_column(1, sizeof(struct bt_stages));
}

void bt_stages_merge(struct bt_stages *stages, const struct bt_stages *other)
{
	for (int i = 0; i < BT_STAGE_N; i++) {
		bt_histogram_merge(&stages->histograms[i], &other->histograms[i]);
	}
}

void bt_stages_subtract(struct bt_stages *stages, const struct bt_stages *earlier)
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
