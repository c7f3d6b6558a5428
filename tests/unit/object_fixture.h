/* SPDX-License-Identifier: Apache-2.0
 * A cache fed with objects that are written as YAML, for tests of what works on them.
 */
#pragma once

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache_fixture.h"
#include "tools/codec/object.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct fixture {
	struct bt_object_reader *reader;
	struct bt_cache *cache;
	struct bt_arena arena;
	struct bt_buf text;
	uint32_t made_n; /* pods, for their names */
};

static inline void fixture_report(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	fail_msg("the test's object does not decode: %s: %s", diagnosis->path, diagnosis->message);
}

static inline int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->reader = bt_object_reader_create(fixture_report, NULL);
	f->cache = bt_cache_create();
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	bt_object_reader_destroy(f->reader);
	bt_cache_destroy(f->cache);
	bt_arena_fini(&f->arena);
	bt_buf_fini(&f->text);
	free(f);
	return 0;
}

/* Reads one object; it dies with the next one that is read. */
static inline const struct bt_object *fixture_read(struct fixture *f, const char *yaml)
{
	bt_object_reader_begin_text(f->reader, "test", bt_str(yaml), BT_FORMAT_YAML);
	const struct bt_object *object = bt_object_reader_next(f->reader);
	assert_non_null(object);
	return object;
}

/* Slots are taken up to a number of them. */
static inline void fixture_crowd(struct fixture *f, int end)
{
	char name[32];

	while (bt_resource_count(f->cache->dictionary) < end) {
		snprintf(name, sizeof(name), "crowd.example/r%d", bt_resource_count(f->cache->dictionary));
		assert_true(bt_resource_slot(f->cache->dictionary, bt_str(name)) >= 0);
	}
}

/* Applies a node: "name: n1, labels: {a: b}" are its metadata, "unschedulable: true" its spec, and so on for
 * status. */
static inline uint32_t fixture_node(
	struct fixture *f, const char *metadata, const char *spec, const char *status)
{
	uint32_t slot = BT_NO_NODE;

	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text, "{apiVersion: v1, kind: Node, metadata: {%s}, spec: {%s}, status: {%s}}",
		metadata, spec, status);
	assert_int_equal(cache_show_node(f->cache, &fixture_read(f, f->text.ptr)->node, &slot), BT_OK);
	return slot;
}

/* Reads a pod with a name of its own; it dies with the next object. */
static inline const struct bt_pod_object *fixture_read_pod(struct fixture *f, const char *spec)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: pod-%" PRIu32
		"}, spec: {%s}}",
		f->made_n++, spec);
	return &fixture_read(f, f->text.ptr)->pod;
}

/* Enters a pod; with nodeName it is scheduled. */
static inline uint32_t fixture_pod(struct fixture *f, const char *spec)
{
	uint32_t ix = BT_NO_POD;

	assert_int_equal(cache_enter_pod(f->cache, fixture_read_pod(f, spec), &ix), BT_OK);
	return ix;
}

static inline const struct bt_signature *fixture_signature(struct fixture *f, const char *spec)
{
	return bt_signatures_intern(f->cache->signatures, fixture_read_pod(f, spec));
}

static inline uint32_t fixture_name(struct fixture *f, const char *text)
{
	return bt_intern_add(f->cache->dictionary->intern, bt_str(text));
}

static inline void assert_str(struct bt_str got, const char *want)
{
	if (!bt_str_is(got, want)) {
		fail_msg("\"%.*s\" instead of \"%s\"", BT_STR_ARG(got), want);
	}
}

/* A test with a fresh fixture. */
#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
