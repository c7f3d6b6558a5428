# SPDX-License-Identifier: Apache-2.0
# berth capacity of gangs: as many copies fit as berth simulate schedules; plain, in racks, in trees; rejected input.
. "$(dirname "$0")/common.sh" "$@"
gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true

# node NAME RACK CPU
node() {
	echo "{apiVersion: v1, kind: Node, metadata: {name: $1, labels: {example.com/rack: $2}}, status: {allocatable: {cpu: $3, memory: 64Gi, pods: 30}}}"
	echo ---
}
# gang NAME MIN PODS CPU [MORE]: a PodGroup and its pods; MORE: fields of its spec.
gang() {
	echo "{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: $1}, spec: {${5:-}schedulingPolicy: {gang: {minCount: $2}}}}"
	for ((pod = 0; pod < $3; pod++)); do
		echo ---
		echo "{apiVersion: v1, kind: Pod, metadata: {name: $1-$pod}, spec: {schedulingGroup: {podGroupName: $1}, containers: [{name: c, resources: {requests: {cpu: $4}}}]}}"
	done
	echo ---
}
rack='schedulingConstraints: {topology: [{key: example.com/rack}]}, '
# tree NAME: a driver beside a gang of three, all in one rack.
tree() {
	echo "{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: $1}, spec: {${rack}schedulingPolicy: {gang: {minGroupCount: 2}}}}"
	echo ---
	gang "$1-driver" 1 1 3 "parentCompositePodGroupName: $1, "
	gang "$1-workers" 3 3 2 "parentCompositePodGroupName: $1, "
}
# fits ROW: "fits" and "on nodes" of report.json.
fits() {
	python3 -c 'import json, sys; row = json.load(open("report.json"))["capacity"][int(sys.argv[1])]; print(row["fits"], row["template"])' "$1"
}
capacity() {
	"$berth" capacity -q cluster.yaml -o json --feature-gates $gates "$@" >report.json 2>err || fail "capacity $* ended with $?: $(cat err)"
}

for number in 1 2 3 4 5 6 7 8 9; do
	node "n$number" "r$((number % 3))" $((4 + number * 7 % 5))
done >cluster.yaml
node apart '""' 3 >>cluster.yaml

# count PODS KIND: simulate schedules as many as fit of that many copies and three more; "$make NAME" makes them.
count() {
	$make job >job.yaml
	capacity --pod job.yaml
	read -r fit template <<<"$(fits 0)"
	[ "$template" = "$2 default/job" ] || fail "$make: the template is $template"
	[ "$fit" -gt 0 ] || fail "$make: nothing fits: $(cat report.json)"
	for ((copy = 0; copy < fit + 3; copy++)); do
		$make "job$copy"
	done >many.yaml
	"$berth" simulate -q cluster.yaml many.yaml --feature-gates $gates --decisions log >/dev/null 2>err || fail "$make: simulate: $(cat err)"
	placed=$(grep -c '"node":"' log)
	[ "$placed" = $((fit * $1)) ] || fail "$make: $fit copies of $1 pods fit, simulate places $placed pods"
}
plain() { gang "$1" 4 4 2; }
racked() { gang "$1" 4 4 2 "$rack"; }
for make in plain racked; do
	count 4 PodGroup
done
plain=$(plain job >job.yaml && capacity --pod job.yaml && fits 0)
make=tree
count 4 CompositePodGroup

# The report names the lack of a fitting rack; for a lack of CPUs it names the nearest node.
gang job 12 12 2 "$rack" >wide.yaml
racked fits >job.yaml
capacity --pod wide.yaml --pod job.yaml --by example.com/rack
python3 - <<'END_PYTHON' || fail "racks: $(cat report.json)"
import json
report = json.load(open("report.json"))
(row,) = [row for row in report["refusals"] if row["template"] == "PodGroup default/job"]
assert row["nodes"] == 10 and row["plugin"] == "PodGroup" and "0/4 placements are available" in row["reason"], row
assert all(place["pods"] % 4 == 0 for place in report["places"]), report["places"]
assert {place["pods"] for place in report["places"] if place["value"] == ""} == {0}, report["places"]
assert report["capacity"][0]["fits"] == 0 and sum(place["pods"] for place in report["places"]) == 4 * report["capacity"][1]["fits"] > 0
END_PYTHON
gang job 2 2 9 >large.yaml
expect 0 "NodeResourcesFit,Insufficient cpu,n2,1 cpu" "$berth" capacity -q cluster.yaml --pod large.yaml --feature-gates $gates -o csv

# A gang leaves nothing behind; with --together a file's gangs are one template; each copy of a mix has its own groups.
plain job >job.yaml
gang other 3 3 1 "$rack" >other.yaml
capacity --pod other.yaml --pod job.yaml --mix 1:2
[ "$(fits 1)" = "$plain" ] || fail "another gang matters: $(fits 1), alone $plain"
[ "$(fits 2)" != "0 mix 1:2" ] || fail "no mix fits"
cat job.yaml other.yaml >both.yaml
capacity --pod both.yaml --together
grep -q '"pods": *7' report.json || fail "not all pods together: $(cat report.json)"

# More pods than minCount: all of them have to fit.
gang job 1 200 1 >wide.yaml
capacity --pod wide.yaml
[ "$(fits 0)" = "0 PodGroup default/job" ] || fail "a part of a gang counts as all of it: $(fits 0)"

# Pods of 1.35 name a group of their Workload; all of them are a template.
cat >workload.yaml <<'YAML'
{apiVersion: scheduling.k8s.io/v1alpha1, kind: Workload, metadata: {name: train}, spec: {podGroups: [{name: workers, policy: {gang: {minCount: 2}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: w-0}, spec: {workloadRef: {name: train, podGroup: workers}, containers: [{name: c, resources: {requests: {cpu: 3}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: w-1}, spec: {workloadRef: {name: train, podGroup: workers}, containers: [{name: c, resources: {requests: {cpu: 3}}}]}}
YAML
expect 0 "Workload default/train, group workers" "$berth" capacity -q cluster.yaml --pod workload.yaml --kubernetes-version 1.35 \
	--feature-gates GenericWorkload=true,GangScheduling=true

# Rejected input.
expect 3 "add --feature-gates GenericWorkload=true" "$berth" capacity -q cluster.yaml --pod job.yaml
sed '/kind: PodGroup/d' job.yaml >alone.yaml
expect 3 "add the PodGroup" "$berth" capacity -q cluster.yaml --pod alone.yaml --feature-gates $gates
tree job | sed '/kind: CompositePodGroup/d' >rootless.yaml
expect 3 "names a CompositePodGroup that it does not hold" "$berth" capacity -q cluster.yaml --pod rootless.yaml --feature-gates $gates
finish
