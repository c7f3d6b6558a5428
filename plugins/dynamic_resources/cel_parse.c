/* SPDX-License-Identifier: Apache-2.0
 * Recursive-descent parser of expressions; expands macros while parsing, as upstream does. Upstream continues
 * after a syntax error and may report several; this parser stops at the first.
 * Source: cel-go v0.26, CEL.g4 and parser.go.
 */
#include "plugins/dynamic_resources/cel_int.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/base/check.h"

#define DEPTH_MAX 250 /* maximum depth of nesting */

struct parser {
	struct bt_cel_compiler *compiler;
	struct bt_cel_lexer lexer;
	struct bt_cel_token token; /* lookahead */
	/* Open calls of the grammar's rules; upstream limits each. */
	uint32_t expression_n, relation_n, calc_n;
};

/* Grows while the arguments of a call are parsed; the arena keeps outgrown arrays. */
struct argument_list {
	struct bt_cel_node **list;
	bool *optional;
	uint32_t n, cap_n;
	bool any_optional;
};

static struct bt_cel_node *parse_expression(struct parser *parser);

static void add_node(
	struct parser *parser, struct argument_list *nodes, struct bt_cel_node *node, bool optional)
{
	if (nodes->n == nodes->cap_n) {
		uint32_t cap_n = nodes->cap_n ? nodes->cap_n * 2 : 4;
		struct bt_cel_node **list =
			bt_arena_alloc(parser->compiler->arena, cap_n * sizeof(*list), sizeof(*list));
		bool *flags = bt_arena_alloc(parser->compiler->arena, cap_n, 1);

		if (nodes->n) {
			memcpy(list, nodes->list, nodes->n * sizeof(*list));
			memcpy(flags, nodes->optional, nodes->n);
		}
		*nodes = (struct argument_list){list, flags, nodes->n, cap_n, nodes->any_optional};
	}
	nodes->list[nodes->n] = node;
	nodes->optional[nodes->n++] = optional;
	nodes->any_optional |= optional;
	BT_INVARIANT(nodes->n <= nodes->cap_n);
}

struct bt_cel_node *bt_cel_node(struct bt_cel_compiler *compiler, enum bt_cel_node_kind kind, uint32_t at)
{
	struct bt_cel_node *node = bt_arena_zalloc(compiler->arena, sizeof(*node));

	node->kind = (uint8_t)kind;
	node->at = at;
	node->slot = BT_CEL_NO_SLOT;
	return node;
}

struct bt_cel_node *bt_cel_node_call(struct bt_cel_compiler *compiler, uint32_t at, const char *function,
	bool member, struct bt_cel_node *a, struct bt_cel_node *b, struct bt_cel_node *c)
{
	BT_INVARIANT((a || !b) && (b || !c));
	struct bt_cel_node *node = bt_cel_node(compiler, BT_CEL_CALL, at);

	node->name = bt_str(function);
	node->member = member;
	node->arg_n = a ? b ? c ? 3 : 2 : 1 : 0;
	node->args = bt_arena_alloc(compiler->arena, 3 * sizeof(struct bt_cel_node *), 8);
	node->args[0] = a;
	node->args[1] = b;
	node->args[2] = c;
	return node;
}

static void next(struct parser *parser)
{
	do {
		parser->token = bt_cel_lex(&parser->lexer);
		if (parser->token.kind == BT_CEL_BAD) {
			bt_cel_diagnose(parser->compiler, parser->token.at,
				"Syntax error: token recognition error at: '%.*s'",
				BT_STR_ARG(parser->token.text));
		}
	} while (parser->token.kind == BT_CEL_BAD);
}

static bool is_at(const struct parser *parser, const char *text)
{
	return (parser->token.kind == BT_CEL_PUNCTUATION || parser->token.kind == BT_CEL_KEYWORD) &&
	       bt_str_is(parser->token.text, text);
}

static bool accept(struct parser *parser, const char *text)
{
	if (!is_at(parser, text)) {
		return false;
	}
	next(parser);
	return true;
}

static struct bt_cel_node *wrong(struct parser *parser, const char *expected)
{
	bt_cel_diagnose(parser->compiler, parser->token.at,
		"Syntax error: mismatched input '%.*s' expecting %s", BT_STR_ARG(parser->token.text),
		expected);
	return NULL;
}

static bool expect(struct parser *parser, const char *text)
{
	if (accept(parser, text)) {
		return true;
	}
	if (parser->token.kind == BT_CEL_END) {
		bt_cel_diagnose(
			parser->compiler, parser->token.at, "Syntax error: missing '%s' at '<EOF>'", text);
	} else {
		bt_cel_diagnose(parser->compiler, parser->token.at,
			"Syntax error: extraneous input '%.*s' expecting '%s'",
			BT_STR_ARG(parser->token.text), text);
	}
	return false;
}

/* Opens n calls of a rule. Returns false and reports an error over the limit. The caller closes them. */
static bool open_rule(struct parser *parser, uint32_t *rule_n, uint32_t n)
{
	*rule_n += n;
	if (*rule_n <= DEPTH_MAX) {
		return true;
	}
	bt_cel_diagnose(
		parser->compiler, BT_CEL_NOWHERE, "expression recursion limit exceeded: %d", DEPTH_MAX);
	return false;
}

/* Sets the node's height: the levels of operators below it, plus one if it is an operator,
 * selection or member call itself.
 */
static struct bt_cel_node *measure(struct parser *parser, struct bt_cel_node *node, bool operation)
{
	uint16_t height = 0;

	for (uint32_t i = 0; i < node->arg_n; i++) {
		height = node->args[i]->height > height ? node->args[i]->height : height;
	}
	BT_INVARIANT(height <= DEPTH_MAX);
	node->height = (uint16_t)(height + operation);
	if (node->height <= DEPTH_MAX) {
		return node;
	}
	bt_cel_diagnose(parser->compiler, BT_CEL_NOWHERE, "max recursion depth exceeded");
	return NULL;
}

static struct bt_cel_node *leaf(struct parser *parser, enum bt_cel_kind kind)
{
	struct bt_cel_node *node = bt_cel_node(parser->compiler, BT_CEL_CONST, parser->token.at);

	node->value.kind = (uint8_t)kind;
	return node;
}

/* Parses an integer with its sign; false: too large. */
static bool read_integer(struct bt_str text, bool negative, struct bt_cel_value *value)
{
	BT_INVARIANT(value->kind == BT_CEL_K_INT || value->kind == BT_CEL_K_UINT);
	bool is_unsigned = value->kind == BT_CEL_K_UINT;
	bool hex = bt_str_starts(text, "0x");
	uint64_t limit = is_unsigned ? UINT64_MAX : (uint64_t)INT64_MAX + negative;
	uint64_t number = 0;

	for (size_t i = hex ? 2 : 0; i < text.len - is_unsigned; i++) {
		char c = text.ptr[i];
		uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
		uint64_t base = hex ? 16 : 10;

		if (number > (limit - digit) / base) {
			return false;
		}
		number = number * base + digit;
	}
	value->uinteger = negative ? 0 - number : number;
	return true;
}

static bool read_float(struct bt_str text, bool negative, struct bt_cel_value *value)
{
	struct bt_buf copy = {0};

	bt_buf_str(&copy, text);
	errno = 0;
	value->real = strtod(copy.ptr, NULL);
	bt_buf_fini(&copy);
	if (isinf(value->real)) {
		return false;
	}
	value->real = negative ? -value->real : value->real;
	return true;
}

/* A number; minus_at: position of its minus sign, if negative. */
static struct bt_cel_node *parse_number(struct parser *parser, bool negative, uint32_t minus_at)
{
	enum bt_cel_token_kind kind = parser->token.kind;
	struct bt_cel_node *node = leaf(parser, kind == BT_CEL_INTEGER	  ? BT_CEL_K_INT
						: kind == BT_CEL_UNSIGNED ? BT_CEL_K_UINT
									  : BT_CEL_K_DOUBLE);
	const char *what = kind == BT_CEL_INTEGER ? "int" : kind == BT_CEL_UNSIGNED ? "uint" : "double";

	if (negative) {
		node->at = minus_at;
	}
	bool fine = kind == BT_CEL_FLOAT ? read_float(parser->token.text, negative, &node->value)
					 : read_integer(parser->token.text, negative, &node->value);
	if (!fine) {
		bt_cel_diagnose(parser->compiler, node->at, "invalid %s literal", what);
		return NULL;
	}
	next(parser);
	return node;
}

static struct bt_cel_node *parse_text(struct parser *parser)
{
	bool bytes = parser->token.kind == BT_CEL_BINARY;
	struct bt_cel_node *node = leaf(parser, bytes ? BT_CEL_K_BYTES : BT_CEL_K_STRING);
	const char *error =
		bt_cel_unquote(parser->compiler->arena, parser->token.text, bytes, &node->value.text);

	if (error) {
		bt_cel_diagnose(parser->compiler, node->at, "%s", error);
		return NULL;
	}
	next(parser);
	return node;
}

static struct bt_cel_node *parse_keyword(struct parser *parser)
{
	bool null = bt_str_is(parser->token.text, "null");
	struct bt_cel_node *node = leaf(parser, null ? BT_CEL_K_NULL : BT_CEL_K_BOOL);

	node->value.boolean = bt_str_is(parser->token.text, "true");
	next(parser);
	return node;
}

/* Parses comma-separated expressions up to close. */
static bool parse_list(struct parser *parser, const char *close, bool optional_marks, bool trailing_comma,
	struct argument_list *nodes)
{
	if (accept(parser, close)) {
		return true;
	}
	/* A lone comma makes an empty list, too. */
	if (trailing_comma && accept(parser, ",")) {
		return expect(parser, close);
	}
	do {
		if (trailing_comma && nodes->n && accept(parser, close)) {
			return true;
		}
		bool optional = optional_marks && accept(parser, "?");
		struct bt_cel_node *node = parse_expression(parser);

		if (!node) {
			return false;
		}
		add_node(parser, nodes, node, optional);
	} while (accept(parser, ","));
	return expect(parser, close);
}

static bool parse_entries(struct parser *parser, struct argument_list *nodes)
{
	if (accept(parser, "}")) {
		return true;
	}
	if (accept(parser, ",")) {
		return expect(parser, "}");
	}
	do {
		if (nodes->n && accept(parser, "}")) {
			return true;
		}
		bool optional = accept(parser, "?");
		struct bt_cel_node *key = parse_expression(parser);

		if (!key || !expect(parser, ":")) {
			return false;
		}
		struct bt_cel_node *value = parse_expression(parser);
		if (!value) {
			return false;
		}
		add_node(parser, nodes, key, optional);
		add_node(parser, nodes, value, optional);
	} while (accept(parser, ","));
	return expect(parser, "}");
}

static struct bt_cel_node *parse_aggregate(struct parser *parser, bool map)
{
	struct bt_cel_node *node =
		bt_cel_node(parser->compiler, map ? BT_CEL_MAP : BT_CEL_LIST, parser->token.at);
	struct argument_list nodes = {0};

	next(parser);
	if (map ? !parse_entries(parser, &nodes) : !parse_list(parser, "]", true, true, &nodes)) {
		return NULL;
	}
	node->args = nodes.list;
	node->arg_n = nodes.n;
	node->optional = nodes.any_optional ? nodes.optional : NULL;
	return measure(parser, node, false);
}

/* Parses a call from its '('; target is NULL for a global function. */
static struct bt_cel_node *parse_call(struct parser *parser, struct bt_str name, struct bt_cel_node *target)
{
	struct bt_cel_node *node = bt_cel_node(parser->compiler, BT_CEL_CALL, parser->token.at);
	struct argument_list nodes = {0};

	next(parser);
	if (target) {
		add_node(parser, &nodes, target, false);
	}
	if (!parse_list(parser, ")", false, false, &nodes)) {
		return NULL;
	}
	node->name = name;
	node->member = target != NULL;
	node->args = nodes.list;
	node->arg_n = nodes.n;
	if (!measure(parser, node, node->member) || !bt_cel_expand(parser->compiler, &node)) {
		return NULL;
	}
	return node;
}

static bool is_reserved(struct bt_str name)
{
	static const char *const reserved[] = {"as", "break", "const", "continue", "else", "for", "function",
		"if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while"};

	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++) {
		if (bt_str_is(name, reserved[i])) {
			return true;
		}
	}
	return false;
}

/* The name with a leading dot, which means the root scope. */
static struct bt_str with_dot(struct parser *parser, struct bt_str name)
{
	char *text = bt_arena_alloc(parser->compiler->arena, name.len + 1, 1);

	text[0] = '.';
	memcpy(text + 1, name.ptr, name.len);
	return (struct bt_str){text, name.len + 1};
}

/* Parses an identifier or a call of a global function. */
static struct bt_cel_node *parse_name(struct parser *parser)
{
	struct bt_cel_token token;

	uint32_t at = parser->token.at;
	bool dot = accept(parser, ".");
	token = parser->token;
	if (token.kind != BT_CEL_NAME) {
		return wrong(parser, "IDENTIFIER");
	}
	if (is_reserved(token.text)) {
		bt_cel_diagnose(parser->compiler, at, "reserved identifier: %.*s", BT_STR_ARG(token.text));
		return NULL;
	}
	next(parser);
	struct bt_str name = dot ? with_dot(parser, token.text) : token.text;
	if (is_at(parser, "(")) {
		return parse_call(parser, name, NULL);
	}
	struct bt_cel_node *node = bt_cel_node(parser->compiler, BT_CEL_IDENT, token.at);
	node->name = name;
	return node;
}

static struct bt_cel_node *parse_primary(struct parser *parser)
{
	switch (parser->token.kind) {
	case BT_CEL_INTEGER:
	case BT_CEL_UNSIGNED:
	case BT_CEL_FLOAT:
		return parse_number(parser, false, 0);
	case BT_CEL_TEXT:
	case BT_CEL_BINARY:
		return parse_text(parser);
	case BT_CEL_NAME:
		return parse_name(parser);
	case BT_CEL_KEYWORD:
		if (!is_at(parser, "in")) {
			return parse_keyword(parser);
		}
		break;
	default:
		break;
	}
	if (is_at(parser, ".")) {
		return parse_name(parser);
	}
	if (is_at(parser, "[") || is_at(parser, "{")) {
		return parse_aggregate(parser, is_at(parser, "{"));
	}
	if (accept(parser, "(")) {
		struct bt_cel_node *node = parse_expression(parser);

		return node && expect(parser, ")") ? node : NULL;
	}
	return wrong(parser,
		"{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
		"STRING, BYTES, IDENTIFIER}");
}

/* Parses what follows a '.' at position at. */
static struct bt_cel_node *parse_field(struct parser *parser, struct bt_cel_node *operand, uint32_t at)
{
	bool optional = accept(parser, "?");
	struct bt_cel_token token = parser->token;

	if (token.kind == BT_CEL_QUOTED_NAME) {
		bt_cel_diagnose(parser->compiler, token.at, "unsupported syntax: '`'");
		return NULL;
	}
	if (token.kind != BT_CEL_NAME) {
		return wrong(parser, "IDENTIFIER");
	}
	next(parser);
	if (!optional && is_at(parser, "(")) {
		return parse_call(parser, token.text, operand);
	}
	if (optional) {
		struct bt_cel_node *field = bt_cel_node(parser->compiler, BT_CEL_CONST, token.at);

		field->value = bt_cel_text(token.text);
		return measure(parser,
			bt_cel_node_call(parser->compiler, at, "_?._", false, operand, field, NULL), true);
	}
	struct bt_cel_node *node = bt_cel_node_call(parser->compiler, at, "", false, operand, NULL, NULL);
	node->kind = BT_CEL_SELECT;
	node->name = token.text;
	return measure(parser, node, true);
}

static struct bt_cel_node *parse_member_of(struct parser *parser, struct bt_cel_node *node)
{
	while (node && (is_at(parser, ".") || is_at(parser, "["))) {
		uint32_t at = parser->token.at;

		if (accept(parser, ".")) {
			node = parse_field(parser, node, at);
			continue;
		}
		next(parser);
		bool optional = accept(parser, "?");
		struct bt_cel_node *index = parse_expression(parser);
		if (!index || !expect(parser, "]")) {
			return NULL;
		}
		node = bt_cel_node_call(
			parser->compiler, at, optional ? "_[?_]" : "_[_]", false, node, index, NULL);
		node = measure(parser, node, true);
	}
	return node;
}

static struct bt_cel_node *parse_unary(struct parser *parser)
{
	bool negation = is_at(parser, "-");
	uint32_t at = parser->token.at;
	uint32_t n = 0;

	if (!negation && !is_at(parser, "!")) {
		return parse_member_of(parser, parse_primary(parser));
	}
	while (accept(parser, negation ? "-" : "!")) {
		n++;
	}
	/* A single minus before a number is its sign, also after "!". */
	uint32_t minus_at = negation ? at : parser->token.at;
	bool minus = negation ? n == 1 : accept(parser, "-");
	struct bt_cel_node *operand;
	if (minus && (parser->token.kind == BT_CEL_INTEGER || parser->token.kind == BT_CEL_FLOAT)) {
		operand = parse_member_of(parser, parse_number(parser, true, minus_at));
		n -= negation;
	} else if (minus && !negation) {
		return wrong(parser, "{NUM_FLOAT, NUM_INT}");
	} else {
		operand = parse_member_of(parser, parse_primary(parser));
	}
	if (!operand || n % 2 == 0) {
		return operand;
	}
	struct bt_cel_node *node =
		bt_cel_node_call(parser->compiler, at, negation ? "-_" : "!_", false, operand, NULL, NULL);
	return measure(parser, node, false);
}

/* Binary operators, the strongest first. */
static const struct {
	const char *text, *function;
	int level;
} operators[] = {{"*", "_*_", 2}, {"/", "_/_", 2}, {"%", "_%_", 2}, {"+", "_+_", 1}, {"-", "_-_", 1},
	{"<", "_<_", 0}, {"<=", "_<=_", 0}, {">=", "_>=_", 0}, {">", "_>_", 0}, {"==", "_==_", 0},
	{"!=", "_!=_", 0}, {"in", "@in", 0}};

static const char *operator_at(const struct parser *parser, int level)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		if (operators[i].level == level && is_at(parser, operators[i].text)) {
			return operators[i].function;
		}
	}
	return NULL;
}

/* Level 0 is a relation, 1 and 2 are calculations. */
static struct bt_cel_node *parse_binary(struct parser *parser, int level)
{
	uint32_t *rule_n = level == 0 ? &parser->relation_n : &parser->calc_n;
	uint32_t entered_n = level < 2;
	struct bt_cel_node *node = NULL;

	if (open_rule(parser, rule_n, entered_n)) {
		node = level == 2 ? parse_unary(parser) : parse_binary(parser, level + 1);
	}
	for (const char *function; node && (function = operator_at(parser, level));) {
		struct bt_cel_node *right = NULL;
		uint32_t at = parser->token.at;

		next(parser);
		if (open_rule(parser, rule_n, 1)) {
			right = level == 2 ? parse_unary(parser) : parse_binary(parser, level + 1);
		}
		(*rule_n)--;
		if (!right) {
			node = NULL;
			break;
		}
		node = bt_cel_node_call(parser->compiler, at, function, false, node, right, NULL);
		node = measure(parser, node, true);
	}
	*rule_n -= entered_n;
	return node;
}

/* Terms joined by && or ||: one call, so that long chains do not nest. */
static struct bt_cel_node *parse_logic(struct parser *parser, bool or)
{
	struct bt_cel_node *node = or ? parse_logic(parser, false) : parse_binary(parser, 0);
	struct argument_list nodes = {0};
	uint32_t at = parser->token.at;

	if (!node || !is_at(parser, or ? "||" : "&&")) {
		return node;
	}
	add_node(parser, &nodes, node, false);
	while (accept(parser, or ? "||" : "&&")) {
		node = or ? parse_logic(parser, false) : parse_binary(parser, 0);
		if (!node) {
			return NULL;
		}
		add_node(parser, &nodes, node, false);
	}
	node = bt_cel_node(parser->compiler, BT_CEL_CALL, at);
	node->name = bt_str(or ? "_||_" : "_&&_");
	node->args = nodes.list;
	node->arg_n = nodes.n;
	return measure(parser, node, false);
}

static struct bt_cel_node *parse_expression(struct parser *parser)
{
	struct bt_cel_node *node = NULL;

	if (open_rule(parser, &parser->expression_n, 1)) {
		node = parse_logic(parser, true);
	}
	uint32_t at = parser->token.at;
	if (node && accept(parser, "?")) {
		struct bt_cel_node *yes = parse_logic(parser, true);
		struct bt_cel_node *no = yes && expect(parser, ":") ? parse_expression(parser) : NULL;

		node = no ? bt_cel_node_call(parser->compiler, at, "_?_:_", false, node, yes, no) : NULL;
		node = node ? measure(parser, node, true) : NULL;
	}
	parser->expression_n--;
	return node;
}

struct bt_cel_node *bt_cel_parse(struct bt_cel_compiler *compiler)
{
	struct parser parser = {.compiler = compiler, .lexer = {.source = compiler->source}};

	next(&parser);
	struct bt_cel_node *root = parse_expression(&parser);
	if (root && parser.token.kind != BT_CEL_END) {
		bt_cel_diagnose(compiler, parser.token.at,
			"Syntax error: extraneous input '%.*s' expecting <EOF>",
			BT_STR_ARG(parser.token.text));
	}
	return compiler->error_n ? NULL : root;
}
