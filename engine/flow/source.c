/* SPDX-License-Identifier: Apache-2.0
 * Stage 1: objects by kind.
 */
#include "engine/flow/source.h"

enum bt_status bt_engine_apply(
	struct bt_engine *engine, const struct bt_object *object, enum bt_entry *out_entry, uint32_t *out_ix)
{
	switch (object->kind) {
	case BT_KIND_NODE:
		return bt_engine_apply_node(engine, &object->node, out_ix);
	case BT_KIND_POD:
		return bt_engine_add_pod(engine, &object->pod, out_entry, out_ix);
	case BT_KIND_NAMESPACE:
		bt_engine_apply_namespace(engine, &object->namespace_);
		break;
	case BT_KIND_SERVICE:
		bt_engine_apply_service(engine, &object->service);
		break;
	case BT_KIND_REPLICA_SET:
	case BT_KIND_REPLICATION_CONTROLLER:
	case BT_KIND_STATEFUL_SET:
		bt_engine_apply_controller(engine, object->kind, &object->workload);
		break;
	case BT_KIND_POD_DISRUPTION_BUDGET:
		bt_engine_apply_budget(engine, &object->pdb);
		break;
	case BT_KIND_POD_GROUP:
		bt_engine_apply_pod_group(engine, &object->pod_group);
		break;
	default:
		/* The cache takes the kinds of storage and devices, and leaves others alone. */
		bt_engine_apply_storage(engine, object);
		bt_engine_apply_devices(engine, object);
		break;
	}
	return BT_OK;
}
