# SPDX-License-Identifier: Apache-2.0
# berth simulate --workers, --batch, --cpus: decisions equal those of one thread; unavailable CPUs are reported.
. "$(dirname "$0")/common.sh" "$@"

expect 2 "CPU 4095 is not on this machine" "$berth" simulate -q --workers 2 --cpus 4095
expect 2 "0,x" "$berth" simulate -q --workers 2 --cpus 0,x
expect 2 "65" "$berth" simulate -q --workers 65
expect 2 "batch" "$berth" simulate -q --batch 0

for profile in everyday spread mixed; do
	"$berth" generate --profile $profile --nodes 300 --pods 3000 --signatures 100 --distinct-requests -o json >$profile.json
	"$berth" simulate -q $profile.json --decisions $profile.1 >out 2>err || fail "$profile: $(cat err)"
	for workers in "2" "4 --batch 7" "8 --batch 1024" "0"; do
		# shellcheck disable=SC2086 # a number and options
		"$berth" simulate -q $profile.json --workers $workers --decisions $profile.n >out 2>err || fail "$profile $workers: $(cat err)"
		cmp -s $profile.1 $profile.n || fail "$profile: --workers $workers decides otherwise"
	done
done
finish
