/* SPDX-License-Identifier: Apache-2.0
 * What a front proxy says in headers, read as upstream reads it.
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

struct desk {
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
	static struct desk desk;
	const struct bt_front_proxy_settings settings = {.username_headers = {.items = users, .n = 2},
		.group_headers = {.items = groups, .n = 2},
		.uid_headers = {.items = uids, .n = 1},
		.extra_prefixes = {.items = extras, .n = 2}};

	desk = (struct desk){.header_n = 0};
	identity_make(&desk.ca, NULL, "proxy-ca", NULL, 3600);
	identity_make(&desk.proxy, &desk.ca, "p", NULL, 3600);
	desk.front = bt_front_proxy_create(bt_str(desk.ca.pem), &settings, &desk.error);
	assert_non_null(desk.front);
	*state = &desk;
	return 0;
}

static int teardown(void **state)
{
	struct desk *desk = *state;

	bt_front_proxy_destroy(desk->front);
	bt_user_fini(&desk->user);
	bt_buf_fini(&desk->error);
	identity_drop(&desk->ca);
	identity_drop(&desk->proxy);
	return 0;
}

static void say(struct desk *desk, const char *name, const char *value)
{
	assert_true(desk->header_n < HEADERS);
	desk->headers[desk->header_n++] = (struct bt_header){bt_str(name), bt_str(value)};
}

static enum bt_status identify(struct desk *desk)
{
	const struct bt_str certificate = {(const char *)desk->proxy.der, (size_t)desk->proxy.der_n};

	return bt_front_proxy_identify(
		desk->front, &certificate, 1, desk->headers, desk->header_n, &desk->user, &desk->error);
}

#define assert_text(buf, text) assert_true(bt_str_is(bt_buf_view(&(buf)), (text)))

static void the_first_header_with_a_value_names_the_user(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(identify(desk), BT_NOT_FOUND);
	say(desk, "X-Remote-User", "");
	say(desk, "X-Remote-User", "second"); /* of one header the first value counts */
	say(desk, "X-Other-User", "bob");
	say(desk, "X-Remote-Uid", "u1");
	assert_int_equal(identify(desk), BT_OK);
	assert_text(desk->user.name, "bob");
	assert_text(desk->user.uid, "u1");
	assert_text(desk->user.groups, "[\"system:authenticated\"]");
	assert_text(desk->user.extra, "");
	assert_false(desk->user.privileged);
}

static void groups_are_all_values_of_all_their_headers(void **state)
{
	struct desk *desk = *state;

	say(desk, "x-more-groups", "c");
	say(desk, "X-REMOTE-GROUP", "a");
	say(desk, "x-remote-group", "");
	say(desk, "x-remote-group", "system:masters");
	say(desk, "x-remote-user", "bob");
	assert_int_equal(identify(desk), BT_OK);
	assert_text(desk->user.groups, "[\"a\",\"system:masters\",\"c\",\"system:authenticated\"]");
	assert_true(desk->user.privileged);
}

static void who_is_not_known_is_not_made_known(void **state)
{
	struct desk *desk = *state;

	say(desk, "x-remote-user", "system:anonymous");
	say(desk, "x-remote-group", "system:unauthenticated");
	assert_int_equal(identify(desk), BT_OK);
	assert_text(desk->user.groups, "[\"system:unauthenticated\"]");
}

static void extra_headers_are_gathered_by_their_decoded_lower_case_names(void **state)
{
	struct desk *desk = *state;

	say(desk, "x-remote-user", "bob");
	say(desk, "X-More-Scopes", "three");
	say(desk, "X-Remote-Extra-Scopes", "one");
	say(desk, "X-Remote-Extra-Acme.com%2FProject", "\"p\"");
	say(desk, "x-remote-extra-scopes", "");
	say(desk, "X-Remote-Extra-Odd%zz", "raw");
	assert_int_equal(identify(desk), BT_OK);
	assert_text(desk->user.extra,
		"{\"scopes\":[\"one\",\"\",\"three\"],\"acme.com/project\":[\"\\\"p\\\"\"],"
		"\"odd%zz\":[\"raw\"]}");
}

static void a_certificate_of_another_ca_is_no_proxys(void **state)
{
	struct desk *desk = *state;
	struct identity ca, stranger;

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make(&stranger, &ca, "p", NULL, 3600);
	say(desk, "x-remote-user", "bob");
	const struct bt_str certificate = {(const char *)stranger.der, (size_t)stranger.der_n};

	assert_int_equal(bt_front_proxy_identify(desk->front, &certificate, 1, desk->headers, desk->header_n,
				 &desk->user, &desk->error),
		BT_INVALID);
	assert_non_null(strstr(desk->error.ptr, "x509: "));
	assert_text(desk->user.name, "");
	identity_drop(&ca);
	identity_drop(&stranger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_first_header_with_a_value_names_the_user, setup, teardown),
		cmocka_unit_test_setup_teardown(groups_are_all_values_of_all_their_headers, setup, teardown),
		cmocka_unit_test_setup_teardown(who_is_not_known_is_not_made_known, setup, teardown),
		cmocka_unit_test_setup_teardown(
			extra_headers_are_gathered_by_their_decoded_lower_case_names, setup, teardown),
		cmocka_unit_test_setup_teardown(a_certificate_of_another_ca_is_no_proxys, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
