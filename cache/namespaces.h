/* SPDX-License-Identifier: Apache-2.0
 * Namespaces and their labels, for namespace selectors.
 * Context: the ingesting thread is the only writer.
 */
#pragma once

#include "engine/base/index_allocator.h"
#include "cache/topology_view.h"
#include "engine/base/map.h"
#include "engine/base/status.h"
#include "engine/model/name_refs.h"

/* A zero-initialized one is empty. Owns: bt_namespaces_fini. */
struct bt_namespaces {
	struct bt_namespace *items; /* entries that are not live are vacant */
	struct bt_name_refs *names; /* by index: names that the entry holds */
	size_t n, cap, names_cap;
	struct bt_map ixs; /* name -> index, of live ones */
	struct bt_index_allocator vacant;
};

void bt_namespaces_fini(struct bt_namespaces *namespaces);

/* Adds or replaces a namespace. Returns whether anything changed. */
bool bt_namespaces_apply(
	struct bt_namespaces *namespaces, struct bt_intern *intern, const struct bt_namespace_object *object);

/* Removes a namespace. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_namespaces_remove(struct bt_namespaces *namespaces, uint32_t name);

/* The labels of a namespace; none when unknown. */
struct bt_labels bt_namespaces_labels(const struct bt_namespaces *namespaces, uint32_t name);
