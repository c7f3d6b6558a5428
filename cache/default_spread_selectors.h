/* SPDX-License-Identifier: Apache-2.0
 * Services and the controllers that own pods: what the default spread constraints select.
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
	struct bt_label *pairs;	   /* what its pods must have */
	uint32_t pair_n;	   /* 0: without a selector, or vacant; it adds nothing */
	struct bt_name_refs names; /* that it has */
};

struct bt_controller {
	struct bt_requirement *items; /* one block with the values behind it; NULL: nothing to add */
	uint32_t n;
	struct bt_name_refs names; /* that it has */
};

/* All zeroes is an empty one. Owns: bt_default_spread_selectors_fini. */
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

/* Adds or replaces a controller. A selector that cannot be parsed adds nothing to what its pods are spread
 * by, as upstream has it. */
void bt_default_spread_selectors_apply_controller(struct bt_default_spread_selectors *sources,
	struct bt_intern *intern, enum bt_owner_kind kind, const struct bt_workload_object *object);

/* Takes one away. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_default_spread_selectors_remove_service(
	struct bt_default_spread_selectors *sources, uint32_t namespace_, uint32_t name);
enum bt_status bt_default_spread_selectors_remove_controller(struct bt_default_spread_selectors *sources,
	enum bt_owner_kind kind, uint32_t namespace_, uint32_t name);

/* See struct bt_counting. */
struct bt_selector bt_default_spread_selectors_selector(
	struct bt_default_spread_selectors *sources, const struct bt_signature *signature);
