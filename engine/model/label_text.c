/* SPDX-License-Identifier: Apache-2.0
 * The rules of label keys and values, with upstream's messages.
 */
#include "engine/model/label_text.h"

#include <stdbool.h>

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Starts and ends with a letter or digit; between them also '-', '_' and '.'. */
static bool is_name(struct bt_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (!is_alnum(s.ptr[i]) && s.ptr[i] != '-' && s.ptr[i] != '_' && s.ptr[i] != '.') {
			return false;
		}
	}
	return s.len && is_alnum(s.ptr[0]) && is_alnum(s.ptr[s.len - 1]);
}

/* Lower-case labels, each starting and ending with a letter or digit, with dots between them. */
static bool is_subdomain(struct bt_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		bool edge = i == 0 || i + 1 == s.len || s.ptr[i - 1] == '.' || s.ptr[i + 1] == '.';

		if (c >= 'A' && c <= 'Z') {
			return false;
		}
		if (!is_alnum(c) && (edge || (c != '-' && c != '.'))) {
			return false;
		}
	}
	return s.len;
}

#define NAME_RULE                                                                                            \
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "          \
	"alphanumeric character"
#define NAME_REGEX "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define NAME_EXAMPLES                                                                                        \
	" (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '" NAME_REGEX "')"
#define LABEL_REGEX "[a-z0-9]([-a-z0-9]*[a-z0-9])?"

uint32_t bt_label_key_faults(struct bt_str name, struct bt_str out_texts[4])
{
	size_t slash = bt_str_find(name, '/', 0);
	uint32_t n = 0;

	if (slash < name.len && bt_str_find(name, '/', slash + 1) < name.len) {
		out_texts[0] =
			bt_str("a valid label key " NAME_RULE NAME_EXAMPLES
			       " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
		return 1;
	}
	if (slash == 0 && name.len) {
		out_texts[n++] = bt_str("prefix part must be non-empty");
	} else if (slash < name.len) {
		if (slash > 253) {
			out_texts[n++] = bt_str("prefix part must be no more than 253 bytes");
		}
		if (!is_subdomain(bt_str_sub(name, 0, slash))) {
			out_texts[n++] = bt_str("prefix part a lowercase RFC 1123 subdomain must consist of "
						"lower case alphanumeric "
						"characters, '-' or '.', and must start and end with an "
						"alphanumeric character (e.g. "
						"'example.com', regex used for validation is '" LABEL_REGEX
						"(\\." LABEL_REGEX ")*')");
		}
	}
	if (slash < name.len) {
		name = bt_str_sub(name, slash + 1, name.len);
	}
	if (!name.len) {
		out_texts[n++] = bt_str("name part must be non-empty");
	} else if (name.len > 63) {
		out_texts[n++] = bt_str("name part must be no more than 63 bytes");
	}
	if (!is_name(name)) {
		out_texts[n++] = bt_str("name part " NAME_RULE NAME_EXAMPLES);
	}
	return n;
}

uint32_t bt_label_value_faults(struct bt_str value, struct bt_str out_texts[4])
{
	uint32_t n = 0;

	if (value.len > 63) {
		out_texts[n++] = bt_str("must be no more than 63 bytes");
	}
	if (value.len && !is_name(value)) {
		out_texts[n++] = bt_str(
			"a valid label must be an empty string or consist of alphanumeric characters, '-', "
			"'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue', "
			" or 'my_value',  or '12345', regex used for validation is '(" NAME_REGEX ")?')");
	}
	return n;
}
