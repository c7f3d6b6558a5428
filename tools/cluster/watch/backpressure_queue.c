/* SPDX-License-Identifier: Apache-2.0
 * Watch events on their way to the pipeline.
 */
#include "tools/cluster/watch/backpressure_queue_int.h"

#include "engine/base/mem.h"

/* Returns false when there is no room. */
static bool feed(struct bt_backpressure_queue *outbox, struct bt_watch_event *watch_event)
{
	enum bt_status status = outbox->closed
					? BT_CONFLICT
					: bt_pipeline_feed(outbox->pipeline, outbox->source, &watch_event, 0);

	if (status == BT_FULL || status == BT_NO_MEMORY) {
		return false;
	}
	if (status != BT_OK) {
		outbox->closed = true;
		bt_watch_event_destroy(watch_event);
	}
	return true;
}

static void widen(struct bt_backpressure_queue *outbox)
{
	uint32_t cap = outbox->cap ? outbox->cap * 2 : 64;
	struct bt_watch_event **wider = bt_mem_zalloc(cap, sizeof(*wider));

	for (uint32_t i = 0; i < outbox->n; i++) {
		wider[i] = outbox->waiting[(outbox->first + i) % outbox->cap];
	}
	bt_mem_free(outbox->waiting);
	outbox->waiting = wider;
	outbox->cap = cap;
	outbox->first = 0;
}

void bt_backpressure_queue_put(struct bt_backpressure_queue *outbox, struct bt_watch_event *watch_event)
{
	if (outbox->n == 0 && feed(outbox, watch_event)) {
		return;
	}
	if (outbox->n == outbox->cap) {
		widen(outbox);
	}
	outbox->waiting[(outbox->first + outbox->n++) % outbox->cap] = watch_event;
}

void bt_backpressure_queue_drain(struct bt_backpressure_queue *outbox)
{
	while (outbox->n && feed(outbox, outbox->waiting[outbox->first])) {
		outbox->first = (outbox->first + 1) % outbox->cap;
		outbox->n--;
	}
}

void bt_backpressure_queue_fini(struct bt_backpressure_queue *outbox)
{
	for (uint32_t i = 0; i < outbox->n; i++) {
		bt_watch_event_destroy(outbox->waiting[(outbox->first + i) % outbox->cap]);
	}
	bt_mem_free(outbox->waiting);
	outbox->waiting = NULL;
	outbox->n = outbox->cap = 0;
}
