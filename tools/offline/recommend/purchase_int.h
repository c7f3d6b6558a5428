/* SPDX-License-Identifier: Apache-2.0
 * What purchase.c and purchase_bound.c share.
 */
#pragma once

#include "tools/offline/recommend/purchase.h"

/* Adds a new node of the type in the open transaction. Returns: its slot. */
uint32_t bt_purchase_add_node(struct bt_purchase *purchase, const struct bt_node_type *type);

/* Replays with these nodes. Returns: how many pods get a place. */
uint64_t bt_purchase_replay(struct bt_purchase *purchase, const uint32_t *counts);

/* Finds which types each class fits on, what a pod of it is worth, and the order of classes. */
void bt_purchase_value_classes(struct bt_purchase *purchase);

/* The lower bound of the price for the pods that the last replay has placed on new nodes. */
double bt_purchase_bound(const struct bt_purchase *purchase);
