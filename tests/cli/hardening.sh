# SPDX-License-Identifier: Apache-2.0
# Hardening of the built programs and the library against memory errors.
. "$(dirname "$0")/common.sh" "$@"
fortified=$3
run=$4
library=$5

if ! command -v readelf >/dev/null; then
	echo "skipped: there is no readelf (binutils, which gcc brings)"
	exit 77
fi

# has FILE WHAT PATTERN OPTION...: readelf's output for the file has the pattern.
has() {
	local file=$1 what=$2 pattern=$3
	shift 3
	readelf -W "$@" "$file" >said 2>&1
	grep -qE -- "$pattern" said || fail "$file: $what"
}

# hasnt FILE WHAT PATTERN OPTION...
hasnt() {
	local file=$1 what=$2 pattern=$3
	shift 3
	readelf -W "$@" "$file" >said 2>&1
	grep -qE -- "$pattern" said && fail "$file: $what"
}

for file in "$berth" "$run" "$library"; do
	has "$file" "it is loaded at one address" 'Type: +DYN' -h
	has "$file" "its relocations stay writable (no RELRO)" 'GNU_RELRO' -l
	has "$file" "functions are looked up when they are called (no BIND_NOW)" 'BIND_NOW|FLAGS.* NOW' -d
	has "$file" "its stack may be executed" 'GNU_STACK.* RW ' -l
	hasnt "$file" "a segment may be written and executed" 'LOAD .* RWE ' -l
	hasnt "$file" "its code has relocations" 'TEXTREL' -d
	has "$file" "no function has a stack protector" '__stack_chk_fail' --dyn-syms
	if [ "$fortified" = fortified ]; then
		has "$file" "no function of the C library is the checked one" '_chk(@|$)' --dyn-syms
		has "$file" "memory is copied unchecked" '__(memcpy|memmove|memset)_chk' --dyn-syms
	fi
done

# CET (x86-64): every object of ours is marked. The linker marks its output only when every object that it
# links is marked, and the C library's start files may not be: Debian builds glibc without CET.
unmarked() {
	readelf -Wn "$@" 2>/dev/null | awk '/^File: / { if (file && !marked) print file; file = $2; marked = 0 }
		/IBT, SHSTK/ { marked = 1 } END { if (file && !marked) print file }'
}
if [ "$(uname -m)" = x86_64 ]; then
	find "$(dirname "$berth")" -path '*/tests' -prune -o -name 'libbt_*.a' ! -name '*_testing.a' -print >archives
	[ -s archives ] || fail "there are no archives of ours beside $berth"
	ours=$(xargs -a archives sh -c 'for a; do readelf -Wn "$a" 2>/dev/null; done' sh |
		awk '/^File: / { if (file && !marked) print file; file = $2; marked = 0 } /IBT, SHSTK/ { marked = 1 }
			END { if (file && !marked) print file }')
	[ -z "$ours" ] || fail "without CET marks: $ours"
	starts=
	for start in Scrt1.o crti.o crtn.o crtbeginS.o crtendS.o; do
		starts="$starts $("${CC:-cc}" -print-file-name=$start)"
	done
	missing=$(unmarked $starts)
	for file in "$berth" "$run"; do
		if [ -n "$missing" ]; then
			echo "$file has no CET marks because the C library's start files have none:" $missing
		else
			has "$file" "it has no CET marks (indirect branches, shadow stack)" 'IBT, SHSTK' -n
		fi
	done
fi
for file in "$berth" "$run"; do
	has "$file" "it is no program that can be loaded anywhere" 'FLAGS_1.*PIE' -d
done
finish
