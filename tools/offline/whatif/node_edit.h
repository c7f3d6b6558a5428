/* SPDX-License-Identifier: Apache-2.0
 * Selecting nodes, and editing their objects, as --set writes it: labels and taints as kubectl label and
 * kubectl taint do. Context: one thread; pure, but for the arena.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/object.h"

/* Does the selector select a node of that name with these labels? A selector is a node's name, or label
 * requirements joined by commas: KEY=VALUE, KEY==VALUE, KEY!=VALUE, and !KEY. */
bool bt_node_selected(struct bt_str selector, struct bt_str name, const struct bt_str_map *labels);

/*
 * Edits a node: label/KEY=VALUE, label/KEY-, taint/KEY[=VALUE]:EFFECT, taint/KEY[:EFFECT]-,
 * allocatable/RESOURCE=QUANTITY, allocatable/RESOURCE-, unschedulable=true|false.
 * Returns: false when the edit is none of these; what is wrong, and the remedy, is appended to out_why.
 * Owns   : new lists belong to arena, their texts to edit, which must outlive node.
 */
bool bt_node_edit(
	struct bt_node_object *node, struct bt_str edit, struct bt_arena *arena, struct bt_buf *out_why);

/* Makes a new, healthy node of another one: its name, its host name, no taints of the node lifecycle, not
 * cordoned. */
void bt_node_renew(struct bt_node_object *node, struct bt_str name, struct bt_arena *arena);
