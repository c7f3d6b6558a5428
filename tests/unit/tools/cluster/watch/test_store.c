/* SPDX-License-Identifier: Apache-2.0
 * The store of a reader's objects, compared with a plain array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "tools/cluster/watch/store.h"

#define NAMES 300

/* The plain table. */
struct plain {
	bool there, listed;
	uint32_t uid;
	uint64_t version;
};

static struct plain table[NAMES];
static struct bt_intern *names;
static struct bt_store *known;

struct texts {
	char namespace_[16], name[32], uid[40], version[24];
};

/* Every third has a UID that is not in Kubernetes' format. */
static struct bt_meta_object meta_of(uint32_t ix, uint32_t uid, uint64_t version, struct texts *t)
{
	snprintf(t->namespace_, sizeof(t->namespace_), "team-%u", ix % 3);
	snprintf(t->name, sizeof(t->name), "pod-%u", ix / 3);
	if (ix % 3) {
		snprintf(t->uid, sizeof(t->uid), "%08x-0000-4000-8000-%012x", ix, uid);
	} else {
		snprintf(t->uid, sizeof(t->uid), "uid %u", uid);
	}
	snprintf(t->version, sizeof(t->version), "%llu", (unsigned long long)version);
	return (struct bt_meta_object){.name = bt_str(t->name),
		.namespace_ = bt_str(t->namespace_),
		.uid = bt_str(t->uid),
		.resource_version = bt_str(t->version)};
}

static void show(struct bt_rng *rng)
{
	uint32_t ix = bt_rng_below(rng, NAMES), uid = 1 + bt_rng_below(rng, 2);
	uint64_t version = 1 + bt_rng_below(rng, 50);
	struct plain *p = &table[ix];
	struct texts t;
	struct bt_meta_object meta = meta_of(ix, uid, version, &t);
	enum bt_store_change want =
		!p->there || version > p->version || (version == p->version && uid != p->uid)
			? BT_STORE_CHANGED
		: version < p->version ? BT_STORE_OLD
				       : BT_STORE_SAME;

	assert_int_equal(bt_store_show(known, &meta), want);
	if (want == BT_STORE_CHANGED) {
		*p = (struct plain){true, true, uid, version};
	}
	p->listed = true;
}

static void take_away(struct bt_rng *rng)
{
	uint32_t ix = bt_rng_below(rng, NAMES);
	uint64_t version = 1 + bt_rng_below(rng, 60);
	struct plain *p = &table[ix];
	struct texts t;
	struct bt_meta_object meta = meta_of(ix, 1, version, &t);
	bool want = p->there && version >= p->version;

	assert_int_equal(bt_store_remove(known, &meta), want);
	p->there &= !want;
}

static uint32_t ix_of(const struct bt_store_object *object)
{
	char text[64];
	uint32_t team, pod;

	snprintf(text, sizeof(text), "%.*s/%.*s", BT_STR_ARG(object->namespace_), BT_STR_ARG(object->name));
	assert_int_equal(sscanf(text, "team-%u/pod-%u", &team, &pod), 2);
	return pod * 3 + team;
}

/* Checks that an object is unchanged. */
static uint32_t check_object(const struct bt_store_object *object)
{
	uint32_t ix = ix_of(object);
	const struct plain *p = &table[ix];
	struct texts t;
	struct bt_meta_object meta = meta_of(ix, p->uid, p->version, &t);

	assert_true(p->there);
	assert_true(bt_str_eq(object->uid, meta.uid));
	assert_true(bt_str_eq(object->version, meta.resource_version));
	return ix;
}

static void sweep(void)
{
	struct bt_store_object object;
	uint32_t cursor = 0, n = 0, want = 0;

	for (uint32_t i = 0; i < NAMES; i++) {
		want += table[i].there && !table[i].listed;
	}
	while (bt_store_next_gone(known, &cursor, &object)) {
		uint32_t ix = check_object(&object);

		assert_false(table[ix].listed);
		table[ix].there = false;
		bt_store_forget(known, cursor);
		n++;
	}
	assert_int_equal(n, want);
}

static void check_count(void)
{
	uint32_t want = 0;

	for (uint32_t i = 0; i < NAMES; i++) {
		want += table[i].there;
	}
	assert_int_equal(bt_store_n(known), want);
}

static void it_knows_what_a_plain_table_knows(void **state)
{
	const char *given = getenv("BT_SEED");
	struct bt_rng rng = {given ? strtoull(given, NULL, 0) : 99};

	(void)state;
	print_message("seed %llu\n", (unsigned long long)rng.state);
	names = bt_intern_create();
	uint32_t before = bt_intern_count(names);
	known = bt_store_create(names);
	for (uint32_t round = 0; round < 300; round++) {
		bool lists = round % 3 == 0;

		if (lists) {
			bt_store_begin_list(known);
			for (uint32_t i = 0; i < NAMES; i++) {
				table[i].listed = false;
			}
		}
		for (uint32_t i = bt_rng_below(&rng, 400); i; i--) {
			if (bt_rng_below(&rng, 3)) {
				show(&rng);
			} else {
				take_away(&rng);
			}
		}
		if (lists) {
			sweep();
		}
		check_count();
	}
	bt_store_destroy(known);
	assert_int_equal(bt_intern_count(names), before);
	bt_intern_destroy(names);
}

static void versions_that_are_no_numbers_are_only_the_same_or_not(void **state)
{
	struct bt_meta_object meta = {.name = BT_STR("a"), .resource_version = BT_STR("0x12")};

	(void)state;
	names = bt_intern_create();
	known = bt_store_create(names);
	assert_int_equal(bt_store_show(known, &meta), BT_STORE_CHANGED);
	assert_int_equal(bt_store_show(known, &meta), BT_STORE_SAME);
	meta.resource_version = bt_str("0x11");
	assert_int_equal(bt_store_show(known, &meta), BT_STORE_CHANGED);
	meta.resource_version = (struct bt_str){0};
	assert_int_equal(bt_store_show(known, &meta), BT_STORE_CHANGED);
	assert_int_equal(bt_store_show(known, &meta), BT_STORE_CHANGED);
	assert_true(bt_store_remove(known, &meta));
	assert_false(bt_store_remove(known, &meta));
	bt_store_destroy(known);
	bt_intern_destroy(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_knows_what_a_plain_table_knows),
		cmocka_unit_test(versions_that_are_no_numbers_are_only_the_same_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
