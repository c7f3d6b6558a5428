/* SPDX-License-Identifier: Apache-2.0
 * Objects for tests, as the API's JSON.
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

#include "tools/format/object_reader.h"

struct fixture {
	struct bt_object_reader *reader;
	struct bt_arena arena;
};

static inline void fixture_report(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	(void)diagnosis;
	fail_msg("the test's object does not decode");
}

static inline int fixture_setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->reader = bt_object_reader_create(fixture_report, NULL);
	*state = fixture;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *fixture = *state;

	bt_object_reader_destroy(fixture->reader);
	bt_arena_fini(&fixture->arena);
	free(fixture);
	return 0;
}

/* Reads one object; valid until the next one is read. */
static inline struct bt_object fixture_read(struct fixture *fixture, const char *json)
{
	bt_object_reader_begin_text(fixture->reader, "test", bt_str(json), BT_FORMAT_JSON);
	const struct bt_object *object = bt_object_reader_next(fixture->reader);
	assert_non_null(object);
	return *object;
}

static inline void assert_str(struct bt_str got, const char *want)
{
	if (!bt_str_is(got, want)) {
		fail_msg("\"%.*s\" instead of \"%s\"", BT_STR_ARG(got), want);
	}
}

static inline struct bt_str fixture_value(const struct bt_str_map *map, const char *key)
{
	for (uint32_t i = 0; i < map->n; i++) {
		if (bt_str_is(map->items[i].key, key)) {
			return map->items[i].value;
		}
	}
	return (struct bt_str){NULL, 0};
}
