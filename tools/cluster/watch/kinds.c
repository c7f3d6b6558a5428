/* SPDX-License-Identifier: Apache-2.0
 * The kinds that are watched.
 */
#include "tools/cluster/watch/kinds.h"

#include <assert.h>

static_assert(BT_KIND_N <= BT_WATCH_KINDS_MAX + 1, "every kind has a place");

uint32_t bt_watch_kinds(const struct bt_gates *gates, const struct bt_kind_info *out[BT_WATCH_KINDS_MAX])
{
	uint32_t n = 0;

	for (unsigned kind = BT_KIND_OTHER + 1; kind < BT_KIND_N; kind++) {
		const struct bt_kind_info *info = bt_kind_info((enum bt_kind)kind);

		if (info->watched && bt_kind_is_on(info, gates->release, gates->on)) {
			out[n++] = info;
		}
	}
	return n;
}
