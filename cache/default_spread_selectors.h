/* SPDX-License-Identifier: Apache-2.0
 * Services and the controllers that own pods: what the default spread constraints select.
 * Context: the ingesting thread is the only writer. Source: plugins/helper spread.go, v1.36.3.
 */
#pragma once

#include "engine/base/index_allocator.h"
#include "cache/view.h"
#include "engine/base/map.h"
#include "engine/base/status.h"
#include "engine/model/name_refs.h"

struct bt_service {
	uint32_t namespace_, name;
	uint32_t next;		/* the next service of the namespace: its index plus one, or 0 */
	struct bt_label *pairs; /* what its pods must have */
	uint32_t pair_n;
	bool live;	      /* false: without a selector, or vacant */
	struct bt_held names; /* that it has */
};

struct bt_controller {
	struct bt_requirement *items; /* one block with the values behind it; NULL: nothing to add */
	uint32_t n;
	struct bt_held names; /* that it has */
};

/* All zeroes is an empty one. Owns: bt_spread_sources_fini. */
struct bt_spread_sources {
	struct bt_service *services;
	size_t service_n, service_cap;
	struct bt_map service_ixs; /* namespace and name -> index */
	struct bt_map first_of;	   /* namespace -> index plus one of its first service */
	struct bt_vacancies vacant_services;
	struct bt_controller *controllers;
	size_t controller_n, controller_cap;
	struct bt_vacancies vacant_controllers;
	struct bt_map controller_ixs[BT_OWNER_STATEFUL_SET + 1]; /* by kind: namespace and name -> index */
	struct bt_arena scratch;
};

void bt_spread_sources_fini(struct bt_spread_sources *sources);

/* Adds or replaces a service. */
void bt_spread_sources_apply_service(
	struct bt_spread_sources *sources, struct bt_intern *intern, const struct bt_service_object *object);

/* Adds or replaces a controller. A selector that cannot be parsed adds nothing to what its pods are spread
 * by, as upstream has it. */
void bt_spread_sources_apply_controller(struct bt_spread_sources *sources, struct bt_intern *intern,
	enum bt_owner_kind kind, const struct bt_workload_object *object);

/* Takes one away. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_spread_sources_remove_service(
	struct bt_spread_sources *sources, uint32_t namespace_, uint32_t name);
enum bt_status bt_spread_sources_remove_controller(
	struct bt_spread_sources *sources, enum bt_owner_kind kind, uint32_t namespace_, uint32_t name);

/* See struct bt_counting. */
struct bt_selector bt_spread_sources_selector(
	struct bt_spread_sources *sources, const struct bt_signature *signature);
