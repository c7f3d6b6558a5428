# SPDX-License-Identifier: Apache-2.0
# berth timeline: pods of every fate, from a cluster and from its journal; the API calls are those of berth simulate --events.
. "$(dirname "$0")/common.sh" "$@"

cat >cluster.yaml <<'END_OF_FILE'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a, labels: {disk: ssd}}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: t, labels: {disk: tape}}, spec: {taints: [{key: x, value: "1", effect: NoExecute}]}, status: {allocatable: {cpu: "8", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: low, namespace: d, uid: u-low, creationTimestamp: "2026-01-01T00:00:00Z"}, spec: {nodeName: a, priority: 1, terminationGracePeriodSeconds: 7, containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: big, namespace: d, uid: u-big, creationTimestamp: "2026-01-01T00:01:00Z"}, spec: {priority: 10, preemptionPolicy: Never, containers: [{name: app, image: i, resources: {requests: {cpu: "3"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: gated, uid: u-gated, creationTimestamp: "2026-01-01T00:01:00Z"}, spec: {schedulingGates: [{name: g}], containers: [{name: app, image: i, resources: {requests: {cpu: 100m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: high, namespace: d, uid: u-high, creationTimestamp: "2026-01-01T00:02:00Z"}, spec: {priority: 30, nodeSelector: {disk: ssd}, containers: [{name: app, image: i, resources: {requests: {cpu: 3500m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: patient, uid: u-patient, creationTimestamp: "2026-01-01T00:00:30Z"}, spec: {nodeSelector: {disk: tape}, tolerations: [{key: x, operator: Exists, effect: NoExecute, tolerationSeconds: 60}], containers: [{name: app, image: i, resources: {requests: {cpu: 100m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: other, uid: u-other}, spec: {schedulerName: mine, containers: [{name: app, image: i}]}}
END_OF_FILE

# A preemptor: refused, nominated, it evicts, waits for the end of its victim, and is bound.
expect 0 "d/low" "$berth" timeline -q cluster.yaml d/high
grep -qE "^ *6 +0.000 +patch +PodScheduled=False Unschedulable, nominated to a$" out || fail "no nomination"
grep -qE "7.000 +queue +active, after AssignedPodDelete" out || fail "the end of its victim does not wake it"
grep -qE "hint +NodeResourcesFit: Queue at AssignedPodDelete" out || fail "no hint"
grep -qE "^ *11 +spec.nodeName +a +-" out || fail "no change of spec.nodeName"
grep -qE "^ *12 +status.nominatedNodeName +- +a$" out || fail "the nomination does not end"
# Its victim.
expect 1 "for d/high" "$berth" timeline -q cluster.yaml d/low
grep -qE "metadata.deletionTimestamp +2026-01-01T00:02:07Z" out || fail "no deletionTimestamp"
grep -q "state *gone" out || fail "the victim is there"
# Pods that stay.
expect 1 "unschedulable, after ScheduleAttemptFailure; waits for events that concern TaintToleration, NodeResourcesFit" "$berth" timeline -q cluster.yaml d/big
expect 1 "gated, after UnscheduledPodAdd" "$berth" timeline -q cluster.yaml gated
expect 1 "another scheduler" "$berth" timeline -q cluster.yaml other
# With --taint-eviction taints evict pods after tolerationSeconds.
expect 0 "placed" "$berth" timeline -q cluster.yaml patient
expect 1 "by a NoExecute taint" "$berth" timeline -q --taint-eviction cluster.yaml patient
grep -qE "^ *9 +150.000 +evicted" out || fail "not after 60 s"
grep -qE "^ *10 +180.000 +deleted" out || fail "not after its grace period"

# A journal tells the same, and the calls are those of the log of events.
"$berth" simulate -q cluster.yaml --journal run.journal --events events -o json >report || fail "simulate"
for pod in d/high d/low d/big default/gated default/patient; do
	"$berth" timeline -q cluster.yaml "$pod" -o json >"from_cluster"
	"$berth" timeline run.journal "$pod" -o json >"from_journal"
	cmp -s from_cluster from_journal || fail "$pod: $(diff from_cluster from_journal | head -5)"
	python3 - "$pod" <<'END_OF_FILE' || fail "$pod: not the calls of --events"
import json, sys
namespace, name = sys.argv[1].split("/")
rows = json.load(open("from_cluster"))["timeline"]
verbs = {"events": "event", "pods": "evicted", "pods/status": "patch", "pods/binding": "bind"}
about = lambda call: call["object"].get("regarding", {}).get("name") if call["resource"] == "events" else call["name"]
mine = [call for call in map(json.loads, open("events")) if (call["namespace"], about(call)) == (namespace, name)]
calls = [verbs[call["resource"]] for call in mine]
shown = [row["what"] for row in rows if row["what"] in verbs.values()]
assert calls == shown, (calls, shown)
END_OF_FILE
done

# Wrong names, arguments and files.
expect 3 "did you mean d/big?" "$berth" timeline -q cluster.yaml d/bgi
expect 3 "the journal shows no pod d/bgi" "$berth" timeline run.journal d/bgi
expect 2 "no pod" "$berth" timeline
expect 2 "no cluster" "$berth" timeline d/big
expect 2 "is no pod" "$berth" timeline cluster.yaml d/big/x
head -c 2000 run.journal >cut.journal
expect 3 "cut.journal: at byte" "$berth" timeline cut.journal d/high
expect 3 "missing.yaml" "$berth" timeline missing.yaml d/high
finish
