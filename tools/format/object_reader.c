/* SPDX-License-Identifier: Apache-2.0
 * The object reader: finds kind and apiVersion, flattens lists, and continues after invalid objects.
 */
#include "tools/format/object_reader.h"

#include <stdio.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/format/ahead_int.h"
#include "tools/format/limits.h"
#include "tools/format/object_int.h"
#include "tools/format/object_schema.h"
#include "tools/format/validate.h"
#include "tools/format/yaml.h"

#define NO_KIND_REMEDY "add apiVersion and kind"

/* A list that is being read. Its words are copied: the arena is reset for each element. */
struct object_list {
	struct bt_json_mark start; /* of the list's object */
	struct bt_list_words words;
	size_t items_offset; /* after the bracket */
	uint32_t next_ix;
};

/* The position of line counting, so that errors in a large file do not count from its start each. */
struct object_place {
	size_t offset, line, line_start;
};

struct bt_object_reader {
	bt_diagnosis_fn *report;
	void *context;
	struct bt_input *input;
	struct bt_json *json;
	struct bt_yaml *yaml;
	struct bt_arena arena;
	struct bt_object object;
	struct bt_object_counts counts;
	struct bt_input_file file;
	bool file_open, in_yaml, validates;
	uint64_t file_objects, file_documents;
	struct bt_str json_text;
	struct object_place place;
	size_t object_offset; /* of the last object, in json_text */
	struct object_list lists[BT_LIMIT_LIST_DEPTH];
	uint32_t list_n;
	/* Reading ahead. */
	uint32_t helper_n;
	size_t range_bytes;
	struct bt_ahead *ahead;
	uint32_t ahead_list_n;		    /* list_n of the list that is read ahead */
	const struct bt_ahead_range *range; /* whose objects are being returned */
	uint32_t range_next;
};

static void on_input_error(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_object_reader *reader = context;

	reader->counts.errors++;
	reader->report(reader->context, diagnosis);
}

struct bt_object_reader *bt_object_reader_create(bt_diagnosis_fn *report, void *context)
{
	struct bt_object_reader *reader = bt_mem_zalloc(1, sizeof(*reader));

	reader->report = report;
	reader->context = context;
	reader->json = bt_json_create();
	reader->yaml = bt_yaml_create();
	reader->input = bt_input_create(on_input_error, reader);
	return reader;
}

void bt_object_reader_destroy(struct bt_object_reader *reader)
{
	if (!reader) {
		return;
	}
	bt_ahead_end(reader->ahead);
	bt_input_destroy(reader->input);
	bt_yaml_destroy(reader->yaml);
	bt_json_destroy(reader->json);
	bt_arena_fini(&reader->arena);
	bt_mem_free(reader);
}

enum bt_status bt_object_reader_add_path(struct bt_object_reader *reader, const char *path)
{
	return bt_input_add(reader->input, path);
}

struct bt_object_counts bt_object_reader_counts(const struct bt_object_reader *reader)
{
	struct bt_object_counts counts = reader->counts;

	counts.ignored_files = bt_input_ignored(reader->input);
	counts.unreadable = bt_input_unreadable(reader->input);
	return counts;
}

const char *bt_object_reader_file(const struct bt_object_reader *reader)
{
	return reader->file.name;
}

size_t bt_object_name(const struct bt_object *object, char *out, size_t cap)
{
	struct bt_str kind = object->kind_name.len ? object->kind_name : (struct bt_str)BT_STR("object");
	struct bt_str space = object->meta.namespace_;
	struct bt_str name = object->meta.name.len ? object->meta.name : object->meta.generate_name;
	int n = snprintf(out, cap, "%.*s%s%.*s%s%.*s", BT_STR_ARG(kind), name.len ? " " : "",
		BT_STR_ARG(space), space.len && name.len ? "/" : "", BT_STR_ARG(name));

	return (size_t)n < cap ? (size_t)n : cap - 1;
}

/* Counts lines on from the last place, or from the start when offset lies before it. No byte is scanned
 * twice: a whole cluster may be on one line, with something wrong in each object. */
static void count_lines(struct object_place *place, struct bt_str text, size_t offset)
{
	struct bt_str before = bt_str_sub(text, 0, offset < text.len ? offset : text.len);

	if (before.len < place->offset) {
		*place = (struct object_place){.line = 1};
	}
	while (place->offset < before.len) {
		size_t at = bt_str_find(before, '\n', place->offset);

		place->offset = at < before.len ? at + 1 : before.len;
		if (at < before.len) {
			place->line++;
			place->line_start = at + 1;
		}
	}
}

size_t bt_object_reader_line(struct bt_object_reader *reader)
{
	if (reader->range) {
		return 0;
	}
	if (reader->in_yaml) {
		return bt_yaml_line(reader->yaml, reader->object_offset);
	}
	count_lines(&reader->place, reader->json_text, reader->object_offset);
	return reader->place.line;
}

/* Reports a diagnosis about an offset of the document. */
static void report_at(struct bt_object_reader *reader, size_t offset, struct bt_diagnosis *diagnosis)
{
	diagnosis->file = reader->file.name;
	if (reader->in_yaml) {
		diagnosis->line = bt_yaml_line(reader->yaml, offset);
	} else {
		count_lines(&reader->place, reader->json_text, offset);
		diagnosis->line = reader->place.line;
		diagnosis->column = offset - reader->place.line_start + 1;
	}
	reader->counts.errors += diagnosis->severity == BT_PROBLEM;
	reader->report(reader->context, diagnosis);
}

static void report(struct bt_object_reader *reader, const struct bt_decode_error *e, const char *object,
	enum bt_loss loss)
{
	struct bt_diagnosis diagnosis = {
		.object = object, .path = e->path, .message = e->message, .remedy = e->remedy, .loss = loss};

	report_at(reader, e->offset, &diagnosis);
}

static bool is_header_key(struct bt_str key, struct bt_object_header *header, struct bt_str **out)
{
	if (bt_str_is(key, "apiVersion")) {
		*out = &header->api_version;
		return true;
	}
	if (bt_str_is(key, "kind")) {
		*out = &header->kind;
		return true;
	}
	return false;
}

/* Takes the value of apiVersion or kind. null counts as absent. */
static bool read_word(struct bt_decode *decode, struct bt_str key, struct bt_str *out)
{
	struct bt_path step = {.up = decode->path, .key = key};
	const struct bt_path *path = decode->path;
	bool ok;

	if (bt_json_peek(decode->json) == BT_JSON_NULL) {
		return bt_json_null(decode->json);
	}
	decode->path = &step;
	ok = bt_decode_string(decode, out);
	decode->path = path;
	return ok;
}

/* Copies the cursor's error into decode->error, unless it was set there. */
static bool stopped(struct bt_decode *decode)
{
	const struct bt_json_error *error = bt_json_error(decode->json);

	if (decode->error.status == BT_OK) {
		bt_decode_fail(decode, error->status, error->offset,
			error->syntax ? "write the file again, for example with kubectl get -o json"
				      : "give it as an object with apiVersion and kind",
			"%s", error->text ? error->text : "");
		decode->error.syntax = error->syntax;
	}
	return false;
}

bool bt_object_is_list_kind(struct bt_str kind)
{
	return bt_str_ends(kind, "List");
}

bool bt_object_read_header(struct bt_decode *decode, struct bt_object_header *header, struct bt_str *out_key)
{
	struct bt_str key, *word;
	bool sorted = true;

	*out_key = (struct bt_str){0};
	while (bt_json_next_key(decode->json, &key)) {
		if (is_header_key(key, header, &word)) {
			if (word->ptr) {
				return bt_decode_fail(decode, BT_EXISTS, bt_json_offset(decode->json),
					"keep one of them", "%.*s appears twice", BT_STR_ARG(key));
			}
			if (!read_word(decode, key, word)) {
				return stopped(decode);
			}
		} else if (bt_str_is(key, "items") && bt_json_peek(decode->json) == BT_JSON_ARRAY) {
			header->is_list = true;
			return true;
		} else if (header->api_version.ptr && header->kind.ptr &&
			   !bt_object_is_list_kind(header->kind)) {
			*out_key = sorted ? key : *out_key;
			return true;
		} else {
			sorted = false;
			header->no_items |=
				bt_str_is(key, "items") && bt_json_peek(decode->json) == BT_JSON_NULL;
			if (!bt_json_skip(decode->json)) {
				return stopped(decode);
			}
		}
	}
	return bt_json_error(decode->json)->status == BT_OK ? true : stopped(decode);
}

static bool decode_body(struct bt_decode *decode, const struct bt_object_header *header,
	struct bt_json_mark start, struct bt_str key, struct bt_object *out)
{
	const struct bt_kind_schema *kind = bt_kind_schema(header->api_version, header->kind);

	memset(&out->meta, 0, kind->schema.bytes);
	out->kind = kind->id;
	out->api_version = header->api_version;
	out->kind_name = header->kind;
	if (key.ptr) {
		/* Members 0 and 1 of each table are apiVersion and kind: both were there. */
		return bt_schema_decode_from(decode, &kind->schema, &key, 3, &out->meta);
	}
	bt_json_seek(decode->json, start);
	return bt_schema_decode(decode, &kind->schema, &out->meta);
}

/*
 * After an error: the object's name, as far as it is readable. The cursor's position is undefined afterwards.
 */
static void identify(struct bt_object_reader *reader, struct bt_json_mark start, struct bt_object *out)
{
	static const struct bt_field name_fields[] = {
		{.name = BT_STR("name"), .offset = offsetof(struct bt_meta_object, name)},
		{.name = BT_STR("namespace"), .offset = offsetof(struct bt_meta_object, namespace_)},
	};
	static const struct bt_schema names = BT_SCHEMA(name_fields, struct bt_meta_object);
	static const struct bt_field root_fields[] = {
		{.name = BT_STR("kind"), .offset = offsetof(struct bt_object, kind_name)},
		{.name = BT_STR("metadata"),
			.type = BT_FIELD_OBJECT,
			.offset = offsetof(struct bt_object, meta),
			.schema = &names},
	};
	static const struct bt_schema root = BT_SCHEMA(root_fields, struct bt_object);
	struct bt_decode decode = {.json = reader->json, .arena = &reader->arena};

	bt_json_seek(reader->json, start);
	bt_schema_decode(&decode, &root, out);
}

/* Whether a file that began like JSON may be YAML after all. */
static bool may_be_yaml(const struct bt_object_reader *reader)
{
	return reader->file.guessed && !reader->in_yaml && reader->file_objects == 0 &&
	       reader->file_documents <= 1;
}

static void begin_yaml(struct bt_object_reader *reader)
{
	reader->in_yaml = true;
	reader->file_documents = 0;
	bt_yaml_begin(reader->yaml, reader->file.text);
}

/* The rest of the document is lost. JSON continues at a line that begins with a brace: in the output of
 * kubectl or a line-by-line writer only documents begin so. */
static void abandon(struct bt_object_reader *reader, size_t offset)
{
	struct bt_str text = reader->json_text;
	size_t at = bt_str_find(text, '\n', offset);

	reader->list_n = 0;
	while (!reader->in_yaml && at + 1 < text.len) {
		if (text.ptr[at + 1] == '{') {
			bt_json_resume(reader->json, at + 1);
			return;
		}
		at = bt_str_find(text, '\n', at + 1);
	}
	reader->json_text = (struct bt_str){0};
	bt_json_begin(reader->json, reader->json_text, &reader->arena);
}

/* Names the object after an error as well as it can be: "Pod a/b", "Pod at items[3]". False: nothing is
 * known. */
static bool name_bad_object(
	const struct bt_object_reader *reader, const struct bt_object *object, char *out, size_t cap)
{
	bool named = object->meta.name.len > 0;

	if (!named && !object->kind_name.len && !reader->list_n) {
		return false;
	}
	size_t n = bt_object_name(object, out, cap);
	if (!named && reader->list_n) {
		snprintf(out + n, cap - n, " at items[%u]", reader->lists[reader->list_n - 1].next_ix - 1);
	}
	return true;
}

/* What is lost with an unreadable object. A syntax error loses the rest of its document. */
static enum bt_loss loss_of(const struct bt_object *object, bool syntax)
{
	bool lost = syntax || !object->kind_name.len || bt_object_is_list_kind(object->kind_name) ||
		    bt_kind_makes_pods(bt_kind_of_word(object->kind_name));

	if (!syntax && bt_str_is(object->kind_name, "Pod")) {
		return BT_LOST_POD;
	}
	return lost ? BT_LOST_PART : BT_LOST_NOTHING;
}

/* Reports decode's error for the object at start and skips it, or its document. */
static void object_give_up(
	struct bt_object_reader *reader, const struct bt_decode *decode, struct bt_json_mark start)
{
	const struct bt_decode_error *e = &decode->error;
	struct bt_object *object = &reader->object;
	char name[2 * BT_WORD_MAX];

	if (e->syntax && may_be_yaml(reader)) {
		abandon(reader, SIZE_MAX);
		begin_yaml(reader);
		return;
	}
	if (!e->syntax) {
		identify(reader, start, object);
	}
	bool known = name_bad_object(reader, object, name, sizeof(name));
	report(reader, e, known ? name : NULL, loss_of(object, e->syntax));
	if (e->syntax) {
		abandon(reader, e->offset);
		return;
	}
	bt_json_seek(reader->json, start);
	bt_json_skip(reader->json);
}

static void copy_word(char out[BT_WORD_MAX], struct bt_str word)
{
	size_t n = word.len < BT_WORD_MAX - 1 ? word.len : BT_WORD_MAX - 1;

	if (n) {
		memcpy(out, word.ptr, n);
	}
	out[n] = '\0';
}

static bool push_list(struct bt_decode *decode, struct bt_object_reader *reader,
	const struct bt_object_header *header, struct bt_json_mark start)
{
	if (reader->list_n == BT_LIMIT_LIST_DEPTH) {
		return bt_decode_fail(decode, BT_DEPTH, bt_json_offset(decode->json),
			"put the items into one list", "more than %d lists inside each other",
			BT_LIMIT_LIST_DEPTH);
	}
	struct object_list *list = &reader->lists[reader->list_n];
	*list = (struct object_list){
		.start = start, .words.resolved = header->kind.ptr && header->api_version.ptr};
	copy_word(list->words.api_version, header->api_version);
	copy_word(list->words.kind, header->kind);
	bt_json_enter_array(decode->json);
	list->items_offset = bt_json_offset(decode->json);
	reader->list_n++;
	return true;
}

/* Finds the words of a list after its items. The cursor's position is undefined afterwards. */
static void resolve_list(struct bt_object_reader *reader, struct object_list *list)
{
	struct bt_object_header header = {0};
	struct bt_str key, *word;

	list->words.resolved = true;
	bt_json_seek(reader->json, list->start);
	if (!bt_json_enter_object(reader->json)) {
		return;
	}
	while (bt_json_next_key(reader->json, &key)) {
		bool wanted =
			is_header_key(key, &header, &word) && bt_json_peek(reader->json) == BT_JSON_STRING;

		if (!(wanted ? bt_json_string(reader->json, word) : bt_json_skip(reader->json))) {
			return;
		}
	}
	copy_word(list->words.api_version, header.api_version);
	copy_word(list->words.kind, header.kind);
}

void bt_object_inherit(const struct bt_list_words *words, struct bt_object_header *header)
{
	size_t n = strlen(words->kind);

	if (n <= 4 || strcmp(words->kind + n - 4, "List") != 0) {
		return;
	}
	if (!header->kind.ptr) {
		header->kind = (struct bt_str){words->kind, n - 4};
	}
	if (!header->api_version.ptr && words->api_version[0]) {
		header->api_version = bt_str(words->api_version);
	}
}

static void inherit(struct bt_object_reader *reader, struct bt_object_header *header)
{
	struct object_list *list = reader->list_n ? &reader->lists[reader->list_n - 1] : NULL;

	if (!list || (header->kind.ptr && header->api_version.ptr)) {
		return;
	}
	if (!list->words.resolved) {
		resolve_list(reader, list);
	}
	bt_object_inherit(&list->words, header);
}

/* Every object from an API server has a name; other kinds are only counted. */
static bool check_name(struct bt_decode *decode, struct bt_json_mark start, const struct bt_object *object)
{
	const struct bt_path metadata = {.up = decode->path, .key = BT_STR("metadata")};
	const struct bt_path path = {.up = &metadata, .key = BT_STR("name")};
	struct bt_str name = object->meta.name;
	bool has_nul = bt_str_find(name, '\0', 0) < name.len;

	if (object->kind == BT_KIND_OTHER || (name.len && !has_nul)) {
		return true;
	}
	decode->path = &path;
	bt_decode_fail(decode, BT_INVALID, start.offset,
		has_nul				 ? "write the name without it"
		: object->meta.generate_name.len ? "give it a name in place of generateName"
						 : "give it one",
		has_nul ? "the name holds a NUL byte" : "the object has no name");
	decode->path = metadata.up;
	return false;
}

bool bt_object_read_body(struct bt_decode *decode, const struct bt_object_header *header,
	struct bt_json_mark start, struct bt_str key, struct bt_object *out)
{
	if (!header->kind.len || !header->api_version.len) {
		return bt_decode_fail(decode, BT_INVALID, start.offset, NO_KIND_REMEDY,
			"the object has no %s", header->kind.len ? "apiVersion" : "kind");
	}
	return decode_body(decode, header, start, key, out) && check_name(decode, start, out);
}

static bool read_object(struct bt_object_reader *reader, struct bt_decode *decode, struct bt_json_mark start,
	bool *out_is_object)
{
	struct bt_object_header header = {0};
	struct bt_str key;

	*out_is_object = false;
	if (!bt_json_enter_object(decode->json)) {
		return stopped(decode);
	}
	if (!bt_object_read_header(decode, &header, &key)) {
		return false;
	}
	if (header.is_list) {
		return push_list(decode, reader, &header, start);
	}
	if (header.no_items && bt_object_is_list_kind(header.kind)) {
		return true;
	}
	inherit(reader, &header);
	if (bt_json_error(decode->json)->status != BT_OK) {
		return stopped(decode);
	}
	*out_is_object = true;
	return bt_object_read_body(decode, &header, start, key, &reader->object);
}

/* ---- validation ---- */

void bt_object_reader_validate(struct bt_object_reader *reader, bool validates)
{
	reader->validates = validates;
}

static void on_fault(void *context, const struct bt_decode_error *fault)
{
	struct bt_object_reader *reader = context;
	struct bt_diagnosis diagnosis = {.path = fault->path,
		.message = fault->message,
		.remedy = fault->remedy,
		.severity = BT_UNVALIDATED};
	char name[2 * BT_WORD_MAX];

	bt_object_name(&reader->object, name, sizeof(name));
	diagnosis.object = name;
	report_at(reader, fault->offset, &diagnosis);
}

/* The group of "apps/v1"; empty for the core group. */
static struct bt_str api_group_of(struct bt_str api_version)
{
	size_t slash = bt_str_find(api_version, '/', 0);

	return bt_str_sub(api_version, 0, slash < api_version.len ? slash : 0);
}

/* A kind that is read, in a version of its group that is not. */
static void check_version(struct bt_object_reader *reader, struct bt_json_mark start)
{
	const struct bt_object *object = &reader->object;
	enum bt_kind kind = bt_kind_of_word(object->kind_name);
	struct bt_str group = api_group_of(object->api_version);
	char message[4 * BT_WORD_MAX], remedy[2 * BT_WORD_MAX], name[2 * BT_WORD_MAX];

	if (kind == BT_KIND_OTHER) {
		return;
	}
	struct bt_str wanted = bt_kind_api_version(bt_kind_info(kind));
	if (!bt_str_eq(group, api_group_of(wanted)) && !bt_str_is(group, "extensions")) {
		return;
	}
	snprintf(message, sizeof(message), "no matches for kind \"%.*s\" in version \"%.*s\"",
		BT_STR_ARG(object->kind_name), BT_STR_ARG(object->api_version));
	snprintf(remedy, sizeof(remedy), "the object is ignored; write it as %.*s", BT_STR_ARG(wanted));
	bt_object_name(object, name, sizeof(name));
	report_at(reader, start.offset,
		&(struct bt_diagnosis){.object = name,
			.path = "apiVersion",
			.message = message,
			.remedy = remedy,
			.severity = BT_UNVALIDATED});
}

/* An API server's objects have a uid, and no faults. The cursor stays behind the object. */
static void validate(struct bt_object_reader *reader, struct bt_json_mark start)
{
	struct bt_json_mark end = bt_json_mark(reader->json);

	if (reader->object.kind == BT_KIND_OTHER) {
		check_version(reader, start);
	} else if (!reader->object.meta.uid.len) {
		bt_json_seek(reader->json, start);
		(void)bt_validate_object(reader->json, &reader->arena, reader->object.kind, on_fault, reader);
		bt_json_seek(reader->json, end);
	}
}

/* The answer of an API server in place of objects, such as the output of kubectl get --raw. */
static void report_status(struct bt_object_reader *reader, struct bt_json_mark start)
{
	static const struct bt_field fields[] = {
		{.name = BT_STR("message"), .type = BT_FIELD_STR, .offset = 0}};
	static const struct bt_schema schema = BT_SCHEMA(fields, struct bt_str);
	struct bt_decode decode = {.json = reader->json, .arena = &reader->arena};
	struct bt_json_mark end = bt_json_mark(reader->json);
	char message[BT_MESSAGE_MAX];
	struct bt_str text = {.len = 0};

	bt_json_seek(reader->json, start);
	(void)bt_schema_decode(&decode, &schema, &text);
	bt_json_seek(reader->json, end);
	snprintf(message, sizeof(message), "an error of the API server in place of objects%s%.*s",
		text.len ? ": " : "", BT_STR_ARG(text));
	report_at(reader, start.offset,
		&(struct bt_diagnosis){.object = "Status",
			.message = message,
			.remedy = "correct the command that wrote it, and run it again",
			.loss = BT_LOST_PART});
}

/* Reads the value at the cursor. Returns true when it is an object of the API; lists are entered, errors
 * reported. */
static bool read_value(struct bt_object_reader *reader)
{
	struct bt_decode decode = {.json = reader->json, .arena = &reader->arena};
	struct bt_json_mark start = bt_json_mark(reader->json);
	bool is_object;

	reader->object_offset = start.offset;
	bt_arena_reset(&reader->arena);
	reader->object.kind_name = (struct bt_str){0};
	reader->object.meta = (struct bt_meta_object){0};
	if (bt_json_peek(reader->json) == BT_JSON_NULL && bt_json_skip(reader->json)) {
		return false;
	}
	if (!read_object(reader, &decode, start, &is_object)) {
		object_give_up(reader, &decode, start);
		return false;
	}
	if (is_object && reader->object.kind == BT_KIND_OTHER &&
		bt_str_is(reader->object.kind_name, "Status") &&
		bt_str_is(reader->object.api_version, "v1")) {
		report_status(reader, start);
		return false;
	}
	if (is_object && reader->validates) {
		validate(reader, start);
	}
	return is_object;
}

/* Reports the syntax error that has stopped the cursor outside of any object. */
static void lose_document(struct bt_object_reader *reader)
{
	struct bt_decode decode = {.json = reader->json, .arena = &reader->arena};

	reader->object.kind_name = (struct bt_str){0};
	reader->object.meta = (struct bt_meta_object){0};
	reader->list_n = 0;
	stopped(&decode);
	object_give_up(reader, &decode, (struct bt_json_mark){0});
}

/* After the last element: skips the members after the items in the list's object. */
static void close_list(struct bt_object_reader *reader)
{
	struct bt_str key;

	while (bt_json_next_key(reader->json, &key) && bt_json_skip(reader->json)) {
	}
	if (bt_json_error(reader->json)->status == BT_OK) {
		reader->list_n--;
	}
}

static void begin_file(struct bt_object_reader *reader)
{
	bt_ahead_end(reader->ahead);
	reader->ahead = NULL;
	reader->range = NULL;
	reader->file_open = true;
	reader->file_objects = reader->file_documents = 0;
	reader->list_n = 0;
	reader->in_yaml = false;
	reader->counts.files++;
	reader->counts.bytes += reader->file.text.len;
	reader->place = (struct object_place){.line = 1};
	reader->json_text = (struct bt_str){0};
	if (reader->file.format == BT_FORMAT_YAML) {
		bt_json_begin(reader->json, reader->json_text, &reader->arena);
		begin_yaml(reader);
		return;
	}
	reader->json_text = reader->file.text;
	bt_json_begin(reader->json, reader->json_text, &reader->arena);
}

static void end_file(struct bt_object_reader *reader)
{
	const struct bt_diagnosis empty = {.file = reader->file.name,
		.message = "the file holds no objects",
		.remedy = "write objects into it, for example with kubectl get -o json, or leave it out",
		.loss = BT_LOST_PART};

	if (reader->file_documents == 0) {
		on_input_error(reader, &empty);
	}
	reader->file_open = false;
}

void bt_object_reader_begin_text(
	struct bt_object_reader *reader, const char *name, struct bt_str text, enum bt_format format)
{
	reader->file = (struct bt_input_file){.name = name, .text = text, .format = format};
	begin_file(reader);
}

void bt_object_reader_begin_any(struct bt_object_reader *reader, const char *name, struct bt_str text)
{
	reader->file = (struct bt_input_file){
		.name = name, .text = text, .format = bt_input_format(name, text), .guessed = true};
	begin_file(reader);
}

/* Makes the next document of a YAML file the text of the cursor. Returns false at the end of the file. */
static bool next_yaml_document(struct bt_object_reader *reader)
{
	for (;;) {
		enum bt_status rc = bt_yaml_next(reader->yaml, &reader->json_text);

		if (rc == BT_NOT_FOUND) {
			return false;
		}
		reader->file_documents++;
		if (rc == BT_OK) {
			bt_json_begin(reader->json, reader->json_text, &reader->arena);
			return true;
		}
		const struct bt_yaml_error *e = bt_yaml_error(reader->yaml);
		struct bt_diagnosis diagnosis = {.file = reader->file.name,
			.line = e->line,
			.column = e->column,
			.message = e->message,
			.remedy = e->remedy,
			.loss = BT_LOST_PART};
		on_input_error(reader, &diagnosis);
	}
}

/* Moves the cursor to the next document of this file or a later one. Returns false at the end of
 * all. */
static bool next_document(struct bt_object_reader *reader)
{
	for (;;) {
		if (!reader->file_open) {
			if (!bt_input_next(reader->input, &reader->file)) {
				return false;
			}
			begin_file(reader);
		}
		if (bt_json_more(reader->json)) {
			reader->file_documents += !reader->in_yaml;
			reader->counts.documents++;
			return true;
		}
		if (bt_json_error(reader->json)->status != BT_OK) {
			reader->file_documents += !reader->in_yaml;
			lose_document(reader);
			continue;
		}
		if (reader->in_yaml && next_yaml_document(reader)) {
			continue;
		}
		end_file(reader);
	}
}

/* ---- reading ahead ---- */

void bt_object_reader_read_ahead(struct bt_object_reader *reader, uint32_t helper_n, size_t range_bytes)
{
	reader->helper_n = helper_n;
	reader->range_bytes = range_bytes ? range_bytes : BT_AHEAD_RANGE_BYTES;
}

static void stop_ahead(struct bt_object_reader *reader)
{
	bt_ahead_end(reader->ahead);
	reader->ahead = NULL;
}

/* Starts reading ahead in the list with an element at offset, if it is long so far, and the rest is long. */
static void start_ahead(struct bt_object_reader *reader, size_t offset)
{
	const struct object_list *list = &reader->lists[reader->list_n - 1];
	const struct bt_ahead_list wanted = {.text = reader->json_text,
		.words = list->words,
		.element = bt_json_mark(reader->json),
		.helper_n = reader->helper_n,
		.range_bytes = reader->range_bytes};

	/* What is read ahead is not validated. */
	if ((reader->validates && !reader->object.meta.uid.len) ||
		offset - list->items_offset < reader->range_bytes ||
		(reader->json_text.len - offset) / BT_AHEAD_LEAST_RANGES < reader->range_bytes) {
		return;
	}
	reader->ahead = bt_ahead_begin(&wanted);
	reader->ahead_list_n = reader->list_n;
	reader->helper_n = reader->ahead ? reader->helper_n : 0;
}

/* The cursor is before an element: has it been read ahead? */
static bool is_read_ahead(struct bt_object_reader *reader)
{
	if (reader->helper_n == 0 || reader->in_yaml) {
		return false;
	}
	size_t offset = bt_json_offset(reader->json);
	if (!reader->ahead) {
		start_ahead(reader, offset);
	} else if (bt_ahead_is_useless(reader->ahead)) {
		stop_ahead(reader);
		reader->helper_n = 0;
	}
	if (!reader->ahead || reader->ahead_list_n != reader->list_n) {
		return false;
	}
	reader->range = bt_ahead_take(reader->ahead, offset);
	reader->range_next = 0;
	return reader->range != NULL;
}

/* The next object of the current range; after the last one the cursor continues there. */
static const struct bt_object *next_of_range(struct bt_object_reader *reader)
{
	const struct bt_ahead_range *range = reader->range;

	if (reader->range_next < range->object_n) {
		reader->counts.ahead++;
		return &range->objects[reader->range_next++];
	}
	/* The first element is counted already. */
	reader->lists[reader->list_n - 1].next_ix += range->element_n - 1;
	bt_json_seek(reader->json, range->end);
	bt_ahead_release(reader->ahead);
	reader->range = NULL;
	return NULL;
}

/* ---- one object after another ---- */

static const struct bt_object *counted(struct bt_object_reader *reader, const struct bt_object *object)
{
	reader->counts.objects++;
	reader->file_objects++;
	return object;
}

const struct bt_object *bt_object_reader_next(struct bt_object_reader *reader)
{
	for (;;) {
		const struct bt_object *object = reader->range ? next_of_range(reader) : NULL;

		if (object) {
			return counted(reader, object);
		}
		if (reader->ahead && reader->list_n < reader->ahead_list_n) {
			stop_ahead(reader);
		}
		if (reader->list_n == 0) {
			if (!next_document(reader)) {
				return NULL;
			}
		} else if (bt_json_next_element(reader->json)) {
			reader->lists[reader->list_n - 1].next_ix++;
			if (is_read_ahead(reader)) {
				continue;
			}
		} else {
			if (bt_json_error(reader->json)->status == BT_OK) {
				close_list(reader);
			}
			if (bt_json_error(reader->json)->status != BT_OK) {
				lose_document(reader);
			}
			continue;
		}
		if (read_value(reader)) {
			return counted(reader, &reader->object);
		}
	}
}

bool bt_object_decode(struct bt_decode *decode, struct bt_object *out)
{
	struct bt_json_mark start = bt_json_mark(decode->json);
	struct bt_object_header header = {0};
	struct bt_str key;

	if (bt_json_peek(decode->json) != BT_JSON_OBJECT || !bt_json_enter_object(decode->json)) {
		bt_json_enter_object(decode->json);
		return stopped(decode);
	}
	if (!bt_object_read_header(decode, &header, &key)) {
		return false;
	}
	if (header.is_list) {
		return bt_decode_fail(decode, BT_UNSUPPORTED, start.offset, "write its items one by one",
			"a list stands where one object is expected");
	}
	if (!header.kind.len || !header.api_version.len) {
		return bt_decode_fail(decode, BT_INVALID, start.offset, NO_KIND_REMEDY,
			"the object has no %s", header.kind.len ? "apiVersion" : "kind");
	}
	return decode_body(decode, &header, start, key, out);
}

void bt_object_own(struct bt_object *object, struct bt_arena *arena)
{
	const struct bt_kind_schema *kind = bt_kind_schema_of(object->kind);

	bt_schema_own(&kind->schema, arena, &object->meta);
	object->api_version.ptr = bt_arena_copy(arena, object->api_version.ptr, object->api_version.len);
	object->kind_name.ptr = bt_arena_copy(arena, object->kind_name.ptr, object->kind_name.len);
}
