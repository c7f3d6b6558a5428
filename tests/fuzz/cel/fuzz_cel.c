/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a selector: it compiles, or is rejected with a reason. A compiled one gives the same result
 * for a device each time, within its limits.
 */
#include "engine/base/check.h"
#include "plugins/dynamic_resources/cel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_device(const struct bt_cel *cel, const struct bt_cel_device *device)
{
	static struct bt_cel_scratch scratch;
	struct bt_buf first = {0};
	struct bt_buf second = {0};
	uint64_t costs[2];

	enum bt_cel_result result = bt_cel_match_cost(cel, device, &scratch, &first, &costs[0]);
	BT_REQUIRE(bt_cel_match_cost(cel, device, &scratch, &second, &costs[1]) == result);
	BT_REQUIRE(bt_str_eq(bt_buf_view(&first), bt_buf_view(&second)) && costs[0] == costs[1]);
	BT_REQUIRE((result == BT_CEL_ERROR) == (first.len > 0));
	bt_buf_fini(&first);
	bt_buf_fini(&second);
	/* Frees memory from time to time, so that leaks show. */
	bt_cel_scratch_fini(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bt_str driver = BT_STR("gpu.example.com");
	static const union bt_cel_scalar numbers[] = {{.integer = 3}, {.integer = -1}};
	struct bt_cel_attribute attributes[] = {
		{.domain = driver, .name = BT_STR("model"), .kind = BT_CEL_STRING, .string = BT_STR("A100")},
		{.domain = driver, .name = BT_STR("index"), .kind = BT_CEL_INT, .integer = 3},
		{.domain = driver, .name = BT_STR("ok"), .kind = BT_CEL_BOOL, .boolean = true},
		{.domain = BT_STR("other.org"),
			.name = BT_STR("ver"),
			.kind = BT_CEL_VERSION,
			.version = {.major = 12, .minor = 4, .pre = BT_STR("rc.1")}},
		{.domain = driver,
			.name = BT_STR("many"),
			.kind = BT_CEL_INT,
			.list = true,
			.n = sizeof(numbers) / sizeof(*numbers),
			.elements = numbers}};
	struct bt_cel_capacity capacity[] = {{.domain = driver,
		.name = BT_STR("memory"),
		.value = bt_quantity_of_int64(42949672960, BT_BINARY_SI)}};
	const struct bt_cel_device gpu = {.driver = driver,
		.attributes = attributes,
		.attribute_n = sizeof(attributes) / sizeof(*attributes),
		.capacity = capacity,
		.capacity_n = 1};
	const struct bt_cel_device bare = {.driver = BT_STR("d"), .allow_multiple_allocations = true};
	struct bt_buf error = {0};

	/* The language depends on the size alone, so that a corpus keeps its meaning. */
	unsigned language = BT_CEL_CONSUMABLE_CAPACITY | (size % 2 ? BT_CEL_LISTS | BT_CEL_INCLUDES : 0);
	struct bt_cel *cel = bt_cel_compile((struct bt_str){(const char *)data, size}, language, &error);
	BT_REQUIRE((cel == NULL) == (error.len > 0));
	bt_buf_fini(&error);
	if (cel) {
		check_device(cel, &gpu);
		check_device(cel, &bare);
	}
	bt_cel_destroy(cel);
	return 0;
}
