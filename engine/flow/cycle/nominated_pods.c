/* SPDX-License-Identifier: Apache-2.0
 * Counts nominated pods on their nodes while another pod is evaluated.
 */
#include "engine/flow/cycle/nominated_pods.h"
#include "engine/base/check.h"

/* Is the pod in the queue? */
static bool is_queued_pod(const struct bt_nominated_pods *n, uint32_t pod_ix)
{
	enum bt_wait where = bt_queue_info(n->queue, pod_ix).where;

	return where != BT_WAIT_NOWHERE && where != BT_WAIT_IN_FLIGHT;
}

/* The signature of a pod of which only the namespace is known. Valid until signatures are retired. */
static BT_NOINLINE const struct bt_signature *bare_signature(
	const struct bt_nominated_pods *n, uint32_t namespace_)
{
	const struct bt_pod_object object = {
		.meta.namespace_ = bt_intern_str(n->cache->dictionary->intern, namespace_)};
	struct bt_delta delta;

	bt_ingest_describe_pod(n->cache->worker, &object, &delta);
	const struct bt_signature *signature = delta.pod.pod.signature;
	bt_delta_drop(&delta);
	bt_counters_know(n->cache->counters, signature);
	return signature;
}

/*
 * The signature by which a nominated pod counts on its node for the cycle's pod; NULL: it does not count. Of
 * a pod that is in no queue (dropped because it is being deleted, or in the present group cycle) upstream
 * knows only the name: it counts as a pod of priority 0 without requests. Source: nominatedPodToInfo,
 * addGENominatedPods, v1.36.3.
 */
static const struct bt_signature *counts_as(const struct bt_nominated_pods *n, uint32_t pod_ix)
{
	const struct bt_ledger *ledger = n->cache->ledger;
	const struct bt_pod *pod = bt_ledger_pod(ledger, pod_ix);
	int32_t priority = bt_ledger_pod(ledger, n->pod_ix)->priority;

	BT_INVARIANT(pod->nominated_ix != BT_NO_NODE);
	if (pod_ix == n->pod_ix) {
		return NULL;
	}
	if (!is_queued_pod(n, pod_ix)) {
		return priority > 0 ? NULL : bare_signature(n, pod->signature->namespace_);
	}
	return pod->priority < priority ? NULL : pod->signature;
}

/* Adds the nominated pods that the cycle's pod must fit with to their node, or removes them. */
static bool shift_nominated(const struct bt_nominated_pods *n, uint32_t node_ix, bool add)
{
	struct bt_ledger *ledger = n->cache->ledger;
	bool any = false;

	for (uint32_t i = bt_ledger_first_nominated(ledger, node_ix); i != BT_NO_POD;
		i = bt_ledger_next(ledger, i)) {
		const struct bt_signature *signature = counts_as(n, i);

		if (!signature) {
			continue;
		}
		if (add && !any) {
			bt_ledger_try_begin(ledger, node_ix);
		}
		bt_ledger_try_as(ledger, i, signature, node_ix, add);
		any = true;
	}
	return any;
}

static bool put_nominated(void *context, uint32_t node_ix)
{
	BT_INVARIANT(node_ix < ((const struct bt_nominated_pods *)context)->cache->view.snapshot->slot_n);
	return shift_nominated(context, node_ix, true);
}

static void take_nominated(void *context, uint32_t node_ix)
{
	const struct bt_nominated_pods *n = context;

	shift_nominated(n, node_ix, false);
	bt_ledger_try_end(n->cache->ledger, node_ix);
}

void bt_nominated_pods_init(struct bt_nominated_pods *nominated, struct bt_cache *cache,
	const struct bt_queue *queue, const struct bt_release *release)
{
	*nominated = (struct bt_nominated_pods){
		.cache = cache,
		.queue = queue,
		.gated_count = bt_release_has(release, BT_RULE_GATED_NOMINATIONS_COUNT),
		.nominations_ahead = {put_nominated, take_nominated, nominated},
		.pod_ix = BT_NO_POD,
	};
}

void bt_nominated_pods_attach(struct bt_nominated_pods *nominated)
{
	bt_ledger_show_pods(nominated->cache->ledger, &nominated->pod_ix);
}

void bt_nominated_pods_set(struct bt_nominated_pods *nominated, uint32_t pod_ix)
{
	nominated->pod_ix = pod_ix;
}

const struct bt_nominations_ahead *bt_nominated_pods_begin(
	struct bt_nominated_pods *nominated, uint32_t pod_ix)
{
	BT_REQUIRE_HOT(pod_ix != BT_NO_POD);
	nominated->pod_ix = pod_ix;
	return bt_ledger_may_yield(nominated->cache->ledger, pod_ix) ? &nominated->nominations_ahead : NULL;
}
