/* SPDX-License-Identifier: Apache-2.0
 * Matching device selectors: typical ones of drivers' examples, over a device with eight attributes.
 */
#include "suites.h"
#include "plugins/dynamic_resources/cel.h"

#define GPU "device.attributes[\"gpu.nvidia.com\"]"

static const char *const expressions[] = {
	"device.driver == \"gpu.nvidia.com\"",
	"device.driver == \"gpu.nvidia.com\" && " GPU ".type == \"gpu\"",
	GPU ".cudaComputeCapability.compareTo(semver(\"8.0.0\")) >= 0",
	"device.capacity[\"gpu.nvidia.com\"].memory.compareTo(quantity(\"20Gi\")) > 0",
	GPU ".productName.lowerAscii().matches(\"^.*a100.*$\")",
	GPU ".architecture in [\"Ampere\", \"Hopper\"] && has(" GPU ".uuid) && " GPU ".index < 4",
};

static void run(struct bt_bench *bench)
{
	const struct bt_str driver = BT_STR("gpu.nvidia.com");
	struct bt_cel_attribute attributes[] = {
		{.domain = driver, .name = BT_STR("type"), .kind = BT_CEL_STRING, .string = BT_STR("gpu")},
		{.domain = driver,
			.name = BT_STR("uuid"),
			.kind = BT_CEL_STRING,
			.string = BT_STR("GPU-4cf8db2d")},
		{.domain = driver, .name = BT_STR("index"), .kind = BT_CEL_INT, .integer = 3},
		{.domain = driver,
			.name = BT_STR("brand"),
			.kind = BT_CEL_STRING,
			.string = BT_STR("Nvidia")},
		{.domain = driver,
			.name = BT_STR("architecture"),
			.kind = BT_CEL_STRING,
			.string = BT_STR("Ampere")},
		{.domain = driver,
			.name = BT_STR("productName"),
			.kind = BT_CEL_STRING,
			.string = BT_STR("NVIDIA A100-SXM4-40GB")},
		{.domain = driver,
			.name = BT_STR("driverVersion"),
			.kind = BT_CEL_VERSION,
			.version = {.major = 550}},
		{.domain = driver,
			.name = BT_STR("cudaComputeCapability"),
			.kind = BT_CEL_VERSION,
			.version = {.major = 8}}};
	struct bt_cel_capacity capacity[] = {{.domain = driver,
		.name = BT_STR("memory"),
		.value = bt_quantity_of_int64(42949672960, BT_BINARY_SI)}};
	const struct bt_cel_device device = {.driver = driver,
		.attributes = attributes,
		.attribute_n = sizeof(attributes) / sizeof(*attributes),
		.capacity = capacity,
		.capacity_n = 1};
	struct bt_cel_scratch scratch = {0};
	struct bt_buf error = {0};
	uint64_t match_n = 0;

	struct bt_cel *cel = bt_cel_compile(bt_str(expressions[bt_bench_arg(bench)]), 0, &error);
	while (cel && bt_bench_keep_running_batch(bench, 1024)) {
		for (uint32_t i = 0; i < 1024; i++) {
			match_n += bt_cel_match(cel, &device, &scratch, &error) == BT_CEL_TRUE;
		}
	}
	if (match_n == 0) {
		bt_bench_skip(bench, "nothing matched");
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_cel_destroy(cel);
	bt_cel_scratch_fini(&scratch);
	bt_buf_fini(&error);
}

static const struct bt_bench_case cases[] = {
	{.name = "match", .run = run, .args = {0, 1, 2, 3, 4, 5}, .arg_n = 6},
};

const struct bt_bench_suite bt_bench_micro_cel = {
	.name = "micro_cel", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
