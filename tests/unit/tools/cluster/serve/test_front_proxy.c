/* SPDX-License-Identifier: Apache-2.0
 * Headers of a front proxy, parsed as upstream does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "identity.h"
#include "tools/cluster/serve/front_proxy.h"

#define HEADERS 16

struct serve_test {
	struct identity ca, proxy;
	struct bt_front_proxy *front;
	struct bt_header headers[HEADERS];
	uint32_t header_n;
	struct bt_user user;
	struct bt_buf error;
};

static struct bt_str users[] = {BT_STR("x-remote-user"), BT_STR("x-other-user")};
static struct bt_str groups[] = {BT_STR("X-Remote-Group"), BT_STR("X-More-Groups")};
static struct bt_str uids[] = {BT_STR("x-remote-uid")};
static struct bt_str extras[] = {BT_STR("x-remote-extra-"), BT_STR("x-more-")};

static int setup(void **state)
{
	static struct serve_test test;
	const struct bt_front_proxy_settings settings = {.username_headers = {.items = users, .n = 2},
		.group_headers = {.items = groups, .n = 2},
		.uid_headers = {.items = uids, .n = 1},
		.extra_prefixes = {.items = extras, .n = 2}};

	test = (struct serve_test){.header_n = 0};
	identity_make(&test.ca, NULL, "proxy-ca", NULL, 3600);
	identity_make(&test.proxy, &test.ca, "p", NULL, 3600);
	test.front = bt_front_proxy_create(bt_str(test.ca.pem), &settings, &test.error);
	assert_non_null(test.front);
	*state = &test;
	return 0;
}

static int teardown(void **state)
{
	struct serve_test *test = *state;

	bt_front_proxy_destroy(test->front);
	bt_user_fini(&test->user);
	bt_buf_fini(&test->error);
	identity_drop(&test->ca);
	identity_drop(&test->proxy);
	return 0;
}

static void add_header(struct serve_test *test, const char *name, const char *value)
{
	assert_true(test->header_n < HEADERS);
	test->headers[test->header_n++] = (struct bt_header){bt_str(name), bt_str(value)};
}

static enum bt_status identify(struct serve_test *test)
{
	const struct bt_str certificate = {(const char *)test->proxy.der, (size_t)test->proxy.der_n};

	return bt_front_proxy_identify(
		test->front, &certificate, 1, test->headers, test->header_n, &test->user, &test->error);
}

#define assert_text(buf, text) assert_true(bt_str_is(bt_buf_view(&(buf)), (text)))

static void the_first_header_with_a_value_names_the_user(void **state)
{
	struct serve_test *test = *state;

	assert_int_equal(identify(test), BT_NOT_FOUND);
	add_header(test, "X-Remote-User", "");
	add_header(test, "X-Remote-User", "second"); /* the first value of a header counts */
	add_header(test, "X-Other-User", "bob");
	add_header(test, "X-Remote-Uid", "u1");
	assert_int_equal(identify(test), BT_OK);
	assert_text(test->user.name, "bob");
	assert_text(test->user.uid, "u1");
	assert_text(test->user.groups, "[\"system:authenticated\"]");
	assert_text(test->user.extra, "");
	assert_false(test->user.privileged);
}

static void groups_are_all_values_of_all_their_headers(void **state)
{
	struct serve_test *test = *state;

	add_header(test, "x-more-groups", "c");
	add_header(test, "X-REMOTE-GROUP", "a");
	add_header(test, "x-remote-group", "");
	add_header(test, "x-remote-group", "system:masters");
	add_header(test, "x-remote-user", "bob");
	assert_int_equal(identify(test), BT_OK);
	assert_text(test->user.groups, "[\"a\",\"system:masters\",\"c\",\"system:authenticated\"]");
	assert_true(test->user.privileged);
}

static void an_unknown_name_is_not_interned(void **state)
{
	struct serve_test *test = *state;

	add_header(test, "x-remote-user", "system:anonymous");
	add_header(test, "x-remote-group", "system:unauthenticated");
	assert_int_equal(identify(test), BT_OK);
	assert_text(test->user.groups, "[\"system:unauthenticated\"]");
}

static void extra_headers_are_gathered_by_their_decoded_lower_case_names(void **state)
{
	struct serve_test *test = *state;

	add_header(test, "x-remote-user", "bob");
	add_header(test, "X-More-Scopes", "three");
	add_header(test, "X-Remote-Extra-Scopes", "one");
	add_header(test, "X-Remote-Extra-Acme.com%2FProject", "\"p\"");
	add_header(test, "x-remote-extra-scopes", "");
	add_header(test, "X-Remote-Extra-Odd%zz", "raw");
	assert_int_equal(identify(test), BT_OK);
	assert_text(test->user.extra,
		"{\"scopes\":[\"one\",\"\",\"three\"],\"acme.com/project\":[\"\\\"p\\\"\"],"
		"\"odd%zz\":[\"raw\"]}");
}

static void a_certificate_of_another_ca_is_no_proxys(void **state)
{
	struct serve_test *test = *state;
	struct identity ca, stranger;

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make(&stranger, &ca, "p", NULL, 3600);
	add_header(test, "x-remote-user", "bob");
	const struct bt_str certificate = {(const char *)stranger.der, (size_t)stranger.der_n};

	assert_int_equal(bt_front_proxy_identify(test->front, &certificate, 1, test->headers, test->header_n,
				 &test->user, &test->error),
		BT_INVALID);
	assert_non_null(strstr(test->error.ptr, "x509: "));
	assert_text(test->user.name, "");
	identity_drop(&ca);
	identity_drop(&stranger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_first_header_with_a_value_names_the_user, setup, teardown),
		cmocka_unit_test_setup_teardown(groups_are_all_values_of_all_their_headers, setup, teardown),
		cmocka_unit_test_setup_teardown(an_unknown_name_is_not_interned, setup, teardown),
		cmocka_unit_test_setup_teardown(
			extra_headers_are_gathered_by_their_decoded_lower_case_names, setup, teardown),
		cmocka_unit_test_setup_teardown(a_certificate_of_another_ca_is_no_proxys, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
