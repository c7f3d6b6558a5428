#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# libberth decides what berth simulate decides, decision for decision and message for message: $1 berth, $2 an empty folder, $3 the
# program decisions, $4 the project.
. "$(dirname "$0")/../cli/common.sh"
decisions=$3 source=$4

# same NAME SEED: the two logs about the file NAME are equal, and not empty.
same() {
	"$berth" simulate --quiet -f "$1" --seed "$2" --decisions want >/dev/null 2>err || fail "simulate $1: $(head -3 err)"
	"$decisions" "$1" "$2" >got 2>err || fail "decisions $1: $(head -3 err)"
	[ -s want ] || fail "no decisions about $1"
	cmp want got || fail "$1, seed $2: $(diff want got | head -4)"
	echo "$1, seed $2: $(wc -l <got) lines, $(grep -c '"evicted"' got) with evictions"
}

same "$source/tools/samples" 1
for seed in 1 2 3; do
	"$berth" generate --nodes 60 --pods 1500 --seed "$seed" -o json >full.json 2>err || fail "generate: $(head -3 err)"
	same full.json "$seed"
	"$berth" generate --nodes 200 --pods 800 --seed "$seed" -o yaml >roomy.yaml 2>err || fail "generate: $(head -3 err)"
	same roomy.yaml "$seed"
done

# Full nodes, and pending pods of all priorities: they preempt, wait, and are refused.
for node in $(seq 10); do
	echo "{apiVersion: v1, kind: Node, metadata: {name: n$node}, status: {allocatable: {cpu: '4', memory: 8Gi, pods: '20'}}}"
	echo ---
	for pod in $(seq 8); do
		echo "{apiVersion: v1, kind: Pod, metadata: {name: low-$node-$pod}, spec: {priority: $((pod % 3)), nodeName: n$node, \
			containers: [{name: main, resources: {requests: {cpu: 500m}}}]}}"
		echo ---
	done
done >tight.yaml
for pod in $(seq 30); do
	echo "{apiVersion: v1, kind: Pod, metadata: {name: high-$pod}, spec: {priority: $((pod % 5)), \
		containers: [{name: main, resources: {requests: {cpu: $((pod % 4 + 1))}}}]}}"
	echo ---
done >>tight.yaml
for seed in 1 2 3; do
	same tight.yaml "$seed"
	grep -q '"evicted"' got || fail "nothing was preempted, so that was not compared"
	grep -q '"delete"' got || fail "nobody went, so that was not compared"
done
finish
