/* SPDX-License-Identifier: Apache-2.0
 * What berth capacity adds copies of: units of pods, read from files. A pod, one pod of a workload, or all
 * pods of a PodGroup (of a tree of groups, of a Workload's group) are a unit; with together all pods of a
 * file are one, with a ratio so many of each unit are one.
 */
#pragma once

#include "tools/offline/simulate/loaded_cluster.h"

/* Pods that are placed one after the other or, if they have groups, together. */
struct bt_capacity_part {
	struct bt_pod_object *pods;
	size_t pod_n, pod_cap;
	struct bt_object *groups; /* the pods' PodGroups and CompositePodGroups: each copy has its own */
	size_t group_n, group_cap;
};

/* Pods that are added and counted together. */
struct bt_capacity_unit {
	char *name; /* "Deployment default/web", "PodGroup default/job", the path, or "mix 3:1" */
	struct bt_capacity_part *parts;
	size_t part_n, part_cap;
	size_t pod_n; /* of all parts */
};

/* Zero-initialized, it is empty. Owns: bt_capacity_templates_fini. */
struct bt_capacity_templates {
	struct bt_capacity_unit *units;
	size_t unit_n, unit_cap;
	struct bt_arena arena;
	/* private: while a file is read */
	struct bt_loaded_cluster *cluster;
	const char *path;
	bool together;
	struct bt_map owners;	   /* hashes of "Deployment default/web": workloads with a unit */
	struct bt_map deployments; /* the same: Deployments of the files */
	size_t file_unit_n;	   /* units before this file */
	struct bt_object *groups;  /* of this file */
	size_t group_n, group_cap;
	struct bt_pod_object *members; /* pods of groups, of this file */
	size_t member_n, member_cap;
	const char *trouble; /* what cannot be copied; NULL: nothing */
};

/*
 * Reads a file of pods and workloads. Its other objects (Services, claims, PriorityClasses …) join the
 * cluster. together: all pods of the file are one unit. Reports errors on standard error. Returns: enum
 * bt_exit.
 */
int bt_capacity_templates_read(struct bt_capacity_templates *templates, struct bt_loaded_cluster *cluster,
	const char *path, bool together);

/* Adds a unit of so many copies of each unit ("3:1"). Returns: false when the text is no ratio of all
 * units. */
bool bt_capacity_templates_mix(struct bt_capacity_templates *templates, const char *ratio);

void bt_capacity_templates_fini(struct bt_capacity_templates *templates);
