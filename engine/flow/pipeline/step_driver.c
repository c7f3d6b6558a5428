/* SPDX-License-Identifier: Apache-2.0
 * The pipeline's functions for step drivers. Context: the scheduling thread; inline, the only one.
 */
#include "engine/base/check.h"
#include "engine/flow/pipeline/pipeline_int.h"

const struct bt_watch_event *bt_pipeline_next_event(struct bt_pipeline *p)
{
	if (p->ahead_first == p->ahead_n) {
		p->ahead_first = 0;
		p->ahead_n = bt_pipeline_receive_events(p, p->ahead, BT_RUN);
	}
	return p->ahead_first < p->ahead_n ? p->ahead[p->ahead_first] : NULL;
}

/* Takes the event that bt_pipeline_next_event returned last. */
static struct bt_watch_event *next(struct bt_pipeline *p)
{
	BT_REQUIRE(p->ahead_first < p->ahead_n);
	return p->ahead[p->ahead_first++];
}

enum bt_status bt_pipeline_take_event(
	struct bt_pipeline *p, struct bt_watch_event **out_event, struct bt_taken *out_taken)
{
	*out_event = next(p);
	enum bt_status status = bt_pipeline_take(p, *out_event, out_taken);

	bt_pipeline_cross(bt_pipeline_schedule_stages(p), BT_STAGE_APPLY, *out_event);
	return status;
}

void bt_pipeline_drop_event(struct bt_pipeline *p)
{
	struct bt_watch_event *watch_event = next(p);

	BT_REQUIRE(watch_event->object.kind == BT_KIND_POD);
	bt_pipeline_end_event(p, watch_event);
}

enum bt_pipeline_cycle bt_pipeline_schedule_one(struct bt_pipeline *p, uint32_t *out_pod_ix)
{
	if (!bt_bind_requests_have_room(p) || !bt_pipeline_decisions_have_room(p)) {
		return BT_SCHEDULING_CYCLE_LATER;
	}
	*out_pod_ix = bt_engine_pop(p->engine);
	if (*out_pod_ix == BT_NO_POD) {
		return BT_SCHEDULING_CYCLE_NONE;
	}
	bt_schedule_one(&p->cycle, *out_pod_ix);
	bt_bind_requests_send_some(p);
	return BT_SCHEDULING_CYCLE_TAKEN;
}

bool bt_pipeline_schedule_pod(struct bt_pipeline *p, uint32_t pod_ix)
{
	if (bt_engine_take(p->engine, pod_ix) != BT_OK) {
		return false;
	}
	if (p->options.journal) {
		bt_journal_taken(p->options.journal, pod_ix);
	}
	bt_schedule_one(&p->cycle, pod_ix);
	return true;
}

void bt_pipeline_set_time(struct bt_pipeline *p, int64_t now_ns, enum bt_journal_time what)
{
	p->now_ns = now_ns;
	if (p->options.journal) {
		bt_journal_time(p->options.journal, now_ns, what);
	}
	if (what == BT_TIME_TICK) {
		bt_engine_tick(p->engine);
	} else if (what == BT_TIME_START) {
		bt_engine_start(p->engine);
	}
}

void bt_pipeline_remove_pod(struct bt_pipeline *p, uint32_t pod_ix)
{
	const struct bt_pod_ref pod = bt_pipeline_pod_ref(p, pod_ix);
	const struct bt_object object = {
		.kind = BT_KIND_POD, .meta = {.namespace_ = pod.namespace_, .name = pod.name}};

	if (p->options.journal) {
		bt_buf_clear(&p->encoded);
		bt_journal_encode(p->options.journal, &object, &p->encoded);
		bt_journal_object(p->options.journal, BT_JOURNAL_DELETE, bt_buf_view(&p->encoded));
	}
	bt_engine_delete_pod(p->engine, pod_ix);
}

enum bt_status bt_pipeline_apply_object(struct bt_pipeline *p, enum bt_watch_event_kind kind,
	const struct bt_object *object, struct bt_taken *out_taken)
{
	struct bt_cache *cache = bt_engine_cache(p->engine);
	struct bt_stage_latency *stages = bt_pipeline_schedule_stages(p);
	struct bt_watch_event watch_event = {
		.kind = kind, .object = *object, .border_ns = bt_stage_latency_now(stages)};
	enum bt_status status = BT_OK;

	bt_buf_clear(&p->encoded);
	watch_event.encoded = p->encoded;
	*out_taken = (struct bt_taken){.ix = BT_NO_POD};
	bt_pipeline_describe(p, cache->worker, &watch_event);
	if (bt_pipeline_number(p, &watch_event)) {
		bt_publisher_publish(cache->publisher);
		status = bt_pipeline_take(p, &watch_event, out_taken);
	} else {
		bt_delta_drop(&watch_event.delta);
	}
	p->encoded = watch_event.encoded;
	bt_pipeline_cross(stages, BT_STAGE_INGEST, &watch_event);
	return status;
}
