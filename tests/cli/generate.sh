# SPDX-License-Identifier: Apache-2.0
# berth generate: repeatable, complete, in both formats; traces.
. "$(dirname "$0")/common.sh" "$@"

small="--nodes 20 --pods 200 --profile mixed --bound 0.5 --signatures 50"
"$berth" generate $small --seed 3 >a.json || fail "generate"
"$berth" generate $small --seed 3 >b.json
"$berth" generate $small --seed 4 >c.json
cmp -s a.json b.json || fail "the same seed gives different bytes"
cmp -s a.json c.json && fail "another seed gives the same bytes"
[ "$(grep -c '"kind":"Node"' a.json)" = 20 ] || fail "not 20 nodes"
[ "$(grep -c '"kind":"Pod"' a.json)" = 200 ] || fail "not 200 pods"
[ "$(tail -n 1 a.json)" = "]}" ] || fail "the List is not closed"
"$berth" generate $small --seed 3 -o yaml >a.yaml || fail "generate -o yaml"
[ "$(grep -c '^kind: Pod$' a.yaml)" = 200 ] || fail "not 200 pods in YAML"
expect 0 '"items":[' "$berth" generate --nodes 0 --pods 0

gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true
"$berth" generate --nodes 320 --pods 640 --signatures 1 --profile basic,topology --gang-size 16 --load 0.2 >racks.json
[ "$(grep -c '"topology":\[{"key":"example.com/rack"}\]' racks.json)" = 40 ] || fail "not 40 gangs that want a rack"
expect 0 "" "$berth" simulate --feature-gates $gates --decisions racks.jsonl --journal racks.journal racks.json
[ "$(grep -c '"node":"node-' racks.jsonl)" = 640 ] || fail "a gang was not placed"
expect 0 "all decisions match the journal" "$berth" replay racks.journal

# Gangs of 1.35 are groups of Workloads.
gates=GenericWorkload=true,GangScheduling=true
"$berth" generate --nodes 32 --pods 128 --signatures 1 --profile basic,gangs --gang-size 16 --load 0.2 --kubernetes-version 1.35 >gangs.json
[ "$(grep -c '"kind":"Workload"' gangs.json)" = 8 ] || fail "not 8 Workloads: $(head -3 gangs.json)"
[ "$(grep -c '"workloadRef":{"name":"[^"]*","podGroup":"workers"}' gangs.json)" = 128 ] || fail "not 128 pods that name them"
! grep -q PodGroup gangs.json || fail "there are PodGroups of 1.36"
expect 0 "" "$berth" simulate --kubernetes-version 1.35 --feature-gates $gates --decisions gangs.jsonl gangs.json
[ "$(grep -c '"node":"node-' gangs.jsonl)" = 128 ] || fail "a gang of Workloads was not placed"
expect 2 "use a later --kubernetes-version" "$berth" generate --profile topology --kubernetes-version 1.35

printf 'sn,cpu_milli,memory_mib,gpu,model\nn1,32000,262144,2,P100\n' >nodes.csv
printf 'name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n' >pods.csv
printf 'p1,1000,1024,1,460,P100,LS,Running,5,90,6\n' >>pods.csv
expect 0 '"openb.berth.dev/gpu-milli":"460"' "$berth" generate --trace openb --nodes nodes.csv --pods pods.csv
grep -qF '"creationTimestamp":"2023-01-01T00:00:05Z"' out || fail "the creation time is lost"
printf 'p2,x,1024,0,0,,LS,Running,5,90,6\n' >>pods.csv
expect 0 'pods.csv:3: column cpu_milli: "x"' "$berth" generate --trace openb --nodes nodes.csv --pods pods.csv
expect 3 'pods.csv:3: column cpu_milli' "$berth" generate --strict --trace openb --nodes nodes.csv --pods pods.csv
expect 3 'no column sn' "$berth" generate --trace openb --nodes pods.csv --pods pods.csv
expect 3 'missing.csv: cannot read: No such file' "$berth" generate --trace openb --nodes missing.csv --pods pods.csv
finish
