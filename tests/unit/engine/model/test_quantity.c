/* SPDX-License-Identifier: Apache-2.0
 * resource.Quantity: the grammar, rounding, limits and canonical text. The expected numbers are upstream's.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "seed.h"

#include "engine/base/rng.h"
#include "engine/model/quantity.h"

#define NANO 1000000000

struct reading {
	const char *text;
	int64_t value, milli;
	const char *canonical;
};

static const struct reading readings[] = {
	{"0", 0, 0, "0"},
	{"4", 4, 4000, "4"},
	{"100m", 1, 100, "100m"},
	{"1500m", 2, 1500, "1500m"},
	{"500Mi", 524288000, 524288000000, "500Mi"},
	{"1u", 1, 1, "1u"},
	{"1n", 1, 1, "1n"},
	{"2k", 2000, 2000000, "2k"},
	{"3M", 3000000, 3000000000, "3M"},
	{"4G", 4000000000, 4000000000000, "4G"},
	{"5T", 5000000000000, 5000000000000000, "5T"},
	{"6P", 6000000000000000, 6000000000000000000, "6P"},
	{"1Ki", 1024, 1024000, "1Ki"},
	{"1Gi", 1073741824, 1073741824000, "1Gi"},
	{"1Ti", 1099511627776, 1099511627776000, "1Ti"},
	{"1Pi", 1125899906842624, 1125899906842624000, "1Pi"},
	{"1.5Gi", 1610612736, 1610612736000, "1536Mi"},
	{".5", 1, 500, "500m"},
	{"5.", 5, 5000, "5"},
	{"+1", 1, 1000, "1"},
	{"-1500m", -2, -1500, "-1500m"},
	{"1e3", 1000, 1000000, "1e3"},
	{"1E-3", 1, 1, "1e-3"},
	{"12e+2", 1200, 1200000, "1200"},
	{"12e2", 1200, 1200000, "1200"},
	{"1e4294967296", 1, 1000, "1"},
	{"100000", 100000, 100000000, "100k"},
	{"1.500", 2, 1500, "1500m"},
	{"0.5Ki", 512, 512000, "512"},
	{"1025Ki", 1049600, 1049600000, "1025Ki"},
	{"2048Ki", 2097152, 2097152000, "2Mi"},
	/* Upstream parses these, without a digit, as zero. */
	{".", 0, 0, "0"},
	{"-", 0, 0, "0"},
	{"Mi", 0, 0, "0"},
	{"e5", 0, 0, "0"},
	/* Finer than 10^-9. */
	{"0.1n", 1, 1, "1n"},
	{"-0.1n", 1, 1, "-1n"},
	{"1e-30", 1, 1, "1e-9"},
	{"1.0000000001", 2, 1001, "1000000001n"},
	{"1.0000000000000000000000001Ki", 1025, 1024001, "1024000000001n"},
	/* Below zero the two representations round differently. */
	{"-1.5", -2, -1500, "-1500m"},
	{"-1.50000000000", 0, -1500, "-1500m"},
	/* Binary suffixes are capped. */
	{"8Ei", INT64_MAX, -1000, "9223372036854775807"},
	{"-8Ei", -INT64_MAX, 1000, "-9223372036854775807"},
	{"9223372036854775807Ki", INT64_MAX, -1000, "9223372036854775807"},
	{"7.99999999999999999999999Ei", INT64_MAX, -1000, "9223372036854775807"},
	/* Decimal ones are not: 64 bits overflow as upstream. */
	{"9223372036854775807", INT64_MAX, -1000, "9223372036854775807"},
	{"9223372036854775808", INT64_MIN, 0, "9223372036854775808"},
	{"9E", 9000000000000000000, 0, "9E"},
	{"10E", 0, 0, "10E"},
	{"10P", 10000000000000000, 0, "10P"},
	{"1000E", 0, 0, "1"},
	{"1e40", 0, 0, "10e39"},
	{"9007199254740993M", 5188146770731811392, 4611686019427387904, "9007199254740993M"},
};

static const char *const refused[] = {"", " ", " 1", "1 ", "1i", "0x10", "1Kib", "1K", "1ki", "1mi", "1ni",
	"1e", "1e+", "1ee1", "1e1e1", "1e1.5", "1E5i", "1..2", "1.2.3", "--1", "+-1", "1-", "1+5", "1_0",
	"1,5", "1m5", "1 m", "Ei", "-Pi", ".Ei", ".e-10", "inf", "NaN", "1e9223372036854775808",
	"1e-9223372036854775809", "1\xc3\xa9", "\xff"};

static void assert_reading(const struct reading *want)
{
	struct bt_quantity got;
	char text[BT_QUANTITY_TEXT_MAX];

	if (bt_quantity_parse(bt_str(want->text), &got) != BT_OK) {
		fail_msg("\"%s\" is refused", want->text);
	}
	size_t len = bt_quantity_text(got, text);
	if (bt_quantity_value(got) != want->value || bt_quantity_milli(got) != want->milli) {
		fail_msg("\"%s\" is %" PRId64 " and %" PRId64 " thousandths, expected %" PRId64
			 " and %" PRId64,
			want->text, bt_quantity_value(got), bt_quantity_milli(got), want->value, want->milli);
	}
	assert_string_equal(text, want->canonical);
	assert_int_equal(len, strlen(text));
}

static void every_form_reads_as_upstream_reads_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		assert_reading(&readings[i]);
	}
}

static void malformed_text_is_refused_and_leaves_the_output_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct bt_quantity out = {.nano = 77};

		if (bt_quantity_parse(bt_str(refused[i]), &out) != BT_INVALID) {
			fail_msg("\"%s\" is accepted", refused[i]);
		}
		assert_true(out.nano == 77);
	}
	struct bt_quantity out;
	assert_int_equal(bt_quantity_parse((struct bt_str){NULL, 0}, &out), BT_INVALID);
	assert_int_equal(bt_quantity_parse((struct bt_str){"1\0", 2}, &out), BT_INVALID);
}

static struct bt_quantity quantity(const char *text)
{
	struct bt_quantity out;

	if (bt_quantity_parse(bt_str(text), &out) != BT_OK) {
		fail_msg("\"%s\" is refused", text);
	}
	return out;
}

static void assert_text(struct bt_quantity got, const char *want)
{
	char text[BT_QUANTITY_TEXT_MAX];

	bt_quantity_text(got, text);
	assert_string_equal(text, want);
}

static void rounding_to_thousandths_goes_away_from_zero(void **state)
{
	(void)state;
	assert_text(bt_quantity_round_milli(quantity("1u")), "1m");
	assert_text(bt_quantity_round_milli(quantity("-1u")), "-1m");
	assert_text(bt_quantity_round_milli(quantity("1500u")), "2m");
	assert_text(bt_quantity_round_milli(quantity("2m")), "2m");
	assert_text(bt_quantity_round_milli(quantity("1Gi")), "1Gi");
	assert_text(bt_quantity_round_milli(quantity("0.00000000001")), "1m");
	assert_text(bt_quantity_round_milli(quantity("0")), "0");
	/* The capped big decimal is in thousandths afterwards, which is visible below zero. */
	assert_int_equal(bt_quantity_value(bt_quantity_round_milli(quantity("-8Ei"))), 1);
}

static void sums_are_exact_and_keep_a_format(void **state)
{
	(void)state;
	assert_text(bt_quantity_add(quantity("100m"), quantity("1")), "1100m");
	assert_text(bt_quantity_add(quantity("1Gi"), quantity("1Mi")), "1025Mi");
	assert_text(bt_quantity_add(quantity("0"), quantity("1Mi")), "1Mi");
	assert_text(bt_quantity_add(quantity("1M"), quantity("1Ki")), "1001024");
	assert_text(bt_quantity_add(quantity("0.5"), quantity("1n")), "500000001n");
	assert_int_equal(
		bt_quantity_value(bt_quantity_add(quantity("10E"), quantity("352"))), -8446744073709551264);
}

static void sums_stay_within_the_limit(void **state)
{
	struct bt_quantity sum = quantity("1000000000000000000000000000000");
	__extension__ __int128 limit = (__int128)1 << 100;

	(void)state;
	assert_true(sum.nano == limit);
	assert_true(bt_quantity_add(sum, sum).nano == limit);
	sum = quantity("-1e33");
	assert_true(bt_quantity_add(sum, sum).nano == -limit);
}

static void comparison_follows_the_amount(void **state)
{
	(void)state;
	assert_int_equal(bt_quantity_cmp(quantity("1000m"), quantity("1")), 0);
	assert_true(bt_quantity_cmp(quantity("1Ki"), quantity("1k")) > 0);
	assert_true(bt_quantity_cmp(quantity("-1"), quantity("0")) < 0);
	assert_int_equal(bt_quantity_cmp(quantity("0.000"), quantity("0")), 0);
}

static void canonical_text_reads_back_as_the_same_amount(void **state)
{
	static const char *const suffixes[] = {
		"", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "Ti", "e3", "e-5"};
	struct bt_rng rng = {seed_or(20)};

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[BT_QUANTITY_TEXT_MAX];
		const char *sign = bt_rng_below(&rng, 4) ? "" : "-";
		uint32_t whole = bt_rng_below(&rng, 10000);
		uint32_t fraction = bt_rng_below(&rng, 1000);

		snprintf(text, sizeof(text), "%s%u.%u%s", sign, whole, fraction,
			suffixes[bt_rng_below(&rng, 13)]);
		struct bt_quantity first = quantity(text);
		bt_quantity_text(first, text);
		struct bt_quantity again = quantity(text);
		assert_true(first.nano == again.nano);
	}
}

static void values_agree_with_nanos(void **state)
{
	struct bt_rng rng = {seed_or(20)};

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[BT_QUANTITY_TEXT_MAX];

		snprintf(text, sizeof(text), "%" PRIu64 "n",
			bt_rng_next(&rng) >> (6 + bt_rng_below(&rng, 50)));
		struct bt_quantity q = quantity(text);
		assert_int_equal(bt_quantity_value(q), (int64_t)((q.nano + NANO - 1) / NANO));
		assert_int_equal(bt_quantity_milli(q), (int64_t)((q.nano + 999999) / 1000000));
	}
}

static void amounts_of_whole_units_are_integers(void **state)
{
	static const struct {
		const char *text;
		bool integer;
		int64_t value;
	} cases[] = {{"0", true, 0}, {"7", true, 7}, {"-3k", true, -3000}, {"1Gi", true, 1073741824},
		{"9E", true, 9000000000000000000}, {"10E", false, 0}, {"1500m", false, 0},
		{"1000m", false, 0}, {"0.0", false, 0}, {"1.0", false, 0}, {"1.5Gi", false, 0},
		{"12345678901234567890", false, 0}, {"1e3", true, 1000}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bt_quantity quantity;
		int64_t value = 0;

		assert_int_equal(bt_quantity_parse(bt_str(cases[i].text), &quantity), BT_OK);
		if (bt_quantity_int64(quantity, &value) != cases[i].integer || value != cases[i].value) {
			fail_msg("%s: %" PRId64, cases[i].text, value);
		}
	}
}

static void approximations_are_upstreams_to_the_last_bit(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {{"0", 0}, {"1500m", 1.5}, {"0.1", 0.1}, {"-3u", -3 * (1 / 1e6)}, {"7n", 7 * (1 / 1e9)},
		{"1e3", 1e3}, {"1e20", 1e20},
		{"12345678901234567890", 12345678901234567890000000000.0 * (1 / 1e9)}, {"1.5Gi", 1610612736}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bt_quantity quantity;

		assert_int_equal(bt_quantity_parse(bt_str(cases[i].text), &quantity), BT_OK);
		if (bt_quantity_approximate(quantity) != cases[i].value) {
			fail_msg("%s: %.17g", cases[i].text, bt_quantity_approximate(quantity));
		}
	}
}

static void a_difference_undoes_a_sum(void **state)
{
	static const char *const texts[] = {
		"0", "1", "-7", "1500m", "3n", "2Gi", "1e18", "12345678901234567890", "-9E"};
	const size_t n = sizeof(texts) / sizeof(*texts);

	(void)state;
	for (size_t i = 0; i < n * n; i++) {
		struct bt_quantity a;
		struct bt_quantity b;

		assert_int_equal(bt_quantity_parse(bt_str(texts[i / n]), &a), BT_OK);
		assert_int_equal(bt_quantity_parse(bt_str(texts[i % n]), &b), BT_OK);
		assert_int_equal(bt_quantity_cmp(bt_quantity_sub(bt_quantity_add(a, b), b), a), 0);
		assert_int_equal(bt_quantity_cmp(bt_quantity_sub(a, a), quantity("0")), 0);
	}
	struct bt_quantity five = bt_quantity_of_int64(5, BT_DECIMAL_SI);
	assert_int_equal(
		bt_quantity_value(bt_quantity_sub(five, bt_quantity_of_int64(-2, BT_DECIMAL_SI))), 7);
}

/* Up to eighteen digits; longer texts have another representation. */
static void numbers_make_the_quantities_that_their_texts_make(void **state)
{
	static const int64_t numbers[] = {
		0, 1, -1, 100, 1500, -2500, INT64_C(999999999999999999), INT64_C(-999999999999999999)};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct bt_quantity units = bt_quantity_of_int64(numbers[i], BT_DECIMAL_SI),
				   milli = bt_quantity_of_milli(numbers[i], BT_DECIMAL_SI);

		assert_int_equal(bt_quantity_value(units), numbers[i]);
		assert_int_equal(bt_quantity_milli(milli), numbers[i]);
		snprintf(text, sizeof(text), "%" PRId64, numbers[i]);
		assert_int_equal(bt_quantity_cmp(units, quantity(text)), 0);
		assert_int_equal(bt_quantity_value(units), bt_quantity_value(quantity(text)));
		snprintf(text, sizeof(text), "%" PRId64 "m", numbers[i]);
		assert_int_equal(bt_quantity_cmp(milli, quantity(text)), 0);
		assert_int_equal(bt_quantity_value(milli), bt_quantity_value(quantity(text)));
		assert_int_equal(bt_quantity_milli(milli), bt_quantity_milli(quantity(text)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_make_the_quantities_that_their_texts_make),
		cmocka_unit_test(amounts_of_whole_units_are_integers),
		cmocka_unit_test(approximations_are_upstreams_to_the_last_bit),
		cmocka_unit_test(a_difference_undoes_a_sum),
		cmocka_unit_test(every_form_reads_as_upstream_reads_it),
		cmocka_unit_test(malformed_text_is_refused_and_leaves_the_output_alone),
		cmocka_unit_test(rounding_to_thousandths_goes_away_from_zero),
		cmocka_unit_test(sums_are_exact_and_keep_a_format),
		cmocka_unit_test(sums_stay_within_the_limit),
		cmocka_unit_test(comparison_follows_the_amount),
		cmocka_unit_test(canonical_text_reads_back_as_the_same_amount),
		cmocka_unit_test(values_agree_with_nanos),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
