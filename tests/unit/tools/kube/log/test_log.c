/* SPDX-License-Identifier: Apache-2.0
 * Log lines from standard error, which is a pipe here: klog's format, JSON by our reader, whole
 * lines from many threads, and readers that have closed the pipe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "caught.h"
#include "engine/base/arena.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/format/json.h"
#include "tools/kube/log/log.h"

#define THREADS	     4
#define THREAD_LINES 200

/* The part of a text line after its source location. */
static const char *behind_head(const char *line)
{
	const char *end = strstr(line, "] ");

	assert_non_null(end);
	return end + 2;
}

static void text_has_klogs_form(void **state)
{
	int month, day, hour, minute, second, micros, pid, at, n = 0;

	(void)state;
	bt_log_setup(BT_LOG_TEXT, 2);
	caught_begin();
	bt_log(BT_LOG_INFO, 2, "Bound pod",
		bt_log_fields(bt_log_pod(bt_str("kube-system"), bt_str("dns-1")),
			bt_log_str("node", bt_str("n\"1")), bt_log_int("attempts", -3),
			bt_log_real("seconds", 0.25)));
	const char *text = caught_end();

	assert_int_equal(sscanf(text, "I%2d%2d %2d:%2d:%2d.%6d %7d test_log.c:%d] %n", &month, &day, &hour,
				 &minute, &second, &micros, &pid, &at, &n),
		8);
	assert_int_equal(pid, getpid());
	assert_true(n > 0);
	assert_string_equal(text + n,
		"\"Bound pod\" pod=\"kube-system/dns-1\" node=\"n\\\"1\" attempts=-3 seconds=0.25\n");
}

static void levels_have_their_letters(void **state)
{
	(void)state;
	bt_log_setup(BT_LOG_TEXT, 0);
	caught_begin();
	bt_log(BT_LOG_WARNING, 9, "w", NULL);
	assert_int_equal(caught_text()[0], 'W');
	assert_string_equal(behind_head(caught.text), "\"w\"\n");
	bt_log(BT_LOG_ERROR, 9, "e", bt_log_fields(bt_log_str("err", bt_str("no\nroute"))));
	const char *text = caught_end();

	assert_int_equal(text[0], 'E');
	assert_string_equal(behind_head(text), "\"e\" err=\"no\\nroute\"\n");
}

static void too_verbose_lines_are_not_written(void **state)
{
	(void)state;
	bt_log_setup(BT_LOG_TEXT, 1);
	assert_true(bt_log_enabled(1));
	assert_false(bt_log_enabled(2));
	caught_begin();
	bt_log(BT_LOG_INFO, 2, "quiet", NULL);
	assert_string_equal(caught_end(), "");
}

/* The value of a key of text's only object. */
static struct bt_str member(struct bt_json *json, struct bt_arena *arena, const char *text, const char *key)
{
	struct bt_str name, value, found = {0};

	bt_json_begin(json, bt_str(text), arena);
	assert_true(bt_json_enter_object(json));
	while (bt_json_next_key(json, &name)) {
		assert_true(bt_json_raw(json, &value));
		if (bt_str_is(name, key)) {
			assert_null(found.ptr);
			found = value;
		}
	}
	assert_false(bt_json_error(json)->syntax);
	return found;
}

#define assert_member(text, key, expected)                                                                   \
	do {                                                                                                 \
		struct bt_str value_ = member(json, &arena, (text), (key));                                  \
		assert_int_equal(value_.len, strlen(expected));                                              \
		assert_memory_equal(value_.ptr, (expected), value_.len);                                     \
	} while (0)

static void json_is_read_by_a_json_reader(void **state)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};

	(void)state;
	bt_log_setup(BT_LOG_JSON, 4);
	caught_begin();
	bt_log(BT_LOG_INFO, 4, "Attempting to \"schedule\"",
		bt_log_fields(bt_log_pod(bt_str("default"), bt_str("a")), bt_log_pod(bt_str(""), bt_str("b")),
			bt_log_int("n", 7), bt_log_real("x", 1.5), bt_log_str("odd", bt_str("\x1b\xff"))));
	char line[sizeof(caught.text)];

	strcpy(line, caught_text());
	bt_log(BT_LOG_ERROR, 0, "failed", bt_log_fields(bt_log_str("err", bt_str("timeout"))));
	const char *error = caught_end();

	assert_int_equal(line[strlen(line) - 1], '\n');
	assert_member(line, "msg", "\"Attempting to \\\"schedule\\\"\"");
	assert_member(line, "v", "4");
	assert_member(line, "n", "7");
	assert_member(line, "x", "1.5");
	assert_member(line, "odd", "\"\\u001b\\ufffd\"");
	assert_non_null(
		strstr(line, "\"pod\":{\"name\":\"a\",\"namespace\":\"default\"},\"pod\":{\"name\":\"b\"}"));
	assert_true(strtod(member(json, &arena, error, "ts").ptr, NULL) > 1.7e12);
	assert_member(error, "err", "\"timeout\"");
	assert_null(member(json, &arena, error, "v").ptr);
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}

/* Fields that do not fit are left out; one whole line is written, in both formats. */
static void a_line_has_a_bound(void **state)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_log_field fields[9] = {{0}};
	char value[3000];

	(void)state;
	memset(value, 'x', sizeof(value));
	for (int i = 0; i < 8; i++) {
		fields[i] = bt_log_str("value", ((struct bt_str){value, sizeof(value)}));
	}
	for (int format = BT_LOG_TEXT; format <= BT_LOG_JSON; format++) {
		bt_log_setup((enum bt_log_format)format, 0);
		caught_begin();
		bt_log(BT_LOG_INFO, 0, "long", fields);
		const char *text = caught_end();

		assert_in_range(strlen(text), 3 * BT_LOG_VALUE_BYTES, BT_LOG_LINE_BYTES);
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
		if (format == BT_LOG_JSON) {
			bt_json_begin(json, bt_str(text), &arena);
			assert_true(bt_json_skip(json));
			assert_false(bt_json_more(json));
		}
	}
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}

static void a_reader_that_has_gone_costs_the_line_alone(void **state)
{
	uint64_t before = bt_log_lost_n();

	(void)state;
	bt_log_setup(BT_LOG_TEXT, 0);
	caught_begin();
	close(caught.read_fd);
	bt_log(BT_LOG_INFO, 0, "not logged", NULL);
	caught.read_fd = open("/dev/null", O_RDONLY);
	caught_end();
	assert_int_equal(bt_log_lost_n(), before + 1);
}

static void a_slow_reader_delays_no_other(void **state)
{
	uint64_t before = bt_log_lost_n();

	(void)state;
	bt_log_setup(BT_LOG_TEXT, 0);
	caught_begin();
	for (int i = 0; i < 5000; i++) {
		bt_log(BT_LOG_INFO, 0, "more than a pipe holds", NULL);
	}
	caught_end();
	assert_true(bt_log_lost_n() > before);
}

static void write_lines(void *context)
{
	for (int i = 0; i < THREAD_LINES; i++) {
		bt_log(BT_LOG_INFO, 0, "line", bt_log_fields(bt_log_str("by", bt_str(context))));
	}
}

static void lines_of_several_threads_stay_whole(void **state)
{
	static char names[THREADS][2] = {"a", "b", "c", "d"};
	struct bt_thread *threads[THREADS];
	size_t counts[THREADS] = {0};

	(void)state;
	bt_log_setup(BT_LOG_TEXT, 0);
	caught_begin();
	assert_true(fcntl(STDERR_FILENO, F_SETPIPE_SZ, 1 << 20) > 0);
	for (size_t i = 0; i < THREADS; i++) {
		struct bt_thread_options options = {.name = names[i]};

		assert_int_equal(bt_thread_start(&options, write_lines, names[i], &threads[i], NULL), 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		bt_thread_join(&threads[i]);
	}
	char *text = bt_mem_zalloc(1 << 20, 1);
	ssize_t n = read(caught.read_fd, text, (1 << 20) - 1);

	caught_end();
	assert_true(n > 0);
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		char by;

		*end = 0;
		assert_int_equal(sscanf(behind_head(line), "\"line\" by=\"%c\"", &by), 1);
		assert_in_range(by, 'a', 'a' + THREADS - 1);
		counts[by - 'a']++;
	}
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(counts[i], THREAD_LINES);
	}
	bt_mem_free(text);
}

static void a_repeated_line_is_logged_once_an_interval(void **state)
{
	struct bt_log_limit limit = {0};
	uint64_t held_n = 99;

	(void)state;
	assert_true(bt_log_due(&limit, 1000, 500, &held_n));
	assert_int_equal(held_n, 0);
	assert_false(bt_log_due(&limit, 1001, 500, &held_n));
	assert_false(bt_log_due(&limit, 1499, 500, &held_n));
	assert_true(bt_log_due(&limit, 1500, 500, &held_n));
	assert_int_equal(held_n, 2);
	assert_false(bt_log_due(&limit, 1500, 500, &held_n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_has_klogs_form),
		cmocka_unit_test(levels_have_their_letters),
		cmocka_unit_test(too_verbose_lines_are_not_written),
		cmocka_unit_test(json_is_read_by_a_json_reader),
		cmocka_unit_test(a_line_has_a_bound),
		cmocka_unit_test(a_reader_that_has_gone_costs_the_line_alone),
		cmocka_unit_test(a_slow_reader_delays_no_other),
		cmocka_unit_test(lines_of_several_threads_stay_whole),
		cmocka_unit_test(a_repeated_line_is_logged_once_an_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
