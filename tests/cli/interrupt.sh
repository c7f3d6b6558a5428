# SPDX-License-Identifier: Apache-2.0
# SIGINT in the middle: the partial output has whole lines, and the status is 130.
. "$(dirname "$0")/common.sh" "$@"

mkfifo pipe
# A background job of a shell ignores SIGINT; job control turns that off.
set -m
"$berth" generate --nodes 10 --pods 100000000 >pipe 2>err &
child=$!
set +m
{
	# The producer blocks while its pipe is full, so the signal always arrives in the middle.
	head -c 1000000
	kill -INT "$child"
	cat
} <pipe >out
wait "$child"
status=$?
[ "$status" = 130 ] || fail "ended with $status, not 130"
grep -q "interrupted after [0-9]* objects" err || fail "says: $(cat err)"
[ "$(tail -n 1 out)" = "]}" ] || fail "the List is not closed"

# simulate: decisions until then are logged, in whole lines, and reported.
mkfifo log
set -m
"$berth" simulate --decisions log -o json >report 2>err &
child=$!
set +m
{
	head -c 1000000
	kill -INT "$child"
	cat
} <log >lines
wait "$child"
status=$?
[ "$status" = 130 ] || fail "simulate ended with $status, not 130: $(cat err)"
total=$(wc -l <lines)
[ "$total" -gt 1000 ] && [ "$total" -lt 100000 ] || fail "simulate logged $total decisions"
grep -vE '^\{"pod":"[^"]*","node":("[^"]*"|null,"message":"[^"]*")\}$' lines >odd && fail "not a whole line: $(head -1 odd)"
placed=$(grep -c '"node":"' lines)
grep -qF "\"placed\": $placed," report || fail "the report does not say $placed placed: $(head -30 report)"
[ "$(tail -n 1 report)" = "}" ] || fail "the report is not closed"

# verdict: whole answers.
yes '{"id":"a","objects":[],"pending":[]}' | head -n 3000000 >scenarios.jsonl
mkfifo answers
set -m
"$berth" verdict scenarios.jsonl >answers 2>err &
child=$!
set +m
{
	head -c 100000
	kill -INT "$child"
	cat
} <answers >lines
wait "$child"
status=$?
[ "$status" = 130 ] || fail "verdict ended with $status, not 130: $(cat err)"
grep -vxF '{"id":"a","pods":[]}' lines >odd && fail "verdict: not a whole line: $(head -1 odd)"
[ "$(wc -l <lines)" -lt 3000000 ] || fail "verdict did not stop"
finish
