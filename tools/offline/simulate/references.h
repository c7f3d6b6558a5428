/* SPDX-License-Identifier: Apache-2.0
 * What pending pods refer to and the input lacks: claims, volumes, classes, namespaces, the owners by which
 * pods are spread. A dump without them is placed all the same, with other reasons. Context: one thread.
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
	const char *resource;  /* "persistentvolumeclaims", as kubectl has it */
	uint64_t object_n;     /* 0: nobody can tell which */
	uint64_t referrer_n;   /* objects that refer to them, */
	const char *referrer;  /* of this kind: "pod" */
	struct bt_str example; /* of a missing one; lives as long as the references */
};

struct bt_reference;

/* All zeroes is an empty one. Owns: bt_references_fini. */
struct bt_references {
	/* private: */
	struct bt_map known;  /* by a hash of kind, namespace and name */
	struct bt_map named;  /* the same, of what is referred to: where its name is in names */
	struct bt_str *names; /* in arena */
	struct bt_reference *items;
	size_t item_n, item_cap, name_n, name_cap;
	uint64_t referrer_n; /* objects so far */
	uint64_t kind_n[BT_KIND_N];
	struct bt_arena arena;
	struct bt_buf text;
};

/* Notes an object of the input: that it is there, and what it refers to. */
void bt_references_note(struct bt_references *references, const struct bt_object *object);

/* After the last object: what is missing, a row a kind, at most max of them. Returns how many. */
size_t bt_references_missing(struct bt_references *references, struct bt_missing *out, size_t max);

void bt_references_fini(struct bt_references *references);
