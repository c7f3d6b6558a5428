/* SPDX-License-Identifier: Apache-2.0
 * Random objects of a small cluster that is nearly full: pods with priorities, ports, volumes, anti-affinity
 * and spreading.
 */
#pragma once

#include "random_topology.h"

struct cluster_source {
	struct topology_source topology;
	uint32_t node_n; /* names of nodes: n0, n1, ... */
	uint32_t next;	 /* for pods' names */
	bool plain;	 /* few kinds of pods, so that cached refusals of a kind are used */
};

struct bt_node_object cluster_node(struct cluster_source *source, uint32_t n);

/* A new pod without a node. */
struct bt_pod_object cluster_pod(struct cluster_source *source);

struct bt_object cluster_budget(struct cluster_source *source);

/* A bound claim, for one pod or for several; its volume; or a node's attachments of the driver. */
struct bt_object cluster_storage(struct cluster_source *source);
