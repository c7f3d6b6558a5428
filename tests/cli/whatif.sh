# SPDX-License-Identifier: Apache-2.0
# berth whatif: drains compared with berth simulate of the drained cluster; independence of questions; budgets; rejected input.
. "$(dirname "$0")/common.sh" "$@"

# bound CLUSTER DECISIONS OUT: the cluster with its pods on their nodes, each controlled by a ReplicaSet.
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
	# Without a tenth of the nodes the cluster is full.
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
one = json.load(open("one.json"))["whatif"][0]
assert one["question"] == "drain " + sys.argv[1]
for key in each:
	# Of many questions only the first pod that fits nowhere is explained.
	assert key in ("question", "pods") or each[key] == one[key], key
pods = one["pods"]
assert [dict(p, reason="") for p in each["pods"]] == [dict(p, reason="") for p in pods]
assert len(pods) == one["displaced"] and all(p["from"] == sys.argv[1] != p["to"] for p in pods)
assert sum(1 for p in pods if p["result"] == "placed") == one["placed"]
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

# The other changes, and their errors.
cat >shop.yaml <<'END'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a, labels: {pool: left, kubernetes.io/hostname: a}}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: b, labels: {pool: right, kubernetes.io/hostname: b}}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop}
  spec: {replicas: 4, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}}
- apiVersion: apps/v1
  kind: DaemonSet
  metadata: {name: agent, namespace: shop}
  spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: i}]}}}
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: keep, namespace: shop}
  spec: {minAvailable: 4, selector: {matchLabels: {app: web}}}
  status: {disruptionsAllowed: 0, currentHealthy: 4, desiredHealthy: 4, expectedPods: 4}
END
cat >web.yaml <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: CPU}}}]}}}
END
cat >node.yaml <<'END'
{apiVersion: v1, kind: Node, metadata: {name: big}, status: {allocatable: {cpu: "16", memory: 8Gi, pods: "10"}}}
END
# says WANTED OPTION...: the numbers of the first question, as PYTHON EXPRESSION of r.
says() {
	local want=$1
	shift
	"$berth" whatif -q shop.yaml "$@" -o json >r.json 2>err || [ $? = 1 ] || fail "$*: $(cat err)"
	python3 -c "import json, sys; r = json.load(open('r.json'))['whatif'][0]; sys.exit(not ($want))" || fail "$*: not $want: $(head -c 1500 r.json)"
}
says 'r["displaced"] == 2 and r["forbidden"] == 2 and r["budget"] == "shop/keep" and r["budgets"] == [{"budget": "shop/keep", "pods": 2, "violated": 0}]' --drain a
says 'r["forbidden"] == 0' --lose a
says 'r["forbidden"] == 0' --delete pdb/shop/keep --drain a
# A new node gets the DaemonSet's pod, and takes the pods of another one.
says '(r["added"], r["added_pending"]) == (2, 0) and {p["to"] for p in r["pods"]} == {"a-1", "a-2"}' --add 'a*2'
says 'r["placed"] == 2 and {p["to"] for p in r["pods"]} == {"a-1"}' --add a --set b:unschedulable=true --drain a
says '[p["to"] for p in r["pods"]] == ["big-1"]' --add node.yaml
says '(r["added"], r["added_pending"]) == (2, 3) and "2 Insufficient cpu (1 cpu short on" in r["reason"]' --scale shop/deployment/web=9
says '(r["added"], r["deleted"]) == (0, 3)' --scale deploy/shop/web=1
says '(r["added"], r["deleted"]) == (0, 4) and [u["after"] for u in r["utilization"] if u["resource"] == "cpu"] == [0]' --delete deployments/shop/web
says '(r["displaced"], r["placed"], r["unplaced"]) == (2, 0, 2) and "1 node(s) had untolerated taint(s)" in r["reason"]' --set 'pool=left:taint/k=v:NoExecute'
says '(r["displaced"], r["placed"]) == (2, 2)' --set b:allocatable/cpu=8 --drain a
sed 's/CPU/"1"/' web.yaml >same.yaml
sed 's/CPU/2/' web.yaml >other.yaml
says '(r["added"], r["deleted"]) == (0, 1)' --apply same.yaml
says '(r["added"], r["added_pending"], r["deleted"]) == (3, 0, 4)' --apply other.yaml
says '(r["added"], r["added_pending"], r["deleted"]) == (3, 0, 4)' --apply same.yaml --apply other.yaml
says '[u["before"] for u in r["utilization"] if u["resource"] == "cpu"] == [66.7]' --drain a
expect 2 "is not of the form [NAMESPACE/]KIND/NAME=REPLICAS" "$berth" whatif shop.yaml --scale web=3
expect 2 'unknown change "zone=b"' "$berth" whatif shop.yaml --set a:zone=b
expect 2 "give one of them" "$berth" whatif shop.yaml --each node --pairs 3
expect 3 "there is no such workload" "$berth" whatif shop.yaml --scale deploy/web=3
expect 3 "neither a node of the cluster nor a file" "$berth" whatif shop.yaml --add c
expect 3 "there is no PodDisruptionBudget other" "$berth" whatif shop.yaml --delete pdb/shop/other
expect 3 "there is no such pod" "$berth" whatif shop.yaml --delete pod/shop/other
expect 3 "it selects no node" "$berth" whatif shop.yaml --set c:label/x=y
expect 3 "it cannot be read" "$berth" whatif shop.yaml --apply nothing.yaml

# Any number of processes gives the same bytes; so does asking for all pairs, whatever the seed.
for questions in "--each node" "--pairs 40" "--each node --add node-00001*2 --set node-00002:unschedulable=true"; do
	for format in json csv; do
		"$berth" whatif -q cluster.json $questions -j 1 -o $format >one.$format
		for jobs in 2 7; do
			"$berth" whatif -q cluster.json $questions -j $jobs -o $format >more.$format
			cmp one.$format more.$format || fail "$questions: $jobs processes differ"
		done
	done
done
python3 -c 'import json; rows = json.load(open("one.json"))["whatif"]; exit(len(rows) < 20 or not any(r["placed"] for r in rows))' || fail "the sweep asks nothing"
"$berth" whatif -q cluster.json --pairs 100000 -o csv >all.csv
"$berth" whatif -q cluster.json --pairs 100000 --seed 1 -o csv >again.csv
cmp all.csv again.csv || fail "all pairs depend on nothing"
python3 -c 'import sys; n = len([l for l in open("cluster.json") if "\"kind\": \"Node\"" in l]); sys.exit(sum(l.startswith("whatif,") for l in open("all.csv")) != n * (n - 1) // 2)' || fail "all pairs are n (n - 1) / 2"
finish
