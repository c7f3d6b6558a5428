/* SPDX-License-Identifier: Apache-2.0
 * What the parts of the expression language share: types, values, trees, and the order of the stages
 * lex, parse (with macros), check, fold constants, evaluate.
 */
#pragma once

#include "plugins/dynamic_resources/cel.h"
#include "plugins/dynamic_resources/cel_re2_int.h"

/* Kinds of types and of values. The order of the first ones is that of bt_cel_kind_name. */
enum bt_cel_kind {
	BT_CEL_K_ERROR,
	BT_CEL_K_DYN,
	BT_CEL_K_ANY,
	BT_CEL_K_NULL,
	BT_CEL_K_BOOL,
	BT_CEL_K_INT,
	BT_CEL_K_UINT,
	BT_CEL_K_DOUBLE,
	BT_CEL_K_STRING,
	BT_CEL_K_BYTES,
	BT_CEL_K_LIST,
	BT_CEL_K_MAP,
	BT_CEL_K_TYPE,
	BT_CEL_K_OPTIONAL,
	BT_CEL_K_QUANTITY,
	BT_CEL_K_SEMVER,
	BT_CEL_K_DURATION, /* types only, as is the next: null goes with them too */
	BT_CEL_K_TIMESTAMP,
	BT_CEL_K_DEVICE, /* types only; the value is a map */
	BT_CEL_K_PARAM,	 /* types only: a type variable */
	BT_CEL_K_N
};

struct bt_cel_type {
	enum bt_cel_kind kind;
	uint32_t param_n;  /* of params */
	uint32_t variable; /* of BT_CEL_K_PARAM */
	const struct bt_cel_type *params[2];
};

/* Which map a value of kind BT_CEL_K_MAP is: entries of its own, or a view of the device. */
enum bt_cel_view {
	BT_CEL_ENTRIES,
	BT_CEL_DEVICE,
	BT_CEL_ATTRIBUTE_DOMAINS,
	BT_CEL_CAPACITY_DOMAINS,
	BT_CEL_ATTRIBUTES, /* of the domain in text */
	BT_CEL_CAPACITIES
};

struct bt_cel_items;

struct bt_cel_value {
	uint8_t kind; /* enum bt_cel_kind */
	uint8_t view; /* maps: enum bt_cel_view; quantities: 1 when upstream holds a pointer, which == can
			 tell */
	uint32_t n;   /* elements of a list, entries of a map */
	union {
		bool boolean;
		int64_t integer;
		uint64_t uinteger;
		double real;
		struct bt_str text; /* strings and bytes; errors: what went wrong; views: the domain */
		struct bt_cel_items *items;	     /* lists: n values; maps: keys and values in turn */
		const struct bt_cel_value *optional; /* NULL: none */
		const struct bt_quantity *quantity;
		const struct bt_cel_semver *semver;
		const struct bt_cel_type *type;
		const struct bt_re2 *regex; /* BT_CEL_K_DYN: a pattern compiled beforehand */
	};
};

/*
 * The values behind lists. A list views the first n of them; who extends the list that views all used_n may
 * write behind them, so that growing a list one by one stays linear.
 */
struct bt_cel_items {
	uint32_t used_n, cap_n;
	struct bt_cel_value values[];
};

enum bt_cel_node_kind {
	BT_CEL_CONST,
	BT_CEL_IDENT,
	BT_CEL_SELECT, /* args[0] . name */
	BT_CEL_CALL,
	BT_CEL_LIST,
	BT_CEL_MAP, /* args: keys and values in turn */
	BT_CEL_FOLD /* args as enum bt_cel_fold_arg */
};

enum bt_cel_fold_arg {
	BT_CEL_RANGE,
	BT_CEL_INIT,
	BT_CEL_CONDITION,
	BT_CEL_STEP,
	BT_CEL_RESULT,
	BT_CEL_FOLD_N
};

/* Calls that evaluate their arguments themselves. */
enum bt_cel_form {
	BT_CEL_FUNCTION,
	BT_CEL_AND,
	BT_CEL_OR,
	BT_CEL_CONDITIONAL,
	BT_CEL_EQUAL,
	BT_CEL_NOT_EQUAL,
	BT_CEL_INDEX,
	BT_CEL_OPT_INDEX,
	BT_CEL_OPT_SELECT,
	BT_CEL_OPT_OR,
	BT_CEL_OPT_OR_VALUE,
	BT_CEL_NOT_STRICTLY_FALSE,
	BT_CEL_IN_CONST
};

/* What was done with a node. Macros may use a node twice, and nothing is done twice. */
enum bt_cel_stage { BT_CEL_PARSED, BT_CEL_CHECKED, BT_CEL_SETTLED, BT_CEL_VALIDATED, BT_CEL_PLANNED };

struct bt_cel_overload;

struct bt_cel_node {
	uint8_t kind;	 /* enum bt_cel_node_kind */
	uint8_t form;	 /* calls: enum bt_cel_form */
	bool member;	 /* calls: args[0] is the target */
	bool test_only;	 /* selections: has() */
	uint8_t stage;	 /* enum bt_cel_stage */
	uint16_t height; /* of the operations below, before macros */
	bool branching;	 /* selections and indices: the chain starts at a conditional, which costs nothing */
	uint32_t at;	 /* where errors point, in code points */
	uint32_t arg_n;
	struct bt_cel_node **args;
	bool *optional;			   /* lists and maps: which elements or entries are; NULL: none */
	struct bt_str name;		   /* identifiers, selections, calls; folds: the accumulator */
	struct bt_str iter_var, iter_var2; /* folds; the second one may be empty */
	struct bt_cel_value value;	   /* constants */
	uint32_t slot; /* identifiers: the local variable, or BT_CEL_NO_SLOT; folds: of the
			  accumulator; the iteration variables have the next two */
	const struct bt_cel_type *type;
	const struct bt_cel_overload *overloads; /* calls: all of the function */
	uint32_t overload_n;
	const struct bt_cel_overload *overload; /* calls: the one that fits, if it is only one */
	const struct bt_re2 *regex;		/* calls: the constant pattern */
};

#define BT_CEL_NO_SLOT UINT32_MAX

struct bt_cel_error {
	uint32_t at;
	struct bt_str text;
};

/* A constant pattern of the expression. */
struct bt_cel_pattern {
	struct bt_re2 *re2;
	struct bt_cel_pattern *next;
};

/* The state of one compilation. */
struct bt_cel_compiler {
	struct bt_arena *arena;
	struct bt_str source;
	unsigned features;
	struct bt_cel_error *errors;
	size_t error_n;
	uint32_t slot_n;
	uint32_t copy_n; /* nodes that macros have copied */
	struct bt_cel_pattern *patterns;
};

/* The state of one match. */
struct bt_cel_run {
	const struct bt_cel_device *device;
	struct bt_arena *arena;
	struct bt_cel_local *locals;
	uint64_t cost;
	uint64_t left_steps; /* of work that cost does not see */
	size_t left_bytes;
	const char *cancelled; /* not NULL: nothing more is evaluated, and this is the error */
};

/* A variable of a fold. */
struct bt_cel_local {
	struct bt_cel_value value;
	const struct bt_cel_node *init; /* not NULL: evaluated when first asked for */
};

/* The type of attributes: what cannot be known before evaluation. */
static inline enum bt_cel_kind bt_cel_attribute_kind_of(const struct bt_cel_compiler *compiler)
{
	return compiler->features & BT_CEL_LISTS ? BT_CEL_K_DYN : BT_CEL_K_ANY;
}

/* ---- errors of compiling (cel_error.c) ---- */
#define BT_CEL_NOWHERE UINT32_MAX /* the place of what is wrong with the whole */
void bt_cel_complain(struct bt_cel_compiler *compiler, uint32_t at, const char *format, ...) BT_PRINTF(3, 4);
/* Writes the errors in the order of the source, each with its line and a mark below it. */
void bt_cel_show_errors(struct bt_cel_compiler *compiler, struct bt_buf *out);

/* ---- lexer (cel_lex.c) ---- */
enum bt_cel_token_kind {
	BT_CEL_END,
	BT_CEL_INTEGER,
	BT_CEL_UNSIGNED,
	BT_CEL_FLOAT,
	BT_CEL_TEXT,
	BT_CEL_BINARY,
	BT_CEL_NAME,
	BT_CEL_QUOTED_NAME,
	BT_CEL_KEYWORD, /* true false null in */
	BT_CEL_PUNCTUATION,
	BT_CEL_BAD
};

struct bt_cel_token {
	enum bt_cel_token_kind kind;
	struct bt_str text;
	uint32_t at; /* in code points */
};

struct bt_cel_lexer {
	struct bt_str source;
	size_t next;
	uint32_t at;
};

struct bt_cel_token bt_cel_lex(struct bt_cel_lexer *lexer);
/* What a string or bytes literal stands for; NULL, or why it is wrong. */
const char *bt_cel_unquote(
	struct bt_arena *arena, struct bt_str literal, bool bytes, struct bt_str *out_text);

/* ---- parser (cel_parse.c, cel_macro.c) ---- */
/* NULL when there were errors. */
struct bt_cel_node *bt_cel_parse(struct bt_cel_compiler *compiler);
struct bt_cel_node *bt_cel_node(struct bt_cel_compiler *compiler, enum bt_cel_node_kind kind, uint32_t at);
struct bt_cel_node *bt_cel_node_call(struct bt_cel_compiler *compiler, uint32_t at, const char *function,
	bool member, struct bt_cel_node *a, struct bt_cel_node *b, struct bt_cel_node *c);
/* Replaces a call that is a macro; *call stays as it is when it is none. False after an error. */
bool bt_cel_expand(struct bt_cel_compiler *compiler, struct bt_cel_node **call);

/* ---- types (cel_type.c) ---- */
struct bt_cel_binding {
	uint32_t variable;
	const struct bt_cel_type *before;
};

struct bt_cel_unifier {
	struct bt_arena *arena;
	const struct bt_cel_type **bound; /* by variable; NULL: free */
	uint32_t variable_n, variable_cap_n;
	/* What bindings of the attempt under way have replaced, to be put back when it fails. */
	struct bt_cel_binding *trail;
	uint32_t trail_n, trail_cap_n;
};

extern const struct bt_cel_type bt_cel_basic_types[BT_CEL_K_N]; /* those without parameters, by kind */
const char *bt_cel_kind_name(enum bt_cel_kind kind);
const struct bt_cel_type *bt_cel_type_of(struct bt_arena *arena, enum bt_cel_kind kind,
	const struct bt_cel_type *a, const struct bt_cel_type *b);
const struct bt_cel_type *bt_cel_fresh(struct bt_cel_unifier *unifier);
bool bt_cel_is_dyn(const struct bt_cel_type *type);
bool bt_cel_is_equal(const struct bt_cel_type *a, const struct bt_cel_type *b, bool same_variables);
/* Whether each of b can be used as its a; binds variables if so, and changes nothing otherwise. */
bool bt_cel_assignable(struct bt_cel_unifier *unifier, const struct bt_cel_type *const *a,
	const struct bt_cel_type *const *b, size_t n);
const struct bt_cel_type *bt_cel_most_general(const struct bt_cel_type *a, const struct bt_cel_type *b);
const struct bt_cel_type *bt_cel_substitute(
	struct bt_cel_unifier *unifier, const struct bt_cel_type *type, bool free_to_dyn);
/* As checkers write it: map(string, any). */
void bt_cel_type_text(const struct bt_cel_type *type, struct bt_buf *out);
/* As messages about a whole expression write it: map(string, google.protobuf.Any). */
void bt_cel_type_name(const struct bt_cel_type *type, struct bt_buf *out);
/* Reads one type of an overload's signature; variables A to D are instantiated through variables. */
const struct bt_cel_type *bt_cel_type_read(
	struct bt_cel_unifier *unifier, const char **signature, const struct bt_cel_type *variables[4]);

/* ---- functions (cel_function.c) ---- */
typedef struct bt_cel_value bt_cel_call(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n);

/* What a call costs. Those before BT_CEL_COST_FUNCTION count only if one overload fits. */
enum bt_cel_cost {
	BT_CEL_COST_ONE,
	BT_CEL_COST_FIRST,	 /* the first argument's size / 10 */
	BT_CEL_COST_SMALLER,	 /* the smaller argument's size / 10 */
	BT_CEL_COST_SUM,	 /* both arguments' sizes / 10 */
	BT_CEL_COST_PRODUCT,	 /* the product of both / 10 */
	BT_CEL_COST_SECOND,	 /* the second argument's size */
	BT_CEL_COST_MATCHES,	 /* text / 10 * pattern / 4 */
	BT_CEL_COST_RESULT_LIST, /* a new list of the result's size */
	BT_CEL_COST_FLATTEN,
	BT_CEL_COST_SORT,    /* all pairs of the first argument's elements */
	BT_CEL_COST_SORT_BY, /* of the second argument's */
	BT_CEL_COST_SETS,    /* product of the sizes */
	BT_CEL_COST_SETS2,   /* twice the product */
	BT_CEL_COST_FUNCTION,
	BT_CEL_COST_NOMINAL = BT_CEL_COST_FUNCTION, /* one, whatever the overload */
	BT_CEL_COST_TRAVERSE,			    /* the first argument's size / 10 */
	BT_CEL_COST_TRAVERSE2,			    /* twice that */
	BT_CEL_COST_RESULT2,			    /* the result's size / 5 */
	BT_CEL_COST_REGEX,			    /* text / 10 * pattern / 4 */
	BT_CEL_COST_ELEMENTS			    /* of the first argument, with their sizes / 10 */
};

struct bt_cel_overload {
	const char *name;
	/* The result's type, a colon, the arguments' types: see bt_cel_type_read. */
	const char *signature;
	bt_cel_call *call;
	uint8_t form; /* enum bt_cel_form */
	uint8_t cost; /* enum bt_cel_cost */
	bool member;
	bool loose;	 /* call tells by itself which values it takes, for all overloads of the function */
	uint8_t feature; /* enum bt_cel_feature: with which it is there; 0: always */
};

/* All overloads of a function, ended by one of another name; NULL: no such function with these features. */
const struct bt_cel_overload *bt_cel_overloads(struct bt_str name, unsigned features);
/* Whether upstream has a function of this name that is not supported here. */
bool bt_cel_unsupported(struct bt_str name);
/* Whether the overload takes these values, looking at first elements only, as upstream does. */
bool bt_cel_takes(const struct bt_cel_overload *overload, const struct bt_cel_value *args, uint32_t arg_n);
uint64_t bt_cel_call_cost(const struct bt_cel_overload *overload, bool single,
	const struct bt_cel_value *args, uint32_t arg_n, const struct bt_cel_value *result,
	const struct bt_cel_device *device);

/* ---- checker (cel_check.c) ---- */
/* Sets types, overloads and slots; errors are in the compiler. */
void bt_cel_check(struct bt_cel_compiler *compiler, struct bt_cel_node *root);

/* ---- values (cel_value.c) ---- */
/* NULL when the run's memory is used up; the run is cancelled then. */
void *bt_cel_alloc(struct bt_cel_run *run, size_t size);
extern const char bt_cel_cost_text[];	/* why a run is cancelled whose cost is too high */
extern const char bt_cel_memory_text[]; /* or whose memory is used up */
/* False when the run has worked too much; it is cancelled then. */
bool bt_cel_step(struct bt_cel_run *run, uint64_t n);
struct bt_cel_value bt_cel_fail(struct bt_cel_run *run, const char *format, ...) BT_PRINTF(2, 3);
struct bt_cel_value bt_cel_no_overload(void);
/* A list of room for n values that are not set, or an error. */
struct bt_cel_value bt_cel_new_list(struct bt_cel_run *run, size_t n);
struct bt_cel_value bt_cel_append(struct bt_cel_run *run, const struct bt_cel_value *list,
	const struct bt_cel_value *tail, uint32_t tail_n);
/* True, false or an error: only quantities and versions refuse to be compared with others. */
struct bt_cel_value bt_cel_equal(
	struct bt_cel_run *run, const struct bt_cel_value *a, const struct bt_cel_value *b);
bool bt_cel_is_true_equal(struct bt_cel_run *run, const struct bt_cel_value *a, const struct bt_cel_value *b);
/* An int below, equal to or above 0, or an error. */
struct bt_cel_value bt_cel_compare(const struct bt_cel_value *a, const struct bt_cel_value *b);
/* Whether the value can be a key in Go; the run is cancelled otherwise, as Go's panic ends upstream's. */
bool bt_cel_hash(struct bt_cel_run *run, const struct bt_cel_value *key);
/* The value of a key; an error with an empty text when there is none. */
struct bt_cel_value bt_cel_find(
	struct bt_cel_run *run, const struct bt_cel_value *map, const struct bt_cel_value *key);
/* Whether the map has the key, as "in" sees it: a missing domain is missing. */
bool bt_cel_has(struct bt_cel_run *run, const struct bt_cel_value *map, const struct bt_cel_value *key);
/* The keys of a map as a list. */
struct bt_cel_value bt_cel_keys(struct bt_cel_run *run, const struct bt_cel_value *map);
/* As upstream's tracker sees it: characters, elements, entries; 1 of everything else. */
uint64_t bt_cel_size(const struct bt_cel_device *device, const struct bt_cel_value *value);
/* As Go's %v prints it into errors. */
void bt_cel_print(const struct bt_cel_value *value, struct bt_buf *out);
/* How Go calls the value's type. */
const char *bt_cel_go_type(const struct bt_cel_value *value);
/* Whether lists and maps may be asked for the value. */
bool bt_cel_is_key(const struct bt_cel_value *value);
/* The index into a list of n; false with *out_error set. */
bool bt_cel_to_index(struct bt_cel_run *run, const struct bt_cel_value *index, int64_t *out_index,
	struct bt_cel_value *out_error);

static inline struct bt_cel_value bt_cel_bool(bool boolean)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_BOOL, .boolean = boolean};
}

static inline struct bt_cel_value bt_cel_int(int64_t integer)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_INT, .integer = integer};
}

static inline struct bt_cel_value bt_cel_text(struct bt_str text)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_STRING, .text = text};
}

/* ---- evaluation (cel_eval.c) ---- */
/* Whether the node is a link of a chain of selections and indices, or the variable at its start. */
bool bt_cel_is_attribute(const struct bt_cel_node *node);
struct bt_cel_value bt_cel_eval(struct bt_cel_run *run, const struct bt_cel_node *node);

/* ---- regular expressions (cel_regex.c) ---- */
/*
 * NULL and the error as Go's regexp words it. What memory it may take at most, and took, is taken from
 * *left_bytes. Owns: the caller, with bt_re2_destroy.
 */
struct bt_re2 *bt_cel_regex_compile(struct bt_str pattern, size_t *left_bytes, struct bt_buf *error);
/* The leftmost match at or after from; false: none, or the run has worked too much. Where it is, is faster
 * not asked for (out_start NULL). */
bool bt_cel_regex_find(struct bt_cel_run *run, const struct bt_re2 *re2, struct bt_str text, size_t from,
	size_t *out_start, size_t *out_end);
