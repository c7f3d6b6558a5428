/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: classes of nodes. Nodes of a class agree in their group and in every column that the counters'
 * plugins look at, so one of them answers for all. Where there are too many classes for that to pay, each
 * node answers for itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More columns than this are not told apart: each node is on its own. */
#define BT_AXES 16

struct bt_classes {
	const uint32_t *axes[BT_AXES];
	uint32_t axis_n;
	uint16_t *group;       /* by node slot; 0: the description refuses the node */
	uint16_t *group_worth; /* by group: scratch */
	bool single;	       /* each node is on its own; what follows is empty */
	uint16_t *of;	       /* by node slot; 0: the description refuses the node */
	uint32_t n;	       /* classes, with class 0 */
	uint32_t *members;     /* slots, class after class */
	uint32_t *first;       /* by class: where its members begin; first[n] is their end */
	uint32_t *witness;     /* by class: a place in members, where a feasible node was last found */
	uint64_t *dead_since;  /* by class: no member was feasible at this release_n plus one; 0: not known */
	/* Of one cycle, by class or by node: */
	uint32_t *points; /* nodes that answer */
	uint32_t *point_class;
	uint8_t *pass;
	int64_t *scores, *sums;
	uint16_t *worth; /* by class */
	uint16_t *base;	 /* by node slot, padded for the scan */
	size_t bytes;
};

/*
 * Sorts slot_n nodes into classes; group says which nodes agree in their description, and is 0 for those that
 * it refuses.
 * Owns: bt_classes_destroy; group, which comes from bt_mem_column, is taken over.
 */
struct bt_classes *bt_classes_create(
	uint16_t *group, uint32_t group_n, uint32_t slot_n, const uint32_t *const *axes, uint32_t axis_n);
void bt_classes_destroy(struct bt_classes *classes);

/* Were the classes made from these columns? */
bool bt_classes_current(const struct bt_classes *classes, const uint32_t *const *axes, uint32_t axis_n);
