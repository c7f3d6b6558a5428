/* SPDX-License-Identifier: Apache-2.0
 * The kinds of objects that are read, and their properties. The table is kind.def.
 * Context: any thread; the table is constant.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/str.h"
#include "engine/model/release.h"

enum bt_kind {
	BT_KIND_OTHER = 0, /* read, counted, named in the report */
#define BT_KIND(id, ...) BT_KIND_##id,
#include "engine/model/kind.def"
#undef BT_KIND
	BT_KIND_N
};

/* The store that adds objects of a kind, and removes them on deletion. */
enum bt_kind_store {
	BT_STORE_NONE = 0,
	BT_STORE_NODES,
	BT_STORE_PODS,
	BT_STORE_NAMESPACES,
	BT_STORE_SERVICES,
	BT_STORE_CONTROLLERS, /* their selectors are used for default spreading */
	BT_STORE_BUDGETS,
	BT_STORE_VOLUMES,
	BT_STORE_DEVICES,
	BT_STORE_POD_GROUPS,
	BT_STORE_WORKLOADS,
	BT_STORE_ADMISSION, /* tools, when they admit pods as an API server does */
	BT_STORE_EXPANDED   /* tools that create the pods of controllers; otherwise none */
};

/* A version of an API group that serves a kind. */
struct bt_kind_version {
	const char *api_version; /* "storage.k8s.io/v1" */
	const char *path;	 /* "/apis/storage.k8s.io/v1/storageclasses" */
};

#define BT_KIND_VERSIONS 3u

struct bt_kind_info {
	enum bt_kind kind;
	const char *name;				   /* "StorageClass" */
	const char *resource;				   /* "storageclasses" */
	const char *group;				   /* "storage.k8s.io"; "" for the core */
	struct bt_kind_version versions[BT_KIND_VERSIONS]; /* tried in order; path NULL: none */
	bool namespaced;
	enum bt_kind_store store;
	uint32_t event; /* enum bt_cluster_event_resource */
	bool watched;
	bool optional;	     /* a server may lack it */
	uint32_t gate;	     /* enum bt_gate: watched while it is on; BT_GATE_N: always */
	uint32_t rule;	     /* enum bt_rule; BT_RULE_N: of every release */
	bool unless;	     /* watched in releases without the rule; otherwise in those with it */
	const char *without; /* of an optional one: what is disabled without it, as a sentence */
};

/* Also for BT_KIND_OTHER, which has no words, no store and no event. */
const struct bt_kind_info *bt_kind_info(enum bt_kind kind);

/* Does the release, by its rule, watch the kind? */
bool bt_kind_is_of(const struct bt_kind_info *info, const struct bt_release *release);

/* Does a scheduler of the release, with these gates (by enum bt_gate), look at objects of the kind? */
bool bt_kind_is_on(const struct bt_kind_info *info, const struct bt_release *release, const bool *gates);

/* The default version; empty for BT_KIND_OTHER. */
static inline struct bt_str bt_kind_api_version(const struct bt_kind_info *info)
{
	return bt_str(info->versions[0].path ? info->versions[0].api_version : "");
}

static inline enum bt_kind_store bt_kind_store(enum bt_kind kind)
{
	return bt_kind_info(kind)->store;
}

/* Do controllers create pods for such objects? */
static inline bool bt_kind_makes_pods(enum bt_kind kind)
{
	return bt_kind_store(kind) == BT_STORE_CONTROLLERS || bt_kind_store(kind) == BT_STORE_EXPANDED;
}

/* The kind of that word, in any group and version; BT_KIND_OTHER: it is not read. */
enum bt_kind bt_kind_of_word(struct bt_str word);

/* The same in one of its versions, such as "storage.k8s.io/v1". */
enum bt_kind bt_kind_of(struct bt_str api_version, struct bt_str word);
