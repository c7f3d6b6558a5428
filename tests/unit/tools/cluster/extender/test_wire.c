/* SPDX-License-Identifier: Apache-2.0
 * The JSON of extender/v1: requests, and the parsing of responses. The test's own callbacks record
 * their arguments.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tools/cluster/extender/wire_int.h"

struct bt_extender_reply {
	struct bt_buf noted;
};

void bt_extender_fail(struct bt_extender_reply *reply, struct bt_str error)
{
	bt_buf_printf(&reply->noted, "fail %.*s;", BT_STR_ARG(error));
}

void bt_extender_keep(struct bt_extender_reply *reply, struct bt_str node)
{
	bt_buf_printf(&reply->noted, "keep %.*s;", BT_STR_ARG(node));
}

void bt_extender_keep_objects(struct bt_extender_reply *reply)
{
	bt_buf_text(&reply->noted, "objects;");
}

void bt_extender_refuse(
	struct bt_extender_reply *reply, struct bt_str node, bool unresolvable, struct bt_str message)
{
	bt_buf_printf(&reply->noted, "refuse%s %.*s %.*s;", unresolvable ? " for good" : "", BT_STR_ARG(node),
		BT_STR_ARG(message));
}

void bt_extender_score(struct bt_extender_reply *reply, struct bt_str node, int64_t score)
{
	bt_buf_printf(&reply->noted, "score %.*s %" PRId64 ";", BT_STR_ARG(node), score);
}

void bt_extender_candidate(struct bt_extender_reply *reply, struct bt_str node, int64_t violation_n)
{
	bt_buf_printf(&reply->noted, "candidate %.*s %" PRId64 ";", BT_STR_ARG(node), violation_n);
}

void bt_extender_victim(struct bt_extender_reply *reply, struct bt_str uid)
{
	bt_buf_printf(&reply->noted, "victim %.*s;", BT_STR_ARG(uid));
}

struct reading {
	struct bt_arena arena;
	struct bt_wire wire;
	struct bt_extender_reply reply;
	struct bt_buf error;
};

static int setup(void **state)
{
	static struct reading reading;

	reading = (struct reading){.wire.json = bt_json_create()};
	reading.wire.arena = &reading.arena;
	*state = &reading;
	return 0;
}

static int teardown(void **state)
{
	struct reading *r = *state;

	bt_json_destroy(r->wire.json);
	bt_arena_fini(&r->arena);
	bt_buf_fini(&r->reply.noted);
	bt_buf_fini(&r->error);
	return 0;
}

static const char *text_of(const struct bt_buf *buf)
{
	return buf->len ? buf->ptr : "";
}

static void nodes_are_sent_as_names_or_as_objects(void **state)
{
	struct reading *r = *state;
	const struct bt_str names[] = {BT_STR("n1"), BT_STR("n\"2")};
	const struct bt_str objects[] = {BT_STR("{\"a\":1}"), BT_STR("{\"b\":2}")};

	bt_wire_args(bt_str("{}"), names, 2, true, &r->error);
	assert_string_equal(r->error.ptr, "{\"Pod\":{},\"Nodes\":null,\"NodeNames\":[\"n1\",\"n\\\"2\"]}");
	bt_buf_clear(&r->error);
	bt_wire_args(bt_str("{}"), objects, 2, false, &r->error);
	assert_string_equal(r->error.ptr, "{\"Pod\":{},\"Nodes\":{\"metadata\":{},\"items\":[{\"a\":1},{"
					  "\"b\":2}]},\"NodeNames\":null}");
}

static void victims_are_sent_as_uids_or_as_objects(void **state)
{
	struct reading *r = *state;
	const struct bt_str victims[] = {BT_STR("u1"), BT_STR("u2")}, pods[] = {BT_STR("{}")};
	const struct bt_wire_candidate by_uid = {bt_str("n1"), victims, 2, 3};
	const struct bt_wire_candidate by_object[] = {{bt_str("n1"), pods, 1, 0}, {bt_str("n2"), NULL, 0, 1}};

	bt_wire_preempt_args(bt_str("{}"), &by_uid, 1, true, &r->error);
	assert_string_equal(r->error.ptr,
		"{\"Pod\":{},\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":["
		"{\"UID\":\"u1\"},{\"UID\":\"u2\"}],\"NumPDBViolations\":3}}}");
	bt_buf_clear(&r->error);
	bt_wire_preempt_args(bt_str("{}"), by_object, 2, false, &r->error);
	assert_string_equal(r->error.ptr,
		"{\"Pod\":{},\"NodeNameToVictims\":{\"n1\":{\"Pods\":[{}],\"NumPDBViolations\":0},\"n2\":"
		"{\"Pods\":[],\"NumPDBViolations\":1}},\"NodeNameToMetaVictims\":null}");
}

static void a_binding_names_pod_uid_and_node(void **state)
{
	struct reading *r = *state;
	const struct bt_pod_ref pod = {.namespace_ = bt_str("ns"), .name = bt_str("p"), .uid = bt_str("u")};

	bt_wire_binding_args(&pod, bt_str("n1"), &r->error);
	assert_string_equal(
		r->error.ptr, "{\"PodName\":\"p\",\"PodNamespace\":\"ns\",\"PodUID\":\"u\",\"Node\":\"n1\"}");
}

static const char *filter(struct reading *r, const char *body, bool by_name)
{
	bt_buf_clear(&r->reply.noted);
	bt_buf_clear(&r->error);
	return bt_wire_filter_result(&r->wire, bt_str(body), by_name, &r->reply, &r->error)
		       ? text_of(&r->reply.noted)
		       : "unreadable";
}

static void names_count_before_objects_where_the_extender_keeps_nodes(void **state)
{
	const char *body =
		"{\"NodeNames\":[\"n1\"],\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"n2\"}}]}}";

	assert_string_equal(filter(*state, body, true), "keep n1;");
	assert_string_equal(filter(*state, body, false), "objects;keep n2;");
}

static void refused_nodes_have_their_messages(void **state)
{
	assert_string_equal(
		filter(*state,
			"{\"NodeNames\":[],\"FailedNodes\":{\"n1\":\"full\"},\"FailedAndUnresolvableNodes\":"
			"{\"n2\":\"broken\"}}",
			true),
		"refuse n1 full;refuse for good n2 broken;");
}

static void an_error_in_an_answer_fails_the_reply_alone(void **state)
{
	assert_string_equal(filter(*state, "{\"Error\":\"no\",\"NodeNames\":[\"n1\"]}", true), "fail no;");
}

static void the_case_of_member_names_does_not_matter(void **state)
{
	assert_string_equal(filter(*state, "{\"nodenames\":[\"n1\"]}", true), "keep n1;");
}

static void an_answer_of_null_changes_nothing(void **state)
{
	assert_string_equal(filter(*state, "null", true), "");
}

static void an_unreadable_answer_is_reported_in_gos_words(void **state)
{
	struct reading *r = *state;

	assert_string_equal(filter(r, "", true), "unreadable");
	assert_string_equal(r->error.ptr, "EOF");
	assert_string_equal(filter(r, "{\"NodeNames\":", true), "unreadable");
	assert_string_equal(r->error.ptr, "unexpected EOF");
}

static void scores_are_read_in_their_order(void **state)
{
	struct reading *r = *state;

	assert_true(bt_wire_priorities(&r->wire,
		bt_str("[{\"Host\":\"n1\",\"Score\":7},{\"host\":\"n2\",\"score\":-1},null]"), &r->reply,
		&r->error));
	assert_string_equal(text_of(&r->reply.noted), "score n1 7;score n2 -1;score  0;");
	assert_false(bt_wire_priorities(&r->wire, bt_str("[{\"Score\":7}"), &r->reply, &r->error));
	assert_string_equal(r->error.ptr, "unexpected EOF");
}

static void candidates_have_their_victims(void **state)
{
	struct reading *r = *state;

	assert_true(bt_wire_preempt_result(&r->wire,
		bt_str("{\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{\"UID\":\"u1\"},{\"UID\":\"u2\"}],"
		       "\"NumPDBViolations\":2},\"n2\":{}}}"),
		&r->reply, &r->error));
	assert_string_equal(text_of(&r->reply.noted), "candidate n1 2;victim u1;victim u2;candidate n2 0;");
}

static void a_binding_without_an_error_is_bound(void **state)
{
	struct reading *r = *state;

	assert_true(bt_wire_binding_result(&r->wire, bt_str("{}"), &r->error));
	assert_true(bt_wire_binding_result(&r->wire, bt_str("{\"Error\":\"\"}"), &r->error));
	assert_false(bt_wire_binding_result(&r->wire, bt_str("{\"Error\":\"taken\"}"), &r->error));
	assert_string_equal(r->error.ptr, "taken");
}

#define WIRE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WIRE_TEST(nodes_are_sent_as_names_or_as_objects),
		WIRE_TEST(victims_are_sent_as_uids_or_as_objects),
		WIRE_TEST(a_binding_names_pod_uid_and_node),
		WIRE_TEST(names_count_before_objects_where_the_extender_keeps_nodes),
		WIRE_TEST(refused_nodes_have_their_messages),
		WIRE_TEST(an_error_in_an_answer_fails_the_reply_alone),
		WIRE_TEST(the_case_of_member_names_does_not_matter),
		WIRE_TEST(an_answer_of_null_changes_nothing),
		WIRE_TEST(an_unreadable_answer_is_reported_in_gos_words),
		WIRE_TEST(scores_are_read_in_their_order),
		WIRE_TEST(candidates_have_their_victims),
		WIRE_TEST(a_binding_without_an_error_is_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
