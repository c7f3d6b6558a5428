/* SPDX-License-Identifier: Apache-2.0
 * Texts that are not ours, in addresses.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/str.h"

/* Adds text as a segment of a path, or as a value of a query: what might mean something there is escaped, as
 * is every byte beyond ASCII. Source: RFC 3986, sections 2.1 and 3.3. Context: any thread; allocates. */
void bt_escape(struct bt_buf *out, struct bt_str text);
