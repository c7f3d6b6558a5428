# SPDX-License-Identifier: Apache-2.0
# berth compare of PodGroups and Workloads: each group is decided in one cycle by both releases, differences have their causes, and one
# difference leads to no other.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/common.sh" "$@"
seed=${BT_SEED:-1}
g36=GenericWorkload=true,GangScheduling=true
g37=GenericWorkload=true

# differences ARGUMENTS...: compares, and prints what differs, message or not: pod, difference and cause, a line each.
differences() {
	"$berth" compare -q -o json "$@" >out 2>err
	[ $? -le 1 ] || fail "compare $*: $(head -3 err)"
	! grep -q '"foreign"' out || fail "compare $*: following differs from deciding: $(head -9 out)"
	! grep -q '"cause": "not known"' out || fail "compare $*: a difference has no cause: $(head -40 out)"
	python3 -c 'import json
for d in json.load(open("out"))["differences"]: print(d["pod"].split("/")[1], d["difference"], d["cause"], sep=", ")' >lines
}

# expect_lines NAME: what differs is standard input.
expect_lines() {
	diff - lines >why || fail "$1: $(cat why)"
}

# A gang of four of which three fit. With the gate GenericWorkload alone 1.36 places the three; 1.37 has the plugin that wants four.
differences "$here/gang.yaml" --from 1.36 --to 1.37 --feature-gates $g37
expect_lines "gang" <<'LINES'
worker-0, refused, not placed, default plugin GangScheduling
worker-1, refused, not placed, default plugin GangScheduling
worker-2, refused, not placed, default plugin GangScheduling
worker-3, another message, groups are queued
LINES

# With 1.36's own gate for gangs they decide alike. --to-feature-gates is for gates that the newer release does not know.
expect 1 "unrecognized feature gate: GangScheduling" "$berth" compare -q "$here/gang.yaml" --from 1.36 --to 1.37 --feature-gates $g36
differences "$here/gang.yaml" --from 1.36 --to 1.37 --feature-gates $g36 --to-feature-gates $g37
[ "$(grep -c 'another message, groups are queued' lines)" = 4 ] && [ "$(wc -l <lines)" = 4 ] || fail "gangs of both: $(cat lines)"

# A gang that wants one rack: nothing differs.
topology=,TopologyAwareWorkloadScheduling=true
expect 0 '"decisions": 4,' "$berth" compare -q -o json "$here/racks.yaml" --from 1.36 --to 1.37 --feature-gates $g36$topology --to-feature-gates $g37$topology

# Two settings of one release: without the gate pods are decided one by one.
expect 2 "give --to-feature-gates" "$berth" compare -q "$here/gang.yaml" --from 1.37 --to 1.37
differences "$here/gang.yaml" --from 1.37 --to 1.37 --feature-gates GenericWorkload=false --to-feature-gates $g37
grep -q "^worker-0, refused, not placed, feature gate GenericWorkload$" lines || fail "a gate: $(cat lines)"
differences "$here/gang.yaml" --from 1.37 --to 1.37 --feature-gates $g37 --to-feature-gates GenericWorkload=false
grep -q "^worker-0, placed, not refused, feature gate GenericWorkload$" lines || fail "a gate that is off: $(cat lines)"

# Pods whose PodGroup does not exist take part in no cycle.
sed '/^apiVersion: scheduling/,/^---/d' "$here/gang.yaml" >groupless.yaml
differences groupless.yaml --from 1.37 --to 1.37 --feature-gates GenericWorkload=false --to-feature-gates $g37
[ "$(grep -c 'refused, not placed, feature gate GenericWorkload' lines)" = 3 ] || fail "no PodGroup: $(cat lines)"
grep -q '"to": "gated"' out || fail "no PodGroup: not gated: $(cat out)"

# The victims of a group with a disruption mode for all are two, and 1.37 prefers the node with one. What comes after is decided as if
# 1.37 had chosen like 1.36.
cat >victims.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 20}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 20}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: 1, memory: 8Gi, pods: 20}}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g}, spec: {disruptionMode: {all: {}}, schedulingPolicy: {basic: {}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: g-1}, spec: {nodeName: n1, schedulingGroup: {podGroupName: g}, containers: [{name: c, resources: {requests: {cpu: 2}}}]}, status: {startTime: "2026-01-02T00:00:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: g-2}, spec: {nodeName: n3, schedulingGroup: {podGroupName: g}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}, status: {startTime: "2026-01-02T00:00:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low}, spec: {nodeName: n2, containers: [{name: c, resources: {requests: {cpu: 2}}}]}, status: {startTime: "2026-01-01T00:00:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high}, spec: {priority: 10, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: next}, spec: {priority: 9, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
YAML
differences victims.yaml --from 1.36 --to 1.37 --feature-gates $g36 --to-feature-gates $g37
expect_lines "victims" <<'LINES'
high, another preemption, pods preempt groups
next, another message, preemption reports success
LINES

# Pods that name a Workload wait at Permit in 1.35, in vain; 1.36 does not know the field, and binds them. After the wait the two keep
# their nominations only in 1.35, so that there the third one has no room.
cat >workload.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 20}}}
---
{apiVersion: scheduling.k8s.io/v1alpha1, kind: Workload, metadata: {name: w}, spec: {podGroups: [{name: g, policy: {gang: {minCount: 3}}}]}}
YAML
for pod in a b c; do
	printf -- '---\n{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {workloadRef: {name: w, podGroup: g}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}\n' $pod
done >>workload.yaml
differences workload.yaml --from 1.35 --to 1.36 --feature-gates $g36
expect_lines "Workload" <<'LINES'
a, placed, not refused, pods name workloads
b, placed, not refused, pods name workloads
c, placed, not refused, cycle clears known nomination
LINES
sed 's/cpu: 2/cpu: 3/' workload.yaml >room.yaml
differences room.yaml --from 1.35 --to 1.36 --feature-gates $g36
[ ! -s lines ] || fail "a Workload with room differs: $(cat lines)"
"$berth" simulate -q workload.yaml --kubernetes-version 1.35 --feature-gates $g36 --journal workload.journal >out 2>err || fail "$(cat err)"
expect 0 "all decisions match the journal" "$berth" replay workload.journal

# Random clusters, with fewer nodes than they need: of each the first release makes every decision again, and each difference has a cause.
printf 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n' >config.yaml
decisions=0
# follow NAME ARGUMENTS...
follow() {
	local name=$1
	shift
	differences "$@"
	decisions=$((decisions + $(sed -n 's/.*"decisions": \([0-9]*\),.*/\1/p' out | head -1)))
}
for profile in gangs,preemption gangs,topology gangs,mixed; do
	echo "BT_SEED=$seed: $profile"
	"$berth" generate --profile $profile --nodes 16 --pods 120 --bound 0.4 --seed "$seed" -o json |
		grep -v '"kind":"Node".*"name":"node-0000[1-3]"' >cluster.json
	more=$([ $profile = gangs,topology ] && echo $topology)
	preempt=$([ $profile = gangs,preemption ] && echo ,WorkloadAwarePreemption=true)
	follow "$profile up" cluster.json --from 1.36 --to 1.37 --feature-gates $g36$more$preempt --to-feature-gates $g37$more
	follow "$profile down" cluster.json --from 1.37 --to 1.36 --feature-gates $g37$more --to-feature-gates $g36$more
	follow "$profile on" cluster.json --from 1.37 --to 1.37 --feature-gates GenericWorkload=false --to-feature-gates $g37$more
	"$berth" simulate -q cluster.json --kubernetes-version 1.36 --feature-gates $g36$more$preempt --journal run.journal >out 2>err ||
		fail "$profile: $(cat err)"
	follow "$profile journal" --journal run.journal --config config.yaml --from 1.36 --to 1.37 --feature-gates $g36$more$preempt --to-feature-gates $g37$more
done
[ $decisions -gt 500 ] || fail "only $decisions decisions"
finish
