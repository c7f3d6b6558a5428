/* SPDX-License-Identifier: Apache-2.0
 * ResourceQuotas: what pods and claims use of them. Context: one thread at a time; allocates.
 */
#pragma once

#include <stddef.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/object.h"

/* A quota, and what was counted against it. */
struct bt_quota {
	struct bt_quota_object object;
	struct bt_quantity *seen;  /* for each entry of hard: used by objects that exist, */
	struct bt_quantity *asked; /* and by objects that were created */
	uint64_t asked_n;	   /* created objects that it counts */
	uint64_t silent_n;	   /* of them, pods without an amount that it requires */
	struct bt_str silent;	   /* what the first one must specify */
};

/* All zeroes is an empty table. Its fields are private, except for reading items. */
struct bt_quotas {
	struct bt_quota *items;
	size_t n, cap;
	struct bt_arena arena;
};

void bt_quotas_fini(struct bt_quotas *quotas);

/* Adds a quota, or replaces the one of its name. Requires: it has its defaults. Owns: a copy. */
void bt_quotas_add(struct bt_quotas *quotas, const struct bt_object *object);

/* An object that counts: a pod or a PersistentVolumeClaim. */
struct bt_quota_user {
	const struct bt_pod_object *pod;
	const struct bt_claim_object *claim;
	bool created; /* not one that exists already */
};

/*
 * Whether the quotas of its namespace have room for an object that is created, and a pod's containers have
 * the amounts that they require; else the API server's text is in out_reason. Owns: the arena has temporary
 * data.
 */
bool bt_quotas_allow(const struct bt_quotas *quotas, const struct bt_quota_user *user, struct bt_arena *arena,
	struct bt_buf *out_reason);

/* Counts an object. Objects that exist count only where a quota's status does not say what is used. */
void bt_quotas_count(struct bt_quotas *quotas, const struct bt_quota_user *user, struct bt_arena *arena);

/* What existing objects use of entry ix of a quota's hard. */
struct bt_quantity bt_quota_used(const struct bt_quota *quota, uint32_t ix);
