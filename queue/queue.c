/* SPDX-License-Identifier: Apache-2.0
 * Stage 4: waiting pods in a few sorted lines, one for each priority as a rule, and a heap for those that fit
 * behind none. A pod that is taken out leaves its entry behind; entries are known to be stale by their
 * arrival and are dropped when their turn comes.
 */
#include "queue/queue.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

#define LINE_N	  8
#define STALE_MIN 64 /* fewer stale entries than this are never swept */

struct waiter {
	int64_t timestamp_ns;
	uint64_t arrival;
	uint32_t pod_ix;
	int32_t priority;
};

/* items[head .. n) are there. */
struct line {
	struct waiter *items;
	size_t head, n, cap;
};

#define WAIT_N (BT_WAIT_GATED + 1)

struct bt_queue {
	struct line lines[LINE_N]; /* active, each in order */
	struct line heap;	   /* active, the others; head is 0 */
	struct line aside[WAIT_N]; /* those set aside, in no order */
	uint64_t counts[WAIT_N];   /* without stale entries */
	struct place {
		uint64_t arrival; /* of the pod's entry; 0: it does not wait */
		enum bt_wait where;
	} * where; /* by pod */
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
	for (int i = 0; i < LINE_N; i++) {
		bt_mem_free(queue->lines[i].items);
	}
	for (int i = 0; i < WAIT_N; i++) {
		bt_mem_free(queue->aside[i].items);
	}
	bt_mem_free(queue->heap.items);
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

static bool stale(const struct bt_queue *queue, const struct waiter *waiter)
{
	return queue->where[waiter->pod_ix].arrival != waiter->arrival;
}

static void append(struct line *line, struct waiter waiter)
{
	if (line->n == line->cap && line->head > line->n / 2) {
		line->n -= line->head;
		memmove(line->items, line->items + line->head, line->n * sizeof(*line->items));
		line->head = 0;
	}
	line->items = bt_mem_grow(line->items, line->n, &line->cap, sizeof(*line->items));
	line->items[line->n++] = waiter;
}

static void heap_push(struct line *heap, struct waiter waiter)
{
	append(heap, waiter);

	size_t at = heap->n - 1;
	while (at > 0 && before(&waiter, &heap->items[(at - 1) / 2])) {
		heap->items[at] = heap->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->items[at] = waiter;
}

static struct waiter heap_pop(struct line *heap)
{
	struct waiter top = heap->items[0], last = heap->items[--heap->n];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < heap->n && before(&heap->items[child + 1], &heap->items[child])) {
			child++;
		}
		if (child >= heap->n || !before(&heap->items[child], &last)) {
			break;
		}
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = last;
	return top;
}

/* Behind the line whose last pod is the closest before this one, or into an empty line, or into the heap. */
static void join(struct bt_queue *queue, struct waiter waiter)
{
	struct line *best = NULL, *empty = NULL;

	for (int i = 0; i < LINE_N; i++) {
		struct line *line = &queue->lines[i];

		if (line->head == line->n) {
			empty = empty ? empty : line;
			continue;
		}
		const struct waiter *tail = &line->items[line->n - 1];
		if (before(tail, &waiter) && (!best || before(&best->items[best->n - 1], tail))) {
			best = line;
		}
	}
	if (best || empty) {
		append(best ? best : empty, waiter);
	} else {
		heap_push(&queue->heap, waiter);
	}
}

static void enter(struct bt_queue *queue, struct waiter waiter, enum bt_wait where)
{
	queue->where[waiter.pod_ix] = (struct place){waiter.arrival, where};
	queue->counts[where]++;
	if (where == BT_WAIT_ACTIVE) {
		join(queue, waiter);
	} else {
		append(&queue->aside[where], waiter);
	}
}

void bt_queue_push(
	struct bt_queue *queue, uint32_t pod_ix, int32_t priority, int64_t timestamp_ns, enum bt_wait where)
{
	while (pod_ix >= queue->pod_cap) {
		size_t old = queue->pod_cap;

		queue->where = bt_mem_grow(queue->where, old, &queue->pod_cap, sizeof(*queue->where));
		memset(queue->where + old, 0, (queue->pod_cap - old) * sizeof(*queue->where));
	}
	BT_REQUIRE(queue->where[pod_ix].arrival == 0);
	enter(queue,
		(struct waiter){
			.timestamp_ns = timestamp_ns,
			.arrival = ++queue->arrivals,
			.pod_ix = pod_ix,
			.priority = priority,
		},
		where);
}

/* The line with the first pod, the heap included; NULL when all are empty. */
static struct line *first_line(struct bt_queue *queue)
{
	struct line *first = queue->heap.n ? &queue->heap : NULL;

	for (int i = 0; i < LINE_N; i++) {
		struct line *line = &queue->lines[i];

		if (line->head < line->n &&
			(!first || before(&line->items[line->head], &first->items[first->head]))) {
			first = line;
		}
	}
	return first;
}

static struct waiter take_first(struct bt_queue *queue, struct line *line)
{
	if (line == &queue->heap) {
		return heap_pop(line);
	}
	struct waiter waiter = line->items[line->head++];
	if (line->head == line->n) {
		line->head = line->n = 0;
	}
	return waiter;
}

uint32_t bt_queue_pop(struct bt_queue *queue)
{
	for (struct line *line = first_line(queue); line; line = first_line(queue)) {
		struct waiter waiter = take_first(queue, line);

		if (!stale(queue, &waiter)) {
			queue->where[waiter.pod_ix].arrival = 0;
			queue->counts[BT_WAIT_ACTIVE]--;
			return waiter.pod_ix;
		}
	}
	return BT_QUEUE_EMPTY;
}

/* Drops the stale entries of a line, in place. The order stays. */
static void sweep_line(const struct bt_queue *queue, struct line *line)
{
	size_t n = 0;

	for (size_t i = line->head; i < line->n; i++) {
		if (!stale(queue, &line->items[i])) {
			line->items[n++] = line->items[i];
		}
	}
	line->head = 0;
	line->n = n;
}

static void sweep_heap(struct bt_queue *queue)
{
	size_t n = queue->heap.n;

	queue->heap.n = 0;
	for (size_t i = 0; i < n; i++) {
		/* The write position never passes the read position. */
		if (!stale(queue, &queue->heap.items[i])) {
			heap_push(&queue->heap, queue->heap.items[i]);
		}
	}
}

/* Keeps stale entries fewer than the live ones, so that memory is bounded and the work is paid for by
 * removals. */
static void sweep(struct bt_queue *queue, enum bt_wait where)
{
	size_t n = queue->heap.n;

	if (where != BT_WAIT_ACTIVE) {
		if (queue->aside[where].n > 2 * queue->counts[where] + STALE_MIN) {
			sweep_line(queue, &queue->aside[where]);
		}
		return;
	}
	for (int i = 0; i < LINE_N; i++) {
		n += queue->lines[i].n - queue->lines[i].head;
	}
	if (n <= 2 * queue->counts[where] + STALE_MIN) {
		return;
	}
	for (int i = 0; i < LINE_N; i++) {
		sweep_line(queue, &queue->lines[i]);
	}
	sweep_heap(queue);
}

enum bt_status bt_queue_remove(struct bt_queue *queue, uint32_t pod_ix)
{
	if (pod_ix >= queue->pod_cap || queue->where[pod_ix].arrival == 0) {
		return BT_NOT_FOUND;
	}
	enum bt_wait where = queue->where[pod_ix].where;
	queue->where[pod_ix].arrival = 0;
	queue->counts[where]--;
	sweep(queue, where);
	return BT_OK;
}

void bt_queue_move_all(struct bt_queue *queue)
{
	struct line *from = &queue->aside[BT_WAIT_UNSCHEDULABLE];

	for (size_t i = 0; i < from->n; i++) {
		if (!stale(queue, &from->items[i])) {
			enter(queue, from->items[i], BT_WAIT_ACTIVE);
		}
	}
	from->n = 0;
	queue->counts[BT_WAIT_UNSCHEDULABLE] = 0;
}

struct bt_queue_counts bt_queue_counts(const struct bt_queue *queue)
{
	return (struct bt_queue_counts){
		.active = queue->counts[BT_WAIT_ACTIVE],
		.unschedulable = queue->counts[BT_WAIT_UNSCHEDULABLE],
		.gated = queue->counts[BT_WAIT_GATED],
	};
}
