/* SPDX-License-Identifier: Apache-2.0
 * Prometheus' text format: families, labels, buckets, and merged samples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "tools/cluster/serve/exposition.h"

struct page {
	struct bt_buf out;
	struct bt_exposition x;
	struct bt_metric_settings settings;
	struct bt_arena arena;
	struct bt_buf error;
};

static struct page *page_begin(struct page *page)
{
	bt_exposition_begin(&page->x, &page->settings, &page->out);
	return page;
}

static void expect(struct page *page, const char *wanted)
{
	bt_exposition_end(&page->x);
	bt_buf_char(&page->out, 0);
	assert_string_equal(page->out.ptr, wanted);
	bt_buf_fini(&page->out);
	bt_buf_fini(&page->error);
	bt_arena_fini(&page->arena);
}

static void a_family_has_help_and_type_and_stability_is_counted(void **state)
{
	struct page *page = page_begin(&(struct page){.settings = {.allowance_n = 0}});

	(void)state;
	bt_expose_counter(&page->x, "a_total", "[STABLE] All.", 3);
	bt_expose_gauge(&page->x, "b", "None.", -0.5);
	assert_int_equal(page->x.counts.shown[BT_STABILITY_STABLE], 1);
	assert_int_equal(page->x.counts.shown[BT_STABILITY_ALPHA], 0);
	expect(page, "# HELP a_total [STABLE] All.\n# TYPE a_total counter\na_total 3\n"
		     "# HELP b None.\n# TYPE b gauge\nb -0.5\n");
}

static void values_of_labels_are_escaped_and_end_with_their_sample(void **state)
{
	struct page *page = page_begin(&(struct page){.settings = {.allowance_n = 0}});

	(void)state;
	bt_expose(&page->x, "a", BT_METRIC_GAUGE, "Help.");
	bt_expose_label(&page->x, "l", bt_str("a\"b\\c\nd"));
	bt_expose_label(&page->x, "m", bt_str(""));
	bt_expose_count(&page->x, 1);
	bt_expose_real(&page->x, INFINITY);
	expect(page, "# HELP a Help.\n# TYPE a gauge\na{l=\"a\\\"b\\\\c\\nd\",m=\"\"} 1\na +Inf\n");
}

static void buckets_are_cumulative_and_end_with_infinity(void **state)
{
	static const double bounds[] = {0.1, 1};
	static const uint64_t counts[] = {2, 0, 5};
	struct page *page = page_begin(&(struct page){.settings = {.allowance_n = 0}});

	(void)state;
	bt_expose(&page->x, "h", BT_METRIC_HISTOGRAM, "Help.");
	bt_expose_label(&page->x, "l", bt_str("v"));
	bt_expose_buckets(&page->x, &(struct bt_metric_buckets){bounds, counts, 2, 7.25});
	expect(page, "# HELP h Help.\n# TYPE h histogram\nh_bucket{l=\"v\",le=\"0.1\"} "
		     "2\nh_bucket{l=\"v\",le=\"1\"} 2\n"
		     "h_bucket{l=\"v\",le=\"+Inf\"} 7\nh_sum{l=\"v\"} 7.25\nh_count{l=\"v\"} 7\n");
}

static void samples_whose_values_are_not_allowed_become_one(void **state)
{
	struct page own = {.settings = {.allowance_n = 0}};

	(void)state;
	assert_true(bt_metric_settings_allow(&own.settings, &own.arena, bt_str("a,l=good"), &own.error));
	struct page *page = page_begin(&own);
	bt_expose(&page->x, "a", BT_METRIC_COUNTER, "Help.");
	for (uint64_t i = 0; i < 3; i++) {
		bt_expose_label(&page->x, "l", bt_str(i == 1 ? "good" : i ? "bad" : "worse"));
		bt_expose_count(&page->x, i + 1);
	}
	assert_int_equal(page->x.counts.unexpected_n, 4); /* one for each count in a rejected sample */
	expect(page, "# HELP a Help.\n# TYPE a counter\na{l=\"unexpected\"} 4\na{l=\"good\"} 2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_family_has_help_and_type_and_stability_is_counted),
		cmocka_unit_test(values_of_labels_are_escaped_and_end_with_their_sample),
		cmocka_unit_test(buckets_are_cumulative_and_end_with_infinity),
		cmocka_unit_test(samples_whose_values_are_not_allowed_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
