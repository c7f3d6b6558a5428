/* SPDX-License-Identifier: Apache-2.0
 * Reading ahead: threads decode the elements of a long list before the reader gets there.
 *
 * The text behind the reader's cursor is cut into ranges of equal length. In each, the first element is
 * guessed by the text that stood between two elements before, and decoded from there on are all that begin in
 * the range. A range counts only if the reader itself comes to stand in front of that very byte, in that very
 * list: then the guess was right, and what was decoded is what the reader would decode. Whatever is not a
 * plain good object (an error, a list, the list's end) is left to the reader, and so is the rest of that
 * range.
 *
 *   begin --> take (each element) --> range --> release ... --> end
 *                  |  NULL: the reader reads this element itself
 *
 * Context: the reader's thread. It decodes, too, while it would have to wait.
 */
#pragma once

#include "tools/format/object_int.h"

/* Long enough to be worth a hand-over, short enough for a few to stay in the caches. */
#define BT_AHEAD_RANGE_BYTES  ((size_t)512 << 10)
#define BT_AHEAD_LEAST_RANGES 4u /* fewer are read as quickly alone */

struct bt_ahead;

struct bt_ahead_list {
	struct bt_str text;	     /* all of it; the caller's */
	struct bt_list_words words;  /* of the list */
	struct bt_json_mark element; /* the first element to be read ahead; not the list's first */
	uint32_t helper_n;	     /* threads besides the caller's */
	size_t range_bytes;
};

struct bt_ahead_range {
	struct bt_object *objects;
	uint32_t object_n;
	uint32_t element_n;	 /* the objects and the nulls between them; at least 1 */
	struct bt_json_mark end; /* behind the last of them */
};

/* Returns: NULL when there is nothing to guess by, or the system gives no thread. Owns: bt_ahead_end. */
struct bt_ahead *bt_ahead_begin(const struct bt_ahead_list *list);

/* Nobody reads the text any more when it returns. NULL is fine. */
void bt_ahead_end(struct bt_ahead *ahead);

/* Returns: what begins with the element at offset, until bt_ahead_release; or NULL. Offsets only grow. */
const struct bt_ahead_range *bt_ahead_take(struct bt_ahead *ahead, size_t offset);
void bt_ahead_release(struct bt_ahead *ahead);

/* Whether guesses fail so often that reading alone is quicker. */
bool bt_ahead_is_vain(const struct bt_ahead *ahead);
