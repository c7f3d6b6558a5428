/* SPDX-License-Identifier: Apache-2.0
 * One line per kind and a heap of lines by their first entries. Entries that come in order, as nearly all do,
 * are appended; the others go to a heap of the line's own.
 */
#include "queue/active.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"

#define STALE_MIN 64 /* fewer stale entries than this are never swept */

void bt_active_fini(struct bt_active *active)
{
	for (size_t i = 0; i < active->line_n; i++) {
		bt_mem_free(active->lines[i].items);
		bt_mem_free(active->lines[i].heap);
	}
	bt_mem_free(active->lines);
	bt_mem_free(active->top);
	bt_mem_free(active->parked);
	bt_map_fini(&active->line_ixs);
}

uint32_t bt_active_line(struct bt_active *active, struct bt_queue_kind kind)
{
	uint64_t key = ((uint64_t)kind.signature_ix << 32 | (uint32_t)kind.priority) + 1;
	uint32_t ix;

	if (bt_map_get(&active->line_ixs, key, &ix)) {
		return ix;
	}
	active->lines = bt_mem_grow(active->lines, active->line_n, &active->line_cap, sizeof(*active->lines));
	ix = (uint32_t)active->line_n++;
	active->lines[ix] = (struct bt_line){.kind = kind, .top_ix = BT_NO_LINE};
	bt_map_put(&active->line_ixs, key, ix);
	return ix;
}

static bool stale(const struct bt_active *active, const struct bt_active_entry *entry)
{
	return *active->stamp_of(active->context, entry->slot) != entry->stamp;
}

static bool entry_before(const struct bt_active_entry *a, const struct bt_active_entry *b)
{
	return a->timestamp_ns != b->timestamp_ns ? a->timestamp_ns < b->timestamp_ns : a->order < b->order;
}

static void entry_heap_push(struct bt_line *line, const struct bt_active_entry *entry)
{
	line->heap = bt_mem_grow(line->heap, line->heap_n, &line->heap_cap, sizeof(*line->heap));

	size_t at = line->heap_n++;
	while (at > 0 && entry_before(entry, &line->heap[(at - 1) / 2])) {
		line->heap[at] = line->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	line->heap[at] = *entry;
}

static void entry_heap_pop(struct bt_line *line)
{
	const struct bt_active_entry last = line->heap[--line->heap_n];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < line->heap_n && entry_before(&line->heap[child + 1], &line->heap[child])) {
			child++;
		}
		if (child >= line->heap_n || !entry_before(&line->heap[child], &last)) {
			break;
		}
		line->heap[at] = line->heap[child];
		at = child;
	}
	line->heap[at] = last;
}

/* The first live entry of a line, or NULL; stale ones before it are dropped. */
static const struct bt_active_entry *line_first(struct bt_active *active, struct bt_line *line)
{
	while (line->head < line->n && stale(active, &line->items[line->head])) {
		line->head++;
	}
	while (line->heap_n && stale(active, &line->heap[0])) {
		entry_heap_pop(line);
	}
	const struct bt_active_entry *first = line->head < line->n ? &line->items[line->head] : NULL;
	if (line->heap_n && (!first || entry_before(&line->heap[0], first))) {
		first = &line->heap[0];
	}
	return first;
}

/* ---- the heap of lines ---- */

static bool line_before(const struct bt_line *a, const struct bt_line *b)
{
	if (a->kind.priority != b->kind.priority) {
		return a->kind.priority > b->kind.priority;
	}
	return a->first_timestamp_ns != b->first_timestamp_ns ? a->first_timestamp_ns < b->first_timestamp_ns
							      : a->first_order < b->first_order;
}

static void top_put(struct bt_active *active, size_t at, uint32_t line)
{
	active->top[at] = line;
	active->lines[line].top_ix = (uint32_t)at;
}

static void top_up(struct bt_active *active, size_t at)
{
	uint32_t line = active->top[at];

	while (at > 0 && line_before(&active->lines[line], &active->lines[active->top[(at - 1) / 2]])) {
		top_put(active, at, active->top[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	top_put(active, at, line);
}

static void top_down(struct bt_active *active, size_t at)
{
	uint32_t line = active->top[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= active->top_n) {
			break;
		}
		if (child + 1 < active->top_n && line_before(&active->lines[active->top[child + 1]],
							 &active->lines[active->top[child]])) {
			child++;
		}
		if (!line_before(&active->lines[active->top[child]], &active->lines[line])) {
			break;
		}
		top_put(active, at, active->top[child]);
		at = child;
	}
	top_put(active, at, line);
}

static void top_remove(struct bt_active *active, uint32_t line)
{
	size_t at = active->lines[line].top_ix;

	active->lines[line].top_ix = BT_NO_LINE;
	uint32_t last = active->top[--active->top_n];
	if (last != line) {
		top_put(active, at, last);
		top_up(active, at);
		top_down(active, active->lines[last].top_ix);
	}
}

/* Brings a line that is not parked to its place among the others. */
static void top_settle(struct bt_active *active, uint32_t ix)
{
	struct bt_line *line = &active->lines[ix];
	const struct bt_active_entry *first = line->live_n ? line_first(active, line) : NULL;

	if (!first) {
		if (line->top_ix != BT_NO_LINE) {
			top_remove(active, ix);
		}
		return;
	}
	if (line->top_ix != BT_NO_LINE && line->first_order == first->order &&
		line->first_timestamp_ns == first->timestamp_ns) {
		return;
	}
	line->first_timestamp_ns = first->timestamp_ns;
	line->first_order = first->order;
	if (line->top_ix == BT_NO_LINE) {
		active->top = bt_mem_grow(active->top, active->top_n, &active->top_cap, sizeof(*active->top));
		top_put(active, active->top_n++, ix);
	}
	top_up(active, line->top_ix);
	top_down(active, line->top_ix);
}

/* ---- entries come and go ---- */

/* Throws stale entries out once they are the most. */
static void sweep(struct bt_active *active, struct bt_line *line)
{
	size_t kept = 0;

	if (line->n - line->head + line->heap_n < 2 * line->live_n + STALE_MIN) {
		return;
	}
	for (size_t i = line->head; i < line->n; i++) {
		if (!stale(active, &line->items[i])) {
			line->items[kept++] = line->items[i];
		}
	}
	line->head = 0;
	line->n = kept;
	kept = line->heap_n;
	line->heap_n = 0;
	for (size_t i = 0; i < kept; i++) {
		/* Reads run ahead of writes. */
		const struct bt_active_entry entry = line->heap[i];

		if (!stale(active, &entry)) {
			entry_heap_push(line, &entry);
		}
	}
}

static void append(struct bt_line *line, const struct bt_active_entry *entry)
{
	if (line->n == line->cap && line->head > line->n / 2) {
		line->n -= line->head;
		memmove(line->items, line->items + line->head, line->n * sizeof(*line->items));
		line->head = 0;
	}
	line->items = bt_mem_grow(line->items, line->n, &line->cap, sizeof(*line->items));
	line->items[line->n++] = *entry;
}

void bt_active_push(struct bt_active *active, uint32_t ix, const struct bt_active_entry *entry)
{
	struct bt_line *line = &active->lines[ix];

	if (line->head == line->n) {
		line->head = line->n = 0;
	}
	if (line->n == 0 || !entry_before(entry, &line->items[line->n - 1])) {
		append(line, entry);
	} else {
		entry_heap_push(line, entry);
	}
	line->live_n++;
	if (!line->parked) {
		top_settle(active, ix);
	}
}

void bt_active_drop(struct bt_active *active, uint32_t ix)
{
	struct bt_line *line = &active->lines[ix];

	line->live_n--;
	sweep(active, line);
	if (!line->parked) {
		top_settle(active, ix);
	}
}

uint32_t bt_active_first(struct bt_active *active, uint32_t *out_line)
{
	while (active->top_n == 0 && active->parked_n) {
		bt_active_unpark(active, active->parked[active->parked_n - 1]);
	}
	if (active->top_n == 0) {
		return BT_QUEUE_EMPTY;
	}
	*out_line = active->top[0];
	return line_first(active, &active->lines[*out_line])->slot;
}

uint32_t bt_active_some(struct bt_active *active, uint32_t line)
{
	const struct bt_active_entry *first = line_first(active, &active->lines[line]);

	return first ? first->slot : BT_QUEUE_EMPTY;
}

void bt_active_park(struct bt_active *active, uint32_t ix, uint32_t plugins)
{
	struct bt_line *line = &active->lines[ix];

	if (line->parked || line->live_n == 0) {
		return;
	}
	if (line->top_ix != BT_NO_LINE) {
		top_remove(active, ix);
	}
	line->parked = true;
	line->parked_for = plugins;
	active->parked =
		bt_mem_grow(active->parked, active->parked_n, &active->parked_cap, sizeof(*active->parked));
	active->parked[active->parked_n++] = ix;
}

void bt_active_unpark(struct bt_active *active, uint32_t ix)
{
	size_t i = 0;

	while (active->parked[i] != ix) {
		i++;
	}
	active->parked[i] = active->parked[--active->parked_n];
	active->lines[ix].parked = false;
	top_settle(active, ix);
}
