/* SPDX-License-Identifier: Apache-2.0
 * A trace as events.
 */
#include "tools/offline/simulate/replay.h"

#include <stdlib.h>

#include "engine/base/mem.h"

#define NS_PER_S INT64_C(1000000000)

/* A pod's end. */
struct bt_departure {
	int64_t at_s;
	uint32_t pod; /* in the trace */
};

static int by_time(const void *a, const void *b)
{
	const struct bt_departure *x = a, *y = b;

	if (x->at_s != y->at_s) {
		return x->at_s < y->at_s ? -1 : 1;
	}
	return x->pod < y->pod ? -1 : x->pod > y->pod;
}

void bt_trace_player_init(struct bt_trace_player *replay, const struct bt_trace *trace)
{
	*replay = (struct bt_trace_player){.trace = trace};
	replay->departures = bt_mem_zalloc(trace->pod_n, sizeof(*replay->departures));
	for (size_t i = 0; i < trace->pod_n; i++) {
		int64_t gone_s = trace->pods[i].delete_s, come_s = trace->pods[i].create_s;

		/* A pod lives for at least a second, so that its creation precedes its deletion. */
		replay->departures[i] =
			(struct bt_departure){gone_s > come_s ? gone_s : come_s + 1, (uint32_t)i};
	}
	if (trace->pod_n) {
		qsort(replay->departures, trace->pod_n, sizeof(*replay->departures), by_time);
	}
}

void bt_trace_player_fini(struct bt_trace_player *replay)
{
	bt_mem_free(replay->departures);
}

static int64_t moment_of(int64_t second)
{
	return second == INT64_MAX ? INT64_MAX : (BT_TRACE_EPOCH_S + second) * NS_PER_S;
}

static size_t pod_n(const struct bt_trace_player *replay)
{
	return replay->trace ? replay->trace->pod_n : 0;
}

static int64_t next_arrival(const struct bt_trace_player *replay)
{
	return replay->come < pod_n(replay) ? replay->trace->pods[replay->come].create_s : INT64_MAX;
}

static int64_t next_departure(const struct bt_trace_player *replay)
{
	return replay->gone < pod_n(replay) ? replay->departures[replay->gone].at_s : INT64_MAX;
}

int64_t bt_trace_player_next_ns(const struct bt_trace_player *replay)
{
	int64_t come = next_arrival(replay), gone = next_departure(replay);

	return moment_of(come < gone ? come : gone);
}

/* Nothing of the object is copied: the trace stays. */
static struct bt_watch_event *watch_event_of(const struct bt_trace_player *replay,
	struct bt_pipeline *pipeline, enum bt_watch_event_kind kind, size_t pod, int64_t second)
{
	struct bt_watch_event *watch_event = bt_pipeline_get_event(pipeline, 0, kind);
	const struct bt_object *object = &replay->trace->pods[pod].object;

	if (kind == BT_WATCH_EVENT_APPLY) {
		watch_event->object = *object;
	} else {
		watch_event->object = (struct bt_object){.kind = BT_KIND_POD,
			.meta = {.namespace_ = object->meta.namespace_, .name = object->meta.name}};
	}
	watch_event->at_ns = moment_of(second);
	watch_event->tag = pod + 1;
	return watch_event;
}

struct bt_watch_event *bt_trace_player_next(struct bt_trace_player *replay, struct bt_pipeline *pipeline)
{
	int64_t come = next_arrival(replay), gone = next_departure(replay);

	if (replay->ended) {
		return NULL;
	}
	if (come == INT64_MAX && gone == INT64_MAX) {
		replay->ended = true;
		return bt_watch_event_create(BT_WATCH_EVENT_SYNCED);
	}
	if (gone <= come) {
		return watch_event_of(replay, pipeline, BT_WATCH_EVENT_DELETE,
			replay->departures[replay->gone++].pod, gone);
	}
	return watch_event_of(replay, pipeline, BT_WATCH_EVENT_APPLY, replay->come++, come);
}
