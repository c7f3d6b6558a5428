#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every test that tests/failures.md names exists: in ctest of the build folder $1, or as a function of a test. In conformance the
# release is left out: conformance/dra is conformance/1.36/dra.
set -eu
tests=$(cd "$(dirname "$0")/.." && pwd)
known=$(ctest --test-dir "$1" -N -C long | sed -n 's/^ *Test *#[0-9]*: //p')
bad=0
for name in $(grep '^|' "$tests/failures.md" | grep -oE '`[a-z][a-z_0-9/*.-]+`' | tr -d '`' | sort -u); do
	case $name in
	perf/results/*) [ -e "$tests/../$name" ] && continue ;;
	*/*) echo "$known" | grep -qxE "$(echo "$name" | sed 's/\*/.*/; s|^conformance/|&[0-9.]+/|')" && continue ;;
	*) grep -rqE "\b$name\b" "$tests" "$tests/../perf" --include='*.c' --include='*.cc' && continue ;;
	esac
	echo "tests/failures.md: there is no test $name"
	bad=1
done
exit $bad
