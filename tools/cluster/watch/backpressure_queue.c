/* SPDX-License-Identifier: Apache-2.0
 * Watch events that wait for the pipeline.
 */
#include "tools/cluster/watch/backpressure_queue_int.h"

#include "engine/base/mem.h"

/* Returns false when there is no room. */
static bool feed(struct bt_backpressure_queue *queue, struct bt_watch_event *watch_event)
{
	enum bt_status status = queue->closed
					? BT_CONFLICT
					: bt_pipeline_feed(queue->pipeline, queue->source, &watch_event, 0);

	if (status == BT_FULL || status == BT_NO_MEMORY) {
		return false;
	}
	if (status != BT_OK) {
		queue->closed = true;
		bt_watch_event_destroy(watch_event);
	}
	return true;
}

static void widen(struct bt_backpressure_queue *queue)
{
	uint32_t cap = queue->cap ? queue->cap * 2 : 64;
	struct bt_watch_event **wider = bt_mem_zalloc(cap, sizeof(*wider));

	for (uint32_t i = 0; i < queue->n; i++) {
		wider[i] = queue->waiting[(queue->first + i) % queue->cap];
	}
	bt_mem_free(queue->waiting);
	queue->waiting = wider;
	queue->cap = cap;
	queue->first = 0;
}

void bt_backpressure_queue_put(struct bt_backpressure_queue *queue, struct bt_watch_event *watch_event)
{
	if (queue->n == 0 && feed(queue, watch_event)) {
		return;
	}
	if (queue->n == queue->cap) {
		widen(queue);
	}
	queue->waiting[(queue->first + queue->n++) % queue->cap] = watch_event;
}

void bt_backpressure_queue_drain(struct bt_backpressure_queue *queue)
{
	while (queue->n && feed(queue, queue->waiting[queue->first])) {
		queue->first = (queue->first + 1) % queue->cap;
		queue->n--;
	}
}

void bt_backpressure_queue_fini(struct bt_backpressure_queue *queue)
{
	for (uint32_t i = 0; i < queue->n; i++) {
		bt_watch_event_destroy(queue->waiting[(queue->first + i) % queue->cap]);
	}
	bt_mem_free(queue->waiting);
	queue->waiting = NULL;
	queue->n = queue->cap = 0;
}
