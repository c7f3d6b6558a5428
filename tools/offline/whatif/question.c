/* SPDX-License-Identifier: Apache-2.0
 * Questions in transactions.
 */
#include "tools/offline/whatif/question.h"

#include <stdlib.h>
#include <string.h>

#include "cache/node_view.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/transaction.h"
#include "tools/offline/whatif/budget_use.h"
#include "tools/offline/whatif/question_int.h"

static const struct bt_cache *cache_of(const struct bt_run *run)
{
	return bt_engine_cache(run->engine);
}

static const struct bt_pod *ledger_pod(const struct bt_run *run, uint32_t pod_ix)
{
	return bt_ledger_pod(cache_of(run)->ledger, pod_ix);
}

/* The slot of a live node; BT_NO_NODE: there is none of that name. */
static uint32_t find_node(struct bt_engine *engine, struct bt_str name)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	uint32_t interned = bt_intern_find(cache->dictionary->intern, name);

	return interned == BT_NAME_NONE ? BT_NO_NODE : bt_snapshot_find(cache->snapshot, interned);
}

/* ---- pods of a question ---- */

static struct bt_run_pod *add_pod(struct bt_run *run, struct bt_run_pod pod)
{
	run->pods = bt_mem_grow(run->pods, run->pod_n, &run->pod_cap, sizeof(*run->pods));
	bt_map_put(&run->by_ix, (uint64_t)pod.now_ix + 1, (uint32_t)run->pod_n);
	run->pods[run->pod_n] = pod;
	return &run->pods[run->pod_n++];
}

/* What the question knows of a pod by its present index; NULL: it has not touched it. */
static struct bt_run_pod *known_pod(const struct bt_run *run, uint32_t pod_ix)
{
	uint32_t at;

	return bt_map_get(&run->by_ix, (uint64_t)pod_ix + 1, &at) ? &run->pods[at] : NULL;
}

/* A pod of the cluster that the question touches for the first time. */
static struct bt_run_pod *touch(struct bt_run *run, uint32_t pod_ix)
{
	struct bt_run_pod *known = known_pod(run, pod_ix);
	const struct bt_pod *pod = ledger_pod(run, pod_ix);
	const struct bt_pod_note note = bt_inventory_pod(run->inventory, pod_ix);

	if (known) {
		return known;
	}
	return add_pod(run, (struct bt_run_pod){.first_ix = pod_ix,
				    .now_ix = pod_ix,
				    .from_ix = pod->node_ix,
				    .to_ix = pod->node_ix,
				    .state = pod->node_ix == BT_NO_NODE ? BT_RUN_WAITS : BT_RUN_PLACED,
				    .fate = BT_FATE_N,
				    .note = note,
				    .priority = pod->priority,
				    .creation_ns = pod->creation_ns});
}

/* Takes a pod off its node. */
static void leave(struct bt_run *run, struct bt_run_pod *pod)
{
	if (pod->state == BT_RUN_PLACED) {
		bt_transaction_evict(run->engine, pod->now_ix);
	}
	pod->state = BT_RUN_GONE;
}

static void come_again(struct bt_run *run, struct bt_run_pod *pod)
{
	pod->now_ix = bt_transaction_add_copy(run->engine, pod->now_ix);
	pod->state = BT_RUN_WAITS;
	bt_map_put(&run->by_ix, (uint64_t)pod->now_ix + 1, (uint32_t)(pod - run->pods));
}

/* A pod leaves its node, and its controller makes another one. ended: the fate of one without. */
static void displace(struct bt_run *run, struct bt_run_pod *pod, enum bt_fate ended)
{
	run->displaced_n += pod->displaced_n++ == 0;
	leave(run, pod);
	if (pod->note.role == BT_ROLE_ENDS) {
		pod->fate = ended;
	} else {
		come_again(run, pod);
	}
}

/* The pods on a node by importance, in run->order; ix is the pod's. */
static size_t order_of_node(struct bt_run *run, uint32_t node_ix)
{
	const struct bt_ledger *ledger = cache_of(run)->ledger;
	size_t n = 0;

	for (uint32_t ix = bt_ledger_first_on(ledger, node_ix); ix != BT_NO_POD;
		ix = bt_ledger_next(ledger, ix)) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, ix);

		run->order = bt_mem_grow(run->order, n, &run->order_cap, sizeof(*run->order));
		run->order[n++] = (struct bt_importance){pod->priority, pod->creation_ns, ix};
	}
	if (n) {
		qsort(run->order, n, sizeof(*run->order), bt_by_importance);
	}
	return n;
}

/* ---- steps of nodes ---- */

static bool ends_with_node(const struct bt_run_pod *pod)
{
	return pod->note.role == BT_ROLE_STAYS || pod->note.role == BT_ROLE_STATIC;
}

static void drain(struct bt_run *run, uint32_t node_ix)
{
	size_t n = order_of_node(run, node_ix);

	bt_transaction_close_node(run->engine, node_ix, true);
	bt_bitmap_set(run->away, node_ix);
	for (size_t i = 0; i < n; i++) {
		struct bt_run_pod *pod = touch(run, run->order[i].ix);

		if (ends_with_node(pod)) {
			continue;
		}
		if (bt_budget_use_charge(&run->budgets, cache_of(run), ledger_pod(run, pod->now_ix))) {
			run->forbidden_n++;
		}
		displace(run, pod, BT_FATE_NOT_RECREATED);
	}
}

static void lose(struct bt_run *run, uint32_t node_ix)
{
	size_t n = order_of_node(run, node_ix);

	for (size_t i = 0; i < n; i++) {
		struct bt_run_pod *pod = touch(run, run->order[i].ix);

		if (ends_with_node(pod)) {
			leave(run, pod);
		} else {
			displace(run, pod, BT_FATE_LOST);
		}
	}
	bt_transaction_remove_node(run->engine, node_ix);
}

/* Does a taint with the effect NoExecute evict the pod? Source: the controller tainteviction, without
 * tolerationSeconds. */
static bool is_evicted(const struct bt_run *run, const struct bt_signature *signature, uint32_t node_ix)
{
	const struct bt_snapshot *snapshot = cache_of(run)->view.snapshot;
	const struct bt_taint_set *taints = &snapshot->taint_sets[snapshot->nodes[node_ix].taint_set];

	for (uint32_t i = 0; i < taints->n; i++) {
		bool tolerated = taints->items[i].effect != BT_NAME_NO_EXECUTE;

		for (uint32_t t = 0; t < signature->toleration_n && !tolerated; t++) {
			tolerated = bt_tolerates(cache_of(run)->dictionary->intern,
				&signature->tolerations[t], &taints->items[i], false);
		}
		if (!tolerated) {
			return true;
		}
	}
	return false;
}

static void change_node(struct bt_run *run, const struct bt_node_object *object)
{
	uint32_t node_ix;

	(void)bt_transaction_apply_node(run->engine, object, &node_ix);
	size_t n = order_of_node(run, node_ix);
	for (size_t i = 0; i < n; i++) {
		if (is_evicted(run, ledger_pod(run, run->order[i].ix)->signature, node_ix)) {
			struct bt_run_pod *pod = touch(run, run->order[i].ix);

			if (ends_with_node(pod)) {
				leave(run, pod);
			} else {
				displace(run, pod, BT_FATE_NOT_RECREATED);
			}
		}
	}
}

/* ---- steps of pods ---- */

/* The present pod of a name, or NULL. */
static struct bt_run_pod *find_pod(struct bt_run *run, struct bt_str namespace_, struct bt_str name)
{
	uint32_t pod_ix = bt_engine_find_pod(run->engine, namespace_, name);

	return pod_ix == BT_NO_POD ? NULL : touch(run, pod_ix);
}

/* A name that a pod of the cluster has gets dots at the end, which no real name has. Returns: whether the pod
 * is added. */
static bool add_object(struct bt_run *run, const struct bt_pod_object *object)
{
	struct bt_pod_object pod = *object;
	struct bt_buf name = {0};
	uint32_t pod_ix;
	enum bt_status status;

	bt_buf_str(&name, pod.meta.name);
	do {
		pod.meta.name = bt_buf_view(&name);
		status = bt_transaction_add_pod(run->engine, &pod, &pod_ix);
		bt_buf_char(&name, '.');
	} while (status == BT_EXISTS);
	bt_buf_fini(&name);
	if (pod_ix == BT_NO_POD) {
		return false;
	}
	const struct bt_pod *entered = ledger_pod(run, pod_ix);
	add_pod(run, (struct bt_run_pod){.first_ix = pod_ix,
			     .now_ix = pod_ix,
			     .from_ix = BT_NO_NODE,
			     .to_ix = entered->node_ix,
			     .state = entered->node_ix == BT_NO_NODE ? BT_RUN_WAITS : BT_RUN_PLACED,
			     .fate = BT_FATE_N,
			     .is_new = true,
			     .note = bt_pod_note_of(run->inventory, object),
			     .priority = entered->priority,
			     .creation_ns = entered->creation_ns});
	return true;
}

static void add_or_replace(struct bt_run *run, const struct bt_pod_object *object)
{
	struct bt_run_pod *old = find_pod(run, object->meta.namespace_, object->meta.name);

	if (old && old->state != BT_RUN_GONE) {
		leave(run, old);
		old->fate = BT_FATE_DELETED;
	}
	(void)add_object(run, object);
}

static void delete_pod(struct bt_run *run, const struct bt_step *step)
{
	struct bt_run_pod *pod = find_pod(run, step->namespace_, step->name);

	if (!pod || pod->state == BT_RUN_GONE) {
		return;
	}
	if (pod->state == BT_RUN_PLACED &&
		(pod->note.role == BT_ROLE_MOVES || pod->note.role == BT_ROLE_STAYS)) {
		displace(run, pod, BT_FATE_DELETED);
		return;
	}
	leave(run, pod);
	pod->fate = BT_FATE_DELETED;
}

/* ---- scaling ---- */

/* The number behind the last dash of a pod's name; -1: none. */
static int64_t ordinal_of(const struct bt_run *run, uint32_t pod_ix)
{
	struct bt_str name = bt_intern_str(cache_of(run)->dictionary->intern, ledger_pod(run, pod_ix)->name);
	size_t at = name.len;
	int64_t number;

	while (at > 0 && name.ptr[at - 1] != '-') {
		at--;
	}
	return at > 0 && bt_parse_int64(bt_str_sub(name, at, name.len), &number) ? number : -1;
}

static bool is_present(const struct bt_run *run, uint32_t pod_ix)
{
	const struct bt_run_pod *known = known_pod(run, pod_ix);
	const struct bt_pod *pod = ledger_pod(run, pod_ix);

	if (known) {
		return known->now_ix == pod_ix && known->state != BT_RUN_GONE;
	}
	return !pod->terminating && !pod->detached && !pod->ended;
}

static uint64_t workload_of(const struct bt_run *run, uint32_t pod_ix)
{
	const struct bt_run_pod *known = known_pod(run, pod_ix);

	return known ? known->note.workload : bt_inventory_pod(run->inventory, pod_ix).workload;
}

/* The present pods of a workload, in run->victims. */
static size_t list_workload(struct bt_run *run, uint64_t workload, bool by_ordinal)
{
	const struct bt_ledger *ledger = cache_of(run)->ledger;
	struct bt_map on_node = {0};
	size_t n = 0;

	for (uint32_t ix = 0; ix < bt_ledger_pod_end(ledger); ix++) {
		if (!bt_ledger_has(ledger, ix) || workload_of(run, ix) != workload || !is_present(run, ix)) {
			continue;
		}
		const struct bt_pod *pod = bt_ledger_pod(ledger, ix);
		uint32_t beside = 0;

		bt_map_get(&on_node, (uint64_t)pod->node_ix + 1, &beside);
		bt_map_put(&on_node, (uint64_t)pod->node_ix + 1, beside + 1);
		run->victims = bt_mem_grow(run->victims, n, &run->victim_cap, sizeof(*run->victims));
		run->victims[n++] = (struct bt_run_victim){.ix = ix,
			.node_ix = pod->node_ix,
			.waits = pod->node_ix == BT_NO_NODE,
			.deletion_cost = bt_inventory_pod(run->inventory, ix).deletion_cost,
			.creation_ns = pod->creation_ns,
			.ordinal = by_ordinal ? ordinal_of(run, ix) : 0};
	}
	for (size_t i = 0; i < n; i++) {
		bt_map_get(&on_node, (uint64_t)run->victims[i].node_ix + 1, &run->victims[i].beside_n);
	}
	bt_map_fini(&on_node);
	return n;
}

/* The first one is deleted first. Source: ActivePodsWithRanks, pkg/controller/controller_utils.go, v1.37.2,
 * for pods that all run; a StatefulSet's by ordinal. */
static int by_deletion(const void *a, const void *b)
{
	const struct bt_run_victim *x = a, *y = b;

	if (x->ordinal != y->ordinal) {
		return x->ordinal > y->ordinal ? -1 : 1;
	}
	if (x->waits != y->waits) {
		return x->waits ? -1 : 1;
	}
	if (x->deletion_cost != y->deletion_cost) {
		return x->deletion_cost < y->deletion_cost ? -1 : 1;
	}
	if (x->beside_n != y->beside_n) {
		return x->beside_n > y->beside_n ? -1 : 1;
	}
	if (x->creation_ns != y->creation_ns) {
		return x->creation_ns > y->creation_ns ? -1 : 1;
	}
	return x->ix > y->ix ? -1 : x->ix < y->ix;
}

static void scale(struct bt_run *run, const struct bt_step *step)
{
	size_t n = list_workload(run, step->workload, step->by_ordinal);

	if (n > step->replicas) {
		qsort(run->victims, n, sizeof(*run->victims), by_deletion);
		for (size_t i = 0; i < n - step->replicas; i++) {
			struct bt_run_pod *pod = touch(run, run->victims[i].ix);

			leave(run, pod);
			pod->fate = BT_FATE_DELETED;
		}
		return;
	}
	uint64_t missing = step->replicas - n;
	for (size_t i = 0; i < step->pod_n && missing > 0; i++) {
		const struct bt_meta_object *meta = &step->pods[i].meta;
		uint32_t same_ix = bt_engine_find_pod(run->engine, meta->namespace_, meta->name);

		/* The name of a pod that has left is free. */
		if (same_ix == BT_NO_POD || !is_present(run, same_ix)) {
			missing -= add_object(run, &step->pods[i]);
		}
	}
}

/* ---- placing ---- */

/* May the placement of other pods help a pod of the signature that fits nowhere? */
static bool placements_help(const struct bt_signature *signature)
{
	return signature->pod_affinity || signature->spread_n || signature->claim_n;
}

/* Grows with all that may help a pod of the signature. */
static uint32_t stamp_of(const struct bt_run *run, const struct bt_signature *signature)
{
	return run->change_n + (placements_help(signature) ? run->settled_n : 0);
}

/* Equal pods have equal keys. */
static uint64_t kind_of(const struct bt_pod *pod)
{
	uint64_t serial = pod->signature->serial << 1 | pod->never_preempts;

	return bt_pair_key((uint32_t)serial, (uint32_t)pod->priority);
}

static struct bt_importance rank_of(const struct bt_run *run, uint32_t place)
{
	const struct bt_run_pod *pod = &run->pods[place];

	return (struct bt_importance){pod->priority, pod->creation_ns, place};
}

/* Adds a pod to those that wait, which are sorted from the at-th on. */
static void wait_in_order(struct bt_run *run, uint32_t place, size_t at)
{
	const struct bt_importance rank = rank_of(run, place);

	while (at < run->order_n && bt_by_importance(&run->order[at], &rank) < 0) {
		at++;
	}
	run->order = bt_mem_grow(run->order, run->order_n, &run->order_cap, sizeof(*run->order));
	memmove(&run->order[at + 1], &run->order[at], (run->order_n - at) * sizeof(*run->order));
	run->order[at] = rank;
	run->order_n++;
}

/* The pod at by has evicted a pod, whose controller makes another one. It waits among the pods from the at-th
 * on. */
static void note_victim(struct bt_run *run, uint32_t by, uint32_t victim_ix, size_t at)
{
	const struct bt_pod *victim = ledger_pod(run, victim_ix);
	struct bt_run_pod *pod = touch(run, victim_ix);
	const uint32_t place = (uint32_t)(pod - run->pods);
	const size_t budget = bt_budget_use_preempt(&run->budgets, cache_of(run), victim);

	run->violated_n += budget != SIZE_MAX;
	run->preemptions = bt_mem_grow(
		run->preemptions, run->preemption_n, &run->preemption_cap, sizeof(*run->preemptions));
	run->preemptions[run->preemption_n++] =
		(struct bt_run_preemption){place, by, victim->node_ix, budget};
	pod->preempted_n++;
	pod->state = BT_RUN_GONE;
	if (pod->note.role == BT_ROLE_ENDS || pod->note.role == BT_ROLE_STATIC) {
		pod->fate = BT_FATE_PREEMPTED_ENDED;
		return;
	}
	come_again(run, pod);
	pod->creation_ns = INT64_MAX;
	wait_in_order(run, place, at);
}

/* Preempts for a pod that was just refused. Returns: whether it has a node now. */
static bool preempt(struct bt_run *run, uint32_t place, size_t at)
{
	struct bt_run_pod *pod = &run->pods[place];
	struct bt_transaction_preemption preemption;

	bool placed = bt_transaction_preempt(run->engine, pod->now_ix, &pod->to_ix, &preemption) == BT_PLACED;
	if (preemption.victim_n == 0) {
		return false;
	}
	run->change_n++;
	if (!placed) {
		pod->vain_n = run->round_n;
	}
	for (uint32_t i = 0; i < preemption.victim_n; i++) {
		note_victim(run, place, preemption.victims[i].pod_ix, at);
	}
	return placed;
}

/* Tries the pod that waits at the at-th place of the order. Returns: whether it has a node now. */
static bool place_at(struct bt_run *run, size_t at)
{
	const uint32_t place = run->order[at].ix;
	struct bt_run_pod *pod = &run->pods[place];
	const struct bt_signature *signature = ledger_pod(run, pod->now_ix)->signature;
	const uint64_t kind = kind_of(ledger_pod(run, pod->now_ix));
	uint32_t refused_at;

	/* Nothing has changed since an equal pod was refused. */
	if (bt_map_get(&run->refused, kind, &refused_at) && refused_at == stamp_of(run, signature)) {
		return false;
	}
	enum bt_outcome outcome = bt_transaction_place(run->engine, pod->now_ix, &pod->to_ix);
	bool placed = outcome == BT_PLACED;
	if (outcome == BT_REFUSED && run->question->preempts && pod->vain_n != run->round_n) {
		placed = preempt(run, place, at + 1);
	}
	if (!placed) {
		bt_map_put(&run->refused, kind, stamp_of(run, signature));
		return false;
	}
	run->pods[place].state = BT_RUN_PLACED;
	run->settled_n++;
	return true;
}

/* The pods that wait, by importance, in run->order. */
static void list_waiting(struct bt_run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->pod_n; i++) {
		if (run->pods[i].state == BT_RUN_WAITS) {
			run->order = bt_mem_grow(run->order, n, &run->order_cap, sizeof(*run->order));
			run->order[n++] = rank_of(run, (uint32_t)i);
		}
	}
	run->order_n = n;
	if (n) {
		qsort(run->order, n, sizeof(*run->order), bt_by_importance);
	}
}

/* Ends: each pass but the last one has placed a pod or evicted one for a pod that will not evict again, and a
 * pod is evicted only for one of higher priority. */
static void place_waiting(struct bt_run *run)
{
	bool goes_on = true;

	run->change_n++;
	run->round_n++;
	while (goes_on) {
		size_t preemption_n = run->preemption_n;

		goes_on = false;
		list_waiting(run);
		for (size_t i = 0; i < run->order_n; i++) {
			goes_on |= place_at(run, i);
		}
		goes_on |= run->preemption_n > preemption_n;
	}
}

/* ---- the question ---- */

/* The pods that wait before: those that a cycle may place. */
static void list_pending(struct bt_run *run)
{
	const struct bt_ledger *ledger = cache_of(run)->ledger;

	for (uint32_t ix = 0; ix < bt_ledger_pod_end(ledger); ix++) {
		const struct bt_pod *pod = bt_ledger_has(ledger, ix) ? bt_ledger_pod(ledger, ix) : NULL;

		if (pod && pod->state == BT_POD_QUEUED && !pod->detached && !pod->terminating &&
			pod->gates == BT_NAME_NONE && !pod->signature->incomplete) {
			touch(run, ix)->was_pending = true;
		}
	}
}

void bt_step_rehearse(struct bt_engine *engine, const struct bt_step *step)
{
	uint32_t node_ix = find_node(engine, step->name);

	if (step->kind == BT_STEP_NODE) {
		(void)bt_transaction_apply_node(engine, step->node, &node_ix);
	} else if (step->kind == BT_STEP_LOSE && node_ix != BT_NO_NODE) {
		bt_transaction_remove_node(engine, node_ix);
	}
}

static void take_step(struct bt_run *run, const struct bt_step *step)
{
	const bool of_node = step->kind == BT_STEP_DRAIN || step->kind == BT_STEP_LOSE;
	uint32_t node_ix = of_node ? find_node(run->engine, step->name) : BT_NO_NODE;

	/* Two changes may take the same node away. */
	if (of_node && node_ix == BT_NO_NODE) {
		return;
	}
	switch (step->kind) {
	case BT_STEP_DRAIN:
		run->node_n++;
		drain(run, node_ix);
		break;
	case BT_STEP_LOSE:
		run->node_n++;
		lose(run, node_ix);
		break;
	case BT_STEP_NODE:
		change_node(run, step->node);
		break;
	case BT_STEP_ADD_POD:
		add_or_replace(run, step->pods);
		break;
	case BT_STEP_DELETE_POD:
		delete_pod(run, step);
		break;
	case BT_STEP_SCALE:
		scale(run, step);
		break;
	}
}

/* Room for slots that nodes of the question get. */
static size_t slots_of(const struct bt_run *run, const struct bt_question *question)
{
	return cache_of(run)->view.snapshot->slot_n + question->step_n;
}

void bt_question_answer(struct bt_loaded_cluster *cluster, const struct bt_inventory *inventory,
	const struct bt_question *question, struct bt_arena *arena, struct bt_whatif_answer *out_answer)
{
	struct bt_run run = {.engine = cluster->engine, .inventory = inventory, .question = question};

	run.away_n = slots_of(&run, question);
	run.away = bt_mem_zalloc(bt_bitmap_words(run.away_n), sizeof(*run.away));
	bt_budget_use_begin(&run.budgets, cache_of(&run));
	bt_transaction_begin(run.engine);
	bt_run_measure(&run, &run.before);
	if (question->tries_pending) {
		list_pending(&run);
	}
	for (size_t i = 0; i < question->step_n; i++) {
		const struct bt_step *step = question->steps[i];

		take_step(&run, step);
		if (i + 1 == question->step_n || question->steps[i + 1]->change_ix != step->change_ix) {
			place_waiting(&run);
		}
	}
	bt_run_answer(&run, arena, out_answer);
	bt_transaction_roll_back(run.engine);
	bt_budget_use_end(&run.budgets);
	bt_run_sums_fini(&run.before);
	bt_mem_free(run.away);
	bt_mem_free(run.pods);
	bt_mem_free(run.order);
	bt_mem_free(run.victims);
	bt_mem_free(run.preemptions);
	bt_map_fini(&run.by_ix);
	bt_map_fini(&run.refused);
}
