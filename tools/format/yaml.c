/* SPDX-License-Identifier: Apache-2.0
 * Wraps libyaml: converts its events to JSON text. The stream is split at "---" lines first, as kubectl does,
 * so that an invalid document does not affect later ones.
 *
 * Each member of a mapping is written with a trailing comma, which the closing brace overwrites. A member
 * that a later one replaces (only merge keys can do that) is overwritten with spaces, so that no text ever
 * moves.
 */
#include "tools/format/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "tools/format/json.h"
#include "tools/format/limits.h"
#include "tools/format/yaml_scalar_int.h"

#define NO_ANCHOR ((size_t)-1)

/* A mapping or sequence that is open. */
struct yaml_level {
	bool is_mapping;
	bool has_key;	   /* the key of the next value is written */
	bool is_merge;	   /* the next value is that of a merge key */
	bool is_duplicate; /* the mapping had the key of the next value before */
	size_t entry_base; /* its members are the entries from here on */
	size_t start;	   /* of its text */
	size_t anchor_ix;
	size_t entry_ix;    /* of the member that is being written */
	size_t value_start; /* of a merge key's value */
};

/* A member of an open mapping. */
struct yaml_entry {
	uint64_t hash;
	size_t start, end;	   /* of "key":value, in the output */
	size_t key_start, key_len; /* the key's JSON text, in the output */
	size_t mapping;		   /* entry_base of its mapping; with the depth it identifies the mapping */
	uint32_t depth;
	bool merged; /* may be replaced */
};

struct anchor {
	struct bt_str name, text; /* text is empty until the node is complete */
};

struct line_mark {
	size_t offset, line;
};

struct bt_yaml {
	struct bt_str text;
	size_t at, line; /* where the next piece begins, and its line, from 0 */
	struct bt_str piece;
	size_t piece_line;
	yaml_parser_t parser;
	bool parsing;
	struct bt_yaml_error error;

	/* of the document */
	struct bt_buf out, copy;
	struct bt_arena arena;
	struct bt_json *json;
	struct yaml_level levels[BT_LIMIT_DEPTH];
	uint32_t level_n;
	struct yaml_entry *entries;
	size_t entry_n, entry_cap;
	size_t *slots; /* 1 + index of an entry; LIFO, so that removing leaves no gap in a chain */
	size_t slot_n;
	struct anchor *anchors;
	size_t anchor_n, anchor_cap;
	struct line_mark *marks;
	size_t mark_n, mark_cap;
	size_t expanded_bytes;

	bt_yaml_duplicate_fn *report_duplicate; /* NULL: they are errors */
	void *report_context;
};

struct bt_yaml *bt_yaml_create(void)
{
	struct bt_yaml *yaml = bt_mem_zalloc(1, sizeof(*yaml));

	yaml->json = bt_json_create();
	return yaml;
}

static void end_piece(struct bt_yaml *yaml)
{
	if (yaml->parsing) {
		yaml_parser_delete(&yaml->parser);
		yaml->parsing = false;
	}
}

void bt_yaml_destroy(struct bt_yaml *yaml)
{
	if (!yaml) {
		return;
	}
	end_piece(yaml);
	bt_buf_fini(&yaml->out);
	bt_buf_fini(&yaml->copy);
	bt_arena_fini(&yaml->arena);
	bt_json_destroy(yaml->json);
	bt_mem_free(yaml->entries);
	bt_mem_free(yaml->slots);
	bt_mem_free(yaml->anchors);
	bt_mem_free(yaml->marks);
	bt_mem_free(yaml);
}

void bt_yaml_begin(struct bt_yaml *yaml, struct bt_str text)
{
	end_piece(yaml);
	yaml->text = text;
	yaml->at = yaml->line = 0;
}

void bt_yaml_report_duplicates(struct bt_yaml *yaml, bt_yaml_duplicate_fn *report, void *context)
{
	yaml->report_duplicate = report;
	yaml->report_context = context;
}

const struct bt_yaml_error *bt_yaml_error(const struct bt_yaml *yaml)
{
	return &yaml->error;
}

size_t bt_yaml_line(const struct bt_yaml *yaml, size_t offset)
{
	size_t low = 0, high = yaml->mark_n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (yaml->marks[middle].offset <= offset) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low ? yaml->marks[low - 1].line : yaml->piece_line + 1;
}

static BT_PRINTF(5, 6) bool yaml_fail(struct bt_yaml *yaml, enum bt_status status, const yaml_mark_t *mark,
	const char *remedy, const char *format, ...)
{
	va_list args;

	yaml->error = (struct bt_yaml_error){.status = status,
		.line = yaml->piece_line + mark->line + 1,
		.column = mark->column + 1,
		.remedy = remedy};
	va_start(args, format);
	vsnprintf(yaml->error.message, sizeof(yaml->error.message), format, args);
	va_end(args);
	return false;
}

/* Records the source line of the next output. */
static void note_line(struct bt_yaml *yaml, const yaml_mark_t *mark)
{
	size_t line = yaml->piece_line + mark->line + 1;

	if (yaml->mark_n && yaml->marks[yaml->mark_n - 1].line == line) {
		return;
	}
	yaml->marks = bt_mem_grow(yaml->marks, yaml->mark_n, &yaml->mark_cap, sizeof(*yaml->marks));
	yaml->marks[yaml->mark_n++] = (struct line_mark){yaml->out.len, line};
}

static struct bt_str out_text(const struct bt_yaml *yaml, size_t start, size_t end)
{
	return (struct bt_str){yaml->out.ptr + start, end - start};
}

/* The entries of the open mappings as a hash table. */
static size_t *find_slot(struct bt_yaml *yaml, const struct yaml_entry *e)
{
	struct bt_str key = out_text(yaml, e->key_start, e->key_start + e->key_len);
	size_t at = e->hash & (yaml->slot_n - 1);

	for (; yaml->slots[at]; at = (at + 1) & (yaml->slot_n - 1)) {
		const struct yaml_entry *other = &yaml->entries[yaml->slots[at] - 1];

		if (other->hash == e->hash && other->mapping == e->mapping && other->depth == e->depth &&
			bt_str_eq(out_text(yaml, other->key_start, other->key_start + other->key_len), key)) {
			break;
		}
	}
	return &yaml->slots[at];
}

static void grow_slots(struct bt_yaml *yaml)
{
	if ((yaml->entry_n + 1) * 2 <= yaml->slot_n) {
		return;
	}
	bt_mem_free(yaml->slots);
	yaml->slot_n = yaml->slot_n ? yaml->slot_n * 2 : 256;
	yaml->slots = bt_mem_zalloc(yaml->slot_n, sizeof(*yaml->slots));
	for (size_t i = 0; i < yaml->entry_n; i++) {
		*find_slot(yaml, &yaml->entries[i]) = i + 1;
	}
}

/* Overwrites a member and its comma. */
static void erase(struct bt_yaml *yaml, const struct yaml_entry *e)
{
	memset(yaml->out.ptr + e->start, ' ', e->end + 1 - e->start);
}

/*
 * Enters the member whose key was just written. A merged member is replaced, an explicit one is a duplicate:
 * an error. With a duplicate callback both are replaced and reported: when the value is complete, or when it
 * is merged.
 */
static bool add_entry(struct bt_yaml *yaml, size_t key_start, bool merged, const yaml_mark_t *mark)
{
	struct yaml_level *level = &yaml->levels[yaml->level_n - 1];
	struct bt_str key = out_text(yaml, key_start, yaml->out.len);
	struct yaml_entry e = {.start = key_start,
		.key_start = key_start,
		.key_len = key.len,
		.mapping = level->entry_base,
		.depth = yaml->level_n,
		.merged = merged};

	e.hash = bt_hash_bytes(key.ptr, key.len) ^ bt_hash_u64(e.mapping << 9 | e.depth);
	grow_slots(yaml);
	size_t *slot = find_slot(yaml, &e);
	if (*slot) {
		struct yaml_entry *old = &yaml->entries[*slot - 1];

		level->is_duplicate = yaml->report_duplicate && !merged;
		if (yaml->report_duplicate && merged) {
			yaml->report_duplicate(yaml->report_context, key, yaml->piece_line + mark->line + 1);
		} else if (!yaml->report_duplicate && !old->merged && !merged) {
			return yaml_fail(yaml, BT_EXISTS, mark, "keep one of them",
				"the key %.*s appears twice", (int)(key.len < 100 ? key.len : 100), key.ptr);
		}
		/* The slot stays with the old entry, which takes the new member's place in the text. */
		erase(yaml, old);
		old->start = old->key_start = key_start;
		old->merged = merged;
		level->entry_ix = *slot - 1;
		return true;
	}
	yaml->entries = bt_mem_grow(yaml->entries, yaml->entry_n, &yaml->entry_cap, sizeof(*yaml->entries));
	yaml->entries[yaml->entry_n++] = e;
	*slot = yaml->entry_n;
	level->entry_ix = yaml->entry_n - 1;
	return true;
}

static void drop_entries(struct bt_yaml *yaml, size_t base)
{
	while (yaml->entry_n > base) {
		*find_slot(yaml, &yaml->entries[yaml->entry_n - 1]) = 0;
		yaml->entry_n--;
	}
}

/* Counts output that is not in the file. */
static bool count_bytes(struct bt_yaml *yaml, size_t bytes, const yaml_mark_t *mark)
{
	size_t limit = yaml->piece.len * BT_LIMIT_YAML_EXPANDED_TIMES;

	limit = limit > BT_LIMIT_YAML_EXPANDED_BYTES ? limit : BT_LIMIT_YAML_EXPANDED_BYTES;
	yaml->expanded_bytes += bytes;
	if (yaml->expanded_bytes > limit) {
		return yaml_fail(yaml, BT_RANGE, mark, "write the values out",
			"aliases expand to more than %zu bytes", limit);
	}
	return true;
}

/* Writes the end of the member of the mapping on top. */
static void end_member(struct bt_yaml *yaml)
{
	struct yaml_level *level = &yaml->levels[yaml->level_n - 1];

	yaml->entries[level->entry_ix].end = yaml->out.len;
	bt_buf_char(&yaml->out, ',');
	level->has_key = false;
}

static bool merge_needs_mapping(struct bt_yaml *yaml, const yaml_mark_t *mark)
{
	return yaml_fail(yaml, BT_INVALID, mark, "merge an alias of a mapping",
		"a merge key needs a mapping or a sequence of mappings");
}

/* Writes the members of an object, given as JSON text of ours, into the mapping on top. */
static bool merge_object(struct bt_yaml *yaml, struct bt_str text, const yaml_mark_t *mark)
{
	struct bt_str key, value;

	bt_json_begin(yaml->json, text, &yaml->arena);
	if (!bt_json_enter_object(yaml->json)) {
		return merge_needs_mapping(yaml, mark);
	}
	note_line(yaml, mark);
	while (bt_json_next_key(yaml->json, &key) && bt_json_raw(yaml->json, &value)) {
		size_t start = yaml->out.len;

		bt_quote_json(&yaml->out, key);
		if (!add_entry(yaml, start, true, mark)) {
			return false;
		}
		bt_buf_char(&yaml->out, ':');
		bt_buf_str(&yaml->out, value);
		end_member(yaml);
	}
	if (bt_json_error(yaml->json)->status != BT_OK) {
		return yaml_fail(yaml, bt_json_error(yaml->json)->status, mark, "write the values out", "%s",
			bt_json_error(yaml->json)->text);
	}
	return true;
}

/* The value of a merge key is complete: replaces it by its members. Earlier mappings win. */
static bool merge(struct bt_yaml *yaml, const yaml_mark_t *mark)
{
	struct yaml_level *level = &yaml->levels[yaml->level_n - 1];
	size_t n = yaml->out.len - level->value_start, item_n = 0, item_cap = 0;
	struct bt_str text = {bt_arena_copy(&yaml->arena, yaml->out.ptr + level->value_start, n), n};
	struct bt_str *items = NULL;
	bool ok = count_bytes(yaml, n, mark);

	yaml->out.len = level->value_start;
	level->has_key = level->is_merge = false;
	while (yaml->mark_n && yaml->marks[yaml->mark_n - 1].offset > yaml->out.len) {
		yaml->mark_n--;
	}
	if (text.ptr[0] != '[') {
		return ok && merge_object(yaml, text, mark);
	}
	bt_json_begin(yaml->json, text, &yaml->arena);
	bt_json_enter_array(yaml->json);
	while (ok && bt_json_next_element(yaml->json)) {
		items = bt_mem_grow(items, item_n, &item_cap, sizeof(*items));
		ok = bt_json_raw(yaml->json, &items[item_n++]);
	}
	while (ok && item_n) {
		ok = merge_object(yaml, items[--item_n], mark);
	}
	bt_mem_free(items);
	return ok;
}

/* A value was written completely. */
static bool end_value(struct bt_yaml *yaml, size_t start, size_t anchor_ix, const yaml_mark_t *mark)
{
	if (anchor_ix != NO_ANCHOR) {
		size_t n = yaml->out.len - start;

		if (!count_bytes(yaml, n, mark)) {
			return false;
		}
		yaml->anchors[anchor_ix].text =
			(struct bt_str){bt_arena_copy(&yaml->arena, yaml->out.ptr + start, n), n};
	}
	if (yaml->level_n == 0) {
		return true;
	}
	struct yaml_level *level = &yaml->levels[yaml->level_n - 1];
	if (!level->is_mapping) {
		bt_buf_char(&yaml->out, ',');
		return true;
	}
	if (level->is_merge) {
		return merge(yaml, mark);
	}
	if (level->is_duplicate) {
		const struct yaml_entry *e = &yaml->entries[level->entry_ix];

		yaml->report_duplicate(yaml->report_context,
			out_text(yaml, e->key_start, e->key_start + e->key_len), bt_yaml_line(yaml, start));
		level->is_duplicate = false;
	}
	end_member(yaml);
	return true;
}

/* Enters the anchor's name; a later one of the same name hides it. */
static size_t add_anchor(struct bt_yaml *yaml, const yaml_char_t *name)
{
	if (!name) {
		return NO_ANCHOR;
	}
	size_t n = strlen((const char *)name);
	yaml->anchors = bt_mem_grow(yaml->anchors, yaml->anchor_n, &yaml->anchor_cap, sizeof(*yaml->anchors));
	yaml->anchors[yaml->anchor_n] =
		(struct anchor){.name = {bt_arena_copy(&yaml->arena, (const char *)name, n), n}};
	return yaml->anchor_n++;
}

static const struct anchor *find_anchor(const struct bt_yaml *yaml, struct bt_str name)
{
	for (size_t i = yaml->anchor_n; i--;) {
		if (bt_str_eq(yaml->anchors[i].name, name)) {
			return &yaml->anchors[i];
		}
	}
	return NULL;
}

/* Whether the next node is a key. */
static bool at_key(const struct bt_yaml *yaml)
{
	return yaml->level_n && yaml->levels[yaml->level_n - 1].is_mapping &&
	       !yaml->levels[yaml->level_n - 1].has_key;
}

static bool begin_merge(struct bt_yaml *yaml)
{
	struct yaml_level *level = &yaml->levels[yaml->level_n - 1];

	level->has_key = level->is_merge = true;
	level->value_start = yaml->out.len;
	return true;
}

static bool end_key(struct bt_yaml *yaml, size_t start, const yaml_mark_t *mark)
{
	if (!add_entry(yaml, start, false, mark)) {
		return false;
	}
	bt_buf_char(&yaml->out, ':');
	yaml->levels[yaml->level_n - 1].has_key = true;
	return true;
}

#define LONG_TAG "tag:yaml.org,2002:"

/* Is the tag one that requests a type? With other tags the scalar is a string. */
static bool is_tag(struct bt_str tag, const char *name)
{
	return bt_str_starts(tag, LONG_TAG) && bt_str_is(bt_str_sub(tag, strlen(LONG_TAG), tag.len), name);
}

static bool tag_fits(struct bt_str tag, enum bt_scalar type)
{
	switch (type) {
	case BT_SCALAR_STRING:
		return is_tag(tag, "timestamp");
	case BT_SCALAR_NULL:
		return is_tag(tag, "null");
	case BT_SCALAR_BOOL:
		return is_tag(tag, "bool");
	case BT_SCALAR_INT:
	case BT_SCALAR_UINT:
		return is_tag(tag, "int") || is_tag(tag, "float");
	default:
		return is_tag(tag, "float");
	}
}

/* Appends a scalar's JSON text, as a string when it is a key. */
static bool write_scalar(struct bt_yaml *yaml, const yaml_event_t *event, bool is_key)
{
	const yaml_mark_t *mark = &event->start_mark;
	struct bt_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
	struct bt_str tag = bt_str((const char *)event->data.scalar.tag);
	bool typed = is_tag(tag, "int") || is_tag(tag, "float") || is_tag(tag, "bool") ||
		     is_tag(tag, "null") || is_tag(tag, "timestamp");

	if (is_tag(tag, "binary")) {
		return yaml_fail(
			yaml, BT_UNSUPPORTED, mark, "write the text itself", "!!binary is not supported");
	}
	if (!typed && (tag.len || !event->data.scalar.plain_implicit)) {
		bt_quote_json(&yaml->out, text);
		return true;
	}
	bt_buf_clear(&yaml->copy);
	enum bt_scalar type = bt_scalar_resolve(text, is_key, &yaml->copy);
	if (typed && !tag_fits(tag, type)) {
		return yaml_fail(yaml, BT_INVALID, mark, "correct the value or the tag",
			"the value does not fit its tag %.*s", BT_STR_ARG(tag));
	}
	if (type == BT_SCALAR_STRING) {
		bt_quote_json(&yaml->out, text);
		return true;
	}
	if (type == BT_SCALAR_NO_NUMBER && !is_key) {
		return yaml_fail(yaml, BT_INVALID, mark, "put it into quotes if it is meant as text",
			"%.*s is no number that can be used", BT_STR_ARG(text));
	}
	if (!is_key) {
		bt_buf_str(&yaml->out, bt_buf_view(&yaml->copy));
		return true;
	}
	if (type == BT_SCALAR_NULL || type == BT_SCALAR_UINT) {
		return yaml_fail(yaml, BT_INVALID, mark, "put it into quotes if it is meant as text",
			"\"%.*s\" cannot be a key", BT_STR_ARG(text));
	}
	bt_quote_json(&yaml->out, bt_buf_view(&yaml->copy));
	return true;
}

static bool on_scalar(struct bt_yaml *yaml, const yaml_event_t *event)
{
	const yaml_mark_t *mark = &event->start_mark;
	struct bt_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
	bool is_key = at_key(yaml);

	if (is_key && bt_str_is(text, "<<") &&
		(event->data.scalar.plain_implicit ||
			is_tag(bt_str((const char *)event->data.scalar.tag), "merge"))) {
		return begin_merge(yaml);
	}
	note_line(yaml, mark);
	size_t start = yaml->out.len;
	size_t anchor_ix = add_anchor(yaml, event->data.scalar.anchor);
	if (!write_scalar(yaml, event, is_key)) {
		return false;
	}
	if (!is_key) {
		return end_value(yaml, start, anchor_ix, mark);
	}
	if (anchor_ix != NO_ANCHOR) {
		size_t n = yaml->out.len - start;

		yaml->anchors[anchor_ix].text =
			(struct bt_str){bt_arena_copy(&yaml->arena, yaml->out.ptr + start, n), n};
	}
	return end_key(yaml, start, mark);
}

static bool on_alias(struct bt_yaml *yaml, const yaml_event_t *event)
{
	const yaml_mark_t *mark = &event->start_mark;
	struct bt_str name = bt_str((const char *)event->data.alias.anchor);
	const struct anchor *anchor = find_anchor(yaml, name);
	size_t start = yaml->out.len;

	if (!anchor) {
		return yaml_fail(yaml, BT_INVALID, mark, "define the anchor before it is used",
			"unknown anchor \"%.*s\"", (int)(name.len < 100 ? name.len : 100), name.ptr);
	}
	if (!anchor->text.len) {
		return yaml_fail(yaml, BT_INVALID, mark, "write the values out",
			"the anchor \"%.*s\" contains itself", (int)(name.len < 100 ? name.len : 100),
			name.ptr);
	}
	if (!count_bytes(yaml, anchor->text.len, mark)) {
		return false;
	}
	note_line(yaml, mark);
	if (!at_key(yaml)) {
		bt_buf_str(&yaml->out, anchor->text);
		return end_value(yaml, start, NO_ANCHOR, mark);
	}
	if (anchor->text.ptr[0] != '"') {
		return yaml_fail(yaml, BT_INVALID, mark, "write the key out",
			"the alias stands for no string and cannot be a key");
	}
	bt_buf_str(&yaml->out, anchor->text);
	return end_key(yaml, start, mark);
}

static bool on_start(struct bt_yaml *yaml, const yaml_event_t *event, bool is_mapping)
{
	const yaml_mark_t *mark = &event->start_mark;

	if (at_key(yaml)) {
		return yaml_fail(yaml, BT_INVALID, mark,
			"use a plain word as the key, and put words with braces into quotes",
			"a %s cannot be a key", is_mapping ? "mapping" : "sequence");
	}
	if (yaml->level_n == BT_LIMIT_DEPTH) {
		return yaml_fail(
			yaml, BT_DEPTH, mark, "flatten it", "nested deeper than %d levels", BT_LIMIT_DEPTH);
	}
	note_line(yaml, mark);
	yaml->levels[yaml->level_n] = (struct yaml_level){.is_mapping = is_mapping,
		.entry_base = yaml->entry_n,
		.start = yaml->out.len,
		.anchor_ix = add_anchor(yaml,
			is_mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor)};
	yaml->level_n++;
	bt_buf_char(&yaml->out, is_mapping ? '{' : '[');
	return true;
}

static bool on_end(struct bt_yaml *yaml, const yaml_event_t *event)
{
	const struct yaml_level level = yaml->levels[yaml->level_n - 1];

	drop_entries(yaml, level.entry_base);
	yaml->level_n--;
	if (yaml->out.ptr[yaml->out.len - 1] == ',') {
		yaml->out.len--;
	}
	bt_buf_char(&yaml->out, level.is_mapping ? '}' : ']');
	return end_value(yaml, level.start, level.anchor_ix, &event->start_mark);
}

/* Whether the white space at the start of the line with number line_ix (from 0) of the piece has a tab in it.
 */
static bool is_tab_indented(struct bt_str piece, size_t line_ix)
{
	size_t at = 0;

	for (; line_ix && at < piece.len; line_ix--) {
		at = bt_str_find(piece, '\n', at) + 1;
	}
	while (at < piece.len && piece.ptr[at] == ' ') {
		at++;
	}
	return at < piece.len && piece.ptr[at] == '\t';
}

/* libyaml has found an error. Its reader knows only the offset. */
static bool explain_parser(struct bt_yaml *yaml)
{
	const yaml_parser_t *parser = &yaml->parser;
	const char *problem = parser->problem ? parser->problem : "cannot be read";
	yaml_mark_t mark = parser->problem_mark;
	const char *remedy = "correct the line, or write the file again";

	if (parser->error == YAML_READER_ERROR) {
		size_t line, column;

		bt_json_place(yaml->piece, parser->problem_offset, &line, &column);
		mark = (yaml_mark_t){.line = line - 1, .column = column - 1};
		bool nul = parser->problem_value == 0;
		return yaml_fail(yaml, BT_INVALID, &mark, "write the file again as UTF-8 text", "%s",
			nul ? "NUL byte" : problem);
	}
	if (is_tab_indented(yaml->piece, mark.line)) {
		return yaml_fail(yaml, BT_INVALID, &mark, "indent with spaces",
			"a tab stands where YAML wants spaces: %s", problem);
	}
	if (parser->mark.index + 1 >= yaml->piece.len) {
		remedy = "complete the file, it seems to be cut off";
	}
	return yaml_fail(yaml, BT_INVALID, &mark, remedy, "%s%s%s", parser->context ? parser->context : "",
		parser->context ? ", " : "", problem);
}

/* Source: go-yaml v2.4: lines count from 0, but those of the scanner from 1. */
static void parser_failed(struct bt_yaml *yaml)
{
	const yaml_parser_t *parser = &yaml->parser;
	size_t line = parser->problem_mark.line;

	explain_parser(yaml);
	if (line) {
		line += parser->error == YAML_SCANNER_ERROR;
	} else {
		line = parser->context_mark.line;
	}
	yaml->error.problem = parser->problem ? parser->problem : "unknown problem parsing YAML content";
	yaml->error.problem_line = line ? yaml->piece_line + line : 0;
}

static bool on_event(struct bt_yaml *yaml, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return on_scalar(yaml, event);
	case YAML_ALIAS_EVENT:
		return on_alias(yaml, event);
	case YAML_MAPPING_START_EVENT:
		return on_start(yaml, event, true);
	case YAML_SEQUENCE_START_EVENT:
		return on_start(yaml, event, false);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return on_end(yaml, event);
	default:
		return true;
	}
}

static void begin_document(struct bt_yaml *yaml)
{
	drop_entries(yaml, 0);
	bt_arena_reset(&yaml->arena);
	bt_buf_clear(&yaml->out);
	yaml->level_n = 0;
	yaml->anchor_n = yaml->mark_n = 0;
	yaml->expanded_bytes = 0;
}

enum document {
	DOCUMENT_READ,
	DOCUMENT_NONE, /* the piece is over */
	DOCUMENT_BAD
};

static enum document read_document(struct bt_yaml *yaml)
{
	begin_document(yaml);
	for (;;) {
		yaml_event_t event;

		if (!yaml_parser_parse(&yaml->parser, &event)) {
			parser_failed(yaml);
			return DOCUMENT_BAD;
		}
		yaml_event_type_t type = event.type;
		bool ok = on_event(yaml, &event);
		yaml_event_delete(&event);
		if (!ok) {
			return DOCUMENT_BAD;
		}
		if (type == YAML_DOCUMENT_END_EVENT || type == YAML_STREAM_END_EVENT) {
			return type == YAML_DOCUMENT_END_EVENT ? DOCUMENT_READ : DOCUMENT_NONE;
		}
	}
}

/* Whether the line at offset at is a separator of documents. */
static bool is_separator(struct bt_str text, size_t at)
{
	struct bt_str rest = bt_str_sub(text, at, text.len);

	return bt_str_starts(rest, "---") && (rest.len == 3 || rest.ptr[3] == ' ' || rest.ptr[3] == '\t' ||
						     rest.ptr[3] == '\n' || rest.ptr[3] == '\r');
}

/* Takes the text up to the next separator. Directives belong to the following document. */
static bool next_piece(struct bt_yaml *yaml)
{
	size_t begin = yaml->at, at = begin;
	bool directives = at < yaml->text.len && yaml->text.ptr[at] == '%';

	if (begin >= yaml->text.len) {
		return false;
	}
	yaml->piece_line = yaml->line;
	do {
		at = bt_str_find(yaml->text, '\n', at);
		at += at < yaml->text.len;
		yaml->line++;
		if (directives && at < yaml->text.len && is_separator(yaml->text, at)) {
			directives = false;
			at += 3;
		}
	} while (at < yaml->text.len && !is_separator(yaml->text, at));
	yaml->at = at;
	yaml->piece = bt_str_sub(yaml->text, begin, at);
	if (!yaml_parser_initialize(&yaml->parser)) {
		return false;
	}
	yaml->parsing = true;
	yaml_parser_set_input_string(&yaml->parser, (const unsigned char *)yaml->piece.ptr, yaml->piece.len);
	return true;
}

enum bt_status bt_yaml_next(struct bt_yaml *yaml, struct bt_str *out_json)
{
	for (;;) {
		if (!yaml->parsing && !next_piece(yaml)) {
			return BT_NOT_FOUND;
		}
		switch (read_document(yaml)) {
		case DOCUMENT_READ:
			*out_json = bt_buf_view(&yaml->out);
			if (yaml->out.len && !bt_str_is(*out_json, "null")) {
				return BT_OK;
			}
			break;
		case DOCUMENT_NONE:
			end_piece(yaml);
			break;
		case DOCUMENT_BAD:
			end_piece(yaml);
			return yaml->error.status;
		}
	}
}
