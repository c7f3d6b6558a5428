# SPDX-License-Identifier: Apache-2.0
# A gang with a topology constraint gets nodes of one rack, the fullest in which it fits; if it fits in none, no pod is placed.
racks=$(cd "$(dirname "$0")" && pwd)/racks.yaml
. "$(dirname "$0")/common.sh" "$@"
sed 's/v1beta1/v1alpha2/' "$racks" >alpha.yaml

# try FILE RACK ARGUMENTS...: all four in that rack.
try() {
	local file=$1 rack=$2
	shift 2
	"$berth" simulate --quiet "$file" "$@" --decisions log >out 2>err || fail "$file $* ended with $?: $(head -3 err)"
	[ "$(grep -c "\"node\":\"$rack-" log)" = 4 ] || fail "$file $*: not all in rack $rack: $(cat log)"
}

# none FILE WHY ARGUMENTS...: no pod is placed, and WHY is reported.
none() {
	local file=$1 why=$2
	shift 2
	"$berth" simulate --quiet "$file" "$@" --decisions log >out 2>err || fail "$file $* ended with $?: $(head -3 err)"
	grep -q '"node":"' log && fail "$file $*: somebody is placed: $(cat log)"
	grep -qF "$why" log || fail "$file $*: not said: $why: $(cat log)"
}

new="--feature-gates GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
old="--kubernetes-version 1.36 --feature-gates GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true"
try "$racks" c $new
try alpha.yaml c $old
try alpha.yaml c $old,WorkloadAwarePreemption=true

# Without rack c it is rack b, and without both there is none.
sed '/name: c-/d' "$racks" >no-c.yaml
try no-c.yaml b $new
sed '/name: [bc]-/d' "$racks" >no-bc.yaml
sed '/name: [bc]-/d' alpha.yaml >alpha-no-bc.yaml
none no-bc.yaml "0/1 placements are available, first placement status: minCount (4) cannot be satisfied: 3 scheduled, 0 remaining" $new
none alpha-no-bc.yaml "0/3 nodes are available: 3 Insufficient cpu." $old

# A label that no node has makes no placement.
sed 's,key: example.com/rack,key: example.com/row,' "$racks" >row.yaml
none row.yaml "no feasible placements found" $new

# Without the gate the constraint is ignored.
"$berth" simulate --quiet "$racks" --feature-gates GenericWorkload=true --decisions log >out 2>err || fail "without the gate it ended with $?"
grep -q '"node":"nowhere"' log || fail "without the gate the constraint counts: $(cat log)"

# The gate requires that of groups.
expect 2 "TopologyAwareWorkloadScheduling is enabled, but depends on features that are disabled: [GenericWorkload]" \
	"$berth" simulate --quiet "$racks" --feature-gates TopologyAwareWorkloadScheduling=true
finish
