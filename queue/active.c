/* SPDX-License-Identifier: Apache-2.0
 * The active queue, in the order of PrioritySort: higher priority first, then who has waited longer, then who
 * came first. A few sorted lines, one for each priority as a rule, and a heap for entries that fit behind
 * none. A pod that is taken out leaves its entry behind; entries are known to be stale by their stamps and
 * are dropped when their turn comes.
 *
 * Pods of a kind that is parked are put to the kind when their turn comes, and stay there until it is
 * unparked.
 */
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "queue/queue_int.h"

#define STALE_MIN 64 /* fewer stale entries than this are never swept */

uint32_t bt_active_kind(struct bt_queue *queue, struct bt_queue_kind kind)
{
	struct bt_active *active = &queue->active;
	uint64_t key = ((uint64_t)kind.signature_ix << 32 | (uint32_t)kind.priority) + 1;
	uint32_t ix;

	if (bt_map_get(&active->kind_ixs, key, &ix)) {
		return ix;
	}
	active->kinds = bt_mem_grow(active->kinds, active->kind_n, &active->kind_cap, sizeof(*active->kinds));
	ix = (uint32_t)active->kind_n++;
	active->kinds[ix] = (struct bt_kind_line){.kind = kind};
	bt_map_put(&active->kind_ixs, key, ix);
	return ix;
}

void bt_active_fini(struct bt_active *active)
{
	for (size_t i = 0; i < active->kind_n; i++) {
		bt_mem_free(active->kinds[i].parked.items);
	}
	for (int i = 0; i < BT_ACTIVE_LINES; i++) {
		bt_mem_free(active->lines[i].items);
	}
	bt_mem_free(active->heap.items);
	bt_mem_free(active->kinds);
	bt_mem_free(active->parked);
	bt_map_fini(&active->kind_ixs);
}

static bool before(const struct bt_active_entry *a, const struct bt_active_entry *b)
{
	if (a->priority != b->priority) {
		return a->priority > b->priority;
	}
	return a->timestamp_ns != b->timestamp_ns ? a->timestamp_ns < b->timestamp_ns : a->order < b->order;
}

static bool stale(const struct bt_queue *queue, const struct bt_active_entry *entry)
{
	return queue->slots[entry->slot].stamp != entry->stamp;
}

static void append(struct bt_active_line *line, const struct bt_active_entry *entry)
{
	if (line->n == line->cap && line->head > line->n / 2) {
		line->n -= line->head;
		memmove(line->items, line->items + line->head, line->n * sizeof(*line->items));
		line->head = 0;
	}
	line->items = bt_mem_grow(line->items, line->n, &line->cap, sizeof(*line->items));
	line->items[line->n++] = *entry;
}

static void heap_push(struct bt_active_line *heap, const struct bt_active_entry *entry)
{
	append(heap, entry);

	size_t at = heap->n - 1;
	while (at > 0 && before(entry, &heap->items[(at - 1) / 2])) {
		heap->items[at] = heap->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->items[at] = *entry;
}

static void heap_pop(struct bt_active_line *heap)
{
	const struct bt_active_entry last = heap->items[--heap->n];
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
}

/* Behind the first line that it fits behind, so that lines stay few; or into the heap. */
static void put(struct bt_queue *queue, const struct bt_active_entry *entry)
{
	struct bt_active *active = &queue->active;

	for (uint32_t i = 0; i < BT_ACTIVE_LINES; i++) {
		struct bt_active_line *line = &active->lines[i];

		if (line->head == line->n) {
			line->head = line->n = 0;
		} else if (before(entry, &line->items[line->n - 1])) {
			continue;
		}
		active->line_n = i < active->line_n ? active->line_n : i + 1;
		append(line, entry);
		return;
	}
	heap_push(&active->heap, entry);
}

void bt_active_push(struct bt_queue *queue, uint32_t slot_ix)
{
	struct bt_slot *slot = &queue->slots[slot_ix];
	const struct bt_active_entry entry = {slot->timestamp_ns, slot->order, ++queue->stamp_n, slot_ix,
		queue->active.kinds[slot->kind].kind.priority};

	slot->stamp = queue->stamp_n;
	put(queue, &entry);
	queue->active.entry_n++;
}

/* Throws stale entries out of a line, keeping the order. */
static void sweep_line(struct bt_queue *queue, struct bt_active_line *line)
{
	size_t kept = 0;

	for (size_t i = line->head; i < line->n; i++) {
		if (!stale(queue, &line->items[i])) {
			line->items[kept++] = line->items[i];
		}
	}
	line->head = 0;
	line->n = kept;
}

static void sweep(struct bt_queue *queue)
{
	struct bt_active *active = &queue->active;
	struct bt_active_line heap = active->heap;

	for (int i = 0; i < BT_ACTIVE_LINES; i++) {
		sweep_line(queue, &active->lines[i]);
	}
	for (size_t i = 0; i < active->parked_n; i++) {
		sweep_line(queue, &active->kinds[active->parked[i]].parked);
	}
	/* Reads run ahead of writes. */
	active->heap.n = 0;
	for (size_t i = 0; i < heap.n; i++) {
		const struct bt_active_entry entry = heap.items[i];

		if (!stale(queue, &entry)) {
			heap_push(&active->heap, &entry);
		}
	}
	active->entry_n = queue->counts.active;
}

void bt_active_drop(struct bt_queue *queue, uint32_t slot_ix)
{
	queue->slots[slot_ix].stamp = 0;
	if (queue->active.entry_n > 2 * queue->counts.active + STALE_MIN) {
		sweep(queue);
	}
}

/* The line with the first entry, or NULL. */
static struct bt_active_line *first_line(struct bt_queue *queue)
{
	struct bt_active *active = &queue->active;
	struct bt_active_line *best = NULL;

	while (active->line_n &&
		active->lines[active->line_n - 1].head == active->lines[active->line_n - 1].n) {
		active->line_n--;
	}
	for (uint32_t i = 0; i < active->line_n; i++) {
		struct bt_active_line *line = &active->lines[i];

		while (line->head < line->n && stale(queue, &line->items[line->head])) {
			line->head++;
			active->entry_n--;
		}
		if (line->head < line->n &&
			(!best || before(&line->items[line->head], &best->items[best->head]))) {
			best = line;
		}
	}
	while (active->heap.n && stale(queue, &active->heap.items[0])) {
		heap_pop(&active->heap);
		active->entry_n--;
	}
	if (active->heap.n && (!best || before(&active->heap.items[0], &best->items[best->head]))) {
		best = &active->heap;
	}
	return best;
}

static void take_first(struct bt_active *active, struct bt_active_line *line)
{
	if (line == &active->heap) {
		heap_pop(line);
	} else {
		line->head++;
	}
}

/* The next pod of a parked kind, which stays parked: putting all of them forward for each would take a square
 * of their number. BT_QUEUE_EMPTY: there is none, and the kind is unparked. */
static uint32_t pop_parked(struct bt_queue *queue, uint32_t kind_ix)
{
	struct bt_active_line *line = &queue->active.kinds[kind_ix].parked;

	while (line->head < line->n) {
		const struct bt_active_entry entry = line->items[line->head++];

		queue->active.entry_n--;
		if (!stale(queue, &entry)) {
			return entry.slot;
		}
	}
	bt_active_unpark(queue, kind_ix);
	return BT_QUEUE_EMPTY;
}

uint32_t bt_active_pop(struct bt_queue *queue)
{
	struct bt_active *active = &queue->active;

	for (;;) {
		struct bt_active_line *line = first_line(queue);

		if (!line && active->parked_n == 0) {
			return BT_QUEUE_EMPTY;
		}
		if (!line) {
			uint32_t slot = pop_parked(queue, active->parked[active->parked_n - 1]);

			if (slot != BT_QUEUE_EMPTY) {
				return slot;
			}
			continue;
		}
		const struct bt_active_entry entry = line->items[line->head];
		struct bt_kind_line *kind = &active->kinds[queue->slots[entry.slot].kind];
		take_first(active, line);
		if (!kind->is_parked) {
			active->entry_n--;
			return entry.slot;
		}
		append(&kind->parked, &entry);
	}
}

void bt_active_park(struct bt_queue *queue, uint32_t slot, uint32_t plugins)
{
	struct bt_active *active = &queue->active;
	uint32_t kind_ix = queue->slots[slot].kind;
	struct bt_kind_line *kind = &active->kinds[kind_ix];

	kind->parked_for = plugins;
	kind->example = slot;
	active->parked_for = active->parked_n ? active->parked_for | plugins : plugins;
	if (kind->is_parked) {
		return;
	}
	kind->is_parked = true;
	active->parked =
		bt_mem_grow(active->parked, active->parked_n, &active->parked_cap, sizeof(*active->parked));
	active->parked[active->parked_n++] = kind_ix;
}

void bt_active_unpark(struct bt_queue *queue, uint32_t kind_ix)
{
	struct bt_active *active = &queue->active;
	struct bt_active_line line = active->kinds[kind_ix].parked;
	size_t i = 0;

	while (active->parked[i] != kind_ix) {
		i++;
	}
	active->parked[i] = active->parked[--active->parked_n];
	active->kinds[kind_ix].is_parked = false;
	active->kinds[kind_ix].parked = (struct bt_active_line){.n = 0};
	for (size_t k = line.head; k < line.n; k++) {
		put(queue, &line.items[k]);
	}
	bt_mem_free(line.items);
}
