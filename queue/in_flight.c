/* SPDX-License-Identifier: Apache-2.0
 * Pods in flight, and the events during their cycles: events are kept in order of arrival, from the oldest
 * that a pod in flight needs. When there are too many they are dropped, and the pods in flight are retried as
 * if each event had helped.
 */
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/compiler.h"
#include "engine/base/mem.h"
#include "queue/queue_int.h"

void bt_in_flight_begin(struct bt_queue *queue, uint32_t slot_ix)
{
	struct bt_slot *slot = &queue->slots[slot_ix];

	BT_INVARIANT(slot->where == BT_WAIT_NOWHERE || slot->where == BT_WAIT_ACTIVE);
	slot->where = BT_WAIT_IN_FLIGHT;
	slot->attempts++;
	slot->log_begin = queue->log_begin + queue->log_n;
	slot->missed = slot->patient = false;
	if (BT_UNLIKELY(queue->flying_n == queue->flying_cap)) {
		queue->flying = bt_mem_grow(
			queue->flying, queue->flying_n, &queue->flying_cap, sizeof(*queue->flying));
	}
	queue->flying[queue->flying_n++] = slot_ix;
	queue->counts.in_flight++;
	BT_INVARIANT(queue->counts.in_flight == queue->flying_n);
}

/* Drops events that no pod in flight needs. */
static BT_NOINLINE void prune(struct bt_queue *queue)
{
	uint64_t begin = queue->log_begin + queue->log_n;

	BT_INVARIANT(begin >= queue->log_begin && begin - queue->log_begin <= queue->log_n);
	for (size_t i = 0; i < queue->flying_n; i++) {
		const struct bt_slot *slot = &queue->slots[queue->flying[i]];

		begin = slot->log_begin < begin ? slot->log_begin : begin;
	}
	size_t n = (size_t)(begin - queue->log_begin);
	queue->log_n -= n;
	memmove(queue->log, queue->log + n, queue->log_n * sizeof(*queue->log));
	queue->log_begin = begin;
}

void bt_in_flight_end(struct bt_queue *queue, uint32_t slot_ix)
{
	BT_INVARIANT(queue->flying_n > 0);
	size_t i = 0;

	while (queue->flying[i] != slot_ix) {
		BT_INVARIANT(i + 1 < queue->flying_n);
		i++;
	}
	queue->flying[i] = queue->flying[--queue->flying_n];
	queue->counts.in_flight--;
	BT_INVARIANT(queue->counts.in_flight == queue->flying_n);
	if (queue->log_n) {
		prune(queue);
	}
}

static void overflow(struct bt_queue *queue)
{
	queue->log_begin += queue->log_n;
	queue->log_n = 0;
	queue->counts.overflow_n++;
	for (size_t i = 0; i < queue->flying_n; i++) {
		struct bt_slot *slot = &queue->slots[queue->flying[i]];

		slot->missed = true;
		slot->log_begin = queue->log_begin;
	}
}

void bt_in_flight_log(struct bt_queue *queue, const struct bt_cluster_event *event, uint32_t only)
{
	uint32_t limit = queue->options.log_limit ? queue->options.log_limit : BT_QUEUE_LOG_LIMIT;

	if (queue->flying_n == 0) {
		return;
	}
	if (queue->log_n >= limit) {
		overflow(queue);
	}
	if (queue->log_n == queue->log_cap &&
		!bt_mem_may_use(BT_MEM_EVENT, (queue->log_cap + 1) * sizeof(*queue->log))) {
		overflow(queue);
		return; /* it counts as missed */
	}
	queue->log = bt_mem_grow(queue->log, queue->log_n, &queue->log_cap, sizeof(*queue->log));
	queue->log[queue->log_n++] = (struct bt_logged){*event, only};
	BT_INVARIANT(queue->log_n <= limit);
	if (queue->options.observer.kept) {
		queue->options.observer.kept(queue->options.observer.context, bt_cause_of(event, only));
	}
}
