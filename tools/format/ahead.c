/* SPDX-License-Identifier: Apache-2.0
 * Ranges of a list, and the threads that decode them.
 */
#include "tools/format/ahead_int.h"

#include <string.h>

#include "engine/base/mem.h"
#include "engine/base/ring.h"
#include "engine/base/thread.h"

#define TODO_N	   4u /* ranges assigned to a helper */
#define OWN_SLOTS  4u
#define HELPER_MAX 15u
#define BORDER_MAX 256u
#define USELESS_N  16u

/* The owner of a range's slot. */
enum slot_state { SLOT_FREE, SLOT_BUSY, SLOT_READY };

/* owner: its decoder; then the reader, after the helper has pushed it to its ring */
struct slot {
	struct bt_ahead_range range;
	size_t first; /* offset of its first element; SIZE_MAX: none found */
	size_t object_cap;
	struct bt_arena arena; /* memory of its objects */
	enum slot_state state; /* owner: the reader */
};

/* A decoding thread. owner: itself */
struct decoder {
	const struct bt_ahead *ahead;
	struct bt_json *json;
};

struct helper {
	struct decoder decoder;
	struct bt_ring todo, done; /* numbers of ranges */
	struct bt_thread *thread;
	uint32_t todo_n; /* owner: the reader; how many are assigned */
};

struct bt_ahead {
	/* init: */
	struct bt_ahead_list list;
	char border[BORDER_MAX]; /* the common text around the start of each element */
	size_t border_n, border_start;
	uint32_t range_n, slot_n, helper_n;
	struct slot *slots; /* range i is read into slot i % slot_n */
	struct helper *helpers;
	/* owner: the reader */
	struct decoder own;
	struct bt_inbox done;
	struct bt_ring **done_rings;
	uint32_t head, tail; /* the reader's range; the next one to be assigned */
	uint32_t taken_n, missed_n;
};

static size_t range_start(const struct bt_ahead *ahead, uint32_t range_ix)
{
	return ahead->list.element.offset + range_ix * ahead->list.range_bytes;
}

/* The last range extends to the end of the text. */
static size_t range_end(const struct bt_ahead *ahead, uint32_t range_ix)
{
	return range_ix + 1 < ahead->range_n ? range_start(ahead, range_ix + 1) : SIZE_MAX;
}

/* ---- decoding a range ---- */

/* Guesses the offset of a range's first element. */
static size_t find_first(const struct bt_ahead *ahead, uint32_t range_ix)
{
	struct bt_str text = ahead->list.text;
	size_t start = range_start(ahead, range_ix), end = range_end(ahead, range_ix);

	if (range_ix == 0) {
		return start;
	}
	size_t from = start - ahead->border_start;
	size_t to = end < text.len ? end - ahead->border_start + ahead->border_n - 1 : text.len;
	const char *at = memmem(
		text.ptr + from, (to < text.len ? to : text.len) - from, ahead->border, ahead->border_n);
	return at ? (size_t)(at - text.ptr) + ahead->border_start : SIZE_MAX;
}

/* Decodes the object at the cursor. Returns false when it is not a plain valid one. */
static bool decode_object(
	const struct decoder *decoder, struct slot *slot, struct bt_json_mark start, struct bt_object *out)
{
	struct bt_decode decode = {.json = decoder->json, .arena = &slot->arena};
	const struct bt_list_words *words = &decoder->ahead->list.words;
	struct bt_object_header header = {0};
	struct bt_str key;

	if (!bt_json_enter_object(decode.json) || !bt_object_read_header(&decode, &header, &key) ||
		header.is_list || (header.no_items && bt_object_is_list_kind(header.kind))) {
		return false;
	}
	if (!header.kind.ptr || !header.api_version.ptr) {
		if (!words->resolved) {
			return false;
		}
		bt_object_inherit(words, &header);
	}
	return bt_object_read_body(&decode, &header, start, key, out);
}

/* Reads the element at the cursor into the slot. Returns false when the reader has to read it. */
static bool decode_element(const struct decoder *decoder, struct slot *slot)
{
	struct bt_ahead_range *range = &slot->range;
	struct bt_json_mark start = bt_json_mark(decoder->json);

	if (bt_json_peek(decoder->json) == BT_JSON_NULL) {
		return bt_json_skip(decoder->json);
	}
	range->objects =
		bt_mem_grow(range->objects, range->object_n, &slot->object_cap, sizeof(*range->objects));
	if (!decode_object(decoder, slot, start, &range->objects[range->object_n])) {
		return false;
	}
	range->object_n++;
	return true;
}

static void decode_range(const struct decoder *decoder, uint32_t range_ix)
{
	const struct bt_ahead *ahead = decoder->ahead;
	struct slot *slot = &ahead->slots[range_ix % ahead->slot_n];
	struct bt_ahead_range *range = &slot->range;
	size_t end = range_end(ahead, range_ix);

	bt_arena_reset(&slot->arena);
	range->object_n = range->element_n = 0;
	slot->first = find_first(ahead, range_ix);
	if (slot->first == SIZE_MAX) {
		return;
	}
	bt_json_begin(decoder->json, ahead->list.text, &slot->arena);
	/* As after entering the list: no comma is expected before the element. */
	range->end = (struct bt_json_mark){slot->first, ahead->list.element.depth, true};
	bt_json_seek(decoder->json, range->end);
	while (bt_json_next_element(decoder->json) && bt_json_offset(decoder->json) < end) {
		uint32_t object_n = range->object_n;

		if (!decode_element(decoder, slot)) {
			return;
		}
		struct bt_json_mark behind = bt_json_mark(decoder->json);
		if (bt_json_error(decoder->json)->status != BT_OK) {
			/* The offset where the reader would have to continue is unknown. */
			range->object_n = object_n;
			return;
		}
		range->end = behind;
		range->element_n++;
	}
}

static void help(void *context)
{
	struct helper *helper = context;
	uint32_t range_ix;

	while (bt_ring_pop(&helper->todo, &range_ix, BT_EVENTCOUNT_FOREVER)) {
		decode_range(&helper->decoder, range_ix);
		(void)bt_ring_try_push(&helper->done, &range_ix); /* it has room for all assigned ranges */
	}
}

/* ---- assigning ranges ---- */

static struct slot *slot_of(const struct bt_ahead *ahead, uint32_t range_ix)
{
	return &ahead->slots[range_ix % ahead->slot_n];
}

/* Is there a range to assign, and a slot for it? */
static bool has_next(const struct bt_ahead *ahead)
{
	return ahead->tail < ahead->range_n && ahead->tail - ahead->head < ahead->slot_n &&
	       slot_of(ahead, ahead->tail)->state == SLOT_FREE;
}

/* Also frees the slots of ranges that the caller skipped before they were decoded. */
static void collect(struct bt_ahead *ahead, int64_t timeout_ns)
{
	uint32_t range_ix, helper_ix;

	while (bt_inbox_pop_n(&ahead->done, &range_ix, 1, timeout_ns, &helper_ix)) {
		slot_of(ahead, range_ix)->state = range_ix < ahead->head ? SLOT_FREE : SLOT_READY;
		ahead->helpers[helper_ix].todo_n--;
		timeout_ns = 0;
	}
}

/* Assigns ranges to the helpers up to their capacity, the nearest first. */
static void give_out(struct bt_ahead *ahead)
{
	for (uint32_t n = 0; n < TODO_N; n++) {
		for (uint32_t i = 0; i < ahead->helper_n && has_next(ahead); i++) {
			struct helper *helper = &ahead->helpers[i];

			if (helper->todo_n > n) {
				continue;
			}
			slot_of(ahead, ahead->tail)->state = SLOT_BUSY;
			helper->todo_n++;
			(void)bt_ring_try_push(&helper->todo, &ahead->tail); /* there is room: todo_n */
			ahead->tail++;
		}
	}
}

/* Advances past the range. */
static void pass(struct bt_ahead *ahead)
{
	struct slot *slot = slot_of(ahead, ahead->head);

	if (ahead->head == ahead->tail) {
		ahead->tail++; /* it was never assigned */
	} else if (slot->state == SLOT_READY) {
		slot->state = SLOT_FREE;
	}
	ahead->head++;
}

/* Decodes other ranges while a helper decodes the reader's range. */
static void wait_usefully(struct bt_ahead *ahead)
{
	if (has_next(ahead)) {
		struct slot *slot = slot_of(ahead, ahead->tail);

		decode_range(&ahead->own, ahead->tail++);
		slot->state = SLOT_READY;
		collect(ahead, 0);
	} else {
		collect(ahead, BT_EVENTCOUNT_FOREVER);
	}
}

const struct bt_ahead_range *bt_ahead_take(struct bt_ahead *ahead, size_t offset)
{
	while (ahead->head < ahead->range_n && range_end(ahead, ahead->head) <= offset) {
		ahead->missed_n++;
		pass(ahead);
	}
	collect(ahead, 0);
	if (ahead->head == ahead->range_n || offset < range_start(ahead, ahead->head)) {
		return NULL;
	}
	for (;;) {
		const struct slot *slot = slot_of(ahead, ahead->head);

		give_out(ahead);
		if (ahead->head < ahead->tail && slot->state == SLOT_READY) {
			return slot->first == offset && slot->range.element_n ? &slot->range : NULL;
		}
		wait_usefully(ahead);
	}
}

void bt_ahead_release(struct bt_ahead *ahead)
{
	ahead->taken_n++;
	pass(ahead);
}

bool bt_ahead_is_useless(const struct bt_ahead *ahead)
{
	return ahead->missed_n >= USELESS_N && ahead->missed_n > ahead->taken_n;
}

/* ---- begin and end ---- */

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The length of p up to and including the n-th quote; 0: too long. */
static size_t to_quote(const char *p, const char *end, uint32_t n)
{
	size_t most = BORDER_MAX / 2 < end - p ? BORDER_MAX / 2 : (size_t)(end - p);

	for (size_t i = 0; i < most; i++) {
		n -= p[i] == '"';
		if (n == 0) {
			return i + 1;
		}
	}
	return 0;
}

/* The length of the start of the element at p that is equal in most of its neighbours, but not inside them:
 * its brace when it is on a separate line; else all before the first value that is likely to differ. */
static size_t opening_bytes(const char *p, const char *end, bool indented)
{
	size_t key = indented ? 0 : to_quote(p, end, 2), value = key;

	if (key == 0) {
		return 1;
	}
	while (p + value < end && (p[value] == ':' || is_space(p[value]))) {
		value++;
	}
	size_t more = p + value < end && p[value] == '{' ? to_quote(p, end, 4) : to_quote(p, end, 6);
	return more ? more : key;
}

/* Determines the text around the start of an element. Returns false when it is not distinctive. */
static bool find_border(struct bt_ahead *ahead)
{
	const char *text = ahead->list.text.ptr, *element = text + ahead->list.element.offset;
	const char *from = element;
	bool indented = false;

	while (from > text && element - from < (ptrdiff_t)BORDER_MAX / 2 - 1 &&
		(is_space(from[-1]) || from[-1] == ',')) {
		from--;
		indented |= *from == '\n';
	}
	if (from == text || from[-1] != '}' || *element != '{') {
		return false;
	}
	from--;
	ahead->border_start = (size_t)(element - from);
	ahead->border_n = ahead->border_start + opening_bytes(element, text + ahead->list.text.len, indented);
	memcpy(ahead->border, from, ahead->border_n);
	return true;
}

static void start_helpers(struct bt_ahead *ahead)
{
	const struct bt_thread_options options = {.name = "read-ahead"};

	for (uint32_t i = 0; i < ahead->list.helper_n; i++) {
		struct helper *helper = &ahead->helpers[i];

		helper->decoder = (struct decoder){ahead, bt_json_create()};
		bt_ring_init(&helper->todo, TODO_N, sizeof(uint32_t), "read-ahead todo");
		bt_ring_init(&helper->done, TODO_N, sizeof(uint32_t), "read-ahead done");
		ahead->done_rings[i] = &helper->done;
	}
	bt_inbox_init(&ahead->done, ahead->done_rings, ahead->list.helper_n);
	for (uint32_t i = 0; i < ahead->list.helper_n; i++) {
		struct helper *helper = &ahead->helpers[i];

		if (bt_thread_start(&options, help, helper, &helper->thread, NULL) != BT_OK) {
			return;
		}
		ahead->helper_n++;
	}
}

struct bt_ahead *bt_ahead_begin(const struct bt_ahead_list *list)
{
	struct bt_ahead *ahead = bt_mem_column(1, sizeof(*ahead));
	size_t bytes = list->text.len - list->element.offset;

	ahead->list = *list;
	ahead->list.helper_n = list->helper_n < HELPER_MAX ? list->helper_n : HELPER_MAX;
	if (!find_border(ahead)) {
		bt_mem_free(ahead);
		return NULL;
	}
	ahead->range_n = (uint32_t)((bytes + list->range_bytes - 1) / list->range_bytes);
	ahead->slot_n = TODO_N * ahead->list.helper_n + OWN_SLOTS;
	ahead->slots = bt_mem_zalloc(ahead->slot_n, sizeof(*ahead->slots));
	ahead->helpers = bt_mem_column(ahead->list.helper_n, sizeof(*ahead->helpers));
	ahead->done_rings = bt_mem_zalloc(ahead->list.helper_n, sizeof(struct bt_ring *));
	ahead->own = (struct decoder){ahead, bt_json_create()};
	start_helpers(ahead);
	if (ahead->helper_n == 0) {
		bt_ahead_end(ahead);
		return NULL;
	}
	return ahead;
}

void bt_ahead_end(struct bt_ahead *ahead)
{
	if (!ahead) {
		return;
	}
	for (uint32_t i = 0; i < ahead->list.helper_n; i++) {
		bt_ring_close(&ahead->helpers[i].todo);
	}
	for (uint32_t i = 0; i < ahead->list.helper_n; i++) {
		struct helper *helper = &ahead->helpers[i];

		bt_thread_join(&helper->thread);
		bt_ring_fini(&helper->todo);
		bt_ring_fini(&helper->done);
		bt_json_destroy(helper->decoder.json);
	}
	for (uint32_t i = 0; i < ahead->slot_n; i++) {
		bt_arena_fini(&ahead->slots[i].arena);
		bt_mem_free(ahead->slots[i].range.objects);
	}
	bt_json_destroy(ahead->own.json);
	bt_mem_free(ahead->slots);
	bt_mem_free(ahead->helpers);
	bt_mem_free(ahead->done_rings);
	bt_mem_free(ahead);
}
