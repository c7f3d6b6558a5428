/* SPDX-License-Identifier: Apache-2.0
 * Expands macros into folds and presence tests. The expansions are upstream's, so that types, errors and
 * costs are equal. Source: cel-go v0.26, parser/macro.go, cel/library.go, ext.
 */
#include "plugins/dynamic_resources/cel_int.h"

/* Names that cannot occur in expressions. */
static const char accumulator[] = "@result";
static const char unused[] = "#unused";
static const char sort_input[] = "@__sortBy_input__";

#define COPIES_MAX 10000 /* maximum number of copied nodes */

/* One expansion: the call and its replacement. */
struct macro {
	struct bt_cel_compiler *compiler;
	struct bt_cel_node *call;
	struct bt_cel_node *target; /* NULL: none */
	struct bt_cel_node **args;  /* after the target */
	uint32_t arg_n;
	uint32_t variable_n; /* of args: names of iteration variables */
};

static struct bt_cel_node *make_ident(const struct macro *macro, struct bt_str name)
{
	struct bt_cel_node *node = bt_cel_node(macro->compiler, BT_CEL_IDENT, macro->call->at);

	node->name = name;
	return node;
}

static struct bt_cel_node *accu(const struct macro *macro)
{
	return make_ident(macro, bt_str(accumulator));
}

static struct bt_cel_node *make_bool(const struct macro *macro, bool boolean)
{
	struct bt_cel_node *node = bt_cel_node(macro->compiler, BT_CEL_CONST, macro->call->at);

	node->value = bt_cel_bool(boolean);
	return node;
}

static struct bt_cel_node *make_int(const struct macro *macro, int64_t integer)
{
	struct bt_cel_node *node = bt_cel_node(macro->compiler, BT_CEL_CONST, macro->call->at);

	node->value = bt_cel_int(integer);
	return node;
}

/* A list of one element, or an empty one. */
static struct bt_cel_node *make_list(const struct macro *macro, struct bt_cel_node *element)
{
	struct bt_cel_node *node =
		bt_cel_node_call(macro->compiler, macro->call->at, "", false, element, NULL, NULL);

	node->kind = BT_CEL_LIST;
	return node;
}

static struct bt_cel_node *make_call(const struct macro *macro, const char *function, struct bt_cel_node *a,
	struct bt_cel_node *b, struct bt_cel_node *c)
{
	return bt_cel_node_call(macro->compiler, macro->call->at, function, false, a, b, c);
}

static struct bt_cel_node *make_member(
	const struct macro *macro, const char *function, struct bt_cel_node *target, struct bt_cel_node *arg)
{
	return bt_cel_node_call(macro->compiler, macro->call->at, function, true, target, arg, NULL);
}

/* args as enum bt_cel_fold_arg. */
static struct bt_cel_node *make_fold(const struct macro *macro, struct bt_str iter_var,
	struct bt_str accu_var, struct bt_cel_node *const args[BT_CEL_FOLD_N])
{
	struct bt_cel_node *node = bt_cel_node(macro->compiler, BT_CEL_FOLD, macro->call->at);

	node->name = accu_var;
	node->iter_var = iter_var;
	node->arg_n = BT_CEL_FOLD_N;
	node->args = bt_arena_alloc(macro->compiler->arena, BT_CEL_FOLD_N * sizeof(*args), 8);
	memcpy(node->args, args, BT_CEL_FOLD_N * sizeof(*args));
	return node;
}

/* A fold over the macro's variables. */
static struct bt_cel_node *make_loop(const struct macro *macro, struct bt_cel_node *const args[BT_CEL_FOLD_N])
{
	struct bt_cel_node *node = make_fold(macro, macro->args[0]->name, bt_str(accumulator), args);

	if (macro->variable_n == 2) {
		node->iter_var2 = macro->args[1]->name;
	}
	return node;
}

/* Binds init to a name, visible in result. */
static struct bt_cel_node *make_bind(
	const struct macro *macro, struct bt_str name, struct bt_cel_node *init, struct bt_cel_node *result)
{
	struct bt_cel_node *const args[BT_CEL_FOLD_N] = {
		make_list(macro, NULL), init, make_bool(macro, false), make_ident(macro, name), result};

	return make_fold(macro, bt_str(unused), name, args);
}

static struct bt_cel_node *cel_macro_refuse(
	const struct macro *macro, const struct bt_cel_node *node, const char *why)
{
	bt_cel_diagnose(macro->compiler, node->at, "%s", why);
	return NULL;
}

static struct bt_cel_node *expand_has(const struct macro *macro)
{
	struct bt_cel_node *operand = macro->args[0];

	if (operand->kind != BT_CEL_SELECT || operand->test_only) {
		return cel_macro_refuse(macro, operand, "invalid argument to has() macro");
	}
	struct bt_cel_node *node =
		bt_cel_node_call(macro->compiler, macro->call->at, "", false, operand->args[0], NULL, NULL);
	node->kind = BT_CEL_SELECT;
	node->name = operand->name;
	node->test_only = true;
	return node;
}

/* The condition that a quantifier evaluates for each element. */
static struct bt_cel_node *predicate(const struct macro *macro)
{
	return macro->args[macro->variable_n];
}

static struct bt_cel_node *expand_all(const struct macro *macro)
{
	struct bt_cel_node *const args[BT_CEL_FOLD_N] = {macro->target, make_bool(macro, true),
		make_call(macro, "@not_strictly_false", accu(macro), NULL, NULL),
		make_call(macro, "_&&_", accu(macro), predicate(macro), NULL), accu(macro)};

	return make_loop(macro, args);
}

static struct bt_cel_node *expand_exists(const struct macro *macro)
{
	struct bt_cel_node *goes_on = make_call(macro, "!_", accu(macro), NULL, NULL);
	struct bt_cel_node *const args[BT_CEL_FOLD_N] = {macro->target, make_bool(macro, false),
		make_call(macro, "@not_strictly_false", goes_on, NULL, NULL),
		make_call(macro, "_||_", accu(macro), predicate(macro), NULL), accu(macro)};

	return make_loop(macro, args);
}

static struct bt_cel_node *expand_exists_one(const struct macro *macro)
{
	struct bt_cel_node *more = make_call(macro, "_+_", accu(macro), make_int(macro, 1), NULL);
	struct bt_cel_node *const args[BT_CEL_FOLD_N] = {macro->target, make_int(macro, 0),
		make_bool(macro, true), make_call(macro, "_?_:_", predicate(macro), more, accu(macro)),
		make_call(macro, "_==_", accu(macro), make_int(macro, 1), NULL)};

	return make_loop(macro, args);
}

/* filter(x, p), map(x, f) and map(x, p, f) add [element] to the list where the condition holds. */
static struct bt_cel_node *make_map(const struct macro *macro, struct bt_cel_node *range,
	struct bt_cel_node *condition, struct bt_cel_node *element)
{
	struct bt_cel_node *step = make_call(macro, "_+_", accu(macro), make_list(macro, element), NULL);

	if (condition) {
		step = make_call(macro, "_?_:_", condition, step, accu(macro));
	}
	struct bt_cel_node *const args[BT_CEL_FOLD_N] = {
		range, make_list(macro, NULL), make_bool(macro, true), step, accu(macro)};
	return make_loop(macro, args);
}

static struct bt_cel_node *expand_map(const struct macro *macro)
{
	struct bt_cel_node *condition = macro->arg_n == macro->variable_n + 2 ? predicate(macro) : NULL;

	return make_map(macro, macro->target, condition, macro->args[macro->arg_n - 1]);
}

static struct bt_cel_node *expand_filter(const struct macro *macro)
{
	return make_map(macro, macro->target, predicate(macro), macro->args[0]);
}

static struct bt_cel_node *expand_sort_by(const struct macro *macro)
{
	struct bt_str input = bt_str(sort_input);

	if (macro->target->kind == BT_CEL_CONST || macro->target->kind == BT_CEL_MAP) {
		return cel_macro_refuse(macro, macro->target,
			"sortBy can only be applied to a list, identifier, comprehension, call or select "
			"expression");
	}
	struct bt_cel_node *keys = make_map(macro, make_ident(macro, input), NULL, predicate(macro));
	return make_bind(macro, input, macro->target,
		make_member(macro, "@sortByAssociatedKeys", make_ident(macro, input), keys));
}

static struct bt_cel_node *expand_bind(const struct macro *macro)
{
	return make_bind(macro, macro->args[0]->name, macro->args[1], macro->args[2]);
}

/* Copies the node, so that errors in it are reported again. Above the limit returns the node itself. */
static struct bt_cel_node *copy(const struct macro *macro, struct bt_cel_node *node)
{
	if (macro->compiler->copy_n == COPIES_MAX) {
		return node;
	}
	macro->compiler->copy_n++;
	struct bt_cel_node *twin = bt_arena_alloc(macro->compiler->arena, sizeof(*twin), 8);
	*twin = *node;
	if (node->arg_n) {
		twin->args = bt_arena_alloc(macro->compiler->arena, node->arg_n * sizeof(*node->args), 8);
	}
	for (uint32_t i = 0; i < node->arg_n; i++) {
		twin->args[i] = copy(macro, node->args[i]);
	}
	return twin;
}

static struct bt_cel_node *expand_optional(const struct macro *macro, bool flat)
{
	struct bt_cel_node *value = make_bind(macro, macro->args[0]->name,
		make_member(macro, "value", copy(macro, macro->target), NULL), macro->args[1]);

	if (!flat) {
		value = make_call(macro, "optional.of", value, NULL, NULL);
	}
	return make_call(macro, "_?_:_", make_member(macro, "hasValue", macro->target, NULL), value,
		make_call(macro, "optional.none", NULL, NULL, NULL));
}

static struct bt_cel_node *expand_opt_map(const struct macro *macro)
{
	return expand_optional(macro, false);
}

static struct bt_cel_node *expand_opt_flat_map(const struct macro *macro)
{
	return expand_optional(macro, true);
}

static const char no_name[] = "argument must be a simple name";
static const char no_identifier[] = "argument is not an identifier";

static const struct {
	const char *name;
	bool member;
	uint32_t arg_n, variable_n;
	const char *no_variable; /* the error for variables that are not identifiers */
	struct bt_cel_node *(*expand)(const struct macro *macro);
} macros[] = {
	{"has", false, 1, 0, NULL, expand_has},
	{"all", true, 2, 1, no_name, expand_all},
	{"all", true, 3, 2, no_name, expand_all},
	{"exists", true, 2, 1, no_name, expand_exists},
	{"exists", true, 3, 2, no_name, expand_exists},
	{"exists_one", true, 2, 1, no_name, expand_exists_one},
	{"exists_one", true, 3, 2, no_name, expand_exists_one},
	{"existsOne", true, 3, 2, no_name, expand_exists_one},
	{"map", true, 2, 1, no_identifier, expand_map},
	{"map", true, 3, 1, no_identifier, expand_map},
	{"filter", true, 2, 1, no_identifier, expand_filter},
	{"sortBy", true, 2, 1, no_identifier, expand_sort_by},
	{"transformList", true, 3, 2, no_name, expand_map},
	{"transformList", true, 4, 2, no_name, expand_map},
	{"bind", true, 3, 1, "cel.bind() variable names must be simple identifiers", expand_bind},
	{"optMap", true, 2, 1, "optMap() variable name must be a simple identifier", expand_opt_map},
	{"optFlatMap", true, 2, 1, "optFlatMap() variable name must be a simple identifier",
		expand_opt_flat_map},
};

/* The first arguments must be distinct identifiers. */
static bool check_variables(const struct macro *macro, const char *otherwise)
{
	for (uint32_t i = 0; i < macro->variable_n; i++) {
		if (macro->args[i]->kind != BT_CEL_IDENT) {
			cel_macro_refuse(macro, macro->args[i], otherwise);
			return false;
		}
	}
	if (macro->variable_n == 2 && bt_str_eq(macro->args[0]->name, macro->args[1]->name)) {
		bt_cel_diagnose(macro->compiler, macro->args[1]->at, "duplicate variable name: %.*s",
			BT_STR_ARG(macro->args[1]->name));
		return false;
	}
	for (uint32_t i = 0; i < macro->variable_n; i++) {
		bool binds = otherwise != no_name && otherwise != no_identifier;

		if (!binds && bt_str_is(macro->args[i]->name, "__result__")) {
			cel_macro_refuse(
				macro, macro->args[i], "iteration variable overwrites accumulator variable");
			return false;
		}
	}
	return true;
}

bool bt_cel_expand(struct bt_cel_compiler *compiler, struct bt_cel_node **call)
{
	struct bt_cel_node *node = *call;
	struct macro macro = {.compiler = compiler,
		.call = node,
		.target = node->member ? node->args[0] : NULL,
		.args = node->member ? node->args + 1 : node->args,
		.arg_n = node->arg_n - node->member};

	for (size_t i = 0; i < sizeof(macros) / sizeof(*macros); i++) {
		if (macros[i].member != node->member || macros[i].arg_n != macro.arg_n ||
			!bt_str_is(node->name, macros[i].name)) {
			continue;
		}
		if (macros[i].expand == expand_bind &&
			(macro.target->kind != BT_CEL_IDENT || !bt_str_is(macro.target->name, "cel"))) {
			continue;
		}
		macro.variable_n = macros[i].variable_n;
		if (!check_variables(&macro, macros[i].no_variable)) {
			return false;
		}
		*call = macros[i].expand(&macro);
		if (*call) {
			(*call)->height = node->height;
		}
		return *call != NULL;
	}
	return true;
}
