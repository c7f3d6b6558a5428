/* SPDX-License-Identifier: Apache-2.0
 * The parts of a watch's stream in JSON: events, objects read whole or in part, statuses, metadata
 * of lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tools/cluster/watch/frame_int.h"

struct reading {
	struct bt_watch_frame_reader reader;
	struct bt_arena arena;
	struct bt_object object;
};

static int setup(void **state)
{
	static struct reading reading;

	reading = (struct reading){.object.kind = BT_KIND_POD};
	bt_watch_frame_reader_init(&reading.reader);
	*state = &reading;
	return 0;
}

static int teardown(void **state)
{
	struct reading *r = *state;

	bt_watch_frame_reader_fini(&r->reader);
	bt_arena_fini(&r->arena);
	return 0;
}

static void assert_text(struct bt_str got, const char *want)
{
	if (!bt_str_is(got, want)) {
		fail_msg("\"%.*s\" instead of \"%s\"", BT_STR_ARG(got), want);
	}
}

static bool open_event(
	struct reading *r, const char *text, enum bt_watch_frame_type *out_type, struct bt_str *out)
{
	return bt_watch_frame_open(&r->reader, false, bt_kind_info(BT_KIND_POD), bt_str(text), out_type, out);
}

static enum bt_proto_extent read_object(struct reading *r, enum bt_kind kind, struct bt_str text)
{
	return bt_watch_frame_object(&r->reader, false, bt_kind_info(kind), text, &r->arena, &r->object);
}

static void an_event_has_a_type_and_an_object(void **state)
{
	static const char *const words[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "RENAMED"};
	struct bt_buf text = {0};

	for (uint32_t i = 0; i <= BT_WATCH_FRAME_OTHER; i++) {
		enum bt_watch_frame_type type;
		struct bt_str object;

		bt_buf_clear(&text);
		bt_buf_printf(&text, "{\"type\":\"%s\",\"object\":{\"a\":1}}", words[i]);
		assert_true(open_event(*state, text.ptr, &type, &object));
		assert_int_equal(type, i);
		assert_text(object, "{\"a\":1}");
	}
	bt_buf_fini(&text);
}

static void an_event_without_an_object_is_refused(void **state)
{
	struct reading *r = *state;
	enum bt_watch_frame_type type;
	struct bt_str object;

	assert_false(open_event(r, "{\"type\":\"ADDED\"}", &type, &object));
	assert_string_equal(r->reader.error, "an event has no object");
	assert_false(open_event(r, "{\"type\":\"ADDED\",", &type, &object));
	assert_non_null(strstr(r->reader.error, "at byte"));
}

static void an_object_is_read_whole(void **state)
{
	struct reading *r = *state;

	assert_int_equal(read_object(r, BT_KIND_POD,
				 bt_str("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\"},\"spec\":"
					"{\"nodeName\":\"n1\"}}")),
		BT_PROTO_WHOLE);
	assert_int_equal(r->object.kind, BT_KIND_POD);
	assert_text(r->object.kind_name, "Pod");
	assert_text(r->object.meta.name, "p");
	assert_text(r->object.pod.spec.node_name, "n1");
	assert_int_equal(r->object.pod.spec.incomplete.len, 0);
	assert_true(bt_watch_frame_check_name(&r->reader, &r->object));
}

static void a_pod_that_is_read_in_part_is_reported(void **state)
{
	struct reading *r = *state;

	assert_int_equal(
		read_object(r, BT_KIND_POD,
			bt_str("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":{},\"priority\":3}}")),
		BT_PROTO_IN_PART);
	assert_text(r->object.meta.name, "p");
	assert_int_equal(r->object.pod.spec.priority, 3);
	assert_non_null(strstr(r->object.pod.spec.incomplete.ptr, "nodeName"));
	assert_non_null(strstr(r->reader.error, "nodeName"));
}

static void a_node_that_is_read_in_part_takes_no_pods(void **state)
{
	struct reading *r = *state;

	assert_int_equal(read_object(r, BT_KIND_NODE,
				 bt_str("{\"metadata\":{\"name\":\"n\"},\"spec\":{\"taints\":3}}")),
		BT_PROTO_IN_PART);
	assert_true(r->object.node.unschedulable);
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
	struct reading *r = *state;
	enum bt_watch_frame_type type;
	struct bt_str object;

	assert_true(open_event(
		r, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p\xff\"}}}", &type, &object));
	assert_int_equal(read_object(r, BT_KIND_POD, object), BT_PROTO_REPLACED);
	assert_text(r->object.meta.name, "p\xef\xbf\xbd");
	/* The next one is parsed as usual. */
	assert_int_equal(
		read_object(r, BT_KIND_POD, bt_str("{\"metadata\":{\"name\":\"q\"}}")), BT_PROTO_WHOLE);
}

static void an_object_needs_a_name(void **state)
{
	struct reading *r = *state;

	assert_int_equal(read_object(r, BT_KIND_POD, bt_str("{\"metadata\":{}}")), BT_PROTO_WHOLE);
	assert_false(bt_watch_frame_check_name(&r->reader, &r->object));
	assert_string_equal(r->reader.error, "metadata.name: the object has no name");
	assert_int_equal(read_object(r, BT_KIND_POD, bt_str("{\"metadata\":{\"name\":\"a\\u0000b\"}}")),
		BT_PROTO_WHOLE);
	assert_false(bt_watch_frame_check_name(&r->reader, &r->object));
	assert_string_equal(r->reader.error, "metadata.name: no object is called that");
}

static void a_status_has_a_code_a_reason_and_a_delay(void **state)
{
	struct reading *r = *state;
	struct bt_proto_status status;

	assert_true(bt_watch_frame_status(&r->reader, false,
		bt_str("{\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\",\"details\":"
		       "{\"retryAfterSeconds\":7}}"),
		&status));
	assert_int_equal(status.code, 410);
	assert_text(status.reason, "Expired");
	assert_text(status.message, "too old");
	assert_int_equal(status.retry_after_s, 7);
	assert_false(bt_watch_frame_status(&r->reader, false, bt_str("{\"code\":\"x\"}"), &status));
}

static void a_list_has_its_version_and_continue_token(void **state)
{
	struct reading *r = *state;
	struct bt_proto_list_meta meta;

	assert_true(bt_watch_frame_list_meta(&r->reader, false,
		bt_str("{\"metadata\":{\"continue\":\"next\",\"resourceVersion\":\"12\"},\"items\":[]}"),
		&meta));
	assert_text(meta.continue_, "next");
	assert_text(meta.resource_version, "12");
}

static void a_list_needs_a_version(void **state)
{
	static const char *const cases[] = {"{}", "{\"metadata\":{}}", "{\"metadata\":null,\"items\":[]}",
		"{\"metadata\":{\"continue\":\"x\"}}"};
	struct reading *r = *state;
	struct bt_proto_list_meta meta;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(bt_watch_frame_list_meta(&r->reader, false, bt_str(cases[i]), &meta));
		assert_string_equal(r->reader.error, "a list without metadata.resourceVersion");
	}
}

#define FRAME_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRAME_TEST(an_event_has_a_type_and_an_object),
		FRAME_TEST(an_event_without_an_object_is_refused),
		FRAME_TEST(an_object_is_read_whole),
		FRAME_TEST(a_pod_that_is_read_in_part_is_reported),
		FRAME_TEST(a_node_that_is_read_in_part_takes_no_pods),
		FRAME_TEST(bytes_that_are_not_utf8_are_replaced),
		FRAME_TEST(an_object_needs_a_name),
		FRAME_TEST(a_status_has_a_code_a_reason_and_a_delay),
		FRAME_TEST(a_list_has_its_version_and_continue_token),
		FRAME_TEST(a_list_needs_a_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
