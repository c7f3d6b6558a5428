/* SPDX-License-Identifier: Apache-2.0
 * The domains of a topology key: nodes with equal values are one. They follow nodes that change, come and go.
 * Context: the scheduling thread.
 */
#pragma once

#include "cache/node_view.h"
#include "engine/base/index_allocator.h"

struct bt_domains {
	uint32_t key;  /* BT_NAME_NONE: each slot is a domain, and only of and n are set */
	bool lacking;  /* nodes without the key have it with the empty value */
	uint32_t *of;  /* by slot; BT_NO_DOMAIN: none */
	uint32_t room; /* slots that there is room for */
	uint32_t n;    /* domains have numbers below this */
	uint32_t cap;  /* capacity by domain */
	uint32_t *value, *node_n;
	struct bt_map ixs; /* value -> domain with nodes */
	struct bt_index_allocator vacant;
	/* For small domains: their nodes as lists that end with BT_NO_NODE; NULL for large ones. */
	uint32_t *first;	   /* by domain */
	uint32_t *next, *previous; /* by slot */
	uint32_t was;		   /* the domain of the slot of bt_domains_follow before */
};

/* Sorts all live nodes into domains. values: of the key, by slot; NULL for BT_NAME_NONE.
 * Owns: bt_domains_fini. */
void bt_domains_init(struct bt_domains *domains, const struct bt_snapshot *snapshot, uint32_t key,
	bool lacking, const uint32_t *values);
void bt_domains_fini(struct bt_domains *domains);

/* Moves a node that has changed, come or gone to its domain. A domain without nodes gives its number back.
 * Requires: slot < room. */
void bt_domains_follow(struct bt_domains *domains, const struct bt_snapshot *snapshot, uint32_t slot);
