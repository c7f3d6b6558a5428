/* SPDX-License-Identifier: Apache-2.0
 * Splits received bytes into objects.
 */
#include "tools/cluster/watch/stream_int.h"

#include <string.h>

#include "tools/format/proto.h"
#include "tools/format/wire.h"

/* Limit of a JSON list without its items. */
#define SHELL_BYTES ((size_t)1 << 20)

/* Buffer capacity that is kept between bodies. */
#define KEPT_BYTES ((size_t)1 << 20)

void bt_stream_begin(struct bt_stream *s, enum bt_stream_form form)
{
	struct bt_buf bytes = s->bytes, shell = s->shell;

	if (bytes.cap > KEPT_BYTES) {
		bt_buf_fini(&bytes);
		bytes = (struct bt_buf){0};
	}
	*s = (struct bt_stream){.form = form, .bytes = bytes, .shell = shell};
	bt_buf_clear(&s->bytes);
	bt_buf_clear(&s->shell);
}

void bt_stream_fini(struct bt_stream *s)
{
	bt_buf_fini(&s->bytes);
	bt_buf_fini(&s->shell);
}

void bt_stream_add(struct bt_stream *s, const char *bytes, size_t n)
{
	size_t left = s->bytes.len - s->at;

	if (s->at && (left == 0 || s->at >= s->bytes.cap / 2)) {
		memmove(s->bytes.ptr, s->bytes.ptr + s->at, left);
		s->bytes.len = left;
		s->scan -= s->scan < s->at ? s->scan : s->at;
		s->start -= s->start < s->at ? s->start : s->at;
		s->at = 0;
	}
	bt_buf_add(&s->bytes, bytes, n);
}

static enum bt_stream_step bad(struct bt_stream *s, const char *error)
{
	s->error = error;
	return BT_STREAM_BAD;
}

static enum bt_stream_step more(struct bt_stream *s)
{
	return s->bytes.len - s->at > BT_PROTO_FRAME_BYTES ? bad(s, "an object is too large")
							   : BT_STREAM_MORE;
}

/* ---- protobuf ---- */

static enum bt_stream_step next_frame(struct bt_stream *s, struct bt_str *out)
{
	const uint8_t *p = (const uint8_t *)s->bytes.ptr + s->at;
	size_t have = s->bytes.len - s->at;

	if (have < 4) {
		return BT_STREAM_MORE;
	}
	size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
	if (n > BT_PROTO_FRAME_BYTES) {
		return bad(s, "an event is too large");
	}
	if (have - 4 < n) {
		return BT_STREAM_MORE;
	}
	*out = (struct bt_str){s->bytes.ptr + s->at + 4, n};
	s->at += 4 + n;
	return BT_STREAM_ITEM;
}

/* A field whose head has been read. */
struct stream_part {
	uint32_t number, type;
	uint64_t value; /* of a varint; the length of bytes */
	size_t head;	/* bytes before its content; otherwise of the whole field */
};

/* Reads the head of the next field. Returns: ITEM; MORE when it is incomplete; BAD. */
static enum bt_stream_step peek_field(struct bt_stream *s, size_t limit, struct stream_part *out)
{
	size_t have = s->bytes.len - s->at < limit ? s->bytes.len - s->at : limit;
	const uint8_t *begin = (const uint8_t *)s->bytes.ptr + s->at;
	struct bt_wire_in in = {.at = begin, .end = begin + have};
	bool ok = bt_wire_tag(&in, &out->number, &out->type);

	if (ok && (out->type == BT_WIRE_BYTES || out->type == BT_WIRE_VARINT)) {
		ok = bt_wire_varint(&in, &out->value);
	} else if (ok) {
		ok = bt_wire_skip(&in, out->type);
	}
	if (!ok) {
		return in.cut && have < limit ? more(s) : bad(s, in.error);
	}
	out->head = (size_t)(in.at - begin);
	return BT_STREAM_ITEM;
}

/* Consumes a field. Returns: ITEM with its bytes; MORE when they are incomplete; BAD. */
static enum bt_stream_step take_field(
	struct bt_stream *s, size_t limit, struct stream_part *out, struct bt_str *bytes)
{
	enum bt_stream_step step = peek_field(s, limit, out);

	if (step != BT_STREAM_ITEM) {
		return step;
	}
	size_t n = out->type == BT_WIRE_BYTES ? (size_t)out->value : 0;
	if (out->type == BT_WIRE_BYTES && (out->value > BT_PROTO_FRAME_BYTES || n > limit - out->head)) {
		return bad(s, "an object is larger than what it is in, or too large");
	}
	if (s->bytes.len - s->at < out->head + n) {
		return BT_STREAM_MORE;
	}
	*bytes = (struct bt_str){s->bytes.ptr + s->at + out->head, n};
	s->at += out->head + n;
	return BT_STREAM_ITEM;
}

/* In the envelope: before or after the list. */
static enum bt_stream_step next_envelope(struct bt_stream *s)
{
	struct stream_part part;
	struct bt_str bytes;
	enum bt_stream_step step;

	if (!s->opened) {
		if (s->bytes.len - s->at < 4) {
			return BT_STREAM_MORE;
		}
		if (memcmp(s->bytes.ptr + s->at, "k8s", 4) != 0) {
			return bad(s, "it does not begin as Kubernetes' protobuf does");
		}
		s->at += 4;
		s->opened = true;
	}
	while (s->at < s->bytes.len) {
		step = peek_field(s, SIZE_MAX, &part);
		if (step != BT_STREAM_ITEM) {
			return step;
		}
		if (part.number == 2 && part.type == BT_WIRE_BYTES) {
			if (s->whole) {
				return bad(s, "there are two lists");
			}
			s->at += part.head;
			s->left = (size_t)part.value;
			s->inside = true;
			return BT_STREAM_ITEM;
		}
		step = take_field(s, SIZE_MAX, &part, &bytes);
		if (step != BT_STREAM_ITEM) {
			return step;
		}
	}
	return BT_STREAM_MORE;
}

static enum bt_stream_step next_proto_item(struct bt_stream *s, struct bt_str *out)
{
	struct stream_part part;

	for (;;) {
		if (!s->inside) {
			enum bt_stream_step step = next_envelope(s);

			if (step != BT_STREAM_ITEM) {
				return step;
			}
		}
		if (s->left == 0) {
			s->inside = false;
			s->whole = s->described;
			continue;
		}
		size_t from = s->at;
		enum bt_stream_step step = take_field(s, s->left, &part, out);
		if (step != BT_STREAM_ITEM) {
			return step;
		}
		s->left -= s->at - from;
		if (part.type == BT_WIRE_BYTES && part.number <= 2) {
			s->described |= part.number == 1;
			return part.number == 1 ? BT_STREAM_META : BT_STREAM_ITEM;
		}
	}
}

/* ---- JSON ---- */

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Inside an object: scans to its end. Returns whether it was found. */
static bool scan_object(struct bt_stream *s)
{
	const char *p = s->bytes.ptr;
	size_t i = s->scan, n = s->bytes.len;
	bool ended = false;

	for (; i < n && !ended; i++) {
		char c = p[i];

		if (s->in_string) {
			s->in_string = s->escaped || c != '"';
			s->escaped = !s->escaped && c == '\\';
		} else if (c == '"') {
			s->in_string = true;
		} else if (c == '{' || c == '[') {
			s->depth++;
		} else if (c == '}' || c == ']') {
			ended = --s->depth == (s->in_items ? 2u : 0u);
		}
	}
	s->scan = i;
	return ended;
}

/* An object begins at scan. Returns it when it is complete. */
static enum bt_stream_step take_object(struct bt_stream *s, struct bt_str *out)
{
	if (!scan_object(s)) {
		return more(s);
	}
	s->in_object = false;
	*out = (struct bt_str){s->bytes.ptr + s->start, s->scan - s->start};
	s->at = s->scan;
	return BT_STREAM_ITEM;
}

static enum bt_stream_step next_document(struct bt_stream *s, struct bt_str *out)
{
	if (!s->in_object) {
		s->scan = s->at;
		while (s->scan < s->bytes.len && is_space(s->bytes.ptr[s->scan])) {
			s->scan++;
		}
		s->at = s->start = s->scan;
		if (s->scan == s->bytes.len) {
			return BT_STREAM_MORE;
		}
		if (s->bytes.ptr[s->scan] != '{') {
			return bad(s, "an event does not begin with a brace");
		}
		s->in_object = true;
	}
	return take_object(s, out);
}

/* Reads a byte of a list outside of its items. Returns: a static error, or NULL. */
static const char *take_shell(struct bt_stream *s, char c)
{
	bt_buf_char(&s->shell, c);
	if (s->in_string) {
		s->in_string = s->escaped || c != '"';
		s->escaped = !s->escaped && c == '\\';
		if (!s->in_string && s->depth == 1) {
			const struct bt_str word = bt_str_sub(bt_buf_view(&s->shell), s->word, s->shell.len);

			s->is_items_key = bt_str_is(word, "\"items\"");
		}
		return NULL;
	}
	if (c == '"') {
		s->in_string = true;
		s->word = s->shell.len - 1;
	} else if (c == '{' || c == '[') {
		s->in_items = c == '[' && s->depth == 1 && s->is_items_key;
		s->depth++;
	} else if (c == '}' || c == ']') {
		if (s->depth == 0) {
			return "a bracket closes that was not opened";
		}
		s->depth--;
	} else if (s->depth == 0 && !is_space(c)) {
		return "it does not begin with a brace";
	}
	return s->shell.len > SHELL_BYTES ? "its metadata are too large" : NULL;
}

/* Between two items, or after the last. Returns whether an object begins. */
static bool skip_between(struct bt_stream *s, const char **out_error)
{
	char c = s->bytes.ptr[s->scan];

	if (c == '{') {
		s->in_object = true;
		s->start = s->scan;
		return true;
	}
	if (c == ']') {
		s->in_items = s->is_items_key = false;
		s->depth--;
		bt_buf_char(&s->shell, c);
	} else if (c != ',' && !is_space(c)) {
		*out_error = "an item is no object";
	}
	s->scan++;
	return false;
}

static enum bt_stream_step next_json_item(struct bt_stream *s, struct bt_str *out)
{
	const char *error = NULL;

	if (s->in_object) {
		return take_object(s, out);
	}
	s->scan = s->at;
	while (s->scan < s->bytes.len && !s->whole && !error) {
		if (s->in_items) {
			if (skip_between(s, &error)) {
				return take_object(s, out);
			}
		} else {
			error = take_shell(s, s->bytes.ptr[s->scan++]);
			s->whole = s->depth == 0 && s->shell.len && s->shell.ptr[s->shell.len - 1] == '}';
		}
	}
	s->at = s->scan;
	if (error) {
		return bad(s, error);
	}
	if (s->whole && s->shell.len) {
		*out = bt_buf_view(&s->shell);
		s->opened = true;
		s->shell.len = 0;
		return BT_STREAM_META;
	}
	return BT_STREAM_MORE;
}

enum bt_stream_step bt_stream_next(struct bt_stream *s, struct bt_str *out)
{
	if (s->error) {
		return BT_STREAM_BAD;
	}
	switch (s->form) {
	case BT_STREAM_PROTO_WATCH:
		return next_frame(s, out);
	case BT_STREAM_PROTO_LIST:
		return next_proto_item(s, out);
	case BT_STREAM_JSON_WATCH:
		return next_document(s, out);
	case BT_STREAM_JSON_LIST:
		break;
	}
	return next_json_item(s, out);
}

bool bt_stream_is_whole(const struct bt_stream *s)
{
	bool is_list = s->form == BT_STREAM_PROTO_LIST || s->form == BT_STREAM_JSON_LIST;

	return !s->error && !s->in_object && !s->inside && (is_list ? s->whole : s->at == s->bytes.len);
}
