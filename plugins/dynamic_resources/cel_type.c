/* SPDX-License-Identifier: Apache-2.0
 * Types and their unification. Values of unknown type are dyn or any, which match every type.
 * Source: cel-go v0.26, checker/types.go.
 */
#include "plugins/dynamic_resources/cel_int.h"

#include "engine/base/check.h"

#define DEPTH_MAX 64 /* types nested deeper become dyn */

const struct bt_cel_type bt_cel_basic_types[BT_CEL_K_N] = {
	[BT_CEL_K_ERROR] = {.kind = BT_CEL_K_ERROR},
	[BT_CEL_K_DYN] = {.kind = BT_CEL_K_DYN},
	[BT_CEL_K_ANY] = {.kind = BT_CEL_K_ANY},
	[BT_CEL_K_NULL] = {.kind = BT_CEL_K_NULL},
	[BT_CEL_K_BOOL] = {.kind = BT_CEL_K_BOOL},
	[BT_CEL_K_INT] = {.kind = BT_CEL_K_INT},
	[BT_CEL_K_UINT] = {.kind = BT_CEL_K_UINT},
	[BT_CEL_K_DOUBLE] = {.kind = BT_CEL_K_DOUBLE},
	[BT_CEL_K_STRING] = {.kind = BT_CEL_K_STRING},
	[BT_CEL_K_BYTES] = {.kind = BT_CEL_K_BYTES},
	[BT_CEL_K_LIST] = {.kind = BT_CEL_K_LIST,
		.param_n = 1,
		.params = {&bt_cel_basic_types[BT_CEL_K_DYN]}},
	[BT_CEL_K_MAP] = {.kind = BT_CEL_K_MAP,
		.param_n = 2,
		.params = {&bt_cel_basic_types[BT_CEL_K_DYN], &bt_cel_basic_types[BT_CEL_K_DYN]}},
	[BT_CEL_K_TYPE] = {.kind = BT_CEL_K_TYPE},
	[BT_CEL_K_OPTIONAL] = {.kind = BT_CEL_K_OPTIONAL,
		.param_n = 1,
		.params = {&bt_cel_basic_types[BT_CEL_K_DYN]}},
	[BT_CEL_K_QUANTITY] = {.kind = BT_CEL_K_QUANTITY},
	[BT_CEL_K_SEMVER] = {.kind = BT_CEL_K_SEMVER},
	[BT_CEL_K_DURATION] = {.kind = BT_CEL_K_DURATION},
	[BT_CEL_K_TIMESTAMP] = {.kind = BT_CEL_K_TIMESTAMP},
	[BT_CEL_K_DEVICE] = {.kind = BT_CEL_K_DEVICE},
	[BT_CEL_K_PARAM] = {.kind = BT_CEL_K_PARAM},
};

const char *bt_cel_kind_name(enum bt_cel_kind kind)
{
	static const char *const names[BT_CEL_K_N] = {"error", "dyn", "google.protobuf.Any", "null_type",
		"bool", "int", "uint", "double", "string", "bytes", "list", "map", "type", "optional_type",
		"kubernetes.Quantity", "kubernetes.Semver", "google.protobuf.Duration",
		"google.protobuf.Timestamp", "kubernetes.DRADevice", "param"};

	BT_INVARIANT(kind < BT_CEL_K_N && names[kind]);
	return names[kind];
}

const struct bt_cel_type *bt_cel_type_of(struct bt_arena *arena, enum bt_cel_kind kind,
	const struct bt_cel_type *a, const struct bt_cel_type *b)
{
	BT_INVARIANT(a || !b);
	struct bt_cel_type *type = bt_arena_alloc(arena, sizeof(*type), 8);

	*type = (struct bt_cel_type){.kind = kind, .param_n = b ? 2 : a ? 1 : 0, .params = {a, b}};
	return type;
}

const struct bt_cel_type *bt_cel_fresh(struct bt_cel_unifier *unifier)
{
	struct bt_cel_type *type = bt_arena_alloc(unifier->arena, sizeof(*type), 8);

	if (unifier->variable_n == unifier->variable_cap_n) {
		uint32_t cap_n = unifier->variable_cap_n ? unifier->variable_cap_n * 2 : 16;
		const struct bt_cel_type **bound = bt_arena_zalloc(unifier->arena, cap_n * sizeof(*bound));

		if (unifier->variable_n) {
			memcpy(bound, unifier->bound, unifier->variable_n * sizeof(*bound));
		}
		unifier->bound = bound;
		unifier->variable_cap_n = cap_n;
	}
	*type = (struct bt_cel_type){.kind = BT_CEL_K_PARAM, .variable = unifier->variable_n++};
	BT_INVARIANT(unifier->variable_n <= unifier->variable_cap_n);
	return type;
}

bool bt_cel_is_dyn(const struct bt_cel_type *type)
{
	return type->kind == BT_CEL_K_DYN || type->kind == BT_CEL_K_ANY;
}

bool bt_cel_is_equal(const struct bt_cel_type *a, const struct bt_cel_type *b, bool same_variables)
{
	if (a == b) {
		return true;
	}
	if (a->kind != b->kind || a->param_n != b->param_n) {
		return false;
	}
	if (same_variables && a->kind == BT_CEL_K_PARAM && a->variable != b->variable) {
		return false;
	}
	for (uint32_t i = 0; i < a->param_n; i++) {
		if (!bt_cel_is_equal(a->params[i], b->params[i], same_variables)) {
			return false;
		}
	}
	return true;
}

static const struct bt_cel_type *bound_to(
	const struct bt_cel_unifier *unifier, const struct bt_cel_type *type)
{
	BT_INVARIANT(type->kind != BT_CEL_K_PARAM || type->variable < unifier->variable_n);
	return type->kind == BT_CEL_K_PARAM ? unifier->bound[type->variable] : NULL;
}

/* Does the variable not occur in the type, directly or through bound variables? */
static bool is_outside(const struct bt_cel_unifier *unifier, const struct bt_cel_type *variable,
	const struct bt_cel_type *type)
{
	if (bt_cel_is_equal(variable, type, true)) {
		return false;
	}
	if (type->kind == BT_CEL_K_PARAM) {
		const struct bt_cel_type *bound = bound_to(unifier, type);

		return !bound || is_outside(unifier, variable, bound);
	}
	for (uint32_t i = 0; i < type->param_n; i++) {
		if (!is_outside(unifier, variable, type->params[i])) {
			return false;
		}
	}
	return true;
}

static bool is_equal_or_less_specific(const struct bt_cel_type *a, const struct bt_cel_type *b)
{
	if (bt_cel_is_dyn(a) || a->kind == BT_CEL_K_PARAM) {
		return true;
	}
	if (bt_cel_is_dyn(b) || b->kind == BT_CEL_K_PARAM || a->kind != b->kind || a->param_n != b->param_n) {
		return false;
	}
	if (a->kind == BT_CEL_K_TYPE) {
		return true;
	}
	for (uint32_t i = 0; i < a->param_n; i++) {
		if (!is_equal_or_less_specific(a->params[i], b->params[i])) {
			return false;
		}
	}
	return true;
}

const struct bt_cel_type *bt_cel_most_general(const struct bt_cel_type *a, const struct bt_cel_type *b)
{
	return is_equal_or_less_specific(a, b) ? a : b;
}

static void set_bound(
	struct bt_cel_unifier *unifier, const struct bt_cel_type *variable, const struct bt_cel_type *type)
{
	BT_INVARIANT(variable->kind == BT_CEL_K_PARAM && variable->variable < unifier->variable_n);
	if (unifier->trail_n == unifier->trail_cap_n) {
		uint32_t cap_n = unifier->trail_cap_n ? unifier->trail_cap_n * 2 : 16;
		struct bt_cel_binding *trail = bt_arena_alloc(unifier->arena, cap_n * sizeof(*trail), 8);

		if (unifier->trail_n) {
			memcpy(trail, unifier->trail, unifier->trail_n * sizeof(*trail));
		}
		unifier->trail = trail;
		unifier->trail_cap_n = cap_n;
	}
	unifier->trail[unifier->trail_n++] =
		(struct bt_cel_binding){variable->variable, unifier->bound[variable->variable]};
	unifier->bound[variable->variable] = type;
}

static bool unify(struct bt_cel_unifier *unifier, const struct bt_cel_type *a, const struct bt_cel_type *b);

/* Can a be bound to the variable? *out_had_one: the variable was bound before. */
static bool bind(struct bt_cel_unifier *unifier, const struct bt_cel_type *a,
	const struct bt_cel_type *variable, bool *out_had_one)
{
	BT_INVARIANT(variable->kind == BT_CEL_K_PARAM);
	*out_had_one = true;
	if (a->kind == BT_CEL_K_PARAM && a->variable == variable->variable) {
		return true;
	}
	const struct bt_cel_type *before = bound_to(unifier, variable);
	if (before) {
		if (bt_cel_is_equal(a, before, true)) {
			return true;
		}
		if (!unify(unifier, a, before)) {
			return false;
		}
		const struct bt_cel_type *after = bt_cel_most_general(a, before);
		if (is_outside(unifier, variable, after)) {
			set_bound(unifier, variable, after);
		}
		return true;
	}
	*out_had_one = false;
	if (!is_outside(unifier, variable, a)) {
		return false;
	}
	set_bound(unifier, variable, a);
	return true;
}

/* Types that null can be assigned to. */
static bool is_nullable(const struct bt_cel_type *type)
{
	switch (type->kind) {
	case BT_CEL_K_OPTIONAL:
	case BT_CEL_K_QUANTITY:
	case BT_CEL_K_SEMVER:
	case BT_CEL_K_DURATION:
	case BT_CEL_K_TIMESTAMP:
	case BT_CEL_K_DEVICE:
	case BT_CEL_K_ANY:
	case BT_CEL_K_NULL:
		return true;
	default:
		return false;
	}
}

static bool unify(struct bt_cel_unifier *unifier, const struct bt_cel_type *a, const struct bt_cel_type *b)
{
	bool had_one;

	if (b->kind == BT_CEL_K_PARAM) {
		if (bind(unifier, a, b, &had_one)) {
			return true;
		}
		if (had_one) {
			return false;
		}
	}
	if (a->kind == BT_CEL_K_PARAM) {
		return bind(unifier, b, a, &had_one);
	}
	if (bt_cel_is_dyn(a) || bt_cel_is_dyn(b) || a->kind == BT_CEL_K_ERROR || b->kind == BT_CEL_K_ERROR) {
		return true;
	}
	if (a->kind == BT_CEL_K_NULL) {
		return is_nullable(b);
	}
	if (b->kind == BT_CEL_K_NULL) {
		return is_nullable(a);
	}
	if (a->kind != b->kind) {
		return false;
	}
	if (a->kind == BT_CEL_K_TYPE) {
		return true;
	}
	for (uint32_t i = 0; i < a->param_n; i++) {
		if (!unify(unifier, a->params[i], b->params[i])) {
			return false;
		}
	}
	return true;
}

bool bt_cel_assignable(struct bt_cel_unifier *unifier, const struct bt_cel_type *const *a,
	const struct bt_cel_type *const *b, size_t n)
{
	bool fits = true;

	unifier->trail_n = 0;
	for (size_t i = 0; i < n && fits; i++) {
		fits = unify(unifier, a[i], b[i]);
	}
	for (uint32_t i = unifier->trail_n; i > 0 && !fits; i--) {
		unifier->bound[unifier->trail[i - 1].variable] = unifier->trail[i - 1].before;
	}
	return fits;
}

static const struct bt_cel_type *substitute(
	struct bt_cel_unifier *unifier, const struct bt_cel_type *type, bool free_to_dyn, uint32_t depth)
{
	const struct bt_cel_type *params[2] = {NULL, NULL};
	bool same = true;

	while (bound_to(unifier, type)) {
		type = bound_to(unifier, type);
	}
	if ((type->kind == BT_CEL_K_PARAM && free_to_dyn) || depth > DEPTH_MAX) {
		return &bt_cel_basic_types[BT_CEL_K_DYN];
	}
	for (uint32_t i = 0; i < type->param_n; i++) {
		params[i] = substitute(unifier, type->params[i], free_to_dyn, depth + 1);
		same &= params[i] == type->params[i];
	}
	return same ? type : bt_cel_type_of(unifier->arena, type->kind, params[0], params[1]);
}

const struct bt_cel_type *bt_cel_substitute(
	struct bt_cel_unifier *unifier, const struct bt_cel_type *type, bool free_to_dyn)
{
	return substitute(unifier, type, free_to_dyn, 0);
}

void bt_cel_type_text(const struct bt_cel_type *type, struct bt_buf *out)
{
	switch (type->kind) {
	case BT_CEL_K_ERROR:
		bt_buf_text(out, "!error!");
		return;
	case BT_CEL_K_ANY:
		bt_buf_text(out, "any");
		return;
	case BT_CEL_K_NULL:
		bt_buf_text(out, "null");
		return;
	case BT_CEL_K_DURATION:
		bt_buf_text(out, "duration");
		return;
	case BT_CEL_K_TIMESTAMP:
		bt_buf_text(out, "timestamp");
		return;
	case BT_CEL_K_PARAM:
		bt_buf_printf(out, "_var%u", type->variable);
		return;
	default:
		bt_buf_text(out, bt_cel_kind_name(type->kind));
	}
	for (uint32_t i = 0; i < type->param_n; i++) {
		bt_buf_text(out, i ? ", " : "(");
		bt_cel_type_text(type->params[i], out);
	}
	if (type->param_n) {
		bt_buf_char(out, ')');
	}
}

void bt_cel_type_name(const struct bt_cel_type *type, struct bt_buf *out)
{
	bt_buf_text(out, bt_cel_kind_name(type->kind));
	for (uint32_t i = 0; i < type->param_n; i++) {
		bt_buf_text(out, i ? ", " : "(");
		bt_cel_type_name(type->params[i], out);
	}
	if (type->param_n) {
		bt_buf_char(out, ')');
	}
}

/*
 * b bool, i int, u uint, d double, s string, y bytes, n null, q Quantity, v Semver, e Duration, t Timestamp,
 * * dyn, A to D variables; L, O and T: list, optional and type of the following type; M: map of the following
 * two types.
 */
const struct bt_cel_type *bt_cel_type_read(
	struct bt_cel_unifier *unifier, const char **signature, const struct bt_cel_type *variables[4])
{
	static const uint8_t kinds[128] = {['b'] = BT_CEL_K_BOOL,
		['i'] = BT_CEL_K_INT,
		['u'] = BT_CEL_K_UINT,
		['d'] = BT_CEL_K_DOUBLE,
		['s'] = BT_CEL_K_STRING,
		['y'] = BT_CEL_K_BYTES,
		['n'] = BT_CEL_K_NULL,
		['q'] = BT_CEL_K_QUANTITY,
		['v'] = BT_CEL_K_SEMVER,
		['e'] = BT_CEL_K_DURATION,
		['t'] = BT_CEL_K_TIMESTAMP,
		['*'] = BT_CEL_K_DYN,
		['L'] = BT_CEL_K_LIST,
		['O'] = BT_CEL_K_OPTIONAL,
		['T'] = BT_CEL_K_TYPE,
		['M'] = BT_CEL_K_MAP};
	char c = *(*signature)++;

	if (c >= 'A' && c <= 'D') {
		if (!variables[c - 'A']) {
			variables[c - 'A'] = bt_cel_fresh(unifier);
		}
		return variables[c - 'A'];
	}
	enum bt_cel_kind kind = kinds[(unsigned char)c & 127];
	BT_INVARIANT(kind != BT_CEL_K_ERROR);
	if (c == 'L' || c == 'O' || c == 'T' || c == 'M') {
		const struct bt_cel_type *a = bt_cel_type_read(unifier, signature, variables);
		const struct bt_cel_type *b =
			c == 'M' ? bt_cel_type_read(unifier, signature, variables) : NULL;

		return bt_cel_type_of(unifier->arena, kind, a, b);
	}
	return &bt_cel_basic_types[kind];
}
