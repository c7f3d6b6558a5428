/* SPDX-License-Identifier: Apache-2.0
 * Type checker: sets the type of every node, and the matching overloads of every call.
 * Source: cel-go v0.26, checker/checker.go, and cel/validator.go for aggregates of one type and patterns.
 */
#include "plugins/dynamic_resources/cel_int.h"

#include "engine/base/buf.h"

#define ARGS_MAX 4 /* no function takes more */

/* A local variable; the innermost comes first. */
struct scope {
	const struct scope *outer;
	struct bt_str name;
	const struct bt_cel_type *type;
	uint32_t slot;
};

struct checker {
	struct bt_cel_compiler *compiler;
	struct bt_cel_unifier unifier;
	const struct scope *scope;
	const struct bt_cel_type *attributes, *capacity; /* of device */
};

static const struct bt_cel_type *check(struct checker *checker, struct bt_cel_node *node);

static const struct bt_cel_type *basic(enum bt_cel_kind kind)
{
	return &bt_cel_basic_types[kind];
}

static const struct bt_cel_type *one_of(struct checker *checker, enum bt_cel_kind kind,
	const struct bt_cel_type *a, const struct bt_cel_type *b)
{
	return bt_cel_type_of(checker->compiler->arena, kind, a, b);
}

/* The type's text, in memory of the compiler. */
static const char *cel_check_text_of(struct checker *checker, const struct bt_cel_type *type)
{
	struct bt_buf buf = {0};

	bt_cel_type_text(type, &buf);
	const char *text = bt_arena_copy(checker->compiler->arena, buf.ptr, buf.len);
	bt_buf_fini(&buf);
	return text;
}

static void mismatch(struct checker *checker, const struct bt_cel_node *node,
	const struct bt_cel_type *expected, const struct bt_cel_type *found)
{
	bt_cel_diagnose(checker->compiler, node->at, "expected type '%s' but found '%s'",
		cel_check_text_of(checker, expected), cel_check_text_of(checker, found));
}

static bool fits(struct checker *checker, const struct bt_cel_type *a, const struct bt_cel_type *b)
{
	return bt_cel_assignable(&checker->unifier, &a, &b, 1);
}

/* The types that have names in expressions. */
static const struct bt_cel_type *named_type(struct bt_str name)
{
	static const enum bt_cel_kind kinds[] = {BT_CEL_K_BOOL, BT_CEL_K_BYTES, BT_CEL_K_DOUBLE, BT_CEL_K_INT,
		BT_CEL_K_LIST, BT_CEL_K_MAP, BT_CEL_K_NULL, BT_CEL_K_STRING, BT_CEL_K_TYPE, BT_CEL_K_UINT,
		BT_CEL_K_OPTIONAL};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (bt_str_is(name, bt_cel_kind_name(kinds[i]))) {
			return basic(kinds[i]);
		}
	}
	return NULL;
}

/* A leading dot means the root scope, which holds all names. */
static struct bt_str without_dot(struct bt_str name)
{
	return bt_str_starts(name, ".") ? bt_str_sub(name, 1, name.len) : name;
}

static const struct bt_cel_type *check_ident(struct checker *checker, struct bt_cel_node *node)
{
	struct bt_str name = without_dot(node->name);

	for (const struct scope *scope = checker->scope; scope; scope = scope->outer) {
		if (bt_str_eq(scope->name, name)) {
			node->slot = scope->slot;
			return scope->type;
		}
	}
	if (bt_str_is(name, "device")) {
		return basic(BT_CEL_K_DEVICE);
	}
	const struct bt_cel_type *type = named_type(name);
	if (type) {
		node->kind = BT_CEL_CONST;
		node->value = (struct bt_cel_value){.kind = BT_CEL_K_TYPE, .type = type};
		return one_of(checker, BT_CEL_K_TYPE, type, NULL);
	}
	bt_cel_diagnose(checker->compiler, node->at, "undeclared reference to '%.*s' (in container '')",
		BT_STR_ARG(node->name));
	return basic(BT_CEL_K_ERROR);
}

static const struct bt_cel_type *device_field(struct checker *checker, uint32_t at, struct bt_str field)
{
	if (bt_str_is(field, "driver")) {
		return basic(BT_CEL_K_STRING);
	}
	if (bt_str_is(field, "attributes")) {
		return checker->attributes;
	}
	if (bt_str_is(field, "capacity")) {
		return checker->capacity;
	}
	if (bt_str_is(field, "allowMultipleAllocations") &&
		checker->compiler->features & BT_CEL_CONSUMABLE_CAPACITY) {
		return basic(BT_CEL_K_BOOL);
	}
	bt_cel_diagnose(checker->compiler, at, "undefined field '%.*s'", BT_STR_ARG(field));
	return basic(BT_CEL_K_ERROR);
}

/* The type of a field of operand; the selection is at code point at. */
static const struct bt_cel_type *check_field(
	struct checker *checker, uint32_t at, struct bt_cel_node *operand, struct bt_str field, bool optional)
{
	const struct bt_cel_type *type = bt_cel_substitute(&checker->unifier, check(checker, operand), false);
	const struct bt_cel_type *result = basic(BT_CEL_K_DYN);

	if (type->kind == BT_CEL_K_OPTIONAL) {
		optional = true;
		type = type->params[0];
	}
	switch (type->kind) {
	case BT_CEL_K_MAP:
		result = type->params[1];
		break;
	case BT_CEL_K_DEVICE:
		result = device_field(checker, at, field);
		break;
	case BT_CEL_K_QUANTITY:
	case BT_CEL_K_SEMVER:
		bt_cel_diagnose(checker->compiler, at, "unexpected failed resolution of '%s'",
			cel_check_text_of(checker, type));
		result = basic(BT_CEL_K_ERROR);
		break;
	case BT_CEL_K_PARAM:
		fits(checker, basic(BT_CEL_K_DYN), type);
		break;
	case BT_CEL_K_DYN:
	case BT_CEL_K_ANY:
	case BT_CEL_K_ERROR:
		break;
	default:
		bt_cel_diagnose(checker->compiler, at, "type '%s' does not support field selection",
			cel_check_text_of(checker, type));
	}
	return optional ? one_of(checker, BT_CEL_K_OPTIONAL, result, NULL) : result;
}

static const struct bt_cel_type *check_select(struct checker *checker, struct bt_cel_node *node)
{
	const struct bt_cel_type *type = check_field(checker, node->at, node->args[0], node->name, false);

	return node->test_only ? basic(BT_CEL_K_BOOL) : type;
}

/* The overload's types: the result and arg_n arguments. Returns false when the
 * number of arguments differs. */
static bool read_signature(struct checker *checker, const struct bt_cel_overload *overload, uint32_t arg_n,
	const struct bt_cel_type **out_result, const struct bt_cel_type *out_args[ARGS_MAX])
{
	const struct bt_cel_type *variables[4] = {NULL};
	const char *signature = overload->signature;
	uint32_t n = 0;

	*out_result = bt_cel_type_read(&checker->unifier, &signature, variables);
	for (signature++; *signature; n++) {
		if (n == ARGS_MAX) {
			return false;
		}
		out_args[n] = bt_cel_type_read(&checker->unifier, &signature, variables);
	}
	return n == arg_n;
}

static void no_overload(struct checker *checker, struct bt_cel_node *node,
	const struct bt_cel_type *const *args, const char *name)
{
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < node->arg_n; i++) {
		if (i == 0) {
			bt_buf_text(&text, node->member ? "" : "(");
		} else {
			bt_buf_text(&text, node->member && i == 1 ? ".(" : ", ");
		}
		bt_cel_type_text(bt_cel_substitute(&checker->unifier, args[i], true), &text);
	}
	if (node->arg_n == 0) {
		bt_buf_char(&text, '(');
	}
	bt_buf_text(&text, node->member && node->arg_n == 1 ? ".()" : ")");
	bt_cel_diagnose(checker->compiler, node->at, "found no matching overload for '%s' applied to '%.*s'",
		name, (int)text.len, text.ptr);
	bt_buf_fini(&text);
}

/* Every term of && and || must be a bool. */
static const struct bt_cel_type *check_logic(
	struct checker *checker, struct bt_cel_node *node, const struct bt_cel_type *const *args)
{
	const struct bt_cel_type *result = basic(BT_CEL_K_BOOL);

	for (uint32_t i = 0; i < node->arg_n; i++) {
		if (!fits(checker, args[i], basic(BT_CEL_K_BOOL))) {
			mismatch(checker, node->args[i], basic(BT_CEL_K_BOOL), args[i]);
			result = basic(BT_CEL_K_ERROR);
		}
	}
	return result;
}

static const struct bt_cel_type *resolve(
	struct checker *checker, struct bt_cel_node *node, const struct bt_cel_type *const *args)
{
	const struct bt_cel_overload *first = node->overloads;
	const struct bt_cel_type *result = NULL;
	uint32_t fit_n = 0;

	while (first[node->overload_n].name && strcmp(first[node->overload_n].name, first->name) == 0) {
		node->overload_n++;
	}
	for (uint32_t i = 0; i < node->overload_n; i++) {
		const struct bt_cel_overload *overload = &first[i];
		const struct bt_cel_type *wanted[ARGS_MAX];
		const struct bt_cel_type *type;

		if (overload->member != node->member || node->arg_n > ARGS_MAX ||
			!read_signature(checker, overload, node->arg_n, &type, wanted) ||
			!bt_cel_assignable(&checker->unifier, args, wanted, node->arg_n)) {
			continue;
		}
		type = bt_cel_substitute(&checker->unifier, type, false);
		if (!result) {
			result = type;
		} else if (!bt_cel_is_dyn(result) && !bt_cel_is_equal(type, result, true)) {
			result = basic(BT_CEL_K_DYN);
		}
		node->overload = fit_n++ == 0 ? overload : NULL;
	}
	if (!result) {
		no_overload(checker, node, args, first->name);
		return basic(BT_CEL_K_ERROR);
	}
	return result;
}

/* Functions with a dot in their names look like members of a variable. */
static void find_function(struct checker *checker, struct bt_cel_node *node)
{
	if (node->member && node->args[0]->kind == BT_CEL_IDENT) {
		struct bt_buf name = {0};

		bt_buf_str(&name, without_dot(node->args[0]->name));
		bt_buf_char(&name, '.');
		bt_buf_str(&name, node->name);
		node->overloads = bt_cel_overloads(bt_buf_view(&name), checker->compiler->features);
		if (node->overloads || bt_cel_unsupported(bt_buf_view(&name))) {
			node->name = (struct bt_str){
				bt_arena_copy(checker->compiler->arena, name.ptr, name.len), name.len};
			node->member = false;
			node->args++;
			node->arg_n--;
		}
		bt_buf_fini(&name);
	}
	if (!node->overloads) {
		node->overloads = bt_cel_overloads(without_dot(node->name), checker->compiler->features);
	}
}

static const struct bt_cel_type *check_call(struct checker *checker, struct bt_cel_node *node)
{
	struct bt_cel_compiler *compiler = checker->compiler;

	if (bt_str_is(node->name, "_?._")) {
		node->form = BT_CEL_OPT_SELECT;
		return check_field(checker, node->at, node->args[0], node->args[1]->value.text, true);
	}
	find_function(checker, node);
	const struct bt_cel_type **args =
		bt_arena_alloc(compiler->arena, (node->arg_n + 1) * sizeof(*args), sizeof(*args));
	/* The target comes last; type variables are numbered in this order. */
	for (uint32_t i = 0; i < node->arg_n; i++) {
		uint32_t ix = node->member ? (i + 1) % node->arg_n : i;

		args[ix] = check(checker, node->args[ix]);
	}
	if (!node->overloads) {
		if (bt_cel_unsupported(node->name)) {
			bt_cel_diagnose(compiler, node->at, "function '%.*s' is not supported",
				BT_STR_ARG(node->name));
		} else {
			bt_cel_diagnose(compiler, node->at,
				"undeclared reference to '%.*s' (in container '')", BT_STR_ARG(node->name));
		}
		return basic(BT_CEL_K_ERROR);
	}
	node->form = node->overloads->form;
	if (node->form == BT_CEL_AND || node->form == BT_CEL_OR) {
		return check_logic(checker, node, args);
	}
	return resolve(checker, node, args);
}

/* The common type of an aggregate's elements and one more. Whether all types are equal is checked later. */
static const struct bt_cel_type *join(
	struct checker *checker, const struct bt_cel_type *before, const struct bt_cel_type *type)
{
	if (!before) {
		return type;
	}
	return fits(checker, before, type) ? bt_cel_most_general(before, type) : basic(BT_CEL_K_DYN);
}

/* The type of an element or value; unwraps optional ones. */
static const struct bt_cel_type *check_element(struct checker *checker, struct bt_cel_node *node, uint32_t ix)
{
	const struct bt_cel_type *type = check(checker, node->args[ix]);

	if (!node->optional || !node->optional[ix]) {
		return type;
	}
	if (type->kind == BT_CEL_K_OPTIONAL) {
		return type->params[0];
	}
	if (!bt_cel_is_dyn(type)) {
		mismatch(checker, node->args[ix], one_of(checker, BT_CEL_K_OPTIONAL, type, NULL), type);
	}
	return type;
}

static const struct bt_cel_type *check_list(struct checker *checker, struct bt_cel_node *node)
{
	const struct bt_cel_type *element = NULL;

	for (uint32_t i = 0; i < node->arg_n; i++) {
		element = join(checker, element, check_element(checker, node, i));
	}
	return one_of(checker, BT_CEL_K_LIST, element ? element : bt_cel_fresh(&checker->unifier), NULL);
}

static const struct bt_cel_type *check_map(struct checker *checker, struct bt_cel_node *node)
{
	const struct bt_cel_type *key = NULL;
	const struct bt_cel_type *value = NULL;

	for (uint32_t i = 0; i + 1 < node->arg_n; i += 2) {
		key = join(checker, key, check(checker, node->args[i]));
		value = join(checker, value, check_element(checker, node, i + 1));
	}
	if (!key) {
		key = bt_cel_fresh(&checker->unifier);
		value = bt_cel_fresh(&checker->unifier);
	}
	return one_of(checker, BT_CEL_K_MAP, key, value);
}

/* The type of the iteration variable over a range of this type. */
static const struct bt_cel_type *variable_type(
	struct checker *checker, struct bt_cel_node *range, const struct bt_cel_type *type)
{
	switch (type->kind) {
	case BT_CEL_K_LIST:
	case BT_CEL_K_MAP:
		return type->params[0];
	case BT_CEL_K_DYN:
	case BT_CEL_K_ERROR:
	case BT_CEL_K_PARAM:
		fits(checker, basic(BT_CEL_K_DYN), type);
		return basic(BT_CEL_K_DYN);
	default:
		bt_cel_diagnose(checker->compiler, range->at,
			"expression of type '%s' cannot be range of a comprehension (must be list, map, or "
			"dynamic)",
			cel_check_text_of(checker, type));
		return basic(BT_CEL_K_ERROR);
	}
}

static void check_against(
	struct checker *checker, struct bt_cel_node *node, const struct bt_cel_type *expected)
{
	const struct bt_cel_type *type = check(checker, node);

	if (!fits(checker, expected, type)) {
		mismatch(checker, node, expected, type);
	}
}

static const struct bt_cel_type *check_fold(struct checker *checker, struct bt_cel_node *node)
{
	const struct scope *outer = checker->scope;
	const struct bt_cel_type *range = check(checker, node->args[BT_CEL_RANGE]);
	const struct bt_cel_type *accu = check(checker, node->args[BT_CEL_INIT]);

	range = bt_cel_substitute(&checker->unifier, range, false);
	/* Each use has its own slots: init is evaluated lazily, within other folds. */
	node->slot = checker->compiler->slot_n;
	checker->compiler->slot_n += 3;
	struct scope accu_scope = {.outer = outer, .name = node->name, .type = accu, .slot = node->slot};
	struct scope iter_scope = {.outer = &accu_scope, .name = node->iter_var, .slot = node->slot + 1};
	iter_scope.type = variable_type(checker, node->args[BT_CEL_RANGE], range);
	struct scope value_scope = {.outer = &iter_scope, .name = node->iter_var2, .slot = node->slot + 2};
	checker->scope = &iter_scope;
	if (node->iter_var2.len) {
		value_scope.type = range->kind == BT_CEL_K_MAP ? range->params[1] : iter_scope.type;
		iter_scope.type = range->kind == BT_CEL_K_LIST ? basic(BT_CEL_K_INT) : iter_scope.type;
		checker->scope = &value_scope;
	}
	check_against(checker, node->args[BT_CEL_CONDITION], basic(BT_CEL_K_BOOL));
	check_against(checker, node->args[BT_CEL_STEP], accu);
	checker->scope = &accu_scope;
	const struct bt_cel_type *result = check(checker, node->args[BT_CEL_RESULT]);
	checker->scope = outer;
	return bt_cel_substitute(&checker->unifier, result, false);
}

static const struct bt_cel_type *check_new(struct checker *checker, struct bt_cel_node *node)
{
	switch ((enum bt_cel_node_kind)node->kind) {
	case BT_CEL_CONST:
		return basic(node->value.kind);
	case BT_CEL_IDENT:
		return check_ident(checker, node);
	case BT_CEL_SELECT:
		return bt_cel_substitute(&checker->unifier, check_select(checker, node), false);
	case BT_CEL_CALL:
		return check_call(checker, node);
	case BT_CEL_LIST:
		return check_list(checker, node);
	case BT_CEL_MAP:
		return check_map(checker, node);
	case BT_CEL_FOLD:
		return check_fold(checker, node);
	}
	return basic(BT_CEL_K_ERROR);
}

static const struct bt_cel_type *check(struct checker *checker, struct bt_cel_node *node)
{
	if (node->stage == BT_CEL_PARSED) {
		node->type = check_new(checker, node);
		node->stage = BT_CEL_CHECKED;
	}
	return node->type;
}

/* ---- validation, after all types are known ---- */

/* The type of an element; unwraps optional ones. */
static const struct bt_cel_type *element_type(
	struct checker *checker, const struct bt_cel_node *node, uint32_t ix)
{
	const struct bt_cel_type *type = bt_cel_substitute(&checker->unifier, node->args[ix]->type, true);

	return node->optional && node->optional[ix] && type->kind == BT_CEL_K_OPTIONAL ? type->params[0]
										       : type;
}

/* Every step-th element from first on must have exactly the first one's type. */
static void check_same(
	struct checker *checker, const struct bt_cel_node *node, uint32_t first, uint32_t step, bool all)
{
	for (uint32_t i = first + step; i < node->arg_n; i += step) {
		const struct bt_cel_type *expected = element_type(checker, node, first);
		const struct bt_cel_type *found = element_type(checker, node, i);

		if (!bt_cel_is_equal(expected, found, false)) {
			mismatch(checker, node->args[i], expected, found);
			if (!all) {
				return;
			}
		}
	}
}

static void check_pattern(struct checker *checker, const struct bt_cel_node *node)
{
	const struct bt_cel_node *pattern = node->arg_n > node->member ? node->args[node->member] : NULL;

	if (!bt_str_is(node->name, "matches") || !pattern || pattern->kind != BT_CEL_CONST ||
		pattern->value.kind != BT_CEL_K_STRING) {
		return;
	}
	struct bt_buf why = {0};
	size_t left_bytes = SIZE_MAX;
	struct bt_re2 *re2 = bt_cel_regex_compile(pattern->value.text, &left_bytes, &why);
	if (!re2) {
		bt_cel_diagnose(checker->compiler, pattern->at, "invalid matches argument");
	}
	bt_re2_destroy(re2);
	bt_buf_fini(&why);
}

static void validate(struct checker *checker, struct bt_cel_node *node)
{
	if (node->stage != BT_CEL_SETTLED) {
		return;
	}
	node->stage = BT_CEL_VALIDATED;
	for (uint32_t i = 0; i < node->arg_n; i++) {
		validate(checker, node->args[i]);
	}
	if (node->kind == BT_CEL_LIST) {
		check_same(checker, node, 0, 1, false);
	} else if (node->kind == BT_CEL_MAP) {
		check_same(checker, node, 0, 2, true);
		check_same(checker, node, 1, 2, true);
	} else if (node->kind == BT_CEL_CALL) {
		check_pattern(checker, node);
	}
}

/* Free variables become dyn. */
static void settle(struct checker *checker, struct bt_cel_node *node)
{
	if (node->stage == BT_CEL_SETTLED) {
		return;
	}
	node->type =
		node->type ? bt_cel_substitute(&checker->unifier, node->type, true) : basic(BT_CEL_K_DYN);
	node->stage = BT_CEL_SETTLED;
	for (uint32_t i = 0; i < node->arg_n; i++) {
		settle(checker, node->args[i]);
	}
}

void bt_cel_check(struct bt_cel_compiler *compiler, struct bt_cel_node *root)
{
	struct checker checker = {.compiler = compiler, .unifier = {.arena = compiler->arena}};
	const struct bt_cel_type *text = basic(BT_CEL_K_STRING);

	checker.attributes = one_of(&checker, BT_CEL_K_MAP, text,
		one_of(&checker, BT_CEL_K_MAP, text, basic(bt_cel_attribute_kind_of(compiler))));
	checker.capacity = one_of(
		&checker, BT_CEL_K_MAP, text, one_of(&checker, BT_CEL_K_MAP, text, basic(BT_CEL_K_QUANTITY)));
	check(&checker, root);
	if (compiler->error_n == 0) {
		settle(&checker, root);
		validate(&checker, root);
	}
}
