/* SPDX-License-Identifier: Apache-2.0
 * Reading KubeSchedulerConfiguration from YAML or JSON, as strictly as upstream and with its error texts.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"
#include "engine/flow/config/config.h"

/* A configuration file beyond this is refused. */
#define BT_CONFIG_FILE_BYTES (1u << 20)

/*
 * The whole way of a configuration: decodes a file's text into one that was only initialised, defaults,
 * validates, and builds every profile for the sake of its errors. Of several YAML documents the first counts,
 * as upstream.
 * Context : allocates; text may go away afterwards.
 * Returns : BT_OK; else "file:line: text" or "file: text" is appended to out_error.
 */
enum bt_status bt_config_load(
	struct bt_config *config, const char *file, struct bt_str text, struct bt_buf *out_error);
