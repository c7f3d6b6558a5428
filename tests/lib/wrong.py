# SPDX-License-Identifier: Apache-2.0
"""Wrong uses of tools/libberth/examples/berth.py are exceptions with libberth's words: wrong.py EXAMPLES"""
import sys

sys.path.insert(0, sys.argv[1])
from berth import Berth, BerthError

ATTEMPTS = [
    lambda: Berth(config="kind: No"),
    lambda: Berth(feature_gates="Nothing=true"),
    lambda: Berth().apply("{kind: Pod}"),
    lambda: Berth().apply_file("/nonexistent"),
    lambda: Berth().delete("Pod", "x"),
    lambda: Berth().bound(1),
    lambda: Berth().message("x"),
]
for attempt in ATTEMPTS:
    try:
        attempt()
        sys.exit("no error")
    except BerthError as error:
        print("error:", error)
