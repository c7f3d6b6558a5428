# SPDX-License-Identifier: Apache-2.0
# simulate's report: numbers agree with the decisions, in every format; the table of node verdicts for a pod; colours.
. "$(dirname "$0")/common.sh" "$@"

cat >cluster.yaml <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: big, labels: {topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: small, labels: {topology.kubernetes.io/zone: b}}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: closed}
spec: {unschedulable: true}
status: {allocatable: {cpu: "8", memory: 8Gi, pods: "10"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: before}, spec: {nodeName: big, containers: [{name: c, resources: {requests: {cpu: 800m}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: fits}, spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: large}, spec: {containers: [{name: c, resources: {requests: {cpu: "4"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: gated}, spec: {schedulingGates: [{name: example.com/wait}], containers: [{name: c}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: pinned}
spec:
  containers: [{name: c}]
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchFields: [{key: metadata.name, operator: In, values: [small]}]}]}}}
---
{apiVersion: example.com/v1, kind: Lamp, metadata: {name: l}}
YAML

# line TEXT: the report has this line, however wide its gaps are.
line() {
	sed 's/  */ /g; s/ $//' out | grep -qxF -- " $1" || fail "no line '$1' in: $(cat out)"
}

# explains POD LINE...: --explain shows these lines about the pod.
explains() {
	local pod=$1 text
	shift
	"$berth" simulate cluster.yaml --explain "$pod" >out 2>err || fail "--explain $pod: $(cat err)"
	for text in "$@"; do
		line "$pod $text"
	done
}

"$berth" simulate cluster.yaml --decisions log >out 2>err || fail "simulate: $(cat err)"
line "placed 2"
line "not placed 1"
line "blocked by fragmentation 1"
line "gated 1"
grep -qE "^  cpu +3  1\.3 +14 +9\.3 +15\.0 +20\.0 .* 25\.0$" out || fail "use of cpu: $(cat out)"
line "default/large 1 2 NodeResourcesFit Insufficient cpu"
line "default/large 1 1 NodeUnschedulable node(s) were unschedulable"
line "Lamp (example.com/v1) 1 not used"
grep -qF '{"pod":"default/large","node":null,"message":"0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.' log ||
	fail "the log says: $(cat log)"
[ "$(wc -l <log)" = 3 ] || fail "$(wc -l <log) decisions, not 3: gated pods are not decided"

# Pods are tried in the order of the file, so 'fits' is on the small node when 'large' is tried.
explains default/large "big rejected NodeResourcesFit Insufficient cpu (needs 4, free 3.2)" \
	"small rejected NodeResourcesFit Insufficient cpu (needs 4, free 1.5)" \
	"closed rejected NodeUnschedulable node(s) were unschedulable"
explains default/gated "* gated SchedulingGates waiting for scheduling gates: [example.com/wait]"
explains default/pinned "* left out NodeAffinity all other nodes: the pod names the nodes that it may run on"
grep -qE '^  default/pinned +small +feasible' out || fail "--explain default/pinned: $(cat out)"
explains default/fits "closed rejected NodeUnschedulable node(s) were unschedulable"
for name in big small; do
	# The total is the sum of the scores.
	grep -E "^  default/fits +$name +feasible" out | awk '{ for (i = 5; i <= NF; i++) sum += $i; exit sum != $4 }' ||
		fail "scores do not add up: $(cat out)"
done
grep -q "NodeResourcesFit" out || fail "--explain names no plugin: $(cat out)"
# The chosen node comes first and is marked; a pod on a node is explained as if it were not there.
chosen=$(sed -n 's/.*"pod":"default\/fits","node":"\([a-z]*\)".*/\1/p' log)
"$berth" simulate cluster.yaml --explain default/fits --explain default/fits --explain default/before >out 2>err || fail "--explain: $(cat err)"
grep -A2 '^Node verdicts at attempt 1: default/fits$' out | tail -1 | grep -qE "^  default/fits +$chosen +feasible .* chosen *$" || fail "the chosen node is not first: $(cat out)"
[ "$(grep -c ' chosen *$' out)" = 1 ] || fail "not one node is chosen: $(cat out)"
grep -A2 '^Node verdicts without an attempt: default/before$' out | tail -1 | grep -qE '^  default/before +big +feasible .* already bound *$' || fail "a bound pod: $(cat out)"
for format in json yaml csv; do
	"$berth" simulate cluster.yaml --explain default/fits -o $format | grep -q 'chosen' || fail "-o $format marks no node"
done

# Every attempt, with nominations and victims.
cat >evict.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "1", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {unschedulable: true}, status: {allocatable: {cpu: "1", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low}, spec: {nodeName: n1, priority: 0, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high}, spec: {priority: 10, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: foreign}, spec: {schedulerName: other, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: foreign-bound}, spec: {nodeName: n1, schedulerName: other, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: done}, spec: {containers: [{name: c}]}, status: {phase: Succeeded}}
---
{apiVersion: v1, kind: Pod, metadata: {name: leaving, deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {containers: [{name: c}]}}
YAML
for threads in 0 1; do
	"$berth" simulate -q evict.yaml --threads $threads $(for pod in low high foreign foreign-bound done leaving; do echo --explain default/$pod; done) >out 2>err ||
		fail "--explain of all: $(cat err)"
	grep -A2 '^Node verdicts at attempt 1: default/high$' out | tail -1 | grep -qE '^  default/high +n1 +rejected .* nominated ' || fail "the promised node is not first: $(cat out)"
	grep -A2 '^Node verdicts at attempt 2: default/high$' out | tail -1 | grep -qE '^  default/high +n1 +feasible .* chosen *$' || fail "no second attempt: $(cat out)"
	grep -qE '^  default/low +n1 +feasible .* already bound *$' out || fail "a pod before it is evicted: $(cat out)"
	line "default/low * evicted DefaultPreemption preempted by default/high on node n1"
	line "default/foreign * ignored the pod is another scheduler's"
	grep -qE '^  default/foreign-bound +\* +error +profile not found for scheduler name "other"' out || fail "a bound pod of another scheduler: $(cat out)"
	line "default/done * ignored the pod has completed"
	line "default/leaving * ignored the pod is being deleted"
done

# An unknown name is an error that suggests the nearest one.
expect 3 "--explain default/fitz: there is no such pod; did you mean default/fits?" "$berth" simulate cluster.yaml --explain default/fitz --decisions never
[ ! -e never ] && [ ! -s out ] || fail "a run for a pod that is not there"
expect 3 "--explain large: there is no such pod; did you mean default/large?" "$berth" simulate -q cluster.yaml --explain large
for typed in other/large pod/large /large larg x/larg default/LARGE; do
	expect 3 "--explain $typed: there is no such pod; did you mean default/large?" "$berth" simulate -q cluster.yaml --explain $typed
done
expect 3 "--explain elsewhere/something-else: there is no such pod; write NAMESPACE/NAME" "$berth" simulate cluster.yaml --explain elsewhere/something-else

# Formats have the same content; JSON and YAML can be parsed again, by berth as an object without a kind.
for format in json yaml; do
	"$berth" simulate cluster.yaml --explain default/fits -o $format >report.$format || fail "-o $format"
	expect 3 "the object has no kind; add apiVersion and kind" "$berth" simulate report.$format
	[ "$(wc -l <err)" = 2 ] || fail "-o $format is not one document: $(cat err)"
done
grep -qF '"schema": "berth.simulation/v1"' report.json || fail "no schema in JSON"
grep -qF '"not_placed": 1,' report.json || fail "other numbers in JSON"
grep -qx 'schema: berth.simulation/v1' report.yaml || fail "no schema in YAML"
grep -qx '  not_placed: 1' report.yaml || fail "other numbers in YAML"
"$berth" simulate cluster.yaml -o csv >report.csv || fail "-o csv"
grep -qx ',schema,berth.simulation/v1' report.csv || fail "no schema in CSV"
grep -qx 'pods,not_placed,1' report.csv || fail "other numbers in CSV"
# The rows of a section have as many fields as its header; quoted fields may contain commas.
sed 's/"[^"]*"/q/g' report.csv | awk -F, '/^section,/ { n = NF } NF && NF != n { print; wrong = 1 } END { exit wrong }' >err ||
	fail "CSV: $(cat err)"
if command -v python3 >/dev/null; then
	python3 -c 'import json; json.load(open("report.json")); [json.loads(line) for line in open("log")]' || fail "not JSON"
fi

# Colours: not in files, unless requested; NO_COLOR affects only auto.
escape=$(printf '\033')
"$berth" simulate cluster.yaml | grep -q "$escape" && fail "colours in a pipe"
"$berth" simulate cluster.yaml --color=never | grep -q "$escape" && fail "colours with --color=never"
"$berth" simulate cluster.yaml --color=always | grep -q "$escape" || fail "no colours with --color=always"
NO_COLOR=1 "$berth" simulate cluster.yaml --color=always | grep -q "$escape" || fail "NO_COLOR beats --color=always"
"$berth" simulate cluster.yaml --color=always -o json | grep -q "$escape" && fail "colours in JSON"
expect 2 "--color is one of auto|always|never, not 'some'" "$berth" simulate --color=some
# Machine-readable formats have every row; a table counts its omitted rows, and --all shows them.
{
	echo '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","pods":"200"}}}'
	for i in $(seq 100 129); do
		echo "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p$i\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"$i\"}}}]}}"
	done
	for i in $(seq 100 179); do
		echo "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"z$i\",\"labels\":{\"topology.kubernetes.io/zone\":\"z$i\"}},\"status\":{\"allocatable\":{\"pods\":\"0\"}}}"
		echo "{\"apiVersion\":\"example.com/v1\",\"kind\":\"K$i\",\"metadata\":{\"name\":\"l\"}}"
	done
} >many.json
for format in json yaml csv; do
	"$berth" simulate -q many.json -o $format >out 2>err || fail "many groups, -o $format: $(cat err)"
	for i in $(seq 100 129); do
		grep -q "default/p$i" out || fail "-o $format leaves p$i out"
	done
	for i in $(seq 100 179); do
		grep -q "K$i" out && grep -q "z$i" out || fail "-o $format leaves K$i or z$i out"
	done
	grep -q '"\?more_' out && fail "-o $format says that there is more: $(grep more_ out)"
done
expect 0 "more groups of pending pods, not shown (--all shows them)" "$berth" simulate many.json
grep -qE '^more groups of pending pods, not shown \(--all shows them\) +18$' out || fail "how many groups are not shown: $(cat out)"
expect 0 "default/p100" "$berth" simulate many.json --all
grep -q 'not shown' out && fail "--all leaves rows out: $(cat out)"

# Blocked by fragmentation: only pods without another obstacle, such as a missing claim, a selector or a taint.
cat >pieces.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n3}, spec: {taints: [{key: t, effect: NoSchedule}]}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: pieces}, spec: {containers: [{name: c, resources: {requests: {cpu: "3"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: too-large}, spec: {containers: [{name: c, resources: {requests: {cpu: "5"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: claim}, spec: {containers: [{name: c, resources: {requests: {cpu: "3"}}}], volumes: [{name: v, persistentVolumeClaim: {claimName: none}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: selector}, spec: {nodeSelector: {a: b}, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
YAML
"$berth" simulate -q pieces.yaml >out 2>err || fail "pieces: $(cat err)"
line "not placed 4"
line "blocked by fragmentation 1"
finish
