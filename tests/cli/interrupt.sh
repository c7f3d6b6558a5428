# SPDX-License-Identifier: Apache-2.0
# SIGINT in the middle: the output is whole as far as it goes, and the status is 130.
. "$(dirname "$0")/common.sh" "$@"

mkfifo pipe
# A background job of a shell ignores SIGINT; job control turns that off.
set -m
"$berth" generate --nodes 10 --pods 100000000 >pipe 2>err &
child=$!
set +m
{
	# The producer stands still while nobody reads, so the signal always comes in the middle.
	head -c 1000000
	kill -INT "$child"
	cat
} <pipe >out
wait "$child"
status=$?
[ "$status" = 130 ] || fail "ended with $status, not 130"
grep -q "interrupted after [0-9]* objects" err || fail "says: $(cat err)"
[ "$(tail -n 1 out)" = "]}" ] || fail "the List is not closed"
finish
