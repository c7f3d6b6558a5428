/* SPDX-License-Identifier: Apache-2.0
 * Nodes of clusters that grow and shrink.
 */
#pragma once

#include <inttypes.h>

#include "tools/offline/generate/build.h"

/* Node number, in one of three zones. */
static inline void stress_make_node(struct bt_arena *arena, uint32_t number, struct bt_node_object *out)
{
	out->meta.name = bt_build_text(arena, "node-%" PRIu32, number);
	bt_build_pair(arena, &out->meta.labels, bt_str("topology.kubernetes.io/zone"),
		bt_build_text(arena, "zone-%" PRIu32, number % 3));
	bt_build_pair(arena, &out->meta.labels, bt_str("kubernetes.io/hostname"), out->meta.name);
	bt_build_quantity(arena, &out->allocatable, "cpu", bt_build_milli(8000));
	bt_build_quantity(arena, &out->allocatable, "pods", bt_build_count(110));
}
