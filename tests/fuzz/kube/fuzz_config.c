/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a scheduler configuration: the reader returns a configuration whose profiles all resolve, or
 * an error. The first byte selects the feature gates.
 */
#include <stddef.h>
#include <stdint.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/kube/config/config_decode.h"
#include "tools/kube/config/config_encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void resolve_all(const struct bt_config *config)
{
	struct bt_resolved_profile *resolved = bt_mem_zalloc(1, sizeof *resolved);
	struct bt_config_errors errors = {.n = 0};

	for (uint32_t i = 0; i < config->profile_n; i++) {
		BT_REQUIRE(bt_config_resolve(config, i, &errors, resolved) == BT_OK);
		BT_REQUIRE(resolved->points[BT_POINT_QUEUE_SORT].n == 1 &&
			   resolved->points[BT_POINT_BIND].n > 0);
	}
	bt_config_errors_fini(&errors);
	bt_mem_free(resolved);
}

/* An accepted configuration, written and read back, is accepted and written identically. */
static void read_back(const struct bt_config *config, const struct bt_gates *gates)
{
	struct bt_buf first = {.len = 0}, second = {.len = 0}, error = {.len = 0};
	struct bt_config again;

	bt_config_encode(config, &first);
	bt_config_init(&again, gates);
	BT_REQUIRE(bt_config_load(&again, "written", bt_buf_view(&first), &error) == BT_OK);
	bt_config_encode(&again, &second);
	BT_REQUIRE(bt_str_eq(bt_buf_view(&first), bt_buf_view(&second)));
	bt_config_fini(&again);
	bt_buf_fini(&first);
	bt_buf_fini(&second);
	bt_buf_fini(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str text = {(const char *)data, size};
	struct bt_buf error = {.len = 0};
	struct bt_config config;
	struct bt_gates gates;

	bt_gates_init(&gates, bt_release_default());
	if (size && data[0] == '~') {
		gates.on[BT_GATE_STORAGE_CAPACITY_SCORING] = true;
		gates.on[BT_GATE_DRA_SCHEDULER_FILTER_TIMEOUT] = false;
		gates.on[BT_GATE_GANG_SCHEDULING] = true;
		text = bt_str_sub(text, 1, size);
	}
	bt_config_init(&config, &gates);
	if (bt_config_load(&config, "input", text, &error) == BT_OK) {
		resolve_all(&config);
		read_back(&config, &gates);
	} else {
		BT_REQUIRE(error.len > 0);
	}
	bt_config_fini(&config);
	bt_buf_fini(&error);
	return 0;
}
