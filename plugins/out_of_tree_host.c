/* SPDX-License-Identifier: Apache-2.0
 * Host functions of the public ABI: read access to pods and nodes.
 */
#include "engine/berth.h"
#include "plugins/out_of_tree.h"
#include "plugins/out_of_tree_int.h"
#include "plugins/plugin.h"

#define ALL_FIELDS UINT32_MAX

static const char *text_of(const struct bt_dictionary *dictionary, uint32_t name)
{
	return bt_intern_str(dictionary->intern, name).ptr;
}

static void host_write_reason(struct berth_plugin_why *why, const char *text)
{
	if (why->wanted) {
		bt_buf_text(&why->text, text);
	}
}

static void *allocate(void *memory, size_t bytes)
{
	return bt_arena_zalloc(memory, bytes);
}

/* ---- labels ---- */

static const char *label(const struct bt_dictionary *dictionary, struct bt_labels labels, const char *key)
{
	uint32_t name = bt_intern_find(dictionary->intern, bt_str(key));
	uint32_t value = name == BT_NAME_NONE ? BT_NAME_NONE : bt_labels_get(labels, name);

	return value == BT_NAME_NONE ? NULL : text_of(dictionary, value);
}

static void label_at(const struct bt_dictionary *dictionary, struct bt_labels labels, size_t ix,
	const char **out_key, const char **out_value)
{
	bool there = ix < labels.n;

	*out_key = text_of(dictionary, there ? labels.items[ix].key : BT_NAME_EMPTY);
	*out_value = text_of(dictionary, there ? labels.items[ix].value : BT_NAME_EMPTY);
}

/* ---- pods ---- */

static bool shows(const struct berth_plugin_pod *pod, uint32_t field)
{
	return (pod->fields & field) == field;
}

static const char *pod_text(const struct berth_plugin_pod *pod, uint32_t field, uint32_t name)
{
	return text_of(pod->dictionary, shows(pod, field) && name ? name : BT_NAME_EMPTY);
}

static const char *pod_name(const struct berth_plugin_pod *pod)
{
	return pod_text(pod, ALL_FIELDS, pod->facts.name);
}

static const char *pod_uid(const struct berth_plugin_pod *pod)
{
	return pod_text(pod, ALL_FIELDS, pod->facts.uid);
}

static const char *pod_namespace(const struct berth_plugin_pod *pod)
{
	return pod_text(pod, BERTH_PLUGIN_POD_NAMESPACE, pod->facts.signature->namespace_);
}

static const char *pod_scheduler_name(const struct berth_plugin_pod *pod)
{
	return pod_text(pod, BERTH_PLUGIN_POD_SCHEDULER_NAME, pod->facts.signature->scheduler_name);
}

static int32_t pod_priority(const struct berth_plugin_pod *pod)
{
	return shows(pod, ALL_FIELDS) ? pod->facts.priority : 0;
}

static struct bt_labels pod_labels(const struct berth_plugin_pod *pod)
{
	return shows(pod, BERTH_PLUGIN_POD_LABELS) ? pod->facts.signature->labels
						   : (struct bt_labels){NULL, 0};
}

static const char *pod_label(const struct berth_plugin_pod *pod, const char *key)
{
	return label(pod->dictionary, pod_labels(pod), key);
}

static size_t pod_label_n(const struct berth_plugin_pod *pod)
{
	return pod_labels(pod).n;
}

static void pod_label_at(
	const struct berth_plugin_pod *pod, size_t ix, const char **out_key, const char **out_value)
{
	label_at(pod->dictionary, pod_labels(pod), ix, out_key, out_value);
}

static struct bt_amounts pod_requests(const struct berth_plugin_pod *pod)
{
	return shows(pod, BERTH_PLUGIN_POD_REQUESTS) ? pod->facts.signature->requests.fit
						     : (struct bt_amounts){NULL, 0};
}

static int64_t pod_request(const struct berth_plugin_pod *pod, const char *resource)
{
	int slot = bt_resource_find(pod->dictionary, bt_str(resource));

	return slot < 0 ? 0 : bt_amounts_get(pod_requests(pod), (uint32_t)slot);
}

static size_t pod_request_n(const struct berth_plugin_pod *pod)
{
	return pod_requests(pod).n;
}

static void pod_request_at(
	const struct berth_plugin_pod *pod, size_t ix, const char **out_resource, int64_t *out_amount)
{
	const struct bt_amounts requests = pod_requests(pod);

	*out_resource = "";
	*out_amount = 0;
	if (ix < requests.n) {
		*out_resource = bt_resource_name(pod->dictionary, requests.items[ix].slot).ptr;
		*out_amount = requests.items[ix].amount;
	}
}

/* ---- nodes ---- */

static const struct bt_node *described(const struct berth_plugin_node *node)
{
	return &node->view->snapshot->nodes[node->ix];
}

static const char *node_name(const struct berth_plugin_node *node)
{
	return text_of(node->dictionary, node->view ? described(node)->name : node->facts->name);
}

static struct bt_labels node_labels(const struct berth_plugin_node *node)
{
	return node->view ? described(node)->labels : node->facts->labels;
}

static const char *node_label(const struct berth_plugin_node *node, const char *key)
{
	return label(node->dictionary, node_labels(node), key);
}

static size_t node_label_n(const struct berth_plugin_node *node)
{
	return node_labels(node).n;
}

static void node_label_at(
	const struct berth_plugin_node *node, size_t ix, const char **out_key, const char **out_value)
{
	label_at(node->dictionary, node_labels(node), ix, out_key, out_value);
}

static bool node_unschedulable(const struct berth_plugin_node *node)
{
	return node->view ? described(node)->unschedulable : node->facts->unschedulable;
}

static struct bt_taint_set node_taints(const struct berth_plugin_node *node)
{
	return node->view ? node->view->snapshot->taint_sets[described(node)->taint_set]
			  : (struct bt_taint_set){node->facts->taints, node->facts->taint_n};
}

static size_t node_taint_n(const struct berth_plugin_node *node)
{
	return node_taints(node).n;
}

static void node_taint_at(const struct berth_plugin_node *node, size_t ix, const char **out_key,
	const char **out_value, const char **out_effect)
{
	static const struct bt_taint none = {BT_NAME_EMPTY, BT_NAME_EMPTY, BT_NAME_EMPTY};
	const struct bt_taint_set taints = node_taints(node);
	const struct bt_taint *taint = ix < taints.n ? &taints.items[ix] : &none;

	*out_key = text_of(node->dictionary, taint->key);
	*out_value = text_of(node->dictionary, taint->value ? taint->value : BT_NAME_EMPTY);
	*out_effect = text_of(node->dictionary, taint->effect ? taint->effect : BT_NAME_EMPTY);
}

static int64_t node_allocatable(const struct berth_plugin_node *node, const char *resource)
{
	int slot = bt_resource_find(node->dictionary, bt_str(resource));

	if (bt_str_is(bt_str(resource), "pods")) {
		return node->view ? node->view->snapshot->rooms[node->ix].pods : node->facts->alloc_pods;
	}
	if (slot < 0) {
		return 0;
	}
	return node->view ? bt_node_alloc(node->view->snapshot, (uint32_t)slot, node->ix)
			  : bt_amounts_search(node->facts->alloc, (uint32_t)slot);
}

static int64_t node_requested(const struct berth_plugin_node *node, const char *resource)
{
	int slot = bt_resource_find(node->dictionary, bt_str(resource));

	if (!node->view || !node->usage) {
		return 0;
	}
	if (bt_str_is(bt_str(resource), "pods")) {
		return bt_cell(bt_pod_cells(node->view->usage), node->ix);
	}
	return slot < 0 ? 0 : bt_node_used(node->view->usage, (uint32_t)slot, node->ix);
}

struct visitor {
	const struct bt_dictionary *dictionary;
	void (*visit)(void *context, const struct berth_plugin_pod *pod);
	void *context;
};

static void visit(void *opaque, const struct bt_pod_facts *facts)
{
	const struct visitor *visitor = opaque;
	const struct berth_plugin_pod pod = {visitor->dictionary, *facts, ALL_FIELDS};

	visitor->visit(visitor->context, &pod);
}

static void node_pods(const struct berth_plugin_node *node,
	void (*shown)(void *context, const struct berth_plugin_pod *pod), void *context)
{
	struct visitor visitor = {node->dictionary, shown, context};

	if (node->view && node->usage && node->view->usage->pods) {
		node->view->usage->pods->each(node->view->usage->pods->context, node->ix, visit, &visitor);
	}
}

const struct berth_plugin_host *bt_out_of_tree_host(void)
{
	static const struct berth_plugin_host host = {
		.size = sizeof(host),
		.abi = BERTH_PLUGIN_ABI,
		.version = BERTH_VERSION,
		.add_reason = host_write_reason,
		.allocate = allocate,
		.pod_name = pod_name,
		.pod_uid = pod_uid,
		.pod_namespace = pod_namespace,
		.pod_scheduler_name = pod_scheduler_name,
		.pod_priority = pod_priority,
		.pod_label = pod_label,
		.pod_label_n = pod_label_n,
		.pod_label_at = pod_label_at,
		.pod_request = pod_request,
		.pod_request_n = pod_request_n,
		.pod_request_at = pod_request_at,
		.node_name = node_name,
		.node_label = node_label,
		.node_label_n = node_label_n,
		.node_label_at = node_label_at,
		.node_unschedulable = node_unschedulable,
		.node_taint_n = node_taint_n,
		.node_taint_at = node_taint_at,
		.node_allocatable = node_allocatable,
		.node_requested = node_requested,
		.node_pods = node_pods,
	};

	return &host;
}
