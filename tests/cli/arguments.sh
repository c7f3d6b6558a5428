# SPDX-License-Identifier: Apache-2.0
# Wrong command lines end with status 2, a message and a hint.
. "$(dirname "$0")/common.sh" "$@"

expect 2 "Usage" "$berth"
expect 2 "there is no command 'generat'; did you mean 'generate'?" "$berth" generat
expect 2 "there is no command 'xyzzy'" "$berth" xyzzy
expect 2 "there is no option '--sede'; did you mean --seed?" "$berth" generate --sede 1
expect 2 "there is no option '-x'" "$berth" generate -x
expect 2 "--seed needs a value" "$berth" generate --seed
expect 2 "--zones is a whole number from 1 to 1000, not '0'" "$berth" generate --zones 0
expect 2 "--nodes is a whole number from 0 to 1000000, not '-1'" "$berth" generate --nodes=-1
expect 2 "--pods is a whole number" "$berth" generate --pods 1e3
expect 2 "--bound is a number from 0 to 1, not '2'" "$berth" generate --bound 2
expect 2 "--output is one of json|yaml, not 'xml'" "$berth" generate -o xml
expect 2 "there is no profile 'fits'; there are basic, fit, affinity, taints, ports, images, gates, priority, spread, interpod, volumes, preemption, churn, devices, gangs, racks, resize, topology, everyday, mixed" \
	"$berth" generate --profile basic,fits
expect 2 "unexpected argument 'operand'" "$berth" generate operand
expect 2 "--trace needs the trace's files" "$berth" generate --trace openb --nodes n.csv
expect 2 "Try 'berth generate --help'." "$berth" generate --nonsense
finish
