/* SPDX-License-Identifier: Apache-2.0
 * The only C++ of the plugins. struct bt_re2 is an RE2 that C cannot see into.
 */
#include "plugins/dynamic_resources/cel_re2_int.h"

#include <re2/re2.h>

const char bt_re2_too_large[] = "expression too large";

static RE2 *of(struct bt_re2 *re2)
{
	return reinterpret_cast<RE2 *>(re2);
}

static const RE2 *of(const struct bt_re2 *re2)
{
	return reinterpret_cast<const RE2 *>(re2);
}

struct bt_re2 *bt_re2_create(const char *pattern, size_t len)
{
	return reinterpret_cast<struct bt_re2 *>(new RE2(re2::StringPiece(pattern, len), RE2::Quiet));
}

void bt_re2_destroy(struct bt_re2 *re2)
{
	delete of(re2);
}

const char *bt_re2_fault(const struct bt_re2 *re2, const char **out_part, size_t *out_part_len)
{
	*out_part = of(re2)->error_arg().data();
	*out_part_len = of(re2)->error_arg().size();
	switch (of(re2)->error_code()) {
	case RE2::NoError:
		return nullptr;
	case RE2::ErrorBadEscape:
		return "invalid escape sequence";
	case RE2::ErrorBadCharClass:
		return "invalid character class";
	case RE2::ErrorBadCharRange:
		return "invalid character class range";
	case RE2::ErrorMissingBracket:
		return "missing closing ]";
	case RE2::ErrorMissingParen:
		return "missing closing )";
	case RE2::ErrorUnexpectedParen:
		return "unexpected )";
	case RE2::ErrorTrailingBackslash:
		return "trailing backslash at end of expression";
	case RE2::ErrorRepeatArgument:
		return "missing argument to repetition operator";
	case RE2::ErrorRepeatSize:
		return "invalid repeat count";
	case RE2::ErrorRepeatOp:
		return "invalid nested repetition operator";
	case RE2::ErrorBadPerlOp:
		return "invalid or unsupported Perl syntax";
	case RE2::ErrorBadUTF8:
		return "invalid UTF-8";
	case RE2::ErrorBadNamedCapture:
		return "invalid named capture";
	case RE2::ErrorPatternTooLarge:
		return bt_re2_too_large;
	case RE2::ErrorInternal:
		break;
	}
	return "regexp/syntax: internal error";
}

size_t bt_re2_instructions(const struct bt_re2 *re2)
{
	return static_cast<size_t>(of(re2)->ProgramSize());
}

bool bt_re2_find(const struct bt_re2 *re2, const char *text, size_t len, size_t from, size_t *out_start,
	size_t *out_end)
{
	re2::StringPiece match;

	if (!of(re2)->Match(
		    re2::StringPiece(text, len), from, len, RE2::UNANCHORED, &match, out_start ? 1 : 0)) {
		return false;
	}
	if (out_start) {
		*out_start = static_cast<size_t>(match.data() - text);
		*out_end = *out_start + match.size();
	}
	return true;
}
