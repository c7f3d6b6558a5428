/* SPDX-License-Identifier: Apache-2.0
 * Places pods of a workload together in a transaction: those of a PodGroup as its cycle does, others all or
 * none.
 */
#include "engine/flow/cycle/transaction.h"

#include "engine/base/check.h"
#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/transaction_int.h"

/* What the pod is decided with: its PodGroup, or the root of the group's tree; NULL: one is missing. */
static const struct bt_pod_group *root_of(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = bt_transaction_pod(engine, pod_ix)->signature;

	return bt_pod_groups_root(&engine->groups,
		bt_pod_groups_find(&engine->groups, signature->namespace_, signature->pod_group));
}

enum bt_workload_kind bt_transaction_workload_kind(
	const struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n)
{
	BT_REQUIRE(n > 0);
	bool grouped = bt_engine_in_group(engine, pod_ixs[0]);
	const struct bt_pod_group *group = grouped ? root_of(engine, pod_ixs[0]) : NULL;

	for (uint32_t i = 1; i < n; i++) {
		bool also = bt_engine_in_group(engine, pod_ixs[i]);

		if (also != grouped || (also && root_of(engine, pod_ixs[i]) != group) ||
			(also && bt_engine_runtime_of(engine, pod_ixs[i]) !=
					 bt_engine_runtime_of(engine, pod_ixs[0]))) {
			return BT_WORKLOAD_MIXED;
		}
	}
	if (!grouped) {
		return BT_WORKLOAD_PODS;
	}
	if (!group || !group->known) {
		return BT_WORKLOAD_UNKNOWN;
	}
	return bt_pod_groups_whole(&engine->groups) ? BT_WORKLOAD_GROUP : BT_WORKLOAD_UNSUPPORTED;
}

/* Why a pod gets no node beside those that have one. */
static void write_refusal(struct bt_engine *engine, uint32_t pod_ix, struct bt_buf *text)
{
	struct bt_explanation explanation = {0};

	bt_engine_explain(engine, pod_ix, &explanation);
	bt_engine_message(engine, &explanation, text);
	bt_explanation_fini(&explanation);
}

/* All pods, or none. */
static enum bt_outcome place_all(struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n,
	uint32_t *out_node_ixs, struct bt_buf *out_text)
{
	enum bt_outcome outcome = BT_PLACED;
	uint32_t tried_n = 0;

	bt_transaction_begin(engine);
	while (tried_n < n && outcome == BT_PLACED) {
		outcome = bt_transaction_place(engine, pod_ixs[tried_n], &out_node_ixs[tried_n]);
		tried_n++;
	}
	if (outcome == BT_PLACED) {
		bt_transaction_commit(engine, NULL);
		return BT_PLACED;
	}
	if (out_text) {
		write_refusal(engine, pod_ixs[tried_n - 1], out_text);
	}
	bt_transaction_roll_back(engine);
	return outcome == BT_FAILED ? BT_FAILED : BT_REFUSED;
}

/* The group's pods, by the algorithm of its cycle. */
static enum bt_outcome place_group(struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n,
	uint32_t *out_node_ixs, struct bt_buf *out_text)
{
	enum bt_outcome outcome = bt_transaction_place_group(engine, pod_ixs, n, out_text);

	for (uint32_t i = 0; outcome == BT_PLACED && i < n; i++) {
		out_node_ixs[i] = bt_transaction_pod(engine, pod_ixs[i])->node_ix;
	}
	return outcome;
}

enum bt_outcome bt_transaction_place_workload(struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n,
	uint32_t *out_node_ixs, struct bt_buf *out_text)
{
	struct bt_buf text = {0};
	enum bt_workload_kind kind = bt_transaction_workload_kind(engine, pod_ixs, n);
	enum bt_outcome outcome;

	BT_REQUIRE(bt_transaction_depth(engine) > 0);
	BT_REQUIRE(kind == BT_WORKLOAD_PODS || kind == BT_WORKLOAD_GROUP);
	for (uint32_t i = 0; i < n; i++) {
		out_node_ixs[i] = BT_NO_NODE;
	}
	outcome = kind == BT_WORKLOAD_PODS
			  ? place_all(engine, pod_ixs, n, out_node_ixs, out_text ? &text : NULL)
			  : place_group(engine, pod_ixs, n, out_node_ixs, &text);
	for (uint32_t i = 0; outcome != BT_PLACED && i < n; i++) {
		out_node_ixs[i] = BT_NO_NODE;
	}
	if (outcome != BT_PLACED && out_text) {
		bt_buf_str(out_text, bt_buf_view(&text));
	}
	bt_buf_fini(&text);
	return outcome;
}
