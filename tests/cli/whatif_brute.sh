# SPDX-License-Identifier: Apache-2.0
# berth whatif by brute force: the changes of random questions are made to the objects, one after the other, and berth simulate places
# what waits after each; in the end as many pods wait. Pods of a pool are equal and pools are apart, so that the number does not depend on
# the order of equal pods or on ties. Then the same with priorities and budgets, where no two pods and no two nodes are equal: berth
# simulate gets one waiting pod at a time, and both must choose the same nodes, evict the same pods and violate the same budgets. BT_SEED
# plays one seed again.
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

# ---- preemption ----

CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
	"profiles": [{"plugins": {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeAffinity"}]}}}]}
write("config.json", [CONFIG])

class Ranked(Cluster):
	"""Each pod has a priority of its own, and prefers nodes in an order without ties."""
	def __init__(self):
		self.nodes, self.pods, self.budgets, self.made, self.drains = {}, {}, {}, 0, False
		self.priorities = rng.sample(range(1000), 900)
		for i in range(rng.randint(3, 7)):
			self.nodes["n%d" % i] = node("n%d" % i, str(i), rng.randint(2, 7))
		for i in range(rng.randint(0, 3)):
			self.budgets["pdb%d" % i] = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "pdb%d" % i, "namespace": "d"},
				"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": rng.choice("abc")}}}, "status": {"disruptionsAllowed": rng.randint(0, 2)}}
		for name in sorted(self.nodes):
			self.fill(name)
		for i in range(rng.randint(6, 20)):
			self.put(self.pod("p%d" % i))
		self.begin()
		self.place(self.waiting_pods())
		self.begin()

	def begin(self):
		self.evictions, self.displaced, self.charged = [], set(), dict.fromkeys(self.budgets, 0)

	def pod(self, name):
		made = pod(name, rng.choice("abc"), rng.random() < 0.8)
		made["spec"] = {"priority": self.priorities.pop(), "preemptionPolicy": rng.choice(["Never"] + 4 * ["PreemptLowerPriority"]),
			"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
				{"weight": 5 + i, "preference": {"matchExpressions": [{"key": "pool", "operator": "In", "values": [str(i)]}]}} for i in range(20)]}},
			"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": str(rng.choice([1, 1, 1, 2, 3]))}}}]}
		return made

	def fill(self, name):
		"""Pods that have run for long."""
		for i in range(rng.randint(0, int(self.nodes[name]["status"]["allocatable"]["cpu"]))):
			made = self.pod("%s-ran-%d" % (name, i))
			made["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1"
			made["spec"]["priority"] -= rng.choice([0, 1000])
			made["spec"]["nodeName"] = name
			made["status"] = {"phase": "Running", "startTime": made["metadata"]["creationTimestamp"]}
			self.put(made)

	def things(self, but=()):
		return [*self.nodes.values(), *self.budgets.values(), *(p for name, p in self.pods.items() if name not in but)]

	def waiting_pods(self):
		return [name for name, p in self.pods.items() if "nodeName" not in p["spec"]]

	def charge(self, name):
		"""Counts an eviction. Returns: the first budget without a disruption left."""
		first = ""
		for key, budget in self.budgets.items():
			if budget["spec"]["selector"]["matchLabels"]["app"] == self.pods[name]["metadata"]["labels"]["app"]:
				if self.charged[key] < budget["status"]["disruptionsAllowed"]:
					self.charged[key] += 1
				else:
					first = first or "d/" + key
		return first

	def leave(self, test, again):
		names = [name for name, p in self.pods.items() if "nodeName" in p["spec"] and test(p)]
		for name in sorted(names, key=lambda name: -self.pods[name]["spec"]["priority"]):
			if self.drains:
				self.charge(name)
			if self.comes_again(name):
				self.displaced.add(name)

	def comes_again(self, name):
		"""A pod leaves its node. Returns: whether its controller makes another one."""
		p = self.pods.pop(name)
		p["spec"].pop("nodeName", None)
		p.pop("status", None)
		if p["metadata"].get("ownerReferences"):
			self.pods[name] = p
		return name in self.pods

	def try_one(self, name):
		"""Lets berth simulate decide one waiting pod. Returns: whether anything has changed, and the victims that wait."""
		write("now.json", self.things([other for other in self.waiting_pods() if other != name]))
		run("simulate", "-q", "now.json", "--no-expand", "--config", "config.json", "--decisions", "decisions.jsonl")
		changed, victims = False, []
		for decision in map(json.loads, open("decisions.jsonl")):
			if decision.get("pod") != "d/" + name:
				continue
			for victim in decision.get("evicted", []):
				self.evictions.append({"pod": victim, "node": decision["nominated"], "by": "d/" + name, "budget": self.charge(victim.split("/")[1])})
				changed = True
				if self.comes_again(victim.split("/")[1]):
					victims.append(victim.split("/")[1])
			if decision.get("node"):
				self.pods[name]["spec"]["nodeName"] = decision["node"]
				self.pods[name] = self.pods.pop(name)
				changed = True
		return changed, victims

	def place(self, names):
		"""Places what waits, the most important first, until nothing changes."""
		rank = lambda name: -self.pods[name]["spec"]["priority"]
		goes_on = True
		while goes_on:
			goes_on = False
			order = sorted((name for name in names if name in self.pods and "nodeName" not in self.pods[name]["spec"]), key=rank)
			while order:
				changed, victims = self.try_one(order.pop(0))
				goes_on |= changed
				names = names + victims
				order = sorted(order + victims, key=rank)

def new_pods(c):
	things = []
	for _ in range(rng.randint(1, 3)):
		c.made += 1
		new = c.pod("applied-%d" % c.made)
		things.append(copy.deepcopy(new))
		c.put(new)
	path = "apply%d.json" % c.made
	write(path, things)
	return ["--apply", path]

def smaller(c):
	name = rng.choice(sorted(c.nodes))
	c.nodes[name]["status"]["allocatable"]["cpu"] = "1"
	return ["--set", name + ":allocatable/cpu=1"]

def evicting_taint(c):
	name = rng.choice(sorted(c.nodes))
	c.nodes[name]["spec"]["taints"] = [{"key": "k", "value": "v", "effect": "NoExecute"}]
	c.leave(on(name), False)
	return ["--set", name + ":taint/k=v:NoExecute"]

def whatif(*options):
	return json.loads(run("whatif", "-q", "cluster.json", "--no-expand", "--config", "config.json", *options, "-o", "json"))["whatif"]

sums = dict.fromkeys(["preempted", "preempted_unplaced", "preempted_not_recreated", "violated"], 0)
plans = [[kind] for kind in (drain, lose, new_pods, evicting_taint) for _ in range(2)]
plans += [[smaller, new_pods], [new_pods, lose], [drain, new_pods], [drain, drain], [lose, drain], [new_pods, new_pods]]
for plan in plans:
	c = Ranked()
	write("cluster.json", c.things())
	before = {name: p["spec"].get("nodeName", "") for name, p in c.pods.items()}
	waits = set() if set(plan) <= {drain, lose} else set(c.waiting_pods())
	options = []
	for kind in plan:
		c.drains, known = kind is drain, set(c.pods)
		made = kind(c)
		if made:
			options += made
			waits |= c.displaced | set(c.pods) - known
			c.place(sorted(waits))
			waits |= {e["pod"].split("/")[1] for e in c.evictions}
	if not options:
		continue
	row = whatif(*options)[0]
	told = {p["pod"].split("/")[1]: p["to"] for p in row["pods"]}
	for name, p in c.pods.items():
		want, got = p["spec"].get("nodeName", ""), told.get(name, before.get(name, ""))
		if want != got:
			sys.exit("%s: %s is on %r by berth simulate, and on %r by berth whatif" % (options, name, want, got))
	if row["preemptions"] != c.evictions:
		sys.exit("%s: berth simulate evicts\n%s\nand berth whatif\n%s" % (options, c.evictions, row["preemptions"]))
	assert row["violated"] == sum(e["budget"] != "" for e in c.evictions), (row, c.evictions)
	assert not whatif("--no-preemption", *options)[0]["preempted"], options
	for key in sums:
		sums[key] += row[key]
print("preemption:", sums)
assert min(sums.values()) > 0, sums

# Each of many questions is answered as if it was asked alone.
rows = whatif("--each", "node")
for row in rows:
	alone = whatif("--drain", row["question"])[0]
	assert (row["preemptions"], row["unplaced"], row["placed"]) == (alone["preemptions"], alone["unplaced"], alone["placed"]), (row, alone)
assert any(row["preempted"] for row in rows + whatif("--pairs", "5")), rows
END
python3 brute.py "$berth" || fail "a question and the changed cluster differ"
finish
