/* SPDX-License-Identifier: Apache-2.0
 * Time limits of connections, and which one is closed when there is no room.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "listen_int.h"
#include "tools/cluster/serve/connections.h"

struct serve_test {
	struct bt_connections *table;
	int64_t now_ns;
};

static int setup(void **state)
{
	static struct serve_test test;
	const struct bt_connection_limits limits = {.connections = 8,
		.stay_ns = 5,
		.handshake_ns = 10,
		.head_ns = 20,
		.body_ns = 30,
		.write_ns = 40,
		.idle_ns = 50};

	test = (struct serve_test){.table = bt_connections_create(&limits), .now_ns = 1000};
	*state = &test;
	return 0;
}

static int teardown(void **state)
{
	struct serve_test *test = *state;

	bt_connections_destroy(test->table);
	return 0;
}

static struct sockaddr *peer(const char *address)
{
	static struct sockaddr_storage storage;
	struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;

	memset(&storage, 0, sizeof(storage));
	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
	} else {
		assert_int_equal(inet_pton(AF_INET6, address, &v6->sin6_addr), 1);
		v6->sin6_family = AF_INET6;
	}
	return (struct sockaddr *)&storage;
}

static uint32_t add(struct serve_test *test, const char *address)
{
	return bt_connections_add(test->table, peer(address), test->now_ns);
}

/* Adds a connection up to the response of its first request, or further. */
static uint32_t add_in(
	struct serve_test *test, const char *address, bool known, enum bt_connection_state state)
{
	static const enum bt_connection_state way[] = {BT_CONNECTION_HEAD, BT_CONNECTION_BODY,
		BT_CONNECTION_ANSWERING, BT_CONNECTION_WRITING, BT_CONNECTION_IDLE};
	uint32_t ix = add(test, address);

	for (size_t i = 0; bt_connections_state(test->table, ix) != state; i++) {
		if (way[i] == BT_CONNECTION_WRITING && known) {
			bt_connections_authenticated(test->table, ix);
		}
		bt_connections_enter(test->table, ix, way[i], test->now_ns);
	}
	return ix;
}

/* Checks which connection is closed for the next one. */
static void assert_leaves(const struct serve_test *test, uint32_t expected)
{
	uint32_t victim;

	assert_int_equal(bt_connections_room_ns(test->table, &victim), test->now_ns + 5);
	assert_int_equal(victim, expected);
}

static void assert_room(const struct serve_test *test)
{
	uint32_t victim;

	assert_int_equal(bt_connections_room_ns(test->table, &victim), 0);
	assert_int_equal(victim, BT_CONNECTION_NONE);
}

static void the_peer_with_most_connections_makes_room(void **state)
{
	static const char *const said[] = {"10.0.0.1", "::ffff:10.0.0.1"};
	struct serve_test *test = *state;
	uint32_t other = add(test, "10.0.0.9"), first = add(test, "10.0.0.1");

	for (int i = 2; i < 8; i++) {
		assert_room(test);
		add(test, said[i % 2]);
	}
	assert_leaves(test, first);
	bt_connections_remove(test->table, first);
	assert_room(test);
	add(test, "10.0.0.8");
	assert_leaves(test, first + 1);
	bt_connections_remove(test->table, other);
}

static void addresses_of_one_network_are_one_peer(void **state)
{
	struct serve_test *test = *state;
	char address[INET6_ADDRSTRLEN];
	uint32_t first = 0;

	add(test, "2001:db8:1:2::1");
	add(test, "::1");
	for (int i = 0; i < 6; i++) {
		snprintf(address, sizeof(address), "2001:db8:1:1:%x::%x", i * 7, i);
		first = i ? first : add(test, address);
		if (i) {
			add(test, address);
		}
	}
	assert_leaves(test, first);
}

/* With any number of later ones: a client whose connection is closed may reconnect at once. */
static void a_connection_stays_for_a_moment(void **state)
{
	struct serve_test *test = *state;
	uint32_t first = add(test, "10.0.0.1"), victim;

	for (int i = 1; i < 8; i++) {
		test->now_ns++;
		add(test, "10.0.0.1");
	}
	assert_int_equal(bt_connections_room_ns(test->table, &victim), 1000 + 5);
	assert_int_equal(victim, first);
	assert_int_equal(bt_connections_victim(test->table), first); /* immediately when
								      * descriptors run out */
	bt_connections_remove(test->table, first);
	add(test, "10.0.0.1");
	assert_int_equal(bt_connections_room_ns(test->table, &victim), 1000 + 6);
	assert_int_equal(victim, first + 1);
}

/* Its client disconnects, or the server ends, with unprocessed requests in the queue. */
static void a_request_may_end_while_it_is_answered(void **state)
{
	struct serve_test *test = *state;
	uint32_t ix = add_in(test, "10.0.0.1", false, BT_CONNECTION_ANSWERING);

	bt_connections_enter(test->table, ix, BT_CONNECTION_IDLE, test->now_ns);
	assert_int_equal(bt_connections_state(test->table, ix), BT_CONNECTION_IDLE);
	bt_connections_remove(test->table, ix);
}

static void the_oldest_unknown_client_is_closed_first(void **state)
{
	struct serve_test *test = *state;
	char address[16];

	add_in(test, "10.0.0.1", true, BT_CONNECTION_IDLE);
	add_in(test, "10.0.0.1", false, BT_CONNECTION_ANSWERING);
	uint32_t oldest = add_in(test, "10.0.0.1", false, BT_CONNECTION_IDLE);

	for (int i = 3; i < 8; i++) {
		snprintf(address, sizeof(address), "10.0.1.%d", i);
		add(test, address);
	}
	assert_leaves(test, oldest);
	assert_int_equal(bt_connections_victim(test->table), oldest);
	bt_connections_enter(test->table, oldest, BT_CONNECTION_CLOSING, test->now_ns);
	assert_leaves(test, 3);
}

static void idle_known_clients_are_closed_when_no_other_connection_can_be(void **state)
{
	struct serve_test *test = *state;
	uint32_t lately = add_in(test, "10.0.0.1", true, BT_CONNECTION_WRITING);
	uint32_t idle = add_in(test, "10.0.0.1", true, BT_CONNECTION_IDLE), victim;

	for (int i = 2; i < 8; i++) {
		add_in(test, "10.0.0.1", i % 2, i % 2 ? BT_CONNECTION_WRITING : BT_CONNECTION_ANSWERING);
	}
	bt_connections_enter(test->table, lately, BT_CONNECTION_IDLE, test->now_ns);
	assert_leaves(test, idle);
	bt_connections_remove(test->table, idle);
	add_in(test, "10.0.0.1", true, BT_CONNECTION_WRITING);
	assert_leaves(test, lately);
	bt_connections_remove(test->table, lately);
	add_in(test, "10.0.0.1", true, BT_CONNECTION_ANSWERING);
	assert_int_equal(bt_connections_room_ns(test->table, &victim), INT64_MAX);
	assert_int_equal(victim, BT_CONNECTION_NONE);
}

static void known_clients_never_have_every_connection(void **state)
{
	struct serve_test *test = *state;
	char address[16];
	uint32_t last = 0;

	for (int i = 0; i < 8; i++) {
		snprintf(address, sizeof(address), "10.0.0.%d", i);
		last = add_in(test, address, true, BT_CONNECTION_WRITING);
	}
	assert_leaves(test, last);
}

static void each_step_has_its_time(void **state)
{
	static const struct {
		enum bt_connection_state state;
		int64_t time_ns;
	} steps[] = {{BT_CONNECTION_HANDSHAKE, 10}, {BT_CONNECTION_HEAD, 20}, {BT_CONNECTION_BODY, 30},
		{BT_CONNECTION_ANSWERING, INT64_MAX}, {BT_CONNECTION_WRITING, 40}, {BT_CONNECTION_IDLE, 50}};
	struct serve_test *test = *state;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		uint32_t ix = add_in(test, "10.0.0.1", false, steps[i].state);
		int64_t until_ns =
			steps[i].time_ns == INT64_MAX ? INT64_MAX : test->now_ns + steps[i].time_ns;

		assert_int_equal(bt_connections_deadline(test->table), until_ns);
		assert_int_equal(bt_connections_late(test->table, until_ns - 1), BT_CONNECTION_NONE);
		if (until_ns != INT64_MAX) {
			assert_int_equal(bt_connections_late(test->table, until_ns), ix);
			bt_connections_enter(test->table, ix, BT_CONNECTION_CLOSING, until_ns);
			assert_int_equal(bt_connections_late(test->table, until_ns), BT_CONNECTION_NONE);
		}
		bt_connections_remove(test->table, ix);
		assert_int_equal(bt_connections_n(test->table), 0);
	}
}

static void without_descriptors_accepting_rests_ever_longer(void **state)
{
	const struct bt_serve_settings settings = {.bind_address = "127.0.0.1"};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct bt_accept_backoff rest = {0};
	struct sockaddr_storage from;
	socklen_t n = sizeof(from);
	struct rlimit before, none;
	struct bt_buf error = {0};
	int listener = bt_listen(&settings, true, &to.sin_port, &error), next;
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int64_t wait_ns = 5000000;

	(void)state;
	assert_true(listener >= 0 && client >= 0);
	to.sin_port = htons(to.sin_port);
	assert_int_equal(bt_accept(listener, (struct sockaddr *)&from, &n, &rest, 1), -1);
	assert_int_equal(rest.until_ns, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	next = dup(client);
	close(next);
	none = (struct rlimit){(rlim_t)next, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int64_t now_ns = 1; now_ns < 12; now_ns++) {
		n = sizeof(from);
		assert_int_equal(bt_accept(listener, (struct sockaddr *)&from, &n, &rest, now_ns), -1);
		assert_int_equal(rest.until_ns, now_ns + wait_ns);
		wait_ns = wait_ns * 2 < 1000000000 ? wait_ns * 2 : 1000000000;
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	int fd = bt_accept(listener, (struct sockaddr *)&from, &n, &rest, 1);

	assert_true(fd >= 0);
	assert_int_equal(rest.last_ns, 0);
	close(fd);
	close(client);
	close(listener);
	bt_buf_fini(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_peer_with_most_connections_makes_room, setup, teardown),
		cmocka_unit_test_setup_teardown(a_connection_stays_for_a_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(addresses_of_one_network_are_one_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(a_request_may_end_while_it_is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(the_oldest_unknown_client_is_closed_first, setup, teardown),
		cmocka_unit_test_setup_teardown(
			idle_known_clients_are_closed_when_no_other_connection_can_be, setup, teardown),
		cmocka_unit_test_setup_teardown(known_clients_never_have_every_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(each_step_has_its_time, setup, teardown),
		cmocka_unit_test(without_descriptors_accepting_rests_ever_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
