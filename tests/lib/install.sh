#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The installed library can be used with pkg-config alone, from C and C++, static and shared, also when it
# has been moved: $1 the build, $2 an empty folder, $3 the project, $4 the C compiler, $5 the C++ compiler, $6 flags of a sanitizer.
. "$(dirname "$0")/../cli/common.sh"
build=$1 source=$3 cc=$4 cxx=$5 sanitize=${6:-}
strict="-Wall -Wextra -pedantic -Werror $sanitize"

DESTDIR=$folder/stage cmake --install "$build" --prefix /opt/berth >log 2>&1 || fail "install: $(tail -3 log)"
mv stage/opt/berth moved || fail "nothing was installed under DESTDIR and the prefix"
for file in bin/berth include/berth.h include/berth_plugin.h share/man/man1/berth.1 share/man/man1/berth-simulate.1 share/man/man3/libberth.3 \
	share/man/man3/berth_plugin.3; do
	[ -f "moved/$file" ] || fail "$file was not installed"
done
pc=$(dirname "$(find "$folder/moved" -name berth.pc)")
export PKG_CONFIG_PATH=$pc
[ "$(pkg-config --modversion berth)" = "$(moved/bin/berth version | sed 's/^berth //; s/ .*//')" ] || fail "the versions differ"
lib=$(pkg-config --variable=libdir berth)
[ "$(find "$lib" -type l -name 'libberth.so*' | wc -l)" = 2 ] || fail "the links libberth.so and libberth.so.N are not there"

# shellcheck disable=SC2046,SC2086 # lists of words
try() {
	local name=$1
	shift
	"$@" -o "$name" 2>err || fail "$name does not build: $(head -5 err)"
	LD_LIBRARY_PATH=$lib "./$name" $arguments >out 2>err || fail "$name ends with $?: $(head -5 err)"
	grep -qF "$expected" out || fail "$name does not say: $expected"
}

cflags=$(pkg-config --cflags berth)
arguments=$source/tools/samples expected='22 placed, 3 refused'
try c99 $cc -std=c99 $strict $cflags "$source/tools/libberth/examples/place.c" $(pkg-config --libs berth)
try c17 $cc -std=c17 $strict $cflags "$source/tools/libberth/examples/place.c" $(pkg-config --libs berth)
try c_static $cc -std=c99 $strict $cflags "$source/tools/libberth/examples/place.c" "$lib/libberth.a" $(pkg-config --static --libs-only-l berth |
	sed 's/-lberth//')
if ldd c_static | grep -q libberth; then
	fail "c_static needs libberth.so"
fi
arguments='' expected='berth '
try cxx11 $cxx -std=c++11 $strict $cflags "$source/tests/lib/use.cc" $(pkg-config --libs berth)
try cxx_static $cxx -std=c++17 $strict $cflags "$source/tests/lib/use.cc" "$lib/libberth.a" $(pkg-config --static --libs-only-l berth |
	sed 's/-lberth//')
# A plugin needs the header alone.
# shellcheck disable=SC2086 # lists of words
$cc -std=c99 $strict -shared -fPIC $cflags "$source/tools/libberth/examples/rack_power.c" -o rack_power.so 2>err ||
	fail "rack_power.so does not build: $(head -5 err)"
echo '#include <berth_plugin.h>' >plugin.cc
# shellcheck disable=SC2086
$cxx -std=c++11 $strict $cflags -fsyntax-only plugin.cc 2>err || fail "berth_plugin.h is no C++11: $(head -5 err)"
man --warnings -l moved/share/man/man3/berth_plugin.3 >page 2>err || fail "man: $(head -3 err)"
[ -s err ] && fail "man warns: $(head -3 err)"
grep -q 'berth_plugin_entry' page || fail "the manual does not describe berth_plugin_entry"
man --warnings -l moved/share/man/man3/libberth.3 >page 2>err || fail "man: $(head -3 err)"
[ -s err ] && fail "man warns: $(head -3 err)"
for name in $(grep -oE '^BERTH_API [^(]*' moved/include/berth.h | sed -E 's/.*[ *]//'); do
	grep -qE "^ +$name\(\)$" page || fail "the manual does not describe $name"
done
finish
