/* SPDX-License-Identifier: Apache-2.0
 * The functions of expressions, for the table of overloads. Each gets the number of arguments of its
 * overload; guarded overloads guarantee the arguments' kinds.
 */
#pragma once

#include "plugins/dynamic_resources/cel_int.h"

/* cel_operator.c */
bt_cel_call bt_cel_add, bt_cel_subtract, bt_cel_multiply, bt_cel_divide, bt_cel_modulo, bt_cel_negate,
	bt_cel_not, bt_cel_less, bt_cel_less_equal, bt_cel_greater, bt_cel_greater_equal, bt_cel_in,
	bt_cel_size_of;
bt_cel_call bt_cel_identity, bt_cel_type_value, bt_cel_to_bool, bt_cel_to_bytes, bt_cel_to_double,
	bt_cel_to_int, bt_cel_to_string, bt_cel_to_uint;
/* cel_optional.c */
bt_cel_call bt_cel_optional_of, bt_cel_optional_of_non_zero, bt_cel_optional_none, bt_cel_optional_value,
	bt_cel_optional_has, bt_cel_optional_unwrap, bt_cel_first, bt_cel_last;
/* cel_string.c */
bt_cel_call bt_cel_contains, bt_cel_starts_with, bt_cel_ends_with, bt_cel_matches, bt_cel_char_at,
	bt_cel_index_of, bt_cel_last_index_of, bt_cel_lower_ascii, bt_cel_upper_ascii, bt_cel_replace,
	bt_cel_split, bt_cel_substring, bt_cel_trim, bt_cel_join, bt_cel_quote, bt_cel_find_pattern,
	bt_cel_find_all;
/* cel_list.c */
bt_cel_call bt_cel_is_sorted, bt_cel_sum_int, bt_cel_sum_uint, bt_cel_sum_double, bt_cel_min, bt_cel_max,
	bt_cel_list_index_of, bt_cel_list_last_index_of, bt_cel_includes, bt_cel_short_includes, bt_cel_slice,
	bt_cel_flatten, bt_cel_sort, bt_cel_sort_by_keys, bt_cel_range, bt_cel_reverse, bt_cel_distinct,
	bt_cel_sets_contains, bt_cel_sets_equivalent, bt_cel_sets_intersects;
/* cel_resource.c */
bt_cel_call bt_cel_quantity, bt_cel_is_quantity, bt_cel_quantity_sign, bt_cel_quantity_compare,
	bt_cel_quantity_greater, bt_cel_quantity_less, bt_cel_quantity_float, bt_cel_quantity_int,
	bt_cel_quantity_is_int, bt_cel_quantity_add, bt_cel_quantity_sub;
bt_cel_call bt_cel_semver, bt_cel_is_semver, bt_cel_semver_major, bt_cel_semver_minor, bt_cel_semver_patch,
	bt_cel_semver_compare, bt_cel_semver_greater, bt_cel_semver_less;
