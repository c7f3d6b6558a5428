/* SPDX-License-Identifier: Apache-2.0
 * Following a journal: makes each decision again, compares, and applies the journal's.
 */
#include <string.h>

#include "engine/base/mem.h"
#include "engine/base/varint.h"
#include "engine/flow/pipeline/replay_int.h"

/* ---- reading ---- */

static struct bt_engine *engine_of(const struct bt_journal_player *r)
{
	return bt_pipeline_engine(r->pipeline);
}

static bool read_pod(struct bt_str *body, struct bt_str *out_namespace, struct bt_str *out_name)
{
	uint64_t pod_ix; /* from the journal */

	return bt_varint_get(body, &pod_ix) && bt_varint_get_text(body, out_namespace) &&
	       bt_varint_get_text(body, out_name);
}

static bool read_victims(struct bt_journal_player *r, struct bt_str *body, struct bt_followed *f)
{
	struct bt_str namespace_, name;
	uint64_t n;
	bool good = bt_varint_get(body, &n);

	f->victim_n = 0;
	f->missing = false;
	for (uint64_t i = 0; good && i < n; i++) {
		good = read_pod(body, &namespace_, &name);
		uint32_t pod_ix = good ? bt_engine_find_pod(engine_of(r), namespace_, name) : BT_NO_POD;

		f->missing |= pod_ix == BT_NO_POD;
		if (pod_ix != BT_NO_POD) {
			f->victims =
				bt_mem_grow(f->victims, f->victim_n, &f->victim_cap, sizeof(*f->victims));
			f->victims[f->victim_n++] = (struct bt_victim){.pod_ix = pod_ix};
		}
	}
	return good;
}

/* Reads a decision to the run's end, without counting it. Returns: NULL: it cannot be read. */
static struct bt_followed *read_decision(struct bt_journal_player *r, struct bt_str body)
{
	struct bt_following *following = &r->following;
	uint64_t plugins; /* numbered as in the journal's release */

	if (following->run_n == following->slot_n) {
		following->run = bt_mem_grow(
			following->run, following->slot_n, &following->run_cap, sizeof(*following->run));
		following->run[following->slot_n++] = (struct bt_followed){.victims = NULL};
	}
	struct bt_followed *f = &following->run[following->run_n];
	if (!bt_varint_get(&body, &f->outcome) || (f->outcome & BT_JOURNAL_OUTCOME) > BT_SKIPPED ||
		!read_pod(&body, &f->namespace_, &f->name) || !bt_varint_get_text(&body, &f->node) ||
		!bt_varint_get(&body, &plugins) || !bt_varint_get(&body, &f->preempt) ||
		!bt_varint_get_text(&body, &f->nominated) || !read_victims(r, &body, f)) {
		return NULL;
	}
	f->waits = f->outcome & BT_JOURNAL_WAITS;
	f->waited = f->outcome & BT_JOURNAL_WAITED;
	f->outcome &= BT_JOURNAL_OUTCOME;
	f->by_group = f->preempt & BT_JOURNAL_BY_GROUP;
	f->preempt &= ~BT_JOURNAL_BY_GROUP;
	f->pod_ix = bt_engine_find_pod(engine_of(r), f->namespace_, f->name);
	f->judged = false;
	return f;
}

/* The slot of a node, or BT_NO_NODE. */
static uint32_t node_of(const struct bt_journal_player *r, struct bt_str name)
{
	const struct bt_cache *cache = bt_engine_cache(engine_of(r));
	uint32_t known = bt_intern_find(cache->dictionary->intern, name);

	return name.len && known != BT_NAME_NONE ? bt_snapshot_find(cache->snapshot, known) : BT_NO_NODE;
}

static bool is_there(const struct bt_journal_player *r, const struct bt_followed *f)
{
	return f->pod_ix != BT_NO_POD && (f->outcome != BT_PLACED || node_of(r, f->node) != BT_NO_NODE);
}

/* The followed decision about a pod, or NULL. */
static struct bt_followed *followed_of(struct bt_journal_player *r, uint32_t pod_ix)
{
	struct bt_following *following = &r->following;

	for (size_t i = 0; i < following->run_n; i++) {
		if (following->run[i].pod_ix == pod_ix) {
			return &following->run[i];
		}
	}
	return NULL;
}

/* Are the pods decided together here? */
static bool are_together(const struct bt_journal_player *r, uint32_t pod_ix, uint32_t other_ix)
{
	const struct bt_engine *engine = engine_of(r);
	const struct bt_ledger *ledger = bt_engine_cache(engine_of(r))->ledger;

	return bt_engine_in_group(engine, pod_ix) && bt_engine_in_group(engine, other_ix) &&
	       bt_ledger_pod(ledger, pod_ix)->signature->namespace_ ==
		       bt_ledger_pod(ledger, other_ix)->signature->namespace_ &&
	       bt_engine_whole_group(engine, pod_ix) == bt_engine_whole_group(engine, other_ix);
}

/* Reads on while decisions are about further pods of the first one's group. A cycle decides a pod once. */
static void read_group(struct bt_journal_player *r)
{
	struct bt_following *following = &r->following;
	struct bt_journal_reader ahead = *r->reader;
	struct bt_journal_record record;
	struct bt_buf ignored = {0}; /* the next reader of that record reports it */

	while (bt_journal_next(&ahead, &record, &ignored) == BT_OK && record.kind == BT_JOURNAL_DECISION) {
		const struct bt_followed *f = read_decision(r, record.body);

		if (!f || !is_there(r, f) || f->waited || followed_of(r, f->pod_ix) ||
			!are_together(r, following->run[0].pod_ix, f->pod_ix)) {
			break;
		}
		following->run_n++;
		*r->reader = ahead;
	}
	bt_buf_fini(&ignored);
}

/* ---- judging ---- */

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

	bt_engine_explain_cycle(engine_of(r), pod_ix, explanation);
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

uint32_t bt_follow_choose(struct bt_journal_player *r, uint32_t pod_ix, uint32_t node_ix)
{
	const struct bt_followed *f = followed_of(r, pod_ix);
	uint32_t other_ix = f ? node_of(r, f->outcome == BT_PLACED ? f->node : f->nominated) : BT_NO_NODE;

	if (other_ix == BT_NO_NODE || other_ix == node_ix) {
		return node_ix;
	}
	return standing_of(r, pod_ix, other_ix).best ? other_ix : node_ix;
}

uint32_t bt_follow_rank(struct bt_journal_player *r, uint32_t pod_ix)
{
	const struct bt_followed *f = followed_of(r, pod_ix);

	return f ? (uint32_t)(f - r->following.run) : UINT32_MAX;
}

static struct bt_str keep(struct bt_journal_player *r, struct bt_str text)
{
	return (struct bt_str){
		bt_arena_copy(&r->following.texts, text.len ? text.ptr : "", text.len), text.len};
}

static struct bt_str victims_of(struct bt_journal_player *r, const struct bt_decision *decision)
{
	struct bt_buf *out = &r->following.text;

	bt_buf_clear(out);
	for (uint32_t i = 0; i < decision->victim_n; i++) {
		struct bt_pod_ref pod = bt_pipeline_pod_ref(r->pipeline, decision->victims[i].pod_ix);

		bt_buf_printf(
			out, "%s%.*s/%.*s", i ? ", " : "", BT_STR_ARG(pod.namespace_), BT_STR_ARG(pod.name));
	}
	return keep(r, bt_buf_view(out));
}

/* Is a pod that is not placed nominated to the journal's node, with the same victims? */
static bool nominates_the_same(
	const struct bt_journal_player *r, const struct bt_followed *f, const struct bt_decision *decision)
{
	bool same = !f->missing && f->victim_n == decision->victim_n &&
		    decision->nominated_ix == node_of(r, f->nominated);

	for (uint32_t i = 0; same && i < f->victim_n; i++) {
		same = f->victims[i].pod_ix == decision->victims[i].pod_ix;
	}
	return same;
}

/* Keeps this engine's decision. */
static void judge(struct bt_journal_player *r, struct bt_followed *f, const struct bt_decision *decision,
	bool agrees, struct bt_str message)
{
	f->judged = true;
	f->judgment.outcome = decision->outcome;
	f->judgment.nominated = bt_pipeline_node_name(r->pipeline, decision->nominated_ix);
	f->judgment.victims = victims_of(r, decision);
	f->judgment.message = keep(r, message);
	f->judgment.agrees = agrees;
	f->judgment.node = (struct bt_str){.len = 0};
	if (decision->outcome == BT_PLACED) {
		f->judgment.node = agrees ? f->node : bt_pipeline_node_name(r->pipeline, decision->node_ix);
	}
}

/* Judges a decision, with its pod's standing on the journal's node. */
static bool judge_decision(struct bt_journal_player *r, struct bt_followed *f,
	const struct bt_decision *decision, struct standing standing, struct bt_str message)
{
	bool agrees = decision->outcome == BT_PLACED ? standing.best
						     : (uint64_t)decision->outcome == f->outcome &&
							       nominates_the_same(r, f, decision);

	judge(r, f, decision, agrees, message);
	return agrees;
}

/* Number and names of the decisions of a run, and what its cycles are to be numbered from. */
static void begin_judgments(struct bt_journal_player *r)
{
	const struct bt_follow *follow = &r->options->follow;
	struct bt_turn turn = bt_engine_turn(engine_of(r));
	uint64_t number = r->result->decision_n + 1;

	if (follow->cycle_n) {
		turn.cycle_n = follow->cycle_n(follow->context, number);
		bt_engine_set_turn(engine_of(r), turn);
	}
	for (size_t i = 0; i < r->following.run_n; i++) {
		struct bt_followed *f = &r->following.run[i];

		f->judgment = (struct bt_judgment){.number = number + i,
			.namespace_ = f->namespace_,
			.name = f->name,
			.cycle_n = turn.cycle_n};
	}
}

static void end_judgments(struct bt_journal_player *r)
{
	for (size_t i = 0; i < r->following.run_n; i++) {
		const struct bt_followed *f = &r->following.run[i];

		r->options->follow.judged(r->options->follow.context, &f->judgment);
		r->result->decision_n++;
		r->result->placed_n += f->outcome == BT_PLACED && !f->waits;
	}
	bt_arena_reset(&r->following.texts);
}

/* ---- carrying out ---- */

static void impose(
	struct bt_journal_player *r, const struct bt_followed *f, struct bt_decision *decision, bool fits)
{
	/* The nominated node may be gone. */
	bool nominates = f->preempt == BT_PREEMPT_FOUND && node_of(r, f->nominated) != BT_NO_NODE;

	bt_engine_impose(engine_of(r), decision,
		&(struct bt_imposed){.outcome = (enum bt_outcome)f->outcome,
			.node_ix = node_of(r, f->node),
			.fits = fits,
			/* Plugin numbers in the journal are those of its release. */
			.unschedulable_plugins = decision->unschedulable_plugins,
			.preempt = nominates || f->preempt != BT_PREEMPT_FOUND
					   ? (enum bt_preempt_outcome)f->preempt
					   : BT_PREEMPT_INELIGIBLE,
			.nominated_ix = node_of(r, f->nominated),
			.victims = f->victims,
			.victim_n = f->victim_n,
			.by_group = f->by_group,
			.permit = true,
			.waits = f->waits});
}

static bool can_be_imposed(const struct bt_followed *f, const struct bt_decision *decision)
{
	return f->outcome != BT_GATED && f->outcome != BT_SKIPPED && decision->outcome != BT_SKIPPED;
}

static struct standing standing_on_journals(
	struct bt_journal_player *r, const struct bt_followed *f, const struct bt_decision *decision)
{
	uint32_t node_ix = node_of(r, f->node);
	bool placed = decision->outcome == BT_PLACED, chosen = placed && decision->node_ix == node_ix;

	return placed && !chosen && node_ix != BT_NO_NODE ? standing_of(r, decision->pod_ix, node_ix)
							  : (struct standing){chosen, chosen};
}

void bt_follow_steer(struct bt_journal_player *r, struct bt_decision *decision, struct bt_str message)
{
	struct bt_followed *f = followed_of(r, decision->pod_ix);

	if (!f) {
		return; /* a pod of the group that the journal's scheduler has not decided */
	}
	if (bt_engine_in_group(engine_of(r), decision->pod_ix)) {
		bool chosen = decision->node_ix == node_of(r, f->node); /* bt_follow_choose */

		judge_decision(r, f, decision, (struct standing){chosen, chosen}, message);
		return;
	}
	struct standing standing = standing_on_journals(r, f, decision);
	bool agrees = judge_decision(r, f, decision, standing, message);
	bool same = decision->outcome == BT_PLACED
			    ? decision->node_ix == node_of(r, f->node) && !f->waits &&
				      bt_engine_permits(engine_of(r), decision->pod_ix)
			    : agrees && (uint64_t)decision->preempt == f->preempt && !f->by_group;
	if (!same && can_be_imposed(f, decision)) {
		impose(r, f, decision, standing.feasible);
	}
}

static enum bt_status follow_alone(struct bt_journal_player *r, const struct bt_journal_record *record)
{
	uint32_t pod_ix = r->following.run[0].pod_ix;

	if (bt_engine_take_any(engine_of(r), pod_ix) != BT_OK) {
		return bt_replay_bad_record(r, record, "a decision about a pod that does not wait");
	}
	begin_judgments(r);
	bt_schedule_one(&r->pipeline->cycle, pod_ix);
	return BT_OK;
}

/* Carries out the journal's decision about a pod that this engine has decided with others, or not at all. */
static void carry_out(struct bt_journal_player *r, const struct bt_followed *f)
{
	struct bt_decision decision;

	if (f->outcome == BT_GATED || f->outcome == BT_SKIPPED ||
		bt_engine_take_alone(engine_of(r), f->pod_ix) != BT_OK) {
		return;
	}
	bt_engine_begin(engine_of(r), f->pod_ix, &decision);
	if (can_be_imposed(f, &decision)) {
		impose(r, f, &decision, standing_on_journals(r, f, &decision).feasible);
	}
	bt_engine_end(engine_of(r), &decision);
}

/* Judges a pod that does not take part in its group's cycle. */
static void judge_absent(struct bt_journal_player *r, struct bt_followed *f)
{
	const struct bt_decision gated = {
		.pod_ix = f->pod_ix, .outcome = BT_GATED, .node_ix = BT_NO_NODE, .nominated_ix = BT_NO_NODE};
	struct bt_buf *text = &r->following.text;

	bt_buf_clear(text);
	r->following.messages.engine = engine_of(r);
	bt_messages_add(&r->following.messages, f->pod_ix, text);
	struct bt_str message = keep(r, bt_buf_view(text));
	judge(r, f, &gated, f->outcome == BT_GATED, message);
}

static void follow_group(struct bt_journal_player *r)
{
	struct bt_following *following = &r->following;

	begin_judgments(r);
	for (size_t i = 0; i < following->run_n; i++) {
		if (bt_engine_take_any(engine_of(r), following->run[i].pod_ix) == BT_OK) {
			bt_schedule_one(&r->pipeline->cycle, following->run[i].pod_ix);
			break;
		}
	}
	const struct bt_turn turn = bt_engine_turn(engine_of(r));
	for (size_t i = 0; i < following->run_n; i++) {
		if (!following->run[i].judged) {
			judge_absent(r, &following->run[i]);
		}
	}
	for (size_t i = 0; i < following->run_n; i++) {
		carry_out(r, &following->run[i]);
	}
	bt_engine_set_turn(engine_of(r), turn);
}

/* Judges and carries out the end of a wait at Permit. Where pods do not wait it was bound at once, and stays
 * so: it is refused only where Permit still does not let it pass. */
static void follow_wait(struct bt_journal_player *r, struct bt_followed *f)
{
	struct bt_engine *engine = engine_of(r);
	bool waits = bt_engine_has_imposed_wait(engine, f->pod_ix);
	bool passes = waits && f->outcome != BT_PLACED && bt_engine_permits(engine, f->pod_ix);
	const struct bt_decision own = {.pod_ix = f->pod_ix,
		.outcome = passes ? BT_PLACED : (enum bt_outcome)f->outcome,
		.node_ix = passes ? bt_ledger_pod(bt_engine_cache(engine)->ledger, f->pod_ix)->node_ix
				  : node_of(r, f->node),
		.nominated_ix = BT_NO_NODE};

	begin_judgments(r);
	judge(r, f, &own, !passes, (struct bt_str){.len = 0});
	if (waits) {
		bt_engine_end_imposed_wait(engine, f->pod_ix, f->outcome == BT_PLACED);
	}
}

enum bt_status bt_follow_decision(struct bt_journal_player *r, const struct bt_journal_record *record)
{
	enum bt_status status = BT_OK;

	r->following.run_n = 0;
	struct bt_followed *f = read_decision(r, record->body);
	if (!f) {
		return bt_replay_bad_record(r, record, "a decision that cannot be read");
	}
	if (!is_there(r, f)) {
		return bt_replay_bad_record(r, record, "a decision about a pod or node that is not there");
	}
	r->following.run_n = 1;
	if (f->waited) {
		follow_wait(r, f);
	} else if (bt_engine_in_group(engine_of(r), f->pod_ix)) {
		read_group(r);
		follow_group(r);
	} else {
		status = follow_alone(r, record);
	}
	if (status == BT_OK) {
		end_judgments(r);
	}
	return status;
}

void bt_follow_fini(struct bt_following *following)
{
	for (size_t i = 0; i < following->slot_n; i++) {
		bt_mem_free(following->run[i].victims);
	}
	bt_mem_free(following->run);
	bt_explanation_fini(&following->explanation);
	bt_messages_fini(&following->messages);
	bt_arena_fini(&following->texts);
	bt_buf_fini(&following->text);
}
