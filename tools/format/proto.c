/* SPDX-License-Identifier: Apache-2.0
 * Decodes Kubernetes' protobuf to structs, by tables. Nesting is as deep as the tables; the memory of one
 * object is bounded; elements of arrays are counted first, so that none is copied twice.
 *
 * An invalid value is skipped, and later fields are read. A message with broken framing ends there, and its
 * parent continues. The first error is kept.
 */
#include "tools/format/proto.h"

#include <assert.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/utf8.h"
#include "tools/format/time.h"
#include "tools/format/object_schema.h"
#include "tools/format/proto_int.h"
#include "tools/format/wire.h"

/* Keys of a map are normally sorted. If not, they are sorted here, up to this number. */
#define UNSORTED_MAX 64u

/* Memory limit for names, versions and the node of one object. */
#define IDENTITY_BYTES ((size_t)1 << 16)

/* A kind that is read here. */
struct known_kind {
	const struct bt_kind_schema *schema;
	struct bt_proto_plan *whole, *identity;
};

struct bt_proto {
	struct known_kind pod, node;
};

struct proto_reader {
	struct bt_arena *arena;
	size_t left_bytes; /* that may still be allocated */
	const uint8_t *begin;
	enum bt_proto_extent extent;
	struct bt_proto_error *error; /* the first one of that extent */
};

/* Notes that the object is read to no more than that extent. */
static void format_proto_note(struct proto_reader *r, enum bt_proto_extent extent, const char *text,
	const char *field, const uint8_t *at)
{
	if (extent > r->extent) {
		r->extent = extent;
		*r->error = (struct bt_proto_error){text, field, (size_t)(at - r->begin)};
	}
}

static bool format_proto_fail(struct proto_reader *r, const char *text, const char *field, const uint8_t *at)
{
	format_proto_note(r, BT_PROTO_IN_PART, text, field, at);
	return false;
}

static bool fail_in(struct proto_reader *r, const struct bt_wire_in *in, const char *field)
{
	return format_proto_fail(r, in->error, field, in->at);
}

/* ---- memory ---- */

static void *alloc(struct proto_reader *r, size_t bytes, size_t align)
{
	if (bytes > r->left_bytes) {
		return NULL;
	}
	r->left_bytes -= bytes;
	return bt_arena_alloc(r->arena, bytes, align);
}

static bool too_large(struct proto_reader *r, const struct bt_wire_in *in, const char *field)
{
	return format_proto_fail(r, "the object becomes too large", field, in->at);
}

/* ---- text ---- */

/* Copies n bytes. Returns whether all of them are ASCII. */
static bool copy_ascii(uint8_t *to, const uint8_t *from, size_t n)
{
	uint64_t high = 0, word;
	size_t i = 0;

	for (; i + sizeof(word) <= n; i += sizeof(word)) {
		memcpy(&word, from + i, sizeof(word));
		memcpy(to + i, &word, sizeof(word));
		high |= word;
	}
	for (; i < n; i++) {
		to[i] = from[i];
		high |= from[i];
	}
	return (high & UINT64_C(0x8080808080808080)) == 0;
}

static bool read_str(struct proto_reader *r, struct bt_wire_in in, const char *field, struct bt_str *out)
{
	size_t n = (size_t)(in.end - in.at);
	uint8_t *copy = alloc(r, n, 1);

	if (!copy) {
		return too_large(r, &in, field);
	}
	const struct bt_str text = {(const char *)in.at, n};
	size_t foreign_n = copy_ascii(copy, in.at, n) ? 0 : bt_utf8_foreign_n(text);
	if (BT_UNLIKELY(foreign_n)) {
		format_proto_note(r, BT_PROTO_REPLACED, "a string is not UTF-8", field, in.at);
		n += foreign_n * (BT_UTF8_REPLACEMENT_BYTES - 1);
		copy = alloc(r, n, 1);
		if (!copy) {
			return too_large(r, &in, field);
		}
		bt_utf8_replace((char *)copy, text);
	}
	*out = (struct bt_str){(const char *)copy, n};
	return true;
}

/* ---- values ---- */

static bool read_seconds(struct proto_reader *r, struct bt_wire_in in, const char *field, int64_t *out_s)
{
	uint32_t number, type;
	uint64_t value;

	*out_s = 0;
	while (in.at < in.end) {
		if (!bt_wire_tag(&in, &number, &type)) {
			return fail_in(r, &in, field);
		}
		if (number == 1 && type == BT_WIRE_VARINT) {
			if (!bt_wire_varint(&in, &value)) {
				return fail_in(r, &in, field);
			}
			*out_s = (int64_t)value;
		} else if (!bt_wire_skip(&in, type)) {
			return fail_in(r, &in, field);
		}
	}
	return true;
}

/* Times are of whole seconds, as metav1.Time is wherever it is written. */
static bool read_time(struct proto_reader *r, struct bt_wire_in in, const char *field, int64_t *out_ns)
{
	int64_t s;

	if (in.at == in.end) {
		return true;
	}
	if (!read_seconds(r, in, field, &s)) {
		return false;
	}
	if (__builtin_mul_overflow(s, INT64_C(1000000000), out_ns)) {
		*out_ns = s < 0 ? INT64_MIN : INT64_MAX;
	}
	return true;
}

static bool read_time_text(
	struct proto_reader *r, struct bt_wire_in in, const char *field, struct bt_str *out)
{
	int64_t ns = 0;
	char text[BT_TIME_TEXT_MAX];

	if (in.at == in.end) {
		return true;
	}
	if (!read_time(r, in, field, &ns)) {
		return false;
	}
	size_t n = bt_time_text(ns, text);
	char *copy = alloc(r, n, 1);
	if (!copy) {
		return too_large(r, &in, field);
	}
	memcpy(copy, text, n);
	*out = (struct bt_str){copy, n};
	return true;
}

/* The next text in field 1 of a message, ignoring other fields; out_any: there is one. */
static bool next_text(struct proto_reader *r, struct bt_wire_in *in, const char *field,
	struct bt_str *out_text, bool *out_any)
{
	uint32_t number, type;

	*out_any = false;
	while (!*out_any && in->at < in->end) {
		struct bt_wire_in text = {.at = in->at, .end = in->at};

		if (!bt_wire_tag(in, &number, &type)) {
			return fail_in(r, in, field);
		}
		*out_any = number == 1 && type == BT_WIRE_BYTES;
		if (!(*out_any ? bt_wire_bytes(in, &text) : bt_wire_skip(in, type))) {
			return fail_in(r, in, field);
		}
		*out_text = (struct bt_str){(const char *)text.at, (size_t)(text.end - text.at)};
	}
	return true;
}

/* resource.Quantity: a message whose first field is the text. */
static bool read_quantity(
	struct proto_reader *r, struct bt_wire_in in, const char *field, struct bt_quantity *out)
{
	struct bt_str text;
	bool any;

	while (next_text(r, &in, field, &text, &any)) {
		if (!any) {
			return true;
		}
		if (bt_quantity_parse(text, out) != BT_OK) {
			return format_proto_fail(
				r, "what should be a quantity is none", field, (const uint8_t *)text.ptr);
		}
	}
	return false;
}

/* An entry of a map: its key, and the bytes of its value. */
static bool read_entry(struct proto_reader *r, struct bt_wire_in in, const char *field,
	struct bt_wire_in *out_key, struct bt_wire_in *out_value)
{
	uint32_t number, type;

	*out_key = *out_value = (struct bt_wire_in){.at = in.end, .end = in.end};
	while (in.at < in.end) {
		if (!bt_wire_tag(&in, &number, &type)) {
			return fail_in(r, &in, field);
		}
		bool wanted = number <= 2 && type == BT_WIRE_BYTES;
		if (!(wanted ? bt_wire_bytes(&in, number == 1 ? out_key : out_value)
			     : bt_wire_skip(&in, type))) {
			return fail_in(r, &in, field);
		}
	}
	return true;
}

/* restartPolicyRules: whether the action of one restarts all containers. */
static bool read_rule(struct proto_reader *r, struct bt_wire_in in, const char *field, bool *out)
{
	struct bt_str action;
	bool any;

	while (next_text(r, &in, field, &action, &any)) {
		if (!any) {
			return true;
		}
		*out |= bt_str_is(action, "RestartAllContainers");
	}
	return false;
}

/* volumeMounts: whether one has bindMountOptions. */
static bool read_mount(struct proto_reader *r, struct bt_wire_in in, const char *field, bool *out)
{
	uint32_t number, type;

	while (in.at < in.end) {
		if (!bt_wire_tag(&in, &number, &type) || !bt_wire_skip(&in, type)) {
			return fail_in(r, &in, field);
		}
		*out |= number == 8;
	}
	return true;
}

/* Reads on to a message in a message. Returns: false at the end of in, with *out_good set, or when the
 * framing is broken. */
static bool next_message(struct proto_reader *r, struct bt_wire_in *in, uint32_t wanted, const char *field,
	struct bt_wire_in *out, bool *out_good)
{
	uint32_t number, type;

	*out_good = true;
	while (in->at < in->end) {
		if (!bt_wire_tag(in, &number, &type) ||
			!(number == wanted && type == BT_WIRE_BYTES ? bt_wire_bytes(in, out)
								    : bt_wire_skip(in, type))) {
			*out_good = fail_in(r, in, field);
			return false;
		}
		if (number == wanted && type == BT_WIRE_BYTES) {
			return true;
		}
	}
	return false;
}

/* ephemeralContainers: whether a mount of one has bindMountOptions. The fields that it shares with other
 * containers are a message of their own. */
static bool read_ephemeral(struct proto_reader *r, struct bt_wire_in in, const char *field, bool *out)
{
	struct bt_wire_in common, mount;
	bool good;

	while (next_message(r, &in, 1, field, &common, &good)) {
		while (next_message(r, &common, 9, field, &mount, &good)) {
			if (!read_mount(r, mount, field, out)) {
				return false;
			}
		}
		if (!good) {
			return false;
		}
	}
	return good;
}

/* ---- arrays ---- */

/* An array in a struct: struct bt_str_list and similar, or a pointer and a number. */
struct array {
	char *items;
	uint32_t n;
};

/* How many fields of that number follow. */
static uint32_t count_more(struct bt_wire_in rest, uint32_t wanted)
{
	struct bt_wire_in bytes;
	uint32_t number, type, n = 0;

	while (rest.at < rest.end && bt_wire_tag(&rest, &number, &type)) {
		if (number == wanted && type == BT_WIRE_BYTES) {
			if (!bt_wire_bytes(&rest, &bytes)) {
				break;
			}
			n++;
		} else if (!bt_wire_skip(&rest, type)) {
			break;
		}
	}
	return n;
}

/*
 * Adds a zeroed element. The first one in a message reserves space for all its elements; a repeated message
 * appends to the first one's elements, as protobuf merges them.
 */
static char *format_proto_add(struct proto_reader *r, struct array *array, const struct bt_wire_in *rest,
	uint32_t number, size_t bytes, bool first)
{
	if (first) {
		size_t old_bytes = (size_t)array->n * bytes;
		size_t more_bytes = (1 + (size_t)count_more(*rest, number)) * bytes;
		char *items = alloc(r, old_bytes + more_bytes, 16);

		if (!items) {
			return NULL;
		}
		if (old_bytes) {
			memcpy(items, array->items, old_bytes);
		}
		memset(items + old_bytes, 0, more_bytes);
		array->items = items;
	}
	return array->items + (size_t)array->n++ * bytes;
}

static struct bt_str key_at(const struct array *array, size_t bytes, uint32_t ix)
{
	struct bt_str key;

	memcpy(&key, array->items + ix * bytes, sizeof(key));
	return key;
}

/* Moves the last element of a map to its sorted position; it replaces one with an equal key. Returns: a
 * static error text, or NULL. */
static const char *place_key(struct array *array, size_t bytes)
{
	char element[sizeof(struct bt_named_quantity)];
	uint32_t last = array->n - 1, ix = last;
	struct bt_str key = key_at(array, bytes, last);
	char *from = array->items + last * bytes;
	int order = -1;

	while (ix && (order = bt_str_cmp(key_at(array, bytes, ix - 1), key)) > 0) {
		if (last >= UNSORTED_MAX) {
			return "the keys of a large map are not sorted";
		}
		ix--;
	}
	memcpy(element, from, bytes);
	if (ix && order == 0) {
		memcpy(array->items + (ix - 1) * bytes, element, bytes);
		memset(from, 0, bytes);
		array->n--;
		return "a key appears twice";
	}
	if (ix < last) {
		char *to = array->items + ix * bytes;

		memmove(to + bytes, to, (last - ix) * bytes);
		memcpy(to, element, bytes);
	}
	return NULL;
}

static void decode(struct proto_reader *r, const struct bt_proto_plan *plan, struct bt_wire_in in, char *out);

/* Reads one element of an array that is of strings, of maps' entries or of messages. */
static bool read_element(
	struct proto_reader *r, const struct bt_proto_field *field, struct bt_wire_in in, char *item)
{
	struct bt_wire_in key, value;
	struct bt_str_pair *pair = (struct bt_str_pair *)(void *)item;
	struct bt_named_quantity *named = (struct bt_named_quantity *)(void *)item;

	switch (field->action) {
	case BT_PROTO_STR_LIST:
		return read_str(r, in, field->name, (struct bt_str *)(void *)item);
	case BT_PROTO_STR_MAP:
		return read_entry(r, in, field->name, &key, &value) &&
		       read_str(r, key, field->name, &pair->key) &&
		       read_str(r, value, field->name, &pair->value);
	case BT_PROTO_RESOURCES:
		return read_entry(r, in, field->name, &key, &value) &&
		       read_str(r, key, field->name, &named->name) &&
		       read_quantity(r, value, field->name, &named->quantity);
	default:
		decode(r, field->plan, in, item);
		return true;
	}
}

static size_t element_bytes(const struct bt_proto_field *field)
{
	switch (field->action) {
	case BT_PROTO_STR_MAP:
		return sizeof(struct bt_str_pair);
	case BT_PROTO_RESOURCES:
		return sizeof(struct bt_named_quantity);
	case BT_PROTO_ARRAY:
		return field->bytes;
	default:
		return sizeof(struct bt_str);
	}
}

static_assert(offsetof(struct bt_str_list, n) == offsetof(struct bt_str_map, n) &&
		      offsetof(struct bt_str_list, n) == offsetof(struct bt_resource_list, n) &&
		      offsetof(struct bt_str_list, set) == offsetof(struct bt_str_map, set) &&
		      offsetof(struct bt_str_list, set) == offsetof(struct bt_resource_list, set) &&
		      offsetof(struct bt_str_list, items) == 0 && offsetof(struct bt_str_map, items) == 0 &&
		      offsetof(struct bt_resource_list, items) == 0,
	"lists and maps are laid out alike");

/* The position of a field's value in its message. */
struct proto_place {
	uint32_t number;
	bool first;		       /* of its number in this message */
	const struct bt_wire_in *rest; /* what follows it */
};

/* Adds an element to an array field; an invalid one is skipped. */
static bool read_array(struct proto_reader *r, const struct bt_proto_field *field,
	const struct proto_place *place, struct bt_wire_in in, char *out)
{
	bool is_list = field->action != BT_PROTO_ARRAY;
	bool is_map = field->action == BT_PROTO_STR_MAP || field->action == BT_PROTO_RESOURCES;
	char *n_at = is_list ? out + field->offset + offsetof(struct bt_str_list, n) : out + field->count - 1;
	size_t bytes = element_bytes(field);
	struct array array;

	memcpy(&array.items, out + field->offset, sizeof(array.items));
	memcpy(&array.n, n_at, sizeof(array.n));
	char *item = format_proto_add(r, &array, place->rest, place->number, bytes, place->first);
	if (!item) {
		return too_large(r, &in, field->name);
	}
	if (!read_element(r, field, in, item)) {
		memset(item, 0, bytes);
		array.n--;
	} else if (is_map) {
		const char *error = place_key(&array, bytes);

		if (error) {
			format_proto_note(r, BT_PROTO_IN_PART, error, field->name, in.at);
		}
	}
	memcpy(out + field->offset, &array.items, sizeof(array.items));
	memcpy(n_at, &array.n, sizeof(array.n));
	if (is_list) {
		((struct bt_str_list *)(void *)(out + field->offset))->set = true;
	}
	return true;
}

/* ---- messages ---- */

static void store_number(const struct bt_proto_field *field, uint64_t value, char *out)
{
	void *at = out + field->offset;

	if (field->action == BT_PROTO_BOOL) {
		*(bool *)at = value != 0;
	} else if (field->action == BT_PROTO_I32) {
		*(int32_t *)at = (int32_t)(uint32_t)value;
	} else {
		*(int64_t *)at = (int64_t)value;
	}
}

static void mark(const struct bt_proto_field *field, char *out)
{
	const bool present = true;

	if (field->flag) {
		memcpy(out + field->flag - 1, &present, sizeof(present));
	}
	if (field->tag) {
		memcpy(out + field->tag - 1, &field->tag_value, sizeof(field->tag_value));
	}
}

static bool read_value(struct proto_reader *r, const struct bt_proto_field *field,
	const struct proto_place *place, struct bt_wire_in in, char *out)
{
	void *at = out + field->offset;

	switch (field->action) {
	case BT_PROTO_STR:
		/* Absent strings are written as empty ones. */
		return in.at == in.end || read_str(r, in, field->name, at);
	case BT_PROTO_QUANTITY:
		return read_quantity(r, in, field->name, at);
	case BT_PROTO_TIME:
		return read_time(r, in, field->name, at);
	case BT_PROTO_TIME_TEXT:
		return read_time_text(r, in, field->name, at);
	case BT_PROTO_OBJECT:
		decode(r, field->plan, in, at);
		return true;
	case BT_PROTO_RULES:
		return read_rule(r, in, field->name, at);
	case BT_PROTO_MOUNTS:
		return read_mount(r, in, field->name, at);
	case BT_PROTO_EPHEMERAL:
		return read_ephemeral(r, in, field->name, at);
	default:
		return read_array(r, field, place, in, out);
	}
}

/* Reads the value after a tag. seen: a bit for each field that occurred. Returns: false when the framing is
 * broken, and the message ends. */
static bool read_field(struct proto_reader *r, const struct bt_proto_field *field, uint32_t number,
	struct bt_wire_in *in, uint64_t *seen, char *out)
{
	const struct proto_place place = {number, !(*seen >> number & 1), in};
	struct bt_wire_in bytes;
	uint64_t value;

	*seen |= UINT64_C(1) << number;
	if (field->wire == BT_WIRE_VARINT) {
		if (!bt_wire_varint(in, &value)) {
			return fail_in(r, in, field->name);
		}
		store_number(field, value, out);
		mark(field, out);
		return true;
	}
	if (!bt_wire_bytes(in, &bytes)) {
		return fail_in(r, in, field->name);
	}
	if (read_value(r, field, &place, bytes, out)) {
		mark(field, out);
	}
	return true;
}

static void decode(struct proto_reader *r, const struct bt_proto_plan *plan, struct bt_wire_in in, char *out)
{
	uint64_t seen = 0;
	uint32_t number, type;

	while (in.at < in.end) {
		if (!bt_wire_tag(&in, &number, &type)) {
			fail_in(r, &in, NULL);
			return;
		}
		const struct bt_proto_field *field = number < plan->n ? &plan->fields[number] : NULL;
		bool wanted = field && field->action != BT_PROTO_SKIP;
		if (wanted && type == field->wire) {
			if (!read_field(r, field, number, &in, &seen, out)) {
				return;
			}
			continue;
		}
		if (wanted) {
			format_proto_fail(r, "a value is of the wrong type", field->name, in.at);
		}
		if (!bt_wire_skip(&in, type)) {
			fail_in(r, &in, NULL);
			return;
		}
	}
}

static void know(struct known_kind *known, enum bt_kind kind, const struct bt_proto_message *whole,
	const struct bt_proto_message *identity)
{
	known->schema = bt_kind_schema_of(kind);
	known->whole = bt_proto_plan_create(whole, &known->schema->schema);
	known->identity = bt_proto_plan_create(identity, &known->schema->schema);
}

static void forget(struct known_kind *known)
{
	bt_proto_plan_destroy(known->whole);
	bt_proto_plan_destroy(known->identity);
}

struct bt_proto *bt_proto_create(void)
{
	struct bt_proto *proto = bt_mem_zalloc(1, sizeof(*proto));

	know(&proto->pod, BT_KIND_POD, &bt_proto_pod, &bt_proto_pod_identity);
	know(&proto->node, BT_KIND_NODE, &bt_proto_node, &bt_proto_node_identity);
	return proto;
}

void bt_proto_destroy(struct bt_proto *proto)
{
	if (proto) {
		forget(&proto->pod);
		forget(&proto->node);
		bt_mem_free(proto);
	}
}

bool bt_proto_knows(enum bt_kind kind)
{
	return kind == BT_KIND_POD || kind == BT_KIND_NODE;
}

static struct bt_wire_in format_proto_begin(struct bt_str bytes)
{
	const uint8_t *at = (const uint8_t *)bytes.ptr;

	return (struct bt_wire_in){.at = at, .end = at ? at + bytes.len : NULL};
}

static const struct known_kind *begin_object(
	const struct bt_proto *proto, enum bt_kind kind, struct bt_object *out)
{
	BT_REQUIRE(bt_proto_knows(kind));
	const struct known_kind *known = kind == BT_KIND_POD ? &proto->pod : &proto->node;

	memset(&out->meta, 0, known->schema->schema.bytes);
	out->kind = kind;
	out->api_version = bt_kind_api_version(bt_kind_info(kind));
	out->kind_name = bt_str(bt_kind_info(kind)->name);
	return known;
}

static enum bt_proto_extent read_identity(const struct known_kind *known, struct bt_wire_in in,
	struct bt_arena *arena, struct bt_object *out, struct bt_proto_error *out_error)
{
	struct proto_reader r = {
		.arena = arena, .left_bytes = IDENTITY_BYTES, .begin = in.at, .error = out_error};

	decode(&r, known->identity, in, (char *)&out->meta);
	return r.extent;
}

enum bt_proto_extent bt_proto_identify(const struct bt_proto *proto, enum bt_kind kind, struct bt_str bytes,
	struct bt_arena *arena, struct bt_object *out, struct bt_proto_error *out_error)
{
	return read_identity(
		begin_object(proto, kind, out), format_proto_begin(bytes), arena, out, out_error);
}

enum bt_proto_extent bt_proto_decode(const struct bt_proto *proto, enum bt_kind kind, struct bt_str bytes,
	struct bt_arena *arena, struct bt_object *out, struct bt_proto_error *out_error)
{
	const struct known_kind *known = begin_object(proto, kind, out);
	struct bt_wire_in in = format_proto_begin(bytes);
	struct proto_reader r = {
		.arena = arena, .left_bytes = BT_PROTO_OBJECT_BYTES, .begin = in.at, .error = out_error};

	decode(&r, known->whole, in, (char *)&out->meta);
	if (r.extent == BT_PROTO_IN_PART) {
		/* The identity is never dropped: it has its own memory limit. */
		(void)read_identity(known, in, arena, out, &(struct bt_proto_error){.text = NULL});
	}
	return r.extent;
}

/* ---- envelopes, events, lists, statuses ---- */

/* Small messages: up to two levels of views and numbers. */
struct view {
	uint32_t number;
	struct bt_str *text; /* either this */
	int32_t *value;	     /* or this */
};

static bool view_message(
	struct bt_str bytes, const struct view *views, uint32_t n, struct bt_proto_error *out_error)
{
	struct bt_wire_in in = format_proto_begin(bytes), part;
	struct proto_reader r = {.begin = in.at, .error = out_error};
	uint32_t number, type;
	uint64_t value;

	while (in.at < in.end) {
		const struct view *view = NULL;

		if (!bt_wire_tag(&in, &number, &type)) {
			return fail_in(&r, &in, NULL);
		}
		for (uint32_t i = 0; i < n; i++) {
			view = views[i].number == number ? &views[i] : view;
		}
		if (!view) {
			if (!bt_wire_skip(&in, type)) {
				return fail_in(&r, &in, NULL);
			}
		} else if (type != (view->text ? BT_WIRE_BYTES : BT_WIRE_VARINT)) {
			return format_proto_fail(&r, "a value is of the wrong type", NULL, in.at);
		} else if (view->text) {
			if (!bt_wire_bytes(&in, &part)) {
				return fail_in(&r, &in, NULL);
			}
			*view->text = (struct bt_str){(const char *)part.at, (size_t)(part.end - part.at)};
		} else {
			if (!bt_wire_varint(&in, &value)) {
				return fail_in(&r, &in, NULL);
			}
			*view->value = (int32_t)(uint32_t)value;
		}
	}
	return true;
}

bool bt_proto_open(struct bt_str bytes, struct bt_proto_unknown *out, struct bt_proto_error *out_error)
{
	struct bt_str type_meta = {0}, encoding = {0};
	const struct view unknown[] = {{1, &type_meta, NULL}, {2, &out->raw, NULL}, {3, &encoding, NULL}};
	const struct view names[] = {{1, &out->api_version, NULL}, {2, &out->kind, NULL}};

	*out = (struct bt_proto_unknown){0};
	if (bytes.len < 4 || memcmp(bytes.ptr, "k8s", 4) != 0) {
		*out_error =
			(struct bt_proto_error){"it does not begin as Kubernetes' protobuf does", NULL, 0};
		return false;
	}
	if (!view_message(bt_str_sub(bytes, 4, bytes.len), unknown, 3, out_error) ||
		!view_message(type_meta, names, 2, out_error)) {
		return false;
	}
	if (encoding.len) {
		*out_error = (struct bt_proto_error){"it is encoded twice", "contentEncoding", 0};
		return false;
	}
	return true;
}

bool bt_proto_event(struct bt_str bytes, struct bt_proto_event *out, struct bt_proto_error *out_error)
{
	struct bt_str object = {0};
	const struct view event[] = {{1, &out->type, NULL}, {2, &object, NULL}};
	const struct view extension[] = {{1, &out->raw, NULL}};

	*out = (struct bt_proto_event){0};
	return view_message(bytes, event, 2, out_error) && view_message(object, extension, 1, out_error);
}

bool bt_proto_list_meta(struct bt_str bytes, struct bt_proto_list_meta *out, struct bt_proto_error *out_error)
{
	const struct view meta[] = {{2, &out->resource_version, NULL}, {3, &out->continue_, NULL}};

	*out = (struct bt_proto_list_meta){0};
	return view_message(bytes, meta, 2, out_error);
}

bool bt_proto_status(struct bt_str bytes, struct bt_proto_status *out, struct bt_proto_error *out_error)
{
	struct bt_str details = {0};
	const struct view status[] = {{3, &out->message, NULL}, {4, &out->reason, NULL}, {5, &details, NULL},
		{6, NULL, &out->code}};
	const struct view seconds[] = {{5, NULL, &out->retry_after_s}};

	*out = (struct bt_proto_status){0};
	return view_message(bytes, status, 4, out_error) && view_message(details, seconds, 1, out_error);
}
