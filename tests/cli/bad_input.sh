# SPDX-License-Identifier: Apache-2.0
# Errors in the input are reported with place, field and remedy; the rest is placed, and --strict exits with 3.
. "$(dirname "$0")/common.sh" "$@"

# Two valid lines for every case below: a node, and a pod for it.
cat >good.json <<'JSON'
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1"},"spec":{"containers":[{"name":"c"}]}}
JSON
pod='{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":'

# wrong FILE TEXT: with FILE and good.json berth prints TEXT and places p1; --strict exits with 3.
wrong() {
	local file=$1 text=$2
	expect 0 "$text" "$berth" simulate --decisions log good.json "$file"
	grep -qF '{"pod":"default/p1","node":"n1"}' log || fail "$file: the rest was not processed: $(cat log)"
	grep -qE '^problems in the input +[1-9]' out || fail "$file: the report does not count the problem"
	expect 3 "$text" "$berth" simulate --strict good.json "$file"
	[ ! -s out ] || fail "$file: --strict reports all the same"
}

# wrong_json CONTENT TEXT: the same for a file of this content.
wrong_json() {
	printf '%b' "$1" >bad.json
	wrong bad.json "$2"
}

wrong_yaml() {
	printf '%b' "$1" >bad.yaml
	wrong bad.yaml "$2"
}

remedy_syntax="write the file again, for example with kubectl get -o json"
# Bytes that are not text.
wrong_json '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x\0000y"}}' \
	"bad.json:1:54: Pod: metadata.name: control character in a string; $remedy_syntax"
wrong_json '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x\\u0000y"}}' \
	"bad.json:1:1: Pod x: metadata.name: the name holds a NUL byte; write the name without it"
wrong_json '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"\0303("}}' \
	"bad.json:1:53: Pod: metadata.name: invalid UTF-8; $remedy_syntax"
wrong_yaml 'apiVersion: v1\nkind: Pod\nmetadata: {name: "\0303("}\n' "bad.yaml:3"
wrong_yaml 'apiVersion: v1\nkind: Pod\nmetadata: {name: "a\0000b"}\n' "bad.yaml:3"
head -c 3000 /bin/sh >bad.json
wrong bad.json "bad.json:1"

# Keys and numbers.
wrong_json "$pod"'{"priority":1,"priority":2}}' "bad.json:1:89: Pod x: spec.priority: the key appears twice; keep one of them"
wrong_yaml 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  name: y\n' "bad.yaml:5"
wrong_json "$pod"'{"priority":1e999}}' "bad.json:1:76: Pod x: spec.priority: expected a whole number; correct the value"
wrong_json "$pod"'{"priority":99999999999999999999}}' \
	"Pod x: spec.priority: the number does not fit into 64 bits; correct the value"
wrong_json "$pod"'{"priority":3000000000}}' "spec.priority: 3000000000 is outside -2147483648 to 2147483647; use a number that fits"

# Values.
wrong_json "$pod"'{"priority":"3"}}' "spec.priority: expected a whole number, found a string; correct the value"
wrong_json "$pod"'{"containers":{"a":1}}}' "bad.json:1:78: Pod x: spec.containers: expected an array, found an object; correct the value"
wrong_json "$pod"'{"containers":[{},{"resources":{"requests":{"cpu":"1x"}}}]}}' \
	'spec.containers[1].resources.requests.cpu: "1x" is not a quantity; write it like 500m, 2 or 1.5Gi'
wrong_json '{"apiVersion":"v1","kind":"Node","metadata":{"name":"x"},"status":{"allocatable":{"memory":"8 Gi"}}}' \
	'Node x: status.allocatable.memory: "8 Gi" is not a quantity; write it like 500m, 2 or 1.5Gi'
wrong_json '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","creationTimestamp":"yesterday"}}' "Pod x: metadata.creationTimestamp: "
wrong_json '{"apiVersion":"v1","kind":"Pod"}' "bad.json:1:1: Pod: metadata.name: the object has no name; give it one"
wrong_json '{"a":1}' "bad.json:1:1: the object has no kind; add apiVersion and kind"
wrong_json '[1,2]' "bad.json:1:1: expected an object; give it as an object with apiVersion and kind"
wrong_json '{"apiVersion":"v1","kind":"List","items":[3]}' "bad.json:1:43: "

# Shapes.
wrong_json '' "bad.json: the file holds no objects; write objects into it, for example with kubectl get -o json, or leave it out"
wrong_json ' \n\n' "bad.json: the file holds no objects"
wrong_yaml '# nothing\n---\n' "bad.yaml: the file holds no objects"
wrong_json "$(printf '[%.0s' $(seq 2000))" "bad.json:1:"
wrong_json "$pod$(printf '{"a":%.0s' $(seq 2000))" "bad.json:1:"
wrong_yaml "apiVersion: v1\nkind: Pod\nspec: $(printf '[%.0s' $(seq 2000))" "bad.yaml:3"
wrong_yaml 'apiVersion: v1\nkind: Pod\nmetadata: {name: *nothing}\n' "bad.yaml:3"
wrong_json '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x' "bad.json:1:54: Pod: metadata.name: the text ends inside a string; $remedy_syntax"
wrong_yaml 'apiVersion: v1\nkind: Pod\nmetadata: {name: "x' "bad.yaml:3"
# Exponential YAML aliases stop at a limit.
{
	echo 'a: &a [x,x,x,x,x,x,x,x,x,x]'
	last=a
	for name in b c d e f g h i j k l; do
		echo "$name: &$name [*$last,*$last,*$last,*$last,*$last,*$last,*$last,*$last,*$last,*$last]"
		last=$name
	done
} >bad.yaml
wrong bad.yaml "bad.yaml"

# Truncated and invalid compressed files.
gzip -c good.json | head -c 60 >cut.json.gz
wrong cut.json.gz "cut.json.gz: the compressed file is cut off; copy it again"
printf '\037\213\010\0garbage-garbage-garbage' >bad.json.gz
wrong bad.json.gz "bad.json.gz: "
if command -v zstd >/dev/null; then
	zstd -qc good.json | head -c 60 >cut.json.zst
	wrong cut.json.zst "cut.json.zst: the compressed file is cut off; copy it again"
fi

{
	head -c 257 /dev/zero
	printf 'ustar'
	cat good.json
} >pods.tar
wrong pods.tar "pods.tar: it is a tar archive; unpack it and name its files or their folder; gzip and zstd are read as they are"

# Objects that contradict each other.
wrong_json '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}' \
	"berth simulate: Node n1: metadata.name: duplicate node ignored; the input has it already, and the first one counts; remove the other"
wrong_json '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1"}}' \
	"berth simulate: Pod default/p1: metadata.name: duplicate pod ignored; the input has it already, and the first one counts; remove the other"
wrong_json "$pod"'{"nodeName":"nowhere"}}' \
	'berth simulate: Pod default/x: spec.nodeName: unknown node "nowhere"; pod ignored; add the node to the input'
wrong_json "$pod"'{"priorityClassName":"vip"}}' \
	"Pod default/x: spec.priorityClassName: there is no such PriorityClass; the API server would refuse the pod; add the class to the input"

# Files that cannot be read.
# unreadable PATH TEXT: every command that reads the path fails, and reports no other cluster's result.
unreadable() {
	local path=$1 text=$2 options
	for options in "" "--fail-on-unplaced" "--strict"; do
		expect 3 "$text" "$berth" simulate $options good.json "$path"
		[ ! -s out ] || fail "$path: simulate $options reports all the same"
		"$berth" simulate -q $options -f good.json -f "$path" >out 2>err
		[ $? = 3 ] || fail "$path: simulate -q $options ends with another status than 3"
		grep -qF "$text" err || fail "$path: simulate -q $options does not say what is missing: $(cat err)"
	done
	expect 3 "$text" "$berth" quality good.json "$path"
	[ ! -s out ] || fail "$path: quality reports all the same"
	"$berth" quality -q good.json "$path" >out 2>err
	[ $? = 3 ] || fail "$path: quality -q ends with another status than 3"
	for command in verdict history replay bench; do
		expect 3 "$path: " "$berth" $command "$path"
	done
	expect 3 "" "$berth" simulate -q good.json --config "$path"
	expect 3 "the trace cannot be read" "$berth" simulate -q --trace openb --nodes "$path" --pods "$path"
	expect 3 "" "$berth" generate --trace openb --nodes "$path" --pods "$path"
}
unreadable nowhere.json "nowhere.json: cannot open it: No such file or directory; check the path and its permissions"
mkdir partly
cp good.json partly
ln -s nothing partly/dangling.json
unreadable partly/dangling.json "partly/dangling.json: cannot open it: "
for options in "" -q "-q --fail-on-unplaced"; do
	expect 3 "partly/dangling.json: cannot open it: " "$berth" simulate $options partly
	[ ! -s out ] || fail "simulate $options reports a part of a folder"
done
mkdir empty
wrong empty "empty: the directory holds no .json, .yaml or .yml file; name another directory, or the files themselves"
mkdir others
echo hello >others/notes.txt
wrong others "others: the directory holds no .json, .yaml or .yml file"
ln -s loop loop
unreadable loop "loop: cannot open it: "
if [ "$(id -u)" != 0 ]; then
	mkdir -m 0 closed
	unreadable closed "closed: cannot "
	chmod 700 closed
fi

# An unreadable pod counts as not placed; an unreadable object of another kind does not.
# lost STATUS CONTENT: the file beside good.json, with --fail-on-unplaced.
lost() {
	printf '%b' "$2" >lost.json
	"$berth" simulate -q --fail-on-unplaced good.json lost.json >out 2>err
	local got=$?
	[ $got = "$1" ] || fail "--fail-on-unplaced ended with $got, not $1, beside: $2"
	[ ! -s err ] || fail "-q says: $(cat err)"
}
lost 0 '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"}}'
lost 0 '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"x"}}}'
lost 0 '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1"}}'
lost 1 "$pod"'{"priority":"3"}}'
lost 1 '{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{}}]}'
lost 1 "$pod"'{"containers":[{"name":"c","resources":{"requests":{"cpu":"-1"}}}]}}'
lost 1 "$pod"'{"priorityClassName":"vip"}}'
lost 1 '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"},"spec":{"replicas":"two"}}'
lost 1 '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x'
lost 1 '{"metadata":{"name":"x"}}'
lost 1 'error: You must be logged in to the server (Unauthorized)\n'
lost 1 ''
grep -qE '^  unreadable, may be pods +1$' out || fail "the report does not count it: $(cat out)"
"$berth" simulate -q --fail-on-unplaced good.json cut.json.gz >out 2>err
[ $? = 1 ] || fail "--fail-on-unplaced takes a file that is cut off for one without pods"
printf 'sn,cpu_milli,memory_mib,gpu,model\nn1,32000,262144,2,P100\n' >nodes.csv
printf 'name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\np1,1000,1024,1,500,,LS,Running,1,2,1\n' >pods.csv
"$berth" simulate -q --fail-on-unplaced --trace openb --nodes nodes.csv --pods pods.csv >out 2>err || fail "a whole trace: $(cat err)"
echo 'p2,x,1024,1,500,,LS,Running,1,2,1' >>pods.csv
"$berth" simulate -q --fail-on-unplaced --trace openb --nodes nodes.csv --pods pods.csv >out 2>err
[ $? = 1 ] || fail "--fail-on-unplaced does not see the wrong row of a trace"

# A small file that unpacks to a huge one is refused, unless an option allows it.
head -c 200000000 /dev/zero | gzip >bomb.json.gz
bomb="the compressed file unfolds to more than is allowed, after 6[0-9] MiB; if you trust it, unpack it yourself, or set BERTH_UNPACKED_MAX to its size, such as 4Gi"
wrong bomb.json.gz "bomb.json.gz: the compressed file unfolds to more than is allowed, after 6"
grep -qE "$bomb" err || fail "the bomb: $(cat err)"
BERTH_UNPACKED_MAX=1Gi wrong bomb.json.gz "bomb.json.gz:1:1: "
BERTH_UNPACKED_MAX=some wrong bomb.json.gz "bomb.json.gz: BERTH_UNPACKED_MAX is not a size; write it like 4Gi or 4294967296"
if command -v zstd >/dev/null; then
	head -c 200000000 /dev/zero | zstd -qc >bomb.json.zst
	wrong bomb.json.zst "bomb.json.zst: the compressed file unfolds to more than is allowed, after 6"
fi

# Control characters in the input are escaped on the terminal.
printf '%s\n' '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x\u001b[31m\u009b\nred"},"spec":{"nodeName":"n\u001b","priority":"3"}}' \
	'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"y\u001b[31m"},"spec":{"nodeName":"n\u001b"}}' \
	'{"apiVersion":"v1\u001b","kind":"Lamp\u001b","metadata":{"name":"y"}}' >escape.json
cp escape.json "$(printf 'odd\033name.json')"
for command in simulate quality; do
	"$berth" $command good.json escape.json odd*name.json >out 2>err
	cat out err | LC_ALL=C grep -q "$(printf '\033')" && fail "$command sends an escape to the terminal: $(cat -v out err)"
	cat out err | LC_ALL=C grep -q "$(printf '\302\233')" && fail "$command sends a CSI to the terminal: $(cat -v out err)"
done
grep -qF 'Pod x\x1b[31m\u009b\nred: spec.priority: ' err || fail "the name is not shown: $(cat -v err)"

# Empty input.
expect 3 "the input holds no Kubernetes objects" "$berth" simulate empty
expect 3 "the input holds no Kubernetes objects" "$berth" simulate nowhere.json
expect 3 "the input holds no Kubernetes objects; give it files of JSON or YAML" "$berth" simulate - </dev/null
printf 'sn,cpu_milli,memory_mib,gpu,model\nn1,32000,262144,2,P100\n' >nodes.csv
for command in simulate quality; do
	expect 3 "berth $command: the input holds no Kubernetes objects; a trace in CSV is for berth simulate --trace openb --nodes FILE --pods FILE" \
		"$berth" $command -f nodes.csv
	expect 3 "--trace openb --nodes FILE --pods FILE" "$berth" $command nodes.csv
done

# Pods of other schedulers and other kinds are not errors: they are counted.
printf '%s' "$pod"'{"schedulerName":"other"}}{"apiVersion":"example.com/v1","kind":"Lamp","metadata":{}}' >other.json
expect 0 "ignored: pods of other schedulers" "$berth" simulate --strict good.json other.json
grep -qE '^  Lamp \(example.com/v1\) +1  not used' out || fail "the other kind is not named: $(cat out)"

# At most twenty diagnostics are printed, none with --quiet; all are counted.
for i in $(seq 30); do
	echo "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":$i}}"
done >bad.json
expect 0 "10 more problems like these" "$berth" simulate good.json bad.json
[ "$(wc -l <err)" = 21 ] || fail "$(wc -l <err) lines of complaints, not 21"
"$berth" simulate --quiet good.json bad.json >out 2>err
[ ! -s err ] || fail "--quiet complains: $(head -1 err)"
grep -qE '^problems in the input +30$' out || fail "--quiet does not count the problems"
finish
