/* SPDX-License-Identifier: Apache-2.0
 * Label selectors and node selectors: checking, compiling, matching.
 */
#include "engine/model/selector.h"

#include "engine/base/check.h"
#include "engine/model/label_text.h"

#define NAME_MAX_LEN	  63
#define SUBDOMAIN_MAX_LEN 253

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Starts and ends with a letter or digit; '-', '_' and '.' in between. */
static bool is_name_part(struct bt_str s)
{
	if (s.len == 0 || s.len > NAME_MAX_LEN || !is_alnum(s.ptr[0]) || !is_alnum(s.ptr[s.len - 1])) {
		return false;
	}
	for (size_t i = 0; i < s.len; i++) {
		if (!is_alnum(s.ptr[i]) && s.ptr[i] != '-' && s.ptr[i] != '_' && s.ptr[i] != '.') {
			return false;
		}
	}
	return true;
}

/* DNS-1123 subdomain: labels of lower-case letters, digits and inner dashes, joined by dots. */
static bool is_subdomain(struct bt_str s)
{
	if (s.len == 0 || s.len > SUBDOMAIN_MAX_LEN) {
		return false;
	}
	for (size_t from = 0; from <= s.len;) {
		size_t to = bt_str_find(s, '.', from);

		if (to == from || !is_lower_alnum(s.ptr[from]) || !is_lower_alnum(s.ptr[to - 1])) {
			return false;
		}
		for (size_t i = from; i < to; i++) {
			if (!is_lower_alnum(s.ptr[i]) && s.ptr[i] != '-') {
				return false;
			}
		}
		from = to + 1;
	}
	return true;
}

bool bt_is_qualified_name(struct bt_str s)
{
	size_t slash = bt_str_find(s, '/', 0);

	if (slash == s.len) {
		return is_name_part(s);
	}
	struct bt_str name = bt_str_sub(s, slash + 1, s.len);
	return is_subdomain(bt_str_sub(s, 0, slash)) && is_name_part(name) &&
	       bt_str_find(name, '/', 0) == name.len;
}

bool bt_is_label_value(struct bt_str s)
{
	return s.len == 0 || is_name_part(s);
}

bool bt_parse_int64(struct bt_str s, int64_t *out_number)
{
	size_t at = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+');
	bool negative = at && s.ptr[0] == '-';
	int64_t number = 0;

	if (at == s.len) {
		return false;
	}
	for (; at < s.len; at++) {
		int digit = s.ptr[at] - '0';

		if (digit < 0 || digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
			__builtin_sub_overflow(number, digit, &number)) {
			return false;
		}
	}
	/* Accumulates a negative number, so that INT64_MIN fits. */
	if (!negative && number == INT64_MIN) {
		return false;
	}
	*out_number = negative ? number : -number;
	return true;
}

static bool parse_operator(struct bt_str word, bool node, enum bt_operator *out_op)
{
	static const char *const words[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};

	for (int op = BT_OP_IN; op <= (node ? BT_OP_LT : BT_OP_DOES_NOT_EXIST); op++) {
		if (bt_str_is(word, words[op])) {
			*out_op = (enum bt_operator)op;
			return true;
		}
	}
	return false;
}

static bool selector_explain(struct bt_buf *out_why, const char *field, struct bt_str value, const char *why)
{
	if (out_why) {
		bt_buf_printf(out_why, "%s%s: Invalid value: \"%.*s\": %s", out_why->len ? ", " : "", field,
			BT_STR_ARG(value), why);
	}
	return false;
}

/* The rules of labels.NewRequirement. */
static bool check_requirement(const struct bt_requirement_object *object, enum bt_operator op,
	int64_t *out_number, struct bt_buf *out_why)
{
	const struct bt_str_list *values = &object->values;

	if (!bt_is_qualified_name(object->key)) {
		return selector_explain(out_why, "key", object->key,
			"a label key is [prefix/]name of letters, digits, '-', '_' and '.'");
	}
	if ((op == BT_OP_IN || op == BT_OP_NOT_IN) && values->n == 0) {
		return selector_explain(out_why, "values", object->key,
			"for 'in', 'notin' operators, values set can't be empty");
	}
	if ((op == BT_OP_EXISTS || op == BT_OP_DOES_NOT_EXIST) && values->n != 0) {
		return selector_explain(out_why, "values", object->key,
			"values set must be empty for exists and does not exist");
	}
	if (op == BT_OP_GT || op == BT_OP_LT) {
		if (values->n != 1) {
			return selector_explain(out_why, "values", object->key,
				"for 'Gt', 'Lt' operators, exactly one value is required");
		}
		if (!bt_parse_int64(values->items[0], out_number)) {
			return selector_explain(out_why, "values[0]", values->items[0],
				"for 'Gt', 'Lt' operators, the value must be an integer");
		}
	}
	for (uint32_t i = 0; i < values->n; i++) {
		if (!bt_is_label_value(values->items[i])) {
			return selector_explain(out_why, "values", values->items[i],
				"a label value has at most 63 letters, digits, '-', '_' and '.'");
		}
	}
	return true;
}

static bool compile_requirement(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_requirement_object *object, bool node, struct bt_requirement *out,
	struct bt_buf *out_why)
{
	enum bt_operator op;
	int64_t number = 0;

	if (!parse_operator(object->operator_, node, &op)) {
		return selector_explain(
			out_why, "operator", object->operator_, "not a valid selector operator");
	}
	if (!check_requirement(object, op, &number, out_why)) {
		return false;
	}
	uint32_t *values = bt_arena_alloc(arena, object->values.n * sizeof(*values), 8);
	for (uint32_t i = 0; i < object->values.n; i++) {
		values[i] = bt_name_refs_add(held, object->values.items[i]);
	}
	*out = (struct bt_requirement){
		.key = bt_name_refs_add(held, object->key),
		.op = op,
		.values = values,
		.value_n = object->values.n,
		.number = number,
	};
	BT_INVARIANT(op <= BT_OP_LT && (op < BT_OP_GT || node));
	return true;
}

/* Appends one error of a label selector with upstream's text. */
static void add_error(struct bt_buf *errors, uint32_t *n, const char *field, struct bt_str shown,
	const struct bt_str *whys, uint32_t why_n)
{
	bt_buf_printf(errors, "%s%s: Invalid value: %.*s: ", (*n)++ ? ", " : "", field, BT_STR_ARG(shown));
	for (uint32_t i = 0; i < why_n; i++) {
		bt_buf_printf(errors, "%s%.*s", i ? "; " : "", BT_STR_ARG(whys[i]));
	}
}

static struct bt_str quoted(struct bt_buf *buf, struct bt_str s)
{
	bt_buf_clear(buf);
	bt_buf_printf(buf, "\"%.*s\"", BT_STR_ARG(s));
	return bt_buf_view(buf);
}

static struct bt_str listed(struct bt_buf *buf, const struct bt_str_list *values)
{
	bt_buf_clear(buf);
	for (uint32_t i = 0; i < values->n; i++) {
		bt_buf_printf(buf, "%s\"%.*s\"", i ? "," : "[", BT_STR_ARG(values->items[i]));
	}
	bt_buf_text(buf, values->n ? "]" : "null");
	return bt_buf_view(buf);
}

/* Appends labels.NewRequirement's error for a requirement of a label selector to out_why. */
static void explain_label_requirement(
	struct bt_str key, enum bt_operator op, const struct bt_str_list *values, struct bt_buf *out_why)
{
	BT_INVARIANT(op <= BT_OP_DOES_NOT_EXIST);
	const struct bt_str none = bt_str("for 'in', 'notin' operators, values set can't be empty");
	const struct bt_str some = bt_str("values set must be empty for exists and does not exist");
	struct bt_buf errors = {0}, shown = {0}, field = {0};
	struct bt_str whys[4];
	uint32_t n = 0, why_n = bt_label_key_faults(key, whys);

	if (why_n) {
		add_error(&errors, &n, "key", quoted(&shown, key), whys, why_n);
	}
	if ((op == BT_OP_IN || op == BT_OP_NOT_IN) && values->n == 0) {
		add_error(&errors, &n, "values", listed(&shown, values), &none, 1);
	}
	if ((op == BT_OP_EXISTS || op == BT_OP_DOES_NOT_EXIST) && values->n) {
		add_error(&errors, &n, "values", listed(&shown, values), &some, 1);
	}
	for (uint32_t i = 0; i < values->n; i++) {
		why_n = bt_label_value_faults(values->items[i], whys);
		if (why_n) {
			bt_buf_clear(&field);
			bt_buf_printf(&field, "values[%u][%.*s]", i, BT_STR_ARG(key));
			add_error(&errors, &n, field.ptr, quoted(&shown, values->items[i]), whys, why_n);
		}
	}
	bt_buf_printf(out_why, n > 1 ? "[%.*s]" : "%.*s", BT_STR_ARG(bt_buf_view(&errors)));
	bt_buf_fini(&errors);
	bt_buf_fini(&shown);
	bt_buf_fini(&field);
}

static void explain_expression(const struct bt_requirement_object *object, struct bt_buf *out_why)
{
	enum bt_operator op;

	if (!out_why) {
		return;
	}
	if (!parse_operator(object->operator_, false, &op)) {
		bt_buf_printf(out_why, "\"%.*s\" is not a valid label selector operator",
			BT_STR_ARG(object->operator_));
		return;
	}
	explain_label_requirement(object->key, op, &object->values, out_why);
}

static void explain_pair(struct bt_str_pair pair, struct bt_buf *out_why)
{
	const struct bt_str_list values = {.items = &pair.value, .n = 1};

	if (out_why) {
		explain_label_requirement(pair.key, BT_OP_IN, &values, out_why);
	}
}

static void require_pair(struct bt_name_refs *held, struct bt_arena *arena, struct bt_str_pair pair,
	struct bt_requirement *out)
{
	uint32_t *value = bt_arena_alloc(arena, sizeof(*value), 8);

	*value = bt_name_refs_add(held, pair.value);
	*out = (struct bt_requirement){
		.key = bt_name_refs_add(held, pair.key), .op = BT_OP_IN, .values = value, .value_n = 1};
}

struct bt_selector bt_selector_from_map(
	struct bt_name_refs *held, struct bt_arena *arena, const struct bt_str_map *map)
{
	struct bt_requirement *items = bt_arena_zalloc(arena, map->n * sizeof(*items));

	for (uint32_t i = 0; i < map->n; i++) {
		require_pair(held, arena, map->items[i], &items[i]);
	}
	return (struct bt_selector){.items = items, .n = map->n};
}

enum bt_status bt_selector_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_label_selector_object *object, struct bt_selector *out_selector,
	struct bt_buf *out_why)
{
	if (!object->set) {
		*out_selector = (struct bt_selector){.nothing = true};
		return BT_OK;
	}
	const struct bt_str_map *map = &object->match_labels;
	uint32_t n = 0;
	struct bt_requirement *items =
		bt_arena_zalloc(arena, (map->n + object->match_expressions.n) * sizeof(*items));
	for (uint32_t i = 0; i < map->n; i++) {
		if (!bt_is_qualified_name(map->items[i].key) || !bt_is_label_value(map->items[i].value)) {
			explain_pair(map->items[i], out_why);
			return BT_INVALID;
		}
		require_pair(held, arena, map->items[i], &items[n++]);
	}
	for (uint32_t i = 0; i < object->match_expressions.n; i++) {
		if (!compile_requirement(
			    held, arena, &object->match_expressions.items[i], false, &items[n++], NULL)) {
			explain_expression(&object->match_expressions.items[i], out_why);
			return BT_INVALID;
		}
	}
	BT_INVARIANT(n == map->n + object->match_expressions.n);
	*out_selector = (struct bt_selector){.items = items, .n = n};
	return BT_OK;
}

static bool compile_field(struct bt_name_refs *held, const struct bt_requirement_object *object,
	struct bt_field_requirement *out, struct bt_buf *out_why)
{
	bool in = bt_str_is(object->operator_, "In");

	if (!in && !bt_str_is(object->operator_, "NotIn")) {
		return selector_explain(
			out_why, "operator", object->operator_, "supported values: \"In\", \"NotIn\"");
	}
	if (object->values.n != 1) {
		return selector_explain(out_why, "values", object->key, "must have one element");
	}
	*out = (struct bt_field_requirement){
		.value = bt_name_refs_add(held, object->values.items[0]),
		.is_name = bt_str_is(object->key, "metadata.name"),
		.negated = !in,
	};
	BT_INVARIANT(object->values.n == 1);
	return true;
}

bool bt_node_term_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_node_term_object *object, struct bt_node_term *out_term, struct bt_buf *out_why)
{
	const struct bt_requirement_object_list *expressions = &object->match_expressions,
						*fields = &object->match_fields;

	if (expressions->n == 0 && fields->n == 0) {
		return false;
	}
	bool valid = true;
	struct bt_requirement *items = bt_arena_zalloc(arena, expressions->n * sizeof(*items));
	for (uint32_t i = 0; i < expressions->n; i++) {
		valid &= compile_requirement(held, arena, &expressions->items[i], true, &items[i], out_why);
	}
	struct bt_field_requirement *wanted = bt_arena_zalloc(arena, fields->n * sizeof(*wanted));
	for (uint32_t i = 0; i < fields->n; i++) {
		valid &= compile_field(held, &fields->items[i], &wanted[i], out_why);
	}
	*out_term = (struct bt_node_term){
		.labels = {.items = items, .n = expressions->n},
		.fields = wanted,
		.field_n = fields->n,
		.invalid = !valid,
	};
	return true;
}

struct bt_node_selector bt_node_selector_compile(
	struct bt_name_refs *held, struct bt_arena *arena, const struct bt_node_selector_object *object)
{
	struct bt_node_term *terms = bt_arena_zalloc(arena, object->term_n * sizeof(*terms));
	uint32_t n = 0;

	for (uint32_t i = 0; i < object->term_n; i++) {
		n += bt_node_term_compile(held, arena, &object->terms[i], &terms[n], NULL);
	}
	BT_INVARIANT(n <= object->term_n);
	return (struct bt_node_selector){.terms = terms, .term_n = n};
}

static bool holds(const struct bt_requirement *requirement, uint32_t value)
{
	for (uint32_t i = 0; i < requirement->value_n; i++) {
		if (requirement->values[i] == value) {
			return true;
		}
	}
	return false;
}

bool bt_requirement_matches(
	const struct bt_intern *intern, const struct bt_requirement *requirement, uint32_t value)
{
	int64_t number;

	switch (requirement->op) {
	case BT_OP_IN:
		BT_INVARIANT(requirement->value_n > 0);
		return value && holds(requirement, value);
	case BT_OP_NOT_IN:
		return !value || !holds(requirement, value);
	case BT_OP_EXISTS:
		return value != BT_NAME_NONE;
	case BT_OP_DOES_NOT_EXIST:
		return value == BT_NAME_NONE;
	case BT_OP_GT:
	case BT_OP_LT:
		if (!value || !bt_parse_int64(bt_intern_str(intern, value), &number)) {
			return false;
		}
		return requirement->op == BT_OP_GT ? number > requirement->number
						   : number < requirement->number;
	}
	return false;
}

bool bt_selector_matches(
	const struct bt_intern *intern, const struct bt_selector *selector, struct bt_labels labels)
{
	if (selector->nothing) {
		return false;
	}
	for (uint32_t i = 0; i < selector->n; i++) {
		const struct bt_requirement *requirement = &selector->items[i];

		if (!bt_requirement_matches(intern, requirement, bt_labels_get(labels, requirement->key))) {
			return false;
		}
	}
	return true;
}

bool bt_node_term_matches(const struct bt_intern *intern, const struct bt_node_term *term,
	struct bt_labels labels, uint32_t node_name)
{
	if (term->invalid || !bt_selector_matches(intern, &term->labels, labels)) {
		return false;
	}
	for (uint32_t i = 0; i < term->field_n; i++) {
		const struct bt_field_requirement *field = &term->fields[i];
		/* A field that nodes do not have reads as the empty string. */
		uint32_t have = field->is_name ? node_name : BT_NAME_EMPTY;

		if ((have == field->value) == field->negated) {
			return false;
		}
	}
	return true;
}

bool bt_node_selector_matches(const struct bt_intern *intern, const struct bt_node_selector *selector,
	struct bt_labels labels, uint32_t node_name)
{
	for (uint32_t i = 0; i < selector->term_n; i++) {
		if (bt_node_term_matches(intern, &selector->terms[i], labels, node_name)) {
			return true;
		}
	}
	return false;
}
