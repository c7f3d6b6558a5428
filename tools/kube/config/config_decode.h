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
 * Decodes a file's text into a configuration that was only initialised. Of several YAML documents the first
 * counts, as upstream. Nothing is defaulted or validated. Context : allocates; text may go away afterwards.
 * Returns : BT_OK; else upstream's text is appended to out_error and out_line is its line, or 0 when it has
 * none.
 */
enum bt_status bt_config_decode(
	struct bt_config *config, struct bt_str text, struct bt_buf *out_error, size_t *out_line);

/*
 * The whole way of a configuration: decodes, defaults, validates, and builds every profile for the sake of
 * its errors. Returns : BT_OK; else "file:line: text" or "file: text" is appended to out_error.
 */
enum bt_status bt_config_load(
	struct bt_config *config, const char *file, struct bt_str text, struct bt_buf *out_error);
