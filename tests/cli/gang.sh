# SPDX-License-Identifier: Apache-2.0
# A gang is placed as a whole or not at all: three of four pods fit, then a node is added. Without the gates they are four single pods.
gang=$(cd "$(dirname "$0")" && pwd)/gang.yaml
. "$(dirname "$0")/common.sh" "$@"
gates=GenericWorkload=true,GangScheduling=true

cat >node.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: small-4}, status: {allocatable: {cpu: 3, memory: 8Gi, pods: 20}}}
YAML

# try WANT-PLACED WANT-REFUSED ARGUMENTS...
try() {
	local placed=$1 refused=$2
	shift 2
	"$berth" simulate --quiet "$@" --decisions log >out 2>err || fail "$* ended with $?: $(head -3 err)"
	[ "$(grep -c '"node":"' log)" = "$placed" ] || fail "$*: not $placed placed: $(cat log)"
	[ "$(grep -c '"node":null' log)" = "$refused" ] || fail "$*: not $refused refused: $(cat log)"
}

try 0 4 "$gang" --kubernetes-version 1.36 --feature-gates "$gates"
waits="waiting for minCount pods from a gang to be scheduled"
[ "$(grep -c "\"pod group is unschedulable, $waits, one or more plugins asked to wait and no plugin rejected pod\"" log)" = 3 ] ||
	fail "three do not wait for the fourth: $(cat log)"
grep -q '"default/worker-3".*"0/3 nodes are available: 3 Insufficient cpu\.' log || fail "the fourth has another reason: $(cat log)"
grep -qE "default/worker-0 +4 +3 +GangScheduling +$waits" out || fail "the report does not say for whom it waits: $(cat out)"
grep -qE "^ +PodGroup +1 +used" out || fail "the report does not count the group"

try 4 0 "$gang" node.yaml --kubernetes-version 1.36 --feature-gates "$gates"
try 3 1 "$gang" # no gates: the group is not looked at
try 3 1 "$gang" --kubernetes-version 1.36 --feature-gates GenericWorkload=true

# Without its PodGroup, or with too few pods, a gang is not tried.
sed '/^apiVersion: scheduling/,/^---/d' "$gang" >groupless.yaml
try 0 0 groupless.yaml --kubernetes-version 1.36 --feature-gates "$gates"
grep -q "waiting for pods's pod group \"training\" to appear in scheduling queue" out || fail "it does not wait for the group: $(cat out)"
sed 's/minCount: 4/minCount: 5/' "$gang" >larger.yaml
try 0 0 larger.yaml node.yaml --kubernetes-version 1.36 --feature-gates "$gates"
grep -q "waiting for minCount pods from a gang to appear in scheduling queue" out || fail "it does not wait for pods: $(cat out)"

# From 1.37 on groups are queued as units, with one gate.
sed 's/v1alpha2/v1beta1/' "$gang" >beta.yaml
try 4 0 beta.yaml node.yaml --feature-gates GenericWorkload=true
sed '/^apiVersion: scheduling/,/^---/d' beta.yaml >groupless.yaml
try 0 0 groupless.yaml --feature-gates GenericWorkload=true
grep -qE "PodGroup missing +4" out || fail "the report does not say where the pods wait: $(cat out)"

# API calls: no binding before there are four.
"$berth" simulate --quiet "$gang" --kubernetes-version 1.36 --feature-gates "$gates" --events calls >out 2>err || fail "--events ended with $?"
grep -q pods/binding calls && fail "somebody is bound"
[ "$(grep -c '"reason":"FailedScheduling"' calls)" = 4 ] || fail "not four events: $(cat calls)"

# A group that preempts as a whole, and its victim; its priority is that of its class, as its pods' is.
cat >preempt.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 20}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low}, spec: {nodeName: node-1, priority: 0, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: high, uid: the-group}, spec: {priorityClassName: high, schedulingPolicy: {gang: {minCount: 2}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high-0}, spec: {priorityClassName: high, schedulingGroup: {podGroupName: high}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high-1}, spec: {priorityClassName: high, schedulingGroup: {podGroupName: high}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 10}
YAML
# preempts VERSION GATES
preempts() {
	"$berth" simulate --quiet preempt.yaml --kubernetes-version "$1" --feature-gates "$2" --events calls --decisions log >out 2>err ||
		fail "$1 ended with $?: $(head -3 err)"
	[ "$(grep -c '"node":"node-1"' log)" = 2 ] || fail "$1: the group is not placed: $(cat log)"
	grep -q '"note":"Preempted by podgroup the-group on node cluster"' calls || fail "$1: the victim does not hear of the group: $(cat calls)"
	grep -q '"message":"default-scheduler: preempting to accommodate a higher priority podgroup"' calls || fail "$1: another condition: $(cat calls)"
	grep -qF "\"related\":{\"kind\":\"PodGroup\",\"namespace\":\"default\",\"name\":\"high\",\"uid\":\"the-group\",\"apiVersion\":\"scheduling.k8s.io/$3\"}" calls ||
		fail "$1: the event is not about the group: $(cat calls)"
}
preempts 1.37 GenericWorkload=true v1beta1
preempts 1.36 "$gates,WorkloadAwarePreemption=true" v1alpha2

# A pod of a group has no PostFilter of its own, and its message none of the pod's before it.
cat >after.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 20}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 20}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low-1}, spec: {nodeName: n1, priority: 0, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low-2}, spec: {nodeName: n2, priority: 5, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: single}, spec: {priority: 20, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: group}, spec: {priority: 10, schedulingPolicy: {gang: {minCount: 1}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: member}, spec: {priority: 10, schedulingGroup: {podGroupName: group}, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
YAML
"$berth" simulate --quiet after.yaml --feature-gates GenericWorkload=true --decisions log >out 2>err || fail "after.yaml ended with $?: $(head -3 err)"
grep -q '"default/single".*preempting 1 victims"' log || fail "the pod before it does not preempt: $(cat log)"
grep -q '"default/member".*"message":"0/2 nodes are available: 2 Insufficient cpu."' log || fail "another message: $(cat log)"

# Explanations of group members.
expect 0 "waiting for pods's pod group" "$berth" simulate --quiet groupless.yaml --kubernetes-version 1.36 --feature-gates "$gates" --explain default/worker-1
# Pods of a gang share the claim that their PodGroup names: both are placed on its device's node. Without the gate they do not use the claim.
cat >claims.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s2}, spec: {driver: gpu.example.com, nodeName: n2, pool: {name: n2, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: train-gpu, namespace: default, uid: u-c, ownerReferences: [{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, name: train, uid: u-g, controller: true}]}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: train, namespace: default, uid: u-g}, spec: {schedulingPolicy: {gang: {minCount: 2}}, resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]}, status: {resourceClaimStatuses: [{name: gpu, resourceClaimName: train-gpu}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: w-0, uid: u-0}, spec: {schedulingGroup: {podGroupName: train}, resourceClaims: [{name: gpu, resourceClaimTemplateName: one}], containers: [{name: c, resources: {claims: [{name: gpu}]}}]}, status: {resourceClaimStatuses: [{name: gpu, resourceClaimName: train-gpu}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: w-1, uid: u-1}, spec: {schedulingGroup: {podGroupName: train}, resourceClaims: [{name: gpu, resourceClaimTemplateName: one}], containers: [{name: c, resources: {claims: [{name: gpu}]}}]}, status: {resourceClaimStatuses: [{name: gpu, resourceClaimName: train-gpu}]}}
YAML
shared=GenericWorkload=true,DRAWorkloadResourceClaims=true
"$berth" simulate -q claims.yaml --feature-gates $shared --decisions log --journal claims.journal >out 2>err || fail "shared claim: $(head -3 err)"
[ "$(grep -c '"node":"n2"' log)" = 2 ] || fail "not both beside the device: $(cat log)"
expect 0 "all decisions match the journal" "$berth" replay claims.journal
expect 0 "ResourceClaim default/train-gpu was not created for Pod default/w-0 (Pod is not owner)" \
	"$berth" simulate -q claims.yaml --feature-gates GenericWorkload=true
finish
