# SPDX-License-Identifier: Apache-2.0
"""Which node may fail? node_failure.py FILE, a List of JSON as the first kubectl line of the project's README writes it.

Pending pods are placed first. Then, node by node and each time from there, a node is gone and its pods have to find another place.
"""
import copy
import json
import sys

from berth import Berth


def key(item):
    return f"{item['metadata'].get('namespace', 'default')}/{item['metadata']['name']}"


def of_kind(items, kind):
    return [item for item in items if item["kind"] == kind]


def decide(items):
    """What becomes of the pods of a cluster that are on no node."""
    with Berth(seed=1) as cluster:
        cluster.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        # A pod that was refused first may have its place in the end: the last word counts.
        return {decision.pod: decision for decision in cluster.decisions()}


def settle(items):
    """The cluster as it is once its pending pods are placed."""
    items = copy.deepcopy(items)
    decisions = decide(items)
    for pod in of_kind(items, "Pod"):
        if key(pod) in decisions and decisions[key(pod)].node:
            pod["spec"]["nodeName"] = decisions[key(pod)].node
    return items


def belongs_to_daemon(pod):
    return any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", []))


def without(items, node):
    """The cluster without a node, whose pods are pending again; those of DaemonSets go with it. Who was pending is left out."""
    left = []
    for item in copy.deepcopy(items):
        if item["kind"] == "Pod":
            home = item["spec"].get("nodeName")
            if not home or (home == node and belongs_to_daemon(item)):
                continue
            if home == node:
                del item["spec"]["nodeName"]
                item.pop("status", None)
        elif item["kind"] == "Node" and item["metadata"]["name"] == node:
            continue
        left.append(item)
    return left


def main(path):
    with open(path) as file:
        items = settle(json.load(file)["items"])
    bad = 0
    for node in [item["metadata"]["name"] for item in of_kind(items, "Node")]:
        decisions = decide(without(items, node))
        lost = [decision for decision in decisions.values() if not decision.node]
        bad += bool(lost)
        print(f"{node}: {len(decisions)} pods have to move, {len(lost)} find no place")
        for decision in lost[:3]:
            print(f"  {decision.pod}: {decision.message}")
    print(f"{bad} of {len(of_kind(items, 'Node'))} nodes cannot fail without loss")


if __name__ == "__main__":
    main(sys.argv[1])
