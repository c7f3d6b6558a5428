/* SPDX-License-Identifier: Apache-2.0
 * What a simulation counts for its report.
 */
#include "tools/offline/simulate/tally.h"

#include "engine/base/mem.h"

static const struct bt_pod *pod_at(const struct bt_simulate_tally *tally, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(tally->engine)->ledger, pod_ix);
}

static void count_attempts(struct bt_simulate_tally *tally, uint32_t n)
{
	struct bt_report_attempts *a = &tally->attempts;
	int bucket = n <= 2 ? (int)n - 1 : n <= 5 ? 2 : 3;

	a->pod_n++;
	a->sum += n;
	a->most = n > a->most ? n : a->most;
	a->buckets[bucket]++;
}

static void count_wait(struct bt_simulate_tally *tally, int64_t wait_ns)
{
	if (wait_ns <= 0) {
		tally->unwaited_n++;
		return;
	}
	tally->waits = bt_mem_grow(tally->waits, tally->wait_n, &tally->wait_cap, sizeof(*tally->waits));
	tally->waits[tally->wait_n++] = wait_ns;
}

/* The report is made after the pod's deletion, so its names are pinned. */
static struct bt_report_victim name_of(const struct bt_simulate_tally *tally, uint32_t pod_ix)
{
	struct bt_intern *intern = bt_engine_cache(tally->engine)->dictionary->intern;
	const struct bt_pod *pod = pod_at(tally, pod_ix);

	bt_intern_pin(intern, pod->signature->namespace_);
	bt_intern_pin(intern, pod->name);
	return (struct bt_report_victim){pod->signature->namespace_, pod->name};
}

static uint32_t node_name(const struct bt_simulate_tally *tally, uint32_t node_ix)
{
	return node_ix == BT_NO_NODE ? BT_NAME_NONE
				     : bt_engine_cache(tally->engine)->view.snapshot->nodes[node_ix].name;
}

/* Closes the pod's last preemption. */
static void settle(
	struct bt_simulate_tally *tally, uint32_t pod_ix, enum bt_preemption_end end, int64_t now_ns)
{
	uint32_t ix;

	if (bt_map_get(&tally->open, (uint64_t)pod_ix + 1, &ix)) {
		tally->preemptions[ix].end = end;
		tally->preemptions[ix].end_ns = now_ns;
		bt_map_remove(&tally->open, (uint64_t)pod_ix + 1);
	}
}

static void open_preemption(
	struct bt_simulate_tally *tally, const struct bt_decision *decision, int64_t now_ns)
{
	uint32_t ix;

	tally->preemptor_n += !bt_map_get(&tally->open, (uint64_t)decision->pod_ix + 1, &ix);
	settle(tally, decision->pod_ix, BT_PREEMPTION_UNUSED, now_ns);
	tally->preemptions = bt_mem_grow(
		tally->preemptions, tally->preemption_n, &tally->preemption_cap, sizeof(*tally->preemptions));
	bt_map_put(&tally->open, (uint64_t)decision->pod_ix + 1, (uint32_t)tally->preemption_n);
	tally->preemptions[tally->preemption_n++] = (struct bt_report_preemption){
		.pod = name_of(tally, decision->pod_ix),
		.node = node_name(tally, decision->nominated_ix),
		.first_victim = tally->victim_n,
		.victim_n = decision->victim_n,
		.at_ns = now_ns,
	};
	bt_intern_pin(
		bt_engine_cache(tally->engine)->dictionary->intern, node_name(tally, decision->nominated_ix));
	for (uint32_t i = 0; i < decision->victim_n; i++) {
		tally->victims = bt_mem_grow(
			tally->victims, tally->victim_n, &tally->victim_cap, sizeof(*tally->victims));
		tally->victims[tally->victim_n++] = name_of(tally, decision->victims[i].pod_ix);
	}
}

void bt_simulate_tally_decision(struct bt_simulate_tally *tally, const struct bt_decision *decision,
	const struct bt_queue_info *info, int64_t since_ns, int64_t now_ns)
{
	uint32_t ix;

	if (decision->outcome == BT_PLACED) {
		count_attempts(tally, info->attempts);
		count_wait(tally, now_ns - since_ns);
	}
	if (decision->outcome == BT_PLACED && tally->open.count &&
		bt_map_get(&tally->open, (uint64_t)decision->pod_ix + 1, &ix)) {
		bool there = tally->preemptions[ix].node == node_name(tally, decision->node_ix);

		settle(tally, decision->pod_ix, there ? BT_PREEMPTION_PLACED : BT_PREEMPTION_UNUSED, now_ns);
	}
	if (decision->victim_n) {
		open_preemption(tally, decision, now_ns);
	}
}

/* A pod's attempts ended without success. */
static void simulate_tally_give_up(struct bt_simulate_tally *tally, uint32_t pod_ix)
{
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(tally->engine), pod_ix);

	if (info.attempts) {
		count_attempts(tally, info.attempts);
	}
}

void bt_simulate_tally_leave(struct bt_simulate_tally *tally, uint32_t pod_ix)
{
	simulate_tally_give_up(tally, pod_ix);
	settle(tally, pod_ix, BT_PREEMPTION_UNUSED, 0);
}

void bt_simulate_tally_end(struct bt_simulate_tally *tally)
{
	const struct bt_ledger *ledger = bt_engine_cache(tally->engine)->ledger;
	uint32_t ix;

	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);

		if (pod->state != BT_POD_QUEUED) {
			continue;
		}
		simulate_tally_give_up(tally, i);
		if (bt_map_get(&tally->open, (uint64_t)i + 1, &ix) &&
			tally->preemptions[ix].node != node_name(tally, pod->nominated_ix)) {
			settle(tally, i, BT_PREEMPTION_UNUSED, 0);
		}
	}
}

void bt_simulate_tally_fini(struct bt_simulate_tally *tally)
{
	bt_mem_free(tally->waits);
	bt_mem_free(tally->preemptions);
	bt_mem_free(tally->victims);
	bt_map_fini(&tally->open);
}
