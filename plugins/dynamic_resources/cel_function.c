/* SPDX-License-Identifier: Apache-2.0
 * The table of functions and their overloads, in upstream's order: the first overload that accepts the values
 * is called. Overloads for durations and timestamps exist because null matches them. Source: cel-go v0.26
 * common/stdlib and ext; apiserver/pkg/cel/library, v1.36.3.
 */
#include "plugins/dynamic_resources/cel_calls_int.h"

#include <math.h>

#define ONE	 BT_CEL_COST_ONE
#define NOMINAL	 BT_CEL_COST_NOMINAL
#define TRAVERSE BT_CEL_COST_TRAVERSE

/* Rows of one name are adjacent. Loose functions check their values themselves. */
#define FORM(name, signature, form)                                                                          \
	{                                                                                                    \
		name, signature, NULL, form, ONE, false, true, 0                                             \
	}
#define LOOSE(name, signature, call, cost)                                                                   \
	{                                                                                                    \
		name, signature, call, BT_CEL_FUNCTION, cost, false, true, 0                                 \
	}
#define LOOSE_MEMBER(name, signature, call, cost)                                                            \
	{                                                                                                    \
		name, signature, call, BT_CEL_FUNCTION, cost, true, true, 0                                  \
	}
#define GLOBAL(name, signature, call, cost)                                                                  \
	{                                                                                                    \
		name, signature, call, BT_CEL_FUNCTION, cost, false, false, 0                                \
	}
#define MEMBER(name, signature, call, cost)                                                                  \
	{                                                                                                    \
		name, signature, call, BT_CEL_FUNCTION, cost, true, false, 0                                 \
	}
#define ORDER(name, call)                                                                                    \
	LOOSE(name, "b:bb", call, ONE), LOOSE(name, "b:ii", call, ONE), LOOSE(name, "b:id", call, ONE),      \
		LOOSE(name, "b:iu", call, ONE), LOOSE(name, "b:uu", call, ONE),                              \
		LOOSE(name, "b:ud", call, ONE), LOOSE(name, "b:ui", call, ONE),                              \
		LOOSE(name, "b:dd", call, ONE), LOOSE(name, "b:di", call, ONE),                              \
		LOOSE(name, "b:du", call, ONE), LOOSE(name, "b:ss", call, BT_CEL_COST_SMALLER),              \
		LOOSE(name, "b:yy", call, BT_CEL_COST_SMALLER), LOOSE(name, "b:tt", call, ONE),              \
		LOOSE(name, "b:ee", call, ONE)
#define EXTREME(name, call)                                                                                  \
	MEMBER(name, "i:Li", call, BT_CEL_COST_ELEMENTS), MEMBER(name, "u:Lu", call, BT_CEL_COST_ELEMENTS),  \
		MEMBER(name, "d:Ld", call, BT_CEL_COST_ELEMENTS),                                            \
		MEMBER(name, "b:Lb", call, BT_CEL_COST_ELEMENTS),                                            \
		MEMBER(name, "e:Le", call, BT_CEL_COST_ELEMENTS),                                            \
		MEMBER(name, "t:Lt", call, BT_CEL_COST_ELEMENTS),                                            \
		MEMBER(name, "s:Ls", call, BT_CEL_COST_ELEMENTS),                                            \
		MEMBER(name, "y:Ly", call, BT_CEL_COST_ELEMENTS)

static const struct bt_cel_overload overloads[] = {
	FORM("_?_:_", "A:bAA", BT_CEL_CONDITIONAL),
	FORM("_&&_", "b:bb", BT_CEL_AND),
	FORM("_||_", "b:bb", BT_CEL_OR),
	LOOSE("!_", "b:b", bt_cel_not, ONE),
	FORM("@not_strictly_false", "b:b", BT_CEL_NOT_STRICTLY_FALSE),
	FORM("_==_", "b:AA", BT_CEL_EQUAL),
	FORM("_!=_", "b:AA", BT_CEL_NOT_EQUAL),
	LOOSE("_+_", "y:yy", bt_cel_add, BT_CEL_COST_SUM),
	LOOSE("_+_", "d:dd", bt_cel_add, ONE),
	LOOSE("_+_", "e:ee", bt_cel_add, ONE),
	LOOSE("_+_", "t:et", bt_cel_add, ONE),
	LOOSE("_+_", "t:te", bt_cel_add, ONE),
	LOOSE("_+_", "i:ii", bt_cel_add, ONE),
	LOOSE("_+_", "LA:LALA", bt_cel_add, ONE),
	LOOSE("_+_", "s:ss", bt_cel_add, BT_CEL_COST_SUM),
	LOOSE("_+_", "u:uu", bt_cel_add, ONE),
	LOOSE("_/_", "d:dd", bt_cel_divide, ONE),
	LOOSE("_/_", "i:ii", bt_cel_divide, ONE),
	LOOSE("_/_", "u:uu", bt_cel_divide, ONE),
	LOOSE("_%_", "i:ii", bt_cel_modulo, ONE),
	LOOSE("_%_", "u:uu", bt_cel_modulo, ONE),
	LOOSE("_*_", "d:dd", bt_cel_multiply, ONE),
	LOOSE("_*_", "i:ii", bt_cel_multiply, ONE),
	LOOSE("_*_", "u:uu", bt_cel_multiply, ONE),
	LOOSE("-_", "d:d", bt_cel_negate, ONE),
	LOOSE("-_", "i:i", bt_cel_negate, ONE),
	LOOSE("_-_", "d:dd", bt_cel_subtract, ONE),
	LOOSE("_-_", "e:ee", bt_cel_subtract, ONE),
	LOOSE("_-_", "i:ii", bt_cel_subtract, ONE),
	LOOSE("_-_", "t:te", bt_cel_subtract, ONE),
	LOOSE("_-_", "e:tt", bt_cel_subtract, ONE),
	LOOSE("_-_", "u:uu", bt_cel_subtract, ONE),
	ORDER("_<_", bt_cel_less),
	ORDER("_<=_", bt_cel_less_equal),
	ORDER("_>_", bt_cel_greater),
	ORDER("_>=_", bt_cel_greater_equal),
	FORM("_[_]", "A:LAi", BT_CEL_INDEX),
	FORM("_[_]", "B:MABA", BT_CEL_INDEX),
	FORM("_[_]", "OA:OLAi", BT_CEL_INDEX),
	FORM("_[_]", "OB:OMABA", BT_CEL_INDEX),
	FORM("_[?_]", "OA:LAi", BT_CEL_OPT_INDEX),
	FORM("_[?_]", "OA:OLAi", BT_CEL_OPT_INDEX),
	FORM("_[?_]", "OB:MABA", BT_CEL_OPT_INDEX),
	FORM("_[?_]", "OB:OMABA", BT_CEL_OPT_INDEX),
	LOOSE("@in", "b:ALA", bt_cel_in, BT_CEL_COST_SECOND),
	LOOSE("@in", "b:AMAB", bt_cel_in, ONE),
	LOOSE("size", "i:y", bt_cel_size_of, ONE),
	LOOSE_MEMBER("size", "i:y", bt_cel_size_of, ONE),
	LOOSE("size", "i:LA", bt_cel_size_of, ONE),
	LOOSE_MEMBER("size", "i:LA", bt_cel_size_of, ONE),
	LOOSE("size", "i:MAB", bt_cel_size_of, ONE),
	LOOSE_MEMBER("size", "i:MAB", bt_cel_size_of, ONE),
	LOOSE("size", "i:s", bt_cel_size_of, ONE),
	LOOSE_MEMBER("size", "i:s", bt_cel_size_of, ONE),
	LOOSE("type", "TA:A", bt_cel_type_value, ONE),
	GLOBAL("bool", "b:b", bt_cel_identity, ONE),
	GLOBAL("bool", "b:s", bt_cel_to_bool, ONE),
	GLOBAL("bytes", "y:y", bt_cel_identity, ONE),
	GLOBAL("bytes", "y:s", bt_cel_to_bytes, BT_CEL_COST_FIRST),
	GLOBAL("double", "d:d", bt_cel_identity, ONE),
	GLOBAL("double", "d:i", bt_cel_to_double, ONE),
	GLOBAL("double", "d:s", bt_cel_to_double, ONE),
	GLOBAL("double", "d:u", bt_cel_to_double, ONE),
	LOOSE("dyn", "*:A", bt_cel_identity, ONE),
	GLOBAL("int", "i:i", bt_cel_identity, ONE),
	GLOBAL("int", "i:d", bt_cel_to_int, ONE),
	GLOBAL("int", "i:e", bt_cel_to_int, ONE),
	GLOBAL("int", "i:s", bt_cel_to_int, ONE),
	GLOBAL("int", "i:t", bt_cel_to_int, ONE),
	GLOBAL("int", "i:u", bt_cel_to_int, ONE),
	GLOBAL("string", "s:s", bt_cel_identity, ONE),
	GLOBAL("string", "s:b", bt_cel_to_string, ONE),
	GLOBAL("string", "s:y", bt_cel_to_string, BT_CEL_COST_FIRST),
	GLOBAL("string", "s:d", bt_cel_to_string, ONE),
	GLOBAL("string", "s:e", bt_cel_to_string, ONE),
	GLOBAL("string", "s:i", bt_cel_to_string, ONE),
	GLOBAL("string", "s:t", bt_cel_to_string, ONE),
	GLOBAL("string", "s:u", bt_cel_to_string, ONE),
	GLOBAL("uint", "u:u", bt_cel_identity, ONE),
	GLOBAL("uint", "u:d", bt_cel_to_uint, ONE),
	GLOBAL("uint", "u:i", bt_cel_to_uint, ONE),
	GLOBAL("uint", "u:s", bt_cel_to_uint, ONE),
	LOOSE_MEMBER("contains", "b:ss", bt_cel_contains, BT_CEL_COST_PRODUCT),
	LOOSE_MEMBER("endsWith", "b:ss", bt_cel_ends_with, BT_CEL_COST_FIRST),
	LOOSE_MEMBER("startsWith", "b:ss", bt_cel_starts_with, BT_CEL_COST_FIRST),
	LOOSE("matches", "b:ss", bt_cel_matches, ONE),
	LOOSE_MEMBER("matches", "b:ss", bt_cel_matches, BT_CEL_COST_MATCHES),
	/* optional values */
	LOOSE("optional.of", "OA:A", bt_cel_optional_of, ONE),
	LOOSE("optional.ofNonZeroValue", "OA:A", bt_cel_optional_of_non_zero, ONE),
	LOOSE("optional.none", "OA:", bt_cel_optional_none, ONE),
	MEMBER("value", "A:OA", bt_cel_optional_value, ONE),
	MEMBER("hasValue", "b:OA", bt_cel_optional_has, ONE),
	{"or", "OA:OAOA", NULL, BT_CEL_OPT_OR, ONE, true, true, 0},
	{"orValue", "A:OAA", NULL, BT_CEL_OPT_OR_VALUE, ONE, true, true, 0},
	GLOBAL("optional.unwrap", "LA:LOA", bt_cel_optional_unwrap, ONE),
	MEMBER("unwrapOpt", "LA:LOA", bt_cel_optional_unwrap, ONE),
	MEMBER("first", "OA:LA", bt_cel_first, ONE),
	MEMBER("last", "OA:LA", bt_cel_last, ONE),
	/* strings */
	MEMBER("charAt", "s:si", bt_cel_char_at, ONE),
	/* Overloads for lists come first, in the order in which upstream loads its libraries. */
	MEMBER("indexOf", "i:LAA", bt_cel_list_index_of, BT_CEL_COST_ELEMENTS),
	MEMBER("indexOf", "i:ss", bt_cel_index_of, BT_CEL_COST_ELEMENTS),
	MEMBER("indexOf", "i:ssi", bt_cel_index_of, BT_CEL_COST_ELEMENTS),
	MEMBER("lastIndexOf", "i:LAA", bt_cel_list_last_index_of, BT_CEL_COST_ELEMENTS),
	MEMBER("lastIndexOf", "i:ss", bt_cel_last_index_of, BT_CEL_COST_ELEMENTS),
	MEMBER("lastIndexOf", "i:ssi", bt_cel_last_index_of, BT_CEL_COST_ELEMENTS),
	MEMBER("lowerAscii", "s:s", bt_cel_lower_ascii, TRAVERSE),
	MEMBER("replace", "s:sss", bt_cel_replace, BT_CEL_COST_TRAVERSE2),
	MEMBER("replace", "s:sssi", bt_cel_replace, BT_CEL_COST_TRAVERSE2),
	MEMBER("split", "Ls:ss", bt_cel_split, BT_CEL_COST_TRAVERSE2),
	MEMBER("split", "Ls:ssi", bt_cel_split, BT_CEL_COST_TRAVERSE2),
	MEMBER("substring", "s:si", bt_cel_substring, TRAVERSE),
	MEMBER("substring", "s:sii", bt_cel_substring, TRAVERSE),
	MEMBER("trim", "s:s", bt_cel_trim, TRAVERSE),
	MEMBER("upperAscii", "s:s", bt_cel_upper_ascii, TRAVERSE),
	MEMBER("join", "s:Ls", bt_cel_join, BT_CEL_COST_RESULT2),
	MEMBER("join", "s:Lss", bt_cel_join, BT_CEL_COST_RESULT2),
	GLOBAL("strings.quote", "s:s", bt_cel_quote, BT_CEL_COST_FIRST),
	MEMBER("find", "s:ss", bt_cel_find_pattern, BT_CEL_COST_REGEX),
	MEMBER("findAll", "Ls:ss", bt_cel_find_all, BT_CEL_COST_REGEX),
	MEMBER("findAll", "Ls:ssi", bt_cel_find_all, BT_CEL_COST_REGEX),
	/* lists and sets */
	EXTREME("min", bt_cel_min),
	EXTREME("max", bt_cel_max),
	MEMBER("isSorted", "b:Li", bt_cel_is_sorted, BT_CEL_COST_ELEMENTS),
	MEMBER("isSorted", "b:Lu", bt_cel_is_sorted, BT_CEL_COST_ELEMENTS),
	MEMBER("isSorted", "b:Ld", bt_cel_is_sorted, BT_CEL_COST_ELEMENTS),
	MEMBER("isSorted", "b:Lb", bt_cel_is_sorted, BT_CEL_COST_ELEMENTS),
	MEMBER("isSorted", "b:Le", bt_cel_is_sorted, BT_CEL_COST_ELEMENTS),
	MEMBER("isSorted", "b:Lt", bt_cel_is_sorted, BT_CEL_COST_ELEMENTS),
	MEMBER("isSorted", "b:Ls", bt_cel_is_sorted, BT_CEL_COST_ELEMENTS),
	MEMBER("isSorted", "b:Ly", bt_cel_is_sorted, BT_CEL_COST_ELEMENTS),
	MEMBER("sum", "i:Li", bt_cel_sum_int, BT_CEL_COST_ELEMENTS),
	MEMBER("sum", "u:Lu", bt_cel_sum_uint, BT_CEL_COST_ELEMENTS),
	MEMBER("sum", "d:Ld", bt_cel_sum_double, BT_CEL_COST_ELEMENTS),
	MEMBER("sum", "e:Le", bt_cel_sum_int, BT_CEL_COST_ELEMENTS),
	MEMBER("slice", "LA:LAii", bt_cel_slice, BT_CEL_COST_RESULT_LIST),
	LOOSE_MEMBER("flatten", "LA:LLA", bt_cel_flatten, BT_CEL_COST_FLATTEN),
	LOOSE_MEMBER("flatten", "L*:L*i", bt_cel_flatten, BT_CEL_COST_FLATTEN),
	LOOSE_MEMBER("sort", "Li:Li", bt_cel_sort, BT_CEL_COST_SORT),
	LOOSE_MEMBER("sort", "Lu:Lu", bt_cel_sort, BT_CEL_COST_SORT),
	LOOSE_MEMBER("sort", "Ld:Ld", bt_cel_sort, BT_CEL_COST_SORT),
	LOOSE_MEMBER("sort", "Lb:Lb", bt_cel_sort, BT_CEL_COST_SORT),
	LOOSE_MEMBER("sort", "Le:Le", bt_cel_sort, BT_CEL_COST_SORT),
	LOOSE_MEMBER("sort", "Lt:Lt", bt_cel_sort, BT_CEL_COST_SORT),
	LOOSE_MEMBER("sort", "Ls:Ls", bt_cel_sort, BT_CEL_COST_SORT),
	LOOSE_MEMBER("sort", "Ly:Ly", bt_cel_sort, BT_CEL_COST_SORT),
	LOOSE_MEMBER("@sortByAssociatedKeys", "LA:LALi", bt_cel_sort_by_keys, BT_CEL_COST_SORT_BY),
	LOOSE_MEMBER("@sortByAssociatedKeys", "LA:LALu", bt_cel_sort_by_keys, BT_CEL_COST_SORT_BY),
	LOOSE_MEMBER("@sortByAssociatedKeys", "LA:LALd", bt_cel_sort_by_keys, BT_CEL_COST_SORT_BY),
	LOOSE_MEMBER("@sortByAssociatedKeys", "LA:LALb", bt_cel_sort_by_keys, BT_CEL_COST_SORT_BY),
	LOOSE_MEMBER("@sortByAssociatedKeys", "LA:LALe", bt_cel_sort_by_keys, BT_CEL_COST_SORT_BY),
	LOOSE_MEMBER("@sortByAssociatedKeys", "LA:LALt", bt_cel_sort_by_keys, BT_CEL_COST_SORT_BY),
	LOOSE_MEMBER("@sortByAssociatedKeys", "LA:LALs", bt_cel_sort_by_keys, BT_CEL_COST_SORT_BY),
	LOOSE_MEMBER("@sortByAssociatedKeys", "LA:LALy", bt_cel_sort_by_keys, BT_CEL_COST_SORT_BY),
	{"includes", "b:**", bt_cel_includes, BT_CEL_FUNCTION, BT_CEL_COST_ELEMENTS, true, true,
		BT_CEL_INCLUDES},
	GLOBAL("lists.range", "Li:i", bt_cel_range, BT_CEL_COST_RESULT_LIST),
	MEMBER("reverse", "LA:LA", bt_cel_reverse, BT_CEL_COST_RESULT_LIST),
	MEMBER("distinct", "LA:LA", bt_cel_distinct, BT_CEL_COST_SORT),
	GLOBAL("sets.contains", "b:LALA", bt_cel_sets_contains, BT_CEL_COST_SETS),
	GLOBAL("sets.equivalent", "b:LALA", bt_cel_sets_equivalent, BT_CEL_COST_SETS2),
	GLOBAL("sets.intersects", "b:LALA", bt_cel_sets_intersects, BT_CEL_COST_SETS),
	{"includes", "b:**", bt_cel_short_includes, BT_CEL_FUNCTION, ONE, true, true, BT_CEL_SHORT_INCLUDES},
	/* quantities and versions */
	GLOBAL("quantity", "q:s", bt_cel_quantity, TRAVERSE),
	GLOBAL("isQuantity", "b:s", bt_cel_is_quantity, TRAVERSE),
	GLOBAL("sign", "i:q", bt_cel_quantity_sign, NOMINAL),
	MEMBER("isGreaterThan", "b:qq", bt_cel_quantity_greater, NOMINAL),
	MEMBER("isGreaterThan", "b:vv", bt_cel_semver_greater, NOMINAL),
	MEMBER("isLessThan", "b:qq", bt_cel_quantity_less, NOMINAL),
	MEMBER("isLessThan", "b:vv", bt_cel_semver_less, NOMINAL),
	MEMBER("compareTo", "i:qq", bt_cel_quantity_compare, NOMINAL),
	MEMBER("compareTo", "i:vv", bt_cel_semver_compare, NOMINAL),
	MEMBER("asApproximateFloat", "d:q", bt_cel_quantity_float, NOMINAL),
	MEMBER("asInteger", "i:q", bt_cel_quantity_int, NOMINAL),
	MEMBER("isInteger", "b:q", bt_cel_quantity_is_int, NOMINAL),
	MEMBER("add", "q:qq", bt_cel_quantity_add, NOMINAL),
	MEMBER("add", "q:qi", bt_cel_quantity_add, NOMINAL),
	MEMBER("sub", "q:qq", bt_cel_quantity_sub, NOMINAL),
	MEMBER("sub", "q:qi", bt_cel_quantity_sub, NOMINAL),
	GLOBAL("semver", "v:s", bt_cel_semver, TRAVERSE),
	GLOBAL("semver", "v:sb", bt_cel_semver, TRAVERSE),
	GLOBAL("isSemver", "b:s", bt_cel_is_semver, TRAVERSE),
	GLOBAL("isSemver", "b:sb", bt_cel_is_semver, TRAVERSE),
	MEMBER("major", "i:v", bt_cel_semver_major, NOMINAL),
	MEMBER("minor", "i:v", bt_cel_semver_minor, NOMINAL),
	MEMBER("patch", "i:v", bt_cel_semver_patch, NOMINAL),
	{0},
};

const struct bt_cel_overload *bt_cel_overloads(struct bt_str name, unsigned features)
{
	const char *before = "";

	for (const struct bt_cel_overload *overload = overloads; overload->name; overload++) {
		if (strcmp(overload->name, before) != 0 && bt_str_is(name, overload->name) &&
			(!overload->feature || overload->feature & features)) {
			return overload;
		}
		before = overload->name;
	}
	return NULL;
}

bool bt_cel_unsupported(struct bt_str name)
{
	static const char *const names[] = {"allowed", "asString", "authorizer", "check", "cidr",
		"containsCIDR", "containsIP", "duration", "errored", "family", "fieldSelector", "format",
		"format.dns1035Label", "format.named", "getDate", "getDayOfMonth", "getDayOfWeek",
		"getDayOfYear", "getEscapedPath", "getFullYear", "getHost", "getHostname", "getHours",
		"getMilliseconds", "getMinutes", "getMonth", "getPort", "getQuery", "getScheme", "getSeconds",
		"group", "ip", "ip.isCanonical", "isCIDR", "isGlobalUnicast", "isIP", "isLinkLocalMulticast",
		"isLinkLocalUnicast", "isLoopback", "isUnspecified", "isURL", "labelSelector", "masked",
		"prefixLength", "timestamp", "transformMap", "transformMapEntry", "url", "validate"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (bt_str_is(name, names[i])) {
			return true;
		}
	}
	return false;
}

/* Does the value fit the type at *signature? Advances *signature; value NULL: only advances. */
static bool takes_one(const char **signature, const struct bt_cel_value *value)
{
	static const uint8_t kinds[128] = {['b'] = BT_CEL_K_BOOL,
		['i'] = BT_CEL_K_INT,
		['u'] = BT_CEL_K_UINT,
		['d'] = BT_CEL_K_DOUBLE,
		['s'] = BT_CEL_K_STRING,
		['y'] = BT_CEL_K_BYTES,
		['q'] = BT_CEL_K_QUANTITY,
		['v'] = BT_CEL_K_SEMVER,
		['e'] = BT_CEL_K_DURATION,
		['t'] = BT_CEL_K_TIMESTAMP,
		['L'] = BT_CEL_K_LIST,
		['M'] = BT_CEL_K_MAP,
		['O'] = BT_CEL_K_OPTIONAL,
		['T'] = BT_CEL_K_TYPE};
	char c = *(*signature)++;
	bool fits =
		!value || c == '*' || (c >= 'A' && c <= 'D') || value->kind == kinds[(unsigned char)c & 127];

	if (c == 'L') {
		const struct bt_cel_value *first = value && fits && value->n ? value->items->values : NULL;

		return takes_one(signature, first) && fits;
	}
	if (c == 'O' || c == 'T' || c == 'M') {
		takes_one(signature, NULL);
	}
	if (c == 'M') {
		takes_one(signature, NULL);
	}
	return fits;
}

bool bt_cel_takes(const struct bt_cel_overload *overload, const struct bt_cel_value *args, uint32_t arg_n)
{
	const char *signature = strchr(overload->signature, ':') + 1;
	uint32_t n = 0;

	for (; *signature; n++) {
		if (n == arg_n || !takes_one(&signature, &args[n])) {
			return false;
		}
	}
	return n == arg_n;
}

/* size * factor, rounded up. */
static uint64_t part(uint64_t size, double factor)
{
	return (uint64_t)ceil((double)size * factor);
}

/* The cost of traversing the value once. */
static uint64_t elements_cost(const struct bt_cel_value *value, uint32_t depth)
{
	uint64_t cost = 0;

	if (value->kind == BT_CEL_K_STRING || value->kind == BT_CEL_K_BYTES) {
		return (uint64_t)((double)value->text.len * 0.1);
	}
	if (value->kind != BT_CEL_K_LIST || depth == 0) {
		return 1;
	}
	for (uint32_t i = 0; i < value->n; i++) {
		cost += elements_cost(&value->items->values[i], depth - 1);
	}
	return cost;
}

/* The cost of comparing all elements of a list with each other. */
static uint64_t pairs_cost(const struct bt_cel_value *list)
{
	bool text = list->n && (list->items->values[0].kind == BT_CEL_K_STRING ||
				       list->items->values[0].kind == BT_CEL_K_BYTES);

	return (uint64_t)((double)list->n * list->n * (text ? 2.1 : 2.0)) + 11;
}

static uint64_t regex_cost(uint64_t text, uint64_t pattern)
{
	return (uint64_t)ceil((1.0 + (double)text) * 0.1) * part(pattern, 0.25);
}

/* Depth times size, at most the limit of a run. */
static uint64_t flatten_cost(const struct bt_cel_value *args, uint32_t arg_n, uint64_t size)
{
	uint64_t depth = 1;

	if (arg_n > 1 && args[1].kind == BT_CEL_K_INT) {
		depth = args[1].integer < 0		    ? 0
			: args[1].integer > BT_CEL_COST_MAX ? BT_CEL_COST_MAX
							    : (uint64_t)args[1].integer;
	}
	return depth * size + 11;
}

uint64_t bt_cel_call_cost(const struct bt_cel_overload *overload, bool single,
	const struct bt_cel_value *args, uint32_t arg_n, const struct bt_cel_value *result,
	const struct bt_cel_device *device)
{
	enum bt_cel_cost cost = overload->cost;
	uint64_t first;
	uint64_t second;

	if (cost == BT_CEL_COST_ONE || cost == BT_CEL_COST_NOMINAL ||
		(!single && cost < BT_CEL_COST_FUNCTION)) {
		return 1;
	}
	first = arg_n > 0 ? bt_cel_size(device, &args[0]) : 0;
	second = arg_n > 1 ? bt_cel_size(device, &args[1]) : 0;
	switch (cost) {
	case BT_CEL_COST_FIRST:
	case BT_CEL_COST_TRAVERSE:
		return part(first, 0.1);
	case BT_CEL_COST_TRAVERSE2:
		return part(first * 2, 0.1);
	case BT_CEL_COST_RESULT2:
		return part(bt_cel_size(device, result) * 2, 0.1);
	case BT_CEL_COST_SMALLER:
		return part(first < second ? first : second, 0.1);
	case BT_CEL_COST_SUM:
		return part(first + second, 0.1);
	case BT_CEL_COST_PRODUCT:
		return part(first, 0.1) * part(second, 0.1);
	case BT_CEL_COST_SECOND:
		return second;
	case BT_CEL_COST_MATCHES:
	case BT_CEL_COST_REGEX:
		return regex_cost(first, second);
	case BT_CEL_COST_RESULT_LIST:
		return bt_cel_size(device, result) + 11;
	case BT_CEL_COST_FLATTEN:
		return flatten_cost(args, arg_n, first);
	case BT_CEL_COST_SORT:
		return args[0].kind == BT_CEL_K_LIST ? pairs_cost(&args[0]) : 1;
	case BT_CEL_COST_SORT_BY:
		return args[1].kind == BT_CEL_K_LIST ? pairs_cost(&args[1]) : 1;
	case BT_CEL_COST_SETS:
		return 1 + first * second;
	case BT_CEL_COST_SETS2:
		return 1 + 2 * first * second;
	case BT_CEL_COST_ELEMENTS:
		return elements_cost(&args[0], 2);
	default:
		return 1;
	}
}
