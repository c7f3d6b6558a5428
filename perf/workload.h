/* SPDX-License-Identifier: Apache-2.0
 * An engine with nodes and pods, and the measured loop over its cycles: shared by the placement benchmarks.
 */
#pragma once

#include <stdio.h>

#include "engine/flow/cycle/engine.h"
#include "suites.h"
#include "tools/format/object_reader.h"

#define WORKLOAD_ZONES	  5
#define WORKLOAD_MACHINES 4

struct workload {
	uint32_t node_n;
	uint32_t cores;	      /* of each node; 0: there are four types of machines */
	uint32_t bits;	      /* number of labels bit-0 ..., the binary digits of a node's number */
	bool tainted;	      /* some nodes have taints */
	struct bt_team *team; /* scores nodes with workers; NULL: one thread */
	const char *image;    /* every second node has it; NULL: nodes have no images */
	uint32_t rack_nodes;  /* consecutive nodes with the same label "rack"; 0: no label */
	const char *gates;    /* --feature-gates; NULL: the defaults */
	/* owned by the functions below: */
	struct bt_config config;
	struct bt_engine *engine;
	struct bt_object_reader *reader;
	struct bt_buf text;
	int64_t now_ns;
	uint32_t *pods; /* indices, by number */
	size_t pod_cap;
	uint32_t pod_end;     /* one more than the highest number */
	uint32_t pod_n, left; /* all pods; of them those not placed yet */
	uint64_t placed_n, refused_n;
};

/* Makes the engine with its nodes: 5 zones, 4 types of machines, 2 kinds of disks. */
void bt_workload_begin(struct workload *w);
void bt_workload_end(struct workload *w);

/* Reads one object from YAML; valid until the next one is read. */
const struct bt_object *bt_workload_read(struct workload *w, const char *format, ...) BT_PRINTF(2, 3);

/* A pod of one container that requests only cpu (thousandths) and memory; without a name. */
struct bt_pod_object bt_workload_plain_pod(struct bt_arena *arena, int64_t milli, int64_t mib);

/* Adds a pod; the number determines its name and its position in the queue. Returns its index. */
uint32_t bt_workload_add(struct workload *w, struct bt_pod_object *pod, uint32_t number);

/* Adds a label to a node, or changes its value; NULL: the node is as at first, and added if it is missing. */
void bt_workload_relabel(struct workload *w, uint32_t node_ix, const char *value);

/* Closes a node for new pods; bt_workload_relabel opens it. */
void bt_workload_cordon(struct workload *w, uint32_t node_ix);

/* Removes a node; bt_workload_relabel adds it again. */
void bt_workload_remove_node(struct workload *w, uint32_t node_ix);

/* Decides for the next n pods of the queue. */
void bt_workload_place(struct workload *w, uint32_t n);

/* Requeues all placed pods in the same order, and frees their resources. */
void bt_workload_again(struct workload *w);

/* Measures placements: all pods once to warm up, then repeatedly. Items are placements. */
void bt_workload_measure(struct bt_bench *bench, struct workload *w);
