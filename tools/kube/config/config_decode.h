/* SPDX-License-Identifier: Apache-2.0
 * Reading KubeSchedulerConfiguration from YAML or JSON, as strictly as upstream and with its error texts.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"
#include "engine/flow/config/config.h"

/* Larger configuration files are rejected. */
#define BT_CONFIG_FILE_BYTES (1u << 20)

/*
 * Loads a configuration: decodes a file's text into an initialized one, sets defaults, validates, and builds
 * every profile for its errors. As upstream, only the first YAML document is used.
 * Context : allocates; text may be freed afterwards.
 * Returns : BT_OK; else "file:line: text" or "file: text" is appended to out_error.
 */
enum bt_status bt_config_load(
	struct bt_config *config, const char *file, struct bt_str text, struct bt_buf *out_error);
