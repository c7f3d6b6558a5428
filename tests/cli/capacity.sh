# SPDX-License-Identifier: Apache-2.0
# berth capacity: its numbers equal those of berth simulate with as many copies; templates leave nothing behind; rejected input.
. "$(dirname "$0")/common.sh" "$@"

# deployment NAME REPLICAS CPU [MORE]: a Deployment whose pods come after those of the cluster, and preempt nothing.
deployment() {
	cat <<END
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: last}
value: -1000
preemptionPolicy: Never
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: $1, namespace: extra, uid: $1-uid}
spec:
  replicas: $2
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}}
    spec:
      priorityClassName: last
      ${4:-}
      containers:
      - {name: c, image: i, resources: {requests: {cpu: $3, memory: 300Mi}}}
END
}
# field KEY TEMPLATE: of the template's row in report.json.
field() {
	python3 - "$@" <<'END'
import json, sys
print([row[sys.argv[1]] for row in json.load(open("report.json"))["capacity"] if row["template"] == sys.argv[2]][0])
END
}

# Brute force: of that many copies and five more, simulate places as many.
spread='topologySpreadConstraints: [{maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]'
alone='affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}'
for seed in 1 2 3; do
	"$berth" generate --nodes 40 --pods 700 --profile basic,spread --seed $seed >cluster.json
	for more in "" "$spread" "$alone"; do
		deployment web 1 250m "$more" >web.yaml
		"$berth" capacity -q cluster.json --pod web.yaml -o json >report.json 2>err || fail "capacity: $(cat err)"
		fits=$(field fits "Deployment extra/web")
		deployment web $((fits + 5)) 250m "$more" >many.yaml
		"$berth" simulate -q cluster.json many.yaml --decisions decisions.jsonl >/dev/null 2>err || fail "simulate: $(cat err)"
		placed=$(grep '"extra/web' decisions.jsonl | grep -vc '"node":null')
		[ "$fits" = "$placed" ] || fail "seed $seed, $more: $fits copies fit, simulate places $placed"
		[ "$fits" -gt 0 ] || fail "seed $seed: the cluster is full; make it larger"
	done
done

# A template leaves nothing behind: the order of templates does not matter.
deployment web 1 250m >web.yaml
deployment api 1 700m >api.yaml
"$berth" capacity -q cluster.json --pod web.yaml --pod api.yaml -o json >report.json || fail "two templates"
web=$(field fits "Deployment extra/web") api=$(field fits "Deployment extra/api")
"$berth" capacity -q cluster.json --pod api.yaml --pod web.yaml -o json >report.json || fail "two templates, turned"
[ "$web $api" = "$(field fits "Deployment extra/web") $(field fits "Deployment extra/api")" ] || fail "the order of templates matters"
"$berth" capacity -q cluster.json --pod web.yaml -o json >report.json || fail "one template"
[ "$web" = "$(field fits "Deployment extra/web")" ] || fail "another template matters"

# The refusals of a template sum to all nodes; places to all pods.
"$berth" capacity -q cluster.json --pod web.yaml --pod api.yaml --mix 2:1 --by zone --by node -o json >report.json || fail "mix"
python3 - <<'END' || fail "sums: $(cat report.json)"
import json
report = json.load(open("report.json"))
for row in report["capacity"]:
	name, pods = row["template"], row["fits"] * row["pods"]
	assert sum(r["nodes"] for r in report["refusals"] if r["template"] == name) == report["nodes"], name
	for by in ("zone", "node"):
		assert sum(p["pods"] for p in report["places"] if p["template"] == name and p["by"] == by) == pods, (name, by)
mix = report["capacity"][2]
assert mix["template"] == "mix 2:1" and mix["pods"] == 3 and 0 < mix["fits"] <= report["capacity"][0]["fits"] // 2, mix
short = [r for r in report["refusals"] if r["plugin"] == "NodeResourcesFit"]
assert short and all(r["nearest_node"] and "cpu" in r["lacks"] for r in short if "cpu" in r["reason"]), short
END

# All pods of a file together, or none.
deployment job 9 1 >job.yaml
"$berth" capacity -q cluster.json --pod job.yaml -o json >report.json || fail "one by one"
single=$(field fits "Deployment extra/job")
"$berth" capacity -q cluster.json --pod job.yaml --together -o json >report.json || fail "together"
[ "$(field fits job.yaml)" = $((single / 9)) ] || fail "together: $(field fits job.yaml) of 9, one by one $single"

# Exit statuses.
expect 1 "Deployment extra/web" "$berth" capacity -q cluster.json --pod web.yaml --at-least $((web + 1))
expect 0 "Deployment extra/web" "$berth" capacity -q cluster.json --pod web.yaml --at-least "$web"
expect 0 "more may fit" "$berth" capacity -q cluster.json --pod web.yaml --limit 3
expect 0 "template,pods,fits" "$berth" capacity -q cluster.json --pod web.yaml -o csv
expect 0 "schema: berth.capacity/v1" "$berth" capacity -q cluster.json --pod web.yaml -o yaml

# Rejected input.
expect 2 "give --pod a file" "$berth" capacity cluster.json
expect 2 "no cluster" "$berth" capacity --pod web.yaml
expect 2 "is no ratio of the 1 templates" "$berth" capacity -q cluster.json --pod web.yaml --mix 1:2
expect 2 "is no ratio of the 1 templates" "$berth" capacity -q cluster.json --pod web.yaml --mix 0
expect 2 "raise --limit" "$berth" capacity -q cluster.json --pod web.yaml --limit 2 --at-least 3
expect 3 "cannot be read" "$berth" capacity -q cluster.json --pod nowhere.yaml
printf 'apiVersion: v1\nkind: Service\nmetadata: {name: s}\n' >service.yaml
expect 3 "no pod and no workload" "$berth" capacity -q cluster.json --pod service.yaml
sed 's/kind: Deployment/kind: DaemonSet/' web.yaml >daemon.yaml
expect 3 "one pod a node" "$berth" capacity -q cluster.json --pod daemon.yaml
sed 's/priorityClassName: last/schedulerName: other/' web.yaml >other.yaml
expect 3 "names no profile" "$berth" capacity -q cluster.json --pod other.yaml
finish
