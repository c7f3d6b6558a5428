/* SPDX-License-Identifier: Apache-2.0
 * NodeAffinity. Requirements are evaluated on label columns, one block of nodes at a time.
 * Source: plugins/nodeaffinity and component-helpers nodeaffinity, v1.36.3.
 */
#include "plugins/node_affinity/node_affinity.h"

#include "cache/node_view.h"

#include <string.h>

#include "engine/base/check.h"

#define BLOCK	   128
#define FEW_VALUES 8 /* of a requirement; longer lists are searched node by node */

enum node_affinity_reason_kind { ADDED = 0, OWN };

/* A requirement and its column. */
struct column_requirement {
	const struct bt_requirement *requirement;
	const uint32_t *values;
};

struct conjunction {
	const struct column_requirement *items;
	uint32_t n;
	const struct bt_field_requirement *fields;
	uint32_t field_n;
};

struct disjunction {
	const struct conjunction *items;
	uint32_t n;
};

struct weighted {
	struct conjunction condition;
	int64_t weight;
};

struct node_affinity_term {
	const struct bt_intern *intern;
	bool has_added, has_required;
	struct disjunction added, required;
	struct conjunction selector;
	const struct weighted *preferred;
	uint32_t preferred_n;
};

static struct conjunction bind_selector(const struct bt_compile_env *env, const struct bt_selector *selector)
{
	struct column_requirement *items = bt_arena_zalloc(env->arena, selector->n * sizeof(*items));

	for (uint32_t i = 0; i < selector->n; i++) {
		items[i].requirement = &selector->items[i];
		items[i].values = env->label_column(env->context, selector->items[i].key);
	}
	return (struct conjunction){.items = items, .n = selector->n};
}

static struct conjunction bind_term(const struct bt_compile_env *env, const struct bt_node_term *term)
{
	struct conjunction condition = bind_selector(env, &term->labels);

	condition.fields = term->fields;
	condition.field_n = term->field_n;
	return condition;
}

/* Terms that could not be parsed match nothing and are left out. */
static struct disjunction bind_node_selector(
	const struct bt_compile_env *env, const struct bt_node_selector *selector)
{
	struct conjunction *items = bt_arena_zalloc(env->arena, selector->term_n * sizeof(*items));
	uint32_t n = 0;

	for (uint32_t i = 0; i < selector->term_n; i++) {
		if (!selector->terms[i].invalid) {
			items[n++] = bind_term(env, &selector->terms[i]);
		}
	}
	BT_INVARIANT(n <= selector->term_n);
	return (struct disjunction){items, n};
}

static void bind_preferred(const struct bt_compile_env *env, const struct bt_node_affinity_settings *settings,
	const struct bt_signature *signature, struct node_affinity_term *term)
{
	uint32_t added_n = settings->preferred_n;
	uint32_t own_n = signature->preferred_error ? 0 : signature->preferred_n;
	struct weighted *items = bt_arena_zalloc(env->arena, (added_n + own_n) * sizeof(*items));

	for (uint32_t i = 0; i < added_n + own_n; i++) {
		const struct bt_preferred_term *from =
			i < added_n ? &settings->preferred[i] : &signature->preferred[i - added_n];

		items[i] = (struct weighted){bind_term(env, &from->term), from->weight};
	}
	term->preferred = items;
	term->preferred_n = added_n + own_n;
}

static void node_affinity_compile(const void *opaque, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out)
{
	const struct bt_node_affinity_settings *settings = opaque;
	struct node_affinity_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	*term = (struct node_affinity_term){
		.intern = env->dictionary->intern,
		.has_added = settings->has_required,
		.has_required = signature->has_required,
		.added = bind_node_selector(env, &settings->required),
		.required = bind_node_selector(env, &signature->required),
		.selector = bind_selector(env, &signature->node_selector),
	};
	bind_preferred(env, settings, signature, term);
	out->term = term;
	out->filter_skip =
		!signature->has_required && !signature->has_node_selector && !settings->has_required;
	out->score_skip = !signature->has_preferred && settings->preferred_n == 0;
	out->score_error = signature->preferred_error;
	if (signature->names_only) {
		out->refused = signature->node_name_n == 0;
		out->refusal = "pod affinity terms conflict";
		out->narrows = true;
		out->names = signature->node_names;
		out->name_n = signature->node_name_n;
	}
	BT_INVARIANT(term->preferred_n <= settings->preferred_n + signature->preferred_n);
}

static bool fields_match(const struct conjunction *condition, uint32_t node_name)
{
	for (uint32_t i = 0; i < condition->field_n; i++) {
		const struct bt_field_requirement *field = &condition->fields[i];
		/* A field that nodes do not have reads as the empty string. */
		uint32_t have = field->is_name ? node_name : BT_NAME_EMPTY;

		if ((have == field->value) == field->negated) {
			return false;
		}
	}
	return true;
}

static bool matches(const struct node_affinity_term *term, const struct conjunction *condition,
	const struct bt_view *view, uint32_t node_ix)
{
	for (uint32_t i = 0; i < condition->n; i++) {
		const struct column_requirement *item = &condition->items[i];
		BT_INVARIANT(item->values);

		if (!bt_requirement_matches(term->intern, item->requirement, item->values[node_ix])) {
			return false;
		}
	}
	return condition->field_n == 0 || fields_match(condition, view->snapshot->nodes[node_ix].name);
}

static bool any_matches(const struct node_affinity_term *term, const struct disjunction *choices,
	const struct bt_view *view, uint32_t node_ix)
{
	for (uint32_t i = 0; i < choices->n; i++) {
		if (matches(term, &choices->items[i], view, node_ix)) {
			return true;
		}
	}
	return false;
}

static bool added_passes(const struct node_affinity_term *term, const struct bt_view *view, uint32_t node_ix)
{
	return !term->has_added || any_matches(term, &term->added, view, node_ix);
}

/* ---- the same for a block of nodes, requirement by requirement: plain loops that the compiler vectorizes
 * ---- */

/* all[i] &= whether the i-th value satisfies the requirement. */
static void narrow(const struct node_affinity_term *term, const struct bt_requirement *requirement,
	const uint32_t *values, uint32_t n, uint8_t *all)
{
	BT_INVARIANT(n <= BLOCK);
	uint8_t hit[BLOCK] = {0};
	bool among = requirement->op == BT_OP_IN || requirement->op == BT_OP_NOT_IN;

	if (!among || requirement->value_n > FEW_VALUES) {
		uint32_t last = BT_NAME_NONE;
		bool answer = bt_requirement_matches(term->intern, requirement, last);

		for (uint32_t i = 0; i < n; i++) {
			if (values[i] != last) {
				last = values[i];
				answer = bt_requirement_matches(term->intern, requirement, last);
			}
			all[i] &= answer;
		}
		return;
	}
	for (uint32_t v = 0; v < requirement->value_n; v++) {
		for (uint32_t i = 0; i < n; i++) {
			hit[i] |= values[i] == requirement->values[v];
		}
	}
	uint8_t negated = requirement->op == BT_OP_NOT_IN;
	for (uint32_t i = 0; i < n; i++) {
		all[i] &= hit[i] ^ negated;
	}
}

static void match_block(const struct node_affinity_term *term, const struct conjunction *condition,
	const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *out)
{
	BT_INVARIANT(n <= BLOCK);
	memset(out, 1, n);
	for (uint32_t i = 0; i < condition->n; i++) {
		narrow(term, condition->items[i].requirement, condition->items[i].values + first, n, out);
	}
	for (uint32_t i = 0; condition->field_n && i < n; i++) {
		out[i] &= fields_match(condition, view->snapshot->nodes[first + i].name);
	}
}

/* pass[i] &= whether any of the choices matches. */
static void need_any(const struct node_affinity_term *term, const struct disjunction *choices,
	const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	uint8_t any[BLOCK] = {0}, one[BLOCK];

	for (uint32_t c = 0; c < choices->n; c++) {
		match_block(term, &choices->items[c], view, first, n, one);
		for (uint32_t i = 0; i < n; i++) {
			any[i] |= one[i];
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		pass[i] &= any[i];
	}
}

static void node_affinity_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct node_affinity_term *term = opaque;

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t done = 0; done < n; done += BLOCK) {
		uint32_t at = first + done, some = n - done < BLOCK ? n - done : BLOCK;

		match_block(term, &term->selector, view, at, some, pass + done);
		if (term->has_added) {
			need_any(term, &term->added, view, at, some, pass + done);
		}
		if (term->has_required) {
			need_any(term, &term->required, view, at, some, pass + done);
		}
	}
}

static void node_affinity_reject(
	const void *term, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	BT_REQUIRE_HOT(node_ix < view->snapshot->slot_n);
	bt_reject_with(out_rejection, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		added_passes(term, view, node_ix) ? OWN : ADDED);
}

static void node_affinity_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct node_affinity_term *term = opaque;

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t done = 0; done < n; done += BLOCK) {
		uint32_t some = n - done < BLOCK ? n - done : BLOCK;
		uint8_t hit[BLOCK];

		memset(raw + done, 0, some * sizeof(*raw));
		for (uint32_t t = 0; t < term->preferred_n; t++) {
			match_block(term, &term->preferred[t].condition, view, first + done, some, hit);
			for (uint32_t i = 0; i < some; i++) {
				raw[done + i] += hit[i] * term->preferred[t].weight;
			}
		}
	}
}

static const char *const reasons[] = {
	[OWN] = "node(s) didn't match Pod's node affinity/selector",
	[ADDED] = "node(s) didn't match scheduler-enforced node affinity",
};

/* ---- queueing hints ---- */

enum node_affinity_answer { NO = 0, YES, UNDECIDED };

/* A term that cannot be parsed makes the answer an error, unless another one matches. */
static enum node_affinity_answer own_matches(const struct bt_hint_env *env, const struct bt_node_facts *node)
{
	const struct bt_intern *intern = env->view->snapshot->dictionary->intern;
	const struct bt_signature *signature = env->signature;
	bool invalid = false;

	if (!bt_selector_matches(intern, &signature->node_selector, node->labels)) {
		return NO;
	}
	if (!signature->has_required ||
		bt_node_selector_matches(intern, &signature->required, node->labels, node->name)) {
		return YES;
	}
	for (uint32_t i = 0; i < signature->required.term_n; i++) {
		invalid |= signature->required.terms[i].invalid;
	}
	return invalid ? UNDECIDED : NO;
}

/* As upstream, addedAffinity is not checked against the old node. */
static bool after_node_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_node_affinity_settings *settings = env->settings;
	const struct bt_node_facts *old = event->node.old, *new = event->node.new;

	if (settings->has_required && !bt_node_selector_matches(env->view->snapshot->dictionary->intern,
					      &settings->required, new->labels, new->name)) {
		return false;
	}
	enum node_affinity_answer now = own_matches(env, new);
	if (now != YES || !old) {
		return now != NO;
	}
	return own_matches(env, old) != YES;
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_LABEL, after_node_change, 0},
};

const struct bt_plugin bt_plugin_node_affinity = {
	.name = "NodeAffinity",
	.ignores_resizes = true,
	.points = BT_AT(PRE_FILTER) | BT_AT(FILTER) | BT_AT(PRE_SCORE) | BT_AT(SCORE),
	.args = &bt_node_affinity_args_info,
	.settings = bt_node_affinity_make_settings,
	.filter_depends = BT_DEPENDS_ON_DESCRIPTION,
	.score_depends = BT_DEPENDS_ON_DESCRIPTION,
	.normalize = BT_NORMALIZE_DEFAULT,
	.compile = node_affinity_compile,
	.filter = node_affinity_filter,
	.reject = node_affinity_reject,
	.score = node_affinity_score,
	.reasons = reasons,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
