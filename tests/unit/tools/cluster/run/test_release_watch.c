/* SPDX-License-Identifier: Apache-2.0
 * The release that decides while servers of several versions respond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tools/cluster/run/release_watch.h"

#define SECOND INT64_C(1000000000)
#define AWAY   (-1)
#define MUTE   (-2)

/* A server whose response the test controls. */
struct server {
	int minor; /* or AWAY, MUTE */
	unsigned asked_n;
};

static enum bt_server_answer answer(
	void *context, struct bt_server_version *out_version, struct bt_buf *out_error)
{
	struct server *server = context;

	server->asked_n++;
	if (server->minor < 0) {
		bt_buf_text(out_error, "it was told to");
		return server->minor == AWAY ? BT_SERVER_UNREACHABLE : BT_SERVER_NO_VERSION;
	}
	out_version->minor = server->minor;
	snprintf(out_version->git, sizeof(out_version->git), "v1.%d.0", server->minor);
	return BT_SERVER_KNOWN;
}

struct fixture {
	struct server server;
	struct bt_release_watch watch;
	int64_t now_ns;
	const struct bt_release *next;
};

static const struct bt_release *named(const char *name)
{
	return bt_release_find(bt_str(name));
}

static void begin(struct fixture *f, const char *release, struct bt_release_watch_options options)
{
	*f = (struct fixture){.server = {.minor = AWAY}};
	options.release = named(release);
	options.read_version = answer;
	options.context = &f->server;
	bt_release_watch_init(&f->watch, &options, f->now_ns);
}

/* A second later. */
static enum bt_release_change look(struct fixture *f, int minor)
{
	f->server.minor = minor;
	f->now_ns += SECOND;
	return bt_release_watch_tick(&f->watch, f->now_ns, &f->next);
}

/* Seconds with the same response, until a change or timeout. */
static enum bt_release_change look_for(struct fixture *f, int minor, int seconds)
{
	enum bt_release_change change = BT_RELEASE_UNCHANGED;

	for (int i = 0; i < seconds && change == BT_RELEASE_UNCHANGED; i++) {
		change = look(f, minor);
	}
	return change;
}

struct beginning {
	int minor;
	const char *release; /* NULL: rejected */
	bool undecided;
};

static void the_first_answer_selects_the_release(void **state)
{
	static const struct beginning cases[] = {{35, "1.35", false}, {36, "1.36", false},
		{37, "1.37", false}, {99, "1.37", false}, {MUTE, "1.37", false}, {AWAY, "1.36", true},
		{34, NULL, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct server server = {.minor = cases[i].minor};
		const struct bt_release_watch_options options = {
			.release = named("1.36"), .read_version = answer, .context = &server};
		const struct bt_release *release = NULL;
		bool undecided = false;

		assert_int_equal(
			bt_release_watch_begin(&options, &release, &undecided), cases[i].release != NULL);
		assert_ptr_equal(release, cases[i].release ? named(cases[i].release) : NULL);
		assert_int_equal(undecided, cases[i].undecided);
	}
}

static void a_start_without_a_server_version_takes_the_first_answer(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1.37", (struct bt_release_watch_options){.undecided = true});
	assert_int_equal(look_for(&f, AWAY, 60), BT_RELEASE_UNCHANGED);
	assert_int_equal(look(&f, 37), BT_RELEASE_SETTLED);
	begin(&f, "1.37", (struct bt_release_watch_options){.undecided = true});
	assert_int_equal(look(&f, 36), BT_RELEASE_CHANGE); /* downgrades, too: nothing has been decided yet */
	assert_ptr_equal(f.next, named("1.36"));
	begin(&f, "1.36", (struct bt_release_watch_options){.undecided = true});
	assert_int_equal(look(&f, MUTE), BT_RELEASE_CHANGE);
	assert_ptr_equal(f.next, named("1.37"));
	begin(&f, "1.36", (struct bt_release_watch_options){.undecided = true});
	assert_int_equal(look(&f, 30), BT_RELEASE_REFUSED);
}

static void an_upgrade_is_followed_when_it_has_been_seen_for_long(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1.36", (struct bt_release_watch_options){.follow = true});
	assert_int_equal(look_for(&f, 36, 100), BT_RELEASE_UNCHANGED);
	int64_t began_ns = f.now_ns;

	assert_int_equal(look_for(&f, 37, 100), BT_RELEASE_CHANGE);
	assert_ptr_equal(f.next, named("1.37"));
	assert_true(f.now_ns - began_ns >= BT_RELEASE_WATCH_NS);
	assert_true(f.server.asked_n <= 14); /* not every second */
}

static void answers_of_servers_of_two_releases_change_nothing(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1.36", (struct bt_release_watch_options){.follow = true});
	for (int i = 0; i < 20; i++) {
		assert_int_equal(look_for(&f, 37, 20), BT_RELEASE_UNCHANGED);
		assert_int_equal(look_for(&f, 36, 10), BT_RELEASE_UNCHANGED);
	}
	/* No response is no change. */
	assert_int_equal(look_for(&f, 37, 20), BT_RELEASE_UNCHANGED);
	assert_int_equal(look_for(&f, AWAY, 60), BT_RELEASE_UNCHANGED);
	assert_int_equal(look_for(&f, 37, 20), BT_RELEASE_CHANGE);
}

static void a_downgrade_is_never_followed(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1.37", (struct bt_release_watch_options){.follow = true});
	assert_int_equal(look_for(&f, 36, 300), BT_RELEASE_UNCHANGED);
	assert_int_equal(look_for(&f, 30, 300), BT_RELEASE_UNCHANGED);
}

static void a_release_beyond_those_that_are_known_is_followed_to_the_newest(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1.36", (struct bt_release_watch_options){.follow = true});
	assert_int_equal(look_for(&f, 38, 100), BT_RELEASE_CHANGE);
	assert_ptr_equal(f.next, named("1.37"));
	begin(&f, "1.37", (struct bt_release_watch_options){.follow = true});
	assert_int_equal(look_for(&f, 38, 300), BT_RELEASE_UNCHANGED);
}

static void without_following_and_after_a_refusal_nothing_changes(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1.36", (struct bt_release_watch_options){.follow = false});
	assert_int_equal(look_for(&f, 37, 300), BT_RELEASE_UNCHANGED);
	begin(&f, "1.36", (struct bt_release_watch_options){.follow = true});
	assert_int_equal(look_for(&f, 37, 100), BT_RELEASE_CHANGE);
	bt_release_watch_decline(&f.watch);
	assert_int_equal(look_for(&f, 37, 300), BT_RELEASE_UNCHANGED);
}

static void a_fixed_release_is_compared_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1.36", (struct bt_release_watch_options){.fixed = true});
	assert_int_equal(look_for(&f, AWAY, 10), BT_RELEASE_UNCHANGED);
	assert_int_equal(f.server.asked_n, 10);
	assert_int_equal(look_for(&f, 37, 300), BT_RELEASE_UNCHANGED);
	assert_int_equal(f.server.asked_n, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_answer_selects_the_release),
		cmocka_unit_test(a_start_without_a_server_version_takes_the_first_answer),
		cmocka_unit_test(an_upgrade_is_followed_when_it_has_been_seen_for_long),
		cmocka_unit_test(answers_of_servers_of_two_releases_change_nothing),
		cmocka_unit_test(a_downgrade_is_never_followed),
		cmocka_unit_test(a_release_beyond_those_that_are_known_is_followed_to_the_newest),
		cmocka_unit_test(without_following_and_after_a_refusal_nothing_changes),
		cmocka_unit_test(a_fixed_release_is_compared_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
