/* SPDX-License-Identifier: Apache-2.0
 * Protobuf gives the same objects as JSON: for objects that Kubernetes' own encoders have written in both
 * forms (vectors/). Truncated, changed or random bytes give only errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "tools/format/encode.h"
#include "tools/format/input.h"
#include "tools/format/object_reader.h"
#include "tools/format/proto.h"

static struct bt_proto *proto;
static struct bt_arena arena;
static struct bt_json *json;
static struct bt_buf file; /* the vectors: the JSON and the protobuf of each object,
			    * preceded by their lengths */

static int setup(void **state)
{
	const char *path = getenv("BT_VECTORS");
	FILE *in = fopen(path ? path : BT_SOURCE_DIR "/tests/unit/tools/format/vectors/objects", "rb");
	char part[4096];
	size_t n;

	(void)state;
	assert_non_null(in);
	while ((n = fread(part, 1, sizeof(part), in)) > 0) {
		bt_buf_add(&file, part, n);
	}
	fclose(in);
	proto = bt_proto_create();
	json = bt_json_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bt_proto_destroy(proto);
	bt_json_destroy(json);
	bt_arena_fini(&arena);
	bt_buf_fini(&file);
	return 0;
}

/* The next vector, from *at on. */
static bool next(size_t *at, struct bt_str *out)
{
	if (*at == file.len) {
		return false;
	}
	const uint8_t *p = (const uint8_t *)file.ptr + *at;
	size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];

	*out = (struct bt_str){file.ptr + *at + 4, n};
	*at += 4 + n;
	return true;
}

static enum bt_kind kind_of(struct bt_str word)
{
	return bt_str_is(word, "Node") ? BT_KIND_NODE : BT_KIND_POD;
}

static bool decode_proto(struct bt_str bytes, struct bt_object *out, struct bt_proto_error *error)
{
	struct bt_proto_unknown unknown;

	return bt_proto_open(bytes, &unknown, error) &&
	       bt_proto_decode(proto, kind_of(unknown.kind), unknown.raw, &arena, out, error) ==
		       BT_PROTO_WHOLE;
}

/* Go writes an empty map of these as {} in JSON, and omits it in Protocol Buffers. No
 * decision depends on that. Templates of ephemeral volumes are for the simulator, which reads no Protocol
 * Buffers. */
static void forget_differences(struct bt_object *object)
{
	for (uint32_t i = 0; object->kind == BT_KIND_POD && i < object->pod.spec.volume_n; i++) {
		object->pod.spec.volumes[i].claim_template = (struct bt_str){.len = 0};
	}
	for (uint32_t i = 0; object->kind == BT_KIND_POD && i < object->pod.node_claim_n; i++) {
		object->pod.node_claims[i].resources.set &= object->pod.node_claims[i].resources.n > 0;
	}
}

/* Prints long texts from shortly before the first difference. */
static void agree(uint32_t n, struct bt_str got, struct bt_str want)
{
	const size_t around = 60;
	size_t at = 0;

	while (at < got.len && at < want.len && got.ptr[at] == want.ptr[at]) {
		at++;
	}
	if (at < got.len || at < want.len) {
		size_t from = at > around ? at - around : 0;

		fail_msg("object %u: \n  %.*s\nis not\n  %.*s", n, (int)(2 * around), got.ptr + from,
			(int)(2 * around), want.ptr + from);
	}
}

static void proto_gives_what_json_gives(void **state)
{
	struct bt_buf want = {0}, got = {0};
	struct bt_str text, bytes;
	uint32_t n = 0;

	(void)state;
	for (size_t at = 0; next(&at, &text) && next(&at, &bytes); n++) {
		struct bt_decode decode = {.json = json, .arena = &arena};
		struct bt_object a, b;
		struct bt_proto_error error = {0};

		bt_arena_reset(&arena);
		bt_json_begin(json, text, &arena);
		if (!bt_object_decode(&decode, &a)) {
			fail_msg("object %u: %s: %s", n, decode.error.path, decode.error.message);
		}
		if (!decode_proto(bytes, &b, &error)) {
			fail_msg("object %u: %s: %s at %zu", n, error.field, error.text, error.offset);
		}
		bt_buf_clear(&want);
		bt_buf_clear(&got);
		forget_differences(&a);
		bt_object_encode(&a, &want);
		bt_object_encode(&b, &got);
		agree(n, bt_buf_view(&got), bt_buf_view(&want));
	}
	assert_true(n > 10);
	bt_buf_fini(&want);
	bt_buf_fini(&got);
}

/* ---- invalid bytes ---- */

/* Any bytes give an object or an error with a text; sanitizers check memory. */
static void survives(struct bt_str bytes)
{
	struct bt_proto_error error = {0};
	struct bt_object object;
	char *exact = bt_mem_copy(bytes.ptr, bytes.len); /* so that reads past the end are detected */

	bt_arena_reset(&arena);
	if (!decode_proto((struct bt_str){exact, bytes.len}, &object, &error)) {
		assert_non_null(error.text);
		assert_true(error.offset <= bytes.len);
	}
	bt_mem_free(exact);
}

static void cut_at_every_byte_it_is_an_error_or_a_smaller_object(void **state)
{
	struct bt_str text, bytes;
	size_t at = 0;

	(void)state;
	for (uint32_t i = 0; i < 2 && next(&at, &text) && next(&at, &bytes); i++) {
		for (size_t n = 0; n < bytes.len; n++) {
			survives((struct bt_str){bytes.ptr, n});
		}
	}
}

static uint64_t seed_of_the_day(void)
{
	const char *text = getenv("BT_SEED");

	return text ? strtoull(text, NULL, 0) : 20261121u;
}

static void changed_bytes_do_no_harm(void **state)
{
	struct bt_rng rng = {seed_of_the_day()};
	struct bt_str text, bytes;

	(void)state;
	print_message("seed %llu\n", (unsigned long long)rng.state);
	for (size_t at = 0; next(&at, &text) && next(&at, &bytes);) {
		for (uint32_t round = 0; round < 300; round++) {
			char *changed = bt_mem_copy(bytes.ptr, bytes.len);

			for (uint32_t n = 1 + bt_rng_below(&rng, 4); n; n--) {
				changed[bt_rng_below(&rng, (uint32_t)bytes.len)] = (char)bt_rng_next(&rng);
			}
			survives((struct bt_str){changed, bytes.len});
			bt_mem_free(changed);
		}
	}
}

/* Decodes a bare message as a pod and returns its error, or "". */
static const char *pod_error(const void *bytes, size_t n, struct bt_object *out)
{
	struct bt_proto_error error = {0};

	bt_arena_reset(&arena);
	return bt_proto_decode(proto, BT_KIND_POD, (struct bt_str){bytes, n}, &arena, out, &error) ==
			       BT_PROTO_WHOLE
		       ? ""
		       : error.text;
}

#define POD_ERROR(...)                                                                                       \
	pod_error((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}),                    \
		&(struct bt_object){0})

static void malformed_messages_are_refused_by_name(void **state)
{
	(void)state;
	assert_string_equal(POD_ERROR(0x0a), "a number is cut off");
	assert_string_equal(POD_ERROR(0x0a, 0x05, 0x00), "a length goes beyond the end");
	assert_string_equal(POD_ERROR(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
		"a length goes beyond the end");
	assert_string_equal(POD_ERROR(0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01),
		"a number has more than 64 bits");
	assert_string_equal(POD_ERROR(0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02),
		"a number has more than 64 bits");
	assert_string_equal(POD_ERROR(0x02, 0x00), "a field has a number that no field has");
	assert_string_equal(POD_ERROR(0xfb, 0x01), "a value is of a type that is not used"); /* a group */
	assert_string_equal(POD_ERROR(0xfe, 0x01), "a value is of a type that is not used");
	assert_string_equal(POD_ERROR(0x08, 0x01), "a value is of the wrong type");
	assert_string_equal(POD_ERROR(0xf9, 0x01, 0x00), "a value goes beyond the end");
	assert_string_equal(POD_ERROR(0xfd, 0x01, 0x00), "a value goes beyond the end");
	assert_string_equal(POD_ERROR(0x0a, 0x03, 0x0a, 0x01, 0xff), "a string is not UTF-8");
	assert_string_equal(POD_ERROR(0x12, 0x05, 0x82, 0x02, 0x02, 0x12, 0x00), "");
	assert_string_equal(POD_ERROR(0x12, 0x08, 0x82, 0x02, 0x05, 0x12, 0x03, 0x0a, 0x01, 'x'),
		"what should be a quantity is none");
}

static void unknown_fields_are_stepped_over(void **state)
{
	struct bt_object object;
	const uint8_t bytes[] = {0xf8, 0x7f, 0x05, 0xf9, 0x7f, 1, 2, 3, 4, 5, 6, 7, 8, 0xfd, 0x7f, 1, 2, 3, 4,
		0xfa, 0x7f, 0x02, 0xff, 0xff, 0x0a, 0x05, 0x0a, 0x03, 'w', 'e', 'b'};

	(void)state;
	assert_string_equal(pod_error(bytes, sizeof(bytes), &object), "");
	assert_true(bt_str_is(object.meta.name, "web"));
}

/* A pod whose labels have these keys, in this order. */
static const char *labels_error(const char *keys, struct bt_object *out)
{
	uint8_t bytes[1024];
	size_t n = 4;

	for (size_t i = 0; keys[i]; i++, n += 5) {
		memcpy(bytes + n, (const uint8_t[]){0x5a, 0x03, 0x0a, 0x01, (uint8_t)keys[i]}, 5);
	}
	size_t inner = n - 4;
	assert_true(inner < 1u << 14);
	bytes[0] = 0x0a;
	bytes[1] = (uint8_t)((inner & 0x7f) | 0x80);
	bytes[2] = (uint8_t)(inner >> 7 | 0x80);
	bytes[3] = 0;
	return pod_error(bytes, n, out);
}

static void maps_may_be_in_any_order_but_keys_are_unique(void **state)
{
	struct bt_object object;
	char many[100];

	(void)state;
	assert_string_equal(labels_error("bdca", &object), "");
	assert_int_equal(object.meta.labels.n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(object.meta.labels.items[i].key.ptr[0], 'a' + (int)i);
	}
	assert_string_equal(labels_error("bab", &object), "a key appears twice");
	assert_string_equal(labels_error("aa", &object), "a key appears twice");
	for (uint32_t i = 0; i < 99; i++) {
		many[i] = (char)(126 - i);
	}
	many[99] = '\0';
	assert_string_equal(labels_error(many, &object), "the keys of a large map are not sorted");
}

/* Two bytes per container would become gigabytes. */
static void an_object_does_not_become_larger_than_its_limit(void **state)
{
	const size_t n = 4u << 20;
	uint8_t *bytes = bt_mem_zalloc(n + 5, 1);
	struct bt_object object;

	(void)state;
	memcpy(bytes, (const uint8_t[]){0x12, 0x80, 0x80, 0x80, 0x02}, 5);
	for (size_t i = 5; i < n + 5; i += 2) {
		bytes[i] = 0x12;
	}
	assert_string_equal(pod_error(bytes, n + 5, &object), "the object becomes too large");
	bt_mem_free(bytes);
}

static void envelopes_have_the_apiversion_and_kind(void **state)
{
	struct bt_proto_unknown unknown;
	struct bt_proto_event event;
	struct bt_proto_status status;
	struct bt_proto_list_meta meta;
	struct bt_proto_error error;
	const char body[] = "k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x02\x0a\x00";
	const char gzip[] = "k8s\0\x1a\x04gzip";
	const char added[] = "\x0a\x05"
			     "ADDED\x12\x04\x0a\x02hi";
	const char gone[] = "\x1a\x03old\x22\x07"
			    "Expired\x2a\x02\x28\x05\x30\x9a\x03";
	const char list[] = "\x12\x02"
			    "17\x1a\x02xy";

	(void)state;
	assert_true(bt_proto_open((struct bt_str){body, sizeof(body) - 1}, &unknown, &error));
	assert_true(bt_str_is(unknown.api_version, "v1") && bt_str_is(unknown.kind, "Pod"));
	assert_int_equal(unknown.raw.len, 2);
	assert_false(bt_proto_open((struct bt_str){gzip, sizeof(gzip) - 1}, &unknown, &error));
	assert_string_equal(error.text, "it is encoded twice");
	assert_false(bt_proto_open(bt_str("{\"kind\":\"Pod\"}"), &unknown, &error));
	assert_true(bt_proto_event((struct bt_str){added, sizeof(added) - 1}, &event, &error));
	assert_true(bt_str_is(event.type, "ADDED") && bt_str_is(event.raw, "hi"));
	assert_true(bt_proto_status((struct bt_str){gone, sizeof(gone) - 1}, &status, &error));
	assert_true(bt_str_is(status.message, "old") && bt_str_is(status.reason, "Expired"));
	assert_int_equal(status.code, 410);
	assert_int_equal(status.retry_after_s, 5);
	assert_true(bt_proto_list_meta((struct bt_str){list, sizeof(list) - 1}, &meta, &error));
	assert_true(bt_str_is(meta.resource_version, "17") && bt_str_is(meta.continue_, "xy"));
}

/* ---- partial decoding ---- */

static void same_identity(const struct bt_object *a, const struct bt_object *b)
{
	agree(0, a->meta.name, b->meta.name);
	agree(1, a->meta.namespace_, b->meta.namespace_);
	agree(2, a->meta.uid, b->meta.uid);
	agree(3, a->meta.resource_version, b->meta.resource_version);
	if (a->kind == BT_KIND_POD) {
		agree(4, a->pod.spec.node_name, b->pod.spec.node_name);
	}
}

/* Finds the bytes of a message's field: the position of its length, and the length. */
static bool find_field(struct bt_str in, uint32_t wanted, struct bt_str *out)
{
	for (size_t at = 0; at < in.len;) {
		uint32_t tag = (uint8_t)in.ptr[at++];
		uint64_t n = 0;

		if (tag & 0x80) {
			tag = (tag & 0x7f) | (uint32_t)(uint8_t)in.ptr[at++] << 7;
		}
		for (uint32_t shift = 0;; shift += 7) {
			uint8_t byte = (uint8_t)in.ptr[at++];

			n |= (uint64_t)(byte & 0x7f) << shift;
			if (byte < 0x80) {
				break;
			}
		}
		if ((tag & 7) == 0) {
			continue;
		}
		assert_int_equal(tag & 7, 2);
		if (tag >> 3 == wanted) {
			*out = (struct bt_str){in.ptr + at, n};
			return true;
		}
		at += n;
	}
	return false;
}

/* A copy with up to four changed bytes after from. */
static char *mutate(struct bt_rng *rng, struct bt_str bytes, size_t from)
{
	char *changed = bt_mem_copy(bytes.ptr, bytes.len);

	for (uint32_t n = 1 + bt_rng_below(rng, 4); n && from < bytes.len; n--) {
		changed[from + bt_rng_below(rng, (uint32_t)(bytes.len - from))] = (char)bt_rng_next(rng);
	}
	return changed;
}

/* Random bytes after the metadata are changed: the identity equals that of a strict reader before. */
static void metadata_is_read_from_otherwise_invalid_objects(void **state)
{
	struct bt_rng rng = {seed_of_the_day()};
	struct bt_str text, bytes, meta = {0};
	uint32_t broken_n = 0;

	(void)state;
	print_message("BT_SEED=%llu\n", (unsigned long long)rng.state);
	for (size_t at = 0; next(&at, &text) && next(&at, &bytes);) {
		struct bt_proto_unknown unknown;
		struct bt_proto_error error = {0};
		struct bt_object strict, tolerant, again;
		struct bt_arena strict_arena = {0};

		assert_true(bt_proto_open(bytes, &unknown, &error));
		enum bt_kind kind = kind_of(unknown.kind);
		assert_int_equal(bt_proto_decode(proto, kind, unknown.raw, &strict_arena, &strict, &error),
			BT_PROTO_WHOLE);
		assert_true(find_field(unknown.raw, 1, &meta));
		for (uint32_t round = 0; round < 200; round++) {
			char *changed =
				mutate(&rng, unknown.raw, (size_t)(meta.ptr + meta.len - unknown.raw.ptr));
			const struct bt_str raw = {changed, unknown.raw.len};

			bt_arena_reset(&arena);
			broken_n += bt_proto_decode(proto, kind, raw, &arena, &tolerant, &error) ==
				    BT_PROTO_IN_PART;
			(void)bt_proto_identify(proto, kind, raw, &arena, &again, &error);
			same_identity(&tolerant, &again);
			agree(0, again.meta.name, strict.meta.name);
			agree(1, again.meta.uid, strict.meta.uid);
			bt_mem_free(changed);
		}
		bt_arena_fini(&strict_arena);
	}
	assert_true(broken_n > 100);
}

/* Any bytes are changed: the reader of identities and the full reader agree on the identity. */
static void both_readers_decode_the_same_identity(void **state)
{
	struct bt_rng rng = {seed_of_the_day()};
	struct bt_str text, bytes;

	(void)state;
	print_message("BT_SEED=%llu\n", (unsigned long long)rng.state);
	for (size_t at = 0; next(&at, &text) && next(&at, &bytes);) {
		struct bt_proto_unknown unknown;
		struct bt_proto_error error;
		struct bt_object whole, identity;

		assert_true(bt_proto_open(bytes, &unknown, &error));
		enum bt_kind kind = kind_of(unknown.kind);
		for (uint32_t round = 0; round < 200; round++) {
			char *changed = mutate(&rng, unknown.raw, 0);
			const struct bt_str raw = {changed,
				bt_rng_below(&rng, 4) ? unknown.raw.len
						      : bt_rng_below(&rng, (uint32_t)unknown.raw.len)};

			bt_arena_reset(&arena);
			(void)bt_proto_decode(proto, kind, raw, &arena, &whole, &error);
			(void)bt_proto_identify(proto, kind, raw, &arena, &identity, &error);
			same_identity(&whole, &identity);
			bt_mem_free(changed);
		}
	}
}

/* Decodes a bare message as a pod. */
static enum bt_proto_extent decode_pod(const void *bytes, size_t n, struct bt_object *out)
{
	struct bt_proto_error error = {0};

	bt_arena_reset(&arena);
	return bt_proto_decode(proto, BT_KIND_POD, (struct bt_str){bytes, n}, &arena, out, &error);
}

#define DECODE_POD(out, ...)                                                                                 \
	decode_pod((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), out)

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
	struct bt_object object;

	(void)state;
	assert_int_equal(
		DECODE_POD(&object, 0x0a, 0x07, 0x0a, 0x05, 'w', 0xff, 'e', 0xc3, 'b'), BT_PROTO_REPLACED);
	assert_true(bt_str_is(object.meta.name, "w\xef\xbf\xbd"
						"e\xef\xbf\xbd"
						"b"));
}

static void a_bad_value_costs_itself_alone(void **state)
{
	struct bt_object object;

	(void)state;
	/* requests {"x": no quantity, "y": 1}, followed by the node */
	assert_int_equal(DECODE_POD(&object, 0x12, 0x1e, 0x12, 0x18, 0x42, 0x16, 0x12, 0x09, 0x0a, 0x01, 'x',
				 0x12, 0x04, 0x0a, 0x02, '1', 'x', 0x12, 0x09, 0x0a, 0x01, 'y', 0x12, 0x03,
				 0x0a, 0x01, '1', 0x10, 0x52, 0x02, 'n', '1'),
		BT_PROTO_IN_PART);
	assert_true(bt_str_is(object.pod.spec.node_name, "n1"));
	assert_int_equal(object.pod.spec.container_n, 1);
}

/* Merged as by protobuf. */
static void a_message_that_is_there_twice_is_merged(void **state)
{
	struct bt_object object;

	(void)state;
	assert_int_equal(DECODE_POD(&object, 0x0a, 0x08, 0x0a, 0x01, 'a', 0x5a, 0x03, 0x0a, 0x01, 'k', 0x0a,
				 0x08, 0x0a, 0x01, 'b', 0x5a, 0x03, 0x0a, 0x01, 'l'),
		BT_PROTO_WHOLE);
	assert_true(bt_str_is(object.meta.name, "b"));
	assert_int_equal(object.meta.labels.n, 2);
}

static void of_equal_keys_the_last_one_counts(void **state)
{
	struct bt_object object;

	(void)state;
	(void)DECODE_POD(&object, 0x0a, 0x10, 0x5a, 0x06, 0x0a, 0x01, 'k', 0x12, 0x01, 'a', 0x5a, 0x06, 0x0a,
		0x01, 'k', 0x12, 0x01, 'b');
	assert_int_equal(object.meta.labels.n, 1);
	assert_true(bt_str_is(object.meta.labels.items[0].value, "b"));
}

/* Fields after the limit are left out, except for identity and node. */
static void beyond_the_limit_the_node_is_known(void **state)
{
	const size_t n = 4u << 20;
	uint8_t *bytes = bt_mem_zalloc(n + 9, 1);
	struct bt_object object;

	(void)state;
	memcpy(bytes, (const uint8_t[]){0x12, 0x84, 0x80, 0x80, 0x02}, 5);
	for (size_t i = 5; i < n + 5; i += 2) {
		bytes[i] = 0x12;
	}
	memcpy(bytes + n + 5, (const uint8_t[]){0x52, 0x02, 'n', '1'}, 4);
	assert_int_equal(decode_pod(bytes, n + 9, &object), BT_PROTO_IN_PART);
	assert_true(bt_str_is(object.pod.spec.node_name, "n1"));
	bt_mem_free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proto_gives_what_json_gives),
		cmocka_unit_test(cut_at_every_byte_it_is_an_error_or_a_smaller_object),
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(malformed_messages_are_refused_by_name),
		cmocka_unit_test(unknown_fields_are_stepped_over),
		cmocka_unit_test(maps_may_be_in_any_order_but_keys_are_unique),
		cmocka_unit_test(an_object_does_not_become_larger_than_its_limit),
		cmocka_unit_test(envelopes_have_the_apiversion_and_kind),
		cmocka_unit_test(metadata_is_read_from_otherwise_invalid_objects),
		cmocka_unit_test(both_readers_decode_the_same_identity),
		cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
		cmocka_unit_test(a_bad_value_costs_itself_alone),
		cmocka_unit_test(a_message_that_is_there_twice_is_merged),
		cmocka_unit_test(of_equal_keys_the_last_one_counts),
		cmocka_unit_test(beyond_the_limit_the_node_is_known),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
