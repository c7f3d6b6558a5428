/* SPDX-License-Identifier: Apache-2.0
 * Compiling and matching, and what is computed at compile time: constant lists, conversions and patterns.
 * Source: dynamic-resource-allocation/cel/compile.go, v1.36.3; cel-go v0.26, interpreter/decorators.go.
 */
#include "plugins/dynamic_resources/cel.h"

#include "plugins/dynamic_resources/cel_int.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"

#define MEMORY_MAX_BYTES ((size_t)4 << 20) /* per match */
#define STEPS_MAX	 20000000	   /* per match: comparisons of elements, steps of patterns */

struct bt_cel {
	struct bt_arena arena;
	const struct bt_cel_node *root;
	uint32_t slot_n;
	struct bt_cel_pattern *patterns;
};

/* ---- planning ---- */

struct planner {
	struct bt_cel_compiler *compiler;
	struct bt_buf *error; /* not empty: planning has failed */
};

static void fold_node(struct planner *planner, struct bt_cel_node *node)
{
	BT_INVARIANT(node->stage == BT_CEL_PLANNED);
	static const struct bt_cel_device nothing;
	struct bt_cel_run run = {.device = &nothing,
		.arena = planner->compiler->arena,
		.left_steps = STEPS_MAX,
		.left_bytes = MEMORY_MAX_BYTES};
	struct bt_cel_value value = bt_cel_eval(&run, node);

	if (value.kind == BT_CEL_K_ERROR) {
		struct bt_str why = run.cancelled ? bt_str(run.cancelled) : value.text;

		bt_buf_text(planner->error, "program instantiation failed: ");
		bt_buf_str(planner->error, why);
		return;
	}
	node->kind = BT_CEL_CONST;
	node->value = value;
	node->arg_n = 0;
}

static bool is_conversion(struct bt_str name)
{
	static const char *const names[] = {
		"bool", "bytes", "double", "dyn", "int", "string", "type", "uint"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (bt_str_is(name, names[i])) {
			return true;
		}
	}
	return false;
}

static void plan_pattern(struct planner *planner, struct bt_cel_node *node)
{
	if (node->arg_n < 2 || node->args[1]->kind != BT_CEL_CONST ||
		node->args[1]->value.kind != BT_CEL_K_STRING) {
		return;
	}
	size_t len = planner->error->len;
	bt_buf_text(planner->error, "program instantiation failed: ");
	size_t left_bytes = SIZE_MAX;
	struct bt_re2 *re2 = bt_cel_regex_compile(node->args[1]->value.text, &left_bytes, planner->error);
	if (re2) {
		struct bt_cel_pattern *pattern =
			bt_arena_alloc(planner->compiler->arena, sizeof(*pattern), 8);

		*pattern = (struct bt_cel_pattern){re2, planner->compiler->patterns};
		planner->compiler->patterns = pattern;
		node->regex = re2;
		planner->error->len = len;
	}
}

static void plan_in(struct bt_cel_node *node)
{
	BT_INVARIANT(node->arg_n == 2);
	const struct bt_cel_node *list = node->args[1];

	if (list->kind != BT_CEL_CONST || list->value.kind != BT_CEL_K_LIST || !node->overload) {
		return;
	}
	if (list->value.n == 0) {
		node->kind = BT_CEL_CONST;
		node->value = bt_cel_bool(false);
		node->arg_n = 0;
		return;
	}
	for (uint32_t i = 0; i < list->value.n; i++) {
		switch (list->value.items->values[i].kind) {
		case BT_CEL_K_BOOL:
		case BT_CEL_K_INT:
		case BT_CEL_K_UINT:
		case BT_CEL_K_DOUBLE:
		case BT_CEL_K_STRING:
			break;
		default:
			return;
		}
	}
	node->form = BT_CEL_IN_CONST;
}

static void plan_call(struct planner *planner, struct bt_cel_node *node, bool constant)
{
	if (node->form == BT_CEL_INDEX || node->form == BT_CEL_OPT_INDEX) {
		if (node->args[1]->kind == BT_CEL_CONST && !bt_cel_is_key(&node->args[1]->value)) {
			bt_buf_printf(planner->error,
				"program instantiation failed: invalid qualifier type: %s",
				bt_cel_go_type(&node->args[1]->value));
		}
		return;
	}
	if (node->form != BT_CEL_FUNCTION) {
		return;
	}
	struct bt_str name = bt_str(node->overloads->name);
	if (constant && node->arg_n == 1 && is_conversion(name)) {
		fold_node(planner, node);
	} else if (bt_str_is(name, "@in")) {
		plan_in(node);
	} else if (bt_str_is(name, "matches") || bt_str_is(name, "find") || bt_str_is(name, "findAll")) {
		plan_pattern(planner, node);
	}
}

/* A chain of selections and indices that starts at a conditional costs less. */
static bool is_branching(const struct bt_cel_node *node)
{
	const struct bt_cel_node *operand = node->arg_n ? node->args[0] : NULL;

	if (node->kind != BT_CEL_SELECT && (node->kind == BT_CEL_IDENT || !bt_cel_is_attribute(node))) {
		return false;
	}
	return operand->branching || (operand->kind == BT_CEL_CALL && operand->form == BT_CEL_CONDITIONAL);
}

static void plan(struct planner *planner, struct bt_cel_node *node)
{
	bool constant = true;

	if (node->stage == BT_CEL_PLANNED) {
		return;
	}
	node->stage = BT_CEL_PLANNED;
	for (uint32_t i = 0; i < node->arg_n && planner->error->len == 0; i++) {
		plan(planner, node->args[i]);
		constant &= node->args[i]->kind == BT_CEL_CONST;
	}
	if (planner->error->len) {
		return;
	}
	node->branching = is_branching(node);
	/* Upstream looks up a type of the variable's name. */
	if (node->kind == BT_CEL_IDENT && node->type->kind == BT_CEL_K_TYPE) {
		bt_buf_printf(planner->error,
			"program instantiation failed: reference to undefined type: %.*s",
			BT_STR_ARG(node->name));
		return;
	}
	if (node->kind == BT_CEL_CALL) {
		plan_call(planner, node, constant);
	} else if (constant && (node->kind == BT_CEL_LIST || node->kind == BT_CEL_MAP)) {
		fold_node(planner, node);
	}
}

/* ---- compiling ---- */

static bool is_scalar(const struct bt_cel_type *type)
{
	switch (type->kind) {
	case BT_CEL_K_BOOL:
	case BT_CEL_K_INT:
	case BT_CEL_K_STRING:
	case BT_CEL_K_SEMVER:
	case BT_CEL_K_ANY:
	case BT_CEL_K_DYN:
		return true;
	default:
		return false;
	}
}

/* Is the type none that a result may have? Source: validateOutputType, v1.37.2. */
static bool result_fails(
	const struct bt_cel_compiler *compiler, const struct bt_cel_type *type, struct bt_buf *error)
{
	bool derives = compiler->features & BT_CEL_DERIVES;

	if (derives ? is_scalar(type) || (type->kind == BT_CEL_K_LIST && is_scalar(type->params[0]))
		    : type->kind == BT_CEL_K_BOOL || type->kind == BT_CEL_K_ANY ||
				type->kind == bt_cel_attribute_kind_of(compiler)) {
		return false;
	}
	bt_buf_text(error, derives ? "must evaluate to a primitive scalar (string, integer, boolean, semver) "
				     "or a list of these scalars, not "
				   : "must evaluate to bool or the unknown type, not ");
	bt_cel_type_name(type, error);
	return true;
}

static struct bt_cel_node *cel_compile(struct bt_cel_compiler *compiler, struct bt_buf *error)
{
	struct planner planner = {.compiler = compiler, .error = &(struct bt_buf){0}};
	struct bt_cel_node *root = NULL;

	if (compiler->source.len > BT_CEL_EXPRESSION_MAX) {
		bt_buf_printf(error, "compilation failed: expression of %zu bytes exceeds limit of %d",
			compiler->source.len, BT_CEL_EXPRESSION_MAX);
		return NULL;
	}
	root = bt_cel_parse(compiler);
	if (root) {
		bt_cel_check(compiler, root);
	}
	if (compiler->error_n) {
		bt_buf_text(error, "compilation failed: ");
		bt_cel_show_errors(compiler, error);
		return NULL;
	}
	if (result_fails(compiler, root->type, error)) {
		return NULL;
	}
	plan(&planner, root);
	if (planner.error->len) {
		bt_buf_str(error, bt_buf_view(planner.error));
		root = NULL;
	}
	bt_buf_fini(planner.error);
	return root;
}

struct bt_cel *bt_cel_compile(struct bt_str expression, unsigned features, struct bt_buf *error)
{
	struct bt_cel *cel = bt_mem_zalloc(1, sizeof(*cel));
	struct bt_cel_compiler compiler = {.arena = &cel->arena, .features = features};

	compiler.source.len = expression.len;
	compiler.source.ptr =
		bt_arena_copy(&cel->arena, expression.ptr ? expression.ptr : "", expression.len);
	cel->root = cel_compile(&compiler, error);
	cel->slot_n = compiler.slot_n;
	cel->patterns = compiler.patterns;
	if (!cel->root) {
		bt_cel_destroy(cel);
		return NULL;
	}
	return cel;
}

void bt_cel_destroy(struct bt_cel *cel)
{
	if (cel) {
		for (struct bt_cel_pattern *pattern = cel->patterns; pattern; pattern = pattern->next) {
			bt_re2_destroy(pattern->re2);
		}
		bt_arena_fini(&cel->arena);
		bt_mem_free(cel);
	}
}

/* ---- matching ---- */

/* Writes the error of Go for a value that is not a bool. */
static void write_not_bool(const struct bt_cel_value *value, struct bt_buf *error)
{
	static const char *const texts[BT_CEL_K_N] = {
		[BT_CEL_K_NULL] = "type conversion error from 'null_type' to 'bool'",
		[BT_CEL_K_INT] = "unsupported type conversion from 'int' to bool",
		[BT_CEL_K_UINT] = "unsupported type conversion from 'uint' to bool",
		[BT_CEL_K_DOUBLE] = "type conversion error from Double to 'bool'",
		[BT_CEL_K_STRING] = "unsupported native conversion from string to 'bool'",
		[BT_CEL_K_BYTES] = "type conversion error from Bytes to 'bool'",
		[BT_CEL_K_LIST] = "type conversion error from list to 'bool'",
		[BT_CEL_K_MAP] = "type conversion error from map to 'bool'",
		[BT_CEL_K_TYPE] = "type conversion not supported for 'type'",
		[BT_CEL_K_OPTIONAL] = "optional.none() dereference",
		[BT_CEL_K_QUANTITY] = "type conversion error from 'Quantity' to 'bool'",
		[BT_CEL_K_SEMVER] = "type conversion error from 'Semver' to 'bool'"};
	const char *text = texts[value->kind];

	bt_buf_printf(error, "CEL result of type %s could not be converted to bool: %s",
		bt_cel_kind_name(value->kind), text ? text : "unsupported");
}

/* Evaluates the expression. Returns false with an error. */
static bool evaluate(const struct bt_cel *cel, struct bt_cel_run *run, struct bt_buf *error,
	struct bt_cel_value *out_value)
{
	if (run->device->invalid.len) {
		bt_buf_str(error, run->device->invalid);
		return false;
	}
	bt_arena_reset(run->arena);
	if (cel->slot_n) {
		run->locals = bt_arena_alloc(run->arena, cel->slot_n * sizeof(*run->locals), 8);
	}
	*out_value = bt_cel_eval(run, cel->root);
	if (run->cancelled) {
		bt_buf_text(error, run->cancelled);
		return false;
	}
	if (out_value->kind == BT_CEL_K_ERROR) {
		bt_buf_str(error, out_value->text);
		return false;
	}
	/* Unwraps an optional. */
	if (out_value->kind == BT_CEL_K_OPTIONAL && out_value->optional) {
		*out_value = *out_value->optional;
	}
	return true;
}

static struct bt_cel_run begin_run(const struct bt_cel_device *device, struct bt_cel_scratch *scratch)
{
	return (struct bt_cel_run){.device = device,
		.arena = &scratch->arena,
		.left_steps = STEPS_MAX,
		.left_bytes = MEMORY_MAX_BYTES};
}

enum bt_cel_result bt_cel_match_cost(const struct bt_cel *cel, const struct bt_cel_device *device,
	struct bt_cel_scratch *scratch, struct bt_buf *error, uint64_t *out_cost)
{
	struct bt_cel_run run = begin_run(device, scratch);
	struct bt_cel_value value;
	bool evaluated = evaluate(cel, &run, error, &value);

	*out_cost = run.cost;
	if (!evaluated) {
		return BT_CEL_ERROR;
	}
	if (value.kind != BT_CEL_K_BOOL) {
		write_not_bool(&value, error);
		return BT_CEL_ERROR;
	}
	return value.boolean ? BT_CEL_TRUE : BT_CEL_FALSE;
}

enum bt_cel_result bt_cel_match(const struct bt_cel *cel, const struct bt_cel_device *device,
	struct bt_cel_scratch *scratch, struct bt_buf *error)
{
	uint64_t cost;

	return bt_cel_match_cost(cel, device, scratch, error, &cost);
}

/* ---- derived attributes ---- */

/* Copies a scalar. Returns false for other values. */
static bool take_scalar(
	const struct bt_cel_value *value, enum bt_cel_attribute_kind *out_kind, union bt_cel_scalar *out)
{
	switch (value->kind) {
	case BT_CEL_K_INT:
		*out_kind = BT_CEL_INT;
		out->integer = value->integer;
		return true;
	case BT_CEL_K_BOOL:
		*out_kind = BT_CEL_BOOL;
		out->boolean = value->boolean;
		return true;
	case BT_CEL_K_STRING:
		*out_kind = BT_CEL_STRING;
		out->string = value->text;
		return true;
	case BT_CEL_K_SEMVER:
		*out_kind = BT_CEL_VERSION;
		out->version = *value->semver;
		return true;
	default:
		return false;
	}
}

/* The Go type in upstream's error for an unsupported value. */
static const char *native_type(const struct bt_cel_value *value)
{
	static const char *const names[BT_CEL_K_N] = {[BT_CEL_K_NULL] = "structpb.NullValue",
		[BT_CEL_K_BOOL] = "bool",
		[BT_CEL_K_INT] = "int64",
		[BT_CEL_K_UINT] = "uint64",
		[BT_CEL_K_DOUBLE] = "float64",
		[BT_CEL_K_STRING] = "string",
		[BT_CEL_K_BYTES] = "[]uint8",
		[BT_CEL_K_LIST] = "[]ref.Val",
		[BT_CEL_K_MAP] = "map[ref.Val]ref.Val",
		[BT_CEL_K_TYPE] = "string",
		[BT_CEL_K_OPTIONAL] = "<nil>",
		[BT_CEL_K_QUANTITY] = "*resource.Quantity",
		[BT_CEL_K_SEMVER] = "semver.Version"};

	return names[value->kind] ? names[value->kind] : "unknown";
}

/* The first element sets the type of the list. Source: valToDeviceAttribute, v1.37.2. */
static bool take_list(struct bt_arena *arena, const struct bt_cel_value *value, struct bt_cel_attribute *out,
	struct bt_buf *error)
{
	static const char *const kinds[] = {[BT_CEL_INT] = "int",
		[BT_CEL_BOOL] = "bool",
		[BT_CEL_STRING] = "string",
		[BT_CEL_VERSION] = "semver"};
	union bt_cel_scalar *elements = bt_arena_zalloc(arena, value->n * sizeof(*elements));

	*out = (struct bt_cel_attribute){
		.kind = BT_CEL_STRING, .list = true, .n = value->n, .elements = elements};
	for (uint32_t i = 0; i < value->n; i++) {
		const struct bt_cel_value *element = &value->items->values[i];
		enum bt_cel_attribute_kind kind;
		bool taken = take_scalar(element, &kind, &elements[i]);

		if (i == 0 && !taken) {
			bt_buf_printf(error, "unsupported list element type: %s", native_type(element));
			return false;
		}
		out->kind = i == 0 ? kind : out->kind;
		if (!taken || kind != out->kind) {
			bt_buf_printf(error, "expected list element at index %u to be %s, got %s", i,
				kinds[out->kind], native_type(element));
			return false;
		}
	}
	return true;
}

enum bt_cel_result bt_cel_derive(const struct bt_cel *cel, const struct bt_cel_device *device,
	struct bt_cel_scratch *scratch, struct bt_buf *error, struct bt_cel_attribute *out)
{
	struct bt_cel_run run = begin_run(device, scratch);
	struct bt_cel_value value;

	if (!evaluate(cel, &run, error, &value)) {
		return BT_CEL_ERROR;
	}
	*out = (struct bt_cel_attribute){.kind = BT_CEL_INT};
	if (value.kind == BT_CEL_K_LIST) {
		return take_list(&scratch->arena, &value, out, error) ? BT_CEL_TRUE : BT_CEL_ERROR;
	}
	if (!take_scalar(&value, &out->kind, &out->scalar)) {
		bt_buf_printf(error, "unsupported CEL return type: %s", native_type(&value));
		return BT_CEL_ERROR;
	}
	return BT_CEL_TRUE;
}

void bt_cel_scratch_fini(struct bt_cel_scratch *scratch)
{
	bt_arena_fini(&scratch->arena);
}

void bt_cel_split_name(
	struct bt_str qualified, struct bt_str driver, struct bt_str *out_domain, struct bt_str *out_name)
{
	size_t slash = bt_str_find(qualified, '/', 0);

	if (slash == qualified.len) {
		*out_domain = driver;
		*out_name = qualified;
		return;
	}
	*out_domain = bt_str_sub(qualified, 0, slash);
	*out_name = bt_str_sub(qualified, slash + 1, qualified.len);
}
