/* SPDX-License-Identifier: Apache-2.0
 * The fields of KubeSchedulerConfiguration v1 and of the plugins' arguments, as tables for the strict
 * decoder.
 */
#pragma once

#include "engine/flow/config/plugin_names.h"
#include "tools/kube/config/strict.h"

/* Decodes into struct bt_config; the arguments of plugins stay text, in raw. */
extern const struct bt_strict_struct bt_config_schema;

/* The table of one kind of arguments, which decodes into its struct in engine/flow/config/config.h. */
const struct bt_strict_struct *bt_config_args_schema(enum bt_args_kind kind);
