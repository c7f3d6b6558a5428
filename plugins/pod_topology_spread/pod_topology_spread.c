/* SPDX-License-Identifier: Apache-2.0
 * PodTopologySpread. Each constraint reads domain counts: the matching pods per domain, on the nodes that its
 * policies include. Source: plugins/podtopologyspread, v1.36.3.
 */
#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <string.h>

#include "cache/node_view.h"
#include "cache/topology_view.h"
#include "engine/base/check.h"
#include "engine/base/wrap.h"
#include "plugins/pod_topology_spread/go_log.h"
#include "plugins/pod_topology_spread/hints.h"

#define NEAR	256  /* within this range each distinct score is divided once */
#define IGNORED (-1) /* the raw score of a node that lacks a key */

enum pod_topology_spread_reason_kind { SKEW = 0, LABEL };

/* A constraint and its inputs. */
struct rule {
	const struct bt_spread_constraint *constraint;
	const uint32_t *values;	     /* of the topology key, by node slot */
	struct bt_selector selector; /* of the defaults: set only while they are bound */
	bool matches_itself;
	bool nodes_known;
	uint32_t node_set; /* whose pods count */
	const struct bt_domain_counts *domain_counts;
	double weight;	 /* soft: of this cycle */
	uint32_t *stamp; /* soft: by domain, when it was last seen among feasible nodes */
	uint32_t stamp_n;
};

struct rules {
	struct rule *items;
	uint32_t n;
};

struct pod_topology_spread_term {
	const struct bt_spread_settings *settings;
	const struct bt_signature *signature;
	const struct bt_intern *intern;
	struct bt_arena *arena; /* the plan's */
	struct rules hard, soft;
	bool require_all; /* nodes that lack a key of a soft constraint are not scored */
	bool defaults;	  /* the rules are the defaults */
	bool applies;	  /* the defaults apply: a service or owner selects the pod */
	bool bound;	  /* domain counts are bound */
	uint64_t workload_version;
	uint32_t stamp;	  /* of this cycle */
	uint8_t *ignored; /* by node slot: lacks a key of a soft constraint, with require_all; NULL: no node
			     does */
};

/* ---- compiling ---- */

static struct rules list_rules(const struct bt_compile_env *env,
	const struct bt_spread_constraint *constraints, uint32_t n, enum bt_when_unsatisfiable when)
{
	struct rules rules = {bt_arena_zalloc(env->arena, n * sizeof(struct rule)), 0};

	for (uint32_t i = 0; i < n; i++) {
		if (constraints[i].when == when) {
			rules.items[rules.n++] = (struct rule){
				.constraint = &constraints[i],
				.values = env->label_column(env->context, constraints[i].topology_key),
			};
		}
	}
	BT_INVARIANT(rules.n <= n);
	return rules;
}

static const char *first_error(
	const struct bt_compile_env *env, const struct rules *rules, const char *prefix)
{
	struct bt_buf text = {0};
	const char *copy = NULL;

	for (uint32_t i = 0; i < rules->n && !copy; i++) {
		if (rules->items[i].constraint->error) {
			bt_buf_printf(&text, "%s%s", prefix, rules->items[i].constraint->error);
			copy = bt_arena_copy(env->arena, text.ptr, text.len);
		}
	}
	bt_buf_fini(&text);
	return copy;
}

static void choose_selectors(const struct pod_topology_spread_term *term, struct rules *rules)
{
	for (uint32_t i = 0; i < rules->n; i++) {
		struct rule *rule = &rules->items[i];

		rule->selector = term->settings->match_label_keys ? rule->constraint->selector
								  : rule->constraint->bare_selector;
	}
}

static void pod_topology_spread_compile(const void *opaque, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out)
{
	const struct bt_spread_settings *settings = opaque;
	struct pod_topology_spread_term *term = bt_arena_zalloc(env->arena, sizeof(*term));
	bool own = signature->spread_n > 0;
	const struct bt_spread_constraint *constraints = own ? signature->spread : settings->defaults;
	uint32_t n = own ? signature->spread_n : settings->default_n;

	*term = (struct pod_topology_spread_term){
		.settings = settings,
		.signature = signature,
		.intern = env->dictionary->intern,
		.arena = env->arena,
		.hard = list_rules(env, constraints, n, BT_SPREAD_DO_NOT_SCHEDULE),
		.soft = list_rules(env, constraints, n, BT_SPREAD_SCHEDULE_ANYWAY),
		.require_all = own || !settings->system_defaults,
		.defaults = !own,
		.applies = own,
	};
	if (own) {
		choose_selectors(term, &term->hard);
		choose_selectors(term, &term->soft);
		out->pre_filter_error = first_error(env, &term->hard,
			"get constraints from pod: obtaining pod's hard topology spread constraints: ");
		out->score_error = first_error(env, &term->soft,
			"calculating preScoreState: obtaining pod's soft topology spread constraints: ");
	}
	out->term = term;
	out->state = term;
	BT_INVARIANT(term->hard.n + term->soft.n <= n); /* unknown values of whenUnsatisfiable are neither */
}

/* ---- which nodes count ---- */

static bool has_keys(const struct rules *rules, uint32_t node_ix)
{
	for (uint32_t i = 0; i < rules->n; i++) {
		if (rules->items[i].values[node_ix] == BT_NAME_NONE) {
			return false;
		}
	}
	return true;
}

/* The set of nodes whose pods count for a rule. need_keys: only nodes with the keys of all the rules. */
static uint32_t nodes_that_count(const struct pod_topology_spread_term *term,
	const struct bt_counting *counting, const struct rules *rules, const struct rule *rule,
	bool need_keys)
{
	const struct bt_signature *signature = term->signature;
	uint32_t *keys = bt_arena_alloc(term->arena, rules->n * sizeof(*keys), sizeof(*keys));
	struct bt_node_query query = {
		.signature = signature,
		.by_affinity = rule->constraint->honor_affinity &&
			       (signature->node_selector.n || signature->has_required),
		.by_taints = rule->constraint->honor_taints,
		.compare_numbers = term->settings->compare_numbers,
		.keys = keys,
	};

	BT_INVARIANT(rule >= rules->items && rule < rules->items + rules->n);
	/* A node without the rule's own key counts in no domain anyway. */
	for (uint32_t i = 0; need_keys && rules->n > 1 && i < rules->n; i++) {
		keys[query.key_n++] = rules->items[i].constraint->topology_key;
	}
	if (!query.by_affinity && !query.by_taints && query.key_n == 0) {
		return 0;
	}
	return counting->node_set(counting->context, &query);
}

/* ---- binding rules to domain counts ---- */

static uint32_t counter_of(const struct pod_topology_spread_term *term, const struct bt_counting *counting,
	const struct bt_selector *selector)
{
	const struct bt_pod_match match = {
		.namespaces = &term->signature->namespace_, .namespace_n = 1, .labels = *selector};
	const struct bt_pod_query query = {
		.items = &match,
		.n = 1,
		.skip_terminating = true,
		/* Upstream counts no pods for an empty selector, but preemption's dry runs change its count.
		 */
		.trials_only = bt_selector_is_empty(selector),
	};

	return counting->counter(counting->context, &query);
}

static bool per_node(const struct rule *rule)
{
	return rule->constraint->topology_key == BT_NAME_HOSTNAME;
}

static void bind_rule(struct pod_topology_spread_term *term, const struct bt_view *view, struct rules *rules,
	struct rule *rule, bool soft)
{
	const struct bt_counting *counting = view->counting;
	uint32_t counter = counter_of(term, counting, &rule->selector);
	uint32_t key = rule->constraint->topology_key;

	rule->matches_itself = bt_selector_matches(term->intern, &rule->selector, term->signature->labels);
	if (soft && per_node(rule)) {
		rule->domain_counts =
			counting->domain_counts(counting->context, counter, BT_NAME_NONE, 0, false);
		return;
	}
	bool need_keys = !soft || term->require_all;
	if (!rule->nodes_known) {
		rule->node_set = nodes_that_count(term, counting, rules, rule, need_keys);
		rule->nodes_known = true;
	}
	rule->domain_counts =
		counting->domain_counts(counting->context, counter, key, rule->node_set, !need_keys);
}

/* Makes room for stamps of all domains. */
static void widen_stamps(struct pod_topology_spread_term *term)
{
	for (uint32_t i = 0; i < term->soft.n; i++) {
		struct rule *rule = &term->soft.items[i];
		uint32_t n = rule->domain_counts->domain_n;

		if (per_node(rule) || n < rule->stamp_n) {
			continue;
		}
		rule->stamp_n = n + n / 2 + 1;
		rule->stamp = bt_arena_zalloc(term->arena, rule->stamp_n * sizeof(*rule->stamp));
	}
}

static void find_ignored(struct pod_topology_spread_term *term, const struct bt_view *view)
{
	const struct bt_snapshot *snapshot = view->snapshot;
	uint32_t slot_n = snapshot->slot_n;

	if (!term->require_all || term->soft.n == 0 || term->ignored) {
		return;
	}
	term->ignored =
		bt_arena_zalloc(term->arena, slot_n > snapshot->slot_room ? slot_n : snapshot->slot_room);
	for (uint32_t i = 0; i < slot_n; i++) {
		term->ignored[i] = !has_keys(&term->soft, i);
	}
	BT_INVARIANT(term->soft.n > 0);
}

static void redescribe(void *state, const struct bt_snapshot *snapshot, uint32_t node_ix)
{
	struct pod_topology_spread_term *term = state;

	BT_REQUIRE_HOT(node_ix < snapshot->slot_room);
	if (term->ignored) {
		term->ignored[node_ix] = !has_keys(&term->soft, node_ix);
	}
}

static void bind_rules(struct pod_topology_spread_term *term, const struct bt_view *view)
{
	find_ignored(term, view);
	for (uint32_t i = 0; i < term->hard.n; i++) {
		bind_rule(term, view, &term->hard, &term->hard.items[i], false);
	}
	for (uint32_t i = 0; i < term->soft.n; i++) {
		bind_rule(term, view, &term->soft, &term->soft.items[i], true);
	}
	term->bound = true;
}

/* Defaults apply when services or the owner select something. */
static void apply_default_selector(struct pod_topology_spread_term *term, const struct bt_view *view)
{
	BT_REQUIRE_HOT(term->defaults);
	const struct bt_counting *counting = view->counting;

	if (term->workload_version == counting->workload_version) {
		return;
	}
	term->workload_version = counting->workload_version;
	const struct bt_selector selector = counting->default_selector(counting->context, term->signature);
	term->applies = !bt_selector_is_empty(&selector);
	for (uint32_t i = 0; term->applies && i < term->hard.n; i++) {
		term->hard.items[i].selector = selector;
	}
	for (uint32_t i = 0; term->applies && i < term->soft.n; i++) {
		term->soft.items[i].selector = selector;
	}
	if (term->applies) {
		bind_rules(term, view);
	}
}

static void prepare(void *state, const struct bt_view *view, bool *out_filter_skip, bool *out_score_skip)
{
	struct pod_topology_spread_term *term = state;

	if (term->hard.n + term->soft.n == 0) {
		*out_filter_skip = *out_score_skip = true;
		return;
	}
	if (term->defaults) {
		apply_default_selector(term, view);
	} else if (!term->bound) {
		bind_rules(term, view);
	}
	if (term->bound) {
		widen_stamps(term);
	}
	*out_filter_skip = !term->applies || term->hard.n == 0;
	*out_score_skip = !term->applies || term->soft.n == 0;
}

static bool bound(const void *opaque)
{
	return ((const struct pod_topology_spread_term *)opaque)->bound;
}

/* The keys' values also distinguish nodes without the key from others, which domains do not. */
static uint32_t node_keys(const void *opaque, struct bt_equivalence_key *out_keys, uint32_t n, uint32_t cap)
{
	const struct pod_topology_spread_term *term = opaque;

	for (uint32_t i = 0; i < term->hard.n; i++) {
		n = bt_add_equivalence_key(
			bt_domain_counts_key(term->hard.items[i].domain_counts, BT_EQUIVALENCE_KEY_SUM),
			out_keys, n, cap);
	}
	for (uint32_t i = 0; i < term->soft.n; i++) {
		const struct rule *rule = &term->soft.items[i];
		/* Domains are counted, unless they are single nodes: then nodes are. */
		enum bt_equivalence_key_kind kind =
			per_node(rule) ? BT_EQUIVALENCE_KEY_PRESENCE : BT_EQUIVALENCE_KEY_VALUE;

		n = bt_add_equivalence_key(
			(struct bt_equivalence_key){.kind = kind, .column = rule->values}, out_keys, n, cap);
		if (per_node(rule)) {
			n = bt_add_equivalence_key(
				bt_domain_counts_key(rule->domain_counts, BT_EQUIVALENCE_KEY_SUM), out_keys,
				n, cap);
		}
	}
	return n;
}

/* ---- Filter ---- */

/* The lowest number of pods in a domain; 0 while there are fewer than minDomains. */
static int64_t lowest_of(const struct rule *rule)
{
	BT_INVARIANT(rule->domain_counts->counted_n <= rule->domain_counts->domain_n);
	return (int64_t)rule->domain_counts->counted_n < rule->constraint->min_domains
		       ? 0
		       : rule->domain_counts->lowest;
}

/* The highest sum at which a domain can take one more pod. */
static int64_t highest_allowed(const struct rule *rule)
{
	return rule->constraint->max_skew + lowest_of(rule) - rule->matches_itself;
}

static bool within_skew(const struct rule *rule, uint32_t domain)
{
	BT_INVARIANT(domain < rule->domain_counts->domain_n);
	return rule->domain_counts->sums[domain] <= highest_allowed(rule);
}

/* Clears pass for nodes without a value, and where the sum is above the limit. */
static void keep_low(const uint32_t *restrict values, const int32_t *restrict sums, int64_t room, uint32_t n,
	uint8_t *restrict pass)
{
	int32_t most = room > INT32_MAX ? INT32_MAX : room < INT32_MIN ? INT32_MIN : (int32_t)room;

	/* No sum is INT32_MIN, so clamping room to it still refuses every node. */
	for (uint32_t i = 0; i < n; i++) {
		pass[i] &= (values[i] != BT_NAME_NONE) & (sums[i] <= most);
	}
}

static void pod_topology_spread_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct pod_topology_spread_term *term = opaque;

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n && (term->hard.n == 0 || term->bound));
	(void)view;
	memset(pass, 1, n);
	for (uint32_t r = 0; r < term->hard.n; r++) {
		const struct rule *rule = &term->hard.items[r];
		int64_t room = highest_allowed(rule);

		if (rule->domain_counts->by_node) {
			keep_low(rule->values + first, rule->domain_counts->by_node + first, room, n, pass);
			continue;
		}
		for (uint32_t i = 0; i < n; i++) {
			uint32_t domain = rule->domain_counts->domain[first + i];

			pass[i] &= domain != BT_NO_DOMAIN && rule->domain_counts->sums[domain] <= room;
		}
	}
}

static void pod_topology_spread_reject(
	const void *opaque, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	const struct pod_topology_spread_term *term = opaque;

	BT_REQUIRE_HOT(term->bound && node_ix < view->snapshot->slot_n);
	(void)view;
	for (uint32_t r = 0; r < term->hard.n; r++) {
		const struct rule *rule = &term->hard.items[r];
		uint32_t domain = rule->domain_counts->domain[node_ix];

		if (domain == BT_NO_DOMAIN) {
			bt_reject_with(out_rejection, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, LABEL);
			return;
		}
		if (!within_skew(rule, domain)) {
			bt_reject_with(out_rejection, BT_UNSCHEDULABLE, SKEW);
			return;
		}
	}
	bt_reject_with(out_rejection, BT_UNSCHEDULABLE, SKEW);
}

/* ---- Score ---- */

static bool ignored(const struct pod_topology_spread_term *term, uint32_t node_ix)
{
	return term->ignored && term->ignored[node_ix];
}

/* The number of a rule's domains among the feasible nodes. */
static uint32_t count_domains(const struct pod_topology_spread_term *term, struct rule *rule,
	const uint32_t *nodes, const uint32_t *counts, uint32_t n)
{
	uint32_t domain_n = 0;

	if (per_node(rule)) {
		for (uint32_t i = 0; i < n; i++) {
			domain_n += ignored(term, nodes[i]) ? 0 : counts ? counts[i] : 1;
		}
		return domain_n;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (ignored(term, nodes[i])) {
			continue;
		}
		uint32_t domain = rule->domain_counts->domain[nodes[i]];
		BT_INVARIANT(domain < rule->domain_counts->domain_n && domain < rule->stamp_n);
		domain_n += rule->stamp[domain] != term->stamp;
		rule->stamp[domain] = term->stamp;
	}
	BT_INVARIANT(per_node(rule) || domain_n <= rule->domain_counts->domain_n);
	return domain_n;
}

static void pre_score(
	void *state, const struct bt_view *view, const uint32_t *nodes, const uint32_t *counts, uint32_t n)
{
	struct pod_topology_spread_term *term = state;

	BT_REQUIRE_HOT(term->bound || term->soft.n == 0);
	(void)view;
	term->stamp++;
	for (uint32_t r = 0; r < term->soft.n; r++) {
		struct rule *rule = &term->soft.items[r];

		rule->weight = bt_go_log((double)count_domains(term, rule, nodes, counts, n) + 2);
		BT_INVARIANT(rule->weight > 0);
	}
}

/* Half away from zero, as upstream rounds. */
static int64_t round_half_away(double x)
{
	if (!(x > -0x1p62 && x < 0x1p62)) {
		return bt_truncate(round(x));
	}
	int64_t whole = (int64_t)x;
	double rest = x - (double)whole; /* exact */
	return whole + (rest >= 0.5) - (rest <= -0.5);
}

/* empty: treat nodes as empty. */
static double score_of(const struct pod_topology_spread_term *term, bool empty, uint32_t node_ix)
{
	double sum = 0;

	for (uint32_t r = 0; r < term->soft.n; r++) {
		const struct rule *rule = &term->soft.items[r];

		if (rule->values[node_ix] == BT_NAME_NONE) {
			continue;
		}
		double count =
			empty && per_node(rule)
				? 0
				: (double)rule->domain_counts->sums[rule->domain_counts->domain[node_ix]];
		/* Rounded after the product and after the sum; upstream fuses neither. */
		sum += count * rule->weight + (double)(int32_t)((uint32_t)rule->constraint->max_skew - 1);
	}
	return sum;
}

static void pod_topology_spread_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct pod_topology_spread_term *term = opaque;
	bool empty = view->usage->is_empty;

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n && (term->soft.n == 0 || term->bound));
	for (uint32_t i = 0; i < n; i++) {
		raw[i] = ignored(term, first + i) ? 0 : round_half_away(score_of(term, empty, first + i));
	}
}

static int64_t normalized(int64_t score, int64_t lowest, int64_t highest)
{
	int64_t rest = bt_wrap_sub(bt_wrap_add(highest, lowest), score);

	BT_INVARIANT(highest != 0);
	return bt_wrap_div(bt_wrap_mul(BT_MAX_NODE_SCORE, rest), highest);
}

/* Scores within a small range: divides once per distinct score. */
static void normalize_near(int64_t *scores, uint32_t n, int64_t lowest, int64_t highest)
{
	BT_INVARIANT(lowest <= highest && highest - lowest < NEAR);
	int64_t by_score[NEAR] = {0};

	for (int64_t s = lowest; s <= highest; s++) {
		by_score[s - lowest] = normalized(s, lowest, highest);
	}
	for (uint32_t i = 0; i < n; i++) {
		scores[i] = scores[i] == IGNORED ? 0 : by_score[scores[i] - lowest];
	}
}

static void normalize_all(int64_t *scores, uint32_t n, int64_t lowest, int64_t highest)
{
	if (lowest >= 0 && highest - lowest < NEAR) {
		normalize_near(scores, n, lowest, highest);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		scores[i] = scores[i] == IGNORED ? 0 : normalized(scores[i], lowest, highest);
	}
}

static void normalize_own(
	const void *opaque, const struct bt_view *view, const uint32_t *nodes, uint32_t n, int64_t *scores)
{
	const struct pod_topology_spread_term *term = opaque;
	int64_t lowest = INT64_MAX, highest = 0;

	(void)view;
	for (uint32_t i = 0; i < n; i++) {
		if (ignored(term, nodes[i])) {
			scores[i] = IGNORED;
			continue;
		}
		lowest = scores[i] < lowest ? scores[i] : lowest;
		highest = scores[i] > highest ? scores[i] : highest;
	}
	if (highest) {
		normalize_all(scores, n, lowest, highest);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		scores[i] = scores[i] == IGNORED ? 0 : BT_MAX_NODE_SCORE;
	}
}

static const char *const reasons[] = {
	[SKEW] = "node(s) didn't match pod topology spread constraints",
	[LABEL] = "node(s) didn't match pod topology spread constraints (missing required label)",
};

const struct bt_plugin bt_plugin_pod_topology_spread = {
	.name = "PodTopologySpread",
	.ignores_resizes = true,
	.points = BT_AT(PRE_FILTER) | BT_AT(FILTER) | BT_AT(PRE_SCORE) | BT_AT(SCORE),
	.args = &bt_pod_topology_spread_args_info,
	.settings = bt_pod_topology_spread_make_settings,
	.filter_depends = BT_DEPENDS_ON_COUNTERS,
	.score_depends = BT_DEPENDS_ON_COUNTERS,
	.normalize = BT_NORMALIZE_OWN,
	.no_pre_filter_error = "reading \"PreFilterPodTopologySpread\" from cycleState: not found",
	.no_pre_score_error = "error reading \"PreScorePodTopologySpread\" from cycleState: not found",
	.compile = pod_topology_spread_compile,
	.filter = pod_topology_spread_filter,
	.reject = pod_topology_spread_reject,
	.score = pod_topology_spread_score,
	.reasons = reasons,
	.prepare = prepare,
	.bound = bound,
	.redescribe = redescribe,
	.node_keys = node_keys,
	.pre_score = pre_score,
	.normalize_own = normalize_own,
	.events = bt_spread_events,
	.event_n = BT_SPREAD_EVENTS,
};
