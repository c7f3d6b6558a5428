# SPDX-License-Identifier: Apache-2.0
# berth reads upstream's workload files with all templates. Skipped where Go's module cache lacks them.
. "$(dirname "$0")/common.sh" "$@"

modules=$(go env GOMODCACHE 2>/dev/null) || modules=
upstream=$(ls -d "${modules:-$HOME/go/pkg/mod}"/k8s.io/kubernetes@v1.36.*/test/integration/scheduler_perf 2>/dev/null | tail -1)
if [ -z "$upstream" ]; then
	echo "skipped: k8s.io/kubernetes v1.36 is not in Go's module cache"
	exit 77
fi
"$berth" bench --check --kubernetes-version 1.36 --label-filter all "$upstream" -o json >json 2>err || fail "ended with $?: $(head -5 err)"
python3 - json <<'E' || fail "some workload cannot be run"
import json, sys
rows = json.load(open(sys.argv[1]))["workloads"]
print(len(rows), "workloads of", len({row["file"] for row in rows}), "files")
assert len(rows) > 200
for row in rows:
	assert row["status"] == "ok", row
E
cat err
"$berth" bench --kubernetes-version 1.36 --label-filter integration-test,short --runs 1 "$upstream" >out 2>err || fail "small workloads: $(head -3 err) $(sed -n '/^problems/,$p' out | head)"
finish
