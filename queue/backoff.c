/* SPDX-License-Identifier: Apache-2.0
 * Pods in backoff: a heap by expiry and then by the order of PrioritySort, and one for those that failed with
 * an error, by expiry alone. Source: backend/queue backoff_queue, v1.36.3.
 */
#include <math.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/wrap.h"
#include "queue/queue_int.h"

/* Whole seconds, so that pods of one window compare by priority. */
static int64_t align(const struct bt_queue *queue, int64_t time_ns)
{
	if (!queue->options.pop_from_backoff) {
		return time_ns;
	}
	int64_t rest = time_ns % BT_QUEUE_SECOND;
	return bt_wrap_sub(time_ns, rest < 0 ? rest + BT_QUEUE_SECOND : rest);
}

/* The maximum backoff. For a PodGroup it grows with the square root of its pods. */
static int64_t most_of(const struct bt_queue *queue, const struct bt_slot *slot)
{
	uint32_t pod_n = bt_slot_size(queue, slot);

	if (pod_n <= 1) {
		return queue->options.max_backoff_ns;
	}
	double most = (double)queue->options.max_backoff_ns * sqrt((double)pod_n);
	return most < 0x1p63 ? (int64_t)most : INT64_MAX;
}

int64_t bt_pod_backoff_expiry(const struct bt_queue *queue, const struct bt_slot *slot)
{
	uint32_t count = slot->error_n ? slot->error_n : slot->unschedulable_n;
	int64_t most = most_of(queue, slot), wait = queue->options.initial_backoff_ns;

	if (most == 0 || count == 0) {
		return BT_EXPIRED;
	}
	if (count > 62 || wait > most >> (count - 1)) {
		wait = most;
	} else {
		BT_INVARIANT(wait >= 0 && wait <= most);
		wait <<= count - 1;
	}
	int64_t expiry;
	return __builtin_add_overflow(slot->timestamp_ns, wait, &expiry) ? INT64_MAX : align(queue, expiry);
}

bool bt_pod_backoff_lasts(const struct bt_queue *queue, const struct bt_slot *slot, int64_t now_ns)
{
	return slot->expiry_ns != BT_EXPIRED && slot->expiry_ns >= align(queue, now_ns);
}

bool bt_pod_backoff_before(
	const struct bt_queue *queue, const struct bt_slot *a, const struct bt_slot *b, bool error)
{
	int32_t first = queue->active.kinds[a->kind].kind.priority,
		second = queue->active.kinds[b->kind].kind.priority;

	if (a->expiry_ns != b->expiry_ns) {
		return a->expiry_ns < b->expiry_ns;
	}
	if (!error && !queue->options.pop_from_backoff) {
		return a->order < b->order;
	}
	if (first != second) {
		return first > second;
	}
	return a->timestamp_ns != b->timestamp_ns ? a->timestamp_ns < b->timestamp_ns : a->order < b->order;
}

static void backoff_put(struct bt_queue *queue, struct bt_pod_backoff *heap, size_t at, uint32_t slot)
{
	heap->slots[at] = slot;
	queue->slots[slot].heap_ix = (uint32_t)at;
}

static bool before(const struct bt_queue *queue, const struct bt_pod_backoff *heap, uint32_t a, uint32_t b)
{
	return bt_pod_backoff_before(queue, &queue->slots[a], &queue->slots[b], heap->error);
}

static void up(struct bt_queue *queue, struct bt_pod_backoff *heap, size_t at)
{
	uint32_t slot = heap->slots[at];

	while (at > 0 && before(queue, heap, slot, heap->slots[(at - 1) / 2])) {
		backoff_put(queue, heap, at, heap->slots[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	backoff_put(queue, heap, at, slot);
	BT_INVARIANT(at == 0 || !before(queue, heap, slot, heap->slots[(at - 1) / 2]));
}

static void down(struct bt_queue *queue, struct bt_pod_backoff *heap, size_t at)
{
	uint32_t slot = heap->slots[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < heap->n && before(queue, heap, heap->slots[child + 1], heap->slots[child])) {
			child++;
		}
		if (child >= heap->n || !before(queue, heap, heap->slots[child], slot)) {
			break;
		}
		backoff_put(queue, heap, at, heap->slots[child]);
		at = child;
	}
	backoff_put(queue, heap, at, slot);
	BT_INVARIANT(2 * at + 1 >= heap->n || !before(queue, heap, heap->slots[2 * at + 1], slot));
}

void bt_pod_backoff_push(struct bt_queue *queue, struct bt_pod_backoff *heap, uint32_t slot)
{
	heap->slots = bt_mem_grow(heap->slots, heap->n, &heap->cap, sizeof(*heap->slots));
	backoff_put(queue, heap, heap->n++, slot);
	up(queue, heap, heap->n - 1);
	BT_INVARIANT(heap->slots[queue->slots[slot].heap_ix] == slot);
}

void bt_pod_backoff_remove(struct bt_queue *queue, struct bt_pod_backoff *heap, uint32_t slot)
{
	size_t at = queue->slots[slot].heap_ix;
	uint32_t last = heap->slots[--heap->n];

	BT_INVARIANT(at <= heap->n && (last == slot || heap->slots[at] == slot));
	if (last != slot) {
		backoff_put(queue, heap, at, last);
		up(queue, heap, at);
		down(queue, heap, queue->slots[last].heap_ix);
	}
}
