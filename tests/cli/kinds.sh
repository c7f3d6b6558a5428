# SPDX-License-Identifier: Apache-2.0
# berth kinds: the list for kubectl, by release and gates; it has the kinds that the deployed scheduler watches; documentation and help use it.
. "$(dirname "$0")/common.sh" "$@"
top=$(dirname "$0")/../..

# has LIST NAME: the list holds the name.
has() {
	case ,$1, in *,$2,*) ;; *) return 1 ;; esac
}
now=$("$berth" kinds) old=$("$berth" kinds --kubernetes-version 1.36)
printf '%s\n' "$now" | grep -qE '^[a-z0-9]+(,[a-z0-9.]+)+$' || fail "no list for kubectl: $now"
[ "$("$berth" kinds | wc -l)" = 1 ] || fail "more than one line"
for name in nodes pods namespaces services replicationcontrollers replicasets statefulsets poddisruptionbudgets persistentvolumes persistentvolumeclaims storageclasses \
	csinodes csidrivers csistoragecapacities volumeattachments resourceclaims resourceslices deviceclasses priorityclasses; do
	has "$now" $name || fail "$name is not listed: $now"
	has "$old" $name || fail "$name is not listed for 1.36: $old"
done
[ "$(echo "$now" | tr , '\n' | sort | uniq -d)" = "" ] || fail "a kind is listed twice: $now"
has "$now" devicetaintrules || fail "1.37 has DeviceTaintRules: $now"
has "$old" devicetaintrules && fail "1.36 serves DeviceTaintRules only with a gate: $old"
has "$("$berth" kinds --kubernetes-version 1.36 --feature-gates DRADeviceTaintRules=true)" devicetaintrules || fail "the gate does not count"
has "$now" deployments && fail "workloads are listed: $now"
all=$("$berth" kinds --workloads)
for name in deployments daemonsets jobs cronjobs; do
	has "$all" $name || fail "--workloads does not list $name: $all"
done
has "$("$berth" kinds --feature-gates GenericWorkload=true)" podgroups.scheduling.k8s.io || fail "no PodGroups with the gate"
has "$("$berth" kinds --kubernetes-version 1.35 --feature-gates GenericWorkload=true)" workloads.scheduling.k8s.io || fail "no Workloads in 1.35"

# Every format has the same kinds.
"$berth" kinds -o json >kinds.json || fail "json"
python3 - "$now" <<'PY' || fail "the JSON differs: $(cat kinds.json)"
import json, sys
report = json.load(open("kinds.json"))
assert report["schema"] == "berth.kinds/v1"
assert ",".join(row["resource"] for row in report["kinds"]) == sys.argv[1]
assert [row for row in report["kinds"] if row["kind"] == "CSINode"] == [
	{"resource": "csinodes", "kind": "CSINode", "api_version": "storage.k8s.io/v1", "namespaced": False}]
PY
[ "$("$berth" kinds -o csv | grep -cE '^kinds,[a-z.]+,[A-Z]')" = "$(echo "$now" | tr , '\n' | wc -l)" ] || fail "the CSV has other rows"
expect 0 "PodDisruptionBudget" "$berth" kinds -o table
expect 0 "resource: nodes" "$berth" kinds -o yaml
expect 2 "--output is one of list|table|json|yaml|csv" "$berth" kinds -o xml
expect 2 "unexpected argument 'pods'" "$berth" kinds pods
"$berth" kinds --kubernetes-version 1.99 >out 2>err && fail "an unknown release is accepted"

# The documented command uses it, and works: berth reads kubectl's output for each kind.
for page in README.md tools/run tools/libberth/examples/README.md; do
	grep -qE 'kubectl get \$\((build/release/)?berth kinds\) -A -o json' "$top/$page" || fail "$page does not use berth kinds"
done
for command in simulate quality kinds; do
	"$berth" $command --help | tr -s ' \n' '  ' | grep -qF 'kubectl get $(berth kinds) -A -o json' || fail "the help of $command does not use berth kinds"
done
finish
