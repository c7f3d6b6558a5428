# SPDX-License-Identifier: Apache-2.0
# Invalid configurations, feature gates, scenarios and traces: message, place and exit status.
. "$(dirname "$0")/common.sh" "$@"

cat >cluster.json <<'JSON'
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","pods":"10"}}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1"},"spec":{"containers":[{"name":"c"}]}}
JSON

# wrong TEXT LINE...: a configuration of the usual two lines and these exits with 3 and prints TEXT.
wrong() {
	local text=$1
	shift
	printf '%s\n' 'apiVersion: kubescheduler.config.k8s.io/v1' 'kind: KubeSchedulerConfiguration' "$@" >config.yaml
	expect 3 "berth simulate: config.yaml: $text" "$berth" simulate cluster.json --config config.yaml
	[ ! -s out ] || fail "$*: a report all the same"
}

# wrong_at LINE TEXT LINE...: the same with the number of a line.
wrong_at() {
	local line=$1 text=$2
	shift 2
	printf '%s\n' 'apiVersion: kubescheduler.config.k8s.io/v1' 'kind: KubeSchedulerConfiguration' "$@" >config.yaml
	expect 3 "berth simulate: config.yaml:$line: $text" "$berth" simulate cluster.json --config config.yaml
}

wrong_at 3 'strict decoding error: unknown field "colour"' 'colour: blue'
wrong_at 5 'strict decoding error: unknown field "profiles[0].plugin"' 'profiles:' '- schedulerName: a' '  plugin: {}'
wrong_at 4 'strict decoding error: yaml: unmarshal errors:' 'parallelism: 1' 'parallelism: 2'
wrong_at 3 'json: cannot unmarshal number into Go struct field KubeSchedulerConfiguration.profiles' 'profiles: 3'
wrong_at 4 'yaml: line 3: did not find expected node content' 'profiles: ['
wrong 'percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]' 'percentageOfNodesToScore: 101'
wrong 'parallelism: Invalid value: 0: should be an integer value greater than zero' 'parallelism: 0'
wrong 'profiles[1].schedulerName: Duplicate value: ' 'profiles:' '- schedulerName: a' '- schedulerName: a'
wrong 'initializing profiles: creating profile for scheduler name a: ScorePlugin "Fitt" does not exist' \
	'profiles:' '- schedulerName: a' '  plugins: {score: {enabled: [{name: Fitt}]}}'
wrong 'initializing profiles: creating profile for scheduler name a: initializing plugin "NodeResourcesFit": scoringStrategy.resources[0].weight: Invalid value: 101' \
	'profiles:' '- schedulerName: a' '  pluginConfig:' '  - name: NodeResourcesFit' \
	'    args: {scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 101}]}}'
# Valid extenders; this command does not call them.
printf '%s\n' 'apiVersion: kubescheduler.config.k8s.io/v1' 'kind: KubeSchedulerConfiguration' 'extenders:' \
	'- {urlPrefix: "http://extender/x", filterVerb: filter}' >extenders.yaml
expect 0 'extenders.yaml: extenders: extenders are not called' "$berth" simulate cluster.json --config extenders.yaml
expect 3 'extenders.yaml: extenders: extenders are not called' "$berth" simulate --strict cluster.json --config extenders.yaml
expect 0 '' "$berth" simulate -q cluster.json --config extenders.yaml
[ ! -s err ] || fail "-q warns of extenders: $(cat err)"
# Very long backoffs are accepted.
printf '%s\n' 'apiVersion: kubescheduler.config.k8s.io/v1' 'kind: KubeSchedulerConfiguration' \
	'podInitialBackoffSeconds: 9223372037' 'podMaxBackoffSeconds: 9223372036854775807' >long.yaml
expect 0 'placed' "$berth" simulate cluster.json --config long.yaml
sed -i 's|config.k8s.io/v1$|config.k8s.io/v1beta3|' config.yaml
expect 3 'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"' \
	"$berth" simulate cluster.json --config config.yaml
: >config.yaml
expect 3 "config.yaml: Object 'Kind' is missing" "$berth" simulate cluster.json --config config.yaml
expect 3 "nowhere.yaml: cannot open it: No such file or directory" "$berth" simulate cluster.json --config nowhere.yaml

# The effective configuration can be written, and read again.
printf '%s\n' 'apiVersion: kubescheduler.config.k8s.io/v1' 'kind: KubeSchedulerConfiguration' 'parallelism: 3' >config.yaml
expect 0 '"parallelism":3' "$berth" simulate --config config.yaml --write-config-to -
"$berth" simulate --config config.yaml --write-config-to written.json --fail-on-unplaced || fail "written.json: $?"
"$berth" simulate --config written.json --write-config-to again.json || fail "again.json: $?"
cmp -s written.json again.json || fail "a written configuration was read otherwise"
expect 4 "nowhere/x" "$berth" simulate --write-config-to nowhere/x

# Feature gates.
expect 2 "--feature-gates: unrecognized feature gate: Foo" "$berth" simulate cluster.json --feature-gates Foo=true
expect 2 "--feature-gates: missing bool value for DynamicResourceAllocation" \
	"$berth" simulate cluster.json --feature-gates DynamicResourceAllocation
expect 2 "invalid value of TaintTolerationComparisonOperators=maybe" \
	"$berth" simulate cluster.json --feature-gates TaintTolerationComparisonOperators=maybe
expect 0 "placed" "$berth" simulate cluster.json --feature-gates TaintTolerationComparisonOperators=true

# Scenarios: an invalid one does not stop the next; the answer to an invalid configuration is its error.
good='{"id":"good","objects":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}],"pending":[]}'
scenario() {
	printf '%s\n' "$2" "$good" >scenarios.jsonl
	expect 3 "berth verdict: scenarios.jsonl:1: $1" "$berth" verdict scenarios.jsonl
	grep -qxF '{"id":"good","pods":[]}' out || fail "the scenario behind '$2' was not answered"
}
scenario 'the text ends too early; a scenario is one JSON document on one line' '{"id":"a"'
scenario 'expected a value' 'hello'
scenario 'expected an object, found an array' '[]'
scenario 'a scenario needs "objects" and "pending"' '{"id":"a"}'
scenario 'id: expected a string, found a number' '{"id":1,"objects":[],"pending":[]}'
scenario 'id: the key appears twice' '{"id":"a","id":"b","objects":[],"pending":[]}'
scenario 'colour: unknown field' '{"id":"a","objects":[],"pending":[],"colour":1}'
# The answer to a valid scenario with an invalid cluster is an error.
answered() {
	printf '%s\n' "$2" >answered.jsonl
	expect 0 "$1" "$berth" verdict answered.jsonl
}
answered '"error":"objects: ' '{"id":"a","objects":[3],"pending":["default/p"]}'
answered 'expected a whole number, found a string' \
	'{"id":"a","objects":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"priority":"x"}}],"pending":["default/p"]}'
config='{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","x":1}'
answered 'strict decoding error: unknown field \"x\"' '{"id":"a","config":'"$config"',"objects":[],"pending":["default/p"]}'
answered '"error":"this pending pod is not among the objects"' '{"id":"a","objects":[],"pending":["default/p"]}'
expect 3 "nowhere.jsonl: cannot open it: No such file or directory" "$berth" verdict nowhere.jsonl
expect 2 "FILE|- is missing" "$berth" verdict
: >empty.jsonl
expect 3 "empty.jsonl: the file holds no scenarios; write one JSON document a line" "$berth" verdict empty.jsonl

# Traces.
nodes='sn,cpu_milli,memory_mib,gpu,model'
pods='name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time'
# trace TEXT NODES PODS [STATUS]: files with these rows.
trace() {
	local text=$1 status=${4:-0}
	printf '%b' "$2" >nodes.csv
	printf '%b' "$3" >pods.csv
	expect "$status" "$text" "$berth" simulate --trace openb --nodes nodes.csv --pods pods.csv
	if [ "$status" = 0 ]; then
		grep -qE '^  placed +1$' out || fail "$text: the other rows were not processed: $(cat out)"
		expect 3 "$text" "$berth" simulate --strict --trace openb --nodes nodes.csv --pods pods.csv
	fi
}
row='p1,1000,1024,0,0,,LS,Running,5,,6\n'
trace 'pods.csv:3: column cpu_milli: "x" is not a whole number' "$nodes\nn1,32000,262144,0,\n" "$pods\n${row}p2,x,1,0,0,,,,1,2,\n"
trace 'pods.csv:3: column creation_time: "-1" is not a whole number' "$nodes\nn1,32000,262144,0,\n" "$pods\n${row}p2,1,1,0,0,,,,-1,2,\n"
trace 'pods.csv:3: column deletion_time is before creation_time' "$nodes\nn1,32000,262144,0,\n" "$pods\n${row}p2,1,1,0,0,,,,5,2,\n"
trace 'pods.csv:3: ' "$nodes\nn1,32000,262144,0,\n" "$pods\n${row}p1,1,1,0,0,,,,5,7,\n"
trace 'pods.csv:3: ' "$nodes\nn1,32000,262144,0,\n" "$pods\n${row}\"p2,1,1,0,0,,,,5,7,\n"
trace 'pods.csv:3: ' "$nodes\nn1,32000,262144,0,\n" "$pods\n${row}p2\n"
trace 'nodes.csv:3: column gpu: "99999999999999999999" is not a whole number' \
	"$nodes\nn1,32000,262144,0,\nn2,1,1,99999999999999999999,\n" "$pods\n$row"
trace 'nodes.csv:3: ' "$nodes\nn1,32000,262144,0,\nn1,1,1,0,\n" "$pods\n$row"
trace 'nodes.csv:1: the header has no column sn' "a,b\n1,2\n" "$pods\n$row" 3
trace 'pods.csv:1: there is nothing below the header' "$nodes\nn1,1,1,0,\n" "$pods\n" 3
trace 'pods.csv:1: the file is empty; it needs a header' "$nodes\nn1,1,1,0,\n" '' 3
expect 3 "nowhere.csv: cannot read: No such file or directory" "$berth" simulate --trace openb --nodes nowhere.csv --pods pods.csv
expect 2 "--trace needs --nodes FILE and --pods FILE" "$berth" simulate --trace openb --nodes nodes.csv
expect 2 "belong to --trace" "$berth" simulate --nodes nodes.csv cluster.json
expect 2 "--trace is one of openb, not 'borg'" "$berth" simulate --trace borg
finish
