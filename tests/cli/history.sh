# SPDX-License-Identifier: Apache-2.0
# berth history: usage, input from files and from standard input, and malformed histories, which are reported with line, step and remedy while
# the others run.
. "$(dirname "$0")/common.sh" "$@"

node='{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"1","pods":"10"}}}'
pod() {
	echo '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"'"$1"'","namespace":"d"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"'"$2"'"}}}]}}'
}
good='{"id":"good","objects":['$node','$(pod a 2)'],"steps":[{"cycle":{}},{"update":'${node/\"cpu\":\"1\"/\"cpu\":\"4\"}'},{"advance":3},{"cycle":{"pin":"n1"}}]}'

# Usage.
expect 2 "FILE|- is missing" "$berth" history
expect 2 "unexpected argument 'b'" "$berth" history a b
expect 2 "there is no option '--seed'" "$berth" history --seed 1 x
expect 2 "Try 'berth history --help'." "$berth" history --nonsense x
expect 0 "cycleBegin" "$berth" history --help
expect 0 "featureGates" "$berth" history --help
expect 0 "2026-01-01T00:00:00Z" "$berth" history --help
expect 3 "nothing.jsonl" "$berth" history nothing.jsonl
: >empty.jsonl
expect 3 "the file holds no histories; write one JSON document a line" "$berth" history empty.jsonl
if [ -e /dev/full ]; then
	echo "$good" >good.jsonl
	"$berth" history good.jsonl >/dev/full 2>err
	[ $? = 4 ] || fail "a full disk is not said: $(cat err)"
fi

# A history from a file, from standard input and compressed: the same answer.
echo "$good" >good.jsonl
expect 0 '"popped":"d/a","result":null,"message":"0/1 nodes are available: 1 Insufficient cpu.' "$berth" history good.jsonl
expect 0 '"unschedulable":[{"pod":"d/a","plugins":["NodeResourcesFit"]}]' "$berth" history good.jsonl
expect 0 '"backoff":[{"pod":"d/a","left":1.996}]' "$berth" history good.jsonl
expect 0 '"popped":"d/a","result":"n1"' "$berth" history good.jsonl
cp out want
"$berth" history - <good.jsonl >out 2>err || fail "standard input: $(cat err)"
cmp -s out want || fail "standard input has another answer"
gzip -k good.jsonl
"$berth" history good.jsonl.gz >out 2>err || fail "gzip: $(cat err)"
cmp -s out want || fail "a compressed file has another answer"

# wrong HISTORY TEXT: between two valid ones it is reported with its line, and the valid ones run.
wrong() {
	printf '%s\n%s\n%s\n' "$good" "$1" "$good" >bad.jsonl
	expect 3 "berth history: bad.jsonl:2: $2" "$berth" history bad.jsonl
	[ "$(grep -c '"id":"good"' out)" = 2 ] || fail "$2: the others were not played"
	[ "$(wc -l <err)" = 1 ] || fail "$2: said more than once: $(cat err)"
}

form="a history is one JSON document on one line"
object="write an object as kubectl get -o json shows it"
step="the step holds nothing, or several things; a step holds one of create, update, delete, advance, cycle, cycleBegin, cycleEnd"
wrong 'nonsense' "expected an object, found null; $form"
wrong '[]' "expected an object, found an array; $form"
wrong '{"id":"x"' ""
wrong '{"id":"x","objects":[]}' "a history needs \"objects\" and \"steps\"; $form"
wrong '{"id":"x","steps":[]}' "a history needs \"objects\" and \"steps\"; $form"
wrong '{"id":"x","objects":{},"steps":[]}' "history x: objects: not an array; write the objects as a JSON array"
wrong '{"id":"x","objects":[],"steps":[{"creat":{}}]}' "steps[0].creat: unknown field; $form"
wrong '{"id":"x","objects":[],"steps":[{"cycle":{"pin":3}}]}' "steps[0].cycle.pin: expected a string, found a number; $form"
wrong '{"id":"x","objects":[],"steps":[{"cycle":{}},{}]}' "history x: steps[1]: $step"
wrong '{"id":"x","objects":[],"steps":[{"cycle":{},"advance":1}]}' "history x: steps[0]: $step"
wrong '{"id":"x","objects":[],"steps":[{"advance":-1}]}' "history x: steps[0].advance: -1 is no number of seconds; write seconds, from 0 to 1000000"
wrong '{"id":"x","objects":[],"steps":[{"advance":"1"}]}' "history x: steps[0].advance: \"1\" is no number of seconds; write seconds"
wrong '{"id":"x","objects":[],"steps":[{"advance":600000},{"advance":600000}]}' "history x: steps[1].advance: more than 1000000 seconds pass in all; let less time pass, or begin another history"
wrong '{"id":"x","objects":[],"steps":[{"advance":1e300}]}' "history x: steps[0].advance: 1e300 is no number of seconds"
wrong '{"id":"x","objects":[],"steps":[{"delete":{"kind":"Pod"}}]}' \
	"history x: steps[0].delete: no kind, or no name; name the object: kind, name, and namespace when it has one"
wrong '{"id":"x","objects":['$node'],"steps":[{"create":'$node'}]}' \
	"history x: steps[0].create: Node \"n1\" already exists; update it, delete it first, or give the new one another name"
wrong '{"id":"x","objects":['$node','$node'],"steps":[]}' "history x: objects[1]: Node \"n1\" already exists; "
wrong '{"id":"x","objects":['"$(pod a abc)"'],"steps":[]}' \
	"history x: objects[0]: spec.containers[0].resources.requests.cpu: \"abc\" is not a quantity; $object"
wrong '{"id":"x","objects":[],"steps":[{"update":[]}]}' "history x: steps[0].update: expected an object; $object"
wrong '{"id":"x","objects":['$node','"$(pod a 1)"'],"steps":[{"cycleBegin":{}},{"cycleBegin":{}}]}' \
	"history x: steps[1].cycleBegin: a cycle is already under way; end it with cycleEnd first"
wrong '{"id":"x","featureGates":"Nope=true","objects":[],"steps":[]}' \
	"history x: unrecognized feature gate: Nope; correct the configuration or the feature gates"
wrong '{"id":"x","config":{"kind":"Nonsense"},"objects":[],"steps":[]}' "history x: config: Object 'apiVersion' is missing"

# Valid: no cycle to end, an empty queue, an unknown object, a history that ends in the middle of a cycle.
right() {
	echo "$1" >right.jsonl
	expect 0 "$2" "$berth" history right.jsonl
}

right '{"objects":[],"steps":[]}' '{"steps":[]}'
right '{"id":"x","objects":[],"steps":[{"cycleEnd":{}}]}' '"empty":true'
right '{"id":"x","objects":[],"steps":[{"cycle":{}}]}' '"empty":true'
right '{"id":"x","objects":[],"steps":[{"delete":{"kind":"Pod","name":"x"}}]}' '"missing":true'
right '{"id":"x","objects":['$node','"$(pod a 1)"'],"steps":[{"cycleBegin":{}}]}' '"inFlight":["d/a"]'
right '{"id":"x","objects":['$node','"$(pod a 1)"'],"steps":[{"cycleBegin":{}},{"delete":{"kind":"Pod","namespace":"d","name":"a"}},{"create":'"$(pod b 1)"'},{"cycleEnd":{}}]}' '"active":["d/b"]'
finish
