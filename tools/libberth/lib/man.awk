# SPDX-License-Identifier: Apache-2.0
# Makes the manual pages libberth(3) of engine/berth.h, and berth_plugin(3) of engine/berth_plugin.h: each comment
# before a declaration becomes its section. version: of berth.

function escape(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	if (text ~ /^[.']/) {
		text = "\\&" text
	}
	return text
}

# Tabs as blanks: those that begin a line, half as wide.
function expand(text,    at, lead) {
	match(text, /^\t*/)
	lead = sprintf("%" 4 * RLENGTH "s", "")
	text = substr(text, RLENGTH + 1)
	while ((at = index(text, "\t")) > 0) {
		text = substr(text, 1, at - 1) sprintf("%" 8 - (at - 1 + length(lead) * 2) % 8 "s", "") substr(text, at + 1)
	}
	return lead text
}

# Lines "Context : ..." and the like begin a paragraph with a hanging word.
function paragraph(text,    at) {
	sub(/^[ \t]*\*?[ \t]?/, "", text)
	if (match(text, /^[A-Z][A-Za-z, ]* *: /) && text ~ /^(Context|Returns|Requires|Owns)/) {
		at = index(text, ":")
		word = substr(text, 1, at - 1)
		sub(/ +$/, "", word)
		printf ".TP\n.B %s\n%s\n", word, escape(substr(text, at + 2))
		return
	}
	sub(/^ +/, "", text)
	print text == "" ? ".PP" : escape(text)
}

function describe(    i) {
	for (i = 1; i <= comment_n; i++) {
		paragraph(comment[i])
	}
	comment_n = 0
}

function section(title) {
	if (title != at_section) {
		printf ".SH %s\n", title
		at_section = title
	}
}

# A declaration: heading, text, code.
function declare(    i, head) {
	head = code[1]
	gsub(/^BERTH_API /, "", code[1])
	if (head ~ /^BERTH_API/) {
		section("FUNCTIONS")
		match(head, /berth_[a-z_]+\(/)
		printf ".SS %s()\n", substr(head, RSTART, RLENGTH - 1)
	} else if (head ~ /^#define/) {
		section("MACROS AND TYPES")
		match(head, /BERTH_[A-Z_]+/)
		printf ".SS %s\n", substr(head, RSTART, RLENGTH)
	} else {
		section("MACROS AND TYPES")
		match(head, /((enum|struct) berth[a-z_]*)|berth_plugin_entry/)
		printf ".SS %s\n", substr(head, RSTART, RLENGTH)
	}
	describe()
	print ".PP\n.nf"
	for (i = 1; i <= code_n; i++) {
		print escape(expand(code[i]))
	}
	print ".fi"
	code_n = 0
}

function begin(title, what, synopsis,    i) {
	printf ".TH %s 3 \"\" \"berth %s\" \"Library functions\"\n", toupper(title), version
	printf ".SH NAME\n%s \\- %s\n", title, what
	printf ".SH SYNOPSIS\n.nf\n%s\n.fi\n", synopsis
	print ".SH DESCRIPTION"
	for (i = 1; i <= head_n; i++) {
		paragraph(head_text[i])
	}
}

/^#define BERTH_VERSION[ \t]/ {
	begin("libberth", "decides where Kubernetes pods go, as kube\\-scheduler would",
		"#include <berth.h>\n\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs berth)")
	next
}

/^#define BERTH_PLUGIN_ABI[ \t]/ {
	begin("berth_plugin", "plugins for berth that are not in its tree",
		"#include <berth_plugin.h>\n\ncc \\-shared \\-fPIC $(pkg\\-config \\-\\-cflags berth) plugin.c \\-o plugin.so")
	next
}

FNR == 1 {
	in_head = 1
	next
}

in_head {
	if (/\*\//) {
		in_head = 0
	} else {
		head_text[++head_n] = $0
	}
	next
}

# Declarations end with ; in the first column's brace or line.
in_code {
	code[++code_n] = $0
	if (/^}/ || (!in_braces && /;[ \t]*(\/\*.*)?$/) || (is_macro && !/\\$/)) {
		in_code = in_braces = is_macro = 0
		declare()
	}
	next
}

/^\/\*/ {
	comment_n = 0
	in_comment = 1
	sub(/^\/\*/, "")
}

in_comment {
	ended = sub(/[ \t]*\*\/.*/, "")
	if (!ended || $0 ~ /[a-zA-Z]/) {
		if (comment_n || $0 ~ /[a-zA-Z]/) {
			comment[++comment_n] = $0
		}
	}
	if (ended) {
		in_comment = 0
	}
	next
}

/^(BERTH_API|enum|struct|typedef) / || /^#define BERTH_(INIT|EXPAND|STRICT|PLUGIN_ENTRY)/ {
	code_n = 1
	code[1] = $0
	in_braces = /\{[ \t]*(\/\*.*)?$/
	is_macro = /^#define/
	if (is_macro ? !/\\$/ : (/;[ \t]*(\/\*.*)?$/ && !in_braces) || /\};$/) {
		in_braces = is_macro = 0
		declare()
	} else {
		in_code = 1
	}
	next
}
