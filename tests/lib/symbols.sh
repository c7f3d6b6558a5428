#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libberth exports exactly what engine/berth.h declares: $1 libberth.so, $2 libberth.a, $3 the header.
set -eu
shared=$1 static=$2 header=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

grep -oE '^BERTH_API [^(]*' "$header" | sed -E 's/.*[ *]//' | LC_ALL=C sort >"$folder/declared"
nm -D --defined-only "$shared" | sed -E 's/.* //; s/@.*//' | grep -vE '^BERTH_[0-9]+$' | LC_ALL=C sort >"$folder/shared"
nm -g --defined-only "$static" 2>/dev/null | sed -nE 's/^[0-9a-f]+ [A-Z] //p' | LC_ALL=C sort >"$folder/static"
[ "$(wc -l <"$folder/declared")" -gt 20 ] || { echo "FAILED: no declarations found in $header"; exit 1; }
status=0
for library in shared static; do
	if ! diff "$folder/declared" "$folder/$library"; then
		echo "FAILED: the $library library shows something else than the header declares (<: the header)"
		status=1
	fi
done
if readelf -d "$shared" | grep -E 'NEEDED.*jemalloc'; then
	echo "FAILED: this library must not come with libberth"
	status=1
fi
readelf -d "$shared" | grep -q 'SONAME.*libberth\.so\.[0-9]*\]' || { echo "FAILED: no SONAME"; status=1; }
exit $status
