# SPDX-License-Identifier: Apache-2.0
# The program has the probes that the table in engine/flow/README.md lists; none where sys/sdt.h is missing.
. "$(dirname "$0")/common.sh" "$@"
readme=$(dirname "$OLDPWD/$0")/../../engine/flow/README.md
[ -f "$readme" ] || readme=$(dirname "$0")/../../engine/flow/README.md
readelf -n "$berth" >notes || fail "readelf: cannot read the notes"
grep -A 1 'Provider: berth$' notes | sed -n 's/^ *Name: //p' | sort -u >there
sed -n '/^| probe /,/^$/s/^| `\([a-z]*\)` .*/\1/p' "$readme" | sort >promised
[ -s promised ] || fail "the README has no table of probes"
if [ -f /usr/include/sys/sdt.h ] || ls /usr/include/*/sys/sdt.h >/dev/null 2>&1; then
	cmp -s there promised || fail "promised: $(xargs <promised); there: $(xargs <there)"
else
	[ -s there ] && fail "probes without sys/sdt.h: $(cat there)"
fi
finish
