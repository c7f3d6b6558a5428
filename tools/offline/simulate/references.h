/* SPDX-License-Identifier: Apache-2.0
 * Missing objects that pending pods refer to: claims, volumes, classes, namespaces, owners for default
 * spreading. Without them the input is scheduled anyway, with other reasons. Context: one thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/map.h"
#include "engine/model/object.h"

/* Objects of a kind that are missing. */
struct bt_missing {
	const char *kind;      /* "PersistentVolumeClaim" */
	const char *resource;  /* "persistentvolumeclaims", kubectl's name */
	uint64_t object_n;     /* 0: unknown */
	uint64_t referrer_n;   /* objects that refer to them, */
	const char *referrer;  /* of this kind: "pod" */
	struct bt_str example; /* of a missing one; lives as long as the references */
};

struct bt_reference;

/* A zero-initialized one is empty. Owns: bt_references_fini. */
struct bt_references {
	/* private: */
	struct bt_map known;  /* by a hash of kind, namespace and name */
	struct bt_map named;  /* the same for referenced objects: index in names */
	struct bt_str *names; /* in arena */
	struct bt_reference *items;
	size_t item_n, item_cap, name_n, name_cap;
	uint64_t referrer_n; /* objects so far */
	uint64_t from_n;     /* of them those before bt_references_forget */
	uint64_t kind_n[BT_KIND_N];
	struct bt_arena arena;
	struct bt_buf text;
};

/* Records an object of the input and its references. */
void bt_references_note(struct bt_references *references, const struct bt_object *object);

/* Leaves the references of the objects so far out of what is missing. */
void bt_references_forget(struct bt_references *references);

/* After the last object: missing objects, one row per kind, at most max. Returns their number. */
size_t bt_references_missing(struct bt_references *references, struct bt_missing *out, size_t max);

void bt_references_fini(struct bt_references *references);
