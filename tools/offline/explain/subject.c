/* SPDX-License-Identifier: Apache-2.0
 * The pod in question and the kinds of nodes.
 */
#include "tools/offline/explain/subject.h"

#include "engine/base/hash.h"
#include "tools/format/object_reader.h"

static bool is_it(const struct bt_explain_subject *s, const struct bt_pod_object *pod)
{
	return bt_str_eq(pod->meta.namespace_, s->namespace_) && bt_str_eq(pod->meta.name, s->name);
}

static void keep_pod(struct bt_explain_subject *s, const struct bt_pod_object *pod)
{
	struct bt_object copy = {
		.kind = BT_KIND_POD, .api_version = bt_str("v1"), .kind_name = bt_str("Pod"), .pod = *pod};

	bt_object_own(&copy, &s->arena);
	s->pod = copy.pod;
	s->found = true;
}

void bt_explain_subject_entered(void *context, uint32_t pod_ix, const struct bt_pod_object *pod)
{
	struct bt_explain_subject *s = context;

	(void)pod_ix;
	if (!s->found && is_it(s, pod)) {
		keep_pod(s, pod);
	}
}

void bt_explain_subject_ignored(void *context, const struct bt_pod_object *pod, const char *why)
{
	struct bt_explain_subject *s = context;

	if (!s->found && is_it(s, pod)) {
		keep_pod(s, pod);
		s->ignored = why;
	}
}

static uint64_t hash_pair(struct bt_str key, struct bt_str value, uint64_t salt)
{
	return bt_hash_u64(bt_hash_str(key) ^ bt_hash_u64(bt_hash_str(value) + salt));
}

/* Of what is the same for all nodes of a kind, in any order. A label with the node's name is its own. */
static uint64_t hash_node(const struct bt_node_object *node)
{
	uint64_t hash = node->unschedulable;

	for (uint32_t i = 0; i < node->meta.labels.n; i++) {
		const struct bt_str_pair *label = &node->meta.labels.items[i];

		if (!bt_str_eq(label->value, node->meta.name) &&
			!bt_str_is(label->key, "kubernetes.io/hostname")) {
			hash += hash_pair(label->key, label->value, 1);
		}
	}
	for (uint32_t i = 0; i < node->taint_n; i++) {
		hash += hash_pair(
			node->taints[i].key, node->taints[i].value, bt_hash_str(node->taints[i].effect));
	}
	for (uint32_t i = 0; i < node->allocatable.n; i++) {
		const struct bt_named_quantity *amount = &node->allocatable.items[i];

		hash += bt_hash_u64(
			bt_hash_str(amount->name) + (uint64_t)bt_quantity_milli(amount->quantity));
	}
	return hash;
}

void bt_explain_subject_node(void *context, const struct bt_node_object *node)
{
	struct bt_explain_subject *s = context;
	uint64_t hash = hash_node(node);

	for (uint32_t i = 0; i < s->kind_n; i++) {
		if (s->kinds[i].hash == hash) {
			s->kinds[i].node_n++;
			return;
		}
	}
	if (s->kind_n < BT_EXPLAIN_NODE_KINDS) {
		struct bt_object copy = {.kind = BT_KIND_NODE,
			.api_version = bt_str("v1"),
			.kind_name = bt_str("Node"),
			.node = *node};

		bt_object_own(&copy, &s->arena);
		s->kinds[s->kind_n++] = (struct bt_explain_node_kind){copy.node, 1, hash};
	}
}

void bt_explain_subject_fini(struct bt_explain_subject *s)
{
	bt_arena_fini(&s->arena);
}
