/* SPDX-License-Identifier: Apache-2.0
 * Out-of-tree plugins from shared objects. Context: any thread, before the configuration that names them is
 * read.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/status.h"

/*
 * Loads a shared object and adds its plugin for the lifetime of the process. One that is already loaded is
 * ignored.
 * Returns: BT_OK; else why, with the path and the remedy, in out_error.
 */
enum bt_status bt_plugin_file_load(const char *path, struct bt_buf *out_error);
