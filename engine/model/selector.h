/* SPDX-License-Identifier: Apache-2.0
 * Label selectors and node selectors, compiled to interned names.
 * Source: apimachinery labels.Requirement and component-helpers nodeaffinity, v1.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/model/label.h"
#include "engine/model/object.h"

enum bt_operator { BT_OP_IN = 0, BT_OP_NOT_IN, BT_OP_EXISTS, BT_OP_DOES_NOT_EXIST, BT_OP_GT, BT_OP_LT };

struct bt_requirement {
	uint32_t key;
	enum bt_operator op;
	const uint32_t *values; /* In, NotIn */
	uint32_t value_n;
	int64_t number; /* Gt, Lt */
};

/* All requirements must hold. Without requirements it matches everything, unless nothing is set. */
struct bt_selector {
	const struct bt_requirement *items;
	uint32_t n;
	bool nothing;
};

/* A requirement on metadata.name (the only node field that selectors support), or on an unsupported field. */
struct bt_field_requirement {
	uint32_t value;
	bool is_name, negated;
};

struct bt_node_term {
	struct bt_selector labels;
	const struct bt_field_requirement *fields;
	uint32_t field_n;
	bool invalid; /* matches nothing */
};

/* At least one term must match. A selector without terms matches nothing. */
struct bt_node_selector {
	const struct bt_node_term *terms;
	uint32_t term_n;
};

/*
 * Compiles a label selector. A nil selector matches nothing, an empty one everything.
 * Context : the owner of held. Owns: the result lives in arena.
 * Returns : BT_OK; BT_INVALID with a message like upstream's in out_why (may be NULL): bad operator, key or
 *           values.
 */
enum bt_status bt_selector_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_label_selector_object *object, struct bt_selector *out_selector,
	struct bt_buf *out_why);

/* A selector that requires every pair of the map, without validation, as labels.SelectorFromSet. */
struct bt_selector bt_selector_from_map(
	struct bt_name_refs *held, struct bt_arena *arena, const struct bt_str_map *map);

/*
 * Compiles one node selector term; sets invalid (with the reason in out_why, may be NULL) when upstream's
 * parser rejects it. Returns false when the term is empty: it matches nothing, and the caller skips it.
 */
bool bt_node_term_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_node_term_object *object, struct bt_node_term *out_term, struct bt_buf *out_why);

/* Compiles all terms; skips empty ones. */
struct bt_node_selector bt_node_selector_compile(
	struct bt_name_refs *held, struct bt_arena *arena, const struct bt_node_selector_object *object);

/* Does a label value (BT_NAME_NONE when the key is absent) satisfy the requirement? Pure. */
bool bt_requirement_matches(
	const struct bt_intern *intern, const struct bt_requirement *requirement, uint32_t value);

bool bt_selector_matches(
	const struct bt_intern *intern, const struct bt_selector *selector, struct bt_labels labels);

bool bt_node_term_matches(const struct bt_intern *intern, const struct bt_node_term *term,
	struct bt_labels labels, uint32_t node_name);

bool bt_node_selector_matches(const struct bt_intern *intern, const struct bt_node_selector *selector,
	struct bt_labels labels, uint32_t node_name);

/* Parses a decimal integer like strconv.ParseInt(s, 10, 64). */
bool bt_parse_int64(struct bt_str s, int64_t *out_number);

/* The syntax of label keys ([prefix/]name, upstream IsQualifiedName) and of label values. */
bool bt_is_qualified_name(struct bt_str s);
bool bt_is_label_value(struct bt_str s);
