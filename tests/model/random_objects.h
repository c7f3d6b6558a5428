/* SPDX-License-Identifier: Apache-2.0
 * Random nodes and pods that cover every rule of berth's plugins, valid and invalid.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/rng.h"
#include "engine/model/object.h"

struct random_source {
	struct bt_rng rng;
	struct bt_arena arena; /* the objects live here */
	bool out_of_range;     /* amounts at the limits of their range, zero, and negative */
};

/* A node named "node-<ix>". */
const struct bt_node_object *random_node(struct random_source *source, uint32_t ix);

/* A pending pod named "pod-<ix>"; of few kinds, so that pods share signatures. */
struct bt_pod_object *random_pod(struct random_source *source, uint32_t ix);

/* Gives the pod's first container one host port; its other containers stay shared with
 * the pod it was copied from. */
void random_port(struct random_source *source, struct bt_pod_object *pod);

/* A number in [0, n). */
uint32_t random_below(struct random_source *source, uint32_t n);

/* Returns true with this probability, in percent. */
bool random_chance(struct random_source *source, uint32_t percent);
