# SPDX-License-Identifier: Apache-2.0
# Every workload of perf/workloads runs at its small scale and binds all its pods; those of the short set are valid.
. "$(dirname "$0")/common.sh" "$@"

own=$(dirname "$0")/../../perf/workloads

"$berth" bench --label-filter integration-test --runs 2 "$own" -o json >json 2>err || fail "ended with $?: $(head -5 err)"
python3 - json "$own" <<'E' || fail "some workload did not run"
import glob, json, re, sys
rows = json.load(open(sys.argv[1]))["workloads"]
cases = set()
for path in glob.glob(sys.argv[2] + "/*/performance-config.yaml"):
	cases |= set(re.findall(r"^- name: (\S+)", open(path).read(), re.M))
ran = {row["workload"].split("/")[0] for row in rows}
assert ran == cases, cases - ran
for row in rows:
	assert row["status"] == "ok" and row["pods"] > 0 and row["average"] > 0, row
E

# Objects that churn creates meanwhile are not waited for.
expect 0 "BesidePreemption/10Nodes" "$berth" bench --run '^(MixedChurn|BesidePreemption|BesideImpossible)/10Nodes' --speed 1000000 \
	--timeout 20 --runs 5 "$own"
expect 0 "performance,short" "$berth" bench --list --label-filter performance "$own"
expect 0 "Plain/5000Nodes_20000Pods" "$berth" bench --list
finish
