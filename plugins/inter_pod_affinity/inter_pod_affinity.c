/* SPDX-License-Identifier: Apache-2.0
 * InterPodAffinity. Each term is a topology counter: of the pods that it selects, or of the pods that have
 * it. Source: plugins/interpodaffinity, v1.36.3.
 */
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include "cache/node_view.h"
#include "cache/topology_view.h"
#include "engine/base/check.h"
#include "engine/base/wrap.h"

enum inter_pod_affinity_reason_kind { AFFINITY = 0, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY };

/* A term of the pending pod and the pods that it selects. */
struct own_term {
	const struct bt_pod_term *term;
	int64_t weight;
	uint32_t counter;
	const struct bt_domain_counts *domain_counts;
};

struct inter_pod_affinity_term {
	const struct bt_inter_pod_affinity_settings *settings;
	const struct bt_signature *signature;
	const struct bt_intern *intern;
	struct bt_pod_match *matches; /* room for those of the required affinity terms */
	struct own_term *affinity, *anti_affinity, *preferred;
	uint32_t affinity_n, anti_affinity_n, preferred_n;
	bool has_preferred;	 /* the spec has preferred terms */
	bool selects_namespaces; /* some term has a namespace selector */
	bool resolved;
	uint64_t namespace_version;
	bool matches_itself; /* the pod satisfies its own required affinity terms */
	const struct bt_existing_affinity_term *const *matching;
	uint32_t matching_n;
};

static struct own_term *own_terms(const struct bt_compile_env *env, const struct bt_pod_term_list *list,
	const struct bt_pod_term_list *against)
{
	BT_REQUIRE_HOT(list);
	uint32_t against_n = against ? against->n : 0;
	struct own_term *terms = bt_arena_zalloc(env->arena, (list->n + against_n) * sizeof(*terms));

	for (uint32_t i = 0; i < list->n; i++) {
		terms[i] = (struct own_term){.term = &list->items[i], .weight = list->items[i].weight};
	}
	for (uint32_t i = 0; i < against_n; i++) {
		/* Upstream multiplies by -1 in 32 bits. */
		int32_t weight = (int32_t)(0 - (uint32_t)against->items[i].weight);

		terms[list->n + i] = (struct own_term){.term = &against->items[i], .weight = weight};
	}
	return terms;
}

static bool any_selects_namespaces(const struct own_term *terms, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!terms[i].term->namespace_selector.nothing) {
			return true;
		}
	}
	return false;
}

static void compile_own(const struct bt_compile_env *env, const struct bt_pod_affinity *own,
	struct inter_pod_affinity_term *term)
{
	term->affinity = own_terms(env, &own->affinity, NULL);
	term->affinity_n = own->affinity.n;
	term->anti_affinity = own_terms(env, &own->anti_affinity, NULL);
	term->anti_affinity_n = own->anti_affinity.n;
	term->preferred = own_terms(env, &own->preferred_affinity, &own->preferred_anti_affinity);
	term->preferred_n = own->preferred_affinity.n + own->preferred_anti_affinity.n;
	term->has_preferred = own->has_preferred;
	term->matches = bt_arena_zalloc(env->arena, own->affinity.n * sizeof(*term->matches));
	term->selects_namespaces = any_selects_namespaces(term->affinity, term->affinity_n) ||
				   any_selects_namespaces(term->anti_affinity, term->anti_affinity_n) ||
				   any_selects_namespaces(term->preferred, term->preferred_n);
}

static const char *prefixed(const struct bt_compile_env *env, const char *prefix, const char *text)
{
	struct bt_buf buf = {0};

	bt_buf_printf(&buf, "%s%s", prefix, text);
	const char *copy = bt_arena_copy(env->arena, buf.ptr, buf.len);
	bt_buf_fini(&buf);
	return copy;
}

static void inter_pod_affinity_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out)
{
	const struct bt_pod_affinity *own = signature->pod_affinity;
	struct inter_pod_affinity_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	term->settings = settings;
	term->signature = signature;
	term->intern = env->dictionary->intern;
	if (own) {
		compile_own(env, own, term);
	}
	if (own && own->error) {
		out->refused = true;
		out->refusal = prefixed(env, "parsing pod: ", own->error);
		out->score_error = term->settings->ignore_preferred && !own->has_preferred
					   ? NULL
					   : prefixed(env, "failed to parse pod: ", own->error);
	}
	out->term = term;
	out->state = term;
}

/* The term with its namespace selector resolved to names. */
static struct bt_pod_match resolved(const struct inter_pod_affinity_term *term,
	const struct bt_counting *counting, const struct own_term *own)
{
	return counting->resolve(counting->context, own->term, term->settings->unlabelled_selector_takes_all);
}

static void count_own(const struct inter_pod_affinity_term *term, const struct bt_counting *counting,
	struct own_term *terms, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_pod_match match = resolved(term, counting, &terms[i]);
		const struct bt_pod_query query = {.items = &match, .n = 1};

		terms[i].counter = counting->counter(counting->context, &query);
	}
}

/* A pod counts for required affinity only when it matches all the terms, and then for each of them: one
 * counter is enough. */
static void count_affinity(struct inter_pod_affinity_term *term, const struct bt_counting *counting)
{
	const struct bt_pod_query query = {.items = term->matches, .n = term->affinity_n};

	BT_INVARIANT(term->affinity_n > 0 && term->matches);
	for (uint32_t i = 0; i < term->affinity_n; i++) {
		term->matches[i] = resolved(term, counting, &term->affinity[i]);
	}
	term->matches_itself = bt_pod_query_holds(
		term->intern, &query, term->signature->namespace_, term->signature->labels);
	uint32_t counter = counting->counter(counting->context, &query);
	for (uint32_t i = 0; i < term->affinity_n; i++) {
		term->affinity[i].counter = counter;
	}
}

static void find_domain_counts(const struct bt_counting *counting, struct own_term *terms, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		terms[i].domain_counts = counting->domain_counts(
			counting->context, terms[i].counter, terms[i].term->topology_key, 0, false);
	}
}

static void resolve(struct inter_pod_affinity_term *term, const struct bt_counting *counting)
{
	if (term->resolved &&
		(!term->selects_namespaces || term->namespace_version == counting->namespace_version)) {
		return;
	}
	if (term->affinity_n) {
		count_affinity(term, counting);
	}
	count_own(term, counting, term->anti_affinity, term->anti_affinity_n);
	count_own(term, counting, term->preferred, term->preferred_n);
	find_domain_counts(counting, term->affinity, term->affinity_n);
	find_domain_counts(counting, term->anti_affinity, term->anti_affinity_n);
	find_domain_counts(counting, term->preferred, term->preferred_n);
	term->resolved = true;
	term->namespace_version = counting->namespace_version;
	BT_INVARIANT(!term->affinity_n || term->affinity[0].domain_counts);
}

/* What an existing affinity term adds to a node's score per pod that has it. */
static int64_t existing_weight(
	const struct inter_pod_affinity_term *term, const struct bt_existing_affinity_term *existing)
{
	BT_INVARIANT(existing->pod_n >= 0);
	if (existing->kind == BT_EXISTING_AFFINITY_TERM_AFFINITY) {
		return term->settings->hard_weight > 0 ? term->settings->hard_weight : 0;
	}
	return existing->kind == BT_EXISTING_AFFINITY_TERM_PREFERENCE ? existing->weight : 0;
}

static void prepare(void *state, const struct bt_view *view, bool *out_filter_skip, bool *out_score_skip)
{
	struct inter_pod_affinity_term *term = state;
	const struct bt_counting *counting = view->counting;
	bool filter = term->affinity_n || term->anti_affinity_n, score = term->preferred_n > 0;

	resolve(term, counting);
	term->matching = counting->matching(counting->context, term->signature, &term->matching_n);
	for (uint32_t i = 0; i < term->matching_n; i++) {
		const struct bt_existing_affinity_term *existing = term->matching[i];

		/* Only pods with the term on nodes with its topology key keep Filter from being skipped. */
		filter |= existing->kind == BT_EXISTING_AFFINITY_TERM_ANTI_AFFINITY &&
			  existing->domain_counts->total > 0;
		score |= existing_weight(term, existing) != 0 && existing->pod_n > 0;
	}
	*out_filter_skip = !filter;
	*out_score_skip = !score || (term->settings->ignore_preferred && !term->has_preferred);
	BT_INVARIANT(term->resolved && (term->matching_n == 0 || term->matching));
}

static bool bound(const void *opaque)
{
	const struct inter_pod_affinity_term *term = opaque;

	return term->resolved && term->affinity_n + term->anti_affinity_n + term->preferred_n > 0;
}

static uint32_t node_keys(const void *opaque, struct bt_equivalence_key *out_keys, uint32_t n, uint32_t cap)
{
	BT_REQUIRE_HOT(((const struct inter_pod_affinity_term *)opaque)->resolved);
	const struct inter_pod_affinity_term *term = opaque;

	for (uint32_t i = 0; i < term->affinity_n; i++) {
		n = bt_add_equivalence_key(
			bt_domain_counts_key(term->affinity[i].domain_counts, BT_EQUIVALENCE_KEY_SIGN),
			out_keys, n, cap);
	}
	for (uint32_t i = 0; i < term->anti_affinity_n; i++) {
		n = bt_add_equivalence_key(
			bt_domain_counts_key(term->anti_affinity[i].domain_counts, BT_EQUIVALENCE_KEY_SIGN),
			out_keys, n, cap);
	}
	for (uint32_t i = 0; i < term->preferred_n; i++) {
		n = bt_add_equivalence_key(
			bt_domain_counts_key(term->preferred[i].domain_counts, BT_EQUIVALENCE_KEY_SUM),
			out_keys, n, cap);
	}
	for (uint32_t i = 0; i < term->matching_n; i++) {
		const struct bt_existing_affinity_term *existing = term->matching[i];
		bool refuses = existing->kind == BT_EXISTING_AFFINITY_TERM_ANTI_AFFINITY;

		if (refuses || existing_weight(term, existing)) {
			n = bt_add_equivalence_key(
				bt_domain_counts_key(existing->domain_counts,
					refuses ? BT_EQUIVALENCE_KEY_SIGN : BT_EQUIVALENCE_KEY_SUM),
				out_keys, n, cap);
		}
	}
	return n;
}

static bool affinity_passes(const struct inter_pod_affinity_term *term, uint32_t node_ix)
{
	bool exist = true;
	int64_t total = 0;

	for (uint32_t i = 0; i < term->affinity_n; i++) {
		const struct bt_domain_counts *domain_counts = term->affinity[i].domain_counts;
		uint32_t domain = domain_counts->domain[node_ix];
		BT_INVARIANT(domain == BT_NO_DOMAIN || domain < domain_counts->domain_n);

		if (domain == BT_NO_DOMAIN) {
			return false;
		}
		exist &= domain_counts->sums[domain] > 0;
		total += domain_counts->total;
	}
	/* The first pod of a series with affinity to itself matches no existing pod. */
	return exist || (total == 0 && term->matches_itself);
}

static bool anti_affinity_passes(const struct inter_pod_affinity_term *term, uint32_t node_ix)
{
	for (uint32_t i = 0; i < term->anti_affinity_n; i++) {
		const struct bt_domain_counts *domain_counts = term->anti_affinity[i].domain_counts;
		uint32_t domain = domain_counts->domain[node_ix];
		BT_INVARIANT(domain == BT_NO_DOMAIN || domain < domain_counts->domain_n);

		if (domain != BT_NO_DOMAIN && domain_counts->sums[domain] > 0) {
			return false;
		}
	}
	return true;
}

/* Clears pass where the sum of the node's domain is not 0. */
static void keep_empty(const int32_t *restrict sums, uint32_t n, uint8_t *restrict pass)
{
	for (uint32_t i = 0; i < n; i++) {
		pass[i] &= sums[i] <= 0;
	}
}

/* Clears pass where the domain has pods that count. */
static void keep_apart(
	const struct bt_domain_counts *domain_counts, uint32_t first, uint32_t n, uint8_t *pass)
{
	if (domain_counts->total == 0) {
		return;
	}
	if (domain_counts->by_node) {
		keep_empty(domain_counts->by_node + first, n, pass);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t domain = domain_counts->domain[first + i];

		pass[i] &= domain == BT_NO_DOMAIN || domain_counts->sums[domain] <= 0;
	}
}

/* Term by term, so that the sums stay in cache. */
static void inter_pod_affinity_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct inter_pod_affinity_term *term = opaque;

	BT_REQUIRE_HOT(term->resolved && first + n <= view->snapshot->slot_n);
	(void)view;
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = term->affinity_n == 0 || affinity_passes(term, first + i);
	}
	for (uint32_t t = 0; t < term->anti_affinity_n; t++) {
		keep_apart(term->anti_affinity[t].domain_counts, first, n, pass);
	}
	for (uint32_t t = 0; t < term->matching_n; t++) {
		if (term->matching[t]->kind == BT_EXISTING_AFFINITY_TERM_ANTI_AFFINITY) {
			keep_apart(term->matching[t]->domain_counts, first, n, pass);
		}
	}
}

static void inter_pod_affinity_reject(
	const void *opaque, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	(void)view;
	if (!affinity_passes(opaque, node_ix)) {
		bt_reject_with(out_rejection, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, AFFINITY);
	} else if (!anti_affinity_passes(opaque, node_ix)) {
		bt_reject_with(out_rejection, BT_UNSCHEDULABLE, ANTI_AFFINITY);
	} else {
		bt_reject_with(out_rejection, BT_UNSCHEDULABLE, EXISTING_ANTI_AFFINITY);
	}
}

static void add_weighted(const struct bt_domain_counts *domain_counts, int64_t weight, uint32_t first,
	uint32_t n, int64_t *raw)
{
	if (weight == 0 || domain_counts->total == 0) {
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t domain = domain_counts->domain[first + i];

		if (domain != BT_NO_DOMAIN) {
			raw[i] = bt_wrap_add(raw[i], bt_wrap_mul(weight, domain_counts->sums[domain]));
		}
	}
}

static void inter_pod_affinity_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct inter_pod_affinity_term *term = opaque;

	BT_REQUIRE_HOT(term->resolved && first + n <= view->snapshot->slot_n);
	(void)view;
	for (uint32_t i = 0; i < n; i++) {
		raw[i] = 0;
	}
	for (uint32_t t = 0; t < term->preferred_n; t++) {
		add_weighted(term->preferred[t].domain_counts, term->preferred[t].weight, first, n, raw);
	}
	for (uint32_t t = 0; t < term->matching_n; t++) {
		add_weighted(term->matching[t]->domain_counts, existing_weight(term, term->matching[t]),
			first, n, raw);
	}
}

/* Divides before multiplying, in floating point, as upstream: 29 of 100 becomes 28. */
static void normalize_own(
	const void *opaque, const struct bt_view *view, const uint32_t *nodes, uint32_t n, int64_t *scores)
{
	int64_t lowest = INT64_MAX, highest = INT64_MIN;

	(void)opaque;
	(void)view;
	(void)nodes;
	for (uint32_t i = 0; i < n; i++) {
		lowest = scores[i] < lowest ? scores[i] : lowest;
		highest = scores[i] > highest ? scores[i] : highest;
	}
	int64_t span = bt_wrap_sub(highest, lowest);
	BT_INVARIANT(n == 0 || lowest <= highest);
	for (uint32_t i = 0; i < n; i++) {
		double share = span > 0 ? (double)bt_wrap_sub(scores[i], lowest) / (double)span : 0;

		scores[i] = bt_truncate(BT_MAX_NODE_SCORE * share);
		BT_INVARIANT(scores[i] >= 0 && scores[i] <= BT_MAX_NODE_SCORE);
	}
}

static const char *const reasons[] = {
	[AFFINITY] = "node(s) didn't match pod affinity rules",
	[ANTI_AFFINITY] = "node(s) didn't match pod anti-affinity rules",
	[EXISTING_ANTI_AFFINITY] = "node(s) didn't satisfy existing pods anti-affinity rules",
};

/* ---- queueing hints ---- */

static const struct bt_pod_affinity nothing;

static const struct bt_pod_affinity *affinity_of(const struct bt_signature *signature)
{
	return signature->pod_affinity ? signature->pod_affinity : &nothing;
}

/* Does the pod satisfy the term? As upstream, namespace selectors see no labels here. */
static bool satisfies(
	const struct bt_intern *intern, const struct bt_pod_term *term, const struct bt_signature *pod)
{
	struct bt_pod_match match = term->match;

	match.any_namespace = bt_selector_matches(intern, &term->namespace_selector, (struct bt_labels){0});
	return bt_pod_match_holds(intern, &match, pod->namespace_, pod->labels);
}

/* Does the pod satisfy all terms (of at least one), or, with any set, one of them? */
static bool satisfies_terms(const struct bt_intern *intern, const struct bt_pod_term_list *terms, bool any,
	const struct bt_signature *pod)
{
	for (uint32_t i = 0; i < terms->n; i++) {
		if (satisfies(intern, &terms->items[i], pod) == any) {
			return any;
		}
	}
	return terms->n > 0 && !any;
}

static bool satisfies_affinity(const struct bt_intern *intern, const struct bt_pod_affinity *affinity,
	const struct bt_signature *pod)
{
	return satisfies_terms(intern, &affinity->affinity, false, pod);
}

static bool breaks_anti_affinity(
	const struct bt_hint_env *env, const struct bt_pod_affinity *affinity, const struct bt_signature *pod)
{
	return satisfies_terms(env->view->snapshot->dictionary->intern, &affinity->anti_affinity,
		bt_release_has(env->release, BT_RULE_ANTI_AFFINITY_HINTS_TAKE_ANY_TERM), pod);
}

static bool after_pod_update(const struct bt_hint_env *env, const struct bt_pod_affinity *own,
	const struct bt_signature *old, const struct bt_signature *new)
{
	const struct bt_intern *intern = env->view->snapshot->dictionary->intern;

	return (!satisfies_affinity(intern, own, old) && satisfies_affinity(intern, own, new)) ||
	       (breaks_anti_affinity(env, own, old) && !breaks_anti_affinity(env, own, new));
}

static bool after_pod_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_intern *intern = env->view->snapshot->dictionary->intern;
	const struct bt_pod_affinity *own = affinity_of(env->signature);
	const struct bt_cluster_event_pod *old = &event->pod.old, *new = &event->pod.new;
	bool nominated = bt_release_has(env->release, BT_RULE_HINTS_SEE_NOMINATED_PODS),
	     both_ways = bt_release_has(env->release, BT_RULE_AFFINITY_HINTS_LOOK_BOTH_WAYS);

	BT_REQUIRE_HOT(old->signature || new->signature);
	if (both_ways && env->own && old->signature && new->signature) {
		return true;
	}
	if ((old->signature && !bt_cluster_event_pod_counts(old, nominated)) ||
		(new->signature && !bt_cluster_event_pod_counts(new, nominated))) {
		return false;
	}
	/* Upstream queues pods whose hint fails. */
	if (own->affinity_invalid || own->anti_affinity_invalid) {
		return true;
	}
	if (old->signature && new->signature) {
		return after_pod_update(env, own, old->signature, new->signature);
	}
	if (new->signature) {
		return satisfies_affinity(intern, own, new->signature);
	}
	const struct bt_pod_affinity *gone = affinity_of(old->signature);
	return breaks_anti_affinity(env, own, old->signature) ||
	       (both_ways &&
		       (gone->anti_affinity_invalid || breaks_anti_affinity(env, gone, env->signature)));
}

static bool after_node_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	BT_REQUIRE_HOT(event->node.new);
	const struct bt_pod_affinity *own = affinity_of(env->signature);
	const struct bt_node_facts *old = event->node.old;
	struct bt_labels before = old ? old->labels : (struct bt_labels){0};

	if (own->affinity_invalid || own->anti_affinity_invalid) {
		return true;
	}
	for (uint32_t i = 0; i < own->affinity.n; i++) {
		uint32_t key = own->affinity.items[i].topology_key;
		uint32_t value = bt_labels_get(event->node.new->labels, key);

		if (value != BT_NAME_NONE && value != bt_labels_get(before, key)) {
			return true;
		}
	}
	for (uint32_t i = 0; i < own->anti_affinity.n; i++) {
		uint32_t key = own->anti_affinity.items[i].topology_key;
		uint32_t value = bt_labels_get(before, key);

		if (!old || (value != BT_NAME_NONE && value != bt_labels_get(event->node.new->labels, key))) {
			return true;
		}
	}
	return false;
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_ASSIGNED_POD, BT_ADD | BT_UPDATE_POD_LABEL | BT_DELETE, after_pod_change, 0},
	{BT_CLUSTER_EVENT_TARGET_POD, BT_UPDATE_POD_LABEL, after_pod_change, 0},
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_LABEL, after_node_change, 0},
};

const struct bt_plugin bt_plugin_inter_pod_affinity = {
	.name = "InterPodAffinity",
	.ignores_resizes = true,
	.points = BT_AT(PRE_FILTER) | BT_AT(FILTER) | BT_AT(PRE_SCORE) | BT_AT(SCORE),
	.args = &bt_inter_pod_affinity_args_info,
	.settings = bt_inter_pod_affinity_make_settings,
	.filter_depends = BT_DEPENDS_ON_COUNTERS,
	.score_depends = BT_DEPENDS_ON_COUNTERS,
	.normalize = BT_NORMALIZE_OWN,
	.no_pre_filter_error = "error reading \"PreFilterInterPodAffinity\" from cycleState: not found",
	.no_pre_score_error = "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found",
	.compile = inter_pod_affinity_compile,
	.filter = inter_pod_affinity_filter,
	.reject = inter_pod_affinity_reject,
	.score = inter_pod_affinity_score,
	.reasons = reasons,
	.prepare = prepare,
	.bound = bound,
	.node_keys = node_keys,
	.normalize_own = normalize_own,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
