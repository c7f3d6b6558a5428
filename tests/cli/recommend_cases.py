#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random small clusters for berth recommend: berth simulate places every pod on the recommended nodes; and of pods that
request only cpu and memory an exact solver (CBC) knows the minimum of a perfect packing, which the price never beats and the
bound never passes. Where the price is above it, every cheaper choice of nodes is simulated: the scheduler does not pack perfectly.
usage: recommend_cases.py BERTH SEED COUNT"""
import json
import random
import subprocess
import sys

berth, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print(f"seed {seed}")


def node(name, cpu, memory, pods, **meta):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, **meta},
            "status": {"allocatable": {"cpu": f"{cpu}m", "memory": f"{memory}Mi", "pods": str(pods)}}}


def pod(name, cpu, memory):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}}}]}}


def write(path, items):
    with open(path, "w") as out:
        json.dump({"apiVersion": "v1", "kind": "List", "items": items}, out)


def run(*words):
    done = subprocess.run([berth, *words, "-q", "-o", "json"], capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit(f"berth {' '.join(words)}: {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def exact(types, pods):
    """The lowest price of nodes that hold the pods: bins that are used or not, each pod in one of them."""
    bins = [(t, k) for t in range(len(types)) for k in range(len(pods))]
    x = lambda i, b: f"x_{i}_{b[0]}_{b[1]}"
    y = lambda b: f"y_{b[0]}_{b[1]}"
    lines = ["Minimize", " price: " + " + ".join(f"{types[b[0]][3]} {y(b)}" for b in bins), "Subject To"]
    lines += [" p%d: %s = 1" % (i, " + ".join(x(i, b) for b in bins)) for i in range(len(pods))]
    for b in bins:
        for r in range(3):
            need = " + ".join(f"{(pods[i] + (1,))[r]} {x(i, b)}" for i in range(len(pods)))
            lines.append(f" r{b[0]}_{b[1]}_{r}: {need} - {types[b[0]][r]} {y(b)} <= 0")
    lines += [f" s{t}_{k}: y_{t}_{k} - y_{t}_{k + 1} >= 0" for t in range(len(types)) for k in range(len(pods) - 1)]
    lines += ["Binary", " " + " ".join([y(b) for b in bins] + [x(i, b) for i in range(len(pods)) for b in bins]), "End"]
    with open("exact.lp", "w") as out:
        out.write("\n".join(lines) + "\n")
    said = subprocess.run(["cbc", "exact.lp", "sec", "30", "solve", "quit"], capture_output=True, text=True).stdout
    if "Optimal solution found" not in said:
        sys.exit(f"cbc: {said[-2000:]}")
    return next(float(line.split()[-1]) for line in said.splitlines() if line.startswith("Objective value:"))


def placed(cluster, types, choice):
    """Whether berth simulate places every pod when these nodes join the cluster."""
    added = [node(f"new-{t}-{k}", *types[t][:3]) for t, n in enumerate(choice) for k in range(n)]
    write("case-after.json", cluster + added)
    return run("simulate", "case-after.json")["pods"]["not_placed"] == 0


def price_of(types, choice):
    return sum(types[t][3] * n for t, n in enumerate(choice))


def choices(types, least, most):
    """All choices of nodes with a price from least on and below most."""
    found = [()]
    for t in range(len(types)):
        found = [c + (n,) for c in found for n in range(int(most / types[t][3]) + 1)]
    return [c for c in found if least - 1e-6 <= price_of(types, c) < most - 1e-6]


rng = random.Random(seed)
best = cheaper = 0
for case in range(count):
    types = []
    for _ in range(rng.randint(2, 3)):
        cpu = rng.choice([1000, 2000, 4000, 8000])
        memory = cpu // 1000 * rng.choice([1024, 2048, 4096])
        types.append((cpu, memory, rng.choice([3, 8, 20]), round(cpu / 1000 * rng.uniform(0.8, 1.2) + memory / 8192, 2)))
    most = max(types)
    pods = [(rng.randint(1, most[0] // 100) * 100, rng.randint(1, 8) * 100) for _ in range(rng.randint(1, 7))]
    pods = [p for p in pods if any(p[0] <= t[0] and p[1] <= t[1] for t in types)] or [(100, 100)]
    # A full node: everything pending has to go to new ones.
    cluster = [node("full", 100, 100, 1)] + [pod(f"p{i}", *p) for i, p in enumerate(pods)]
    cluster.append({**pod("there", 100, 100), "spec": {"nodeName": "full", "containers": [{"name": "c", "image": "i"}]}})
    write("case.json", cluster)
    write("case-types.json", [node(f"t{i}", *t[:3], annotations={"berth.dev/price": str(t[3])}) for i, t in enumerate(types)])
    answer = run("recommend", "case.json", "--node-types", "case-types.json")
    rows = {row["type"]: row["nodes"] for row in answer["recommend"]}
    bought = tuple(rows.get(f"t{t}", 0) for t in range(len(types)))
    least = exact(types, pods)
    what = f"case {case}: types {types}, pods {pods}: {bought} for {answer['price']}, bound {answer['bound']}, minimum {least}"
    if answer["unplaced"] or not placed(cluster, types, bought):
        sys.exit(f"{what}: not all pods are placed")
    if abs(answer["price"] - price_of(types, bought)) > 1e-6:
        sys.exit(f"{what}: the price is not that of the nodes")
    if answer["price"] < least - 1e-6 or answer["bound"] > least + 1e-6:
        sys.exit(f"{what}: below the minimum, or the bound is above it")
    best += answer["price"] < least + 1e-6
    if any(placed(cluster, types, choice) for choice in choices(types, least, answer["price"])):
        cheaper += 1
        print(f"{what}: there is a cheaper one")
print(f"{count} clusters; {best} at the minimum of a perfect packing, {cheaper} above that of the scheduler's")
if best < count / 2 or cheaper > count / 10:
    sys.exit("too few are at the minimum")
