# SPDX-License-Identifier: Apache-2.0
# berth topology: the plan for described machines, in every format; rejected input with reasons.
. "$(dirname "$0")/common.sh" "$@"
unset HWLOC_XMLFILE
export HWLOC_SYNTHETIC='pack:2 [numa] core:2 pu:2'

# line TEXT: the report has this line, however wide its gaps are.
line() {
	sed 's/  */ /g; s/ $//' out | grep -qxF -- "$1" || fail "no line '$1' in: $(cat out)"
}

# says TEXT ARGUMENT...: the JSON of berth topology with these arguments, without blanks, contains the text.
says() {
	local text=$1
	shift
	"$berth" topology "$@" -o json >out 2>err || fail "topology $*: $(cat err)"
	tr -d ' \n' <out | grep -qF -- "$text" || fail "topology $* does not say $text: $(cat out)"
}

expect 0 "machine" "$berth" topology --workers 3
line " packages 2"
line " memory nodes 2"
line " cores 4"
line " hardware threads 8"
line " schedule 0 0 0 0 false"
line " worker-1 2 1 0 0 false"
line " worker-2 4 2 1 0 false"
line " publish 6 3 1 0 false"
line " ingest 3 1 0 0 false"
line " bind 5 2 1 0 false"
grep -qF "the machine is simulated: nothing is pinned" out || fail "does not say that it is simulated: $(cat out)"

says '"schema":"berth.topology/v1"' --cpus 4-7
says '{"thread":"schedule","cpu":4,"core":2,"numa_node":1,"core_kind":0,"pinned":false}' --cpus 4-7
expect 0 'numa_node: 1' "$berth" topology --cpus 4-7 -o yaml
expect 0 'schedule,4,2,1,0,false' "$berth" topology --cpus 4-7 -o csv

# One core, one worker: everything inline.
says '"inline":true,"workers":1,"ingestion":0,"binders":0' --workers 1
says '"inline":true,"workers":1,"ingestion":0,"binders":0' --cpus 6-7
says '[{"thread":"schedule","cpu":null,"core":null,"numa_node":null,"core_kind":null,"pinned":false}]' --cpus 6-7
says '"inline":false,"workers":1,"ingestion":2' --workers 1 --ingestion 2

# Errors have reason and remedy.
expect 2 'CPU list "0-9": CPU 8 is not on this machine, which has 0-7; leave it out' "$berth" topology --cpus 0-9
expect 2 'CPU list "x": not understood from "x" on; write numbers and ranges such as 0-3,8' "$berth" topology --cpus x
expect 2 "64" "$berth" topology --workers 65
expect 2 "1024" "$berth" topology --ingestion 1025
HWLOC_SYNTHETIC=nonsense expect 3 "HWLOC_SYNTHETIC is no description that hwloc can read: nonsense; write it like" "$berth" topology
HWLOC_XMLFILE=nowhere.xml expect 3 "HWLOC_XMLFILE is no topology that hwloc can read: nowhere.xml" "$berth" topology

# This machine, restricted to one CPU: one thread runs everything, and other CPUs are rejected.
unset HWLOC_SYNTHETIC
says '"simulated":false'
if command -v taskset >/dev/null; then
	own=$(taskset -cp $$ | sed 's/.*: //')
	first=${own%%[-,]*}
	last=${own##*[-,]}
	taskset -cp "$first" $$ >/dev/null
	says '"usable_cores":1'
	says '"inline":true'
	[ "$first" = "$last" ] || expect 2 "CPU $last is not allowed to this process" "$berth" topology --cpus "$last"
fi
finish
