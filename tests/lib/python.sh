#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Python examples against the library, loaded into a running interpreter: $1 berth, $2 an empty folder, $3 libberth.so, $4 the
# project, $5 the program layout, $6 a library that has to be loaded first, for sanitizers.
. "$(dirname "$0")/../cli/common.sh"
library=$3 examples=$4/tools/libberth/examples first=${6:-}

python() {
	BERTH_LIBRARY=$library LD_PRELOAD=$first ASAN_OPTIONS=detect_leaks=0 PYTHONDONTWRITEBYTECODE=1 python3 "$@"
}

"$5" >want && python "$4/tests/lib/layout.py" "$examples" >got && cmp want got || fail "berth.py has other structures: $(diff want got | head -5)"
expect 0 'default/train-small: on east-gpu' python "$examples/study.py" "$4/tools/samples"
expect 0 '24 more replicas fit' python "$examples/study.py" "$4/tools/samples"
expect 0 'default/whale: 0/6 nodes are available: ' python "$examples/study.py" "$4/tools/samples"
expect 0 'east-gpu: rejected, Insufficient nvidia.com/gpu (needs 2, free 1)' python "$examples/study.py" "$4/tools/samples"
expect 1 'No such file' python "$examples/node_failure.py" nothing.json
"$berth" generate --nodes 6 --pods 40 --seed 1 -o json >cluster.json 2>err || fail "generate: $(head -3 err)"
expect 0 'node-00006: ' python "$examples/node_failure.py" cluster.json
expect 0 'of 6 nodes cannot fail without loss' python "$examples/node_failure.py" cluster.json
expect 0 'error: there is no Pod default/x' python "$4/tests/lib/wrong.py" "$examples"
expect 0 'apiVersion' python "$4/tests/lib/wrong.py" "$examples"
expect 0 'error: no binding with ticket 1' python "$4/tests/lib/wrong.py" "$examples"
finish
