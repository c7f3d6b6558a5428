# SPDX-License-Identifier: Apache-2.0
# berth capacity --cluster: each row equals that of the cluster alone; ranks, statuses, rejected input; memory of one cluster.
. "$(dirname "$0")/common.sh" "$@"

for i in 1 2 3; do
	"$berth" generate --nodes $((i * 10)) --pods 100 --bound 1 --seed $i >c$i.json
done
# workload NAME CPU: a Deployment.
workload() {
	cat <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: $1}
spec:
  replicas: 2
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: $2, memory: 64Mi}}}]}
YAML
}
workload web 500m >web.yaml
workload api "3" >api.yaml
"$berth" capacity -q --cluster small=c1.json --cluster large=c3.json --cluster middle=c2.json --pod web.yaml --pod api.yaml -o json >report.json || fail "three clusters"
for i in 1 2 3; do
	"$berth" capacity -q c$i.json --pod web.yaml --pod api.yaml -o json >alone$i.json || fail "cluster $i alone"
done
python3 - <<'PY' 2>why || fail "the ranking: $(tail -1 why)"
import json
report = json.load(open("report.json"))
assert report["schema"] == "berth.capacity/v1" and report["clusters"] == 3
rows = report["capacity"]
assert [row["template"] for row in rows] == ["Deployment default/web"] * 3 + ["Deployment default/api"] * 3, rows
for name, i in (("small", 1), ("middle", 2), ("large", 3)):
	alone = json.load(open(f"alone{i}.json"))
	for single in alone["capacity"]:
		row = [r for r in rows if r["cluster"] == name and r["template"] == single["template"]][0]
		for key in ("pods", "fits", "limited", "nodes", "stops"):
			assert row[key] == single[key], (row, single)
		assert row["of_nodes"] == alone["nodes"], row
for part in (rows[:3], rows[3:]):
	assert [row["rank"] for row in part] == [1, 2, 3]
	assert [row["fits"] for row in part] == sorted((row["fits"] for row in part), reverse=True)
	assert all(row["takes"] == (row["fits"] >= 1) for row in part)
PY
# Equal ranks keep the order of the arguments. Several files of one cluster.
"$berth" capacity -q --cluster b=c1.json --cluster a=c1.json --pod web.yaml -o csv >out || fail "equal clusters"
grep '^capacity,' out | cut -d, -f3,4 | tr '\n' ' ' | grep -qx '1,b 2,a ' || fail "ties are not as given: $(cat out)"
printf 'apiVersion: v1\nkind: Node\nmetadata: {name: more}\nstatus: {allocatable: {cpu: "500", memory: 900Gi, pods: "900"}}\n' >more.yaml
"$berth" capacity -q --cluster a=c1.json --cluster b=c1.json --cluster a=more.yaml --pod web.yaml -o csv >out || fail "two files"
grep '^capacity,' out | head -1 | grep -qE '^capacity,Deployment default/web,1,a,true,1,[0-9]{3},false,[0-9]+,11,' || fail "the second file of a cluster does not count: $(cat out)"

# Exit statuses: some cluster takes every template.
most=$(python3 -c 'import json; print(json.load(open("report.json"))["capacity"][0]["fits"])')
expect 0 "small" "$berth" capacity -q --cluster small=c1.json --cluster large=c3.json --pod web.yaml --at-least "$most"
expect 1 "small" "$berth" capacity -q --cluster small=c1.json --cluster large=c3.json --pod web.yaml --at-least $((most + 1))
workload huge 4000 >huge.yaml
expect 1 "false" "$berth" capacity -q --cluster small=c1.json --pod huge.yaml
expect 1 "true" "$berth" capacity -q --cluster small=c1.json --cluster large=c3.json --pod web.yaml --pod huge.yaml
expect 0 "schema: berth.capacity/v1" "$berth" capacity -q --cluster small=c1.json --pod web.yaml -o yaml

# Rejected input.
expect 2 "NAME=PATH" "$berth" capacity --cluster c1.json --pod web.yaml
expect 2 "NAME=PATH" "$berth" capacity --cluster =c1.json --pod web.yaml
expect 2 "NAME=PATH" "$berth" capacity --cluster a= --pod web.yaml
expect 2 "'c2.json' has no name" "$berth" capacity --cluster a=c1.json c2.json --pod web.yaml
expect 2 "--by is for one cluster" "$berth" capacity --cluster a=c1.json --pod web.yaml --by zone
expect 2 "only once" "$berth" capacity --cluster a=- --cluster b=- --pod web.yaml
expect 2 "only once" "$berth" capacity --cluster a=c1.json --cluster b=c2.json --pod -
expect 2 "nothing to add" "$berth" capacity --cluster a=c1.json
expect 3 "cluster b is not usable, so none is ranked" "$berth" capacity -q --cluster a=c1.json --cluster b=nowhere.json --pod web.yaml
[ ! -s out ] || fail "a ranking without a cluster that cannot be read: $(cat out)"
expect 3 "cluster a is not usable" "$berth" capacity -q --cluster a=web.yaml --cluster b=c1.json --pod web.yaml

# Memory is that of one cluster, for any number of clusters (except with AddressSanitizer, which keeps freed memory).
if ! grep -q __asan_init "$berth"; then
	"$berth" generate --nodes 400 --pods 8000 --bound 1 >large.json
	cat >peak.py <<'PY'
import resource, subprocess, sys
options = [o for i in range(int(sys.argv[2])) for o in ("--cluster", f"c{i}=large.json")]
subprocess.run([sys.argv[1], "capacity", "-q", *options, "--pod", "web.yaml", "--limit", "5"], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
	one=$(python3 peak.py "$berth" 1) many=$(python3 peak.py "$berth" 8)
	[ "$many" -lt $((one * 3 / 2)) ] || fail "eight clusters take $many KiB, one takes $one"
fi
finish
