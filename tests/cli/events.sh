# SPDX-License-Identifier: Apache-2.0
# The API calls of a small cluster in order; virtual time for traces; write errors.
. "$(dirname "$0")/common.sh" "$@"

cat >cluster.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low, uid: u-low}, spec: {nodeName: n1, priority: 0, containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high, uid: u-high}, spec: {priority: 100, containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: lower}, spec: {priority: 5, containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}, status: {nominatedNodeName: n1}}
---
{apiVersion: v1, kind: Pod, metadata: {name: large}, spec: {schedulerName: mine, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: gated}, spec: {schedulingGates: [{name: example.com/wait}], containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: leaving, deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {containers: [{name: c}]}}
YAML
cat >config.yaml <<'YAML'
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler}, {schedulerName: mine}]
YAML
"$berth" simulate --quiet cluster.yaml --config config.yaml --events events >out 2>err || fail "ended with $?: $(head -3 err)"

# Each line in short: verb, resource, pod, and the reason or the patch.
sed -E 's/^.*"verb":"([a-z]*)","resource":"([a-z\/]*)","namespace":"default","name":"([a-z]*)[.0-9a-f]*"/\1 \2 \3 /
	s/^(\S+ \S+ \S+) .*"reportingController":"([a-z-]*)".*"reason":"([A-Za-z]*)".*"note":"([^"]*)".*$/\1 \2 \3: \4/
	s/^(\S+ \S+ \S+) .*"reason":"([A-Za-z]*)","status":"([A-Za-z]*)","type":"([A-Za-z]*)"}](.*)}}}$/\1 \4=\3 \2\5/
	s/^(\S+ \S+ \S+) .*"status":"([A-Za-z]*)","type":"([A-Za-z]*)"}](.*)}}}$/\1 \3=\2\4/
	s/^(\S+ \S+ \S+) .*"object":\{"status":\{("nominatedNodeName":.*)}}}$/\1 \2/
	s/^(\S+ \S+ \S+) .*"conditions":\[\{"message":"[^"]*","type":"PodScheduled"}]}}}$/\1 the message/
	s/^(\S+ \S+ \S+) .*"target":\{"kind":"Node","name":"(.*)"}}}$/\1 \2/
	s/ }$//' events >got
cat >want <<'TEXT'
create events leaving default-scheduler FailedScheduling: skip schedule deleting pod: default/leaving
patch pods/status gated PodScheduled=False SchedulingGated
create events high default-scheduler FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, preempting 1 victims
patch pods/status high PodScheduled=False Unschedulable,"nominatedNodeName":"n1"
patch pods/status lower "nominatedNodeName":null
patch pods/status low DisruptionTarget=True PreemptionByScheduler
delete pods low
create events low default-scheduler Preempted: Preempted by pod u-high on node n1
create events lower default-scheduler FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Insufficient cpu.
patch pods/status lower PodScheduled=False Unschedulable
create events large mine FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.
patch pods/status large PodScheduled=False Unschedulable
create pods/binding high n1
patch pods/status high PodScheduled=True,"nominatedNodeName":null
create events high default-scheduler Scheduled: Successfully assigned default/high to n1
create events lower default-scheduler FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
patch pods/status lower the message
create events large mine FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.
TEXT
cmp -s want got || fail "other calls: $(diff want got)"
# The preempted pod terminates after its grace period.
grep -qE '"time":"[^"]*:30\.[0-9]*Z".*"resource":"pods/binding","namespace":"default","name":"high"' events ||
	fail "not placed after 30 s: $(grep pods/binding events)"
[ "$(grep -c '"user":"kube-apiserver"' events)" = 2 ] || fail "the API server does two things by itself"

# A patch without a change is omitted; conditions and generation are those of the input.
cat >known.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
---
apiVersion: v1
kind: Pod
metadata: {name: large, generation: 3}
spec: {priority: 0, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}
status:
  conditions:
  - {type: Ready, status: "False", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: PodScheduled, status: "False", reason: Unschedulable, message: MESSAGE, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 2}
YAML
"$berth" simulate --quiet known.yaml --events events >out
[ "$(sed -n 's/.*"resource":"pods\/status".*"object"://p' events)" = \
	'{"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"}],"conditions":[{"message":"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.","observedGeneration":3,"type":"PodScheduled"}]}}}' ] ||
	fail "the patch is not what differs: $(cat events)"
sed -i 's|MESSAGE|"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."|' known.yaml
"$berth" simulate --quiet known.yaml --events events >out
grep -q 'pods/status' events && fail "a status that stays was patched: $(cat events)"

# Without asynchronous preemption the victim is deleted first.
"$berth" simulate --quiet cluster.yaml --config config.yaml --events events --feature-gates SchedulerAsyncPreemption=false >out
[ "$(grep -n '"DisruptionTarget"' events | cut -d: -f1)" -lt "$(grep -n '"nominatedNodeName":"n1"' events | cut -d: -f1)" ] ||
	fail "victims go after the refusal"

# The log repeats, and agrees with the log of decisions.
"$berth" generate --nodes 20 --pods 600 --profile everyday --seed 3 >all.json
"$berth" simulate --quiet all.json --events first --decisions decisions >out
"$berth" simulate --quiet all.json --events second >out
cmp -s first second || fail "the same input and seed give another log"
[ "$(grep -c '"pods/binding"' first)" = "$(grep -c '"node":"' decisions)" ] || fail "bindings are not decisions"
[ "$(grep -c '"reason":"Scheduled"' first)" = "$(grep -c '"node":"' decisions)" ] || fail "a binding without its event"
[ "$(sed -nE 's/.*"resource":"events","namespace":"[^"]*","name":"([^"]*)".*/\1/p' first | sort | uniq -d | wc -l)" = 0 ] ||
	fail "two events have one name"

# A trace brings virtual time.
printf 'sn,cpu_milli,memory_mib,gpu,model\nn1,32000,262144,0,\n' >nodes.csv
printf '%s\np1,1000,1024,0,0,,LS,Running,5,90,6\n' \
	'name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time' >pods.csv
"$berth" simulate --quiet --trace openb --nodes nodes.csv --pods pods.csv --events events >out
grep -q ':05.000000Z","user":"kube-scheduler","verb":"create","resource":"pods/binding"' events || fail "no virtual time: $(cat events)"
expect 4 "nowhere/x" "$berth" simulate cluster.yaml --events nowhere/x
if [ -e /dev/full ]; then
	expect 4 "/dev/full" "$berth" simulate all.json --events /dev/full
fi

# A pod of a gang of 1.35 waits at Permit, and its node is its nominated one; with the gate off it is not.
cat >gang.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "1", memory: 8Gi, pods: "10"}}}
---
{apiVersion: scheduling.k8s.io/v1alpha1, kind: Workload, metadata: {name: w, namespace: default}, spec: {podGroups: [{name: g, policy: {gang: {minCount: 2}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {workloadRef: {name: w, podGroup: g}, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {workloadRef: {name: w, podGroup: g}, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
YAML
nominations() {
	"$berth" simulate --quiet gang.yaml --kubernetes-version 1.35 --feature-gates "GenericWorkload=true,GangScheduling=true$1" \
		--until 1m --events gang-events >out 2>err || true
	grep -c '"name":"a".*"nominatedNodeName":"n1"' gang-events || true
}
[ "$(nominations "")" = 1 ] || fail "a pod that waits is not nominated once: $(cat err gang-events)"
[ "$(nominations ",NominatedNodeNameForExpectation=false")" = 0 ] || fail "nominated without its gate: $(cat err gang-events)"
finish
