# SPDX-License-Identifier: Apache-2.0
# A full disk is an error with the path; a reader that went away is not worth a message.
. "$(dirname "$0")/common.sh" "$@"

for arguments in "--help" "--version" "help generate" "generate --nodes 1 --pods 1" "generate --nodes 100 --pods 10000"; do
	$berth $arguments >/dev/full 2>err
	[ $? = 4 ] || fail "$arguments to a full disk did not end with 4"
	grep -qF "cannot write standard output: No space left on device" err || fail "$arguments: $(cat err)"
done

$berth generate --nodes 100 --pods 1000000 2>err | head -c 100 >/dev/null
status=${PIPESTATUS[0]}
[ "$status" = 141 ] || fail "a closed pipe ended with $status, not 141"
[ ! -s err ] || fail "a closed pipe says: $(cat err)"
finish
