/* SPDX-License-Identifier: Apache-2.0
 * Errors of the decoder with upstream's texts. Source: sigs.k8s.io/json and metav1.Duration.
 */
#include "tools/format/strict.h"

#include "engine/base/quote.h"
#include "tools/format/schema.h"

static void note_place(struct bt_strict *strict, size_t offset)
{
	if (!strict->has_offset) {
		strict->offset = offset;
		strict->has_offset = true;
	}
}

/* ---- paths ---- */

/* The place of an error, by the tables. */
struct where {
	struct bt_buf path;   /* such as profiles[0].plugins */
	struct bt_buf fields; /* the same in Go's structs, without indices */
	const struct bt_schema *owner;
	const struct bt_field *field; /* NULL: no table names it */
	bool inside;		      /* the error is in an element of the field */
};

static const struct bt_field *strict_find(const struct bt_schema *schema, struct bt_str key)
{
	for (uint32_t i = 0; schema && i < schema->field_n; i++) {
		if (bt_str_eq(key, schema->fields[i].name)) {
			return &schema->fields[i];
		}
	}
	return NULL;
}

static void add_name(struct bt_buf *path, struct bt_str name)
{
	bt_buf_text(path, path->len ? "." : "");
	bt_buf_str(path, name);
}

/* Descends by a key: a member of schema, or of a map (schema is NULL). */
static void descend(struct where *where, const struct bt_schema *schema, struct bt_str key)
{
	const struct bt_field *field = strict_find(schema, key);

	add_name(&where->path, key);
	where->inside = !schema;
	if (schema) {
		where->owner = schema;
		where->field = field;
	}
	if (field) {
		if (field->go_inline) {
			add_name(&where->fields, bt_str(field->go_inline));
		}
		add_name(&where->fields, key);
	}
}

/* Finds the members along the path again; decoding does not note them. */
static void find_place(const struct bt_schema *root, const struct bt_path *path, struct where *out_where)
{
	const struct bt_path *steps[BT_PATH_STEPS];
	uint32_t n = bt_path_steps(path, steps);
	const struct bt_schema *schema = root;

	*out_where = (struct where){.owner = root};
	for (uint32_t i = 0; i < n; i++) {
		if (!steps[i]->key.ptr) {
			bt_buf_printf(&out_where->path, "[%u]", steps[i]->index);
			out_where->inside = true;
			continue;
		}
		descend(out_where, schema, steps[i]->key);
		schema = out_where->field ? out_where->field->schema : NULL;
	}
}

/* ---- errors ---- */

/* Each fault is reported once for each path, and only the first hundred are. */
static void add_fault(struct bt_strict *strict, const char *what, const struct where *where, size_t offset)
{
	size_t end = strict->faults.len, start;
	struct bt_str text;
	bool is_new = strict->fault_n < BT_STRICT_FAULT_MAX;

	bt_buf_text(&strict->faults, strict->fault_n ? ", " : "");
	start = strict->faults.len;
	bt_buf_text(&strict->faults, what);
	bt_quote(&strict->faults, bt_buf_view(&where->path));
	text = bt_str_sub(bt_buf_view(&strict->faults), start, strict->faults.len);
	for (uint32_t i = 0; i < strict->fault_n; i++) {
		is_new &= !bt_str_eq(strict->fault_texts[i], text);
	}
	if (!is_new) {
		strict->faults.len = end;
		strict->faults.ptr[end] = '\0';
		return;
	}
	strict->fault_texts[strict->fault_n++] =
		(struct bt_str){bt_arena_copy(strict->arena, text.ptr, text.len), text.len};
	note_place(strict, offset);
}

/* Starts a fatal error, replacing an earlier one. */
static void begin_fatal(struct bt_strict *strict, size_t offset)
{
	bt_buf_clear(&strict->fatal);
	strict->has_offset = false;
	note_place(strict, offset);
}

const char *bt_strict_type_word(enum bt_json_type type)
{
	switch (type) {
	case BT_JSON_OBJECT:
		return "object";
	case BT_JSON_ARRAY:
		return "array";
	case BT_JSON_STRING:
		return "string";
	case BT_JSON_NUMBER:
		return "number";
	default:
		return "bool";
	}
}

/* Appends the Go type that is expected here. */
static void add_go_type(struct bt_buf *out, const struct where *where)
{
	static const char *const names[] = {[BT_FIELD_STR] = "string",
		[BT_FIELD_BOOL] = "bool",
		[BT_FIELD_I32] = "int32",
		[BT_FIELD_I64] = "int64",
		[BT_FIELD_F32] = "float32",
		[BT_FIELD_DURATION] = "string",
		[BT_FIELD_BYTES] = "uint8",
		[BT_FIELD_STR_LIST] = "string",
		[BT_FIELD_STR_MAP] = "string"};
	const struct bt_field *field = where->field;

	if (!where->inside && (field->type == BT_FIELD_ARRAY || field->type == BT_FIELD_STR_LIST ||
				      field->type == BT_FIELD_BYTES)) {
		bt_buf_text(out, "[]");
	} else if (!where->inside && field->type == BT_FIELD_STR_MAP) {
		bt_buf_text(out, "map[string]");
	}
	if (field->schema) {
		bt_buf_printf(out, "%s.%s", field->schema->go_package, field->schema->go_name);
	} else {
		bt_buf_text(out, field->word ? field->word : names[field->type]);
	}
}

/* A value of a wrong type. number: its text if the number is the error. */
static void mismatch(struct bt_strict *strict, enum bt_json_type type, struct bt_str number,
	const struct where *where, size_t offset)
{
	begin_fatal(strict, offset);
	bt_buf_printf(&strict->fatal, "json: cannot unmarshal %s%s%.*s into Go struct field %s.%.*s of type ",
		bt_strict_type_word(type), number.len ? " " : "", BT_STR_ARG(number), where->owner->go_name,
		BT_STR_ARG(bt_buf_view(&where->fields)));
	add_go_type(&strict->fatal, where);
}

/*
 * The first value of a wrong type is reported; decoding continues, because a duration's error overrides it:
 * upstream's durations decode themselves, and their errors end the decoding immediately.
 */
static void strict_report(
	struct bt_decode *decode, enum bt_decode_fault fault, size_t offset, struct bt_str text)
{
	struct bt_strict *strict = decode->context;
	struct where where;

	find_place(strict->root, decode->path, &where);
	bool ends = where.field && where.field->type == BT_FIELD_DURATION,
	     counts = ends || !strict->fatal.len;
	switch (fault) {
	case BT_FAULT_UNKNOWN:
		add_fault(strict, "unknown field ", &where, offset);
		break;
	case BT_FAULT_DUPLICATE:
		add_fault(strict, "duplicate field ", &where, offset);
		break;
	case BT_FAULT_TYPE:
	case BT_FAULT_NUMBER:
		if (counts) {
			mismatch(strict, text.len ? BT_JSON_NUMBER : bt_json_peek(decode->json), text, &where,
				offset);
		}
		break;
	case BT_FAULT_BASE64:
	case BT_FAULT_DURATION:
		if (counts) {
			begin_fatal(strict, offset);
			bt_buf_str(&strict->fatal, text);
		}
		break;
	}
	if (ends && fault != BT_FAULT_DUPLICATE) {
		decode->error.status = BT_INVALID;
	}
	bt_buf_fini(&where.path);
	bt_buf_fini(&where.fields);
}

bool bt_strict_decode(struct bt_strict *strict, const struct bt_schema *schema, void *out)
{
	struct bt_decode decode = {.json = strict->json,
		.arena = strict->arena,
		.tolerant = true,
		.sorted = strict->sorted,
		.report = strict_report,
		.context = strict};

	strict->root = schema;
	if (!bt_schema_decode(&decode, schema, out) && !strict->fatal.len) {
		note_place(strict, decode.error.offset);
		bt_buf_text(
			&strict->fatal, decode.error.message[0] ? decode.error.message : "unreadable value");
	}
	return !strict->fatal.len;
}

void bt_strict_fini(struct bt_strict *strict)
{
	bt_buf_fini(&strict->fatal);
	bt_buf_fini(&strict->faults);
}
