/* SPDX-License-Identifier: Apache-2.0
 * JSON goes to json_write.c; YAML is block style, with every string in double quotes that YAML 1.1 or 1.2
 * could read as something else than a string.
 */
#include "tools/cli/doc_write.h"

#include <math.h>
#include <strings.h>

#include "engine/base/check.h"
#include "engine/base/quote.h"

void bt_doc_init(struct bt_doc *doc, enum bt_doc_style style, struct bt_buf *out)
{
	*doc = (struct bt_doc){.style = style, .json = {.out = out, .pretty = style == BT_DOC_JSON_PRETTY}};
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_plain_char(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';
}

/* Plain only when it starts with a letter, and has no special characters and is no special word. */
static bool is_plain(struct bt_str s)
{
	static const char *const words[] = {
		"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"};

	if (s.len == 0 || !is_letter(s.ptr[0])) {
		return false;
	}
	for (size_t i = 0; i < s.len; i++) {
		if (!is_plain_char(s.ptr[i])) {
			return false;
		}
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (s.len == strlen(words[i]) && strncasecmp(s.ptr, words[i], s.len) == 0) {
			return false;
		}
	}
	return true;
}

static void add_yaml_string(struct bt_buf *out, struct bt_str s)
{
	if (is_plain(s)) {
		bt_buf_str(out, s);
	} else {
		bt_quote_json(out, s);
	}
}

static bool in_array(const struct bt_json_writer *json)
{
	return json->depth > 0 && (json->is_array >> json->depth & 1);
}

/* Indentation of the members of the container at this depth; a list is not indented below its key. */
static void new_line(struct bt_doc *doc)
{
	struct bt_json_writer *json = &doc->json;
	unsigned columns = 0;

	for (unsigned d = 2; d <= json->depth; d++) {
		bool is_array = json->is_array >> d & 1;
		bool parent_is_array = json->is_array >> (d - 1) & 1;

		columns += is_array && !parent_is_array ? 0 : 2;
	}
	if (json->out->len > 0 && json->out->ptr[json->out->len - 1] != '\n') {
		bt_buf_char(json->out, '\n');
	}
	for (unsigned i = 0; i < columns; i++) {
		bt_buf_char(json->out, ' ');
	}
}

/* Starts the next member of the open container on its own line, or after "- ". */
static void begin_member(struct bt_doc *doc)
{
	doc->json.has_member |= (uint64_t)1 << doc->json.depth;
	if (doc->in_item) {
		doc->in_item = false;
		return;
	}
	new_line(doc);
}

/* Writes a space after a key, or a list's dash. */
static void before_scalar(struct bt_doc *doc)
{
	if (doc->json.after_key) {
		doc->json.after_key = false;
		bt_buf_char(doc->json.out, ' ');
	} else if (in_array(&doc->json)) {
		begin_member(doc);
		bt_buf_text(doc->json.out, "- ");
	}
}

static void doc_write_begin(struct bt_doc *doc, uint64_t is_array)
{
	struct bt_json_writer *json = &doc->json;

	BT_REQUIRE(json->depth + 1 < BT_JSON_WRITE_DEPTH_MAX);
	if (!json->after_key && in_array(json)) {
		begin_member(doc);
		bt_buf_text(json->out, "- ");
		doc->in_item = true;
	}
	json->depth++;
	json->has_member &= ~((uint64_t)1 << json->depth);
	json->is_array &= ~((uint64_t)1 << json->depth);
	json->is_array |= is_array << json->depth;
}

void bt_doc_begin_object(struct bt_doc *doc)
{
	if (doc->style != BT_DOC_YAML) {
		bt_json_write_begin_object(&doc->json);
		return;
	}
	doc_write_begin(doc, 0);
	doc->json.after_key = false;
}

void bt_doc_begin_array(struct bt_doc *doc)
{
	if (doc->style != BT_DOC_YAML) {
		bt_json_write_begin_array(&doc->json);
		return;
	}
	doc_write_begin(doc, 1);
	doc->json.after_key = false;
}

static void end_yaml(struct bt_doc *doc)
{
	struct bt_json_writer *json = &doc->json;
	uint64_t bit = (uint64_t)1 << json->depth;

	BT_REQUIRE(json->depth > 0 && !json->after_key);
	if (!(json->has_member & bit)) {
		if (json->out->len > 0 && json->out->ptr[json->out->len - 1] == ':') {
			bt_buf_char(json->out, ' ');
		}
		bt_buf_text(json->out, json->is_array & bit ? "[]" : "{}");
		doc->in_item = false;
	}
	json->depth--;
	if (json->depth == 0) {
		bt_buf_char(json->out, '\n');
	}
}

void bt_doc_end(struct bt_doc *doc)
{
	if (doc->style == BT_DOC_YAML) {
		end_yaml(doc);
	} else {
		bt_json_write_end(&doc->json);
	}
}

void bt_doc_key_str(struct bt_doc *doc, struct bt_str key)
{
	if (doc->style != BT_DOC_YAML) {
		bt_json_write_key_str(&doc->json, key);
		return;
	}
	BT_REQUIRE(doc->json.depth > 0 && !doc->json.after_key && !in_array(&doc->json));
	begin_member(doc);
	add_yaml_string(doc->json.out, key);
	bt_buf_char(doc->json.out, ':');
	doc->json.after_key = true;
}

void bt_doc_key(struct bt_doc *doc, const char *key)
{
	bt_doc_key_str(doc, bt_str(key));
}

void bt_doc_str(struct bt_doc *doc, struct bt_str value)
{
	if (doc->style != BT_DOC_YAML) {
		bt_json_write_str(&doc->json, value);
		return;
	}
	before_scalar(doc);
	add_yaml_string(doc->json.out, value);
}

void bt_doc_text(struct bt_doc *doc, const char *value)
{
	bt_doc_str(doc, bt_str(value));
}

void bt_doc_int(struct bt_doc *doc, int64_t value)
{
	if (doc->style != BT_DOC_YAML) {
		bt_json_write_int(&doc->json, value);
		return;
	}
	before_scalar(doc);
	bt_buf_int(doc->json.out, value);
}

void bt_doc_bool(struct bt_doc *doc, bool value)
{
	if (doc->style != BT_DOC_YAML) {
		bt_json_write_bool(&doc->json, value);
		return;
	}
	before_scalar(doc);
	bt_buf_text(doc->json.out, value ? "true" : "false");
}

void bt_doc_null(struct bt_doc *doc)
{
	if (doc->style != BT_DOC_YAML) {
		bt_json_write_null(&doc->json);
		return;
	}
	before_scalar(doc);
	bt_buf_text(doc->json.out, "null");
}

void bt_doc_real(struct bt_doc *doc, double value, int digits)
{
	if (doc->style != BT_DOC_YAML) {
		bt_json_write_real(&doc->json, value, digits);
		return;
	}
	before_scalar(doc);
	if (isfinite(value)) {
		bt_buf_printf(doc->json.out, "%.*f", digits, value);
	} else {
		bt_buf_text(doc->json.out, "null");
	}
}
