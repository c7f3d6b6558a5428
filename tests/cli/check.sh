# SPDX-License-Identifier: Apache-2.0
# berth check: its verdict equals that of berth simulate with the application added, on random clusters; rollouts; errors; formats.
. "$(dirname "$0")/common.sh" "$@"

# Brute force. cluster.json has no pending pods, so that simulate places the application's pods in the same order.
cat >make.py <<'PY'
import json, random, sys
seed, random_ = int(sys.argv[1]), random.Random(int(sys.argv[1]))
objects = []
decoder, text, at = json.JSONDecoder(), open("all.json").read(), 0
while at < len(text):
	value, at = decoder.raw_decode(text, at)
	objects += value.get("items", [value]) if value.get("kind", "").endswith("List") else [value]
	while at < len(text) and text[at].isspace():
		at += 1
cluster = [o for o in objects if o["kind"] != "Pod" or o["spec"].get("nodeName")]
def deployment(i, name, kind="Deployment"):
	spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {
		"cpu": f"{random_.choice([250, 700, 1500, 4000])}m", "memory": random_.choice(["128Mi", "1Gi", "6Gi"])}}}]}
	if random_.random() < 0.4:
		spec["topologySpreadConstraints"] = [{"maxSkew": random_.choice([1, 2]), "topologyKey": "topology.kubernetes.io/zone",
			"whenUnsatisfiable": random_.choice(["DoNotSchedule", "ScheduleAnyway"]), "labelSelector": {"matchLabels": {"app": name}}}]
	if random_.random() < 0.3:
		spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
			{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": name}}}]}}
	if random_.random() < 0.5:
		spec["priorityClassName"] = random_.choice(["urgent", "urgent", "meek"])
	return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "extra", "uid": name}, "spec": {
		"replicas": random_.randint(1, 110), "selector": {"matchLabels": {"app": name}},
		"template": {"metadata": {"labels": {"app": name}}, "spec": spec}}}
app = [{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 100000000},
	{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "meek"}, "value": -100000000}]
app += [deployment(i, f"app{i}", random_.choice(["Deployment", "ReplicaSet", "StatefulSet"])) for i in range(random_.randint(1, 3))]
json.dump({"apiVersion": "v1", "kind": "List", "items": cluster}, open("cluster.json", "w"))
json.dump({"apiVersion": "v1", "kind": "List", "items": app}, open("app.json", "w"))
# The application is on the cluster already, some of its pods with other requests.
old = []
nodes = [o["metadata"]["name"] for o in cluster if o["kind"] == "Node"]
for workload in app[2:]:
	name, kind = workload["metadata"]["name"], workload["kind"]
	for i in range(random_.randint(0, workload["spec"]["replicas"])):
		spec = json.loads(json.dumps(workload["spec"]["template"]["spec"]))
		if random_.random() < 0.5:
			spec["containers"][0]["resources"]["requests"]["cpu"] = "10m"
		spec["nodeName"] = random_.choice(nodes)
		value = {"urgent": 100000000, "meek": -100000000, "": 0}[spec.get("priorityClassName", "")]
		spec["priority"] = value
		owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}
		labels = {"app": name}
		if kind == "Deployment":
			owner.update(kind="ReplicaSet", name=name + "-abc", uid=name + "-abc")
			labels["pod-template-hash"] = "abc"
		old.append({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{i}" if kind == "StatefulSet" else f"{name}-abc-{i}",
			"namespace": "extra", "labels": labels, "ownerReferences": [owner]}, "spec": spec})
json.dump({"apiVersion": "v1", "kind": "List", "items": cluster + old}, open("before.json", "w"))
PY
cat >compare.py <<'PY'
import json, sys
report, last, evicted = json.load(open("report.json")), {}, set()
for line in open("decisions.jsonl"):
	decision = json.loads(line)
	evicted |= set(decision.get("evicted", []))
	if decision.get("delete"):
		last[decision["pod"]] = None
	else:
		last[decision["pod"]] = decision["node"]
mine = {row["pod"]: row["node"] or None for row in report["pods"]}
theirs = {pod: node for pod, node in last.items() if pod.startswith("extra/app")}
if len(sys.argv) == 1:
	assert mine == theirs, [(p, mine.get(p), theirs.get(p)) for p in set(mine) | set(theirs) if mine.get(p) != theirs.get(p)][:5]
	assert {row["victim"] for row in report["victims"]} == evicted, evicted
for row in report["check"]:
	assert row["wanted"] == row["running"] + row["placed"] + row["unplaced"], row
	pods = [pod for pod in report["pods"] if pod["workload"] == row["workload"]]
	assert len(pods) == row["wanted"] and sum(1 for pod in pods if pod["node"]) == row["running"] + row["placed"], row
	assert (row["unplaced"] > 0) == (row["verdict"] == "does not fit"), row
	refused = [r for r in report["refusals"] if r["workload"] == row["workload"]]
	assert not refused or sum(r["nodes"] for r in refused) == report["nodes"], refused
assert report["passes"] == all(row["unplaced"] == 0 for row in report["check"])
print(int(report["passes"]), len(evicted), sum(r["unplaced"] for r in report["check"]), sum(r["replaced"] for r in report["check"]))
PY
first=${BT_SEED:-1} fits=0 preempts=0 refuses=0 replaced=0
for seed in $(seq "$first" $((first + ${BT_SEEDS:-9} - 1))); do
	"$berth" generate --nodes 20 --pods 300 --bound 1 --load 0.95 --profile basic,spread,preemption --seed "$seed" >all.json
	python3 make.py "$seed" || fail "seed $seed: no input"
	"$berth" check -q cluster.json -f app.json --seed "$seed" -o json >report.json 2>err
	status=$?
	"$berth" simulate -q cluster.json app.json --seed "$seed" --decisions decisions.jsonl >/dev/null 2>err2 || fail "seed $seed: simulate: $(cat err2)"
	counts=$(python3 compare.py 2>why) || fail "BT_SEED=$seed: check and simulate differ: $(tail -1 why)"
	set -- $counts
	[ $status = $((1 - ${1:-1})) ] || fail "BT_SEED=$seed: status $status: $(cat err)"
	[ "${1:-0}" = 1 ] && fits=$((fits + 1)) || refuses=$((refuses + 1))
	[ "${2:-0}" -gt 0 ] && preempts=$((preempts + 1))
	# After a rollout the result equals that of a new application on a cluster with only the pods that remain.
	"$berth" check -q before.json -f app.json --seed "$seed" -o json >report.json 2>err
	[ $? -le 1 ] || fail "BT_SEED=$seed: rollout: $(cat err)"
	set -- $(python3 compare.py rollout 2>why) || fail "BT_SEED=$seed: rollout: $(tail -1 why)"
	python3 - <<'PY' 2>why || fail "BT_SEED=$seed: rollout: $(tail -1 why)"
import json
report, before = json.load(open("report.json")), json.load(open("before.json"))["items"]
olds = {}
for pod in before:
	if pod["kind"] == "Pod" and pod["metadata"]["namespace"] == "extra":
		name = pod["metadata"]["labels"]["app"]
		requests = pod["spec"]["containers"][0]["resources"]["requests"]
		olds.setdefault(name, []).append(requests["cpu"] == "10m")
for row in report["check"]:
	old = olds.get(row["workload"].split("/")[1], [])
	assert row["replaced"] == sum(old), (row, old)
	assert row["running"] <= len(old) - sum(old), (row, old)
	assert row["running"] == len(old) - sum(old) or any(p["result"] == "preempted" for p in report["pods"]), (row, old)
PY
	[ "${4:-0}" -gt 0 ] && replaced=$((replaced + 1))
done
echo "seeds $first and on: fits $fits, refuses $refuses, preempts $preempts, replaced $replaced" >&2
[ $fits -gt 0 ] && [ $refuses -gt 0 ] && [ $preempts -gt 0 ] && [ $replaced -gt 0 ] || [ -n "${BT_SEED:-}" ] ||
	fail "the clusters are too much alike: fits $fits, refuses $refuses, preempts $preempts, replaced $replaced"

# Small cases.
node() {
	echo "{apiVersion: v1, kind: Node, metadata: {name: $1, labels: {kubernetes.io/hostname: $1}}, status: {allocatable: {cpu: \"$2\", memory: 8Gi, pods: \"10\"}}}"
	echo ---
}
# app REPLICAS CPU [MORE [NAME]]: a Deployment.
app() {
	cat <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${4:-web}}
spec:
  ${1:+replicas: $1}
  selector: {matchLabels: {app: ${4:-web}}}
  template:
    metadata: {labels: {app: ${4:-web}}}
    spec: {${3:+$3, }containers: [{name: c, image: i, resources: {requests: {cpu: $2}}}]}
YAML
}
# pod NAME NODE CPU REPLICASET PRIORITY: on a node.
pod() {
	cat <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: default, labels: {app: web, pod-template-hash: abc}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: $4, uid: u, controller: true}]}
spec: {nodeName: $2, priority: $5, containers: [{name: c, image: i, resources: {requests: {cpu: $3}}}]}
YAML
}
{ node a 2; node b 2; } >nodes.yaml
app 3 1 >web.yaml
# row ARGUMENT...: the rows of berth check with these arguments.
row() {
	"$berth" check -q "$@" -o csv 2>err | sed -n 's/^check,//p'
}
row_is() {
	local want=$1 got
	shift
	got=$(row "$@")
	[ "$got" = "$want" ] || fail "check $*: $got, not $want: $(cat err)"
}
row_is "Deployment default/web,web.yaml,1,3,0,3,0,0,0,fits,true," nodes.yaml -f web.yaml
app 5 1 >five.yaml
row_is "Deployment default/web,five.yaml,1,5,0,4,1,0,0,does not fit,false,1 of 5 pods have no place: 2 of 2 nodes: Insufficient cpu (the nearest lacks 1 cpu)" nodes.yaml -f five.yaml
expect 1 "1 of 5 pods have no place" "$berth" check -q nodes.yaml -f five.yaml
expect 0 "fits" "$berth" check -q nodes.yaml -f web.yaml
# Existing replicas count, surplus ones are deleted; a changed template replaces all; without replicas their number is kept.
{ cat nodes.yaml; pod web-abc-1 a 1 web-abc 0; pod web-abc-2 a 1 web-abc 0; } >running.yaml
row_is "Deployment default/web,web.yaml,1,3,2,1,0,0,0,fits,true," running.yaml -f web.yaml
app 1 1 >one.yaml
row_is "Deployment default/web,one.yaml,1,1,1,0,0,1,0,fits,true," running.yaml -f one.yaml
app 2 1500m >larger.yaml
row_is "Deployment default/web,larger.yaml,1,2,0,2,0,2,0,fits,true," running.yaml -f larger.yaml
app "" 1 >scaled.yaml
row_is "Deployment default/web,scaled.yaml,1,2,2,0,0,0,0,fits,true," running.yaml -f scaled.yaml
row_is "Deployment default/web,scaled.yaml,1,1,0,1,0,0,0,fits,true," nodes.yaml -f scaled.yaml
app 2 1 "" other >other.yaml
row_is "Deployment default/other,other.yaml,1,2,0,2,0,0,0,fits,true," running.yaml -f other.yaml
# Only the application's own pods count.
sed 's/name: web/name: waits/; s/app: web/app: waits/g' five.yaml | sed 's/cpu: 1/cpu: 64/' >waits.yaml
expect 0 "fits" "$berth" check -q nodes.yaml waits.yaml -f web.yaml
# Pending pods come first, unless --ignore-pending.
sed 's/name: web/name: first/; s/app: web/app: first/g; s/replicas: 5/replicas: 4/' five.yaml >first.yaml
expect 1 "3 of 3 pods have no place" "$berth" check -q nodes.yaml first.yaml -f web.yaml
expect 0 "fits" "$berth" check -q nodes.yaml first.yaml -f web.yaml --ignore-pending
# Preemption: by name, with the budget that it violates.
pod low a 2 batch-1 -10 | sed 's/app: web/app: low/' >low.yaml
cat >budget.yaml <<'YAML'
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: keep, namespace: default}
spec: {minAvailable: 1, selector: {matchLabels: {app: low}}}
status: {disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1}
YAML
expect 0 "fits by preemption" "$berth" check -q nodes.yaml low.yaml -f web.yaml
expect 0 "default/keep" "$berth" check -q nodes.yaml low.yaml budget.yaml -f web.yaml
expect 1 "fits by preemption" "$berth" check -q nodes.yaml low.yaml -f web.yaml --no-preemption
expect 0 "fits" "$berth" check -q nodes.yaml -f web.yaml --no-preemption
# Within the application, too: the urgent pods leave no room for the others.
{
	printf 'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: urgent}\nvalue: 1000\n---\n'
	app 2 1500m "priorityClassName: urgent" urgent
	echo ---
	app 2 1
} >both.yaml
expect 1 "2 of 2 pods have no place" "$berth" check -q nodes.yaml -f both.yaml
# A workload's pods may be preempted by another workload's.
sed 's/1500m/2/' both.yaml >full.yaml
expect 1 "2 of 2 pods have no place: preempted by default/urgent-" "$berth" check -q running.yaml -f full.yaml
# A directory, several files, standard input; ignored kinds.
mkdir app
cp web.yaml app/web.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\n' >app/config.yaml
expect 0 "Deployment default/web" "$berth" check -q nodes.yaml -f app
expect 0 "Deployment default/other" "$berth" check -q nodes.yaml -f one.yaml -f other.yaml
expect 0 "Deployment default/web" bash -c "cat one.yaml | '$berth' check -q nodes.yaml -f -"
expect 0 "Deployment default/web" bash -c "cat nodes.yaml | '$berth' check -q - -f one.yaml"

# Errors, each alone.
expect 2 "no cluster" "$berth" check -f web.yaml
expect 2 "no application" "$berth" check nodes.yaml
expect 2 "only once" "$berth" check - -f -
expect 3 "no pod and no workload" "$berth" check -q nodes.yaml -f app/config.yaml
expect 3 "cannot open" "$berth" check -q nodes.yaml -f nowhere.yaml
expect 3 "cannot open" "$berth" check -q nowhere.yaml -f web.yaml
expect 3 "cannot open" "$berth" check -q nodes.yaml -f web.yaml -f nowhere.yaml
: >empty.yaml
expect 3 "holds no objects" "$berth" check -q nodes.yaml -f web.yaml -f empty.yaml
expect 3 "holds no nodes" "$berth" check -q low.yaml -f web.yaml
# wrong TEXT SED: the manifest changed by SED is rejected with TEXT.
wrong() {
	sed "$2" web.yaml >wrong.yaml
	cmp -s web.yaml wrong.yaml && fail "$2 changes nothing"
	expect 3 "$1" "$berth" check -q nodes.yaml -f wrong.yaml
}
wrong "this kind is unknown" 's/kind: Deployment/kind: Rollout/; s/apps\/v1/argoproj.io\/v1alpha1/'
grep -q "wrong.yaml:1: Rollout web" err || fail "no place of the unknown kind: $(cat err)"
wrong "another version of this kind" 's/apps\/v1/apps\/v1beta1/'
wrong "names no profile" 's/spec: {containers/spec: {schedulerName: mine, containers/'
wrong "names a node" 's/spec: {containers/spec: {nodeName: a, containers/'
wrong "there is no such PriorityClass" 's/spec: {containers/spec: {priorityClassName: absent, containers/'
wrong "kubectl get persistentvolumeclaims -A -o json" 's/spec: {containers/spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: absent}}], containers/'
wrong "kubectl get resourceclaims -A -o json" 's/spec: {containers/spec: {resourceClaims: [{name: r, resourceClaimName: absent}], containers/'
wrong "below zero" 's/cpu: 1/cpu: -1/'
wrong "wrong.yaml:9" 's/cpu: 1/cpu: much/'
grep -q "requests" err || fail "no field of the invalid quantity: $(cat err)"
wrong "has no name" 's/metadata: {name: web}/metadata: {}/'
wrong "wrong.yaml:" 's/replicas: 3/replicas: 3 }/'
{ cat web.yaml; echo ---; cat web.yaml; } >twice.yaml
expect 3 "has this object twice" "$berth" check -q nodes.yaml -f twice.yaml
{ cat web.yaml; echo ---; cat nodes.yaml; } >with_node.yaml
expect 3 "an application has no nodes" "$berth" check -q nodes.yaml -f with_node.yaml
printf '{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: a, containers: [{name: c, resources: {requests: {cpu: much}}}]}}' >lost.yaml
expect 3 "may be lost" "$berth" check -q nodes.yaml lost.yaml -f web.yaml
expect 3 "" "$berth" check -q nodes.yaml -f web.yaml --config nowhere.yaml
sed 's/kind: Deployment/kind: Gadget/; s/apps\/v1/example.com\/v1/' web.yaml >gadget.yaml
expect 0 "fits" "$berth" check -q nodes.yaml -f web.yaml -f gadget.yaml --ignore-kind Gadget
app 1 1 "schedulingGates: [{name: wait}]" >gated.yaml
expect 1 "1 of 1 pods have no place" "$berth" check -q nodes.yaml -f gated.yaml
sed 's/kind: Deployment/kind: DaemonSet/; s/spec: {containers/spec: {nodeSelector: {disk: ssd}, containers/' web.yaml >daemon.yaml
expect 1 "no node of the cluster is for its pods" "$berth" check -q nodes.yaml -f daemon.yaml

# SARIF and JUnit.
sed 's/name: web/name: "web \& <co>"/' five.yaml >"a b.yaml"
cat web.yaml >>five.yaml
"$berth" check -q nodes.yaml low.yaml budget.yaml -f "a b.yaml" -f other.yaml -o sarif >check.sarif 2>err
[ $? = 1 ] || fail "sarif: $(cat err)"
"$berth" check -q nodes.yaml low.yaml budget.yaml -f "a b.yaml" -f other.yaml -o junit >check.xml 2>err
[ $? = 1 ] || fail "junit: $(cat err)"
"$berth" check -q nodes.yaml -f one.yaml -o sarif >green.sarif || fail "green sarif"
"$berth" check -q nodes.yaml -f one.yaml -o junit >green.xml || fail "green junit"
python3 - <<'PY' 2>why || fail "formats: $(tail -1 why)"
import json, xml.etree.ElementTree as tree
sarif = json.load(open("check.sarif"))
assert sarif["version"] == "2.1.0" and sarif["$schema"].endswith("sarif-2.1.0.json") and len(sarif["runs"]) == 1
run = sarif["runs"][0]
assert run["tool"]["driver"]["name"] == "berth"
rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
assert all(rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"])
assert run["results"] and len(run["results"]) <= 2
for result in run["results"]:
	assert result["ruleId"] in rules and result["level"] in ("error", "warning") and result["message"]["text"]
	place = result["locations"][0]["physicalLocation"]
	assert place["region"]["startLine"] == 1, place
first = run["results"][0]
assert first["level"] == "error" and first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.yaml", first
assert "web & <co>" in first["message"]["text"], first
assert json.load(open("green.sarif"))["runs"][0]["results"] == []
suites = tree.parse("check.xml").getroot()
assert suites.tag == "testsuites" and [suite.tag for suite in suites] == ["testsuite"]
suite = suites[0]
cases = suite.findall("testcase")
assert len(cases) == int(suite.get("tests")) == int(suites.get("tests")) == 2
failed = [case for case in cases if case.find("failure") is not None]
assert len(failed) == int(suite.get("failures")) == int(suites.get("failures")) >= 1
assert cases[0].get("classname") == "Deployment" and cases[0].get("name") == "default/web & <co>" and cases[0].get("file") == "a b.yaml"
assert "have no place" in cases[0].find("failure").get("message")
green = tree.parse("green.xml").getroot()
assert green.get("tests") == "1" and green.get("failures") == "0" and len(green[0][0]) == 0
PY
expect 0 "schema: berth.check/v1" "$berth" check -q nodes.yaml -f one.yaml -o yaml
expect 2 "--output is one of table|json|yaml|csv|sarif|junit" "$berth" check -q nodes.yaml -f one.yaml -o xml
finish
