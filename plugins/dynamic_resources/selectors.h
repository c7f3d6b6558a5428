/* SPDX-License-Identifier: Apache-2.0
 * Device selectors for the cache: compiles expressions on first use and evaluates them over devices.
 */
#pragma once

#include "cache/device_view.h"

/* The functions of struct bt_device_judge, cache/device_view.h. */
void *bt_selectors_create(const struct bt_device_features *features);
void bt_selectors_destroy(void *selectors);
enum bt_device_answer bt_selectors_match(void *selectors, struct bt_intern *intern, uint32_t expression,
	uint32_t driver, const struct bt_device *device, struct bt_buf *out_error);
enum bt_device_answer bt_selectors_derive(void *selectors, struct bt_name_refs *held, struct bt_arena *arena,
	uint32_t expression, uint32_t driver, const struct bt_device *device, struct bt_attribute *out_value,
	struct bt_buf *out_error);
