/* SPDX-License-Identifier: Apache-2.0
 * Random objects for terms about other pods. Few names and values, so that they often match.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/rng.h"
#include "engine/model/object.h"

#define TOPOLOGY_KEYS  3
#define TOPOLOGY_NAMES 3

/* Owns: the arena. */
struct topology_source {
	struct bt_rng rng;
	struct bt_arena arena;
};

extern const char *const topology_keys[TOPOLOGY_KEYS];	 /* of node labels */
extern const char *const topology_names[TOPOLOGY_NAMES]; /* of namespaces, labels and their values */

uint32_t topology_below(struct topology_source *h, uint32_t n);
struct bt_str topology_pick(struct topology_source *h);
struct bt_str topology_numbered(struct topology_source *h, const char *stem, uint32_t n);
struct bt_str_map topology_labels(
	struct topology_source *h, const char *const *of, uint32_t n, uint32_t percent);
struct bt_label_selector_object topology_selector(struct topology_source *h);
void topology_affinity(struct topology_source *h, struct bt_pod_affinity_object *affinity);
void topology_spread(struct topology_source *h, struct bt_pod_spec_object *spec);
