/* SPDX-License-Identifier: Apache-2.0
 * The socket that is listened at.
 */
#pragma once

#include "engine/base/buf.h"
#include "tools/serve/settings.h"

/* Returns: the socket, and its port in out_port; -1 with the reason and the remedy in out_error. */
int bt_listen(const struct bt_serve_settings *settings, bool any_port, uint16_t *out_port,
	struct bt_buf *out_error);
