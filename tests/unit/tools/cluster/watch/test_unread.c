/* SPDX-License-Identifier: Apache-2.0
 * Objects that could not be read whole: listed until they are read, or deleted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "tools/cluster/watch/unread.h"

static struct bt_meta_object meta(const char *name, const char *uid)
{
	return (struct bt_meta_object){
		.namespace_ = bt_str("default"), .name = bt_str(name), .uid = bt_str(uid)};
}

static bool note(struct bt_unread *unread, const char *name, const char *uid, enum bt_proto_extent extent)
{
	const struct bt_meta_object object = meta(name, uid);

	return bt_unread_note(unread, &object, extent, bt_str("field 7"));
}

static void write_object(void *context, const struct bt_unread_object *object)
{
	bt_buf_printf(context, "%.*s/%.*s %.*s: %.*s; ", BT_STR_ARG(object->namespace_),
		BT_STR_ARG(object->name), BT_STR_ARG(object->uid), BT_STR_ARG(object->why));
}

static void assert_objects(const struct bt_unread *unread, const char *want)
{
	struct bt_buf text = {0};

	bt_buf_text(&text, "");
	bt_unread_each(unread, write_object, &text);
	assert_string_equal(text.ptr, want);
	bt_buf_fini(&text);
}

static void an_object_is_new_once(void **state)
{
	struct bt_unread unread = {0};

	(void)state;
	assert_true(note(&unread, "a", "1", BT_PROTO_IN_PART));
	assert_false(note(&unread, "a", "1", BT_PROTO_IN_PART));
	assert_true(note(&unread, "a", "2", BT_PROTO_IN_PART)); /* re-created under its name */
	assert_true(note(&unread, "a", "2", BT_PROTO_REPLACED));
	bt_unread_fini(&unread);
}

static void extents_are_counted_apart(void **state)
{
	struct bt_unread unread = {0};

	(void)state;
	note(&unread, "a", "1", BT_PROTO_IN_PART);
	note(&unread, "b", "2", BT_PROTO_REPLACED);
	note(&unread, "c", "3", BT_PROTO_REPLACED);
	assert_int_equal(bt_unread_n(&unread, BT_PROTO_IN_PART), 1);
	assert_int_equal(bt_unread_n(&unread, BT_PROTO_REPLACED), 2);
	assert_int_equal(bt_unread_n(&unread, BT_PROTO_WHOLE), 0);
	note(&unread, "b", "2", BT_PROTO_IN_PART);
	assert_int_equal(bt_unread_n(&unread, BT_PROTO_REPLACED), 1);
	bt_unread_fini(&unread);
}

static void an_object_that_is_read_whole_is_named_no_longer(void **state)
{
	struct bt_unread unread = {0};

	(void)state;
	assert_false(note(&unread, "a", "1", BT_PROTO_WHOLE));
	note(&unread, "a", "1", BT_PROTO_IN_PART);
	note(&unread, "b", "2", BT_PROTO_IN_PART);
	assert_objects(&unread, "default/a 1: field 7; default/b 2: field 7; ");
	assert_false(note(&unread, "a", "1", BT_PROTO_WHOLE));
	assert_objects(&unread, "default/b 2: field 7; ");
	assert_false(note(&unread, "b", "2", BT_PROTO_IN_PART));
	bt_unread_fini(&unread);
	assert_objects(&unread, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_is_new_once),
		cmocka_unit_test(extents_are_counted_apart),
		cmocka_unit_test(an_object_that_is_read_whole_is_named_no_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
