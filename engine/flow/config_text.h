/* SPDX-License-Identifier: Apache-2.0
 * How upstream writes values inside its error texts.
 */
#pragma once

#include <stdint.h>

#include "engine/base/buf.h"

/* Appends a duration as Go prints it, such as "1m30s". */
void bt_config_duration_text(struct bt_buf *buf, int64_t ns);
