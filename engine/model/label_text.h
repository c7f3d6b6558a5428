/* SPDX-License-Identifier: Apache-2.0
 * Upstream's messages about invalid label keys and values. Source: apimachinery api/validate/content,
 * v1.36.3.
 */
#pragma once

#include <stdint.h>

#include "engine/base/str.h"

/* The faults of a label key or label value: up to 4 string literals. Returns their number. */
uint32_t bt_label_key_faults(struct bt_str name, struct bt_str out_texts[4]);
uint32_t bt_label_value_faults(struct bt_str value, struct bt_str out_texts[4]);
