/* SPDX-License-Identifier: Apache-2.0
 * The active queue, in the order of PrioritySort: higher priority first, then longer waiting time, then order
 * of arrival. A few sorted lines, usually one per priority, and a heap for entries that cannot be appended to
 * any line. A removed pod leaves its entry; stale entries are detected by their stamps and dropped when they
 * are reached.
 *
 * When the entry of a pod of a parked kind is reached, it moves to the kind's line and stays there until the
 * kind is unparked, or until only parked pods remain.
 */
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "queue/queue_int.h"

#define FETCH_AHEAD 4	 /* pops: some 100 ns, as long as a miss of all caches takes */
#define STALE_MIN   64	 /* a sweep needs at least this many stale entries */
#define KINDS_KEPT  1024 /* kinds kept without pods: most are used again */

/* Before the table grows above KINDS_KEPT, kinds without pods are removed. */
static void vacate_kinds(struct bt_active *active)
{
	for (size_t i = 0; i < active->kind_n; i++) {
		if (active->kinds[i].pod_n == 0) {
			BT_INVARIANT(!active->kinds[i].is_parked &&
				     active->kinds[i].parked.n == active->kinds[i].parked.head);
			bt_map_remove(&active->kind_ixs, bt_queue_kind_key(active->kinds[i].kind));
			active->vacant_kinds = bt_mem_grow(active->vacant_kinds, active->vacant_n,
				&active->vacant_cap, sizeof(*active->vacant_kinds));
			active->vacant_kinds[active->vacant_n++] = (uint32_t)i;
		}
	}
}

static BT_NOINLINE uint32_t make_kind(struct bt_active *active, struct bt_queue_kind kind)
{
	uint32_t ix;

	if (active->vacant_n == 0 && active->kind_n == active->kind_cap) {
		if (active->kind_n >= KINDS_KEPT) {
			vacate_kinds(active);
		}
		/* With few vacant entries it would soon be full again. */
		if (active->vacant_n <= active->kind_cap / 4) {
			active->kinds = bt_mem_grow(
				active->kinds, active->kind_n, &active->kind_cap, sizeof(*active->kinds));
		}
	}
	if (active->vacant_n) {
		ix = active->vacant_kinds[--active->vacant_n];
	} else {
		ix = (uint32_t)active->kind_n++;
	}
	active->kinds[ix] = (struct bt_kind_line){.kind = kind};
	bt_map_put(&active->kind_ixs, bt_queue_kind_key(kind), ix);
	return ix;
}

/* The kind's index, for pods that are not of the last one's kind. Not inlined, so that the others save no
 * registers. */
static BT_NOINLINE uint32_t find_kind(struct bt_active *active, struct bt_queue_kind kind)
{
	uint32_t ix;

	if (!bt_map_get(&active->kind_ixs, bt_queue_kind_key(kind), &ix)) {
		ix = make_kind(active, kind);
	}
	active->last_kind = ix;
	return ix;
}

uint32_t bt_active_join_kind(struct bt_queue *queue, struct bt_queue_kind kind)
{
	struct bt_active *active = &queue->active;
	uint32_t ix = active->last_kind;

	/* Pods of a kind come in a row. */
	if (active->kind_n == 0 || bt_queue_kind_key(active->kinds[ix].kind) != bt_queue_kind_key(kind)) {
		ix = find_kind(active, kind);
	}
	BT_INVARIANT(active->kinds[ix].kind.signature_ix == kind.signature_ix &&
		     active->kinds[ix].kind.priority == kind.priority);
	active->kinds[ix].pod_n++;
	return ix;
}

void bt_active_leave_kind(struct bt_queue *queue, uint32_t kind_ix)
{
	struct bt_kind_line *kind = &queue->active.kinds[kind_ix];

	BT_INVARIANT(kind->pod_n);
	if (--kind->pod_n == 0 && kind->is_parked) {
		bt_active_unpark(queue, kind_ix);
	}
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
	bt_mem_free(active->vacant_kinds);
	bt_mem_free(active->parked);
	bt_mem_free(active->parked_kinds);
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
	BT_INVARIANT(line->head < line->n && line->n <= line->cap);
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
	BT_INVARIANT(at == 0 || !before(&heap->items[at], &heap->items[(at - 1) / 2]));
}

static BT_NOINLINE void heap_pop(struct bt_active_line *heap)
{
	BT_INVARIANT(heap->n > 0 && heap->head == 0);
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

/* Appends to the first line that stays sorted, so that there are few lines; or inserts into the heap. */
static void active_put(struct bt_queue *queue, const struct bt_active_entry *entry)
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
	BT_INVARIANT(queue->slots[slot_ix].where == BT_WAIT_ACTIVE);
	struct bt_slot *slot = &queue->slots[slot_ix];
	const struct bt_active_entry entry = {slot->timestamp_ns, slot->order, ++queue->stamp_n, slot_ix,
		queue->active.kinds[slot->kind].kind.priority};

	slot->stamp = queue->stamp_n;
	active_put(queue, &entry);
	queue->active.entry_n++;
	BT_INVARIANT(queue->active.entry_n >= queue->counts.active);
}

/* Removes stale entries from a line, keeping the order. */
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

/* ---- parked kinds with entries, a heap by their first ones, which may be stale ---- */

static bool kind_before(const struct bt_active *active, uint32_t a, uint32_t b)
{
	const struct bt_active_line *x = &active->kinds[a].parked, *y = &active->kinds[b].parked;

	return before(&x->items[x->head], &y->items[y->head]);
}

static void place_kind(struct bt_active *active, size_t at, uint32_t kind_ix)
{
	active->parked_kinds[at] = kind_ix;
	active->kinds[kind_ix].parked_heap_ix = (uint32_t)at + 1;
}

/* Sifts a kind up. */
static void kind_up(struct bt_active *active, size_t at, uint32_t kind_ix)
{
	for (; at > 0 && kind_before(active, kind_ix, active->parked_kinds[(at - 1) / 2]);
		at = (at - 1) / 2) {
		place_kind(active, at, active->parked_kinds[(at - 1) / 2]);
	}
	place_kind(active, at, kind_ix);
}

/* Sifts a kind down. */
static void kind_down(struct bt_active *active, size_t at, uint32_t kind_ix)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < active->parked_kind_n &&
			kind_before(active, active->parked_kinds[child + 1], active->parked_kinds[child])) {
			child++;
		}
		if (child >= active->parked_kind_n ||
			!kind_before(active, active->parked_kinds[child], kind_ix)) {
			break;
		}
		place_kind(active, at, active->parked_kinds[child]);
		at = child;
	}
	place_kind(active, at, kind_ix);
	BT_INVARIANT(at == 0 || !kind_before(active, kind_ix, active->parked_kinds[(at - 1) / 2]));
}

/* Adds an entry to its parked kind, usually at the end. */
static BT_NOINLINE void park_entry(
	struct bt_active *active, uint32_t kind_ix, const struct bt_active_entry *entry)
{
	BT_INVARIANT(active->kinds[kind_ix].is_parked);
	struct bt_kind_line *kind = &active->kinds[kind_ix];
	struct bt_active_line *line = &kind->parked;

	append(line, entry);
	size_t at = line->n - 1;
	for (; at > line->head && before(entry, &line->items[at - 1]); at--) {
		line->items[at] = line->items[at - 1];
	}
	line->items[at] = *entry;
	if (!kind->parked_heap_ix) {
		active->parked_kinds = bt_mem_grow(active->parked_kinds, active->parked_kind_n,
			&active->parked_kind_cap, sizeof(*active->parked_kinds));
		kind_up(active, active->parked_kind_n++, kind_ix);
	} else if (at == line->head) {
		kind_up(active, kind->parked_heap_ix - 1, kind_ix);
	}
}

/* Removes a kind from the heap. Compares only the first entries of the others. */
static void remove_parked_kind(struct bt_active *active, struct bt_kind_line *kind)
{
	size_t at = kind->parked_heap_ix - 1;
	uint32_t last = active->parked_kinds[--active->parked_kind_n];

	BT_INVARIANT(at <= active->parked_kind_n);
	kind->parked_heap_ix = 0;
	if (at < active->parked_kind_n) {
		kind_up(active, at, last);
		kind_down(active, active->kinds[last].parked_heap_ix - 1, last);
	}
}

/* Takes the first entry of the first kind. Returns its slot, or BT_NO_SLOT when it was stale. */
static uint32_t take_parked(struct bt_queue *queue)
{
	struct bt_active *active = &queue->active;
	uint32_t kind_ix = active->parked_kinds[0];
	struct bt_active_line *line = &active->kinds[kind_ix].parked;
	const struct bt_active_entry entry = line->items[line->head++];

	BT_INVARIANT(active->parked_kind_n > 0 && active->kinds[kind_ix].parked_heap_ix == 1 &&
		     active->entry_n > 0);
	active->entry_n--;
	if (line->head < line->n) {
		kind_down(active, 0, kind_ix);
	} else {
		remove_parked_kind(active, &active->kinds[kind_ix]);
		line->head = line->n = 0;
	}
	return stale(queue, &entry) ? BT_NO_SLOT : entry.slot;
}

/* Removes stale entries from all parked kinds. */
static void sweep_parked(struct bt_queue *queue)
{
	struct bt_active *active = &queue->active;
	size_t n = active->parked_kind_n;

	/* Reads run ahead of writes. */
	active->parked_kind_n = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t kind_ix = active->parked_kinds[i];

		sweep_line(queue, &active->kinds[kind_ix].parked);
		active->kinds[kind_ix].parked_heap_ix = 0;
		if (active->kinds[kind_ix].parked.n) {
			kind_up(active, active->parked_kind_n++, kind_ix);
		}
	}
}

static BT_NOINLINE void sweep(struct bt_queue *queue)
{
	struct bt_active *active = &queue->active;
	struct bt_active_line heap = active->heap;

	for (int i = 0; i < BT_ACTIVE_LINES; i++) {
		sweep_line(queue, &active->lines[i]);
	}
	sweep_parked(queue);
	/* Reads run ahead of writes. */
	active->heap.n = 0;
	for (size_t i = 0; i < heap.n; i++) {
		const struct bt_active_entry entry = heap.items[i];

		if (!stale(queue, &entry)) {
			heap_push(&active->heap, &entry);
		}
	}
	active->entry_n = queue->counts.active;
	BT_INVARIANT(queue->counts.active == 0 || active->entry_n > 0);
}

void bt_active_drop(struct bt_queue *queue, uint32_t slot_ix)
{
	queue->slots[slot_ix].stamp = 0;
	if (queue->active.entry_n > 2 * queue->counts.active + STALE_MIN) {
		sweep(queue);
	}
}

/* The line with the first entry of several, or NULL. */
static BT_NOINLINE struct bt_active_line *first_of_lines(struct bt_queue *queue)
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

/* The line with the first entry, or NULL. */
static struct bt_active_line *first_line(struct bt_queue *queue)
{
	struct bt_active_line *line = queue->active.lines;

	/* Usually one line has all entries. */
	if (queue->active.line_n == 1 && queue->active.heap.n == 0 && line->head < line->n &&
		!stale(queue, &line->items[line->head])) {
		return line;
	}
	return first_of_lines(queue);
}

static void take_first(struct bt_active *active, struct bt_active_line *line)
{
	if (BT_UNLIKELY(line == &active->heap)) {
		heap_pop(line);
	} else {
		line->head++;
	}
}

/* Fetches what a later pop reads of its slot. With several lines, slots are not read in their order. */
static void fetch_ahead(const struct bt_queue *queue, const struct bt_active_line *line)
{
	if (line->head + FETCH_AHEAD < line->n) {
		const struct bt_slot *slot = &queue->slots[line->items[line->head + FETCH_AHEAD].slot];

		__builtin_prefetch(&slot->stamp, 1);
		__builtin_prefetch(&slot->log_begin, 1);
	}
}

/* The first entry of a kind that is not parked, or else the first parked one. */
static BT_NOINLINE uint32_t pop_unparked(struct bt_queue *queue)
{
	struct bt_active *active = &queue->active;
	struct bt_active_line *line;

	while ((line = first_line(queue)) != NULL) {
		const struct bt_active_entry entry = line->items[line->head];
		uint32_t kind_ix = queue->slots[entry.slot].kind;

		take_first(active, line);
		if (!active->kinds[kind_ix].is_parked) {
			active->entry_n--;
			return entry.slot;
		}
		park_entry(active, kind_ix, &entry);
	}
	uint32_t slot = BT_NO_SLOT;
	while (slot == BT_NO_SLOT && active->parked_kind_n) {
		slot = take_parked(queue);
	}
	return slot == BT_NO_SLOT ? BT_QUEUE_EMPTY : slot;
}

uint32_t bt_active_pop(struct bt_queue *queue)
{
	struct bt_active_line *line = first_line(queue);
	uint32_t slot = line ? line->items[line->head].slot : BT_NO_SLOT;

	if (!line || queue->active.kinds[queue->slots[slot].kind].is_parked) {
		return pop_unparked(queue);
	}
	take_first(&queue->active, line);
	fetch_ahead(queue, line);
	queue->active.entry_n--;
	BT_INVARIANT(queue->slots[slot].where == BT_WAIT_ACTIVE);
	return slot;
}

/* The line with the first entry at these places, or BT_ACTIVE_LINES. */
static uint32_t first_at(const struct bt_active *active, const size_t *at)
{
	uint32_t best = BT_ACTIVE_LINES;

	for (uint32_t i = 0; i < active->line_n; i++) {
		const struct bt_active_line *line = &active->lines[i];

		if (at[i] < line->n &&
			(best == BT_ACTIVE_LINES ||
				before(&line->items[at[i]], &active->lines[best].items[at[best]]))) {
			best = i;
		}
	}
	return best;
}

uint32_t bt_active_peek(const struct bt_queue *queue, uint32_t *out_slots, uint32_t cap)
{
	const struct bt_active *active = &queue->active;
	size_t at[BT_ACTIVE_LINES];
	uint32_t n = 0, i;

	for (i = 0; i < BT_ACTIVE_LINES; i++) {
		at[i] = active->lines[i].head;
	}
	while (n < cap && (i = first_at(active, at)) != BT_ACTIVE_LINES) {
		const struct bt_active_entry *entry = &active->lines[i].items[at[i]++];

		if (!stale(queue, entry) && !active->kinds[queue->slots[entry->slot].kind].is_parked) {
			out_slots[n++] = entry->slot;
		}
	}
	return n;
}

uint32_t bt_active_guess(const struct bt_queue *queue, uint32_t places)
{
	const struct bt_active_line *line = queue->active.lines;
	bool there = queue->active.line_n == 1 && line->n - line->head > places &&
		     !stale(queue, &line->items[line->head + places]);

	return there ? line->items[line->head + places].slot : BT_NO_SLOT;
}

void bt_active_park(struct bt_queue *queue, uint32_t slot, bt_plugin_set plugins)
{
	struct bt_active *active = &queue->active;
	uint32_t kind_ix = queue->slots[slot].kind;
	struct bt_kind_line *kind = &active->kinds[kind_ix];

	BT_REQUIRE_HOT(kind->pod_n > 0);
	kind->parked_for = plugins;
	kind->example = slot;
	active->parked_for = active->parked_n ? active->parked_for | plugins : plugins;
	if (kind->is_parked) {
		return;
	}
	kind->is_parked = true;
	kind->parked_ix = (uint32_t)active->parked_n;
	active->parked =
		bt_mem_grow(active->parked, active->parked_n, &active->parked_cap, sizeof(*active->parked));
	active->parked[active->parked_n++] = kind_ix;
	queue->counts.parked_n++;
}

void bt_active_unpark(struct bt_queue *queue, uint32_t kind_ix)
{
	BT_REQUIRE_HOT(queue->active.parked_n > 0 && queue->active.kinds[kind_ix].is_parked);
	struct bt_active *active = &queue->active;
	struct bt_kind_line *kind = &active->kinds[kind_ix];
	uint32_t last = active->parked[--active->parked_n];

	active->parked[kind->parked_ix] = last;
	active->kinds[last].parked_ix = kind->parked_ix;
	kind->is_parked = false;
	if (kind->parked_heap_ix) {
		remove_parked_kind(active, kind);
	}
	struct bt_active_line line = kind->parked;
	kind->parked = (struct bt_active_line){.n = 0};
	for (size_t i = line.head; i < line.n; i++) {
		active_put(queue, &line.items[i]);
	}
	bt_mem_free(line.items);
	BT_INVARIANT(!kind->is_parked && kind->parked.n == 0 && kind->parked_heap_ix == 0);
}
