/* SPDX-License-Identifier: Apache-2.0
 * The pod in question and the kinds of nodes, noted while the cluster is loaded.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/map.h"
#include "engine/model/object.h"

#define BT_EXPLAIN_NODE_KINDS 128

/* Nodes that differ in nothing but their names. */
struct bt_explain_node_kind {
	struct bt_node_object node; /* the first of them */
	uint64_t node_n;
	uint64_t hash;
};

/* Zero-initialized except for the names. Owns: bt_explain_subject_fini. */
struct bt_explain_subject {
	struct bt_str namespace_, name;
	bool found;
	struct bt_pod_object pod; /* if found: as admission left it */
	const char *ignored;	  /* why the scheduler has nothing to do with it; NULL: it has */
	struct bt_explain_node_kind kinds[BT_EXPLAIN_NODE_KINDS];
	uint32_t kind_n;
	struct bt_arena arena;
};

/* Callbacks of bt_loaded_cluster, with the subject as context. */
void bt_explain_subject_entered(void *subject, uint32_t pod_ix, const struct bt_pod_object *pod);
void bt_explain_subject_ignored(void *subject, const struct bt_pod_object *pod, const char *why);
void bt_explain_subject_node(void *subject, const struct bt_node_object *node);

void bt_explain_subject_fini(struct bt_explain_subject *subject);
