/* SPDX-License-Identifier: Apache-2.0
 * Feeding a pipeline.
 */
#include "tools/kube/objects/feeder.h"

#include "engine/base/mem.h"
#include "tools/format/object_reader.h"

static enum bt_status feed(struct bt_feeder *feeder, struct bt_watch_event *watch_event)
{
	/* Counted first, so that bt_feeders_are_taken is not true too early. */
	bt_add_relaxed(&feeder->fed_n, 1u);
	enum bt_status status = bt_pipeline_feed(feeder->pipeline, feeder->source, &watch_event, BT_FOREVER);

	if (status != BT_OK) {
		bt_sub_relaxed(&feeder->fed_n, 1u);
		bt_watch_event_destroy(watch_event);
	}
	return status;
}

enum bt_status bt_feeder_hand_over(
	struct bt_feeder *feeder, enum bt_watch_event_kind kind, const struct bt_object *object)
{
	struct bt_watch_event *watch_event = bt_pipeline_get_event(feeder->pipeline, feeder->source, kind);

	watch_event->object = *object;
	bt_object_own(&watch_event->object, &watch_event->arena);
	if (!feeder->holds) {
		return feed(feeder, watch_event);
	}
	feeder->held = bt_mem_grow(feeder->held, feeder->held_n, &feeder->held_cap, sizeof(*feeder->held));
	feeder->held[feeder->held_n++] = watch_event;
	return BT_OK;
}

bool bt_feeders_are_taken(const struct bt_feeder *feeders, uint32_t n)
{
	uint64_t fed_n = 0;

	for (uint32_t i = 0; i < n; i++) {
		fed_n += bt_load_acquire(&feeders[i].fed_n);
	}
	const struct bt_pipeline_counts counts = bt_pipeline_counts(feeders[0].pipeline);
	return counts.applied_n + counts.deleted_n + counts.stale_n >= fed_n;
}

static void finish(void *context, struct bt_engine *engine)
{
	bt_admission_finish(context, engine);
}

enum bt_status bt_feeder_finish_admission(struct bt_feeder *feeder, struct bt_admission *admission)
{
	enum bt_status status = BT_OK;

	feeder->holds = true;
	bt_pipeline_call(feeder->pipeline, finish, admission);
	feeder->holds = false;
	for (size_t i = 0; i < feeder->held_n; i++) {
		enum bt_status fed = feed(feeder, feeder->held[i]);

		status = status == BT_OK ? fed : status;
	}
	feeder->held_n = 0;
	return status;
}

void bt_feeder_fini(struct bt_feeder *feeder)
{
	bt_mem_free(feeder->held);
}
