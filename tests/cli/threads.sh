# SPDX-License-Identifier: Apache-2.0
# berth simulate --threads: decisions, output and journal equal those of one thread; the threads' work is shown.
. "$(dirname "$0")/common.sh" "$@"
here=$(realpath "$(dirname "$0")")
samples=$(realpath "$here/../../tools/samples")

expect 2 "65" "$berth" simulate -q --threads 65
expect 2 "CPU 4095 is not on this machine" "$berth" simulate -q --threads 2 --cpus 4095

# equal NAME OPTIONS...: decisions, events and report do not depend on threads and workers, and the journal replays.
equal() {
	local name=$1 threads
	shift
	"$berth" simulate -q -o json "$@" --decisions "$name.d" --events "$name.e" >"$name.r" 2>"$name.err" ||
		fail "$name: $(cat "$name.err")"
	[ -s "$name.d" ] || fail "$name: nothing is decided"
	for threads in "0 --workers 2" 1 "1 --workers 2" 2 "2 --workers 2 --batch 7" 4 "4 --workers 2"; do
		# shellcheck disable=SC2086 # a number and options
		"$berth" simulate -q -o json "$@" --threads $threads --decisions n.d --events n.e --journal n.j >n.r 2>n.err ||
			fail "$name, $threads: $(cat n.err)"
		cmp -s "$name.d" n.d || fail "$name: --threads $threads decides otherwise: $(diff "$name.d" n.d | head -3)"
		cmp -s "$name.e" n.e || fail "$name: --threads $threads has other events: $(diff "$name.e" n.e | head -3)"
		diff <(grep -v '_s"' "$name.r") <(grep -v '_s"' n.r) >differ || fail "$name: --threads $threads reports: $(cat differ)"
		"$berth" replay n.j >out 2>err || fail "$name: --threads $threads: the journal does not replay: $(cat err)"
	done
}

equal samples "$samples"
equal wait "$samples" --preemption wait
equal until "$samples" --until 12m
equal gang "$here/gang.yaml" --kubernetes-version 1.36 --feature-gates GenericWorkload=true,GangScheduling=true
"$berth" generate --nodes 60 --pods 3000 --signatures 60 --profile mixed -o json >mixed.json
equal mixed mixed.json

# A trace: pods arrive and leave, many in the same second, some after their eviction or before they fit.
echo "sn,cpu_milli,memory_mib,gpu,model" >nodes.csv
seq 1 12 | sed 's/.*/n&,16000,65536,2,V100M16/' >>nodes.csv
echo "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time" >pods.csv
awk 'BEGIN { for (i = 1; i <= 900; i++) { at = int(i / 7); printf "p%d,%d,%d,%d,%d,,%s,Running,%d,%d,%d\n", i, 1000 + i % 9 * 500, 1024 * (1 + i % 5), i % 3 == 0, i % 3 ? 0 : 500, i % 4 ? "LS" : "BE", at, at + i * 37 % 60, at } }' >>pods.csv
equal trace --trace openb --nodes nodes.csv --pods pods.csv
equal trace_until --trace openb --nodes nodes.csv --pods pods.csv --until 90
equal still --trace openb --nodes nodes.csv --pods pods.csv --no-time

# Each error in the input is reported once, by whichever thread finds it.
printf '%s\n' '{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", pods: "9"}}}' '---' \
	'{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "9", pods: "9"}}}' '---' \
	'{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: p}, spec: {nodeName: gone}}' '---' \
	'{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: p}, spec: {nodeName: n1}}' >twice.yaml
for threads in 0 2; do
	"$berth" simulate -o json twice.yaml --threads $threads >out 2>err.$threads || fail "twice: $(cat err.$threads)"
	grep -q '"on_unknown_nodes": 1' out || grep -q 'there is no node "gone"' err.$threads || fail "twice: $(cat err.$threads)"
done
cmp -s err.0 err.2 || fail "with threads other complaints: $(diff err.0 err.2)"
expect 3 "duplicate node ignored" "$berth" simulate -q --strict --threads 2 twice.yaml

# ---- live view ----
"$berth" simulate -q --stats --threads 2 --workers 2 "$samples" -o json >stats || fail "--stats fails"
for stage in ingest publish apply wait decide hand_over bind; do
	grep -q "\"stage\": \"$stage\"" stats || fail "stage $stage is not measured: $(cat stats)"
done
"$berth" simulate --live --threads 2 --until 2s --speed 1 "$samples" >report 2>err || fail "without a terminal: $(cat err)"
grep -qE '^00:0[0-9] placing pods: [0-9,]+ of 2 virtual s, [0-9,]+ pods/s, [0-9,]+ wait' err || fail "no lines: $(cat err)"

finish
