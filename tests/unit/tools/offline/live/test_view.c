/* SPDX-License-Identifier: Apache-2.0
 * The live view's text, for terminals of any size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tools/offline/live/view.h"

#define S INT64_C(1000000000)

static struct bt_live_numbers some_numbers(void)
{
	struct bt_live_numbers numbers = {
		.label = "placing pods",
		.unit = "pods",
		.elapsed_ns = 72 * S,
		.virtual_ns = 3 * 3600 * S,
		.done = 25000,
		.total = 100000,
		.places = {[BT_WAIT_ACTIVE] = 75000, [BT_WAIT_BACKOFF] = 2, [BT_WAIT_GATED] = 1},
		.node_n = 5000,
		.assumed = 4,
		.scheduled = 24990,
		.decided_n = 25000,
		.placed_n = 24990,
		.refused_n = 10,
		.has_stages = true,
		.conflicts = {{"pod gone", 0}, {"node gone", 3}},
		.conflict_n = 2,
		.rings = {{"inbox", 3, 1024, 1000, 0}},
		.ring_n = 1,
		.rcu_pending_n = 12,
		.rcu_pending_bytes = 3 << 20,
		.threads = {{"berth", 36 * S, "runs"}},
		.thread_n = 1,
	};
	numbers.stages[BT_STAGE_DECIDE] = (struct bt_live_stage){25000, 950, 3200, 1234567, 2 * S, 31 * S};
	return numbers;
}

static struct bt_buf draw(const struct bt_live_numbers *now, const struct bt_live_numbers *before,
	uint32_t columns, uint32_t rows, bool color)
{
	const struct bt_live_size size = {.columns = columns, .rows = rows, .color = color};
	struct bt_buf text = {0};

	bt_live_draw(now, before, &size, &text);
	bt_buf_text(&text, "");
	return text;
}

static void assert_says(
	const struct bt_live_numbers *now, const struct bt_live_numbers *before, const char *words)
{
	struct bt_buf text = draw(now, before, 200, 50, false);

	if (!strstr(text.ptr, words)) {
		fail_msg("'%s' is not in:\n%s", words, text.ptr);
	}
	bt_buf_fini(&text);
}

/* The width of the longest line, without colours, and the number of lines. */
static uint32_t extent(const struct bt_buf *text, uint32_t *out_rows)
{
	uint32_t column = 0, longest = 0;

	*out_rows = text->len > 0;
	for (size_t i = 0; i < text->len; i++) {
		if (text->ptr[i] == '\033') {
			while (text->ptr[i] != 'm') {
				i++;
			}
		} else if (text->ptr[i] == '\r') {
			assert_int_equal(text->ptr[++i], '\n');
			column = 0;
			++*out_rows;
		} else {
			assert_true(text->ptr[i] >= ' ' && text->ptr[i] <= '~');
			column++;
			longest = column > longest ? column : longest;
		}
	}
	return longest;
}

static void a_usual_terminal_shows_everything(void **state)
{
	static const char want[] =
		"berth  placing pods   01:12   virtual 3:00:00\r\n"
		"progress   [#####...............]  25 %   25,000 of 100,000 pods   ETA 03:36\r\n"
		"rates      347 pods/s   0 refused/s   0 events/s\r\n"
		"queue      active 75,000   backoff 2   unschedulable 0   gated 1   in flight 0\r\n"
		"pods       assumed 4   scheduled 24,990   placed 24,990   nodes 5,000\r\n"
		"stage             p50       p90       p99     p99.9       max         n\r\n"
		"decide         950 ns    3.2 us    1.2 ms     2.0 s    31.0 s    25,000\r\n"
		"conflicts  node gone 3\r\n"
		"reclaim    waits for readers: 12   3.0 MiB\r\n"
		"rings      inbox 3/1024 high 1000\r\n"
		"threads    berth 50 % runs";
	const struct bt_live_numbers now = some_numbers();
	struct bt_buf text = draw(&now, NULL, 80, 24, false);

	(void)state;
	assert_string_equal(text.ptr, want);
	bt_buf_fini(&text);
}

static void no_size_makes_it_larger_than_the_terminal(void **state)
{
	struct bt_live_numbers now = some_numbers();

	(void)state;
	now.thread_n = now.ring_n = BT_LIVE_THREADS;
	for (uint32_t i = 0; i < BT_LIVE_THREADS; i++) {
		now.threads[i] = (struct bt_live_thread){"a-thread-with-a-long-name-000", 1, "waits"};
		now.rings[i] = (struct bt_live_ring){"a-ring", UINT32_MAX, UINT32_MAX, UINT32_MAX, 1};
	}
	for (uint32_t columns = 0; columns < 300; columns += columns < 90 ? 1 : 37) {
		for (uint32_t rows = 1; rows < 60; rows += 1 + rows / 4) {
			for (int color = 0; color < 2; color++) {
				struct bt_buf text = draw(&now, NULL, columns, rows, color);
				uint32_t got_rows;

				assert_true(extent(&text, &got_rows) <= columns);
				assert_true(got_rows <= rows);
				bt_buf_fini(&text);
			}
		}
	}
}

static void a_narrow_terminal_goes_on_on_the_next_line(void **state)
{
	const struct bt_live_numbers now = some_numbers();
	struct bt_buf text = draw(&now, NULL, 40, 24, false);

	(void)state;
	assert_non_null(strstr(text.ptr, "queue      active 75,000   backoff 2\r\n"
					 "           unschedulable 0   gated 1\r\n"
					 "           in flight 0\r\n"));
	/* Median and tail have priority over the percentiles between. */
	assert_non_null(strstr(text.ptr, "stage             p50       p99\r\n"));
	bt_buf_fini(&text);
}

static void a_low_terminal_shows_the_first_lines(void **state)
{
	const struct bt_live_numbers now = some_numbers();
	struct bt_buf text = draw(&now, NULL, 80, 2, false);
	uint32_t rows;

	(void)state;
	extent(&text, &rows);
	assert_int_equal(rows, 2);
	assert_non_null(strstr(text.ptr, "progress"));
	assert_null(strstr(text.ptr, "rates"));
	bt_buf_fini(&text);
}

static void colours_are_used_only_when_enabled(void **state)
{
	const struct bt_live_numbers now = some_numbers();
	struct bt_buf plain = draw(&now, NULL, 80, 24, false), colored = draw(&now, NULL, 80, 24, true);

	(void)state;
	assert_null(strchr(plain.ptr, '\033'));
	assert_non_null(strstr(colored.ptr, "\033[33mnode gone 3\033[0m"));
	bt_buf_fini(&plain);
	bt_buf_fini(&colored);
}

static void rates_are_those_since_the_look_before(void **state)
{
	struct bt_live_numbers before = some_numbers(), now = before;

	(void)state;
	now.elapsed_ns += 2 * S;
	now.decided_n += 3000;
	now.event_n += 10;
	now.threads[0].cpu_ns += S / 2;
	assert_says(&now, &before, "1,500 pods/s   0 refused/s   5 events/s");
	assert_says(&now, &before, "berth 25 % runs");
}

static void a_count_that_fell_has_no_rate(void **state)
{
	struct bt_live_numbers before = some_numbers(), now = before;

	(void)state;
	now.elapsed_ns += S;
	now.decided_n -= 5;
	now.threads[0].cpu_ns = 0;
	assert_says(&now, &before, "rates      0 pods/s");
	assert_says(&now, &before, "berth 0 %");
}

static void a_moment_that_is_no_later_has_no_rate(void **state)
{
	const struct bt_live_numbers now = some_numbers();

	(void)state;
	assert_says(&now, &now, "rates      0 pods/s");
}

static void without_a_known_total_there_is_no_bar(void **state)
{
	struct bt_live_numbers now = some_numbers();

	(void)state;
	now.total = 0;
	assert_says(&now, NULL, "progress   25,000 pods\r\n");
}

static void absurdly_long_runs_have_no_eta(void **state)
{
	struct bt_live_numbers now = some_numbers();

	(void)state;
	now.done = 1;
	now.total = UINT64_MAX;
	assert_says(&now, NULL, "1 of 18,446,744,073,709,551,615 pods\r\nrates");
}

static void more_than_all_is_all(void **state)
{
	struct bt_live_numbers now = some_numbers();

	(void)state;
	now.done = 3 * now.total;
	assert_says(&now, NULL, "] 100 %   300,000 of 100,000 pods   ETA 00:00\r\n");
}

static void the_largest_numbers_are_drawn(void **state)
{
	struct bt_live_numbers now = some_numbers();

	(void)state;
	now.done = now.total = now.decided_n = now.rcu_pending_bytes = UINT64_MAX;
	now.elapsed_ns = 1;
	assert_says(&now, NULL, "1,000,000,000,000,000,000 pods/s");
	now.elapsed_ns = now.virtual_ns = INT64_MAX;
	now.stages[BT_STAGE_DECIDE].max_ns = INT64_MAX;
	assert_says(&now, NULL, "18,446,744,073,709,551,615");
	assert_says(&now, NULL, "2562047:47:16");
}

static void stages_without_a_measurement_are_left_out(void **state)
{
	struct bt_live_numbers now = some_numbers();
	struct bt_buf text = draw(&now, NULL, 80, 24, false);

	(void)state;
	assert_null(strstr(text.ptr, "ingest"));
	bt_buf_fini(&text);
	now.has_stages = false;
	text = draw(&now, NULL, 80, 24, false);
	assert_null(strstr(text.ptr, "decide"));
	bt_buf_fini(&text);
}

static void nothing_at_all_is_drawn_too(void **state)
{
	const struct bt_live_numbers now = {.label = "", .unit = "pods", .virtual_ns = -1};

	(void)state;
	assert_says(&now, NULL, "berth     00:00\r\nprogress   0 pods\r\n");
	assert_says(&now, NULL, "conflicts  none\r\n");
}

static void the_progress_line_shows_the_share(void **state)
{
	struct bt_live_numbers before = some_numbers(), now = before;
	struct bt_buf text = {0};

	(void)state;
	now.elapsed_ns += S;
	now.decided_n += 500;
	bt_live_line(&now, &before, &text);
	assert_string_equal(
		text.ptr, "01:13 placing pods: 25,000 of 100,000 pods, 500 pods/s, 75,003 wait, ETA 03:39");
	bt_buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_usual_terminal_shows_everything),
		cmocka_unit_test(no_size_makes_it_larger_than_the_terminal),
		cmocka_unit_test(a_narrow_terminal_goes_on_on_the_next_line),
		cmocka_unit_test(a_low_terminal_shows_the_first_lines),
		cmocka_unit_test(colours_are_used_only_when_enabled),
		cmocka_unit_test(rates_are_those_since_the_look_before),
		cmocka_unit_test(a_count_that_fell_has_no_rate),
		cmocka_unit_test(a_moment_that_is_no_later_has_no_rate),
		cmocka_unit_test(without_a_known_total_there_is_no_bar),
		cmocka_unit_test(absurdly_long_runs_have_no_eta),
		cmocka_unit_test(more_than_all_is_all),
		cmocka_unit_test(the_largest_numbers_are_drawn),
		cmocka_unit_test(stages_without_a_measurement_are_left_out),
		cmocka_unit_test(nothing_at_all_is_drawn_too),
		cmocka_unit_test(the_progress_line_shows_the_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
