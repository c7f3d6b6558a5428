/* SPDX-License-Identifier: Apache-2.0
 * Which kinds are watched, and where the API server has them. Source: the informers that kube-scheduler and
 * its plugins register, v1.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/flow/config/gates.h"
#include "engine/model/object.h"

/* A version of an API group in which a kind can be had. */
struct bt_watch_version {
	const char *api_version; /* "storage.k8s.io/v1" */
	const char *path;	 /* "/apis/storage.k8s.io/v1/storageclasses" */
};

#define BT_WATCH_VERSIONS 2u

struct bt_watch_kind {
	enum bt_kind kind;
	const char *name;     /* "StorageClass" */
	const char *resource; /* "storageclasses" */
	const char *group;    /* "storage.k8s.io"; "" for the core */
	const char *selector; /* fieldSelector, as it stands in a query; NULL: none */
	bool optional;	      /* a server may not have it */
	const char *without;  /* of such a kind: what that switches off, as a sentence */
	struct bt_watch_version versions[BT_WATCH_VERSIONS]; /* tried in order; path NULL: none */
};

#define BT_WATCH_KINDS_MAX 24u

/* Selector of pods that have not ended: those that have take no room, so the server leaves them out, and says
 * so when one ends. */
#define BT_WATCH_ALIVE "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

/* The kinds that are needed with these gates. The order is always the same. Returns: how
 * many there are. Context: any thread. */
uint32_t bt_watch_kinds(const struct bt_gates *gates, const struct bt_watch_kind *out[BT_WATCH_KINDS_MAX]);
