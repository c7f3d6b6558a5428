/* SPDX-License-Identifier: Apache-2.0
 * What purchase_bound.c does for purchase.c.
 */
#pragma once

#include "tools/offline/recommend/purchase.h"

/* Finds which types each class fits on, what a pod of it is worth, and the order of classes. */
void bt_purchase_value_classes(struct bt_purchase *purchase);

/* The lower bound of the price for the pods that the last replay has placed on new nodes. */
double bt_purchase_bound(const struct bt_purchase *purchase);
