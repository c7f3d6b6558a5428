/* SPDX-License-Identifier: Apache-2.0
 * What reading a pattern hands to matching it: a program of instructions, as Thompson's construction gives
 * it.
 */
#pragma once

#include "plugins/dynamic_resources/cel_int.h"

enum bt_cel_regex_op {
	BT_CEL_RE_CLASS, /* takes a code point of the class, goes on at out */
	BT_CEL_RE_SPLIT, /* goes on at out, or else at other */
	BT_CEL_RE_ASSERT,
	BT_CEL_RE_MATCH
};

enum bt_cel_regex_assertion {
	BT_CEL_RE_BEGIN_TEXT,
	BT_CEL_RE_END_TEXT,
	BT_CEL_RE_BEGIN_LINE,
	BT_CEL_RE_END_LINE,
	BT_CEL_RE_WORD,
	BT_CEL_RE_NO_WORD
};

struct bt_cel_range {
	uint32_t first, last;
};

struct bt_cel_regex_inst {
	uint8_t op, assertion;
	uint32_t out, other;
	const struct bt_cel_range *ranges; /* sorted, apart from one another */
	uint32_t range_n;
};

struct bt_cel_regex {
	struct bt_cel_regex_inst *insts;
	uint32_t inst_n, cap_n;
	uint32_t start;
};
