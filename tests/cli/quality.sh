# SPDX-License-Identifier: Apache-2.0
# berth quality: rows, consistency with berth simulate, formats, rejected input.
. "$(dirname "$0")/common.sh" "$@"

# Without a tenth of the nodes some pods stay pending.
"$berth" generate --nodes 330 --pods 8500 --profile basic,spread,priority --seed 3 |
	awk '!/"kind":"Node"/ || ++n % 10' >all.json

# number KEY ROW: of a row (0 to 3) of the report in report.json.
number() {
	python3 -c 'import json, sys; print(json.load(open("report.json"))["policies"][int(sys.argv[2])][sys.argv[1]])' "$@"
}

"$berth" quality -q all.json -o json >report.json 2>err || fail "quality: $(cat err)"
"$berth" simulate -q all.json -o json >simulation.json 2>err || fail "simulate: $(cat err)"
unplaced=$(python3 -c 'import json; print(json.load(open("simulation.json"))["pods"]["not_placed"])')
[ "$(number unplaced 0)" = "$unplaced" ] || fail "every node, LeastAllocated: other pods unplaced than by simulate, $unplaced: $(cat report.json)"
[ "$unplaced" -gt 0 ] || fail "the cluster holds all pods; make it smaller"
# One strategy packs, the other spreads.
[ "$(number nodes_used 2)" -le "$(number nodes_used 0)" ] || fail "MostAllocated uses more nodes"
[ "$(number looked_at 1)" = "a sample" ] || fail "row 1 is no sample"

# A sample of 100 % equals every node.
"$berth" quality -q all.json -o json --percentage 100 >report.json 2>err || fail "quality: $(cat err)"
for key in unplaced nodes_used cpu_stranded_percent spread_violated evicted; do
	[ "$(number $key 0)" = "$(number $key 1)" ] || fail "$key differs with --percentage 100"
	[ "$(number $key 2)" = "$(number $key 3)" ] || fail "$key differs with --percentage 100"
done

# From standard input, and with the strategy of a configuration replaced: the same.
strip() {
	grep -v -e decide_s -e '"source"' "$1"
}
"$berth" quality -q all.json -o json >want.json
"$berth" quality -q - -o json <all.json >got.json
strip want.json >want
strip got.json >got
cmp -s want got || fail "standard input: $(diff want got | head -5)"
cat >most.yaml <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 50
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}}
END
"$berth" quality -q all.json --config most.yaml -o json >got.json 2>err || fail "--config: $(cat err)"
strip got.json >got
cmp -s want got || fail "--config: $(diff want got | head -5)"

expect 0 "MostAllocated" "$berth" quality -q all.json
expect 0 "scoring: MostAllocated" "$berth" quality -q all.json -o yaml
expect 0 "LeastAllocated,a sample," "$berth" quality -q all.json -o csv
expect 0 "Columns" "$berth" help quality

expect 2 "100" "$berth" quality --percentage 101 all.json
expect 3 "berth quality: nowhere.json: cannot open it" "$berth" quality nowhere.json
echo '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},"spec":{}}' >pod.json
expect 3 "holds no nodes" "$berth" quality pod.json
expect 3 "nothing" "$berth" quality all.json --config nothing.yaml
finish
