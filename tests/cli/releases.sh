# SPDX-License-Identifier: Apache-2.0
# --kubernetes-version and berth compare: unknown releases are rejected; one release's decisions are followed by the
# other, decision by decision; differences are attributed to causes; the newer release's refusals are reported.
. "$(dirname "$0")/common.sh" "$@"

here=$(dirname "$0")
samples=$here/../../tools/samples

# Usage.
expect 2 "--kubernetes-version: '1.2' is not supported; use " "$berth" simulate --kubernetes-version 1.2 "$samples"
expect 2 "--kubernetes-version: 'x' is not supported" "$berth" verdict --kubernetes-version x nothing
expect 2 "unrecognized feature gate: GangScheduling" "$berth" simulate --kubernetes-version 1.37 --feature-gates GangScheduling=true "$samples"
expect 2 "'1.38' is not supported; use 1.35, 1.36 or 1.37" "$berth" simulate --kubernetes-version 1.38 "$samples"
expect 2 "SecurityProfileOCI; Kubernetes 1.38 brings it, and is not supported yet" "$berth" simulate --feature-gates SecurityProfileOCI=true "$samples"
expect 2 "--from: '1.2' is not supported" "$berth" compare --from 1.2 "$samples"
expect 2 "are the same release" "$berth" compare --from 1.37 --to 1.37 "$samples"
expect 2 "exclude each other" "$berth" compare --journal x "$samples"
expect 3 "nothing.json" "$berth" compare nothing.json
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: d}\n' >pod.yaml
expect 3 "holds no nodes" "$berth" compare -q pod.yaml
[ "$(wc -l <err)" = 1 ] || fail "not one line: $(cat err)"
expect 3 "nothing.journal" "$berth" compare --journal nothing.journal

# A pod that preemption cannot help: only the texts of PostFilter differ.
cat >full.yaml <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "1", memory: 1Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: fits, namespace: default}
spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: big, namespace: default}
spec: {containers: [{name: c, resources: {requests: {cpu: "8"}}}]}
YAML
"$berth" compare -q full.yaml -o json >out 2>err
[ $? = 1 ] || fail "a text that differs is no difference: $(cat out err)"
grep -q '"decisions": 2,' out && grep -q '"differ": 0,' out && grep -q '"another_message": 1,' out || fail "not one text: $(cat out)"
grep -q '"cause": "texts of events"' out || fail "the cause of a text: $(cat out)"
grep -q '"pod": "default/big"' out || fail "whose text: $(cat out)"
grep -q '"metric": "scheduler_queued_entities"' out || fail "a metric that is new is not told: $(cat out)"
tr -d '\n' <out | grep -q '"scheduler_resourceclaim_creates_total",[^}]*"gone"' || fail "a metric that goes is not told: $(cat out)"
tr -d '\n' <out | grep -q '"from": "UnschedulablePod", *"to": "UnscheduledPod"' || fail "a text that changes is not told: $(cat out)"
expect 1 "... no new claims to deallocate, preemption: ..." "$berth" compare -q full.yaml

# A message that two causes change has both: gated pods' nominations count since 1.37, and a text was removed.
cat >two.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: gated}, spec: {priority: 100, schedulingGates: [{name: example.com/wait}], containers: [{name: c, resources: {requests: {cpu: "1", memory: 8Gi}}}]}, status: {nominatedNodeName: n1}}
---
{apiVersion: v1, kind: Pod, metadata: {name: large}, spec: {priority: 0, containers: [{name: c, resources: {requests: {cpu: "3", memory: 1Gi}}}]}}
YAML
expect 1 '"cause": "texts of events and gated nominations count together"' "$berth" compare -q two.yaml --from 1.36 --to 1.37 -o json

# Changed texts in any cluster, on request.
expect 1 "Metrics that change" "$berth" compare -q --all full.yaml

# One small cluster per difference, where a pod's decision or message differs by that cause. kube-scheduler of both releases
# has confirmed each; for gates, also one release with the other one's setting.
while IFS='	' read -r name from to cause objects; do
	echo "$objects" >one.json
	"$berth" compare -q one.json --from "$from" --to "$to" -o json >out 2>err
	[ $? = 1 ] || fail "$name: no difference: $(cat out err)"
	[ "$(sed -n 's/.*"cause": "\([^"]*\)".*/\1/p' out | sort -u)" = "$cause" ] || fail "$name: not by $cause alone: $(cat out)"
done <"$here/releases.tsv"

# Flags and configuration that one release rejects.
expect 1 "unrecognized feature gate: GangScheduling" "$berth" compare -q --feature-gates GenericWorkload=true,GangScheduling=true full.yaml
printf 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nno: 1\n' >bad.yaml
expect 3 "bad.yaml" "$berth" compare -q --config bad.yaml full.yaml

# Clusters with preemption, and pods that are added and deleted: --from makes each decision of the run when it follows.
"$berth" generate --profile mixed --nodes 12 --pods 900 -o json >mixed.json
"$berth" generate --profile churn --nodes 40 --pods 900 -o json >churn.json
for n in 0 1 2 3 4 5 6 7; do
	echo '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n'$n'"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}}}'
	for p in 0 1 2 3; do
		echo '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "low-'$n$p'", "namespace": "a"}, "spec": {"nodeName": "n'$n'",
			"priority": '$p', "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}'
		echo '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "high-'$n$p'", "namespace": "a"}, "spec": {
			"priority": '$((100 + p))', "containers": [{"name": "c", "resources": {"requests": {"cpu": "'$((p % 2 + 1))'"}}}]}}'
	done
done >preemption.json
for profile in mixed preemption churn; do
	"$berth" simulate -q --kubernetes-version 1.36 $profile.json --journal $profile.journal >out 2>err || fail "$(cat err)"
	n=$("$berth" replay $profile.journal -o json | sed -n 's/.*"decisions": \([0-9]*\).*/\1/p')
	for way in "$profile.json" "--journal $profile.journal"; do
		"$berth" compare -q $way -o json >$profile.out 2>err
		[ $? -le 1 ] || fail "$profile: $(cat err)"
		grep -q "\"decisions\": $n," $profile.out || fail "$profile: not all of $n decisions are compared: $(head -5 $profile.out)"
		! grep -q '"foreign"' $profile.out || fail "$profile: following differs from deciding: $(head -8 $profile.out)"
		[ $profile != preemption ] || [ "$n" -gt 32 ] || fail "nobody preempts: $n decisions"
		! grep -q '"cause": "not known"' $profile.out || fail "$profile: a difference has no cause: $(cat $profile.out)"
	done
done
expect 1 "decisions compared" "$berth" compare -q mixed.json --reschedule

finish
