/* SPDX-License-Identifier: Apache-2.0
 * Following a journal: makes each decision again, compares, and applies the journal's.
 */
#include <string.h>

#include "engine/base/mem.h"
#include "engine/base/varint.h"
#include "engine/flow/pipeline/replay_int.h"

/* ---- reading ---- */

static bool read_pod(struct bt_str *body, struct bt_str *out_namespace, struct bt_str *out_name)
{
	uint64_t pod_ix; /* from the journal */

	return bt_varint_get(body, &pod_ix) && bt_varint_get_text(body, out_namespace) &&
	       bt_varint_get_text(body, out_name);
}

static bool read_victims(struct bt_journal_player *r, struct bt_str *body)
{
	struct bt_followed *f = &r->following.journal;
	struct bt_str namespace_, name;
	uint64_t n;
	bool good = bt_varint_get(body, &n);

	f->victim_n = 0;
	f->missing = false;
	for (uint64_t i = 0; good && i < n; i++) {
		good = read_pod(body, &namespace_, &name);
		uint32_t pod_ix = good ? bt_engine_find_pod(bt_pipeline_engine(r->pipeline), namespace_, name)
				       : BT_NO_POD;

		f->missing |= pod_ix == BT_NO_POD;
		if (pod_ix != BT_NO_POD) {
			f->victims =
				bt_mem_grow(f->victims, f->victim_n, &f->victim_cap, sizeof(*f->victims));
			f->victims[f->victim_n++] = (struct bt_victim){.pod_ix = pod_ix};
		}
	}
	return good;
}

static bool read_decision(struct bt_journal_player *r, struct bt_str body)
{
	struct bt_followed *f = &r->following.journal;
	uint64_t plugins; /* numbered as in the journal's release */

	return bt_varint_get(&body, &f->outcome) && f->outcome <= BT_SKIPPED &&
	       read_pod(&body, &f->namespace_, &f->name) && bt_varint_get_text(&body, &f->node) &&
	       bt_varint_get(&body, &plugins) && bt_varint_get(&body, &f->preempt) &&
	       bt_varint_get_text(&body, &f->nominated) && read_victims(r, &body);
}

/* ---- judging ---- */

/* The slot of a node, or BT_NO_NODE. */
static uint32_t node_of(const struct bt_journal_player *r, struct bt_str name)
{
	const struct bt_cache *cache = bt_engine_cache(bt_pipeline_engine(r->pipeline));
	uint32_t known = bt_intern_find(cache->dictionary->intern, name);

	return name.len && known != BT_NAME_NONE ? bt_snapshot_find(cache->snapshot, known) : BT_NO_NODE;
}

/* An evaluation's result for a node that was not chosen. */
struct standing {
	bool feasible, best;
};

static struct standing standing_of(struct bt_journal_player *r, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_explanation *explanation = &r->following.explanation;
	const struct bt_evaluation *evaluation = &explanation->evaluation;
	struct standing standing = {false, false};
	int64_t own = 0, best = INT64_MIN;

	bt_engine_explain_cycle(bt_pipeline_engine(r->pipeline), pod_ix, explanation);
	for (uint32_t i = 0; i < evaluation->feasible_n; i++) {
		int64_t total = evaluation->feasible_n > 1 ? evaluation->totals[i] : 0;

		best = total > best ? total : best;
		if (evaluation->feasible[i] == node_ix) {
			standing.feasible = true;
			own = total;
		}
	}
	standing.best = standing.feasible && own == best;
	return standing;
}

static void list_victims(struct bt_journal_player *r, const struct bt_decision *decision)
{
	struct bt_buf *out = &r->following.victims;

	bt_buf_clear(out);
	for (uint32_t i = 0; i < decision->victim_n; i++) {
		struct bt_pod_ref pod = bt_pipeline_pod_ref(r->pipeline, decision->victims[i].pod_ix);

		bt_buf_printf(
			out, "%s%.*s/%.*s", i ? ", " : "", BT_STR_ARG(pod.namespace_), BT_STR_ARG(pod.name));
	}
}

/* Is a pod that is not placed nominated to the journal's node, with the same victims? */
static bool nominates_the_same(const struct bt_journal_player *r, const struct bt_decision *decision)
{
	const struct bt_followed *f = &r->following.journal;
	bool same = !f->missing && f->victim_n == decision->victim_n &&
		    decision->nominated_ix == node_of(r, f->nominated);

	for (uint32_t i = 0; same && i < f->victim_n; i++) {
		same = f->victims[i].pod_ix == decision->victims[i].pod_ix;
	}
	return same;
}

/* Reports this engine's decision. */
static void judge(
	struct bt_journal_player *r, const struct bt_decision *decision, bool agrees, struct bt_str message)
{
	const struct bt_followed *f = &r->following.journal;
	struct bt_judgment judgment = {.number = r->result->decision_n + 1,
		.namespace_ = f->namespace_,
		.name = f->name,
		.outcome = decision->outcome,
		.nominated = bt_pipeline_node_name(r->pipeline, decision->nominated_ix),
		.message = message,
		.agrees = agrees};

	list_victims(r, decision);
	judgment.victims = bt_buf_view(&r->following.victims);
	if (decision->outcome == BT_PLACED) {
		judgment.node = agrees ? f->node : bt_pipeline_node_name(r->pipeline, decision->node_ix);
	}
	r->options->follow.judged(r->options->follow.context, &judgment);
}

void bt_follow_steer(struct bt_journal_player *r, struct bt_decision *decision, struct bt_str message)
{
	const struct bt_followed *f = &r->following.journal;
	uint32_t node_ix = node_of(r, f->node);
	bool placed = decision->outcome == BT_PLACED, chosen = placed && decision->node_ix == node_ix;
	struct standing standing = {chosen, chosen};

	if (placed && !chosen && node_ix != BT_NO_NODE) {
		standing = standing_of(r, decision->pod_ix, node_ix);
	}
	bool agrees = placed ? standing.best
			     : (uint64_t)decision->outcome == f->outcome && nominates_the_same(r, decision);
	judge(r, decision, agrees, message);
	if (chosen || (agrees && !placed && (uint64_t)decision->preempt == f->preempt) ||
		f->outcome == BT_GATED || f->outcome == BT_SKIPPED || decision->outcome == BT_SKIPPED) {
		return;
	}
	bt_engine_impose(bt_pipeline_engine(r->pipeline), decision,
		&(struct bt_imposed){.outcome = (enum bt_outcome)f->outcome,
			.node_ix = node_ix,
			.fits = standing.feasible,
			/* Plugin numbers in the journal are those of its release. */
			.unschedulable_plugins = decision->unschedulable_plugins,
			.preempt = (enum bt_preempt_outcome)f->preempt,
			.nominated_ix = node_of(r, f->nominated),
			.victims = f->victims,
			.victim_n = f->victim_n});
}

enum bt_status bt_follow_decision(struct bt_journal_player *r, const struct bt_journal_record *record)
{
	struct bt_engine *engine = bt_pipeline_engine(r->pipeline);
	const struct bt_followed *f = &r->following.journal;

	if (!read_decision(r, record->body)) {
		return bt_replay_bad_record(r, record, "a decision that cannot be read");
	}
	uint32_t pod_ix = bt_engine_find_pod(engine, f->namespace_, f->name);
	if (pod_ix == BT_NO_POD || (f->outcome == BT_PLACED && node_of(r, f->node) == BT_NO_NODE)) {
		return bt_replay_bad_record(r, record, "a decision about a pod or node that is not there");
	}
	if (bt_engine_in_group(engine, pod_ix)) {
		return bt_replay_bad_record(r, record,
			"pods of a PodGroup are decided together and cannot be compared; leave the feature "
			"gate GenericWorkload out to compare them as single pods");
	}
	if (bt_engine_take_any(engine, pod_ix) != BT_OK) {
		return bt_replay_bad_record(r, record, "a decision about a pod that does not wait");
	}
	bt_schedule_one(&r->pipeline->cycle, pod_ix);
	r->result->decision_n++;
	r->result->placed_n += f->outcome == BT_PLACED;
	return BT_OK;
}

void bt_follow_fini(struct bt_following *following)
{
	bt_mem_free(following->journal.victims);
	bt_explanation_fini(&following->explanation);
	bt_buf_fini(&following->victims);
}
