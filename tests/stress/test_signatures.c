/* SPDX-License-Identifier: Apache-2.0
 * Signatures under stress: threads make and release signatures of the same few kinds, and one retires unused
 * ones. A held signature stays unchanged, equal pods have one signature, and at the end none is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/testpoint.h"
#include "engine/base/rng.h"
#include "engine/model/signature.h"
#include "seed.h"
#include "stress.h"

enum { KINDS = 150, HELD_MAX = 24, MAKERS = 3, KEPT = 5, TEXT_BYTES = 64 };

struct work {
	struct bt_dictionary *dictionary;
	struct bt_signatures *signatures;
	uint64_t seed, steps_max;
	int64_t end_ns;
	_Atomic uint64_t step_n, retired_n;
	_Atomic uint32_t makers; /* still running */
};

/* A pod and the objects that it points to. */
struct made_pod {
	struct bt_pod_object object;
	struct bt_container_object container;
	struct bt_str_pair labels[2];
	char value[TEXT_BYTES], key[TEXT_BYTES];
};

static struct bt_str text(char *out, const char *stem, uint32_t number)
{
	return (struct bt_str){out, (size_t)snprintf(out, TEXT_BYTES, "%s%u", stem, number)};
}

static void make_pod(struct made_pod *pod, uint32_t kind)
{
	*pod = (struct made_pod){.object.spec = {.scheduler_name = BT_STR("default-scheduler"),
					 .containers = &pod->container,
					 .container_n = 1}};
	pod->labels[0] = (struct bt_str_pair){BT_STR("app"), text(pod->value, "app-", kind)};
	pod->labels[1] = (struct bt_str_pair){text(pod->key, "key-", kind), BT_STR("there")};
	pod->object.meta = (struct bt_meta_object){
		.name = BT_STR("pod"), .namespace_ = BT_STR("default"), .labels = {pod->labels, 2, true}};
	pod->container = (struct bt_container_object){
		.name = BT_STR("c"), .image = BT_STR("registry.example.com/image:1")};
}

static void check(const struct work *work, const struct bt_signature *signature, uint32_t kind)
{
	const struct bt_intern *intern = work->dictionary->intern;
	uint32_t key = bt_intern_find(intern, bt_str("app"));
	char wanted[TEXT_BYTES];

	STRESS_CHECK(signature->labels.n == 2);
	STRESS_CHECK(bt_signatures_get(work->signatures, signature->ix) == signature);
	STRESS_CHECK(bt_str_eq(
		bt_intern_str(intern, bt_labels_get(signature->labels, key)), text(wanted, "app-", kind)));
	key = bt_intern_find(intern, text(wanted, "key-", kind));
	STRESS_CHECK(key != BT_NAME_NONE && bt_labels_get(signature->labels, key) != BT_NAME_NONE);
}

/* By time alone, a busy machine could end it before a signature was retired. */
static bool goes_on(struct work *work)
{
	return bt_add_relaxed(&work->step_n, 1) < work->steps_max &&
	       (work->end_ns == INT64_MAX || stress_goes_on(work->end_ns) ||
		       !bt_load_relaxed(&work->retired_n));
}

static void make(void *context, uint32_t ix)
{
	struct work *work = context;
	struct bt_signature_maker *maker = bt_signature_maker_create(work->signatures);
	struct bt_rng rng = {work->seed + ix};
	const struct bt_signature *held[HELD_MAX] = {0};
	uint32_t kinds[HELD_MAX] = {0};
	struct made_pod pod;

	while (goes_on(work)) {
		uint32_t at = (uint32_t)bt_rng_below(&rng, HELD_MAX);

		if (held[at]) {
			check(work, held[at], kinds[at]);
			bt_signature_release(held[at]);
		}
		/* Some kinds are frequent, others rare. */
		kinds[at] = (uint32_t)bt_rng_below(&rng, bt_rng_below(&rng, 2) ? 4 : KINDS);
		make_pod(&pod, kinds[at]);
		held[at] = bt_signature_make(maker, &pod.object);
		check(work, held[at], kinds[at]);
		bt_signature_hold(held[at]);
		const struct bt_signature *again = bt_signature_make(maker, &pod.object);
		STRESS_CHECK(again == held[at]);
		bt_signature_release(again);
		bt_signature_release(held[at]);
	}
	for (uint32_t at = 0; at < HELD_MAX; at++) {
		bt_signature_release(held[at]);
	}
	bt_signature_maker_destroy(maker);
	bt_sub(&work->makers, 1);
}

static void retire(void *context, uint32_t ix)
{
	struct work *work = context;
	const uint32_t *ixs;

	(void)ix;
	while (bt_load_acquire(&work->makers)) {
		uint32_t n = bt_signatures_retire(work->signatures, KEPT, &ixs);

		for (uint32_t i = 0; i < n; i++) {
			STRESS_CHECK(bt_signatures_get(work->signatures, ixs[i])->ix == ixs[i]);
		}
		bt_signatures_free_retired(work->signatures);
		bt_add_relaxed(&work->retired_n, n);
		bt_cpu_relax();
	}
}

static void run(void *context)
{
	struct work *work = context;
	struct stress_team team = {.member_n = 0};
	const uint32_t *ixs;

	work->dictionary = bt_dictionary_create();
	work->signatures = bt_signatures_create(work->dictionary);
	work->end_ns = work->steps_max == UINT64_MAX ? stress_end_ns() : INT64_MAX;
	bt_store_relaxed(&work->step_n, 0);
	bt_store_relaxed(&work->retired_n, 0);
	bt_store_relaxed(&work->makers, MAKERS);
	uint32_t name_n = bt_intern_count(work->dictionary->intern);
	for (uint32_t i = 0; i < MAKERS; i++) {
		stress_add(&team, make, work);
	}
	stress_add(&team, retire, work);
	stress_run(&team);
	STRESS_CHECK(bt_signatures_listed(work->signatures) == bt_signatures_count(work->signatures));
	bt_signatures_retire(work->signatures, 0, &ixs);
	bt_signatures_free_retired(work->signatures);
	STRESS_CHECK(bt_signatures_count(work->signatures) == 0);
	/* Each maker holds some, each kind has one, and one being retired counts twice. */
	STRESS_CHECK(bt_signatures_end(work->signatures) <= 2 * KINDS + MAKERS);
	STRESS_CHECK(bt_intern_count(work->dictionary->intern) == name_n);
	bt_signatures_destroy(work->signatures);
	bt_dictionary_destroy(work->dictionary);
}

/* EDGE signatures.slot, EDGE signatures.state, EDGE signatures.table. */
static void referenced_signatures_keep_their_contents(void **state)
{
	struct work work = {.seed = seed_of_test(), .steps_max = UINT64_MAX};

	(void)state;
	run(&work);
	print_message("%lu steps, %lu retired\n", (unsigned long)bt_load_relaxed(&work.step_n),
		(unsigned long)bt_load_relaxed(&work.retired_n));
	assert_true(bt_load_relaxed(&work.retired_n) > 0);
}

static void also_when_threads_are_delayed_anywhere(void **state)
{
	struct work work = {.seed = seed_of_test(), .steps_max = UINT64_MAX};

	(void)state;
	bt_testpoint_delay(work.seed);
	run(&work);
	bt_testpoint_off();
}

static void also_when_one_is_held_at_any_point(void **state)
{
	struct work work = {.seed = seed_of_test(), .steps_max = 5000};

	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	stress_hold_at_each("signatures.", 3, run, &work, work.seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(referenced_signatures_keep_their_contents),
		cmocka_unit_test(also_when_threads_are_delayed_anywhere),
		cmocka_unit_test(also_when_one_is_held_at_any_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
