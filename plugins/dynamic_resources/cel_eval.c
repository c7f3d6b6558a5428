/* SPDX-License-Identifier: Apache-2.0
 * Evaluates a checked expression over a device and tracks its cost as upstream's tracker does. Source: cel-go
 * v0.26, interpreter: interpretable.go, attributes.go, runtimecost.go.
 */
#include "plugins/dynamic_resources/cel_int.h"
#include "engine/base/check.h"

#define ARGS_MAX  4
#define LIST_COST 10
#define MAP_COST  30

static inline bool is_error(const struct bt_cel_value *value)
{
	return value->kind == BT_CEL_K_ERROR;
}

static inline bool is_true(const struct bt_cel_value *value)
{
	return value->kind == BT_CEL_K_BOOL && value->boolean;
}

static inline bool is_false(const struct bt_cel_value *value)
{
	return value->kind == BT_CEL_K_BOOL && !value->boolean;
}

static inline struct bt_cel_value none(void)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_OPTIONAL};
}

static inline void charge(struct bt_cel_run *run, uint64_t cost)
{
	run->cost += cost;
	if (run->cost > BT_CEL_COST_MAX && !run->cancelled) {
		run->cancelled = bt_cel_cost_text;
	}
}

bool bt_cel_is_attribute(const struct bt_cel_node *node)
{
	return node->kind == BT_CEL_IDENT || (node->kind == BT_CEL_SELECT && !node->test_only) ||
	       (node->kind == BT_CEL_CALL && node->form >= BT_CEL_INDEX && node->form <= BT_CEL_OPT_SELECT);
}

static struct bt_cel_value eval_attribute(
	struct bt_cel_run *run, const struct bt_cel_node *node, bool counted);

static struct bt_cel_value eval_ident(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	if (node->slot == BT_CEL_NO_SLOT) {
		return (struct bt_cel_value){.kind = BT_CEL_K_MAP, .view = BT_CEL_DEVICE};
	}
	struct bt_cel_local *local = &run->locals[node->slot];
	BT_INVARIANT(run->locals);
	if (local->init) {
		const struct bt_cel_node *init = local->init;

		local->init = NULL;
		struct bt_cel_value value = bt_cel_eval(run, init);
		*local = (struct bt_cel_local){.value = value};
	}
	return local->value;
}

/* An error that prints a key. */
static struct bt_cel_value fail_key(struct bt_cel_run *run, const char *what, const struct bt_cel_value *key)
{
	if (key->kind == BT_CEL_K_STRING) {
		return bt_cel_fail(run, "%s: %.*s", what, BT_STR_ARG(key->text));
	}
	struct bt_buf text = {0};
	bt_cel_print(key, &text);
	struct bt_cel_value error =
		bt_cel_fail(run, "%s: %.*s", what, (int)text.len, text.ptr ? text.ptr : "");
	bt_buf_fini(&text);
	return error;
}

/* The value of object at key. With test, *out_present is false when there is none. */
static struct bt_cel_value qualify(struct bt_cel_run *run, const struct bt_cel_value *object,
	const struct bt_cel_value *key, bool test, bool *out_present)
{
	struct bt_cel_value value = {.kind = BT_CEL_K_ERROR};
	int64_t index;

	*out_present = true;
	if (object->kind == BT_CEL_K_MAP) {
		value = bt_cel_find(run, object, key);
		if (!is_error(&value)) {
			return value;
		}
	} else if (object->kind == BT_CEL_K_LIST) {
		if (!bt_cel_to_index(run, key, &index, &value)) {
			return value;
		}
		if (index >= 0 && index < object->n) {
			return object->items->values[index];
		}
	}
	if (test) {
		*out_present = false;
		return value;
	}
	return fail_key(run, object->kind == BT_CEL_K_LIST ? "index out of bounds" : "no such key", key);
}

/* The key of a selection or index. */
static struct bt_cel_value eval_key(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	if (node->kind == BT_CEL_SELECT) {
		return bt_cel_text(node->name);
	}
	const struct bt_cel_node *index = node->args[1];
	if (index->kind == BT_CEL_CONST) {
		return index->value;
	}
	struct bt_cel_value key =
		bt_cel_is_attribute(index) ? eval_attribute(run, index, false) : bt_cel_eval(run, index);
	if (is_error(&key) || bt_cel_is_key(&key)) {
		return key;
	}
	return bt_cel_fail(run, "invalid qualifier type: %s", bt_cel_go_type(&key));
}

/*
 * The value of a link's operand. *optional is set when the chain has become optional; *out_none when it ends
 * without a value.
 */
static struct bt_cel_value resolve(
	struct bt_cel_run *run, const struct bt_cel_node *node, bool *optional, bool *out_none);

static struct bt_cel_value resolve_operand(
	struct bt_cel_run *run, const struct bt_cel_node *operand, bool *optional, bool *out_none)
{
	if (bt_cel_is_attribute(operand) && operand->kind != BT_CEL_IDENT) {
		return resolve(run, operand, optional, out_none);
	}
	struct bt_cel_value value =
		operand->kind == BT_CEL_IDENT ? eval_ident(run, operand) : bt_cel_eval(run, operand);
	if (value.kind == BT_CEL_K_OPTIONAL) {
		*optional = true;
		*out_none = value.optional == NULL;
		return value.optional ? *value.optional : value;
	}
	return value;
}

static struct bt_cel_value resolve(
	struct bt_cel_run *run, const struct bt_cel_node *node, bool *optional, bool *out_none)
{
	struct bt_cel_value object = resolve_operand(run, node->args[0], optional, out_none);
	bool present;

	BT_INVARIANT(node->arg_n > 0 && bt_cel_is_attribute(node));
	if (is_error(&object) || *out_none) {
		return object;
	}
	struct bt_cel_value key = eval_key(run, node);
	if (is_error(&key)) {
		return key;
	}
	*optional |= node->kind == BT_CEL_CALL && node->form != BT_CEL_INDEX;
	struct bt_cel_value value = qualify(run, &object, &key, *optional, &present);
	if (!present) {
		*out_none = true;
		return none();
	}
	charge(run, 1);
	return value;
}

static struct bt_cel_value make_optional(struct bt_cel_run *run, const struct bt_cel_value *value)
{
	struct bt_cel_value *copy = bt_cel_alloc(run, sizeof(*copy));

	if (!copy) {
		return (struct bt_cel_value){.kind = BT_CEL_K_ERROR};
	}
	*copy = *value;
	return (struct bt_cel_value){.kind = BT_CEL_K_OPTIONAL, .optional = copy};
}

/* counted: the chain's start costs one, as everywhere but in branches and indices. */
static struct bt_cel_value eval_attribute(
	struct bt_cel_run *run, const struct bt_cel_node *node, bool counted)
{
	bool optional = false;
	bool is_none = false;

	if (node->kind == BT_CEL_IDENT) {
		charge(run, counted);
		return eval_ident(run, node);
	}
	struct bt_cel_value value = resolve(run, node, &optional, &is_none);
	charge(run, counted && !node->branching);
	if (is_error(&value) || !optional) {
		return value;
	}
	return is_none ? none() : make_optional(run, &value);
}

static struct bt_cel_value test(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	bool optional = false;
	bool is_none = false;
	bool present;

	struct bt_cel_value object = resolve_operand(run, node->args[0], &optional, &is_none);
	if (is_error(&object)) {
		return object;
	}
	if (is_none) {
		return bt_cel_bool(false);
	}
	struct bt_cel_value key = bt_cel_text(node->name);
	struct bt_cel_value value = qualify(run, &object, &key, true, &present);
	charge(run, 1);
	if (present && is_error(&value)) {
		return value;
	}
	return bt_cel_bool(present);
}

static struct bt_cel_value eval_test(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	struct bt_cel_value result = test(run, node);

	/* Upstream refunds the cost of the chain's start, even if it was 0, so that it may go below 0. */
	if (node->branching && run->cost-- == 0) {
		run->cancelled = bt_cel_cost_text;
	}
	return result;
}

/* One false makes "and" false, one true makes "or" true, even if other terms fail. */
static struct bt_cel_value eval_logic(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	bool or = node->form == BT_CEL_OR;
	struct bt_cel_value result = bt_cel_bool(! or);

	for (uint32_t i = 0; i < node->arg_n; i++) {
		struct bt_cel_value value = bt_cel_eval(run, node->args[i]);

		if (or ? is_true(&value) : is_false(&value)) {
			return value;
		}
		if (value.kind != BT_CEL_K_BOOL && !is_error(&result)) {
			result = is_error(&value) ? value : bt_cel_no_overload();
		}
	}
	return result;
}

static struct bt_cel_value eval_branch(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	return bt_cel_is_attribute(node) ? eval_attribute(run, node, false) : bt_cel_eval(run, node);
}

static struct bt_cel_value eval_conditional(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	BT_INVARIANT(node->arg_n == 3);
	struct bt_cel_value condition = bt_cel_eval(run, node->args[0]);

	if (condition.kind != BT_CEL_K_BOOL) {
		return is_error(&condition) ? condition : bt_cel_no_overload();
	}
	return eval_branch(run, node->args[condition.boolean ? 1 : 2]);
}

static struct bt_cel_value eval_equality(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	BT_INVARIANT(node->arg_n == 2);
	static const struct bt_cel_overload smaller = {.cost = BT_CEL_COST_SMALLER};
	struct bt_cel_value sides[2] = {bt_cel_eval(run, node->args[0]), bt_cel_eval(run, node->args[1])};

	if (is_error(&sides[0]) || is_error(&sides[1])) {
		charge(run, bt_cel_call_cost(&smaller, true, sides, 2, &sides[0], run->device));
		return sides[is_error(&sides[0]) ? 0 : 1];
	}
	struct bt_cel_value equal = bt_cel_equal(run, &sides[0], &sides[1]);
	charge(run, bt_cel_call_cost(&smaller, true, sides, 2, &equal, run->device));
	/* Values that cannot be compared are not equal. */
	return node->form == BT_CEL_EQUAL ? equal : bt_cel_bool(!is_true(&equal));
}

static struct bt_cel_value eval_or_value(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	struct bt_cel_value left = bt_cel_eval(run, node->args[0]);

	if (left.kind != BT_CEL_K_OPTIONAL) {
		return left;
	}
	if (!left.optional) {
		return bt_cel_eval(run, node->args[1]);
	}
	return node->form == BT_CEL_OPT_OR ? left : *left.optional;
}

/* Membership in a constant list. */
static struct bt_cel_value eval_in_const(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	BT_INVARIANT(node->args[1]->kind == BT_CEL_CONST && node->args[1]->value.kind == BT_CEL_K_LIST);
	struct bt_cel_value value = bt_cel_eval(run, node->args[0]);
	const struct bt_cel_value *list = &node->args[1]->value;

	if (is_error(&value)) {
		return value;
	}
	if (!bt_cel_hash(run, &value)) {
		return (struct bt_cel_value){.kind = BT_CEL_K_ERROR};
	}
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_cel_is_true_equal(run, &list->items->values[i], &value)) {
			return bt_cel_bool(true);
		}
	}
	return bt_cel_bool(false);
}

/* No overload accepts these values. */
static struct bt_cel_value cel_eval_refuse(
	struct bt_cel_run *run, const char *name, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < arg_n; i++) {
		bt_buf_text(&text, i ? ", " : "");
		bt_buf_text(&text, bt_cel_kind_name(args[i].kind));
	}
	struct bt_cel_value error =
		bt_cel_fail(run, "no such overload: %s(%.*s)", name, (int)text.len, text.ptr ? text.ptr : "");
	bt_buf_fini(&text);
	return error;
}

/* Passes the constant pattern in place of the pattern argument. */
static struct bt_cel_value call_with_regex(
	struct bt_cel_run *run, const struct bt_cel_node *node, struct bt_cel_value *args)
{
	BT_INVARIANT(node->regex && node->arg_n >= 2);
	if (args[0].kind != BT_CEL_K_STRING) {
		return bt_cel_no_overload();
	}
	struct bt_cel_value pattern = args[1];
	args[1] = (struct bt_cel_value){.kind = BT_CEL_K_DYN, .regex = node->regex};
	struct bt_cel_value result = node->overloads->call(run, args, node->arg_n);
	args[1] = pattern;
	return result;
}

/* Calls the overload that accepts the values. */
static struct bt_cel_value dispatch(
	struct bt_cel_run *run, const struct bt_cel_node *node, struct bt_cel_value *args)
{
	const struct bt_cel_overload *first = node->overloads;

	if (node->regex) {
		return call_with_regex(run, node, args);
	}
	if (first->loose) {
		return first->call(run, args, node->arg_n);
	}
	/* If the checker found a single overload, no other is tried, even if its types were only guesses. */
	BT_INVARIANT(!node->overload || node->overload >= first);
	uint32_t from = node->overload ? (uint32_t)(node->overload - first) : 0;
	uint32_t to = node->overload ? from + 1 : node->overload_n;
	for (uint32_t i = from; i < to; i++) {
		if (bt_cel_takes(&first[i], args, node->arg_n)) {
			return first[i].call(run, args, node->arg_n);
		}
	}
	return cel_eval_refuse(run, first->name, args, node->arg_n);
}

/* Upstream evaluates both of up to two arguments and charges for the call, even after an error, unless it
 * must look up the overload. */
static bool ends_at_error(const struct bt_cel_node *node)
{
	return node->arg_n > 2 || node->regex || (!node->overload && !node->overloads->loose);
}

static void cancel(struct bt_cel_run *run, struct bt_cel_value text)
{
	run->cancelled = run->cancelled ? run->cancelled : text.text.ptr;
}

static const char *go_type(const struct bt_cel_value *value)
{
	return is_error(value) ? "*types.Err" : bt_cel_go_type(value);
}

/* Upstream's cost estimate for sorting and flattening fails on arguments of other types. */
static void trip(struct bt_cel_run *run, const struct bt_cel_node *node, const struct bt_cel_value *args)
{
	enum bt_cel_cost cost = node->overload ? node->overload->cost : BT_CEL_COST_ONE;
	const struct bt_cel_value *list = cost == BT_CEL_COST_SORT ? &args[0] : &args[1];

	if (cost == BT_CEL_COST_FLATTEN && node->arg_n == 2 && args[1].kind != BT_CEL_K_INT) {
		cancel(run,
			bt_cel_fail(run, "internal error: interface conversion: ref.Val is %s, not types.Int",
				go_type(&args[1])));
	}
	if ((cost != BT_CEL_COST_SORT && cost != BT_CEL_COST_SORT_BY) || list->kind == BT_CEL_K_LIST) {
		return;
	}
	bool adds = list->kind == BT_CEL_K_INT || list->kind == BT_CEL_K_UINT ||
		    list->kind == BT_CEL_K_DOUBLE || list->kind == BT_CEL_K_STRING ||
		    list->kind == BT_CEL_K_BYTES;
	cancel(run,
		bt_cel_fail(run,
			"internal error: interface conversion: %s is not traits.Lister: missing method %s",
			go_type(list), adds ? "Contains" : "Add"));
}

static struct bt_cel_value eval_function(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	BT_INVARIANT(node->arg_n <= ARGS_MAX && node->overloads);
	const struct bt_cel_overload *overload = node->overload ? node->overload : node->overloads;
	struct bt_cel_value args[ARGS_MAX];
	struct bt_cel_value result = {.kind = BT_CEL_K_NULL};

	for (uint32_t i = 0; i < node->arg_n; i++) {
		args[i] = bt_cel_eval(run, node->args[i]);
		if (is_error(&args[i]) && !is_error(&result)) {
			result = args[i];
			if (ends_at_error(node) && i + 1 < node->arg_n) {
				return result;
			}
		}
	}
	trip(run, node, args);
	if (!is_error(&result) && !run->cancelled) {
		result = dispatch(run, node, args);
	}
	charge(run,
		bt_cel_call_cost(overload, node->overload != NULL, args, node->arg_n, &result, run->device));
	return result;
}

static struct bt_cel_value eval_call(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	struct bt_cel_value value;

	switch ((enum bt_cel_form)node->form) {
	case BT_CEL_FUNCTION:
		return eval_function(run, node);
	case BT_CEL_AND:
	case BT_CEL_OR:
		return eval_logic(run, node);
	case BT_CEL_CONDITIONAL:
		return eval_conditional(run, node);
	case BT_CEL_EQUAL:
	case BT_CEL_NOT_EQUAL:
		return eval_equality(run, node);
	case BT_CEL_INDEX:
	case BT_CEL_OPT_INDEX:
	case BT_CEL_OPT_SELECT:
		return eval_attribute(run, node, true);
	case BT_CEL_OPT_OR:
	case BT_CEL_OPT_OR_VALUE:
		return eval_or_value(run, node);
	case BT_CEL_NOT_STRICTLY_FALSE:
		value = bt_cel_eval(run, node->args[0]);
		charge(run, 1);
		return value.kind == BT_CEL_K_BOOL ? value : bt_cel_bool(true);
	case BT_CEL_IN_CONST:
		return eval_in_const(run, node);
	}
	return bt_cel_no_overload();
}

/* The element inside an optional one. Returns false when it is empty, or *value is an error. */
static bool take_optional(struct bt_cel_run *run, const struct bt_cel_value *key, struct bt_cel_value *value)
{
	if (value->kind == BT_CEL_K_OPTIONAL) {
		if (!value->optional) {
			return false;
		}
		*value = *value->optional;
		return true;
	}
	struct bt_buf text = {0};
	if (key) {
		bt_buf_text(&text, "cannot initialize optional entry '");
		bt_cel_print(key, &text);
		bt_buf_text(&text, "' from non-optional value ");
	} else {
		bt_buf_text(&text, "cannot initialize optional list element from non-optional value ");
	}
	bt_cel_print(value, &text);
	*value = bt_cel_fail(run, "%.*s", (int)text.len, text.ptr);
	bt_buf_fini(&text);
	return false;
}

static struct bt_cel_value make_list(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	struct bt_cel_value list = bt_cel_new_list(run, node->arg_n);
	uint32_t n = 0;

	for (uint32_t i = 0; i < node->arg_n && !is_error(&list); i++) {
		struct bt_cel_value value = bt_cel_eval(run, node->args[i]);

		if (is_error(&value)) {
			return value;
		}
		if (node->optional && node->optional[i] && !take_optional(run, NULL, &value)) {
			if (is_error(&value)) {
				return value;
			}
			continue;
		}
		list.items->values[n++] = value;
	}
	if (!is_error(&list)) {
		list.n = n;
		BT_INVARIANT(n <= node->arg_n);
		if (list.items) {
			list.items->used_n = n;
		}
	}
	return list;
}

/* The index of a key among those set so far, or the index behind them. */
static uint32_t place_of(
	struct bt_cel_run *run, const struct bt_cel_value *map, const struct bt_cel_value *key)
{
	uint32_t ix = 0;

	while (ix < map->n && (map->items->values[2 * ix].kind != key->kind ||
				      !bt_cel_is_true_equal(run, &map->items->values[2 * ix], key))) {
		ix++;
	}
	return ix;
}

static void set_entry(struct bt_cel_run *run, struct bt_cel_value *map, const struct bt_cel_value *key,
	const struct bt_cel_value *value)
{
	uint32_t ix = place_of(run, map, key);

	map->items->values[2 * ix] = *key;
	map->items->values[2 * ix + 1] = *value;
	map->n += ix == map->n;
	BT_INVARIANT(2 * map->n <= map->items->cap_n);
}

static void remove_entry(struct bt_cel_run *run, struct bt_cel_value *map, const struct bt_cel_value *key)
{
	uint32_t ix = place_of(run, map, key);

	BT_INVARIANT(map->kind == BT_CEL_K_MAP);
	if (ix < map->n) {
		map->n--;
		memmove(&map->items->values[2 * ix], &map->items->values[2 * ix + 2],
			2 * (size_t)(map->n - ix) * sizeof(*key));
	}
}

static struct bt_cel_value make_map(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	struct bt_cel_value map = bt_cel_new_list(run, node->arg_n);

	if (is_error(&map)) {
		return map;
	}
	map.kind = BT_CEL_K_MAP;
	map.n = 0;
	for (uint32_t i = 0; i + 1 < node->arg_n; i += 2) {
		struct bt_cel_value key = bt_cel_eval(run, node->args[i]);

		if (is_error(&key)) {
			return key;
		}
		struct bt_cel_value value = bt_cel_eval(run, node->args[i + 1]);
		if (is_error(&value) || !bt_cel_hash(run, &key)) {
			return is_error(&value) ? value : bt_cel_no_overload();
		}
		if (node->optional && node->optional[i + 1] && !take_optional(run, &key, &value)) {
			if (is_error(&value)) {
				return value;
			}
			remove_entry(run, &map, &key);
			continue;
		}
		set_entry(run, &map, &key, &value);
	}
	return map;
}

/* A list or map. An error inside does not change its cost. */
static struct bt_cel_value eval_aggregate(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	struct bt_cel_value value = node->kind == BT_CEL_LIST ? make_list(run, node) : make_map(run, node);

	charge(run, node->kind == BT_CEL_LIST ? LIST_COST : MAP_COST);
	return value;
}

/* One variable is the element or key. Two are index and element, or key and value. */
static void set_variables(struct bt_cel_run *run, const struct bt_cel_node *node,
	const struct bt_cel_value *range, const struct bt_cel_value *element, uint32_t ix)
{
	BT_INVARIANT(run->locals && node->slot != BT_CEL_NO_SLOT);
	struct bt_cel_local *variables = &run->locals[node->slot + 1];

	variables[0] = (struct bt_cel_local){.value = *element};
	variables[1] = (struct bt_cel_local){.value = *element};
	if (node->iter_var2.len && range->kind == BT_CEL_K_MAP) {
		variables[1].value = bt_cel_find(run, range, element);
	} else if (node->iter_var2.len) {
		variables[0].value = bt_cel_int(ix);
	}
}

static struct bt_cel_value eval_fold(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	BT_INVARIANT(node->arg_n == BT_CEL_FOLD_N);
	struct bt_cel_value range = bt_cel_eval(run, node->args[BT_CEL_RANGE]);
	struct bt_cel_local *accu = &run->locals[node->slot];
	struct bt_cel_value map = range;

	if (range.kind == BT_CEL_K_MAP) {
		range = bt_cel_keys(run, &range);
	}
	if (is_error(&range)) {
		return range;
	}
	if (range.kind != BT_CEL_K_LIST) {
		return bt_cel_fail(run,
			node->iter_var2.len ? "unsupported comprehension range type: %s"
					    : "got '%s', expected iterable type",
			bt_cel_go_type(&range));
	}
	/* The start value is evaluated on first use. */
	*accu = (struct bt_cel_local){.init = node->args[BT_CEL_INIT]};
	for (uint32_t i = 0; i < range.n && !run->cancelled; i++) {
		set_variables(run, node, &map, &range.items->values[i], i);
		struct bt_cel_value goes_on = bt_cel_eval(run, node->args[BT_CEL_CONDITION]);
		if (is_false(&goes_on)) {
			break;
		}
		struct bt_cel_value value = bt_cel_eval(run, node->args[BT_CEL_STEP]);
		*accu = (struct bt_cel_local){.value = value};
		bt_cel_step(run, 1);
	}
	return bt_cel_eval(run, node->args[BT_CEL_RESULT]);
}

struct bt_cel_value bt_cel_eval(struct bt_cel_run *run, const struct bt_cel_node *node)
{
	if (run->cancelled) {
		return (struct bt_cel_value){.kind = BT_CEL_K_ERROR};
	}
	switch ((enum bt_cel_node_kind)node->kind) {
	case BT_CEL_CONST:
		return node->value;
	case BT_CEL_IDENT:
		return eval_attribute(run, node, true);
	case BT_CEL_SELECT:
		return node->test_only ? eval_test(run, node) : eval_attribute(run, node, true);
	case BT_CEL_CALL:
		return eval_call(run, node);
	case BT_CEL_LIST:
	case BT_CEL_MAP:
		return eval_aggregate(run, node);
	case BT_CEL_FOLD:
		return eval_fold(run, node);
	}
	return bt_cel_no_overload();
}
