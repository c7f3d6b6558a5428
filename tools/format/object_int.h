/* SPDX-License-Identifier: Apache-2.0
 * The steps of reading one object, for the reader and for threads that read ahead.
 */
#pragma once

#include "tools/format/object_reader.h"

/* Longer words are not kinds; they are truncated, and so unknown. */
#define BT_WORD_MAX 128

/* The start of an object, before its body. */
struct bt_object_header {
	struct bt_str api_version, kind;
	bool is_list;  /* the cursor is before the items */
	bool no_items; /* a list whose items are null */
};

/* The words of a list, which its elements may leave out. */
struct bt_list_words {
	char api_version[BT_WORD_MAX], kind[BT_WORD_MAX];
	bool resolved; /* they are complete: none follows the items */
};

/*
 * Reads on from the start of the entered object until its kind is clear: up to the first other key, *out_key,
 * when both words were first, as kubectl writes; otherwise past other members, with *out_key empty. In front
 * of items it stops with is_list. Returns false on an error.
 */
bool bt_object_read_header(struct bt_decode *decode, struct bt_object_header *header, struct bt_str *out_key);

bool bt_object_is_list_kind(struct bt_str kind);

/* An element of a PodList may lack a kind. The header then points into words. */
void bt_object_inherit(const struct bt_list_words *words, struct bt_object_header *header);

/* Reads the rest of an object whose header has been read and whose start is known. Returns false with
 * decode->error set; out may be half filled. */
bool bt_object_read_body(struct bt_decode *decode, const struct bt_object_header *header,
	struct bt_json_mark start, struct bt_str key, struct bt_object *out);
