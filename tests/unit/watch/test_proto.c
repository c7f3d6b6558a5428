/* SPDX-License-Identifier: Apache-2.0
 * Protobuf gives the objects that JSON gives: of objects that Kubernetes' own encoders have written both ways
 * (vectors/), and nothing but an error of bytes that are cut off, changed or made up.
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
#include "tools/codec/encode.h"
#include "tools/codec/input.h"
#include "tools/codec/object.h"
#include "tools/watch/proto.h"

static struct bt_proto *proto;
static struct bt_arena arena;
static struct bt_json *json;
static struct bt_buf file; /* the vectors: of each object the JSON and the protobuf, lengths in front */

static int setup(void **state)
{
	const char *path = getenv("BT_VECTORS");
	FILE *in = fopen(path ? path : BT_SOURCE_DIR "/tests/unit/watch/vectors/objects", "rb");
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

/* The next of the vectors, from *at on. */
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
	       bt_proto_decode(proto, kind_of(unknown.kind), unknown.raw, &arena, out, error);
}

/* Texts are long: shows them from a bit before the first difference on. */
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
		bt_object_encode(&a, &want);
		bt_object_encode(&b, &got);
		agree(n, bt_buf_view(&got), bt_buf_view(&want));
	}
	assert_true(n > 10);
	bt_buf_fini(&want);
	bt_buf_fini(&got);
}

/* ---- bytes that nobody should send ---- */

/* Any bytes give an object or an error that says something; memory is checked by the sanitizers. */
static void survives(struct bt_str bytes)
{
	struct bt_proto_error error = {0};
	struct bt_object object;
	char *exact = bt_mem_copy(bytes.ptr, bytes.len); /* so that reading beyond the end is seen */

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

/* Decodes a bare message as a pod and gives what is wrong with it, or "". */
static const char *pod_error(const void *bytes, size_t n, struct bt_object *out)
{
	struct bt_proto_error error = {0};

	bt_arena_reset(&arena);
	return bt_proto_decode(proto, BT_KIND_POD, (struct bt_str){bytes, n}, &arena, out, &error)
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
	assert_string_equal(POD_ERROR(0x0a, 0x00, 0x0a, 0x00), "a message is there twice");
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

static void maps_may_come_in_any_order_but_keys_come_once(void **state)
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

/* Two bytes a container would become gigabytes. */
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

static void envelopes_say_what_they_hold(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proto_gives_what_json_gives),
		cmocka_unit_test(cut_at_every_byte_it_is_an_error_or_a_smaller_object),
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(malformed_messages_are_refused_by_name),
		cmocka_unit_test(unknown_fields_are_stepped_over),
		cmocka_unit_test(maps_may_come_in_any_order_but_keys_come_once),
		cmocka_unit_test(an_object_does_not_become_larger_than_its_limit),
		cmocka_unit_test(envelopes_say_what_they_hold),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
