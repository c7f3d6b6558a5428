# SPDX-License-Identifier: Apache-2.0
# What makes an error in memory harder to use, in the programs and the library as they were built.
. "$(dirname "$0")/common.sh" "$@"
fortified=$3
run=$4
library=$5

if ! command -v readelf >/dev/null; then
	echo "skipped: there is no readelf (binutils, which gcc brings)"
	exit 77
fi

# has FILE WHAT PATTERN OPTION...: readelf says so of the file.
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
for file in "$berth" "$run"; do
	has "$file" "it is no program that can be loaded anywhere" 'FLAGS_1.*PIE' -d
done
finish
