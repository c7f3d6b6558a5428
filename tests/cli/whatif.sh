# SPDX-License-Identifier: Apache-2.0
# berth whatif: drains against berth simulate of the drained cluster, that questions do not disturb each other, budgets, and what is refused.
. "$(dirname "$0")/common.sh" "$@"

# bound CLUSTER DECISIONS OUT: the cluster with its pods where they were placed, each with a ReplicaSet as its controller.
bound() {
	python3 - "$@" <<'END'
import json, sys
nodes, n = {}, 0
for line in open(sys.argv[2]):
	decision = json.loads(line)
	if decision.get("node"):
		nodes[decision["pod"]] = decision["node"]
with open(sys.argv[3], "w") as out:
	for thing in json.load(open(sys.argv[1]))["items"]:
		if thing["kind"] == "Pod":
			name = thing["metadata"]["namespace"] + "/" + thing["metadata"]["name"]
			if name not in nodes:
				continue
			thing["spec"]["nodeName"] = nodes[name]
			thing["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": True}]
			# The order of pods of equal priority.
			thing["metadata"]["creationTimestamp"] = "2026-01-01T%02d:%02d:%02dZ" % (n // 3600, n // 60 % 60, n % 60)
			n += 1
		out.write(json.dumps(thing) + "\n")
END
}
# drained CLUSTER NODE OUT: the cluster as after a drain: the node is cordoned, and its pods wait.
drained() {
	python3 - "$@" <<'END'
import json, sys
waiting = []
with open(sys.argv[3], "w") as out:
	for line in open(sys.argv[1]):
		thing = json.loads(line)
		if thing["kind"] == "Node" and thing["metadata"]["name"] == sys.argv[2]:
			thing["spec"] = dict(thing.get("spec", {}), unschedulable=True)
		if thing["kind"] == "Pod" and thing["spec"]["nodeName"] == sys.argv[2]:
			del thing["spec"]["nodeName"]
			thing["spec"]["preemptionPolicy"] = "Never"
			waiting.append(thing)
			continue
		out.write(json.dumps(thing) + "\n")
	for thing in waiting:
		out.write(json.dumps(thing) + "\n")
END
}

# Brute force: simulate places as many of the pods of a drained node. Equal pods: how many fit does not depend on their order, which
# is another one, as simulate takes pods that are known to fit nowhere last.
for seed in 1 2; do
	# A tenth of the nodes is missing, so that the cluster is full.
	"$berth" generate --nodes 30 --pods 2000 --signatures 1 --seed $seed |
		awk '!/"kind":"Node"/ || ++n % 10' >pending.json
	"$berth" simulate -q pending.json --decisions decisions.jsonl >/dev/null || fail "simulate"
	bound pending.json decisions.jsonl cluster.json
	"$berth" whatif -q cluster.json --each node -o json >each.json 2>err
	[ $? -le 1 ] || fail "each node: $(cat err)"
	for node in $(python3 -c 'import json; print(*[r["question"] for r in json.load(open("each.json"))["whatif"]][::4])'); do
		drained cluster.json "$node" drained.json
		"$berth" simulate -q drained.json --decisions decisions.jsonl >/dev/null || fail "simulate, drained"
		python3 - "$node" <<'END' || fail "seed $seed, node $node"
import json, sys
last = {}
for line in open("decisions.jsonl"):
	decision = json.loads(line)
	last[decision["pod"]] = decision["node"]
row = [r for r in json.load(open("each.json"))["whatif"] if r["question"] == sys.argv[1]][0]
placed = sum(1 for node in last.values() if node)
assert (row["displaced"], row["placed"], row["unplaced"]) == (len(last), placed, len(last) - placed), (row, len(last), placed)
END
	done
	python3 -c 'import json; exit(not any(r["unplaced"] for r in json.load(open("each.json"))["whatif"]))' || fail "seed $seed: every pod fits; take more pods"
done
# Pods without a controller.
"$berth" whatif -q pending.json --each node -o json >bare.json
python3 -c 'import json; rows = json.load(open("bare.json"))["whatif"]; exit(not any(r["displaced"] for r in rows) or any(r["not_recreated"] != r["displaced"] for r in rows))' || fail "pods without a controller are placed again"
"$berth" whatif -q pending.json --each node --recreate-all -o json >bare.json
python3 -c 'import json; exit(any(r["not_recreated"] for r in json.load(open("bare.json"))["whatif"]))' || fail "--recreate-all leaves pods out"
# The questions of --each are those of --drain; the moves are one for each displaced pod.
first=$(python3 -c 'import json; print(json.load(open("each.json"))["whatif"][0]["question"])')
"$berth" whatif -q cluster.json --drain "$first" -o json >one.json
python3 - "$first" <<'END' || fail "--drain and --each differ"
import json, sys
each = [r for r in json.load(open("each.json"))["whatif"] if r["question"] == sys.argv[1]][0]
report = json.load(open("one.json"))
one = report["whatif"][0]
assert one["question"] == "drain " + sys.argv[1]
for key in each:
	assert key == "question" or each[key] == one[key], key
moves = report["moves"]
assert len(moves) == one["displaced"] and all(m["from"] == sys.argv[1] != m["to"] for m in moves)
assert sum(1 for m in moves if m["result"] == "placed") == one["placed"]
END

# Roles, budgets and exit statuses.
cat >small.yaml <<'END'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a, labels: {pool: left}}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: b, labels: {pool: right}}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: web, namespace: d, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r, controller: true}]}
  spec: {nodeName: a, containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: agent, namespace: d, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: s, uid: s, controller: true}]}
  spec: {nodeName: a, containers: [{name: c, image: i}]}
END
cat >budget.yaml <<'END'
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: keep, namespace: d}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
status: {disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1}
END
cat >bare.yaml <<'END'
apiVersion: v1
kind: Pod
metadata: {name: bare, namespace: d}
spec: {nodeName: a, containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}
END
expect 0 "d/web  a     b" "$berth" whatif small.yaml --drain a
expect 0 "drain pool=left" "$berth" whatif small.yaml --drain pool=left
expect 1 "d/keep" "$berth" whatif small.yaml budget.yaml --drain a
expect 1 "not recreated: it has no controller" "$berth" whatif small.yaml bare.yaml --drain a
expect 1 "fits nowhere" "$berth" whatif small.yaml --drain a --drain b
expect 0 "question,nodes,displaced" "$berth" whatif small.yaml --each pool -o csv
expect 2 "give --drain NODE or --each node" "$berth" whatif small.yaml
expect 2 "no cluster" "$berth" whatif --drain a
expect 3 "selects no node" "$berth" whatif small.yaml --drain nowhere
expect 3 "selects no node" "$berth" whatif small.yaml --drain pool=z
expect 3 "no node has that label" "$berth" whatif small.yaml --each rack
finish
