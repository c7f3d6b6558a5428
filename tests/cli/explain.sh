# SPDX-License-Identifier: Apache-2.0
# berth explain: output for pods in every state; random clusters compared with berth simulate (explain_cases.py).
. "$(dirname "$0")/common.sh" "$@"
here=$(dirname "$0")

cat >cluster.yaml <<'END_OF_FILE'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a, labels: {disk: ssd, kubernetes.io/hostname: a}}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: b, labels: {disk: ssd, kubernetes.io/hostname: b}}, spec: {taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}, status: {allocatable: {cpu: "8", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: c, labels: {disk: hdd, kubernetes.io/hostname: c}}, spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}, status: {allocatable: {cpu: "8", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: low, namespace: d}, spec: {nodeName: a, priority: 1, containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: big, namespace: d}, spec: {priority: 10, preemptionPolicy: Never, containers: [{name: app, image: i, resources: {requests: {cpu: "3"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: gated}, spec: {schedulingGates: [{name: g}], containers: [{name: app, image: i, resources: {requests: {cpu: 100m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: two, namespace: d}, spec: {nodeSelector: {disk: tape}, containers: [{name: app, image: i, resources: {requests: {cpu: "20"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: free, namespace: d}, spec: {priority: 20, tolerations: [{operator: Exists}], containers: [{name: app, image: i, resources: {requests: {cpu: 100m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: other, namespace: d}, spec: {schedulerName: mine, containers: [{name: app, image: i}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: done, namespace: d}, spec: {nodeName: a, containers: [{name: app, image: i}]}, status: {phase: Succeeded}}
- {apiVersion: v1, kind: Pod, metadata: {name: high, namespace: d}, spec: {priority: 30, nodeSelector: {disk: ssd}, containers: [{name: app, image: i, resources: {requests: {cpu: 3500m}}}]}}
END_OF_FILE

# A pending pod: verdicts with amounts, what the nearest nodes lack, fixes in order.
expect 1 "1 cpu short" "$berth" explain -q cluster.yaml d/big --ignore-pending
grep -q "tolerate taint dedicated=gpu:NoSchedule" out || fail "no toleration"
grep -q "lower containers\[app\].resources.requests.cpu from 3 to 2 *a" out || fail "no request"
grep -q "kubectl uncordon c" out || fail "no uncordoning"
grep -q "evict d/low" out || fail "no eviction"
grep -q "add a node like a" out || fail "no new node"
[ "$(grep -nE "tolerate|lower|uncordon c|evict|add a node" out | cut -d: -f1 | sort -n | tr '\n' ' ')" = "$(grep -nE "tolerate|lower|uncordon c|evict|add a node" out | cut -d: -f1 | tr '\n' ' ')" ] || fail "order"
expect 1 "no single change helps" "$berth" explain -q cluster.yaml d/two
expect 1 "drop nodeSelector disk=tape" "$berth" explain -q cluster.yaml d/two -o csv
# Without a namespace: default. A gate is the first thing to remove.
expect 1 "waiting for scheduling gates: [g]" "$berth" explain -q cluster.yaml gated
grep -q "remove spec.schedulingGates" out || fail "no gates"
# A placed pod: the chosen node first, and the best other one.
expect 0 "best other node" "$berth" explain -q cluster.yaml d/free
awk '/^Scores/ { getline; getline; exit $1 != "chosen" }' out || fail "the chosen node is not the first"
# A bound pod, that is preempted later.
expect 0 "placed anew, it would go to" "$berth" explain -q cluster.yaml d/low
grep -q "preempted by d/high on node a" out || fail "no preemption"
expect 0 "placed" "$berth" explain -q cluster.yaml d/high
expect 1 "preempts 1 pod on node a" "$berth" explain -q cluster.yaml d/high --attempt 1
grep -q "evict d/low (the scheduler does so by itself)" out || fail "the engine's preemption is no fix"
# Pods that the scheduler ignores.
expect 1 "schedulerName mine" "$berth" explain -q cluster.yaml d/other
expect 1 "has completed" "$berth" explain -q cluster.yaml d/done
# Wrong names and arguments.
expect 3 "did you mean d/big?" "$berth" explain -q cluster.yaml d/bgi
expect 3 "did you mean d/big?" "$berth" explain -q cluster.yaml big
expect 3 "--attempt 99: the pod has" "$berth" explain -q cluster.yaml d/big --attempt 99
expect 3 "leave the option out" "$berth" explain -q cluster.yaml d/low --attempt 1
expect 2 "no pod" "$berth" explain
expect 2 "no cluster" "$berth" explain d/big
expect 2 "is no pod" "$berth" explain cluster.yaml d/big/x
expect 1 '"schema": "berth.explain/v1"' "$berth" explain -q -f cluster.yaml d/big -o json
expect 1 "schema: berth.explain/v1" "$berth" explain -q -f cluster.yaml d/big -o yaml
"$berth" explain -q - d/big -o json <cluster.yaml >piped.json
"$berth" explain -q cluster.yaml d/big -o json >read.json
python3 - <<'END_OF_FILE' || fail "standard input"
import json
piped, read = json.load(open("piped.json")), json.load(open("read.json"))
assert piped.pop("source") != read.pop("source") and piped == read
assert sum(row["nodes"] for row in read["explain"]) == read["nodes"] == 3
END_OF_FILE

python3 "$here/explain_cases.py" "$berth" 1 40 || fail "random clusters"
finish
