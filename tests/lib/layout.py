# SPDX-License-Identifier: Apache-2.0
"""Where berth.py believes the members of libberth's structures to be, in the form of layout.c: layout.py EXAMPLES"""
import ctypes
import sys

sys.path.insert(0, sys.argv[1])
import berth

for name, structure in [("berth_options", berth.Options), ("berth_decision", berth.DecisionStruct), ("berth_pod_ref", berth.PodRef)]:
    print(name, ctypes.sizeof(structure))
    for field in structure._fields_:
        member = "pod_namespace" if field[0] == "namespace" else field[0]
        print(f"{name}.{member} {getattr(structure, field[0]).offset}")
