# SPDX-License-Identifier: Apache-2.0
# A full disk is an error with the path; a closed pipe causes no message.
. "$(dirname "$0")/common.sh" "$@"

cat >cluster.json <<'JSON'
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","pods":"10"}}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1"},"spec":{"containers":[{"name":"c"}]}}
JSON
echo '{"id":"a","objects":[],"pending":[]}' >scenarios.jsonl
for arguments in "--help" "--version" "help generate" "generate --nodes 1 --pods 1" "generate --nodes 100 --pods 10000" \
	"simulate cluster.json" "simulate cluster.json -o json" "verdict scenarios.jsonl"; do
	$berth $arguments >/dev/full 2>err
	[ $? = 4 ] || fail "$arguments to a full disk did not end with 4"
	grep -qF "cannot write standard output: No space left on device" err || fail "$arguments: $(cat err)"
done

# The log of decisions: the report is printed, and the status shows that the log is incomplete.
for command in "simulate cluster.json" "simulate"; do
	$berth $command --quiet --decisions /dev/full >out 2>err
	[ $? = 4 ] || fail "$command with its log on a full disk did not end with 4"
	grep -qF "cannot write /dev/full: No space left on device" err || fail "$command: $(cat err)"
	grep -q '^  placed ' out || fail "$command: no report when the log cannot be written"
done
expect 4 "cannot write $PWD/none/log: No such file or directory" "$berth" simulate cluster.json --decisions "$PWD/none/log"

$berth generate --nodes 100 --pods 1000000 2>err | head -c 100 >/dev/null
status=${PIPESTATUS[0]}
[ "$status" = 141 ] || fail "a closed pipe ended with $status, not 141"
[ ! -s err ] || fail "a closed pipe says: $(cat err)"
$berth simulate --quiet --decisions - 2>err | head -c 100 >/dev/null
status=${PIPESTATUS[0]}
[ "$status" = 141 ] || fail "simulate into a closed pipe ended with $status, not 141"
[ ! -s err ] || fail "simulate into a closed pipe says: $(cat err)"
yes '{"id":"a","objects":[],"pending":[]}' | head -n 100000 | $berth verdict - 2>err | head -c 100 >/dev/null
status=${PIPESTATUS[2]}
[ "$status" = 141 ] || fail "verdict into a closed pipe ended with $status, not 141"
[ ! -s err ] || fail "verdict into a closed pipe says: $(cat err)"
finish
