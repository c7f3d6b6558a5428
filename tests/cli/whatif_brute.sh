# SPDX-License-Identifier: Apache-2.0
# berth whatif by brute force: the changes of random questions are made to the objects, one after the other, and berth simulate places
# what waits after each; in the end as many pods wait. Pods of a pool are equal and pools are apart, so that the number does not depend on
# the order of equal pods or on ties. BT_SEED plays one seed again.
. "$(dirname "$0")/common.sh" "$@"

cat >brute.py <<'END'
import copy, json, os, random, subprocess, sys

berth, seed = sys.argv[1], int(os.environ.get("BT_SEED", "20260101"))
print("BT_SEED=%d" % seed)
rng = random.Random(seed)
POOLS = ["x", "y"]

def node(name, pool, cpu):
	return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "pool": pool}}, "spec": {},
		"status": {"allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "50"}}}

def spec(pool):
	return {"nodeSelector": {"pool": pool}, "preemptionPolicy": "Never", "priority": 0,
		"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}

stamp = 0
def pod(name, pool, owner=True):
	global stamp
	stamp += 1
	meta = {"name": name, "namespace": "d", "labels": {"app": pool}, "creationTimestamp": "2026-01-01T%02d:%02d:%02dZ" % (stamp // 3600 % 24, stamp // 60 % 60, stamp % 60)}
	if owner:
		meta["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-" + pool, "uid": "u" + pool, "controller": True}]
	return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec(pool)}

def replica_set(pool, n):
	return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web-" + pool, "namespace": "d", "uid": "u" + pool},
		"spec": {"replicas": n, "selector": {"matchLabels": {"app": pool}}, "template": {"metadata": {"labels": {"app": pool}}, "spec": spec(pool)}}}

def write(path, things):
	with open(path, "w") as out:
		for thing in things:
			out.write(json.dumps(thing) + "\n")

def run(*args, ok=(0, 1)):
	done = subprocess.run([berth, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	assert done.returncode in ok, (args, done.returncode, done.stderr)
	return done.stdout

class Cluster:
	def __init__(self):
		self.nodes = {}
		self.pods = {}
		for i in range(rng.randint(4, 9)):
			name = "n%d" % i
			self.nodes[name] = node(name, POOLS[i % 2], rng.randint(1, 5))
		for pool in POOLS:
			room = sum(int(n["status"]["allocatable"]["cpu"]) for n in self.nodes.values() if n["metadata"]["labels"]["pool"] == pool)
			for i in range(max(1, room + rng.randint(-4, 3))):
				self.put(pod("web-%s-%d" % (pool, i), pool, rng.random() < 0.9))
		self.made = 0

	def put(self, thing):
		self.pods[thing["metadata"]["name"]] = thing

	def of(self, pool):
		return [p for p in self.pods.values() if p["metadata"].get("ownerReferences") and p["metadata"]["labels"]["app"] == pool]

	def things(self):
		return [*self.nodes.values(), *(replica_set(pool, len(self.of(pool))) for pool in POOLS), *self.pods.values()]

	def settle(self):
		write("now.json", self.things())
		run("simulate", "-q", "now.json", "--decisions", "decisions.jsonl")
		for line in open("decisions.jsonl"):
			decision = json.loads(line)
			if decision.get("node"):
				self.pods[decision["pod"].split("/")[1]]["spec"]["nodeName"] = decision["node"]

	def waiting(self):
		return sum("nodeName" not in p["spec"] for p in self.pods.values())

	def leave(self, test, again):
		"""Pods that the test selects leave their nodes; again: also those without a controller come again."""
		for name, p in list(self.pods.items()):
			if "nodeName" in p["spec"] and test(p):
				if again or p["metadata"].get("ownerReferences"):
					del p["spec"]["nodeName"]
				else:
					del self.pods[name]

def on(name):
	return lambda p: p["spec"]["nodeName"] == name

# Each kind of change: makes it to the objects and returns the options, or None when the cluster has nothing to change.
def drain(c):
	name = rng.choice(sorted(c.nodes))
	c.nodes[name]["spec"]["unschedulable"] = True
	c.leave(on(name), False)
	return ["--drain", name]

def lose(c):
	name = rng.choice(sorted(c.nodes))
	if len(c.nodes) < 3:
		return None
	del c.nodes[name]
	c.leave(on(name), False)
	return ["--lose", name]

def lose_deleted(c):
	options = lose(c)
	return options and ["--delete", "node/" + options[1]]

def add(c):
	like = rng.choice(sorted(c.nodes))
	n = rng.randint(1, 3)
	i = made = 0
	while made < n:
		i += 1
		name = "%s-%d" % (like, i)
		if name not in c.nodes:
			new = copy.deepcopy(c.nodes[like])
			new["metadata"]["name"] = new["metadata"]["labels"]["kubernetes.io/hostname"] = name
			new["spec"].pop("unschedulable", None)
			c.nodes[name] = new
			made += 1
	return ["--add", "%s*%d" % (like, n)]

def scale(c):
	pool = rng.choice(POOLS)
	have = c.of(pool)
	n = rng.randint(0, len(have) + 5)
	if n > len(have):
		for _ in range(n - len(have)):
			c.made += 1
			c.put(pod("more-%d" % c.made, pool))
	else:
		beside = {}
		for p in have:
			beside[p["spec"].get("nodeName")] = beside.get(p["spec"].get("nodeName"), 0) + 1
		# Newest first, then by the adjacent number, then pending ones: sorts are stable.
		have.sort(key=lambda p: p["metadata"]["creationTimestamp"], reverse=True)
		have.sort(key=lambda p: -beside[p["spec"].get("nodeName")])
		have.sort(key=lambda p: "nodeName" in p["spec"])
		for p in have[:len(have) - n]:
			del c.pods[p["metadata"]["name"]]
	return ["--scale", rng.choice(["d/replicaset/web-%s=%d", "rs/d/web-%s=%d"]) % (pool, n)]

def delete_workload(c):
	pool = rng.choice(POOLS)
	for p in c.of(pool):
		del c.pods[p["metadata"]["name"]]
	return ["--delete", "replicasets/d/web-" + pool]

def delete_pod(c):
	named = [name for name in sorted(c.pods) if not name.startswith("more-")]
	if not named:
		return None
	name = rng.choice(named)
	if c.pods[name]["metadata"].get("ownerReferences"):
		if "nodeName" not in c.pods[name]["spec"]:
			return None
		del c.pods[name]["spec"]["nodeName"]
	else:
		del c.pods[name]
	return ["--delete", "pod/d/" + name]

def apply(c):
	things = []
	if rng.random() < 0.7:
		c.made += 1
		new = node("new%d" % c.made, rng.choice(POOLS), rng.randint(1, 4))
		c.nodes[new["metadata"]["name"]] = new
		things.append(copy.deepcopy(new))
	for _ in range(rng.randint(0 if things else 1, 4)):
		c.made += 1
		new = pod("applied-%d" % c.made, rng.choice(POOLS), False)
		things.append(copy.deepcopy(new))
		c.put(new)
	path = "apply%d.json" % c.made
	write(path, things)
	return ["--apply", path]

def some_nodes(c):
	"""A selector, and its nodes."""
	if rng.random() < 0.4:
		pool = rng.choice(POOLS)
		return "pool=" + pool, [n for n in c.nodes.values() if n["metadata"]["labels"]["pool"] == pool]
	name = rng.choice(sorted(c.nodes))
	return name, [c.nodes[name]]

def set_label(c):
	selector, nodes = some_nodes(c)
	pool = rng.choice(POOLS)
	for n in nodes:
		n["metadata"]["labels"]["pool"] = pool
	return nodes and ["--set", "%s:label/pool=%s" % (selector, pool)] or None

def set_taint(c):
	selector, nodes = some_nodes(c)
	effect = rng.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])
	for n in nodes:
		n["spec"]["taints"] = [{"key": "k", "value": "v", "effect": effect}]
		if effect == "NoExecute":
			c.leave(on(n["metadata"]["name"]), False)
	return nodes and ["--set", "%s:taint/k=v:%s" % (selector, effect)] or None

def set_allocatable(c):
	selector, nodes = some_nodes(c)
	cpu = rng.randint(0, 8)
	for n in nodes:
		n["status"]["allocatable"]["cpu"] = str(cpu)
	return nodes and ["--set", "%s:allocatable/cpu=%d" % (selector, cpu)] or None

def set_cordon(c):
	selector, nodes = some_nodes(c)
	for n in nodes:
		n["spec"]["unschedulable"] = True
	return nodes and ["--set", selector + ":unschedulable=true"] or None

first = [set_label, set_taint, set_allocatable, set_cordon]
any_time = [drain, lose, lose_deleted, add, scale, delete_workload, delete_pod, apply]
# Every kind alone, then several together; those that depend on pods' nodes come first.
plans = [[kind] for kind in first + any_time for _ in range(2)]
plans += [[rng.choice(any_time) for _ in range(rng.randint(2, 3))] for _ in range(8)]
plans += [[rng.choice([set_taint, set_cordon]), rng.choice([add, apply])] for _ in range(2)]
asked = told = 0
for plan in plans:
	c = Cluster()
	c.settle()
	before = c.waiting()
	write("cluster.json", c.things())
	options = []
	for kind in plan:
		made = kind(c)
		if made:
			options += made
			c.settle()
	if not options:
		continue
	row = json.loads(run("whatif", "-q", "cluster.json", *options, "-o", "json"))["whatif"][0]
	only_away = all(o in ("--drain", "--lose") for o in options[::2])
	waits = row["unplaced"] + row["added_pending"] + (before if only_away else row["pending"])
	if waits != c.waiting():
		sys.exit("%s: berth whatif has %d pods that wait, and berth simulate %d: %s" % (options, waits, c.waiting(), {k: row[k] for k in row if k not in ("pods", "utilization")}))
	asked += 1
	told += waits > 0
# Some answers are not trivial.
print(asked, "questions,", told, "of them with pods that wait")
assert asked >= 20 and 5 <= told, (asked, told)
END
python3 brute.py "$berth" || fail "a question and the changed cluster differ"
finish
