# SPDX-License-Identifier: Apache-2.0
# gdb with tools/debug/gdb.py shows values as Kubernetes writes them, with names as text.
# printers.sh SUBJECT PRINTERS: the program to look at, and the file with the printers.
set -u
export LC_ALL=C.UTF-8
unset DEBUGINFOD_URLS
subject=$1 printers=$2

skip() {
	echo "SKIPPED: $1"
	exit 77
}

# debugger OPTIONS...: gdb without the user's settings.
debugger() {
	gdb -nx -batch -iex 'set auto-load no' -iex 'set debuginfod enabled off' "$@"
}

command -v gdb >/dev/null || skip "no gdb here; install the package gdb to run this test"
debugger -ex 'python print("there")' 2>&1 | grep -qx there || skip "this gdb has no Python; the printers need it"
debugger -ex 'break main' -ex run "$subject" 2>&1 | grep -q '^Breakpoint 1, ' ||
	skip "gdb can stop no program here (is ptrace allowed?): $(debugger -ex run "$subject" 2>&1 | tail -n 1)"

got=$(debugger -x "$printers" -ex 'break stop_here' -ex 'break stop_without_dictionary' -ex run \
	-ex 'echo ---- text and quantities ----\n' \
	-ex 'print subject.empty' -ex 'print subject.text' -ex 'print subject.quantities' \
	-ex 'echo ---- names ----\n' \
	-ex 'print $bt_name(dictionary, 2)' -ex 'print $bt_name(dictionary->intern, subject.first)' \
	-ex 'print $bt_name(subject.signature, subject.last)' \
	-ex 'print $_strlen($bt_name(*dictionary, subject.long_))' \
	-ex 'print $bt_name(dictionary, 0)' -ex 'print $bt_name(dictionary, 4000000000)' -ex 'print $bt_name(1, 2)' \
	-ex 'echo ---- structs ----\n' \
	-ex 'print subject.labels' -ex 'print *subject.signature' -ex 'print subject.pod' \
	-ex 'echo ---- times ----\n' \
	-ex 'print $bt_duration(90500000000)' -ex 'print $bt_duration(0)' -ex 'print $bt_duration(-1500000)' \
	-ex 'print $bt_duration(3600000000000)' -ex 'print $bt_time(subject.pod.creation_ns)' \
	-ex continue \
	-ex 'echo ---- no dictionary ----\n' \
	-ex 'print subject.labels' \
	-ex 'set $bt_dictionary = subject.signature' -ex 'print subject.labels' \
	"$subject" 2>&1 | sed '1,/^---- text/{/^---- text/!d}' |
	sed -E '/^(Breakpoint|\[|$)|^[0-9]+\t/d; s/^\$[0-9]+ = //; s/#[0-9]+/#N/g')

want=$(
	cat <<'END'
---- text and quantities ----
""
"a \"text\""
{0, 1500m, 2Gi, -3k, 1e3, 100n, 1536Mi, 12345678901234567890}
---- names ----
"NoSchedule"
"name-0"
"name-4999"
300
""
no name has the number 4000000000
$bt_name: the first argument leads to no struct bt_intern
---- structs ----
{"app": "web", "tier": "front"}
signature 0 {namespace: "shop", schedulerName: "default-scheduler", labels: {"app": "web", "tier": "front"}, requests: {cpu: 250m, memory: 1073741824, "example.com/gpu": 2}, has: nodeSelector, 1 toleration, 1 image, 1 extended}
pod shop/web-1 {uid: "u-1", state: BT_POD_SCHEDULED, priority: -5, node_ix: 7, creation: 2026-01-02T03:04:05.5Z, signature: 0}
---- times ----
"1m30.5s"
"0s"
"-1.5ms"
"1h0m0s"
"2026-01-02T03:04:05.5Z"
---- no dictionary ----
{#N: #N, #N: #N}
{"app": "web", "tier": "front"}
END
)
if [ "$got" != "$want" ]; then
	echo "FAILED: gdb prints otherwise (- wanted, + printed)" >&2
	diff -u <(printf '%s\n' "$want") <(printf '%s\n' "$got") >&2
	exit 1
fi
