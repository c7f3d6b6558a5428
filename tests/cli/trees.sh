# SPDX-License-Identifier: Apache-2.0
# A tree of groups: waits until it is complete, is placed as a whole or not at all, and preempts; its victims' events name the root.
. "$(dirname "$0")/common.sh" "$@"
gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true

cat >nodes.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 20}}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-2}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 20}}}
YAML
cat >root.yaml <<'YAML'
{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: job, uid: the-root}, spec: {priority: 10, schedulingPolicy: {gang: {minGroupCount: 2}}}}
YAML
for group in driver workers; do
	cat <<YAML
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: $group, uid: of-$group}, spec: {parentCompositePodGroupName: job, priority: 10, schedulingPolicy: {gang: {minCount: 2}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: $group-0}, spec: {priority: 10, schedulingGroup: {podGroupName: $group}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: $group-1}, spec: {priority: 10, schedulingGroup: {podGroupName: $group}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
YAML
done >groups.yaml
cat >low.yaml <<'YAML'
{apiVersion: v1, kind: Pod, metadata: {name: low}, spec: {nodeName: node-1, priority: 0, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
YAML

# try PLACED FILES...: that many pods have a node.
try() {
	local placed=$1
	shift
	"$berth" simulate --quiet --feature-gates $gates "$@" --events calls --decisions log >out 2>err || fail "$* ended with $?: $(head -3 err)"
	[ "$(grep -c '"node":"node-' log)" = "$placed" ] || fail "$*: not $placed placed: $(cat log)"
}

try 4 nodes.yaml root.yaml groups.yaml
sed '/node-2/d' nodes.yaml >one.yaml
try 0 one.yaml root.yaml groups.yaml
grep -qF 'minCount (2) cannot be satisfied: 1 scheduled, 0 remaining' log || fail "it does not say what is lacking: $(cat log)"
try 0 nodes.yaml groups.yaml # the root is not there

try 4 nodes.yaml root.yaml groups.yaml low.yaml
grep -q '"note":"Preempted by compositepodgroup the-root on node cluster"' calls || fail "the victim does not hear of the root: $(grep -i preempt calls)"
grep -q '"message":"default-scheduler: preempting to accommodate a higher priority compositepodgroup"' calls || fail "another condition: $(grep -i preempt calls)"
grep -qF '"related":{"kind":"CompositePodGroup","namespace":"default","name":"job","uid":"the-root","apiVersion":"scheduling.k8s.io/v1alpha3"}' calls ||
	fail "the event is not about the root: $(grep -i preempt calls)"
finish
