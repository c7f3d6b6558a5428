/* SPDX-License-Identifier: Apache-2.0
 * The rules as a readable model: a few loops over plain values, no index, no cache.
 */
#pragma once

#include "plain.h"

#define SIM_BINDINGS 40
#define SIM_PLACED   (2 * SIM_PODS + SIM_BINDINGS)

/* A pod on a node: bound, or assumed. */
struct sim_placed {
	uint32_t slot, uid;
	struct sim_pod_spec spec;
	uint32_t node;
	bool leaving; /* it is being deleted */
};

/* A device that a claim has, or will have. */
struct sim_device {
	uint32_t node, ix; /* SIM_NONE: none */
	bool pending;	   /* until its pod is bound */
};

/* A view of the cluster. */
struct sim_state {
	const struct sim_object *nodes, *claims, *volumes, *slices, *device_claims;
	struct sim_device devices[SIM_DEVICE_CLAIMS]; /* by claim */
	struct sim_device lost[SIM_BINDINGS];	      /* devices for deleted claims */
	uint32_t lost_n;
	struct sim_placed placed[SIM_PLACED];
	uint32_t placed_n;
	/* Two pods have taken a host port: as upstream, removing the first frees it, so the port's state is
	 * unknown until all are removed. */
	bool port_twice[SIM_NODES];
};

enum sim_answer { SIM_NO = 0, SIM_YES, SIM_MAYBE };

/* Does a pod fit a node now? why: the violated rule. */
enum sim_answer sim_judge(const struct sim_state *state, uint32_t slot, const struct sim_pod_spec *spec,
	uint32_t node, const char **out_why);

/* Does that device exist, and is it free? */
bool sim_device_is_free(const struct sim_state *state, uint32_t node, uint32_t ix);

/* Usage of a node. */
struct sim_usage {
	int64_t milli_cpu, memory, widgets, pods, nonzero_milli_cpu, nonzero_memory;
	uint32_t ports[SIM_PLACED], port_n; /* with repetitions */
};

struct sim_usage sim_usage_of(const struct sim_state *state, uint32_t node);
