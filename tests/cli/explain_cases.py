# SPDX-License-Identifier: Apache-2.0
"""Random small clusters with one pending pod: each fix of berth explain places the pod, no smaller one of its kind does, and no
single change of the pod that would help is missing. Usage: explain_cases.py BERTH SEED CASES [SCENARIOS]; in the file
SCENARIOS every cluster in which the pod was tried is kept, for the oracle; its id ends with the node that berth chose, if any."""
import collections
import copy
import json
import os
import random
import subprocess
import sys

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
MEBI = 1 << 20
POD = "default/pending"


def node_of(rng, ix):
    labels = {"kubernetes.io/hostname": "n%d" % ix, "disk": rng.choice(["ssd", "hdd"])}
    if rng.random() < 0.85:
        labels["topology.kubernetes.io/zone"] = rng.choice(["z1", "z2", "z3"])
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n%d" % ix, "labels": labels}, "spec": {}, "status": {
        "allocatable": {"cpu": str(rng.randint(1, 8)), "memory": "%dGi" % rng.randint(1, 16), "pods": str(rng.randint(2, 12))}}}
    if rng.random() < 0.3:
        node["status"]["allocatable"]["example.com/gpu"] = str(rng.randint(1, 4))
    taints = [{"key": key, "value": value, "effect": effect} for key, value, effect in
              [("dedicated", "batch", "NoSchedule"), ("dedicated", "gpu", "NoExecute"), ("node.kubernetes.io/not-ready", "", "NoSchedule"),
               ("soft", "x", "PreferNoSchedule")] if rng.random() < 0.12]
    if rng.random() < 0.12:
        node["spec"]["unschedulable"] = True
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    if taints:
        node["spec"]["taints"] = taints
    return node


def selector(rng):
    return {"matchLabels": {"app": rng.choice("ab")}}


def term(rng):
    return {"labelSelector": selector(rng), "topologyKey": rng.choice(["kubernetes.io/hostname", "topology.kubernetes.io/zone"])}


def container(rng, cpu, memory):
    requests = {"cpu": "%dm" % rng.randrange(100, cpu, 50), "memory": "%dMi" % rng.randrange(50, memory, 50)}
    return {"name": "main", "image": "i", "resources": {"requests": requests}}


def bound_pod(rng, ix, node):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p%d" % ix, "namespace": "default", "uid": "u%d" % ix,
           "labels": {"app": rng.choice("ab")}, "creationTimestamp": "2026-01-01T00:00:00Z"},
           "spec": {"nodeName": node, "priority": rng.choice([-5, 0, 5]), "containers": [container(rng, 1500, 3000)]}, "status": {"phase": "Running"}}
    if rng.random() < 0.35:
        pod["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    if rng.random() < 0.1:
        pod["spec"]["affinity"] = {"podAntiAffinity": {REQUIRED: [term(rng)]}}
    if rng.random() < 0.25:
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:10:00Z"
        pod["metadata"]["deletionGracePeriodSeconds"] = 30
    return pod


def pending_pod(rng):
    spec = {"priority": rng.choice([0, 1, 10]), "preemptionPolicy": "Never", "containers": [container(rng, *rng.choice([(8000, 12000), (1000, 1000), (1000, 1000)]))]}
    if rng.random() < 0.15:
        spec["containers"].append(dict(container(rng, 2000, 2000), name="side"))
    if rng.random() < 0.1:
        spec["initContainers"] = [dict(container(rng, 6000, 6000), name="init")]
    if rng.random() < 0.1:
        gpus = str(rng.randint(1, 4))
        resources = spec["containers"][0]["resources"]
        resources["requests"]["example.com/gpu"] = gpus
        resources["limits"] = {"example.com/gpu": gpus}
    if rng.random() < 0.2:
        spec["nodeSelector"] = {"disk": rng.choice(["ssd", "hdd"])}
    if rng.random() < 0.15:
        spec.setdefault("nodeSelector", {})["topology.kubernetes.io/zone"] = rng.choice(["z1", "z2", "z3"])
    affinity = {}
    if rng.random() < 0.25:
        expressions = [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": rng.sample(["z1", "z2", "z3"], rng.randint(1, 2))},
                       {"key": "disk", "operator": "NotIn", "values": ["hdd"]}]
        terms = [{"matchExpressions": rng.sample(expressions, rng.randint(1, 2))} for _ in range(rng.randint(1, 2))]
        affinity["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": terms}}
    for kind in ("podAffinity", "podAntiAffinity"):
        if rng.random() < 0.2:
            affinity[kind] = {REQUIRED: [term(rng) for _ in range(rng.randint(1, 2))]}
    if affinity:
        spec["affinity"] = affinity
    if rng.random() < 0.4:
        spec["topologySpreadConstraints"] = [
            {"maxSkew": rng.randint(1, 2), "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector(rng)}]
    if rng.random() < 0.4:
        spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81}]
    if rng.random() < 0.15:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}]
    if rng.random() < 0.1:
        spec["schedulingGates"] = [{"name": "example.com/gate"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pending", "namespace": "default", "uid": "pending",
            "labels": {"app": rng.choice("ab")}, "creationTimestamp": "2026-01-01T00:09:00Z"}, "spec": spec}


def cluster_of(rng):
    nodes = [node_of(rng, i) for i in range(rng.randint(2, 7))]
    pods = [bound_pod(rng, i, rng.choice(nodes)["metadata"]["name"]) for i in range(rng.randint(0, 4 * len(nodes)))]
    # Two pods of a node never have the same host port. kube-scheduler would forget the port with the first that leaves.
    taken = set()
    for pod in pods:
        if pod["spec"]["nodeName"] in taken:
            pod["spec"]["containers"][0].pop("ports", None)
        elif "ports" in pod["spec"]["containers"][0]:
            taken.add(pod["spec"]["nodeName"])
    items = nodes + pods + [pending_pod(rng)]
    if rng.random() < 0.4:
        items.append({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"},
                      "spec": {"minAvailable": 1, "selector": selector(rng)}, "status": {"disruptionsAllowed": rng.randint(0, 1)}})
    return items


def of_pod(items):
    return [thing for thing in items if thing["kind"] == "Pod" and thing["metadata"]["name"] == "pending"][0]


def write(items):
    with open("cluster.json", "w") as out:
        json.dump({"apiVersion": "v1", "kind": "List", "items": items}, out)


class Cases:
    def __init__(self, berth, scenarios):
        self.berth, self.scenarios, self.runs, self.kinds = berth, scenarios, 0, collections.Counter()

    def places(self, items):
        """The node to which the pod's first attempt leads; None: it is refused."""
        node = self.simulate(items)
        if self.scenarios:
            with open(self.scenarios, "a") as out:
                out.write(json.dumps({"id": "%d:%s" % (self.runs, node or ""), "objects": items, "pending": [POD]}) + "\n")
        return node

    def simulate(self, items):
        self.runs += 1
        write(items)
        subprocess.run([self.berth, "simulate", "-q", "cluster.json", "--decisions", "decisions.jsonl"], check=True, stdout=subprocess.DEVNULL)
        with open("decisions.jsonl") as lines:
            for line in lines:
                decision = json.loads(line)
                if decision["pod"] == POD:
                    return decision.get("node")
        return None

    def explain(self, items):
        write(items)
        gated = "schedulingGates" in of_pod(items)["spec"]
        # Without its first attempt, the pod would be explained when the terminating pods have gone.
        done = subprocess.run([self.berth, "explain", "-q", "cluster.json", POD, "-o", "json"] + (["--ignore-pending"] if gated else ["--attempt", "1"]),
                              stdout=subprocess.PIPE, check=False)
        assert done.returncode in (0, 1), done.returncode
        return json.loads(done.stdout)


def operate(document, operation):
    path = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
    at = document
    for part in path[:-1]:
        at = at[int(part)] if isinstance(at, list) else at[part]
    key = int(path[-1]) if isinstance(at, list) else path[-1]
    assert operation["op"] == "add" or (key in at if isinstance(at, dict) else key < len(at)), operation
    if operation["op"] == "remove":
        del at[key]
    else:
        at[key] = operation["value"]


def patched(items, operations):
    items = copy.deepcopy(items)
    for operation in operations:
        operate(of_pod(items), operation)
    return items


def without_pods(items, names):
    return [thing for thing in items if thing["kind"] != "Pod" or "default/" + thing["metadata"]["name"] not in names]


def uncordoned(items, name):
    items = copy.deepcopy(items)
    for thing in items:
        if thing["kind"] == "Node" and thing["metadata"]["name"] == name:
            thing["spec"]["unschedulable"] = False
            thing["spec"]["taints"] = [t for t in thing["spec"]["taints"] if t["key"] != "node.kubernetes.io/unschedulable"]
    return items


def with_node_like(items, name):
    node = copy.deepcopy([thing for thing in items if thing["kind"] == "Node" and thing["metadata"]["name"] == name][0])
    node["metadata"]["name"] = node["metadata"]["labels"]["kubernetes.io/hostname"] = "new"
    node["spec"] = {"taints": [t for t in node["spec"].get("taints", []) if not t["key"].startswith("node.kubernetes.io/")]}
    return items + [node]


def objects_of(fix):
    return [name for name in fix["objects"].split(", ") if name]


def fixed(items, fix, operations=None, objects=None):
    """The cluster with the fix, or with other operations of the patch or objects."""
    operations = json.loads(fix["patch"] or "[]") if operations is None else operations
    objects = objects_of(fix) if objects is None else objects
    items = patched(items, operations)
    kinds = fix["kind"].split("+")
    if "uncordon" in kinds and objects:
        items = uncordoned(items, objects[0])
    if "add-node" in kinds and objects:
        items = with_node_like(items, objects[0])
    if any(kind in kinds for kind in ("wait", "evict", "evict-against-budget")):
        items = without_pods(items, objects)
    return items


def amount(text):
    """A quantity as it is written here, in thousandths or Mi."""
    for suffix, unit in (("m", 1), ("Mi", 1), ("Gi", 1024)):
        if text.endswith(suffix):
            return int(text.removesuffix(suffix)) * unit
    return int(text) * 1000


def raised(name, text):
    """A request that is one step larger."""
    if name == "cpu":
        return "%dm" % (amount(text) + 1)
    if name == "memory":
        return "%dMi" % (amount(text) + 1)
    return str(int(text) + 1)


def check_least(cases, items, fix):
    """No smaller change of the same kind places the pod."""
    operations, objects, kinds = json.loads(fix["patch"] or "[]"), objects_of(fix), fix["kind"].split("+")
    for i, operation in enumerate(operations):
        rest = operations[:i] + operations[i + 1:]
        if len(kinds) > 1 and not operation["path"].endswith(("/requests", "/limits", "/schedulingGates")):
            assert not cases.places(fixed(items, fix, rest)), ("not needed", operation)
        more = copy.deepcopy(operations)
        if operation["path"].endswith("/requests"):
            container = operation["path"].split("/")
            old = of_pod(items)["spec"][container[2]][int(container[3])]["resources"]["requests"]
            for name, value in operation["value"].items():
                if amount(value) != amount(old[name]):
                    larger = copy.deepcopy(more)
                    if len(kinds) > 1:
                        larger[i]["value"][name] = old[name]
                        assert not cases.places(fixed(items, fix, larger)), ("not needed", name)
                    larger[i]["value"][name] = raised(name, value)
                    assert not cases.places(fixed(items, fix, larger)), ("a larger request fits", name, value)
        if operation["path"].endswith("/maxSkew"):
            more[i]["value"] -= 1
            assert not cases.places(fixed(items, fix, more)), "a smaller maxSkew is enough"
    if kinds[-1] in ("wait", "evict"):
        for i in range(len(objects)):
            assert not cases.places(fixed(items, fix, None, objects[:i] + objects[i + 1:])), "not every pod has to leave"


def zeroed(items, place, ix, name):
    items = copy.deepcopy(items)
    resources = of_pod(items)["spec"][place][ix]["resources"]
    for part in ("requests", "limits"):
        if name in resources.get(part, {}):
            resources[part][name] = "0"
    return items


def single_changes(items):
    """(kind, how many such changes place the pod): every change of one thing that the pod demands."""
    spec = of_pod(items)["spec"]
    for place in ("containers", "initContainers"):
        for i, holder in enumerate(spec.get(place, [])):
            for name in holder["resources"]["requests"]:
                yield "request", zeroed(items, place, i, name)
    for key in spec.get("nodeSelector", {}):
        yield "node-selector", patched(items, [{"op": "remove", "path": "/spec/nodeSelector/" + key.replace("/", "~1")}])
    for kind, name in (("podAffinity", "pod-affinity"), ("podAntiAffinity", "pod-anti-affinity")):
        for i in range(len(spec.get("affinity", {}).get(kind, {}).get(REQUIRED, []))):
            yield name, patched(items, [{"op": "remove", "path": "/spec/affinity/%s/%s/%d" % (kind, REQUIRED, i)}])
    for i in range(len(spec.get("topologySpreadConstraints", []))):
        yield "spread", patched(items, [{"op": "replace", "path": "/spec/topologySpreadConstraints/%d/whenUnsatisfiable" % i, "value": "ScheduleAnyway"}])
    if any("hostPort" in port for port in spec["containers"][0].get("ports", [])):
        yield "host-port", patched(items, [{"op": "remove", "path": "/spec/containers/0/ports/0/hostPort"}])
    taints = {json.dumps(taint, sort_keys=True) for thing in items if thing["kind"] == "Node" for taint in thing["spec"].get("taints", [])}
    for text in sorted(taints):
        taint = json.loads(text)
        if not taint["key"].startswith("node.kubernetes.io/") and taint["effect"] != "PreferNoSchedule":
            yield "toleration", patched(items, [{"op": "add", "path": "/spec/tolerations", "value": spec.get("tolerations", []) + [dict(taint, operator="Equal")]}])


def check_complete(cases, items, report):
    ungated = patched(items, [{"op": "remove", "path": "/spec/schedulingGates"}]) if "schedulingGates" in of_pod(items)["spec"] else items
    kinds = [kind for fix in report["fixes"] for kind in [fix["kind"].removeprefix("scheduling-gates+")] if "+" not in kind]
    if kinds == ["scheduling-gates"]:
        return
    helping = collections.Counter(kind for kind, changed in single_changes(ungated) if cases.places(changed))
    for kind in ("request", "node-selector", "pod-affinity", "pod-anti-affinity", "spread", "host-port", "toleration"):
        assert helping[kind] == kinds.count(kind), (kind, helping[kind], kinds)


def check_case(cases, items):
    report = cases.explain(items)
    if report["state"] == "placed":
        assert cases.places(items) and report["explain"][0]["mark"] == "chosen" and report["explain"][0]["node"] == report["node"]
        return
    assert not cases.places(items)
    assert sum(row["nodes"] for row in report["explain"]) == report["nodes"], "the verdicts do not sum to all nodes"
    for fix in report["fixes"]:
        assert cases.places(fixed(items, fix)), ("not placed", fix)
        check_least(cases, items, fix)
        cases.kinds[fix["kind"]] += 1
    check_complete(cases, items, report)


def main():
    seed, case_n = int(os.environ.get("BT_SEED", sys.argv[2])), int(sys.argv[3])
    cases = Cases(sys.argv[1], sys.argv[4] if len(sys.argv) > 4 else None)
    for i in range(case_n):
        items = cluster_of(random.Random("%d/%d" % (seed, i)))
        try:
            check_case(cases, items)
        except AssertionError as error:
            write(items)
            print("case %d, BT_SEED=%d: %s" % (i, seed, error.args))
            print(open("cluster.json").read())
            return 1
    print("BT_SEED=%d: %d clusters, %d runs, fixes: %s" % (seed, case_n, cases.runs, dict(cases.kinds)))
    wanted = {"request", "toleration", "node-selector", "spread", "pod-affinity", "pod-anti-affinity", "host-port", "uncordon", "evict", "add-node", "wait",
              "node-affinity", "node-affinity-expression", "evict-against-budget", "scheduling-gates"}
    missing = wanted - {part for kind in cases.kinds for part in kind.split("+")}
    if missing and "BT_SEED" not in os.environ:
        print("no fix of these kinds was checked: %s" % sorted(missing))
        return 1
    return 0


sys.exit(main())
