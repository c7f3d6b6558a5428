/* SPDX-License-Identifier: Apache-2.0
 * Reading ahead: threads decode the elements of a long list before the reader gets there.
 *
 * The text behind the reader's cursor is cut into ranges of equal length. In each, the start of the first
 * element is guessed from the text between two earlier elements, and all elements that begin in the range are
 * decoded from there. A range is used only if the reader reaches exactly that byte in that list: then the
 * guess was right, and the result equals the reader's. Anything but a plain valid object (an error, a list,
 * the list's end) is left to the reader, with the rest of that range.
 *
 *   begin --> take (each element) --> range --> release ... --> end
 *                  |  NULL: the reader reads this element itself
 *
 * Context: the reader's thread. It decodes, too, instead of waiting.
 */
#pragma once

#include "tools/format/object_int.h"

/* Long enough to amortize the hand-over, short enough for a few to fit in the caches. */
#define BT_AHEAD_RANGE_BYTES  ((size_t)512 << 10)
#define BT_AHEAD_LEAST_RANGES 4u /* with fewer, reading ahead is not faster */

struct bt_ahead;

struct bt_ahead_list {
	struct bt_str text;	     /* all of it; the caller's */
	struct bt_list_words words;  /* of the list */
	struct bt_json_mark element; /* the first element to be read ahead; not the list's first */
	uint32_t helper_n;	     /* threads in addition to the caller's */
	size_t range_bytes;
};

struct bt_ahead_range {
	struct bt_object *objects;
	uint32_t object_n;
	uint32_t element_n;	 /* the objects and the nulls between them; at least 1 */
	struct bt_json_mark end; /* after the last of them */
};

/* Returns: NULL when starts cannot be guessed, or no thread can be created. Owns: bt_ahead_end. */
struct bt_ahead *bt_ahead_begin(const struct bt_ahead_list *list);

/* No thread reads the text after it returns. NULL is ignored. */
void bt_ahead_end(struct bt_ahead *ahead);

/*
 * Returns: the range that begins with the element at offset, valid until bt_ahead_release; or NULL. Offsets
 * must increase.
 */
const struct bt_ahead_range *bt_ahead_take(struct bt_ahead *ahead, size_t offset);
void bt_ahead_release(struct bt_ahead *ahead);

/* Do guesses fail so often that reading ahead is slower? */
bool bt_ahead_is_useless(const struct bt_ahead *ahead);
