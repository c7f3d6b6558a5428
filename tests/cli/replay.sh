# SPDX-License-Identifier: Apache-2.0
# berth simulate --journal and berth replay: clusters, preemption, groups, traces and configurations replay to the same decisions;
# different, truncated or damaged journals are reported with the place.
. "$(dirname "$0")/common.sh" "$@"

here=$(dirname "$0")
samples=$here/../../tools/samples

# Usage.
expect 2 "FILE|- is missing" "$berth" replay
expect 2 "unexpected argument 'b'" "$berth" replay a b
expect 2 "there is no option '--seed'" "$berth" replay --seed 1 x
expect 0 "clock" "$berth" replay --help
expect 3 "nothing.journal" "$berth" replay nothing.journal
echo "no journal" >no.journal
expect 3 "this is no journal of berth" "$berth" replay no.journal
if [ -e /dev/full ]; then
	"$berth" simulate -q "$samples" --journal /dev/full >out 2>err
	[ $? = 4 ] || fail "a full disk is not said: $(cat err)"
fi

# same NAME OPTION...: a simulation with these options replays to its decisions.
same() {
	name=$1
	shift
	"$berth" simulate -q "$@" --journal "$name.journal" -o json >"$name.report" 2>err || fail "$name: $(cat err)"
	expect 0 "all decisions match the journal" "$berth" replay "$name.journal"
	expect 0 '"verdict": "all decisions match the journal' "$berth" replay "$name.journal" --workers 2 -o json
}
same samples "$samples"
same groups "$here/gang.yaml" --kubernetes-version 1.36 --feature-gates GenericWorkload=true,GangScheduling=true
for profile in mixed preemption churn; do
	"$berth" generate --profile $profile --nodes 40 --pods 900 -o json >$profile.json
	same $profile $profile.json --seed 7
	same $profile-wait $profile.json --preemption wait --until 20m
done
"$berth" generate --profile fit --nodes 200 --pods 300 -o json >fit.json
echo '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "percentageOfNodesToScore": 30}' >config.json
same config fit.json --config config.json

# A journal records its Kubernetes release, and replays with it.
for release in 1.36 1.37; do
	same release-$release preemption.json --kubernetes-version $release
	expect 0 "\"kubernetes\": \"v$release" "$berth" replay release-$release.journal -o json
done

# Compressed, and from standard input.
gzip -k samples.journal
expect 0 "all decisions match the journal" "$berth" replay samples.journal.gz
"$berth" replay - <samples.journal >out 2>err || fail "standard input: $(cat err)"

# Truncated and damaged journals: the records before the fault are replayed.
bytes=$(wc -c <mixed.journal)
head -c $((bytes / 2)) mixed.journal >half.journal
expect 3 "the journal breaks off" "$berth" replay half.journal
expect 3 "the journal could not be played to its end" "$berth" replay half.journal
cp mixed.journal damaged.journal
printf '\377\377\377\377' | dd of=damaged.journal bs=1 seek=$((bytes / 3)) conv=notrunc 2>/dev/null
expect 3 "at byte" "$berth" replay damaged.journal

# After SIGKILL the journal has at least what a copy made before has.
played() {
	"$berth" replay "$1" -o json 2>err | sed -n 's/.*"decisions": \([0-9]*\).*/\1/p'
}
holds() {
	cp killed.journal copy.journal 2>err && n=$(played copy.journal) && [ -n "$n" ] && [ "$n" -ge "$1" ]
}
for threads in 0 2; do
	rm -f killed.journal killed.d
	"$berth" simulate -q "$samples" --threads $threads --until 1h --speed 1 --journal killed.journal --decisions killed.d >out 2>err.run &
	pid=$!
	until [ -s killed.d ] || ! kill -0 $pid 2>err; do
		sleep 0.1
	done
	decided=$(grep -cv '"delete"' killed.d)
	until holds "$decided" || ! kill -0 $pid 2>err; do
		sleep 0.1
	done
	kill -KILL $pid || fail "killed, --threads $threads: it ended by itself: $(cat err.run)"
	wait $pid 2>/dev/null
	expect 3 "the journal breaks off" "$berth" replay killed.journal -o json
	[ "$(played killed.journal)" -ge "$decided" ] || fail "killed, --threads $threads: fewer than $decided decisions are recorded: $(cat out)"
done

# Another seed makes other decisions.
"$berth" simulate -q mixed.json --seed 8 --journal eight.journal >out 2>err || fail "$(cat err)"
cmp -s mixed.journal eight.journal && fail "the seed does not matter"
finish
