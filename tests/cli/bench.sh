# SPDX-License-Identifier: Apache-2.0
# berth bench: what it runs, what it says and ends with, and what it refuses.
. "$(dirname "$0")/common.sh" "$@"

own=$(dirname "$0")/../../perf/workloads

# Usage.
expect 2 "--speed is a number above 0" "$berth" bench --speed 0
expect 2 "--speed is a number above 0" "$berth" bench --speed fast
expect 2 "--timeout is a number of seconds" "$berth" bench --timeout -3
expect 2 "is no regular expression" "$berth" bench --run '('
expect 2 "--output is one of" "$berth" bench -o xml
expect 0 "Differences from upstream" "$berth" bench --help
expect 3 "there is no such file" "$berth" bench nothing.yaml
mkdir empty
expect 3 "there is no performance-config.yaml" "$berth" bench empty
expect 3 "no workload has these labels" "$berth" bench --run NoSuchCase "$own"
expect 3 "no workload has these labels" "$berth" bench --label-filter nobody "$own"

# Listing runs nothing and reads every file.
expect 0 "Plain/5000Nodes_200000Pods" "$berth" bench --list --label-filter all "$own"
expect 0 '"status": "ok"' "$berth" bench --check --run '^Plain/10Nodes$' "$own" -o json

# A file of its own.
cat >node.yaml <<'E'
apiVersion: v1
kind: Node
metadata: {generateName: n-}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
E
cat >pod.yaml <<'E'
apiVersion: v1
kind: Pod
metadata: {generateName: p-}
spec:
  containers: [{name: main, image: x, resources: {requests: {cpu: {{AddInt 100 (Mod .Index 2)}}m}}}]
E
# workload NODES PODS THRESHOLD: a file with one workload.
workload() {
	cat >w.yaml <<E
- name: Case
  workloadTemplate:
  - {opcode: createNodes, countParam: \$nodes, nodeTemplatePath: node.yaml}
  - {opcode: createPods, countParam: \$pods, podTemplatePath: pod.yaml, collectMetrics: true}
  workloads:
  - {name: one, labels: [performance], threshold: $3, params: {nodes: $1, pods: $2}}
E
}
workload 3 20 1
expect 0 "Case/one" "$berth" bench w.yaml --runs 2
"$berth" bench w.yaml --runs 2 -o json >json 2>err || fail "json: $(cat err)"
python3 - json <<'E' || fail "the data items are not as upstream's"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["version"] == "v1"
items = {i["labels"]["Metric"]: i for i in report["dataItems"]}
throughput = items["SchedulingThroughput"]
assert throughput["unit"] == "pods/s"
assert throughput["labels"]["Name"] == "BenchmarkPerfScheduling/Case/one/namespace-1"
assert set(throughput["data"]) == {"Average", "Perc50", "Perc90", "Perc95", "Perc99", "AverageThreshold"}
assert throughput["data"]["Average"] > 1 and throughput["data"]["AverageThreshold"] == 1
assert items["SchedulingDuration"]["unit"] == "s" and items["SchedulingDuration"]["data"]["Duration"] > 0
assert items["heap_memory_usage"]["unit"] == "MB"
stages = {i["labels"]["stage"] for i in report["dataItems"]}
assert {"ingest", "publish", "apply", "wait", "decide", "hand_over", "bind"} <= stages
for item in report["dataItems"]:
	assert set(item["labels"]) == {"Name", "Metric", "stage"}
row = report["workloads"][0]
assert (row["nodes"], row["pods"], row["runs"], row["status"]) == (3, 20, 2, "ok")
E
expect 0 "workload: Case/one" "$berth" bench w.yaml --runs 1 -o yaml
expect 0 "Case/one" "$berth" bench w.yaml --runs 1 -o csv

# A threshold that is missed, and pods that do not fit, are said and end with 1.
workload 3 20 1000000000000
expect 1 "missed" "$berth" bench w.yaml --runs 2
workload 1 50 1
expect 1 "39 of 50 pods have been bound" "$berth" bench w.yaml --runs 2
expect 1 "Insufficient cpu" "$berth" bench w.yaml --runs 2

# What is wrong in files is said with its place.
sed -i 's/AddInt/Plus/' pod.yaml
expect 3 'pod.yaml:5: there is no function "Plus"' "$berth" bench w.yaml
sed -i 's/Plus/AddInt/; s/kind: Pod/kind: Secret/' pod.yaml
expect 3 "a Pod is wanted here, not v1 Secret" "$berth" bench w.yaml --list
rm pod.yaml
expect 3 "pod.yaml" "$berth" bench w.yaml
sed -i 's/collectMetrics/collectsMetrics/' w.yaml
expect 3 "w.yaml:4: [0].workloadTemplate[1].collectsMetrics: unknown field" "$berth" bench w.yaml

# What berth cannot do is said, and the rest runs.
cat >job.yaml <<'E'
apiVersion: batch/v1
kind: Job
metadata: {name: j}
E
cat >unsupported.yaml <<'E'
- name: Jobs
  workloadTemplate:
  - {opcode: createAny, namespace: a, templatePath: job.yaml}
  - {opcode: createPods, count: 0, collectMetrics: true}
  workloads: [{name: one}]
- name: Gates
  featureGates: {NoSuchGate: true}
  workloadTemplate: [{opcode: createPods, count: 0, collectMetrics: true}]
  workloads: [{name: one}]
- name: Nothing
  workloadTemplate: [{opcode: createPods, count: 0, collectMetrics: true}]
  workloads: [{name: one}]
E
expect 1 "berth does nothing with batch/v1 Job" "$berth" bench --label-filter all unsupported.yaml --runs 1
expect 1 "there is no feature gate NoSuchGate" "$berth" bench --label-filter all unsupported.yaml --list
expect 0 "Nothing/one" "$berth" bench --run Nothing unsupported.yaml --runs 1

# Names of resources may be many; more than the engine tells apart are said to be that.
cat >kinds.yaml <<'E'
apiVersion: v1
kind: Node
metadata: {name: "n-{{.Index}}"}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110", "example.com/thing-{{.Index}}": 1}
E
cat >kinds-config.yaml <<'E'
- name: Kinds
  workloadTemplate:
  - {opcode: createNodes, count: 70, nodeTemplatePath: kinds.yaml}
  - {opcode: createPods, count: 1, collectMetrics: true}
  workloads: [{name: one}]
E
expect 0 "workload: Kinds/one" "$berth" bench --label-filter all kinds-config.yaml --runs 1 -o yaml
sed -i 's/count: 70/count: 16500/' kinds-config.yaml
expect 1 "no more than 16384 names of resources" "$berth" bench --label-filter all kinds-config.yaml --runs 1
expect 1 "not supported" "$berth" bench --label-filter all kinds-config.yaml --runs 1

# Interrupted, it reports what it has.
"$berth" bench --run '^Plain/5000Nodes_200000Pods$' --runs 10000 "$own" >out 2>err &
pid=$!
sleep 2
kill -INT $pid
wait $pid
[ $? = 130 ] || fail "an interrupt does not end it with 130: $(head -3 err)"
finish
