# SPDX-License-Identifier: Apache-2.0
# berth recommend: purchases that berth simulate confirms, never below the exact minimum (recommend_cases.py), and nodes that could go.
. "$(dirname "$0")/common.sh" "$@"
here=$(dirname "$0")

cat >types.yaml <<'END_OF_FILE'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: small, annotations: {berth.dev/price: "1"}, labels: {kubernetes.io/hostname: small}}, status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: large, annotations: {berth.dev/price: "1.75", berth.dev/limit: "1"}}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: gpu, annotations: {berth.dev/price: "9"}}, spec: {taints: [{key: gpu, effect: NoSchedule}]}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10", example.com/gpu: "2"}}}
END_OF_FILE
cat >cluster.yaml <<'END_OF_FILE'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: old}, status: {allocatable: {cpu: "1", memory: 4Gi, pods: "10"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: fits}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: d}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: gpu}, spec: {tolerations: [{operator: Exists}], containers: [{name: c, image: i, resources: {limits: {example.com/gpu: "1"}, requests: {example.com/gpu: "1"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: gated}, spec: {schedulingGates: [{name: g}], containers: [{name: c, image: i}]}}
END_OF_FILE

# One large node (there is no second), two small ones, and one with GPUs, which offers no room to those that do not tolerate its taint.
expect 0 "12.7500" "$berth" recommend -q cluster.yaml --node-types types.yaml
grep -qE "^ *small +2 +1.0000 +2.0000 +2$" out || fail "not two small nodes"
grep -qE "^ *large +1 " out || fail "not one large node"
grep -qE "^ *gpu +1 " out || fail "no node with GPUs"
grep -qE "left out: gated +1$" out || fail "the gated pod"
expect 0 '"bound": 12.5' "$berth" recommend -q cluster.yaml --node-types types.yaml -o json
# What fits on no type is said.
sed 's/cpu: "2"/cpu: "20"/' cluster.yaml >big.yaml
expect 1 "default/b" "$berth" recommend -q big.yaml --node-types types.yaml
# The same input and seed give the same answer.
"$berth" recommend -q cluster.yaml --node-types types.yaml -o json >one
"$berth" recommend -q cluster.yaml --node-types types.yaml -o json >two
cmp -s one two || fail "two answers"

# Nodes that could go: within budgets, and only with pods that somebody makes again.
cat >idle.yaml <<'END_OF_FILE'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a, labels: {node.kubernetes.io/instance-type: small}}, status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: b, labels: {node.kubernetes.io/instance-type: small}}, status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: c}, status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: d}, status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: p}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: p, uid: u, controller: true}]}, spec: {nodeName: a, containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: q, labels: {app: q}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: q, uid: v, controller: true}]}, spec: {nodeName: b, containers: [{name: c, image: i, resources: {requests: {cpu: 600m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: alone}, spec: {nodeName: c, containers: [{name: c, image: i, resources: {requests: {cpu: 700m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: r, labels: {app: r}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: w, controller: true}]}, spec: {nodeName: d, containers: [{name: c, image: i, resources: {requests: {cpu: 1900m}}}]}}
END_OF_FILE
expect 0 "Nodes that could go" "$berth" recommend -q idle.yaml --remove
grep -qE "^ *a +small +1 " out && grep -qE "^ *b +small +2 " out || fail "a and b do not go"
grep -qE "stay: a pod has no controller +1$" out || fail "c goes"
grep -qE "stay: a pod fits nowhere else +1$" out || fail "d goes"
expect 0 "could go" "$berth" recommend -q idle.yaml --remove --recreate-all
grep -qE "^ *c " out && fail "c goes although only d is left, which is full"
echo '{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: q}, spec: {minAvailable: 1, selector: {matchLabels: {app: q}}}, status: {disruptionsAllowed: 0}}' >budget.yaml
expect 0 "PodDisruptionBudget" "$berth" recommend -q idle.yaml budget.yaml --remove
grep -qE "^ *b +small" out && fail "the budget is broken"
grep -qE "forbids it +1$" out || fail "no node stays because of the budget"
# A drain of them in that order leaves no pod without a place.
"$berth" whatif -q idle.yaml --drain a --drain b -o json | grep -q '"unplaced": 0' || fail "whatif"

# Wrong types and arguments.
expect 2 "nothing to buy" "$berth" recommend cluster.yaml
expect 3 "a type needs a price" "$berth" recommend -q cluster.yaml --node-types cluster.yaml
sed 's/"1.75"/"-1"/' types.yaml >bad.yaml
expect 3 "a type needs a price" "$berth" recommend -q cluster.yaml --node-types bad.yaml
sed 's/limit: "1"/limit: "few"/' types.yaml >bad.yaml
expect 3 "berth.dev/limit is a whole number" "$berth" recommend -q cluster.yaml --node-types bad.yaml
expect 3 "missing.yaml" "$berth" recommend -q cluster.yaml --node-types missing.yaml
expect 0 "could go" "$berth" recommend -q idle.yaml --remove --node-types types.yaml

python3 "$here/recommend_cases.py" "$berth" 1 15 || fail "random clusters"
finish
