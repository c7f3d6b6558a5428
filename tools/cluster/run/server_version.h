/* SPDX-License-Identifier: Apache-2.0
 * Which version the API server says it is.
 */
#pragma once

#include "engine/base/str.h"
#include "engine/model/release.h"

/*
 * Warns when the server's minor version is another one than that of the decisions, release. json: what it
 * answers at /version.
 * Returns: whether it is; what is no version is none.
 */
bool bt_server_version_look(const struct bt_release *release, struct bt_str json);
