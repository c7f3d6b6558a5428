/* SPDX-License-Identifier: Apache-2.0
 * Services and the controllers that own pods: the selectors of the default spread constraints.
 * Context: the ingesting thread is the only writer. Source: plugins/helper spread.go, v1.36.3.
 */
#pragma once

#include "engine/base/index_allocator.h"
#include "cache/topology_view.h"
#include "engine/base/map.h"
#include "engine/base/status.h"
#include "engine/model/name_refs.h"

struct bt_service {
	uint32_t namespace_, name;
	uint32_t next;		   /* the next service of the namespace: its index plus one, or 0 */
	struct bt_label *pairs;	   /* labels that its pods must have */
	uint32_t pair_n;	   /* 0: no selector, or vacant */
	struct bt_name_refs names; /* that it has */
};

struct bt_controller {
	struct bt_requirement *items; /* one block, followed by the values; NULL: none */
	uint32_t n;
	struct bt_name_refs names; /* that it has */
};

/* A zero-initialized one is empty. Owns: bt_default_spread_selectors_fini. */
struct bt_default_spread_selectors {
	struct bt_service *services;
	size_t service_n, service_cap;
	struct bt_map service_ixs; /* namespace and name -> index */
	struct bt_map first_of;	   /* namespace -> index plus one of its first service */
	struct bt_index_allocator vacant_services;
	struct bt_controller *controllers;
	size_t controller_n, controller_cap;
	struct bt_index_allocator vacant_controllers;
	struct bt_map controller_ixs[BT_OWNER_STATEFUL_SET + 1]; /* by kind: namespace and name -> index */
	struct bt_arena scratch;
};

void bt_default_spread_selectors_fini(struct bt_default_spread_selectors *sources);

/* Adds or replaces a service. */
void bt_default_spread_selectors_apply_service(struct bt_default_spread_selectors *sources,
	struct bt_intern *intern, const struct bt_service_object *object);

/* Adds or replaces a controller. As upstream, an invalid selector adds no requirement. */
void bt_default_spread_selectors_apply_controller(struct bt_default_spread_selectors *sources,
	struct bt_intern *intern, enum bt_owner_kind kind, const struct bt_workload_object *object);

/* Removes one. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_default_spread_selectors_remove_service(
	struct bt_default_spread_selectors *sources, uint32_t namespace_, uint32_t name);
enum bt_status bt_default_spread_selectors_remove_controller(struct bt_default_spread_selectors *sources,
	enum bt_owner_kind kind, uint32_t namespace_, uint32_t name);

/* See struct bt_counting. */
struct bt_selector bt_default_spread_selectors_selector(
	struct bt_default_spread_selectors *sources, const struct bt_signature *signature);
