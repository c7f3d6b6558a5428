/* SPDX-License-Identifier: Apache-2.0
 * Stage 1: dispatches objects by kind.
 */
#include "engine/flow/cycle/source.h"

enum bt_status bt_engine_apply(
	struct bt_engine *engine, const struct bt_object *object, enum bt_entry *out_entry, uint32_t *out_ix)
{
	switch (object->kind) {
	case BT_KIND_NODE:
		return bt_engine_apply_node(engine, &object->node, out_ix);
	case BT_KIND_POD:
		return bt_engine_add_pod(engine, &object->pod, out_entry, out_ix);
	default:
		return bt_engine_apply_object(engine, object);
	}
}
