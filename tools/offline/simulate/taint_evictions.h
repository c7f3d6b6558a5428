/* SPDX-License-Identifier: Apache-2.0
 * When NoExecute taints evict pods from their nodes: at once, or after the shortest tolerationSeconds among
 * the tolerations of a node's taints; never, if none has any. Time counts from when the pod is on the node
 * and the taint is there (timeAdded). Source: processPodOnNode, getMinTolerationTime,
 * pkg/controller/tainteviction, v1.37.2; that counts anew when its controller restarts.
 * Context: the scheduling thread; others while it is idle.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/map.h"
#include "engine/flow/cycle/engine.h"
#include "engine/model/name_refs.h"
#include "engine/model/object.h"
#include "tools/offline/simulate/terminations.h"

struct bt_evicting_taint;
struct bt_tolerated;

/* Made by bt_taint_evictions_of. Owns: bt_taint_evictions_fini. */
struct bt_taint_evictions {
	struct bt_name_refs names; /* pinned */
	bool compare_numbers;	   /* gate TaintTolerationComparisonOperators */
	/* private: */
	struct bt_map nodes; /* by name: index into node_taints */
	struct bt_node_taints {
		struct bt_evicting_taint *taints;
		uint32_t n;
	} * node_taints;
	size_t node_n, node_cap;
	struct bt_tolerations {
		struct bt_tolerated *items;
		uint32_t n;
	} * pods; /* by pod_ix */
	size_t pod_cap;
	struct bt_terminations due;
	struct bt_arena arena;
};

/* One for the engine's pods and nodes; it must not outlive the engine. */
struct bt_taint_evictions bt_taint_evictions_of(struct bt_engine *engine, const struct bt_gates *gates);

/* A node of the input. */
void bt_taint_evictions_node(struct bt_taint_evictions *evictions, const struct bt_node_object *node);

/* A pod has entered. It may take the index of one that was dropped. */
void bt_taint_evictions_pod(
	struct bt_taint_evictions *evictions, uint32_t pod_ix, const struct bt_pod_object *pod);

/* The pod is on the node with that name. since_ns: since when; 0: unknown. Where that, or since when a taint
 * is there, is unknown, time counts from now_ns. */
void bt_taint_evictions_bound(struct bt_taint_evictions *evictions, uint32_t pod_ix, uint32_t node,
	int64_t since_ns, int64_t now_ns);

/* The pod is deleted, or evicted by somebody else. */
void bt_taint_evictions_drop(struct bt_taint_evictions *evictions, uint32_t pod_ix);

/* The time of the next eviction, or INT64_MAX. */
int64_t bt_taint_evictions_next(struct bt_taint_evictions *evictions);

/* Removes and returns a pod due by now_ns, or BT_NO_POD. */
uint32_t bt_taint_evictions_take(struct bt_taint_evictions *evictions, int64_t now_ns);

void bt_taint_evictions_fini(struct bt_taint_evictions *evictions);
