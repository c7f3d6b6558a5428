/* SPDX-License-Identifier: Apache-2.0
 * Shared by the parts of the expression language: types, values, trees, and the stages in order: lex, parse
 * (with macros), check, fold constants, evaluate.
 */
#pragma once

#include "plugins/dynamic_resources/cel.h"
#include "plugins/dynamic_resources/cel_re2_int.h"

/* Kinds of types and of values. bt_cel_kind_name depends on the order of the first ones. */
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
	BT_CEL_K_DURATION, /* a type only, as is the next; null matches them */
	BT_CEL_K_TIMESTAMP,
	BT_CEL_K_DEVICE, /* a type only; its value is a map */
	BT_CEL_K_PARAM,	 /* a type only: a type variable */
	BT_CEL_K_N
};

struct bt_cel_type {
	enum bt_cel_kind kind;
	uint32_t param_n;  /* of params */
	uint32_t variable; /* of BT_CEL_K_PARAM */
	const struct bt_cel_type *params[2];
};

/* The source of a BT_CEL_K_MAP value: its own entries, or a view of the device. */
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
	uint8_t view; /* maps: enum bt_cel_view; quantities: 1 when upstream holds a
		       * pointer, which changes == */
	uint32_t n;   /* elements of a list, entries of a map */
	union {
		bool boolean;
		int64_t integer;
		uint64_t uinteger;
		double real;
		struct bt_str text;	    /* strings and bytes; errors: the text; views: the domain */
		struct bt_cel_items *items; /* lists: n values; maps: alternating keys and values */
		const struct bt_cel_value *optional; /* NULL: none */
		const struct bt_quantity *quantity;
		const struct bt_cel_semver *semver;
		const struct bt_cel_type *type;
		const struct bt_re2 *regex; /* BT_CEL_K_DYN: a precompiled pattern */
	};
};

/*
 * Storage of lists. A list is a view of the first n values. A list that views all used_n may be extended in
 * place, so that appending one by one stays linear.
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
	BT_CEL_MAP, /* args: alternating keys and values */
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

/* How far a node is processed. Macros may use a node twice; each stage runs once. */
enum bt_cel_stage { BT_CEL_PARSED, BT_CEL_CHECKED, BT_CEL_SETTLED, BT_CEL_VALIDATED, BT_CEL_PLANNED };

struct bt_cel_overload;

struct bt_cel_node {
	uint8_t kind;	 /* enum bt_cel_node_kind */
	uint8_t form;	 /* calls: enum bt_cel_form */
	bool member;	 /* calls: args[0] is the target */
	bool test_only;	 /* selections: has() */
	uint8_t stage;	 /* enum bt_cel_stage */
	uint16_t height; /* levels of operators below it, before macros */
	bool branching;	 /* selections and indices: the chain starts at a conditional, which costs nothing */
	uint32_t at;	 /* position for errors, in code points */
	uint32_t arg_n;
	struct bt_cel_node **args;
	bool *optional;			   /* lists and maps: which elements or entries are
					    * optional; NULL: none */
	struct bt_str name;		   /* identifiers, selections, calls; folds: the accumulator */
	struct bt_str iter_var, iter_var2; /* folds; the second one may be empty */
	struct bt_cel_value value;	   /* constants */
	uint32_t slot; /* identifiers: the local variable, or BT_CEL_NO_SLOT; folds: the accumulator's;
			* the iteration variables have the next two */
	const struct bt_cel_type *type;
	const struct bt_cel_overload *overloads; /* calls: all overloads of the function */
	uint32_t overload_n;
	const struct bt_cel_overload *overload; /* calls: the only one that fits, or NULL */
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
	uint32_t copy_n; /* nodes copied by macros */
	struct bt_cel_pattern *patterns;
};

/* The state of one match. */
struct bt_cel_run {
	const struct bt_cel_device *device;
	struct bt_arena *arena;
	struct bt_cel_local *locals;
	uint64_t cost;
	uint64_t left_steps; /* steps left for work that cost does not count */
	size_t left_bytes;
	const char *cancelled; /* not NULL: evaluation has stopped with this error */
};

/* A variable of a fold. */
struct bt_cel_local {
	struct bt_cel_value value;
	const struct bt_cel_node *init; /* not NULL: evaluated on first use */
};

/* The static type of an attribute's value. */
static inline enum bt_cel_kind bt_cel_attribute_kind_of(const struct bt_cel_compiler *compiler)
{
	return compiler->features & BT_CEL_LISTS ? BT_CEL_K_DYN : BT_CEL_K_ANY;
}

/* ---- errors of compiling (cel_error.c) ---- */
#define BT_CEL_NOWHERE UINT32_MAX /* position of an error about the whole expression */
void bt_cel_diagnose(struct bt_cel_compiler *compiler, uint32_t at, const char *format, ...) BT_PRINTF(3, 4);
/* Writes the errors sorted by position, each with its line and a mark below it. */
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
/* Decodes a string or bytes literal. Returns NULL, or the error. */
const char *bt_cel_unquote(
	struct bt_arena *arena, struct bt_str literal, bool bytes, struct bt_str *out_text);

/* ---- parser (cel_parse.c, cel_macro.c) ---- */
/* NULL when there were errors. */
struct bt_cel_node *bt_cel_parse(struct bt_cel_compiler *compiler);
struct bt_cel_node *bt_cel_node(struct bt_cel_compiler *compiler, enum bt_cel_node_kind kind, uint32_t at);
struct bt_cel_node *bt_cel_node_call(struct bt_cel_compiler *compiler, uint32_t at, const char *function,
	bool member, struct bt_cel_node *a, struct bt_cel_node *b, struct bt_cel_node *c);
/* Replaces a macro call by its expansion; leaves other calls. Returns false after an error. */
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
	/* What bindings of the current attempt have replaced, restored when it fails. */
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
/* Can each of b be used as its a? Binds variables if so, and changes nothing otherwise. */
bool bt_cel_assignable(struct bt_cel_unifier *unifier, const struct bt_cel_type *const *a,
	const struct bt_cel_type *const *b, size_t n);
const struct bt_cel_type *bt_cel_most_general(const struct bt_cel_type *a, const struct bt_cel_type *b);
const struct bt_cel_type *bt_cel_substitute(
	struct bt_cel_unifier *unifier, const struct bt_cel_type *type, bool free_to_dyn);
/* As the checker prints it: map(string, any). */
void bt_cel_type_text(const struct bt_cel_type *type, struct bt_buf *out);
/* As messages about a whole expression print it: map(string, google.protobuf.Any). */
void bt_cel_type_name(const struct bt_cel_type *type, struct bt_buf *out);
/* Reads one type of an overload's signature; replaces the variables A to D by variables. */
const struct bt_cel_type *bt_cel_type_read(
	struct bt_cel_unifier *unifier, const char **signature, const struct bt_cel_type *variables[4]);

/* ---- functions (cel_function.c) ---- */
typedef struct bt_cel_value bt_cel_call(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n);

/* Cost model of a call. Those before BT_CEL_COST_FUNCTION apply only if exactly one overload fits. */
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
	BT_CEL_COST_NOMINAL = BT_CEL_COST_FUNCTION, /* one, for every overload */
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
	bool loose;	 /* call itself checks its values, for all overloads of the function */
	uint8_t feature; /* enum bt_cel_feature that enables it; 0: always */
};

/* All overloads of a function; the row after them has another name. NULL: no such
 * function with these features. */
const struct bt_cel_overload *bt_cel_overloads(struct bt_str name, unsigned features);
/* Does upstream have a function of this name that is not supported here? */
bool bt_cel_unsupported(struct bt_str name);
/* Does the overload accept these values? Checks only first elements, as upstream does. */
bool bt_cel_takes(const struct bt_cel_overload *overload, const struct bt_cel_value *args, uint32_t arg_n);
uint64_t bt_cel_call_cost(const struct bt_cel_overload *overload, bool single,
	const struct bt_cel_value *args, uint32_t arg_n, const struct bt_cel_value *result,
	const struct bt_cel_device *device);

/* ---- checker (cel_check.c) ---- */
/* Sets types, overloads and slots; errors go to the compiler. */
void bt_cel_check(struct bt_cel_compiler *compiler, struct bt_cel_node *root);

/* ---- values (cel_value.c) ---- */
/* NULL when the run's memory limit is reached; the run is cancelled then. */
void *bt_cel_alloc(struct bt_cel_run *run, size_t size);
extern const char bt_cel_cost_text[];	/* error of a run over the cost limit */
extern const char bt_cel_memory_text[]; /* error of a run over the memory limit */
/* Counts n steps. Returns false over the limit; the run is cancelled then. */
bool bt_cel_step(struct bt_cel_run *run, uint64_t n);
struct bt_cel_value bt_cel_fail(struct bt_cel_run *run, const char *format, ...) BT_PRINTF(2, 3);
struct bt_cel_value bt_cel_no_overload(void);
/* A list with room for n unset values, or an error. */
struct bt_cel_value bt_cel_new_list(struct bt_cel_run *run, size_t n);
struct bt_cel_value bt_cel_append(struct bt_cel_run *run, const struct bt_cel_value *list,
	const struct bt_cel_value *tail, uint32_t tail_n);
/* True, false or an error: only quantities and versions refuse a comparison with other kinds. */
struct bt_cel_value bt_cel_equal(
	struct bt_cel_run *run, const struct bt_cel_value *a, const struct bt_cel_value *b);
bool bt_cel_is_true_equal(struct bt_cel_run *run, const struct bt_cel_value *a, const struct bt_cel_value *b);
/* An int less than, equal to or greater than 0, or an error. */
struct bt_cel_value bt_cel_compare(const struct bt_cel_value *a, const struct bt_cel_value *b);
/* Can the value be a Go map key? If not, cancels the run, as upstream ends with Go's panic. */
bool bt_cel_hash(struct bt_cel_run *run, const struct bt_cel_value *key);
/* The value of a key; an error with an empty text when there is none. */
struct bt_cel_value bt_cel_find(
	struct bt_cel_run *run, const struct bt_cel_value *map, const struct bt_cel_value *key);
/* Does the map have the key, by "in"? A domain without attributes is missing. */
bool bt_cel_has(struct bt_cel_run *run, const struct bt_cel_value *map, const struct bt_cel_value *key);
/* The keys of a map as a list. */
struct bt_cel_value bt_cel_keys(struct bt_cel_run *run, const struct bt_cel_value *map);
/* Size as upstream's tracker counts it: characters, elements, entries; 1 for other values. */
uint64_t bt_cel_size(const struct bt_cel_device *device, const struct bt_cel_value *value);
/* Prints the value as Go's %v does. */
void bt_cel_print(const struct bt_cel_value *value, struct bt_buf *out);
/* The Go name of the value's type. */
const char *bt_cel_go_type(const struct bt_cel_value *value);
/* Can the value be an index or key? */
bool bt_cel_is_key(const struct bt_cel_value *value);
/* Converts an index into a list of n; returns false with *out_error set. */
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
/* Is the node a selection or index of a chain, or the variable at its start? */
bool bt_cel_is_attribute(const struct bt_cel_node *node);
struct bt_cel_value bt_cel_eval(struct bt_cel_run *run, const struct bt_cel_node *node);

/* ---- regular expressions (cel_regex.c) ---- */
/*
 * Returns NULL with the error of Go's regexp. Reserves the maximum memory of the pattern from *left_bytes.
 * Owns: the caller, with bt_re2_destroy.
 */
struct bt_re2 *bt_cel_regex_compile(struct bt_str pattern, size_t *left_bytes, struct bt_buf *error);
/* The leftmost match at or after from; false: none, or the step limit is reached. Without its position
 * (out_start NULL) the search is faster. */
bool bt_cel_regex_find(struct bt_cel_run *run, const struct bt_re2 *re2, struct bt_str text, size_t from,
	size_t *out_start, size_t *out_end);
