# SPDX-License-Identifier: Apache-2.0
"""Three questions to a cluster in a file: study.py FILE

Where do the pending pods go, how many more replicas fit, and why is a pod pending?
"""
import json
import sys

from berth import JSON, Berth, BerthError

REPLICA = """
apiVersion: v1
kind: Pod
metadata: {name: more-%d, namespace: default, labels: {app: more}}
spec:
  containers:
  - {name: main, resources: {requests: {cpu: 500m, memory: 1Gi}}}
"""


def load(cluster, path):
    try:
        cluster.apply_file(path, expand=True)
    except BerthError as problems:
        print(f"study: going on without these:\n{problems}", file=sys.stderr)


def place(cluster):
    """The bindings are ours: each placed pod has a ticket, which we answer."""
    pending = []
    for decision in cluster.decisions():
        if decision.node:
            print(f"{decision.pod}: on {decision.node}")
            cluster.bound(decision.ticket)
        else:
            pending.append(decision.pod)
    return pending


def count_more(cluster):
    fit = 0
    while True:
        cluster.apply(REPLICA % fit)
        decision = next(cluster.decisions())
        if not decision.node:
            break
        cluster.bound(decision.ticket)
        fit += 1
    for number in range(fit + 1):
        cluster.delete("Pod", f"more-{number}")
    return fit


def explain(cluster, pod):
    namespace, name = pod.split("/")
    print(f"{pod}: {cluster.message(name, namespace)}")
    for row in json.loads(cluster.explain(name, namespace, JSON))["explain"]:
        print(f"  {row['node']}: {row['verdict']}, {row.get('reason') or row.get('total')}")


def main(path):
    with Berth(seed=1, binding=1) as cluster:
        load(cluster, path)
        pending = place(cluster)
        print(f"{count_more(cluster)} more replicas fit")
        for pod in pending:
            explain(cluster, pod)


if __name__ == "__main__":
    main(sys.argv[1])
