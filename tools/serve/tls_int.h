/* SPDX-License-Identifier: Apache-2.0
 * TLS as GnuTLS is told.
 */
#pragma once

#include "engine/base/status.h"
#include "tools/serve/settings.h"

#include "engine/base/buf.h"

/* The priority string of versions and cipher suites. Returns: BT_OK; BT_INVALID with the suite that is not
 * known, or not secure, and the remedy in out_error. */
enum bt_status bt_tls_priorities(
	const struct bt_serve_settings *settings, struct bt_buf *out, struct bt_buf *out_error);
