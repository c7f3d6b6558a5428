# SPDX-License-Identifier: Apache-2.0
# berth bench: workloads, output, exit status, and rejected input.
. "$(dirname "$0")/common.sh" "$@"

own=$(dirname "$0")/../../perf/workloads

# Usage.
expect 2 "--speed is a number above 0" "$berth" bench --speed 0
expect 2 "--speed is a number above 0" "$berth" bench --speed fast
expect 2 "--timeout is a number of seconds" "$berth" bench --timeout -3
expect 2 "is no regular expression" "$berth" bench --run '('
expect 2 "--output is one of" "$berth" bench -o xml
expect 2 "--kubernetes-version: '1.2' is not supported; use " "$berth" bench --kubernetes-version 1.2
expect 0 "Differences from upstream" "$berth" bench --help
expect 3 "there is no such file" "$berth" bench nothing.yaml
mkdir empty
expect 3 "there is no performance-config.yaml" "$berth" bench empty
expect 3 "no workload has these labels" "$berth" bench --run NoSuchCase "$own"
expect 3 "no workload has these labels" "$berth" bench --label-filter nobody "$own"

# Listing runs nothing and reads every file.
expect 0 "Plain/5000Nodes_200000Pods" "$berth" bench --list --label-filter all "$own"
expect 0 '"status": "ok"' "$berth" bench --check --run '^Plain/10Nodes$' "$own" -o json

# A workload file written for this test.
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
growth = items["memory_growth_rate"]
assert growth["unit"] == "MB/min" and set(growth["data"]) == {"GrowthRate"}
# Builds with a sanitizer do not report memory.
assert growth["data"]["GrowthRate"] > 0 or items["heap_memory_usage"]["data"]["Max"] == 0
stages = {i["labels"]["stage"] for i in report["dataItems"]}
assert {"ingest", "publish", "apply", "wait", "decide", "hand_over", "bind"} <= stages
for item in report["dataItems"]:
	assert set(item["labels"]) == {"Name", "Metric", "stage"}
row = report["workloads"][0]
assert (row["nodes"], row["pods"], row["runs"], row["status"]) == (3, 20, 2, "ok")
E
expect 0 "workload: Case/one" "$berth" bench w.yaml --runs 1 -o yaml
expect 0 "Case/one" "$berth" bench w.yaml --runs 1 -o csv

# Missed thresholds and unplaced pods are reported; the exit status is 1.
workload 3 20 1000000000000
expect 1 "missed" "$berth" bench w.yaml --runs 2
workload 1 50 1
expect 1 "39 of 50 pods have been bound" "$berth" bench w.yaml --runs 2
expect 1 "Insufficient cpu" "$berth" bench w.yaml --runs 2

# Errors in files are reported with their place.
sed -i 's/AddInt/Plus/' pod.yaml
expect 3 'pod.yaml:5: there is no function "Plus"' "$berth" bench w.yaml
sed -i 's/Plus/AddInt/; s/kind: Pod/kind: Secret/' pod.yaml
expect 3 "a Pod is wanted here, not v1 Secret" "$berth" bench w.yaml --list
rm pod.yaml
expect 3 "pod.yaml" "$berth" bench w.yaml
expect 3 "createPods (line 4): a file that it names could not be used" "$berth" bench w.yaml
sed -i 's/collectMetrics/collectsMetrics/' w.yaml
expect 3 "w.yaml:4: [0].workloadTemplate[1].collectsMetrics: unknown field" "$berth" bench w.yaml

# Unsupported workloads are reported, and the others run.
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
- name: Older
  featureGates: {GenericWorkload: true, GangScheduling: true}
  workloadTemplate: [{opcode: createPods, count: 0, collectMetrics: true}]
  workloads: [{name: one}]
- name: Graduated
  featureGates: {SidecarContainers: true}
  workloadTemplate: [{opcode: createPods, count: 0, collectMetrics: true}]
  workloads: [{name: one}]
- name: Nothing
  workloadTemplate: [{opcode: createPods, count: 0, collectMetrics: true}]
  workloads: [{name: one}]
E
expect 1 "berth does nothing with batch/v1 Job" "$berth" bench --label-filter all unsupported.yaml --runs 1
expect 1 "there is no feature gate NoSuchGate" "$berth" bench --label-filter all unsupported.yaml --list
expect 0 "Nothing/one" "$berth" bench --run Nothing unsupported.yaml --runs 1
# Feature gates are those of the release; setting a removed gate to its final value is allowed.
expect 1 "there is no feature gate GangScheduling in Kubernetes 1.37; see --kubernetes-version" \
	"$berth" bench --run Older unsupported.yaml --runs 1
expect 0 "Older/one" "$berth" bench --run Older unsupported.yaml --runs 1 --kubernetes-version 1.36
expect 0 "Graduated/one" "$berth" bench --run Graduated unsupported.yaml --runs 1 --kubernetes-version 1.37

# Resource names beyond the engine's limit are reported.
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

# Duplicate object names are reported, not waited for; churn continues without them, as in upstream.
cat >fixed.yaml <<'E'
apiVersion: v1
kind: Pod
metadata: {name: one-name}
spec:
  containers: [{name: main, image: x}]
E
cat >fixed-node.yaml <<'E'
apiVersion: v1
kind: Node
metadata: {name: one-node}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
E
# fixed OPERATION: a workload of a node, an operation and some pods.
fixed() {
	cat >fixed-config.yaml <<E
- name: Fixed
  workloadTemplate:
  - {opcode: createNodes, count: 1, nodeTemplatePath: fixed-node.yaml}
  - {opcode: $1}
  - {opcode: createPods, count: 3, collectMetrics: true}
  workloads: [{name: one}]
E
}
fixed "createPods, count: 2, podTemplatePath: fixed.yaml"
expect 1 "createPods (line 4): namespace namespace-1 has a pod one-name already" "$berth" bench --label-filter all fixed-config.yaml --runs 1
fixed "createNodes, count: 1, nodeTemplatePath: fixed-node.yaml"
expect 1 "createNodes (line 4): there is a Node one-node already" "$berth" bench --label-filter all fixed-config.yaml --runs 1
fixed "createAny, templatePath: fixed-node.yaml"
expect 1 "createAny (line 4): there is a Node one-node already" "$berth" bench --label-filter all fixed-config.yaml --runs 1
fixed "churn, mode: create, intervalMilliseconds: 1, templatePaths: [fixed.yaml, fixed-node.yaml]"
expect 0 "workload: Fixed/one" "$berth" bench --label-filter all fixed-config.yaml --runs 3 -o yaml
fixed "churn, mode: recreate, number: 2, intervalMilliseconds: 1, templatePaths: [fixed.yaml, fixed.yaml]"
expect 0 "workload: Fixed/one" "$berth" bench --label-filter all fixed-config.yaml --runs 3 -o yaml

# Creating pods in a namespace keeps the labels that createAny gave it.
cat >space.yaml <<'E'
apiVersion: v1
kind: Namespace
metadata: {name: a-space, labels: {team: red}}
E
cat >shy.yaml <<'E'
apiVersion: v1
kind: Pod
metadata: {generateName: p-, labels: {app: shy}}
spec:
  containers: [{name: main, image: x}]
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: shy}}, namespaceSelector: {matchLabels: {team: red}}}
E
cat >space-config.yaml <<'E'
- name: Space
  workloadTemplate:
  - {opcode: createNodes, count: 1}
  - {opcode: createAny, templatePath: space.yaml}
  - {opcode: createPods, count: 2, namespace: a-space, podTemplatePath: shy.yaml, collectMetrics: true}
  workloads: [{name: one}]
E
expect 1 "1 of 2 pods have been bound" "$berth" bench --label-filter all space-config.yaml --runs 1
sed -i '/createAny/{h;d};/createPods/G' space-config.yaml
sed -i 's/count: 2/count: 1/' space-config.yaml
expect 1 "there is a Namespace a-space already" "$berth" bench --label-filter all space-config.yaml --runs 1

# Without nodes no pod is waited for.
cat >nobody.yaml <<'E'
- name: Nobody
  workloadTemplate: [{opcode: createPods, count: 1, collectMetrics: true}]
  workloads: [{name: one}]
E
expect 1 "createPods (line 2) waits in vain: 0 of 1 pods have been bound" timeout 20 "$berth" bench --label-filter all nobody.yaml --runs 1

# A threshold for a metric that berth does not measure is reported as not compared.
metric=scheduler_plugin_execution_duration_seconds
sed "s/name: one}/name: one, threshold: 1, thresholdMetricSelector: {name: $metric, dataBucket: Perc99}}/" fixed-config.yaml >metric.yaml
expect 0 "which names another metric is not compared" "$berth" bench --label-filter all metric.yaml --runs 1

# On an interrupt it prints partial results, also while it creates objects.
"$berth" bench --run '^Plain/5000Nodes_200000Pods$' --runs 10000 "$own" >out 2>err &
pid=$!
sleep 2
kill -INT $pid
wait $pid
[ $? = 130 ] || fail "an interrupt does not end it with 130: $(head -3 err)"
cat >many.yaml <<'E'
- name: Many
  workloadTemplate: [{opcode: createNodes, count: 100000000}, {opcode: createPods, count: 1, collectMetrics: true}]
  workloads: [{name: one}]
E
"$berth" bench --label-filter all many.yaml >out 2>err &
pid=$!
sleep 1
kill -INT $pid
wait $pid
[ $? = 130 ] || fail "an interrupt does not end the making of nodes with 130: $(head -3 err)"
finish
