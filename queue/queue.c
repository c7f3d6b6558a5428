/* SPDX-License-Identifier: Apache-2.0
 * Stage 4: a binary heap of waiting pods; places outside it are lists. Each waiting pod knows where it stands.
 */
#include "queue/queue.h"

#include "engine/base/check.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"

struct waiter {
	int64_t timestamp_ns;
	uint64_t arrival;
	uint32_t pod_ix;
	int32_t priority;
};

/* Waiters of one kind: a heap for the active ones, in no order for the others. */
struct waiters {
	struct waiter *items;
	size_t n, cap;
};

#define WAIT_N (BT_WAIT_GATED + 1)

struct bt_queue {
	struct waiters places[WAIT_N];
	struct place {
		uint32_t at; /* index in items */
		uint8_t where; /* enum bt_wait + 1; 0: does not wait */
	} *where; /* by pod */
	size_t pod_cap;
	uint64_t arrivals;
};

struct bt_queue *bt_queue_create(void)
{
	return bt_mem_zalloc(1, sizeof(struct bt_queue));
}

void bt_queue_destroy(struct bt_queue *queue)
{
	if (!queue) {
		return;
	}
	for (int i = 0; i < WAIT_N; i++) {
		bt_mem_free(queue->places[i].items);
	}
	bt_mem_free(queue->where);
	bt_mem_free(queue);
}

static bool before(const struct waiter *a, const struct waiter *b)
{
	if (a->priority != b->priority) {
		return a->priority > b->priority;
	}
	if (a->timestamp_ns != b->timestamp_ns) {
		return a->timestamp_ns < b->timestamp_ns;
	}
	return a->arrival < b->arrival;
}

static void put(struct bt_queue *queue, enum bt_wait where, size_t at, struct waiter waiter)
{
	queue->places[where].items[at] = waiter;
	queue->where[waiter.pod_ix].at = (uint32_t)at;
	queue->where[waiter.pod_ix].where = (uint8_t)(where + 1);
}

static void sift_up(struct bt_queue *queue, size_t at, struct waiter waiter)
{
	struct waiter *heap = queue->places[BT_WAIT_ACTIVE].items;

	while (at > 0 && before(&waiter, &heap[(at - 1) / 2])) {
		put(queue, BT_WAIT_ACTIVE, at, heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(queue, BT_WAIT_ACTIVE, at, waiter);
}

static void sift_down(struct bt_queue *queue, size_t at, struct waiter waiter)
{
	struct waiters *active = &queue->places[BT_WAIT_ACTIVE];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < active->n && before(&active->items[child + 1], &active->items[child])) {
			child++;
		}
		if (child >= active->n || !before(&active->items[child], &waiter)) {
			break;
		}
		put(queue, BT_WAIT_ACTIVE, at, active->items[child]);
		at = child;
	}
	put(queue, BT_WAIT_ACTIVE, at, waiter);
}

static void enter(struct bt_queue *queue, struct waiter waiter, enum bt_wait where)
{
	struct waiters *place = &queue->places[where];

	place->items = bt_mem_grow(place->items, place->n, &place->cap, sizeof(*place->items));
	if (where == BT_WAIT_ACTIVE) {
		sift_up(queue, place->n++, waiter);
	} else {
		put(queue, where, place->n++, waiter);
	}
}

void bt_queue_push(struct bt_queue *queue, uint32_t pod_ix, int32_t priority, int64_t timestamp_ns, enum bt_wait where)
{
	while (pod_ix >= queue->pod_cap) {
		size_t old = queue->pod_cap;

		queue->where = bt_mem_grow(queue->where, old, &queue->pod_cap, sizeof(*queue->where));
		for (size_t i = old; i < queue->pod_cap; i++) {
			queue->where[i] = (struct place){0};
		}
	}
	BT_REQUIRE(queue->where[pod_ix].where == 0);
	enter(queue,
		(struct waiter){
			.timestamp_ns = timestamp_ns,
			.arrival = queue->arrivals++,
			.pod_ix = pod_ix,
			.priority = priority,
		},
		where);
}

/* Takes the waiter at a place out and closes the gap. */
static struct waiter take(struct bt_queue *queue, enum bt_wait where, size_t at)
{
	struct waiters *place = &queue->places[where];
	struct waiter out = place->items[at], last = place->items[--place->n];

	queue->where[out.pod_ix].where = 0;
	if (at == place->n) {
		return out;
	}
	if (where != BT_WAIT_ACTIVE) {
		put(queue, where, at, last);
	} else if (at > 0 && before(&last, &place->items[(at - 1) / 2])) {
		sift_up(queue, at, last);
	} else {
		sift_down(queue, at, last);
	}
	return out;
}

uint32_t bt_queue_pop(struct bt_queue *queue)
{
	if (queue->places[BT_WAIT_ACTIVE].n == 0) {
		return BT_QUEUE_EMPTY;
	}
	return take(queue, BT_WAIT_ACTIVE, 0).pod_ix;
}

enum bt_status bt_queue_remove(struct bt_queue *queue, uint32_t pod_ix)
{
	if (pod_ix >= queue->pod_cap || queue->where[pod_ix].where == 0) {
		return BT_NOT_FOUND;
	}
	take(queue, (enum bt_wait)(queue->where[pod_ix].where - 1), queue->where[pod_ix].at);
	return BT_OK;
}

void bt_queue_move_all(struct bt_queue *queue)
{
	struct waiters *from = &queue->places[BT_WAIT_UNSCHEDULABLE];

	while (from->n) {
		enter(queue, from->items[--from->n], BT_WAIT_ACTIVE);
	}
}

struct bt_queue_counts bt_queue_counts(const struct bt_queue *queue)
{
	return (struct bt_queue_counts){
		.active = queue->places[BT_WAIT_ACTIVE].n,
		.unschedulable = queue->places[BT_WAIT_UNSCHEDULABLE].n,
		.gated = queue->places[BT_WAIT_GATED].n,
	};
}
