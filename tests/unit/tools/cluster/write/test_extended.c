/* SPDX-License-Identifier: Apache-2.0
 * Bindings by an extender. Expected results follow from extendersBinding, v1.36.3.
 */
#include "fake.h"

#define POD    "/api/v1/namespaces/ns/pods/p"
#define EVENTS "/apis/events.k8s.io/v1/namespaces/ns/events"
#define ON(node)                                                                                             \
	"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{\"nodeName\":\"" node "\"}" \
	"}"

/* The extender's last call. */
static struct {
	uint32_t asked_n;
	char pod[64], uid[64], node[64];
	const struct bt_extender_config *extender;
	void (*done)(void *context, enum bt_extender_end end, struct bt_str error);
	void *context;
} extender;

static struct bt_extender_config config;

static void extender_bind(void *context, const struct bt_extender_config *asked, const struct bt_pod_ref *pod,
	struct bt_str node, void (*done)(void *context, enum bt_extender_end end, struct bt_str error),
	void *done_context)
{
	assert_ptr_equal(context, &extender);
	extender.asked_n++;
	extender.extender = asked;
	fake_copy(extender.pod, sizeof(extender.pod), pod->name);
	fake_copy(extender.uid, sizeof(extender.uid), pod->uid);
	fake_copy(extender.node, sizeof(extender.node), node);
	extender.done = done;
	extender.context = done_context;
}

static int begin(void **state)
{
	(void)state;
	memset(&extender, 0, sizeof(extender));
	config = (struct bt_extender_config){.bind_verb = bt_str("bind")};
	fake_begin((struct bt_writer_options){
		.qps = -1, .extender_bind = extender_bind, .extender_context = &extender});
	show("p", "7", "");
	return 0;
}

static void request(uint64_t handle)
{
	struct bt_bind_request request = fake_bind_request(handle, "p", "u", "n1");
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	request.extender = &config;
	binder.bind(binder.context, NULL, &request);
	fake_pass(0);
}

static void answer(enum bt_extender_end end, const char *error)
{
	extender.done(extender.context, end, bt_str(error));
	fake_pass(0);
}

static void an_extender_binds_instead_of_the_server(void **state)
{
	(void)state;
	request(1);
	assert_int_equal(extender.asked_n, 1);
	assert_ptr_equal(extender.extender, &config);
	assert_string_equal(extender.pod, "p");
	assert_string_equal(extender.uid, "u");
	assert_string_equal(extender.node, "n1");
	assert_int_equal(fake.call_n, 0);
	expect_reports("");
	answer(BT_EXTENDER_BOUND, "");
	expect_reports("bound 1\n");
	sent(0, "POST", EVENTS);
	assert_non_null(strstr(fake.calls[0].body, "Successfully assigned ns/p to n1"));
	assert_int_equal(fake.call_n, 1);
}

static void an_extender_that_refuses_fails_the_binding_in_its_words(void **state)
{
	(void)state;
	request(1);
	answer(BT_EXTENDER_FAILED, "no room");
	expect_reports("failed 1 no room\n");
	/* The event, and the condition: without a plugin's name. */
	assert_int_equal(fake.call_n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_non_null(strstr(fake.calls[i].body, "\"no room\""));
	}
}

static void where_it_may_be_ignored_the_server_binds(void **state)
{
	(void)state;
	config.ignorable = true;
	request(1);
	answer(BT_EXTENDER_FAILED, "no room");
	expect_reports("");
	sent(0, "POST", BINDING);
	fake_answer(0, 201, "{}");
	expect_reports("bound 1\n");
	assert_int_equal(extender.asked_n, 1);
}

static void its_lost_answer_is_looked_for(void **state)
{
	(void)state;
	request(1);
	answer(BT_EXTENDER_LOST, "Post \"x\": EOF");
	expect_reports("");
	fake_pass(2 * FAKE_S);
	sent(0, "GET", POD);
	fake_answer(0, 200, ON("n1"));
	expect_reports("bound 1\n");
	request(2);
	answer(BT_EXTENDER_LOST, "Post \"x\": EOF");
	for (int i = 0; i < 2; i++) {
		fake_pass(2 * FAKE_S);
		sent(fake.call_n - 1, "GET", POD);
		fake_answer(fake.call_n - 1, 200, ON(""));
	}
	expect_reports("failed 2 Post \"x\": EOF\n");
}

static void without_the_lease_no_extender_is_called(void **state)
{
	(void)state;
	fake.may_write = false;
	request(1);
	expect_reports("failed 1 another replica leads\n");
	assert_int_equal(extender.asked_n, 0);
}

static void a_check_calls_the_extender_again(void **state)
{
	struct bt_bind_request again = fake_bind_request(9, "p", "u", "n1");
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	(void)state;
	again.extender = &config;
	again.number = 5;
	binder.check(binder.context, NULL, &again);
	fake_pass(0);
	sent(0, "GET", POD);
	fake_answer(0, 200, ON(""));
	fake_pass(0);
	assert_int_equal(extender.asked_n, 1);
	answer(BT_EXTENDER_BOUND, "");
	expect_reports("bound 9\n");
}

static void an_interrupted_extender_binding_is_unknown_at_the_end(void **state)
{
	(void)state;
	request(1);
	/* The extender's client ends before the writer, and cancels its calls. */
	extender.done(extender.context, BT_EXTENDER_LOST, bt_str("cancelled"));
	fake_stop();
	expect_reports("unknown 1\n");
	bt_buf_fini(&fake.reported);
	fake_begin((struct bt_writer_options){.qps = -1});
}

static void without_an_extender_the_pod_is_bound_at_the_server(void **state)
{
	(void)state;
	fake_finish();
	fake_begin((struct bt_writer_options){.qps = -1});
	request(1);
	sent(0, "POST", BINDING);
	fake_answer(0, 201, "{}");
	expect_reports("bound 1\n");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, fake_teardown)
	const struct CMUnitTest tests[] = {
		CASE(an_extender_binds_instead_of_the_server),
		CASE(an_extender_that_refuses_fails_the_binding_in_its_words),
		CASE(where_it_may_be_ignored_the_server_binds),
		CASE(its_lost_answer_is_looked_for),
		CASE(without_the_lease_no_extender_is_called),
		CASE(a_check_calls_the_extender_again),
		CASE(an_interrupted_extender_binding_is_unknown_at_the_end),
		CASE(without_an_extender_the_pod_is_bound_at_the_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
