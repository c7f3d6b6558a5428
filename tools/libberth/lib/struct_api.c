/* SPDX-License-Identifier: Apache-2.0
 * Nodes and pods as C structures: converted to the objects that a decoder produces.
 */
#include <string.h>

#include "engine/base/mem.h"
#include "tools/libberth/lib/lib_int.h"

#define NODE_LEAST sizeof(struct berth_node)
#define POD_LEAST  sizeof(struct berth_pod)

/* The error in a structure, or NULL. */
static const char *check_pairs(const struct berth_pair *pairs, uint32_t n)
{
	if (n && !pairs) {
		return "an array is NULL, but its number is not 0";
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!pairs[i].key || !pairs[i].key[0] || !pairs[i].value) {
			return "a label has no key, or a value that is NULL";
		}
		for (uint32_t k = 0; k < i; k++) {
			if (strcmp(pairs[i].key, pairs[k].key) == 0) {
				return "a label is there twice";
			}
		}
	}
	return NULL;
}

static const char *check_amounts(const struct berth_amount *amounts, uint32_t n)
{
	if (n && !amounts) {
		return "an array is NULL, but its number is not 0";
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!amounts[i].resource || !amounts[i].resource[0]) {
			return "a resource has no name";
		}
		if (amounts[i].amount < 0) {
			return "an amount is below zero";
		}
		for (uint32_t k = 0; k < i; k++) {
			if (strcmp(amounts[i].resource, amounts[k].resource) == 0) {
				return "a resource is there twice";
			}
		}
	}
	return NULL;
}

static const char *check_taints(const struct berth_taint *taints, uint32_t n)
{
	if (n && !taints) {
		return "an array is NULL, but its number is not 0";
	}
	for (uint32_t i = 0; i < n; i++) {
		const char *effect = taints[i].effect ? taints[i].effect : "";

		if (!taints[i].key || !taints[i].key[0]) {
			return "a taint has no key";
		}
		if (strcmp(effect, "NoSchedule") != 0 && strcmp(effect, "PreferNoSchedule") != 0 &&
			strcmp(effect, "NoExecute") != 0) {
			return "a taint's effect is none of NoSchedule, PreferNoSchedule and NoExecute";
		}
	}
	return NULL;
}

static struct bt_str_map map_of(struct bt_lib *lib, const struct berth_pair *pairs, uint32_t n)
{
	struct bt_str_map map = {.n = n, .set = n > 0};

	map.items = bt_arena_alloc(&lib->compact, n * sizeof(*map.items), 16);
	for (uint32_t i = 0; i < n; i++) {
		map.items[i] = (struct bt_str_pair){bt_str(pairs[i].key), bt_str(pairs[i].value)};
	}
	return map;
}

static struct bt_quantity quantity_of(const char *resource, int64_t amount)
{
	return strcmp(resource, "cpu") == 0 ? bt_quantity_of_milli(amount, BT_DECIMAL_SI)
					    : bt_quantity_of_int64(amount, BT_DECIMAL_SI);
}

static struct bt_resource_list list_of(struct bt_lib *lib, const struct berth_amount *amounts, uint32_t n)
{
	struct bt_resource_list list = {.n = n, .set = true};

	list.items = bt_arena_alloc(&lib->compact, n * sizeof(*list.items), 16);
	for (uint32_t i = 0; i < n; i++) {
		list.items[i] = (struct bt_named_quantity){
			bt_str(amounts[i].resource), quantity_of(amounts[i].resource, amounts[i].amount)};
	}
	return list;
}

static enum berth_status struct_api_enter(struct berth *berth, const char *wrong, struct bt_lib **out)
{
	enum berth_status status = bt_lib_begin_feeding(berth, out);

	if (status == BERTH_OK && wrong) {
		status = bt_lib_fail(berth, BERTH_INVALID, "%s", wrong);
		bt_lib_end_feeding(*out);
	}
	return status;
}

static enum berth_status take(struct bt_lib *lib, struct bt_object *object, uint64_t user)
{
	struct bt_taken taken;

	bt_defaults_scheme(object, &lib->compact);
	if (!bt_lib_has_room(lib, object)) {
		return bt_lib_fail(lib->handle, BERTH_LIMIT, "there are as many as the options allow");
	}
	if (!bt_lib_in_transaction(lib)) {
		bt_lib_set_user(lib, object, user);
	}
	switch (bt_lib_take(lib, object, &taken)) {
	case BT_OK:
		return BERTH_OK;
	case BT_CONFLICT:
		return bt_lib_fail(lib->handle, BERTH_STOPPED, "berth_stop was called meanwhile");
	case BT_EXISTS:
		return bt_lib_fail(lib->handle, BERTH_INVALID,
			"a transaction does not change pods, and there is one of that name");
	case BT_UNSUPPORTED:
		return bt_lib_fail(lib->handle, BERTH_INVALID,
			"no node is added while a transaction restricts its placements");
	case BT_NOT_FOUND:
		return bt_lib_fail(lib->handle, BERTH_NOT_FOUND,
			"the pod's node does not exist, or its scheduler is none of the profiles");
	case BT_NO_MEMORY:
		return bt_lib_fail(lib->handle, BERTH_LIMIT,
			"the process holds as much memory as the options allow (memory_bytes_max)");
	default:
		return bt_lib_fail(lib->handle, BERTH_LIMIT,
			"there are more different resource names than berth can distinguish; the object "
			"counts "
			"without some of them, and a pod is not placed");
	}
}

static const char *check_node(const struct berth_node *node)
{
	if (!node) {
		return "node is NULL";
	}
	if (node->size < NODE_LEAST) {
		return "the node's size is wrong: use BERTH_INIT on it first";
	}
	if (!node->name || !node->name[0]) {
		return "the node has no name";
	}
	const char *wrong = check_pairs(node->labels, node->label_n);

	wrong = wrong ? wrong : check_taints(node->taints, node->taint_n);
	return wrong ? wrong : check_amounts(node->allocatable, node->allocatable_n);
}

enum berth_status berth_apply_node(struct berth *berth, const struct berth_node *node)
{
	struct bt_lib *lib;
	enum berth_status status = struct_api_enter(berth, check_node(node), &lib);

	if (status != BERTH_OK) {
		return status;
	}
	bt_arena_reset(&lib->compact);
	struct bt_taint_object *taints = bt_arena_alloc(&lib->compact, node->taint_n * sizeof(*taints), 16);
	for (uint32_t i = 0; i < node->taint_n; i++) {
		const struct berth_taint *taint = &node->taints[i];

		taints[i] = (struct bt_taint_object){.key = bt_str(taint->key),
			.value = bt_str(taint->value),
			.effect = bt_str(taint->effect)};
	}
	struct bt_object object = {
		.kind = BT_KIND_NODE,
		.api_version = BT_STR("v1"),
		.kind_name = BT_STR("Node"),
		.node = {.meta = {.name = bt_str(node->name),
				 .labels = map_of(lib, node->labels, node->label_n)},
			.unschedulable = node->unschedulable,
			.taints = taints,
			.taint_n = node->taint_n,
			.allocatable = list_of(lib, node->allocatable, node->allocatable_n)},
	};
	status = take(lib, &object, node->user);
	bt_lib_end_feeding(lib);
	return status;
}

static const char *check_pod(const struct berth_pod *pod)
{
	if (!pod) {
		return "pod is NULL";
	}
	if (pod->size < POD_LEAST) {
		return "the pod's size is wrong: use BERTH_INIT on it first";
	}
	if (!pod->name || !pod->name[0]) {
		return "the pod has no name";
	}
	const char *wrong = check_pairs(pod->labels, pod->label_n);

	wrong = wrong ? wrong : check_pairs(pod->node_selector, pod->node_selector_n);
	return wrong ? wrong : check_amounts(pod->requests, pod->request_n);
}

enum berth_status berth_apply_pod(struct berth *berth, const struct berth_pod *pod)
{
	struct bt_lib *lib;
	enum berth_status status = struct_api_enter(berth, check_pod(pod), &lib);

	if (status != BERTH_OK) {
		return status;
	}
	bt_arena_reset(&lib->compact);
	struct bt_container_object container = {
		.name = BT_STR("main"),
		.resources = {.set = true, .requests = list_of(lib, pod->requests, pod->request_n)},
	};
	struct bt_object object = {
		.kind = BT_KIND_POD,
		.api_version = BT_STR("v1"),
		.kind_name = BT_STR("Pod"),
		.pod = {.meta = {.name = bt_str(pod->name),
				.namespace_ = bt_str(pod->pod_namespace),
				.uid = bt_str(pod->uid),
				.labels = map_of(lib, pod->labels, pod->label_n)},
			.spec = {.node_name = bt_str(pod->node_name),
				.scheduler_name = bt_str(pod->scheduler_name),
				.priority = pod->priority,
				.has_priority = true,
				.node_selector = map_of(lib, pod->node_selector, pod->node_selector_n),
				.containers = &container,
				.container_n = 1}},
	};
	bt_defaults_namespace(&object);
	status = take(lib, &object, pod->user);
	bt_lib_end_feeding(lib);
	return status;
}
