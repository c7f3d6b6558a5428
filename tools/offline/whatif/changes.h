/* SPDX-License-Identifier: Apache-2.0
 * The changes of a command line as steps. Selectors see the nodes as earlier changes leave them: nodes are
 * changed in a transaction while the options are read, and that is rolled back.
 */
#pragma once

#include "tools/offline/whatif/question.h"

struct bt_made_pods; /* private */

/* Zero-initialized but for cluster and inventory, it is empty. Owns: bt_changes_fini. */
struct bt_changes {
	struct bt_loaded_cluster *cluster;
	struct bt_inventory *inventory; /* it keeps objects if bt_changes_need_objects */
	const struct bt_step **steps;
	size_t step_n, step_cap;
	uint32_t change_n;
	bool helps_pending; /* a change other than taking nodes away */
	struct bt_buf text; /* the changes as given, for people */
	struct bt_arena arena;
	/* private: */
	struct bt_object *shown; /* objects of kinds without steps: they join the cluster, or leave it */
	bool *removed;		 /* of each: it leaves */
	size_t shown_n, shown_cap, removed_cap;
	const char *trouble; /* while a file is read */
	struct bt_made_pods *made;
};

/* Does the command line have changes that refer to nodes and workloads of the input? */
bool bt_changes_need_objects(const struct bt_invocation *invocation);

/* Reads the options of the command line in their order. Reports errors on standard error. Returns: enum
 * bt_exit. */
int bt_changes_read(struct bt_changes *changes);

/* A step that takes a node away. Owns: the changes' arena. */
const struct bt_step *bt_changes_node_step(
	struct bt_changes *changes, enum bt_step_kind kind, struct bt_str node, uint32_t change_ix);

void bt_changes_fini(struct bt_changes *changes);
