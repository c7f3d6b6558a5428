/* SPDX-License-Identifier: Apache-2.0
 * The application that berth check judges: objects of manifests, with the places of its workloads in them.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/map.h"
#include "engine/model/object.h"
#include "tools/cli/invocation.h"
#include "tools/kube/config/diagnostics.h"

#define BT_NO_WORKLOAD UINT32_MAX

/* A pod, or an object whose controller makes pods. Its texts belong to the application. */
struct bt_app_workload {
	enum bt_kind kind;
	struct bt_str namespace_, name;
	const char *label; /* "Deployment default/web" */
	const char *file;  /* as diagnoses name it; "-": standard input */
	size_t line;	   /* 0: unknown */
	uint32_t object;   /* its index in objects */
};

/* Zero-initialized, it is empty. Owns: bt_app_fini. */
struct bt_app {
	struct bt_object *objects; /* in the order of the files */
	struct bt_app_workload *workloads;
	size_t object_n, object_cap, workload_n, workload_cap;
	/* private: */
	struct bt_arena arena;
	struct bt_map objects_by_name;	 /* by a hash of kind, namespace and name */
	struct bt_map workloads_by_name; /* the same: index in workloads */
	struct bt_diagnostics diagnostics;
	const struct bt_invocation *invocation;
};

/*
 * Reads the files of --filename. Whatever cannot be judged is an error: an unreadable path, an invalid
 * object, a kind that may make pods and is not read (unless --ignore-kind names it), two objects of one name,
 * a Node; and an application without pods and workloads. Reports errors on standard error. Returns: enum
 * bt_exit.
 */
int bt_app_read(struct bt_app *app, const struct bt_invocation *invocation);

/* The workload of that kind and name, or BT_NO_WORKLOAD. */
uint32_t bt_app_find(
	const struct bt_app *app, enum bt_kind kind, struct bt_str namespace_, struct bt_str name);

/* The workload that a pod is of: by its controller (of a ReplicaSet by the Deployment that it is of), or the
 * pod itself. Of a CronJob are only the pods made for it, not those of earlier runs. */
uint32_t bt_app_workload_of(const struct bt_app *app, const struct bt_pod_object *pod, bool made);

void bt_app_fini(struct bt_app *app);
