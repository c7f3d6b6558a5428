/* SPDX-License-Identifier: Apache-2.0
 * Calls HTTP extenders in a cycle, and applies their replies.
 */
#include "engine/flow/cycle/extender.h"

#include "engine/base/varint.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/wrap.h"

/* Scheduler points per extender point. */
#define SCORE_SCALE 10

/* A line of a reply: about one node, or one victim. */
struct line {
	uint32_t node_ix; /* BT_NO_NODE: unknown node */
	uint32_t uid;	  /* of a victim: a name */
	bool unresolvable;
	int64_t number;	     /* points, or violated budgets */
	size_t text, text_n; /* in the reply's text: the message of a refusal, otherwise the name */
	size_t name_n;	     /* of an unknown refused node: length of its name, after the message */
	size_t victim_n;     /* of a candidate: the number of its victims */
};

struct lines {
	struct line *items;
	size_t n, cap;
};

struct bt_extender_reply {
	const struct bt_cache *cache;
	struct lines nodes, refused, victims;
	struct bt_buf text, error;
	struct bt_buf record; /* the reply as recorded */
	bool kept;	      /* the reply is recorded */
	bool failed;
	bool objects; /* kept nodes were returned as objects */
};

/* The requests of a cycle, and their replies. */
struct exchange {
	bool known;
	uint32_t *nodes;
	size_t n, cap;
	struct bt_extender_reply reply;
};

struct extender_at_work {
	const struct bt_extender_config *config;
	uint32_t *slots; /* of the resources that it manages */
	/* Of the last cycle: requests for a single node, such as a nominated one, for several nodes, and for
	 * candidates. */
	struct exchange single, several, preempted;
	struct bt_extender_reply scores;
};

struct bt_extender_calls {
	struct bt_extender_hooks calls;
	const struct bt_config *config;
	struct bt_cache *cache;
	struct extender_at_work *extenders;
	uint32_t extender_n;
	struct bt_evaluation_hooks hooks;
	uint32_t pod_ix;		  /* pod of the cycle */
	bool recalls;			  /* replies of the cycle are reused */
	bool explains;			  /* for an explanation: no decision depends on the calls */
	struct bt_extender_call *scorers; /* those with a prioritize verb, and their replies */
	struct bt_extender_reply **scores;
	uint32_t *nodes, *places; /* nodes that fit so far, and their indices in the evaluation */
	size_t node_cap;
	uint32_t *marks;  /* by node slot; all zero between calls */
	uint32_t *visits; /* the same: index in the evaluation's visited nodes, plus one */
	size_t mark_cap;
};

/* A node's state during a filter call. */
enum mark {
	NOT_SENT = 0,
	SENT,
	KEPT,
	REFUSED /* plus the index of the line */
};

/* ---- replies ---- */

/* The record of a reply: the request, then one of these for each line. */
enum reply_record {
	LINE_FAIL = 0,
	LINE_KEEP,
	LINE_OBJECTS,
	LINE_REFUSE,
	LINE_SCORE,
	LINE_CANDIDATE,
	LINE_VICTIM
};

static void extender_note(struct bt_extender_reply *reply, enum reply_record what, struct bt_str name,
	int64_t number, struct bt_str message)
{
	if (reply->kept) {
		bt_varint_put((uint64_t)what, &reply->record);
		bt_varint_put_text(name, &reply->record);
		bt_varint_put((uint64_t)number, &reply->record);
		bt_varint_put_text(message, &reply->record);
	}
}

static struct line *add_line(struct lines *lines)
{
	lines->items = bt_mem_grow(lines->items, lines->n, &lines->cap, sizeof(*lines->items));
	struct line *line = &lines->items[lines->n++];

	*line = (struct line){.node_ix = BT_NO_NODE};
	return line;
}

static struct line *add_node(struct bt_extender_reply *reply, struct lines *lines, struct bt_str node)
{
	uint32_t name = bt_intern_find(reply->cache->dictionary->intern, node);
	struct line *line = add_line(lines);

	if (name) {
		line->node_ix = bt_snapshot_find(reply->cache->snapshot, name);
	}
	return line;
}

static void add_text(struct bt_extender_reply *reply, struct line *line, struct bt_str text)
{
	line->text = reply->text.len;
	line->text_n = text.len;
	bt_buf_str(&reply->text, text);
}

static struct bt_str extender_text_of(const struct bt_extender_reply *reply, const struct line *line)
{
	return line->text_n ? (struct bt_str){reply->text.ptr + line->text, line->text_n} : bt_str("");
}

static struct bt_str text_of_name(const struct bt_extender_reply *reply, const struct line *line)
{
	return (struct bt_str){reply->text.ptr + line->text + line->text_n, line->name_n};
}

void bt_extender_fail(struct bt_extender_reply *reply, struct bt_str error)
{
	reply->failed = true;
	bt_buf_clear(&reply->error);
	bt_buf_str(&reply->error, error);
	extender_note(reply, LINE_FAIL, error, 0, (struct bt_str){.len = 0});
}

void bt_extender_keep(struct bt_extender_reply *reply, struct bt_str node)
{
	add_text(reply, add_node(reply, &reply->nodes, node), node);
	extender_note(reply, LINE_KEEP, node, 0, (struct bt_str){.len = 0});
}

void bt_extender_refuse(
	struct bt_extender_reply *reply, struct bt_str node, bool unresolvable, struct bt_str message)
{
	struct line *line = add_node(reply, &reply->refused, node);

	line->unresolvable = unresolvable;
	add_text(reply, line, message);
	if (line->node_ix == BT_NO_NODE) {
		line->name_n = node.len;
		bt_buf_str(&reply->text, node);
	}
	extender_note(reply, LINE_REFUSE, node, unresolvable, message);
}

void bt_extender_score(struct bt_extender_reply *reply, struct bt_str node, int64_t score)
{
	add_node(reply, &reply->nodes, node)->number = score;
	extender_note(reply, LINE_SCORE, node, score, (struct bt_str){.len = 0});
}

void bt_extender_candidate(struct bt_extender_reply *reply, struct bt_str node, int64_t violation_n)
{
	struct line *line = add_node(reply, &reply->nodes, node);

	line->number = violation_n;
	add_text(reply, line, node);
	extender_note(reply, LINE_CANDIDATE, node, violation_n, (struct bt_str){.len = 0});
}

void bt_extender_victim(struct bt_extender_reply *reply, struct bt_str uid)
{
	BT_REQUIRE(reply->nodes.n > 0);
	struct line *line = add_line(&reply->victims);

	line->uid = bt_intern_find(reply->cache->dictionary->intern, uid);
	add_text(reply, line, uid);
	reply->nodes.items[reply->nodes.n - 1].victim_n++;
	extender_note(reply, LINE_VICTIM, uid, 0, (struct bt_str){.len = 0});
}

void bt_extender_keep_objects(struct bt_extender_reply *reply)
{
	reply->objects = true;
	extender_note(reply, LINE_OBJECTS, (struct bt_str){.len = 0}, 0, (struct bt_str){.len = 0});
}

/* Returns: false when the record is damaged. */
static bool repeat_one(struct bt_extender_reply *reply, struct bt_str *answer)
{
	struct bt_str name, message;
	uint64_t what, number;

	if (!bt_varint_get(answer, &what) || !bt_varint_get_text(answer, &name) ||
		!bt_varint_get(answer, &number) || !bt_varint_get_text(answer, &message)) {
		return false;
	}
	switch ((enum reply_record)what) {
	case LINE_FAIL:
		bt_extender_fail(reply, name);
		return true;
	case LINE_KEEP:
		bt_extender_keep(reply, name);
		return true;
	case LINE_OBJECTS:
		bt_extender_keep_objects(reply);
		return true;
	case LINE_REFUSE:
		bt_extender_refuse(reply, name, number != 0, message);
		return true;
	case LINE_SCORE:
		bt_extender_score(reply, name, (int64_t)number);
		return true;
	case LINE_CANDIDATE:
		bt_extender_candidate(reply, name, (int64_t)number);
		return true;
	case LINE_VICTIM:
		if (reply->nodes.n) {
			bt_extender_victim(reply, name);
		}
		return reply->nodes.n;
	}
	return false;
}

bool bt_extender_repeat(struct bt_extender_reply *reply, enum bt_extender_verb verb, uint32_t extender_ix,
	struct bt_str answer)
{
	uint64_t its_verb, its_extender;
	bool good = bt_varint_get(&answer, &its_verb) && bt_varint_get(&answer, &its_extender) &&
		    its_verb == (uint64_t)verb && its_extender == extender_ix;

	while (good && answer.len) {
		good = repeat_one(reply, &answer);
	}
	return good;
}

/* Prepares the record of a request. */
static void expect(struct bt_extender_calls *x, const struct bt_extender_config *config,
	enum bt_extender_verb verb, struct bt_extender_reply *reply)
{
	BT_INVARIANT((size_t)(config - x->config->extenders) < x->config->extender_n);
	reply->kept = x->calls.keep && !x->explains;
	bt_buf_clear(&reply->record);
	if (reply->kept) {
		bt_varint_put((uint64_t)verb, &reply->record);
		bt_varint_put((uint64_t)(config - x->config->extenders), &reply->record);
	}
}

/* Passes the recorded reply on. */
static void extender_keep(struct bt_extender_calls *x, struct bt_extender_reply *reply)
{
	if (reply->kept) {
		x->calls.keep(x->calls.keeper, bt_buf_view(&reply->record));
	}
	reply->kept = false;
}

static void clear(struct bt_extender_reply *reply)
{
	reply->nodes.n = reply->refused.n = reply->victims.n = 0;
	reply->failed = reply->objects = false;
	bt_buf_clear(&reply->text);
	bt_buf_clear(&reply->error);
}

static void reply_fini(struct bt_extender_reply *reply)
{
	bt_mem_free(reply->nodes.items);
	bt_mem_free(reply->refused.items);
	bt_mem_free(reply->victims.items);
	bt_buf_fini(&reply->text);
	bt_buf_fini(&reply->error);
	bt_buf_fini(&reply->record);
}

/* ---- interest ---- */

/* Source: HTTPExtender.IsInterested, v1.36.3; limits are turned into requests when a pod is decoded. */
static bool interested(
	const struct bt_extender_calls *x, const struct extender_at_work *extender, uint32_t pod_ix)
{
	const struct bt_amounts *requested =
		&bt_ledger_pod(x->cache->ledger, pod_ix)->signature->requests.fit;

	for (uint32_t i = 0; i < extender->config->resource_n; i++) {
		for (uint32_t k = 0; k < requested->n; k++) {
			if (requested->items[k].slot == extender->slots[i]) {
				return true;
			}
		}
	}
	return extender->config->resource_n == 0;
}

static bool filters(const struct bt_extender_calls *x, const struct extender_at_work *extender)
{
	return x->calls.filter && extender->config->filter_verb.len;
}

static bool prioritizes(const struct bt_extender_calls *x, const struct extender_at_work *extender)
{
	return x->calls.prioritize && extender->config->prioritize_verb.len;
}

static bool preempts(const struct bt_extender_calls *x, const struct extender_at_work *extender)
{
	return x->calls.preempt && extender->config->preempt_verb.len;
}

bool bt_extender_calls_chooses(const struct bt_extender_calls *x)
{
	for (uint32_t i = 0; i < x->extender_n; i++) {
		if (filters(x, &x->extenders[i]) || prioritizes(x, &x->extenders[i])) {
			return true;
		}
	}
	return false;
}

static const struct bt_evaluation_hooks *hooks_for(struct bt_extender_calls *x, uint32_t pod_ix)
{
	x->pod_ix = pod_ix;
	for (uint32_t i = 0; i < x->extender_n; i++) {
		const struct extender_at_work *extender = &x->extenders[i];

		if ((filters(x, extender) || prioritizes(x, extender)) && interested(x, extender, pod_ix)) {
			return &x->hooks;
		}
	}
	return NULL;
}

const struct bt_evaluation_hooks *bt_extender_calls_begin(struct bt_extender_calls *x, uint32_t pod_ix)
{
	x->recalls = x->explains = false;
	for (uint32_t i = 0; i < x->extender_n; i++) {
		struct extender_at_work *extender = &x->extenders[i];

		extender->single.known = extender->several.known = extender->preempted.known = false;
	}
	return hooks_for(x, pod_ix);
}

const struct bt_evaluation_hooks *bt_extender_calls_explain(struct bt_extender_calls *x, uint32_t pod_ix)
{
	const struct bt_evaluation_hooks *hooks = bt_extender_calls_begin(x, pod_ix);

	x->explains = true;
	return hooks;
}

const struct bt_evaluation_hooks *bt_extender_calls_recall(struct bt_extender_calls *x, uint32_t pod_ix)
{
	if (pod_ix != x->pod_ix) {
		return bt_extender_calls_explain(x, pod_ix);
	}
	x->recalls = x->explains = true;
	return hooks_for(x, pod_ix);
}

bool bt_extender_calls_interested(const struct bt_extender_calls *x, uint32_t pod_ix)
{
	for (uint32_t i = 0; i < x->extender_n; i++) {
		const struct extender_at_work *extender = &x->extenders[i];

		if ((filters(x, extender) || prioritizes(x, extender) || preempts(x, extender)) &&
			interested(x, extender, pod_ix)) {
			return true;
		}
	}
	return false;
}

bool bt_extender_calls_preempts(const struct bt_extender_calls *x, uint32_t pod_ix)
{
	for (uint32_t i = 0; i < x->extender_n; i++) {
		if (preempts(x, &x->extenders[i]) && interested(x, &x->extenders[i], pod_ix)) {
			return true;
		}
	}
	return false;
}

const struct bt_extender_config *bt_extender_calls_binder(const struct bt_extender_calls *x, uint32_t pod_ix)
{
	for (uint32_t i = 0; i < x->extender_n; i++) {
		if (x->extenders[i].config->bind_verb.len && interested(x, &x->extenders[i], pod_ix)) {
			return x->extenders[i].config;
		}
	}
	return NULL;
}

/* ---- requests ---- */

/* Was the same request made in this cycle? Compares node sets by marks, because the order may differ. */
static bool is_known(
	struct bt_extender_calls *x, const struct exchange *exchange, const uint32_t *nodes, uint32_t n)
{
	uint32_t same_n = 0;

	if (!x->recalls || !exchange->known || exchange->n != n) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		x->marks[exchange->nodes[i]] = 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		same_n += x->marks[nodes[i]];
	}
	for (uint32_t i = 0; i < n; i++) {
		x->marks[exchange->nodes[i]] = 0;
	}
	return same_n == n;
}

/* Starts a request; the reply is empty. */
static struct bt_extender_reply *begin_exchange(struct exchange *exchange, const uint32_t *nodes, uint32_t n)
{
	if (n > exchange->cap) {
		exchange->cap = n;
		exchange->nodes = bt_mem_realloc(exchange->nodes, n, sizeof(*exchange->nodes));
	}
	memcpy(exchange->nodes, nodes, n * sizeof(*nodes));
	exchange->n = n;
	exchange->known = true;
	clear(&exchange->reply);
	return &exchange->reply;
}

static void exchange_fini(struct exchange *exchange)
{
	bt_mem_free(exchange->nodes);
	reply_fini(&exchange->reply);
}

/* ---- filter ---- */

static struct bt_extender_call call_of(
	const struct bt_extender_calls *x, const struct extender_at_work *extender)
{
	return (struct bt_extender_call){
		.extender = extender->config, .cache = x->cache, .pod_ix = x->pod_ix};
}

static uint32_t *grow_marks(uint32_t *marks, size_t from, size_t to)
{
	marks = bt_mem_realloc(marks, to, sizeof(*marks));
	memset(marks + from, 0, (to - from) * sizeof(*marks));
	return marks;
}

static void reserve(struct bt_extender_calls *x, uint32_t node_n)
{
	size_t slot_n = x->cache->view.snapshot->slot_n;

	if (node_n > x->node_cap) {
		x->node_cap = node_n;
		x->nodes = bt_mem_realloc(x->nodes, node_n, sizeof(*x->nodes));
		x->places = bt_mem_realloc(x->places, node_n, sizeof(*x->places));
	}
	if (slot_n > x->mark_cap) {
		x->marks = grow_marks(x->marks, x->mark_cap, slot_n);
		x->visits = grow_marks(x->visits, x->mark_cap, slot_n);
		x->mark_cap = slot_n;
	}
	BT_INVARIANT(x->node_cap >= node_n && x->mark_cap >= slot_n);
}

/* Marks kept nodes. Keeping a node outside the request is an error. */
static void mark_kept(
	struct bt_extender_calls *x, const struct extender_at_work *extender, struct bt_extender_reply *reply)
{
	for (size_t i = 0; i < reply->nodes.n; i++) {
		const struct line *line = &reply->nodes.items[i];

		if (line->node_ix != BT_NO_NODE && x->marks[line->node_ix] != NOT_SENT) {
			x->marks[line->node_ix] = KEPT;
			continue;
		}
		reply->failed = true;
		bt_buf_printf(&reply->error,
			"extender \"%.*s\" claims a filtered node \"%.*s\" which is not found in the input "
			"node "
			"list",
			BT_STR_ARG(extender->config->url_prefix), BT_STR_ARG(extender_text_of(reply, line)));
		return;
	}
}

/* The node's index among the evaluation's visited nodes, plus one; 0: not visited. */
static uint32_t visit_of(struct bt_extender_calls *x, const struct bt_evaluation *e, uint32_t node_ix)
{
	if (e->visited_n && !x->visits[e->visited[0]]) {
		for (uint32_t i = 0; i < e->visited_n; i++) {
			x->visits[e->visited[i]] = i + 1;
		}
	}
	return x->visits[node_ix];
}

/* The index among the feasible nodes. */
static uint32_t place_of(const struct bt_evaluation *e, uint32_t visited)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < visited; i++) {
		place += e->refused_by[i] == BT_PASSED;
	}
	BT_INVARIANT(place <= visited);
	return place;
}

/* Applies the refusal of a node that was not in the request; it replaces an earlier refusal of that node. */
static void refuse_other(struct bt_extender_calls *x, struct bt_evaluation *e,
	const struct bt_extender_reply *reply, const struct line *line)
{
	struct bt_str message = extender_text_of(reply, line);
	uint32_t visit = line->node_ix == BT_NO_NODE ? 0 : visit_of(x, e, line->node_ix);

	if (line->node_ix == BT_NO_NODE) {
		bt_evaluation_refuse_unknown(e, text_of_name(reply, line), message);
	} else if (visit && e->refused_by[visit - 1] == BT_PASSED) {
		bt_evaluation_refuse(e, place_of(e, visit - 1), line->unresolvable, &message);
	} else if (visit) {
		bt_evaluation_refuse_again(e, visit - 1, line->unresolvable, message);
	}
}

/* Marks refused nodes. An unresolvable refusal has precedence, otherwise the last one. */
static void mark_refused(
	struct bt_extender_calls *x, struct bt_evaluation *e, const struct bt_extender_reply *reply)
{
	const struct lines *refused = &reply->refused;

	for (size_t i = 0; i < refused->n; i++) {
		const struct line *line = &refused->items[i];
		uint32_t mark = line->node_ix == BT_NO_NODE ? NOT_SENT : x->marks[line->node_ix];

		if (mark == NOT_SENT) {
			refuse_other(x, e, reply, line);
		} else if (mark != KEPT && (mark < REFUSED || line->unresolvable ||
						   !refused->items[mark - REFUSED].unresolvable)) {
			x->marks[line->node_ix] = REFUSED + (uint32_t)i;
		}
	}
}

/* Removes the nodes that the reply does not keep. Returns: how many are left. */
static uint32_t take_out(struct bt_extender_calls *x, struct bt_evaluation *e,
	const struct bt_extender_reply *reply, uint32_t node_n)
{
	uint32_t kept_n = 0;

	for (uint32_t i = 0; i < node_n; i++) {
		uint32_t mark = x->marks[x->nodes[i]];

		if (mark == KEPT) {
			x->nodes[kept_n] = x->nodes[i];
			x->places[kept_n++] = x->places[i];
		} else if (mark == SENT) {
			bt_evaluation_refuse(e, x->places[i], true, NULL);
		} else {
			const struct line *line = &reply->refused.items[mark - REFUSED];
			struct bt_str message = extender_text_of(reply, line);

			bt_evaluation_refuse(e, x->places[i], line->unresolvable, &message);
		}
	}
	return kept_n;
}

/* Calls one extender with the nodes. Returns: its reply. */
static struct bt_extender_reply *call_filter(
	struct bt_extender_calls *x, struct extender_at_work *extender, uint32_t node_n)
{
	struct bt_extender_call call = call_of(x, extender);
	struct exchange *exchange = node_n == 1 ? &extender->single : &extender->several;

	if (is_known(x, exchange, x->nodes, node_n)) {
		return &exchange->reply;
	}
	call.nodes = x->nodes;
	call.node_n = node_n;
	struct bt_extender_reply *reply = begin_exchange(exchange, x->nodes, node_n);

	expect(x, extender->config, BT_EXTENDER_FILTER, reply);
	x->calls.filter(x->calls.context, &call, reply);
	extender_keep(x, reply);
	return reply;
}

/* Applies one extender's filter; node_n: the number of nodes before and after. Returns: false with out_error
 * on failure; then nothing has changed. */
static bool filter_by(struct bt_extender_calls *x, struct extender_at_work *extender, struct bt_evaluation *e,
	uint32_t *node_n, struct bt_str *out_error)
{
	struct bt_extender_reply *reply = call_filter(x, extender, *node_n);

	for (uint32_t i = 0; i < *node_n; i++) {
		x->marks[x->nodes[i]] = SENT;
	}
	if (!reply->failed) {
		mark_kept(x, extender, reply);
	}
	if (!reply->failed) {
		mark_refused(x, e, reply);
		*node_n = take_out(x, e, reply, *node_n);
		e->looks_empty |= reply->objects;
	}
	memset(x->marks, 0, x->mark_cap * sizeof(*x->marks));
	memset(x->visits, 0, x->mark_cap * sizeof(*x->visits));
	*out_error = bt_buf_view(&reply->error);
	return !reply->failed;
}

static void filtered(void *context, struct bt_evaluation *e)
{
	struct bt_extender_calls *x = context;
	uint32_t node_n = e->feasible_n;

	reserve(x, node_n);
	for (uint32_t i = 0; i < node_n; i++) {
		x->nodes[i] = e->feasible[i];
		x->places[i] = i;
	}
	for (uint32_t i = 0; i < x->extender_n && node_n; i++) {
		struct extender_at_work *extender = &x->extenders[i];
		struct bt_str error;

		if (!filters(x, extender) || !interested(x, extender, x->pod_ix)) {
			continue;
		}
		if (!filter_by(x, extender, e, &node_n, &error) && !extender->config->ignorable) {
			bt_evaluation_fail(e, error);
			return;
		}
	}
}

/* ---- prioritize ---- */

static void add_scores(struct bt_extender_calls *x, const struct bt_extender_config *config,
	const struct bt_extender_reply *reply, struct bt_evaluation *e)
{
	for (uint32_t i = 0; i < e->feasible_n; i++) {
		x->marks[e->feasible[i]] = i + 1;
	}
	for (size_t k = 0; k < reply->nodes.n; k++) {
		const struct line *line = &reply->nodes.items[k];
		uint32_t mark = line->node_ix == BT_NO_NODE ? 0 : x->marks[line->node_ix];

		if (mark) {
			int64_t points = bt_wrap_mul(bt_wrap_mul(line->number, config->weight), SCORE_SCALE);

			e->totals[mark - 1] = bt_wrap_add(e->totals[mark - 1], points);
		}
	}
	memset(x->marks, 0, x->mark_cap * sizeof(*x->marks));
}

/* Adds the extenders' scores. An extender that fails adds nothing. */
static void scored(void *context, struct bt_evaluation *e)
{
	struct bt_extender_calls *x = context;

	uint32_t n = 0;

	for (uint32_t i = 0; i < x->extender_n; i++) {
		struct extender_at_work *extender = &x->extenders[i];

		if (!prioritizes(x, extender) || !interested(x, extender, x->pod_ix)) {
			continue;
		}
		x->scorers[n] = call_of(x, extender);
		x->scorers[n].nodes = e->feasible;
		x->scorers[n].node_n = e->feasible_n;
		clear(&extender->scores);
		expect(x, extender->config, BT_EXTENDER_PRIORITIZE, &extender->scores);
		x->scores[n++] = &extender->scores;
	}
	if (n) {
		x->calls.prioritize(x->calls.context, x->scorers, n, x->scores);
	}
	for (uint32_t i = 0; i < n; i++) {
		extender_keep(x, x->scores[i]);
		if (!x->scores[i]->failed) {
			add_scores(x, x->scorers[i].extender, x->scores[i], e);
		}
	}
}

/* ---- preempt ---- */

/* The victim's pod, which must be on the node. */
static uint32_t victim_of(struct bt_extender_calls *x, const struct extender_at_work *extender,
	struct bt_extender_reply *reply, const struct line *line, const struct line *node)
{
	const struct bt_ledger *ledger = x->cache->ledger;
	uint32_t i = bt_ledger_first_on(ledger, node->node_ix);

	while (i != BT_NO_POD && (!line->uid || bt_ledger_pod(ledger, i)->uid != line->uid)) {
		i = bt_ledger_next(ledger, i);
	}
	if (i == BT_NO_POD) {
		reply->failed = true;
		/* Upstream prints the reference as a Go struct. */
		bt_buf_printf(&reply->error,
			"extender: %.*s claims to preempt pod (UID: &{%.*s}) on node: %.*s, but the pod is "
			"not "
			"found on that node",
			BT_STR_ARG(extender->config->url_prefix), BT_STR_ARG(extender_text_of(reply, line)),
			BT_STR_ARG(extender_text_of(reply, node)));
	}
	return i;
}

/* Appends one candidate of the reply to those of the preemption; its victims begin at line first. */
static void add_candidate(struct bt_extender_calls *x, const struct extender_at_work *extender,
	struct bt_extender_reply *reply, const struct line *node, size_t first, struct bt_preemption *p)
{
	uint32_t first_victim = (uint32_t)p->kept_n;

	if (node->node_ix == BT_NO_NODE) {
		reply->failed = true;
		bt_buf_printf(&reply->error, "nodeinfo not found for node name \"%.*s\"",
			BT_STR_ARG(extender_text_of(reply, node)));
		return;
	}
	for (size_t i = first; i < first + node->victim_n; i++) {
		uint32_t pod_ix = victim_of(x, extender, reply, &reply->victims.items[i], node);

		if (pod_ix == BT_NO_POD) {
			return;
		}
		const struct bt_pod *pod = bt_ledger_pod(x->cache->ledger, pod_ix);
		p->kept = bt_mem_grow(p->kept, p->kept_n, &p->kept_cap, sizeof(*p->kept));
		p->kept[p->kept_n++] = (struct bt_victim){
			.pod_ix = pod_ix, .priority = pod->priority, .start_ns = pod->start_ns};
	}
	if (node->victim_n == 0 && extender->config->ignorable) {
		return;
	}
	if (node->victim_n == 0) {
		reply->failed = true;
		bt_buf_printf(&reply->error, "expected at least one victim pod on node \"%.*s\"",
			BT_STR_ARG(extender_text_of(reply, node)));
		return;
	}
	p->candidates = bt_mem_grow(p->candidates, p->candidate_n, &p->candidate_cap, sizeof(*p->candidates));
	p->candidates[p->candidate_n++] = (struct bt_preempt_candidate){node->node_ix, first_victim,
		p->policy->cost_of(p->kept + first_victim, (uint32_t)node->victim_n, (uint32_t)node->number)};
}

/* Applies the reply to the candidates. On an error they stay unchanged. */
static void take_candidates(struct bt_extender_calls *x, const struct extender_at_work *extender,
	struct bt_extender_reply *reply, struct bt_preemption *p)
{
	size_t before = p->candidate_n, kept_n = p->kept_n, victim = 0;

	for (size_t i = 0; i < reply->nodes.n && !reply->failed; i++) {
		const struct line *node = &reply->nodes.items[i];

		add_candidate(x, extender, reply, node, victim, p);
		victim += node->victim_n;
	}
	if (reply->failed) {
		p->candidate_n = before;
		p->kept_n = kept_n;
		return;
	}
	p->candidate_n -= before;
	memmove(p->candidates, p->candidates + before, p->candidate_n * sizeof(*p->candidates));
}

/* Calls one extender with the candidates. Returns: its reply. */
static struct bt_extender_reply *call_preempt(
	struct bt_extender_calls *x, struct extender_at_work *extender, const struct bt_preemption *p)
{
	struct bt_extender_call call = call_of(x, extender);
	uint32_t n = (uint32_t)p->candidate_n;

	reserve(x, n);
	for (uint32_t i = 0; i < n; i++) {
		x->nodes[i] = p->candidates[i].node_ix;
	}
	if (is_known(x, &extender->preempted, x->nodes, n)) {
		return &extender->preempted.reply;
	}
	call.candidates = p->candidates;
	call.candidate_n = n;
	call.victims = p->kept;
	struct bt_extender_reply *reply = begin_exchange(&extender->preempted, x->nodes, n);

	expect(x, extender->config, BT_EXTENDER_PREEMPT, reply);
	x->calls.preempt(x->calls.context, &call, reply);
	extender_keep(x, reply);
	return reply;
}

bool bt_extender_calls_candidates(
	struct bt_extender_calls *x, uint32_t pod_ix, struct bt_preemption *p, struct bt_buf *out_error)
{
	x->pod_ix = pod_ix;
	for (uint32_t i = 0; i < x->extender_n && p->candidate_n; i++) {
		struct extender_at_work *extender = &x->extenders[i];

		if (!preempts(x, extender) || !interested(x, extender, pod_ix)) {
			continue;
		}
		struct bt_extender_reply *reply = call_preempt(x, extender, p);

		if (!reply->failed) {
			take_candidates(x, extender, reply, p);
		}
		if (reply->failed && !extender->config->ignorable) {
			bt_buf_str(out_error, bt_buf_view(&reply->error));
			return false;
		}
	}
	return true;
}

/* ---- creation and destruction ---- */

static void add_extender(struct bt_extender_calls *x, const struct bt_extender_config *config)
{
	struct extender_at_work *extender = &x->extenders[x->extender_n++];

	extender->config = config;
	extender->single.reply.cache = extender->several.reply.cache = extender->preempted.reply.cache =
		extender->scores.cache = x->cache;
	extender->slots = bt_mem_zalloc(config->resource_n, sizeof(*extender->slots));
	for (uint32_t i = 0; i < config->resource_n; i++) {
		int slot = bt_resource_slot(x->cache->dictionary, config->resources[i].name);

		/* Beyond the maximum number of resource names: no pod requests it. */
		extender->slots[i] = slot < 0 ? UINT32_MAX : (uint32_t)slot;
	}
}

struct bt_extender_calls *bt_extender_calls_create(
	const struct bt_config *config, struct bt_cache *cache, const struct bt_extender_hooks *calls)
{
	struct bt_extender_calls *x = bt_mem_zalloc(1, sizeof(*x));

	x->calls = *calls;
	x->config = config;
	x->cache = cache;
	x->hooks = (struct bt_evaluation_hooks){filtered, scored, x};
	x->pod_ix = BT_NO_POD;
	x->extenders = bt_mem_zalloc(config->extender_n, sizeof(*x->extenders));
	x->scorers = bt_mem_zalloc(config->extender_n, sizeof(*x->scorers));
	x->scores = bt_mem_zalloc(config->extender_n, sizeof(struct bt_extender_reply *));
	for (int ignorable = 0; ignorable < 2; ignorable++) {
		for (uint32_t i = 0; i < config->extender_n; i++) {
			if (config->extenders[i].ignorable == ignorable) {
				add_extender(x, &config->extenders[i]);
			}
		}
	}
	return x;
}

void bt_extender_calls_destroy(struct bt_extender_calls *x)
{
	if (!x) {
		return;
	}
	for (uint32_t i = 0; i < x->extender_n; i++) {
		bt_mem_free(x->extenders[i].slots);
		exchange_fini(&x->extenders[i].single);
		exchange_fini(&x->extenders[i].several);
		exchange_fini(&x->extenders[i].preempted);
		reply_fini(&x->extenders[i].scores);
	}
	bt_mem_free(x->scorers);
	bt_mem_free(x->scores);
	bt_mem_free(x->extenders);
	bt_mem_free(x->nodes);
	bt_mem_free(x->places);
	bt_mem_free(x->marks);
	bt_mem_free(x->visits);
	bt_mem_free(x);
}
