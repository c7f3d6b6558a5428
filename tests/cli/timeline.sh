# SPDX-License-Identifier: Apache-2.0
# Virtual time: the end of preempted pods and the placement of their preemptor, backoff, the five-minute flush, the end of a simulation, --until, --speed.
. "$(dirname "$0")/common.sh" "$@"

# simulate ARGUMENT...: the report goes to report, the decisions to log, the API calls to events.
simulate() {
	"$berth" simulate --quiet -o json --decisions log --events events "$@" >report 2>err || fail "simulate $* ended with $?: $(head -3 err)"
}

# says KEY VALUE: the report has this member.
says() {
	grep -qE "^ *\"$1\": $2,?\$" report || fail "not '$1': $2 but $(grep "\"$1\"" report)"
}

# at SECOND POD: the pod was bound in that second of the minute.
at() {
	grep -qE "T[0-9:]*:$1\.[0-9]*Z\",\"user\":\"kube-scheduler\",\"verb\":\"create\",\"resource\":\"pods/binding\",\"namespace\":\"default\",\"name\":\"$2\"" events ||
		fail "$2 is not bound at $1: $(grep pods/binding events | cut -c1-120)"
}

cat >preempt.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1, creationTimestamp: "2026-01-01T00:00:07Z"}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: slow}, spec: {nodeName: n1, priority: 0, terminationGracePeriodSeconds: 45, containers: [{name: c, resources: {requests: {cpu: 2}}}]}, status: {startTime: "2025-01-01T00:00:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: quick}, spec: {nodeName: n1, priority: 0, terminationGracePeriodSeconds: 5, containers: [{name: c, resources: {requests: {cpu: 2}}}]}, status: {startTime: "2025-06-01T00:00:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high, creationTimestamp: "2026-01-01T00:00:03Z"}, spec: {priority: 100, containers: [{name: c, resources: {requests: {cpu: 3}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low}, spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}}
YAML

# Two victims with different grace periods: the pod is placed when the second one has gone, 45 s after the latest creation time.
simulate preempt.yaml
says virtual_s 45
at 52 high
at 52 low
says placed_s 45
says evicted 2
says preemptors 1
says in_vain 0
says wait_max_s 45.000
says victim_names '"default\/slow, default\/quick"'
cat >want <<'TEXT'
"default/high","node":null,"nominated":"n1","evicted":["default/slow","default/quick"]
"default/low","node":null
"default/quick","delete":true
"default/high","node":null,"nominated":"n1"
"default/low","node":null
"default/slow","delete":true
"default/high","node":"n1"
"default/low","node":"n1"
TEXT
sed -E 's/^\{"pod"://; s/,"message".*//; s/}$//' log >got
cmp -s want got || fail "other decisions: $(diff want got)"
cp log first
cp events first.events
cp report first.report
simulate preempt.yaml
cmp -s log first && cmp -s events first.events || fail "the same input and seed give other logs"
grep -vE '_per_s|_s": [0-9]+\.[0-9]{4}' report >got
grep -vE '_per_s|_s": [0-9]+\.[0-9]{4}' first.report | cmp -s - got || fail "the same input and seed give another report"

# If no pod is ready in between, the others are scheduled after the preemptor.
simulate preempt.yaml --preemption wait
says virtual_s 45
at 52 high
cat >want <<'TEXT'
"default/high","node":null,"nominated":"n1","evicted":["default/slow","default/quick"]
"default/quick","delete":true
"default/slow","delete":true
"default/high","node":"n1"
"default/low","node":"n1"
TEXT
sed -E 's/^\{"pod"://; s/,"message".*//; s/}$//' log >got
cmp -s want got || fail "other decisions with --preemption wait: $(diff want got)"
simulate preempt.yaml --preemption wait --until 20
says placed 0
expect 2 "--preemption=wait is for clusters, not for traces" "$berth" simulate --trace openb --nodes n --pods p --preemption wait

# In the middle one victim has gone and the other still uses the node; nothing is placed.
simulate preempt.yaml --until 20
says virtual_s 20
says leaving 1
says waiting 1
grep -q '"node":"n1"' log && fail "placed before the victim has gone"
[ "$(grep -c '"delete":true' log)" = 1 ] || fail "not one gone after 20 s"
simulate preempt.yaml --until 2026-01-01T00:00:52Z
says placed 2
simulate preempt.yaml --until 44.999s
says placed 0
simulate preempt.yaml --until 1h30m
says virtual_s 5400
says wait_max_s 45.000

# Grace periods: 0 ends immediately, a negative one counts as a second, a day is a day.
for grace in 0:07 -1:08 30:37; do
	sed "s/terminationGracePeriodSeconds: [0-9]*/terminationGracePeriodSeconds: ${grace%:*}/" preempt.yaml >graces.yaml
	simulate graces.yaml
	at "${grace#*:}" high
done
sed "s/terminationGracePeriodSeconds: 45/terminationGracePeriodSeconds: 86400/" preempt.yaml >graces.yaml
simulate graces.yaml
says virtual_s 86400
says placed 2
sed "s/terminationGracePeriodSeconds: 45/terminationGracePeriodSeconds: 9000000000000000000/" preempt.yaml >graces.yaml
simulate graces.yaml --until 1h
says placed 0

# A terminating pod ends at its deletionTimestamp, or 30 s after the start if that has passed.
for deletion in 2026-01-01T00:00:20Z:20 2025-12-31T00:00:00Z:37; do
	cat >deleted.yaml <<YAML
{apiVersion: v1, kind: Node, metadata: {name: n1, creationTimestamp: "2026-01-01T00:00:07Z"}, status: {allocatable: {cpu: "1", pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: old, deletionTimestamp: "${deletion%:*}"}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: new}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
YAML
	simulate deleted.yaml
	at "${deletion##*:}" new
	says evicted 0
done

# A pod that is refused repeatedly: its queue and plugin; time does not advance for it alone.
sed '/name: high/,+1d' preempt.yaml >low.yaml
simulate low.yaml
says virtual_s 0
says place '"unschedulable"'
says plugins '"NodeResourcesFit"'
says attempts_max 1
# With --until it is requeued at the first multiple of 30 s after five minutes: at 330, 660 and 990 s.
simulate low.yaml --until 1000
says virtual_s 1000
says flushed 3
says attempts_max 4
says attempts_3_to_5 1
simulate low.yaml --until 329
says flushed 0
# The end of another pod is a future event: the flush requeues if something has changed since the refusal.
cat >later.yaml <<'YAML'
---
{apiVersion: v1, kind: Pod, metadata: {name: a, deletionTimestamp: "2026-01-01T00:00:10Z"}, spec: {nodeName: n1, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, deletionTimestamp: "2026-01-01T10:00:00Z"}, spec: {nodeName: n1, containers: [{name: c}]}}
YAML
cat low.yaml later.yaml >both.yaml
simulate both.yaml
says virtual_s 35993
says woken 1
says flushed 2
says attempts_max 4

# Backoff: a pod requeued during its backoff is tried immediately if no other is active; with the gate off after its backoff.
cat >backoff.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1, creationTimestamp: "2026-01-01T00:00:00Z"}, status: {allocatable: {cpu: "1", pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: victim}, spec: {nodeName: n1, priority: 0, terminationGracePeriodSeconds: 0, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high}, spec: {priority: 100, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
YAML
simulate backoff.yaml
at 00 high
says backoffs 1
simulate backoff.yaml --feature-gates SchedulerPopFromBackoffQ=false
at 02 high
says backoffs 1
says virtual_s 2

# A WaitForFirstConsumer claim is bound with its first pod, and the next pod with the same claim follows.
for i in 1 2 3; do
	cat <<YAML
---
{apiVersion: v1, kind: Node, metadata: {name: n$i, labels: {kubernetes.io/hostname: n$i}}, status: {allocatable: {cpu: "$((8 / i))", pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p$i}, spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}], volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}
YAML
done >claim.yaml
cat >>claim.yaml <<'YAML'
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default}, spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 5Gi}}}}
YAML
for i in 3 2; do
	cat <<YAML
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv$i}
spec: {capacity: {storage: ${i}0Gi}, accessModes: [ReadWriteOnce], storageClassName: local, local: {path: /d}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n$i]}]}]}}}
status: {phase: Available}
YAML
done >>claim.yaml
simulate claim.yaml
says placed 3
[ "$(sed -E 's/.*"node":"(.*)"}/\1/' log | sort -u | wc -l)" = 1 ] || fail "pods with one claim are on several nodes: $(cat log)"

# --speed advances time, and prints the report when interrupted; fractional values.
start=$(date +%s%N)
simulate preempt.yaml --speed 90
[ $((($(date +%s%N) - start) / 1000000)) -ge 500 ] || fail "45 s at 90 in a second took less than half a second"
cmp -s log first || fail "--speed changes decisions"
rm log
set -m
"$berth" simulate --quiet -o json --decisions log preempt.yaml --speed 1 >report 2>err &
child=$!
set +m
until { [ -s log ] && [ "$(wc -l <log)" -ge 2 ]; } || ! kill -0 "$child" 2>/dev/null; do
	sleep 0.1
done
[ "$(wc -l <log)" = 2 ] || fail "--speed does not show decisions as they are made: $(cat log)"
kill -INT "$child"
wait "$child"
status=$?
[ "$status" = 130 ] || fail "interrupted in its sleep it ended with $status: $(cat err)"
says interrupted true
says placed 0
says waiting 1
for odd in "" x 1x 1h2 -1 1..5s 5m2d nan 1e3 99999999999999999999 2026-13-01T00:00:00Z 1969-01-01T00:00:00Z; do
	"$berth" simulate preempt.yaml --until="$odd" >out 2>err
	[ $? = 2 ] || fail "--until '$odd' ended otherwise: $(cat err)"
done
expect 2 "--until 2026-01-01T00:00:06Z is before the simulation's beginning" "$berth" simulate preempt.yaml --until 2026-01-01T00:00:06Z
for odd in "" x -1 1x inf nan 0x10 1e400; do
	"$berth" simulate preempt.yaml --speed="$odd" >out 2>err
	[ $? = 2 ] || fail "--speed '$odd' ended otherwise: $(cat err)"
done
expect 0 "virtual time" "$berth" simulate preempt.yaml --speed 0

# The first and the last years of the range of time.
for year in 1969 2261 9999; do
	sed "s/2026-01-01T00:00:07Z/$year-06-01T00:00:00Z/" preempt.yaml >years.yaml
	simulate years.yaml
	says virtual_s 45
done
# Without any creationTimestamp time begins at the last deletionTimestamp, not in 1970.
cat >going.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {allocatable: {cpu: 1, memory: 8Gi, pods: 20}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: going, deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 20}, spec: {nodeName: node-1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: comes}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
YAML
timeout 20 "$berth" simulate --quiet going.yaml --events calls >out 2>err || fail "a pod that is being deleted: ended with $?"
grep -q '"time":"2026-01-01T00:00:10.000000Z".*FailedScheduling' calls || fail "time does not begin at the request: $(head -1 calls)"
grep -qE '"time":"2026-01-01T00:00:[3-9].*pods/binding' calls || fail "the pod does not come when the other has gone: $(tail -2 calls)"
finish
