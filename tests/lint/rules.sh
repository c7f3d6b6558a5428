#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every rule of the lint fails once: each sample is a small tree that breaks exactly one rule.
# The script works in a new folder inside $1. In samples, @ is removed, so that this file itself keeps the rules.
set -eu
lint=$(cd "$(dirname "$0")/../../tools/check" && pwd)/lint
mkdir -p "$1"
tree=$(mktemp -d "$1/lint-sample.XXXXXX")
failed=0
count=0

# A tree without faults, with text like faults in comments and strings.
fresh() {
	rm -rf "$tree"
	mkdir -p "$tree/engine/base" "$tree/engine/model" "$tree/engine/flow/config" "$tree/engine/flow/cycle" \
		"$tree/cache" "$tree/plugins/a" "$tree/plugins/b" "$tree/tests" "$tree/tools"
	for folder in engine/base engine/model engine/flow/config engine/flow/cycle cache plugins/a plugins/b tests tools; do
		echo "What it owns." >"$tree/$folder/README.md"
	done
	put engine/base/clean.h <<-'SAMPLE'
		/* SPDX-License-Identifier: Apache-2.0
		 * Nothing is wrong here: atomic_load(x), volatile, <zstd.h>.
		 */
		#pragma once

		#include <stdint.h>
	SAMPLE
	put engine/base/clean.c <<-'SAMPLE'
		/* SPDX-License-Identifier: Apache-2.0
		 * Nothing is wrong here either.
		 */
		#include "engine/base/clean.h"

		#include <stdio.h>

		/* atomic_store(&x) and
		 * __sync_fetch(&x) in a comment. */
		static const char *text = "volatile atomic_load(x)"; /* a */ /* b */

		/* Source: a function, v1.36.3, and "1.36". */
		static const char *library = "v0.36.3 11.36 1.361"; /* "v1.36" */ // "1.36"
	SAMPLE
}

put() {
	sed 's/@//g' >"$tree/$1"
}

# expect RULE OPTIONS...: the lint reports this rule for the tree, and no other.
expect() {
	rule=$1
	shift
	count=$((count + 1))
	if found=$("$lint" --root "$tree" "$@" 2>&1); then
		echo "FAILED $rule: the lint found nothing"
		failed=1
	elif echo "$found" | grep -qvF "[$rule]"; then
		echo "FAILED $rule: the lint found something else as well:"
		echo "$found"
		failed=1
	else
		echo "ok $rule: $(echo "$found" | head -n 1)"
	fi
}

# bad RULE PATH: the clean tree with the file of standard input at PATH breaks the rule.
bad() {
	fresh
	put "$2"
	expect "$1"
}

header='/* SPDX-License-Identifier: Apache-2.0
 * A sample for the lint.
 */'

# code RULE PATH LINE...: a file with the usual head and these lines breaks the rule.
code() {
	rule=$1
	path=$2
	shift 2
	{
		echo "$header"
		case $path in
		*.h) printf '#pragma once\n' ;;
		esac
		printf '%s\n' "$@"
	} >"$tree.sample"
	bad "$rule" "$path" <"$tree.sample"
	rm -f "$tree.sample"
}

fresh
if "$lint" --root "$tree"; then
	echo "ok clean: nothing found"
else
	echo "FAILED clean: the lint found fault with a clean tree"
	failed=1
fi

bad spdx engine/base/x.c <<-'SAMPLE'
	/* A file without licence.
	 * It has a purpose.
	 */
SAMPLE
bad spdx engine/base/CMakeLists.txt <<-'SAMPLE'
	bt_library(base)
SAMPLE
bad purpose engine/base/x.c <<-'SAMPLE'
	/* SPDX-License-Identifier: Apache-2.0
	 */
	int x;
SAMPLE
bad once engine/base/x.h <<-'SAMPLE'
	/* SPDX-License-Identifier: Apache-2.0
	 * A header without guard.
	 */
	#include <stdint.h>
SAMPLE
code edge engine/base/x.c '/* EDGE x.word @release: what was written before. */'
code edge tests/x.c '/* EDGE x.word: nobody has it. */'
code race engine/base/x.c 'void f(void)' '{' '	BT_TESTPOINT("x.f.before");' '}'
code indent engine/base/x.c 'int f(void)' '{' '    @    return 1;' '}'
code indent engine/base/x.c 'int f(void)' '{' '  @return 1;' '}'
code indent engine/base/x.c 'int f(void)' '{' '  @	return 1;' '}'
code blank engine/base/x.c 'int x; '
code width engine/base/x.c "/* $(printf '%0120d' 0) */"
code width engine/base/x.c "$(printf '\t\t\t\t\t\t\t\t/* %050d */' 0)"
code unfinished engine/base/x.c '/* TO@DO: later */'
code unfinished engine/base/x.c '/* FIX@ME */'
code dead engine/base/x.c '#if 0' 'int x;' '#endif'
code dead engine/base/x.c '#  if 0 /* off */' '#endif'
code atomic cache/x.c 'int f(int *p) { return atomic_load(p); }'
code atomic cache/x.c 'int f(int *p) { return __atomic_load_n(p, 5); }'
code atomic cache/x.c 'int f(int *p) { return atomic_load_explicit (p, 0); }'
code atomic engine/base/atomic.h 'static inline int f(int *p) { return atomic_load(p); }'
code release cache/x.c 'static const char *version = "v1.3@6.3";'
code release plugins/a/x.h '#pragma once' '' '/* a */ static const char *about = "\"of\" 1.3@7"; /* b */'
code volatile cache/x.c 'static volatile int x;'
code stderr tools/x.c '	fputs(text, stderr);'
code stderr tools/x.c '	perror("open");'
code path cache/x.c '#include "../queue/queue.h"'
code path cache/x.c '#include "./x.h"'
code layer engine/base/x.c '#include "engine/model/object.h"'
code layer engine/model/x.c '#include "cache/view.h"'
code layer cache/x.c '#include "queue/queue.h"'
code layer plugins/a/x.c '#include "cache/ledger.h"'
code layer plugins/a/x.c '#include "plugins/b/b.h"'
code layer engine/flow/config/x.c '#include "plugins/node_name/node_name.h"'
code layer engine/flow/cycle/x.c '#include "plugins/node_name/node_name.h"'
code plugin engine/flow/cycle/x.c 'static const char *who = "running plugin \"NodeAffinity\": ";'
code plugin engine/flow/config/x.c 'static const void *who = &bt_plugin_node_affinity;'
code layer cache/x.c '#include "elsewhere/x.h"'
code layer cache/x.c '#include "tools/format/json.h"'
code private cache/x.c '#include "engine/base/x_int.h"'
code seam cache/x.c '#include <zstd.h>'
code seam cache/x.c '#include <jemalloc/jemalloc.h>'
code seam cache/x.c '#include <xxhash.h>'
code seam cache/x.c '#include <yaml.h>'
code seam cache/x.c '#include <urcu/urcu-qsbr.h>'
code seam cache/x.c '#include <ck_ring.h>'
code seam cache/x.c '#include <stdatomic.h>'
code seam cache/x.c '#include <unheard_of.h>'
code seam cache/x.c '#include <time.h>'
code order engine/base/clean.c '#include <stdio.h>' '#include "engine/base/clean.h"'

code twice cache/x.c 'struct bt_x {' '	int a;' '};' 'enum bt_x {' '	BT_A' '};'
code twice cache/x.c 'struct entry {' '	int a;' '};' 'union entry {' '	int b;' '};'
fresh
for i in 1 2 3 4 5 6 7 8 9 10; do
	printf '%s\n' "$header" 'static void begin(void)' '{' '}' >"$tree/cache/x$i.c"
done
expect common

fresh
printf '%s\n' "$header" '#pragma once' 'struct bt_part {' '	int x;' '};' >"$tree/engine/flow/cycle/part.h"
printf '%s\n' "$header" '#pragma once' '#include "engine/flow/cycle/part.h"' 'struct bt_engine {' '	struct bt_part part;' '};' >"$tree/engine/flow/cycle/engine_int.h"
printf '%s\n' "$header" 'int f(struct bt_engine *engine)' '{' '	return engine->part.x;' '}' >"$tree/engine/flow/cycle/part.c"
cp "$tree/engine/flow/cycle/part.c" "$tree/engine/flow/cycle/other.c"
expect owner

fresh
printf '%0161d\n' 0 >"$tree/cache/README.md"
expect wide

fresh
printf '| a | %0160d |\n' 0 >"$tree/cache/README.md"
expect wide

fresh
mkdir -p "$tree/tests/unit/gone"
printf '%s\n' "$header" >"$tree/tests/unit/gone/test_x.c"
expect mirror

fresh
printf '%s\n' '| file | owns |' '| --- | --- |' '| `gone` | nothing |' >"$tree/cache/README.md"
expect listed

bad picture engine/base/x.dot <<-'SAMPLE'
	digraph x { a -> b }
SAMPLE

fresh
rm "$tree/cache/README.md"
code_file=$tree/cache/x.c
printf '%s\n' "$header" 'int x;' >"$code_file"
expect readme

fresh
printf '%s\n' '# A table.' 'base engine/base model' 'model engine/model' 'rest cache,plugins,tests' >"$tree/layers.txt"
expect layers

fresh
printf '%s\n' 'base engine/base' 'model engine/model base' 'rest cache,plugins,tests' >"$tree/layers.txt"
expect layers # model may, and does not

fresh
printf '%s\n' 'apart cache engine' 'base engine/base' 'cache cache base' 'rest engine/model,plugins,tests' >"$tree/layers.txt"
printf '%s\n' "$header" '#include "engine/base/clean.h"' >"$tree/cache/x.c"
expect layers

# commands FILE...: a compile_commands.json that builds each of these files into a target of the same name.
commands() {
	for file in "$@"; do
		name=${file##*/}
		printf '  "command": "cc -o x/CMakeFiles/%s.dir/%s.o -c %s",\n  "file": "%s"\n' "${name%.c}" "$name" "$file" \
			"$(realpath "$tree")/$file"
	done >"$tree/commands.json"
}

fresh
printf '%s\n' "$header" 'int x;' >"$tree/cache/x.c"
commands engine/base/clean.c
expect built --commands "$tree/commands.json"

fresh
printf '%s\n' "$header" 'int x;' >"$tree/tests/test_x.c"
commands engine/base/clean.c tests/test_x.c
echo '"/bin/test_y"' >"$tree/tests.json"
expect registered --commands "$tree/commands.json" --tests "$tree/tests.json"

fresh
printf '%s\n' '#!/bin/sh' '# SPDX-License-Identifier: Apache-2.0' '# A test that nobody runs.' >"$tree/tests/x.sh"
commands engine/base/clean.c
echo '"/bin/sh" "/elsewhere/test_y.sh"' >"$tree/tests.json"
expect registered --commands "$tree/commands.json" --tests "$tree/tests.json"

fresh
{
	printf '%s\n' "$header"
	seq -f 'int x%g;' 1000
} >"$tree/cache/x.c"
expect assertions

rm -rf "$tree"
echo "$count samples"
exit $failed
