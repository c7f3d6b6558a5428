/* SPDX-License-Identifier: Apache-2.0
 * Reading and writing quantities as manifests have them.
 */
#include "suites.h"
#include "engine/model/quantity.h"

static const struct bt_str texts[] = {
	BT_STR("100m"),
	BT_STR("2"),
	BT_STR("0.5"),
	BT_STR("1500m"),
	BT_STR("128Mi"),
	BT_STR("1Gi"),
	BT_STR("16Gi"),
	BT_STR("512M"),
	BT_STR("1e3"),
	BT_STR("131841856Ki"),
	BT_STR("110"),
	BT_STR("0"),
	BT_STR("1.5Gi"),
	BT_STR("250m"),
	BT_STR("64"),
	BT_STR("1073741824"),
};

#define TEXT_N ((int)(sizeof(texts) / sizeof(texts[0])))

static void parse(struct bt_bench *bench)
{
	struct bt_quantity quantity;
	int64_t bytes = 0;

	for (int i = 0; i < TEXT_N; i++) {
		bytes += (int64_t)texts[i].len;
	}
	while (bt_bench_keep_running_batch(bench, TEXT_N)) {
		for (int i = 0; i < TEXT_N; i++) {
			if (bt_quantity_parse(texts[i], &quantity) != BT_OK) {
				bt_bench_skip(bench, "a quantity was refused");
				return;
			}
			bt_bench_keep(&quantity);
		}
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_bench_bytes(bench, bt_bench_iterations(bench) / TEXT_N * bytes);
}

static void value_and_milli(struct bt_bench *bench)
{
	struct bt_quantity quantities[TEXT_N];
	int64_t sum = 0;

	for (int i = 0; i < TEXT_N; i++) {
		if (bt_quantity_parse(texts[i], &quantities[i]) != BT_OK) {
			bt_bench_skip(bench, "a quantity was refused");
			return;
		}
	}
	while (bt_bench_keep_running_batch(bench, TEXT_N)) {
		for (int i = 0; i < TEXT_N; i++) {
			sum ^= bt_quantity_value(quantities[i]) ^ bt_quantity_milli(quantities[i]);
		}
	}
	bt_bench_keep(&sum);
	bt_bench_items(bench, bt_bench_iterations(bench));
}

static void text(struct bt_bench *bench)
{
	struct bt_quantity quantities[TEXT_N];
	char out[BT_QUANTITY_TEXT_MAX];

	for (int i = 0; i < TEXT_N; i++) {
		if (bt_quantity_parse(texts[i], &quantities[i]) != BT_OK) {
			bt_bench_skip(bench, "a quantity was refused");
			return;
		}
	}
	while (bt_bench_keep_running_batch(bench, TEXT_N)) {
		for (int i = 0; i < TEXT_N; i++) {
			bt_quantity_text(quantities[i], out);
			bt_bench_keep(out);
		}
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
}

static const struct bt_bench_case cases[] = {
	{.name = "parse", .run = parse},
	{.name = "value_and_milli", .run = value_and_milli},
	{.name = "text", .run = text},
};

const struct bt_bench_suite bt_bench_micro_quantity = {
	.name = "micro_quantity", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
