# SPDX-License-Identifier: Apache-2.0
# Rules that need only one file: form, includes, seams, atomics. Called by tools/check/lint with the variables
# layers and seams (the two tables), whole (1: the table of layers belongs to this tree) and lengths (1: report long functions). Prints path:line: [rule] what and remedy.

function complain(rule, what) {
	printf "%s:%d: [%s] %s\n", path, FNR, rule, what
	failed = 1
}

function starts(text, prefix) {
	return substr(text, 1, length(prefix)) == prefix
}

# The layer of a file: the one with the longest matching place, which is the file itself or a folder above it.
function layer_of(file,    i, best) {
	best = 0
	for (i = 1; i <= place_n; i++) {
		if ((file == place[i] || starts(file, place[i] "/")) && length(place[i]) > length(place[best])) {
			best = i
		}
	}
	return best ? layer[best] : ""
}

# The group of a place, among those that a line "apart" lists.
function street_of(file,    i) {
	for (i = 1; i <= street_n; i++) {
		if (file == street[i] || starts(file, street[i] "/")) {
			return street[i]
		}
	}
	return ""
}

function table_fault(what) {
	printf "%s: [layers] %s\n", layers, what
	failed = 1
}

# A row of the layer table: a name, its places separated by commas, and the names of rows above.
function read_layer(word, n,    i, places, place_count, own, other) {
	place_count = split(word[2], places, ",")
	for (i = 1; i <= place_count; i++) {
		place[++place_n] = places[i]
		layer[place_n] = word[1]
	}
	own = street[word[1]] = street_of(word[2])
	for (i = 3; i <= n; i++) {
		if (word[i] == "*") {
			sees_all[word[1]] = 1
			continue
		}
		if (!(word[i] in known)) {
			table_fault(word[1] " names " word[i] ", which does not stand above it; a lower layer never includes a higher one")
		}
		other = street[word[i]]
		if (own && other && own != other) {
			table_fault(word[1] " names " word[i] ": " own " and " other " stand apart; share in a street before both")
		}
		may[word[1], word[i]] = 1
	}
	known[word[1]] = 1
}

function read_tables(    line, word, n, i) {
	while ((getline line < layers) > 0) {
		if (line ~ /^#/ || line !~ /[^ \t]/) {
			continue
		}
		n = split(line, word, /[ \t]+/)
		if (word[1] == "apart") {
			for (i = 2; i <= n; i++) {
				street[++street_n] = word[i]
			}
		} else {
			read_layer(word, n)
		}
	}
	while ((getline line < seams) > 0) {
		if (line ~ /^#/ || line !~ /[^ \t]/) {
			continue
		}
		n = split(line, word, /[ \t]+/)
		seam[++seam_n] = word[1]
		seam_files[seam_n] = ""
		for (i = 2; i <= n; i++) {
			seam_files[seam_n] = seam_files[seam_n] " " word[i]
		}
	}
}

BEGIN {
	read_tables()
	read_plugins()
}

function check_foreign(header,    i, n, file, j, best) {
	if (path ~ /\.cc$/ && header ~ /^[a-z_]+$/) {
		return # the C++ library
	}
	best = 0
	for (i = 1; i <= seam_n; i++) {
		if (starts(header, seam[i]) && (!best || length(seam[i]) > length(seam[best]))) {
			best = i
		}
	}
	if (!best) {
		complain("seam", "<" header "> is in no line of tools/check/seams.txt; give it one file that may see it")
		return
	}
	n = split(seam_files[best], file, " ")
	for (j = 1; j <= n; j++) {
		if (file[j] == "*" || file[j] == path || (file[j] ~ /\/$/ && starts(path, file[j]))) {
			return
		}
	}
	complain("seam", "<" header "> may be seen by" seam_files[best] " only; call what that seam declares")
}

function check_ours(header,    target, own, other, folder, slash) {
	folder = path
	sub(/[^\/]*$/, "", folder)
	if (header ~ /(^|\/)\.\.?\//) {
		complain("path", "\"" header "\": write the path from the top of the project, without dots")
		return
	}
	slash = index(header, "/")
	if (header ~ /_int\.h$/ && path !~ /^tests\//) {
		if (slash && !(starts(header, folder) && index(substr(header, length(folder) + 1), "/") == 0)) {
			complain("private", "\"" header "\" is private to its folder; use or extend a public header of it")
		}
		return
	}
	if (!slash) {
		return # a header of the same folder: the compiler searches nowhere else
	}
	own = layer_of(path)
	other = layer_of(header)
	if (other == "") {
		complain("layer", "\"" header "\" belongs to no line of tools/check/layers.txt; add its folder there")
	} else if (own == "") {
		complain("layer", "this folder is in no line of tools/check/layers.txt; add it there")
	} else if (own != other && !(own in sees_all) && !((own, other) in may)) {
		complain("layer", own " may not include " other " (\"" header "\"); see tools/check/layers.txt")
	}
	used[own, other] = 1
	if (starts(path, "plugins/") && starts(header, "plugins/") && header ~ "^plugins/[^/]+/" && !starts(header, folder)) {
		complain("layer", "a plugin may not include another one (\"" header "\"); share through a header directly in plugins/")
	}
}

# The line without comments and string contents.
function code_of(line,    at) {
	gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
	if (in_comment) {
		at = index(line, "*/")
		if (!at) {
			return ""
		}
		line = substr(line, at + 2)
		in_comment = 0
	}
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
	at = index(line, "/*")
	if (at) {
		in_comment = 1
		line = substr(line, 1, at - 1)
	}
	sub(/\/\/.*/, "", line)
	return line
}

function check_code(line) {
	if (line ~ /(^|[^A-Za-z0-9_])(atomic_[a-z_]+|__atomic_[a-z_]+|__sync_[a-z_]+)[ \t]*\(/) {
		if (path != "engine/base/atomic.h") {
			complain("atomic", "atomics only through engine/base/atomic.h, with the order in the name")
		} else if (line ~ /(^|[^A-Za-z0-9_])atomic_/ && line !~ /_explicit[ \t]*\(/) {
			complain("atomic", "default-order atomic; use the _explicit form and name the order")
		}
	}
	if (line ~ /(^|[^A-Za-z0-9_])volatile([^A-Za-z0-9_]|$)/ && line !~ /volatile sig_atomic_t/ && line !~ /__asm__ volatile/) {
		complain("volatile", "volatile is not for sharing; use engine/base/atomic.h (sig_atomic_t in signal handlers is fine)")
	}
	# Commands print with bt_message, which escapes control characters of terminals; the examples have no such function.
	if (path ~ /^tools\// && path !~ /^tools\/(cli\/|berth\.c$|([a-z]+\/)?examples\/)/ && line ~ /(^|[^A-Za-z0-9_])(stderr([^A-Za-z0-9_]|$)|perror[ \t]*\()/) {
		complain("stderr", "write to standard error by bt_message or bt_log")
	}
}

# The strings of a line of code; to be called before code_of.
function strings_of(line,    found, at) {
	found = ""
	at = in_comment ? index(line, "*/") : -1
	if (!at) {
		return ""
	}
	line = substr(line, at + 2)
	while (match(line, /"([^"\\]|\\.)*"|\/\*|\/\//)) {
		at = RSTART + RLENGTH
		if (substr(line, RSTART, 1) == "\"") {
			found = found substr(line, RSTART, RLENGTH)
		} else if (substr(line, RSTART, 2) == "//" || !index(substr(line, at), "*/")) {
			break
		} else {
			at += index(substr(line, at), "*/") + 1
		}
		line = substr(line, at)
	}
	return found
}

# Only one table knows versions of Kubernetes; all other code looks rules up there.
function check_release() {
	if ($0 ~ /1\.3[5-9]/ && path ~ /^(engine|cache|queue|plugins|tools|perf)\// && path !~ /^engine\/model\/(release|gate)\./ &&
		strings_of($0) ~ /(^|[^0-9.])v?1\.3[5-9]([^0-9]|$)/) {
		complain("release", "a version of Kubernetes; ask engine/model/release.h, so that releases stand in one table")
	}
}

# The names of plugins, and of their descriptors, from the registry.
function read_plugins(    line, word, n, i, name) {
	while ((getline line < registry) > 0) {
		if (line !~ /^BT_PLUGIN\(/) {
			continue
		}
		gsub(/^BT_PLUGIN\(|\).*$/, "", line)
		descriptor[++plugin_n] = "bt_plugin_" line
		name = ""
		n = split(line, word, "_")
		for (i = 1; i <= n; i++) {
			name = name toupper(substr(word[i], 1, 1)) substr(word[i], 2)
		}
		plugin[plugin_n] = name
	}
}

# The engine knows plugins only by their descriptors.
function check_plugins(    text, i) {
	if (path !~ /^engine\/flow\//) {
		return
	}
	text = strings_of($0)
	for (i = 1; i <= plugin_n; i++) {
		if (text ~ ("(^|[^A-Za-z])" plugin[i] "([^A-Za-z]|$)") || $0 ~ (descriptor[i] "([^a-z_]|$)")) {
			complain("plugin", plugin[i] " by name; let its descriptor (plugins/plugin.h) say what the engine has to know")
		}
	}
}

function check_form(    text, lead) {
	text = $0
	if (text ~ /[ \t]$/) {
		complain("blank", "blanks at the end of the line")
	}
	if (text ~ /\r$/) {
		complain("blank", "carriage return at the end of the line")
	}
	match(text, /^[ \t]*/)
	lead = substr(text, 1, RLENGTH)
	if (lead ~ / \t/ || lead ~ /        / || (is_c && lead ~ /^ / && text !~ /^ \*/)) {
		complain("indent", "indent with tabs; blanks only to align what follows them, fewer than eight")
	}
	if (is_c) {
		while ((at = index(text, "\t")) > 0) {
			text = substr(text, 1, at - 1) substr("        ", 1, 8 - (at - 1) % 8) substr(text, at + 1)
		}
		gsub(/[\200-\277]/, "", text)
		if (length(text) > 110 + (text ~ /https?:\/\//) * 100) {
			complain("width", length(text) " columns; at most 110")
		}
	}
	if (text ~ ("(^|[^A-Za-z0-9_])(TO" "DO|FIX" "ME|XX" "X|HA" "CK)([^A-Za-z0-9_]|$)")) {
		complain("unfinished", "do it, or leave it out; open work is not noted in the sources")
	}
}

# A type name is unique, even a file-private one: gdb finds types by name alone. A static function name that many files
# share is ambiguous in a profile. Examples are separate programs.
function check_names(    word, name) {
	if (path ~ /^tests\// || path ~ /\/examples\//) {
		return
	}
	if ($0 ~ /^(struct|enum|union) [a-z0-9_]+ \{/) {
		split($0, word, " ")
		if (word[2] in type_at) {
			complain("twice", word[1] " " word[2] " is defined in " type_at[word[2]] " too; name one by its module")
		}
		type_at[word[2]] = path
	}
	if (path ~ /\.c$/ && path !~ /^perf\// && $0 ~ /^static [^=;]*[ *][a-z_0-9]+\(/) {
		name = $0
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
		if (!((name, path) in private_at)) {
			private_at[name, path] = 1
			private_in[name] = private_in[name] " " path
			if (++private_n[name] == 10) {
				complain("common", name "() is the tenth of its name; let that of a new one say its module:" private_in[name])
			}
		}
	}
}

# Functions start with a brace in the first column and end with one.
function check_length() {
	if ($0 == "{") {
		function_begin = FNR
		function_head = previous
	} else if ($0 ~ /^}/ && function_begin) {
		if (lengths && FNR - function_begin - 1 > 70) {
			sub(/\(.*/, "", function_head)
			sub(/.*[ *]/, "", function_head)
			printf "%s:%d: note: %s has %d lines\n", path, function_begin, function_head, FNR - function_begin - 1
		}
		function_begin = 0
	}
	previous = $0
}

FNR == 1 {
	path = FILENAME
	sub(/^\.\//, "", path)
	is_c = path ~ /\.(c|h|cc|def)$/
	in_comment = 0
	function_begin = 0
	include_n = 0
	tag_line = $0 ~ /^#!/ ? 2 : 1
	has_pragma = 0
	own_header = path
	sub(/^.*\//, "", own_header)
	sub(/\.c$/, ".h", own_header)
	own_path = path
	sub(/\.c$/, ".h", own_path)
	looks_own = path ~ /\.c$/ && (getline ignored < own_path) >= 0
	close(own_path)
}

{
	check_form()
}

FNR == tag_line {
	if ($0 !~ /^(\/\*|#) SPDX-License-Identifier: Apache-2\.0$/) {
		complain("spdx", "the file begins with its licence: SPDX-License-Identifier: Apache-2.0")
	}
}

FNR == tag_line + 1 && path !~ /CMakeLists\.txt$/ {
	if ($0 !~ /^( \*|#) .*[a-zA-Z].*[a-zA-Z]/) {
		complain("purpose", "a sentence on what the file is for follows the licence line")
	}
}

is_c && /^[ \t]*#[ \t]*if[ \t]+0([^-9]|$)/ {
	complain("dead", "#if 0 keeps dead code; remove it")
}

is_c && /^#pragma once$/ {
	has_pragma = 1
}

path ~ /\.h$/ && /^#include|^(static|struct|enum|extern) / && !has_pragma {
	complain("once", "a header begins with #pragma once")
	has_pragma = 1
}

is_c && /^[ \t]*#[ \t]*include[ \t]*</ {
	include_n++
	header = $0
	sub(/^[^<]*</, "", header)
	sub(/>.*/, "", header)
	check_foreign(header)
}

is_c && /^[ \t]*#[ \t]*include[ \t]*"/ {
	include_n++
	header = $0
	sub(/^[^"]*"/, "", header)
	sub(/".*/, "", header)
	check_ours(header)
	if (looks_own && header == own_path || header == own_header) {
		if (include_n != 1) {
			complain("order", "the own header comes first, so that it is seen to compile alone")
		}
	}
}

is_c {
	check_release()
	check_plugins()
	check_names()
	check_code(code_of($0))
	check_length()
}

# A permission that no include uses must go: otherwise the next use of it would not be noticed.
function check_permissions(    pair, name) {
	for (pair in may) {
		if (!(pair in used)) {
			split(pair, name, SUBSEP)
			table_fault(name[1] " may include " name[2] ", and does not; remove the permission")
		}
	}
}

END {
	if (whole) {
		check_permissions()
	}
	exit failed
}
