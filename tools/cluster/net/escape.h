/* SPDX-License-Identifier: Apache-2.0
 * Foreign texts in URLs.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/str.h"

/* Adds text as a segment of a path, or as a value of a query: reserved characters are escaped, as is every
 * byte beyond ASCII. Source: RFC 3986, sections 2.1 and 3.3. Context: any thread; allocates. */
void bt_escape(struct bt_buf *out, struct bt_str text);
