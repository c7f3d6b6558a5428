/* SPDX-License-Identifier: Apache-2.0
 * What must hold, written to be read: a few loops over plain values, no index, nothing kept.
 */
#pragma once

#include "plain.h"

#define SIM_BINDINGS 40
#define SIM_PLACED   (2 * SIM_PODS + SIM_BINDINGS)

/* A pod that counts on a node: bound, or assumed. */
struct sim_placed {
	uint32_t slot, uid;
	struct sim_pod_spec spec;
	uint32_t node;
	bool leaving; /* it is being deleted */
};

/* A device that a claim has, or will have. */
struct sim_device {
	uint32_t node, ix; /* SIM_NONE: none */
	bool pending;	   /* until the pod is bound that it was found for */
};

/* The cluster as somebody sees it. */
struct sim_state {
	const struct sim_object *nodes, *claims, *volumes, *slices, *device_claims;
	struct sim_device devices[SIM_DEVICE_CLAIMS]; /* by claim */
	struct sim_device lost[SIM_BINDINGS];	      /* devices that were found for claims which have gone */
	uint32_t lost_n;
	struct sim_placed placed[SIM_PLACED];
	uint32_t placed_n;
	/* A host port was taken by two pods: as in upstream it is free when the first of them goes, so that
	 * nothing is known until all have gone. */
	bool port_twice[SIM_NODES];
};

enum sim_answer { SIM_NO = 0, SIM_YES, SIM_MAYBE };

/* May a pod go to a node now? why says which rule is against it. */
enum sim_answer sim_judge(const struct sim_state *state, uint32_t slot, const struct sim_pod_spec *spec,
	uint32_t node, const char **out_why);

/* Is that device there, and nobody's? */
bool sim_device_is_free(const struct sim_state *state, uint32_t node, uint32_t ix);

/* What is used on a node. */
struct sim_usage {
	int64_t milli_cpu, memory, widgets, pods, nonzero_milli_cpu, nonzero_memory;
	uint32_t ports[SIM_PLACED], port_n; /* as often as they are there */
};

struct sim_usage sim_usage_of(const struct sim_state *state, uint32_t node);
