/* SPDX-License-Identifier: Apache-2.0
 * The fields of KubeSchedulerConfiguration v1 as tables for the strict decoder. Those of plugins' arguments
 * are the plugins' own (plugins/args.h).
 */
#pragma once

#include "tools/format/strict.h"

struct bt_release;

/* Decodes into struct bt_config; the arguments of plugins stay text, in raw. */
const struct bt_schema *bt_config_schema(const struct bt_release *release);
