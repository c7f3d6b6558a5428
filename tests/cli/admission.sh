# SPDX-License-Identifier: Apache-2.0
# Admission of manifests: --write-objects, --enforce-quota, --validate. Dumps are not changed.
. "$(dirname "$0")/common.sh" "$@"

cat >cluster.yaml <<'YAML'
{apiVersion: v1, kind: Namespace, metadata: {name: default}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {runtime: kata}}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: example.com/disk, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, handler: kata, overhead: {podFixed: {cpu: 250m}}, scheduling: {nodeSelector: {runtime: kata}}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: lr}, spec: {limits: [{type: Container, max: {cpu: "2"}, defaultRequest: {cpu: 100m}}]}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: "2"}}}
YAML
cat >app.yaml <<'YAML'
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {runtimeClassName: kata, containers: [{name: c, image: x}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
---
{apiVersion: v1, kind: Pod, metadata: {name: tmp}, spec: {containers: [{name: c, image: x}], volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]}}
YAML

# Pods have claims of the default class, requests, overhead and nodes, and are placed.
"$berth" simulate cluster.yaml app.yaml --write-objects objects.json --decisions decisions -o json >out 2>err || fail "simulate: $(cat err)"
for part in '"name":"data-db-0","namespace":"default"' '"name":"data-db-1"' '"name":"tmp-v"' '"storageClassName":"fast"' '"overhead":{"cpu":"250m"}' \
	'"requests":{"cpu":"100m"}' '"nodeSelector":{"runtime":"kata"}' '"tolerationSeconds":300'; do
	grep -qF "$part" objects.json || fail "--write-objects does not have $part"
done
[ "$(grep -c '"node":"n1"' decisions)" -ge 2 ] || fail "the pods of the StatefulSet are not on the node of their class: $(cat decisions)"
[ "$(grep -c '"node":"n' decisions)" = 3 ] || fail "not every pod is placed: $(cat decisions)"
grep -qF 'warning: ResourceQuota default/q: spec.hard[pods]: exceeded by what the input creates: used 0, asked for 3, limited to 2' err || fail "no warning about the quota: $(cat err)"

# Admission of the written objects changes nothing: same decisions, same output, in any order.
"$berth" simulate objects.json --write-objects again.yaml --decisions again -q >out 2>err || fail "simulate objects.json: $(cat err)"
diff <(sort decisions) <(sort again) >diff || fail "other decisions: $(cat diff)"
"$berth" simulate again.yaml --write-objects third.json -q >out 2>err || fail "simulate again.yaml: $(cat err)"
diff <(sed 's/,$//' objects.json | sort) <(sed 's/,$//' third.json | sort) >diff || fail "admission is not idempotent: $(head -c 600 diff)"

# --enforce-quota.
expect 0 "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2" "$berth" simulate cluster.yaml app.yaml --enforce-quota
# A pod that a LimitRange refuses is not placed.
echo '{apiVersion: v1, kind: Pod, metadata: {name: big}, spec: {containers: [{name: c, resources: {limits: {cpu: "3"}}}]}}' >big.yaml
expect 0 "Pod default/big: spec.containers[].resources: maximum cpu usage per Container is 2, but limit is 3" "$berth" simulate cluster.yaml big.yaml
expect 1 "" "$berth" simulate cluster.yaml big.yaml --fail-on-unplaced
expect 3 "maximum cpu usage" "$berth" simulate cluster.yaml big.yaml --strict

# --validate: warnings with file and line, an error, or nothing.
cat >typo.yaml <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: typo}
spec:
  containers: [{name: c}]
  nodeSelectr: {a: b}
  tolerations: [{key: a, operator: Exist}]
YAML
text='typo.yaml:6: Pod typo: spec.nodeSelectr: unknown field; did you mean "nodeSelector"?'
expect 0 "berth simulate: warning: $text" "$berth" simulate cluster.yaml typo.yaml
expect 0 'typo.yaml:7: Pod typo: spec.tolerations[0].operator: unsupported value "Exist"; the API server takes Exists, Equal, Lt, Gt' \
	"$berth" simulate cluster.yaml typo.yaml --validate=warn
for options in --validate=strict --validate --strict; do
	expect 3 "berth simulate: $text" "$berth" simulate cluster.yaml typo.yaml $options
done
"$berth" simulate cluster.yaml typo.yaml --validate=ignore >out 2>err || fail "--validate=ignore: $(cat err)"
[ ! -s err ] || fail "--validate=ignore says something: $(cat err)"
expect 2 "--validate is one of strict|warn|ignore" "$berth" simulate cluster.yaml --validate=maybe
for command in "capacity --pod big.yaml" "whatif --each node" quality compare; do
	expect 3 "$text" "$berth" $command cluster.yaml typo.yaml --validate=strict
done

# An API server's error instead of a list.
echo '{"apiVersion":"v1","kind":"Status","status":"Failure","message":"nodes is forbidden","code":403}' >status.json
expect 3 'status.json:1:1: Status: an error of the API server in place of objects: nodes is forbidden' "$berth" simulate status.json
finish
