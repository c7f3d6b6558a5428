/* SPDX-License-Identifier: Apache-2.0
 * Litmus shapes: two threads repeatedly access two words at the same time; an outcome that the memory order
 * forbids must never occur.
 */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/eventcount.h"
#include "engine/base/rcu.h"
#include "engine/base/ring.h"
#include "engine/base/rng.h"
#include "seed.h"
#include "stress.h"

/* Shared by the two threads, each word on its own cache line. */
struct words {
	alignas(BT_CACHELINE) _Atomic uint32_t x;
	alignas(BT_CACHELINE) _Atomic uint32_t y;
	alignas(BT_CACHELINE) uint32_t plain;
	alignas(BT_CACHELINE) uint32_t *_Atomic pointer;
	alignas(BT_CACHELINE) uint32_t left_saw;
	alignas(BT_CACHELINE) uint32_t right_saw;
	struct bt_ring ring;
	struct bt_eventcount park;
};

struct shape {
	void (*left)(struct words *words);
	void (*right)(struct words *words);
	bool (*is_forbidden)(const struct words *words);
	uint64_t seed;
	int64_t end_ns;
	struct words words;
	alignas(BT_CACHELINE) _Atomic uint64_t arrived_n;
	_Atomic uint32_t over;
	uint64_t round_n, forbidden_n;
};

/* Both threads leave the n-th meeting together. */
static void meet(struct shape *shape, uint64_t *meeting_n)
{
	uint32_t turns = 0;

	bt_add(&shape->arrived_n, 1);
	*meeting_n += 2;
	while (bt_load_acquire(&shape->arrived_n) < *meeting_n) {
		stress_wait_turn(&turns);
	}
}

/* Each thread clears the word that the other will store to: the line is then in this thread's cache, so that
 * the other's store takes long, and this thread's load of it takes no time. */
static void clear(struct words *words, uint32_t ix)
{
	if (ix == 0) {
		bt_store_relaxed(&words->y, 0);
		words->left_saw = 0;
	} else {
		bt_store_relaxed(&words->x, 0);
		bt_store_relaxed(&words->pointer, NULL);
		bt_store_relaxed(&words->park.armed, 0);
		bt_ring_try_pop(&words->ring, &(uint32_t){0});
		words->plain = words->right_saw = 0;
		if (bt_rcu_is_registered()) {
			bt_rcu_unregister();
		}
	}
}

static void walk(void *context, uint32_t ix)
{
	struct shape *shape = context;
	struct words *words = &shape->words;
	struct bt_rng rng = {shape->seed + ix};
	uint64_t meeting_n = 0;

	stress_pin(ix);
	while (!bt_load_acquire(&shape->over)) {
		meet(shape, &meeting_n);
		for (uint32_t turn = bt_rng_below(&rng, 24); turn > 16; turn--) {
			bt_cpu_relax();
		}
		(ix ? shape->right : shape->left)(words);
		meet(shape, &meeting_n);
		if (ix == 0) {
			shape->forbidden_n += shape->is_forbidden(words);
			shape->round_n++;
			bt_store_release(&shape->over, !stress_goes_on(shape->end_ns));
		}
		meet(shape, &meeting_n);
		clear(words, ix);
	}
}

static uint64_t seed;

/* How often the forbidden outcome occurred. */
static uint64_t count_forbidden(void (*left)(struct words *words), void (*right)(struct words *words),
	bool (*is_forbidden)(const struct words *words), const char *name)
{
	struct shape shape = {.left = left,
		.right = right,
		.is_forbidden = is_forbidden,
		.seed = seed,
		.end_ns = stress_end_ns()};
	struct stress_team team = {.member_n = 0};

	bt_ring_init(&shape.words.ring, 4, sizeof(uint32_t), "litmus");
	bt_eventcount_init(&shape.words.park);
	stress_add(&team, walk, &shape);
	stress_add(&team, walk, &shape);
	stress_run(&team);
	bt_ring_fini(&shape.words.ring);
	printf("%s: %" PRIu64 " of %" PRIu64 " rounds\n", name, shape.forbidden_n, shape.round_n);
	assert_true(shape.round_n > 0);
	return shape.forbidden_n;
}

/* ---- store buffering: each stores, then loads the other's word; both loading 0 is forbidden ---- */

static void left_stores_light(struct words *words)
{
	bt_store_relaxed(&words->x, 1);
	bt_fence_light();
	words->left_saw = bt_load_relaxed(&words->y);
}

static void right_stores_heavy(struct words *words)
{
	bt_store_relaxed(&words->y, 1);
	bt_fence_heavy();
	words->right_saw = bt_load_relaxed(&words->x);
}

static void left_stores_full(struct words *words)
{
	bt_store_relaxed(&words->x, 1);
	bt_fence_full();
	words->left_saw = bt_load_relaxed(&words->y);
}

static void right_stores_full(struct words *words)
{
	bt_store_relaxed(&words->y, 1);
	bt_fence_full();
	words->right_saw = bt_load_relaxed(&words->x);
}

static void left_stores_plainly(struct words *words)
{
	bt_store_relaxed(&words->x, 1);
	bt_fence_compiler();
	words->left_saw = bt_load_relaxed(&words->y);
}

static void right_stores_plainly(struct words *words)
{
	bt_store_relaxed(&words->y, 1);
	bt_fence_compiler();
	words->right_saw = bt_load_relaxed(&words->x);
}

static bool neither_saw(const struct words *words)
{
	return !words->left_saw && !words->right_saw;
}

static void the_asymmetric_fence_forbids_that_neither_sees_the_other(void **state)
{
	(void)state;
	bt_fence_heavy();
	assert_int_equal(
		count_forbidden(left_stores_light, right_stores_heavy, neither_saw, "light, heavy"), 0);
}

/* EDGE rcu.graces: the words stand for the number of grace periods and the unpublished pointer. */
static void two_full_fences_forbid_that_neither_sees_the_other(void **state)
{
	(void)state;
	assert_int_equal(count_forbidden(left_stores_full, right_stores_full, neither_saw, "full, full"), 0);
}

/* Not a check: measures how often the outcome occurs without fences, so how sensitive the checks are. */
static void without_fences_it_may_show(void **state)
{
	(void)state;
	count_forbidden(left_stores_plainly, right_stores_plainly, neither_saw, "no fences");
}

static void left_changes_and_wakes(struct words *words)
{
	bt_store_relaxed(&words->x, 1);
	bt_eventcount_wake(&words->park);
}

static void right_prepares_and_looks(struct words *words)
{
	uint32_t key = bt_eventcount_prepare(&words->park);

	words->right_saw = bt_load_relaxed(&words->x);
	words->plain = key;
}

static bool would_sleep_for_ever(const struct words *words)
{
	return !words->right_saw && bt_load_relaxed(&words->park.epoch) == words->plain;
}

/* EDGE park.armed. */
static void a_waiter_that_missed_the_change_has_been_woken(void **state)
{
	(void)state;
	assert_int_equal(count_forbidden(left_changes_and_wakes, right_prepares_and_looks,
				 would_sleep_for_ever, "park"),
		0);
}

static void left_replaces_and_looks_for_readers(struct words *words)
{
	bt_rcu_publish(&words->pointer, &words->plain);
	words->left_saw = bt_rcu_has_readers();
}

/* It leaves after both have loaded. */
static void right_comes_and_follows(struct words *words)
{
	bt_rcu_register("litmus");
	words->right_saw = bt_rcu_get(&words->pointer) != NULL;
}

/* EDGE rcu.alone. */
static void a_new_reader_is_noticed(void **state)
{
	(void)state;
	assert_int_equal(count_forbidden(left_replaces_and_looks_for_readers, right_comes_and_follows,
				 neither_saw, "reader comes"),
		0);
}

/* ---- message passing: a thread that sees the flag sees all earlier stores ---- */

static void right_reads_y(struct words *words)
{
	words->left_saw = bt_load_acquire(&words->y);
	words->right_saw = words->left_saw ? words->plain : 0;
}

static bool flag_without_message(const struct words *words)
{
	return words->left_saw && words->right_saw != 42;
}

static void left_passes_by_release(struct words *words)
{
	words->plain = 42;
	bt_store_release(&words->y, 1);
}

static void left_passes_by_exchange(struct words *words)
{
	words->plain = 42;
	bt_exchange(&words->y, 1);
}

static void left_passes_by_add(struct words *words)
{
	words->plain = 42;
	bt_add(&words->y, 1);
}

static void left_passes_by_cas(struct words *words)
{
	uint32_t nothing = 0;

	words->plain = 42;
	if (!bt_cas(&words->y, &nothing, 1)) {
		words->plain = 0;
	}
}

/* EDGE run.over, EDGE replace.shown, EDGE replace.taken, and every other flag that guards data. */
static void every_release_carries_what_was_written_before(void **state)
{
	(void)state;
	assert_int_equal(
		count_forbidden(left_passes_by_release, right_reads_y, flag_without_message, "release"), 0);
	assert_int_equal(
		count_forbidden(left_passes_by_exchange, right_reads_y, flag_without_message, "exchange"), 0);
	assert_int_equal(count_forbidden(left_passes_by_add, right_reads_y, flag_without_message, "add"), 0);
	assert_int_equal(count_forbidden(left_passes_by_cas, right_reads_y, flag_without_message, "cas"), 0);
}

static void right_takes_y(struct words *words)
{
	words->left_saw = bt_exchange(&words->y, 0);
	words->right_saw = words->left_saw ? words->plain : 0;
}

static void right_counts_y_down(struct words *words)
{
	words->left_saw = bt_sub(&words->y, 1);
	words->right_saw = words->left_saw ? words->plain : 0;
}

static void right_swaps_y(struct words *words)
{
	uint32_t one = 1;

	words->left_saw = bt_cas(&words->y, &one, 2);
	words->right_saw = words->left_saw ? words->plain : 0;
}

static void every_acquire_receives_what_was_written_before(void **state)
{
	(void)state;
	assert_int_equal(
		count_forbidden(left_passes_by_release, right_takes_y, flag_without_message, "exchange"), 0);
	assert_int_equal(
		count_forbidden(left_passes_by_release, right_counts_y_down, flag_without_message, "sub"), 0);
	assert_int_equal(
		count_forbidden(left_passes_by_release, right_swaps_y, flag_without_message, "cas"), 0);
}

static void left_pushes(struct words *words)
{
	words->plain = 42;
	bt_ring_try_push(&words->ring, &(uint32_t){1});
}

static void right_pops(struct words *words)
{
	words->left_saw = bt_ring_try_pop(&words->ring, &(uint32_t){0});
	words->right_saw = words->left_saw ? words->plain : 0;
}

/* EDGE ring.tail. */
static void a_ring_carries_what_was_written_before_the_push(void **state)
{
	(void)state;
	assert_int_equal(count_forbidden(left_pushes, right_pops, flag_without_message, "ring"), 0);
}

static void left_publishes(struct words *words)
{
	words->plain = 42;
	bt_rcu_publish(&words->pointer, &words->plain);
}

static void right_follows(struct words *words)
{
	const uint32_t *pointer = bt_rcu_get(&words->pointer);

	words->left_saw = pointer != NULL;
	words->right_saw = pointer ? *pointer : 0;
}

/* EDGE rcu.pointer. */
static void a_published_pointer_leads_to_a_whole_object(void **state)
{
	(void)state;
	assert_int_equal(count_forbidden(left_publishes, right_follows, flag_without_message, "publish"), 0);
}

/* ---- load buffering: each loads, then stores; both seeing the other's later store is forbidden ---- */

static void left_looks_then_stores(struct words *words)
{
	words->left_saw = bt_load_acquire(&words->x);
	bt_store_release(&words->y, 1);
}

static void right_looks_then_stores(struct words *words)
{
	words->right_saw = bt_load_acquire(&words->y);
	bt_store_release(&words->x, 1);
}

static bool both_saw(const struct words *words)
{
	return words->left_saw && words->right_saw;
}

static void neither_load_sees_the_store_that_follows_the_other_load(void **state)
{
	(void)state;
	assert_int_equal(
		count_forbidden(left_looks_then_stores, right_looks_then_stores, both_saw, "looks first"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_fences_it_may_show),
		cmocka_unit_test(the_asymmetric_fence_forbids_that_neither_sees_the_other),
		cmocka_unit_test(two_full_fences_forbid_that_neither_sees_the_other),
		cmocka_unit_test(a_waiter_that_missed_the_change_has_been_woken),
		cmocka_unit_test(a_new_reader_is_noticed),
		cmocka_unit_test(every_release_carries_what_was_written_before),
		cmocka_unit_test(every_acquire_receives_what_was_written_before),
		cmocka_unit_test(a_ring_carries_what_was_written_before_the_push),
		cmocka_unit_test(a_published_pointer_leads_to_a_whole_object),
		cmocka_unit_test(neither_load_sees_the_store_that_follows_the_other_load),
	};

	seed = seed_of_test();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
