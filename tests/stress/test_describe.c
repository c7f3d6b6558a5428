/* SPDX-License-Identifier: Apache-2.0
 * Concurrent ingestion: threads describe pods of the same few kinds, including new kinds and new resources,
 * and drop the deltas. Equal pods have one signature, and names are held while a delta lives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cache/ingest.h"
#include "engine/base/testpoint.h"
#include "engine/base/rng.h"
#include "seed.h"
#include "stress.h"

enum { KINDS = 300, RESOURCES = 40, NAMES = 200, ALIVE = 32, THREADS = 3, TEXT_BYTES = 64 };

struct work {
	struct bt_dictionary *dictionary;
	struct bt_signatures *signatures;
	_Atomic(const struct bt_signature *) of_kind[KINDS]; /* as the first thread created it */
	uint64_t seed;
	int64_t end_ns;
	_Atomic uint64_t pod_n;
};

/* A pod and the objects that it points to. */
struct made_pod {
	struct bt_pod_object object;
	struct bt_container_object container;
	struct bt_named_quantity requests[2];
	struct bt_str_pair label;
	char name[TEXT_BYTES], uid[TEXT_BYTES], value[TEXT_BYTES], resource[TEXT_BYTES];
};

static struct bt_str text(char *out, const char *stem, uint32_t number)
{
	return (struct bt_str){out, (size_t)snprintf(out, TEXT_BYTES, "%s%u", stem, number)};
}

static void make_pod(struct made_pod *pod, uint32_t kind, uint32_t name)
{
	*pod = (struct made_pod){.object.spec = {.scheduler_name = BT_STR("default-scheduler"),
					 .containers = &pod->container,
					 .container_n = 1}};
	pod->object.meta = (struct bt_meta_object){.name = text(pod->name, "pod-", name),
		.namespace_ = BT_STR("default"),
		.uid = text(pod->uid, "00000000-0000-4000-8000-", name),
		.labels = {&pod->label, 1, true}};
	pod->label = (struct bt_str_pair){BT_STR("app"), text(pod->value, "app-", kind)};
	pod->requests[0] = (struct bt_named_quantity){.name = BT_STR("cpu")};
	pod->requests[1] = (struct bt_named_quantity){
		.name = text(pod->resource, "example.com/resource-", kind % RESOURCES)};
	pod->container = (struct bt_container_object){.name = BT_STR("c"),
		.image = BT_STR("registry.example.com/image:1"),
		.resources = {.set = true, .requests = {pod->requests, 2, true}}};
}

/* All threads get the same signature for a kind. */
static void check_signature(struct work *work, uint32_t kind, const struct bt_signature *signature)
{
	const struct bt_signature *first = NULL;

	if (!bt_cas(&work->of_kind[kind], &first, signature)) {
		STRESS_CHECK(first == signature);
	}
	STRESS_CHECK(bt_signatures_get(work->signatures, signature->ix) == signature);
	STRESS_CHECK(signature->requests.fit.n == 2);
	uint32_t slot = signature->requests.fit.items[1].slot;
	char resource[TEXT_BYTES];
	STRESS_CHECK(bt_str_eq(bt_resource_name(work->dictionary, slot),
		text(resource, "example.com/resource-", kind % RESOURCES)));
	STRESS_CHECK(work->dictionary->resources.extended[slot]);
}

static void describe(void *context, uint32_t ix)
{
	struct work *work = context;
	struct bt_ingest_worker *worker = bt_ingest_worker_create(work->dictionary, work->signatures);
	struct bt_rng rng = {work->seed + ix};
	struct bt_delta alive[ALIVE] = {0};
	uint32_t names[ALIVE] = {0};
	struct made_pod pod;

	while (stress_goes_on(work->end_ns)) {
		uint32_t at = (uint32_t)bt_rng_below(&rng, ALIVE);
		uint32_t kind = (uint32_t)bt_rng_below(&rng, KINDS);
		char wanted[TEXT_BYTES];

		if (alive[at].holder) {
			STRESS_CHECK(bt_str_eq(bt_intern_str(work->dictionary->intern, alive[at].name),
				text(wanted, "pod-", names[at])));
		}
		bt_delta_drop(&alive[at]);
		names[at] = (uint32_t)bt_rng_below(&rng, NAMES);
		make_pod(&pod, kind, names[at]);
		bt_ingest_describe_pod(worker, &pod.object, &alive[at]);
		STRESS_CHECK(alive[at].status == BT_OK);
		check_signature(work, kind, alive[at].pod.pod.signature);
		bt_add_relaxed(&work->pod_n, 1);
	}
	for (uint32_t i = 0; i < ALIVE; i++) {
		bt_delta_drop(&alive[i]);
	}
	bt_ingest_worker_destroy(worker);
}

static void run(struct work *work)
{
	struct stress_team team = {.member_n = 0};
	uint32_t kind_n = 0;

	work->dictionary = bt_dictionary_create();
	work->signatures = bt_signatures_create(work->dictionary);
	work->end_ns = stress_end_ns();
	for (uint32_t i = 0; i < THREADS; i++) {
		stress_add(&team, describe, work);
	}
	stress_run(&team);
	for (uint32_t i = 0; i < KINDS; i++) {
		kind_n += bt_load_relaxed(&work->of_kind[i]) != NULL;
	}
	assert_int_equal(bt_signatures_count(work->signatures), kind_n);
	assert_int_equal(bt_intern_find(work->dictionary->intern, bt_str("pod-0")), BT_NAME_NONE);
	print_message("%lu pods of %u kinds\n", (unsigned long)bt_load_relaxed(&work->pod_n), kind_n);
	bt_signatures_destroy(work->signatures);
	bt_dictionary_destroy(work->dictionary);
}

/* EDGE resources.n, EDGE signatures.slot, EDGE signatures.table. */
static void equal_pods_have_one_signature_from_any_thread(void **state)
{
	struct work work = {.seed = seed_of_test()};

	(void)state;
	run(&work);
}

static void also_when_threads_are_delayed_anywhere(void **state)
{
	struct work work = {.seed = seed_of_test()};

	(void)state;
	bt_testpoint_delay(work.seed);
	run(&work);
	bt_testpoint_off();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_pods_have_one_signature_from_any_thread),
		cmocka_unit_test(also_when_threads_are_delayed_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
