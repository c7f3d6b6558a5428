/* SPDX-License-Identifier: Apache-2.0
 * Shared between the parts of the search.
 */
#pragma once

#include "tools/offline/explain/fixes.h"

/* Lists the edits of the pod, each as lax as can be. */
void bt_explain_list_candidates(struct bt_explain_search *search);

/* Lists the hard taints that the nodes have, each once; of one node, if node_ix is one. Those of a cordon are
 * left out. Returns: their number. out: in the search's arena. */
size_t bt_explain_list_taints(
	struct bt_explain_search *search, uint32_t node_ix, struct bt_explain_edit **out);

/* Tries edits, unless the user has interrupted. */
bool bt_explain_search_try(
	struct bt_explain_search *search, const struct bt_explain_edit *edits, size_t n, uint32_t node_ix);

/* Makes each edit with an amount as small as it may be: the largest request, the smallest maxSkew with which
 * the pod is still placed. Requires: it is placed with the edits. */
void bt_explain_tune(
	struct bt_explain_search *search, struct bt_explain_edit *edits, size_t n, uint32_t node_ix);

/* May the edit be advised? A volume that is dropped, or a taint that tells of a node's trouble, says why the
 * pod does not fit, and is nothing to do. */
bool bt_explain_is_advisable(const struct bt_explain_edit *edit);

/* Adds a fix, unless one of its edits is not advisable. Requires: the last trial has placed the pod with
 * these edits. */
void bt_explain_add_fix(struct bt_explain_search *search, const struct bt_explain_edit *edits, size_t n);

/* Finds what the pod lacks on the nearest nodes, and adds the fixes of several edits. */
void bt_explain_find_misses(struct bt_explain_search *search, const struct bt_refusal_rows *refusals);

/* A node's name. */
struct bt_str bt_explain_node_name(const struct bt_explain_search *search, uint32_t node_ix);
