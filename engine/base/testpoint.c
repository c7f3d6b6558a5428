/* SPDX-License-Identifier: Apache-2.0
 * Test points. Holding uses a mutex and a condition, not an event count, which has test points itself.
 */
#include "engine/base/testpoint.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/thread.h"

enum { RECORD = 1, DELAY = 2, HOLD = 4 };

enum { DELAY_TURNS = 200, DELAY_SLEEP_NS = 50000 };

_Atomic uint32_t bt_testpoint_mode;

static struct bt_testpoint_state *_Atomic points; /* atomic: every point that was ever hit */

static _Atomic uint64_t delay_seed;
static _Atomic uint64_t delay_round;	/* atomic: threads reseed after each bt_testpoint_delay */
static _Atomic uint64_t thread_ordinal; /* atomic: threads that reached a point in this round */
static _Thread_local uint64_t own_round;
static _Thread_local struct bt_rng own_rng;

static pthread_mutex_t hold_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hold_changed;
static struct {
	const char *name;
	uint64_t skip_n;
	bool is_wanted, is_held;
} hold; /* lock(hold_lock): */

static void list_once(struct bt_testpoint_state *point)
{
	if (!bt_load_relaxed(&point->listed) && !bt_exchange(&point->listed, 1)) {
		point->next = bt_load_relaxed(&points);
		while (!bt_cas(&points, &point->next, point)) {
			bt_cpu_relax();
		}
	}
	bt_add_relaxed(&point->hit_n, 1);
}

static void linger(void)
{
	uint64_t round = bt_load_acquire(&delay_round);

	if (own_round != round) {
		own_round = round;
		own_rng.state = bt_rng_at(bt_load_relaxed(&delay_seed), bt_add_relaxed(&thread_ordinal, 1));
	}
	uint32_t choice = bt_rng_below(&own_rng, 32);
	if (choice < 8) {
		for (uint32_t turn = bt_rng_below(&own_rng, DELAY_TURNS); turn; turn--) {
			bt_cpu_relax();
		}
	} else if (choice < 14) {
		bt_thread_yield();
	} else if (choice == 14) {
		nanosleep(&(struct timespec){.tv_nsec = bt_rng_below(&own_rng, DELAY_SLEEP_NS)}, NULL);
	}
}

static void stop_if_wanted(const struct bt_testpoint_state *point)
{
	pthread_mutex_lock(&hold_lock);
	if (hold.is_wanted && !hold.is_held && strcmp(hold.name, point->name) == 0) {
		if (hold.skip_n) {
			hold.skip_n--;
		} else {
			hold.is_held = true;
			pthread_cond_broadcast(&hold_changed);
			while (hold.is_wanted) {
				pthread_cond_wait(&hold_changed, &hold_lock);
			}
			hold.is_held = false;
			pthread_cond_broadcast(&hold_changed);
		}
	}
	pthread_mutex_unlock(&hold_lock);
}

void bt_testpoint_hit(struct bt_testpoint_state *point)
{
	uint32_t mode = bt_load_acquire(&bt_testpoint_mode);

	list_once(point);
	if (mode & DELAY) {
		linger();
	}
	if (mode & HOLD) {
		stop_if_wanted(point);
	}
}

static void add_mode(uint32_t mode)
{
	bt_store_release(&bt_testpoint_mode, bt_load_relaxed(&bt_testpoint_mode) | mode);
}

bool bt_testpoint_is_built(void)
{
	return BT_TESTPOINTS;
}

void bt_testpoint_record(void)
{
	add_mode(RECORD);
}

void bt_testpoint_delay(uint64_t seed)
{
	bt_store_relaxed(&delay_seed, seed);
	bt_store_relaxed(&thread_ordinal, 0);
	bt_add(&delay_round, 1);
	add_mode(DELAY);
}

static void init_condition(void)
{
	pthread_condattr_t attributes;

	BT_REQUIRE(pthread_condattr_init(&attributes) == 0);
	BT_REQUIRE(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
	BT_REQUIRE(pthread_cond_init(&hold_changed, &attributes) == 0);
	pthread_condattr_destroy(&attributes);
}

void bt_testpoint_hold(const char *name, uint64_t skip_n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_condition);
	bt_testpoint_release();
	pthread_mutex_lock(&hold_lock);
	hold.name = name;
	hold.skip_n = skip_n;
	hold.is_wanted = true;
	pthread_mutex_unlock(&hold_lock);
	add_mode(HOLD);
}

bool bt_testpoint_await_held(int64_t timeout_ns)
{
	int64_t end_ns = bt_clock_monotonic_ns() + timeout_ns;
	struct timespec end = {.tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000};

	pthread_mutex_lock(&hold_lock);
	int rc = 0;
	while (hold.is_wanted && !hold.is_held && rc == 0) {
		rc = pthread_cond_timedwait(&hold_changed, &hold_lock, &end);
	}
	bool is_held = hold.is_held;
	pthread_mutex_unlock(&hold_lock);
	return is_held;
}

void bt_testpoint_release(void)
{
	pthread_mutex_lock(&hold_lock);
	hold.is_wanted = false;
	pthread_cond_broadcast(&hold_changed);
	while (hold.is_held) {
		pthread_cond_wait(&hold_changed, &hold_lock);
	}
	pthread_mutex_unlock(&hold_lock);
}

void bt_testpoint_off(void)
{
	bt_store_release(&bt_testpoint_mode, 0);
	bt_testpoint_release();
	for (struct bt_testpoint_state *point = bt_load_acquire(&points); point; point = point->next) {
		bt_store_relaxed(&point->hit_n, 0);
	}
}

/* Inline functions have a point of the same name in every file that includes them. */
static bool is_among(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			return true;
		}
	}
	return false;
}

size_t bt_testpoint_points(const char **out_names, size_t n)
{
	size_t found_n = 0;

	for (const struct bt_testpoint_state *point = bt_load_acquire(&points); point; point = point->next) {
		size_t kept_n = found_n < n ? found_n : n;

		if (bt_load_relaxed(&point->hit_n) && !is_among(out_names, kept_n, point->name)) {
			if (found_n < n) {
				out_names[found_n] = point->name;
			}
			found_n++;
		}
	}
	return found_n;
}
