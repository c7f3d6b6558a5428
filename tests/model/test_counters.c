/* SPDX-License-Identifier: Apache-2.0
 * After random histories of pods, nodes and namespaces, topology counters equal a sum
 * over the ledger's pods (I4).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random_topology.h"
#include "cache_fixture.h"
#include "seed.h"

#define STEPS	 4000
#define CHECKS	 40 /* steps between two full checks */
#define NODES	 12
#define PODS	 300
#define QUERIES	 24
#define CHOOSERS 4

/* Domain counts of a query and a key as they were at the last check. */
struct seen {
	uint64_t domains_version, journal_end, changes_end;
	int32_t by_node[NODES + 1];
};

struct history {
	struct seen seen[QUERIES][TOPOLOGY_KEYS];
	uint64_t followed_n; /* sums that changed for a node that did not */
	struct bt_cache *cache;
	struct topology_source source;
	uint32_t keys[TOPOLOGY_KEYS];
	struct bt_pod_query queries[QUERIES];
	uint32_t query_n;
	struct bt_signature choosers[CHOOSERS]; /* of nodes, for sets */
	uint64_t forgotten_n, changed_n;
};

/* ---- steps ---- */

static void add_pod(struct history *h)
{
	struct bt_pod_object pod = {
		.meta = {.name = topology_numbered(&h->source, "p", topology_below(&h->source, PODS)),
			.namespace_ = topology_pick(&h->source)}};
	uint32_t pod_ix;

	pod.meta.labels = topology_labels(&h->source, topology_names, 3, 50);
	pod.meta.deletion_ns = topology_below(&h->source, 8) == 0;
	if (topology_below(&h->source, 2)) {
		pod.spec.node_name = topology_numbered(&h->source, "n", topology_below(&h->source, NODES));
	}
	if (topology_below(&h->source, 3) == 0) {
		/* A few templates, so that pods share signatures. */
		uint64_t keep = h->source.rng.state;

		h->source.rng.state = topology_below(&h->source, 6);
		topology_affinity(&h->source, &pod.spec.affinity.pod_affinity);
		topology_affinity(&h->source, &pod.spec.affinity.pod_anti_affinity);
		h->source.rng.state = keep + 1;
	}
	cache_enter_pod(h->cache, &pod, &pod_ix);
}

static void move_pod(struct history *h)
{
	struct bt_ledger *ledger = h->cache->ledger;
	uint32_t end = bt_ledger_pod_end(ledger);

	if (end == 0) {
		return;
	}
	uint32_t pod_ix = topology_below(&h->source, end);
	const struct bt_pod *pod = bt_ledger_pod(ledger, pod_ix);
	if (pod->state == BT_POD_VACANT) {
		return;
	}
	if (topology_below(&h->source, 4) == 0) {
		bt_ledger_remove(ledger, pod_ix);
	} else if (topology_below(&h->source, 4) == 0) {
		bt_ledger_set_terminating(ledger, pod_ix, topology_below(&h->source, 2));
	} else if (pod->state == BT_POD_QUEUED && h->cache->view.snapshot->slot_n) {
		bt_ledger_assume(ledger, pod_ix, topology_below(&h->source, h->cache->view.snapshot->slot_n));
	} else if (pod->state == BT_POD_ASSUMED) {
		if (topology_below(&h->source, 2)) {
			bt_ledger_confirm(ledger, pod_ix);
		} else {
			bt_ledger_forget(ledger, pod_ix);
		}
	}
}

/* Drops what deleted pods leave behind: all counters and terms that readers may have used. */
static void forget(struct history *h)
{
	const uint32_t *ixs;

	bt_ledger_free_removed(h->cache->ledger);
	uint32_t n = bt_signatures_retire(h->cache->signatures, topology_below(&h->source, 3), &ixs);
	bt_counters_forget(h->cache->counters, ixs, n);
	bt_snapshot_forget_columns(h->cache->snapshot);
	bt_signatures_free_retired(h->cache->signatures);
	h->forgotten_n += n;
}

static void change_node(struct history *h)
{
	struct bt_node_object node = {
		.meta = {.name = topology_numbered(&h->source, "n", topology_below(&h->source, NODES))}};
	uint32_t node_ix;

	if (topology_below(&h->source, 4) == 0) {
		(void)!cache_remove_node(h->cache, node.meta.name);
		return;
	}
	node.meta.labels = topology_labels(&h->source, topology_keys, TOPOLOGY_KEYS, 80);
	if (topology_below(&h->source, 3) == 0) {
		struct bt_taint_object *taint = bt_arena_zalloc(&h->source.arena, sizeof(*taint));

		*taint = (struct bt_taint_object){.key = topology_pick(&h->source),
			.effect = bt_str(topology_below(&h->source, 2) ? "NoSchedule" : "PreferNoSchedule")};
		node.taints = taint;
		node.taint_n = 1;
	}
	h->changed_n++;
	assert_int_equal(cache_show_node(h->cache, &node, &node_ix), BT_OK);
}

static void change_namespace(struct history *h)
{
	struct bt_namespace_object object = {.meta = {.name = topology_pick(&h->source)}};

	if (topology_below(&h->source, 3) == 0) {
		(void)!cache_remove(h->cache, BT_KIND_NAMESPACE, (struct bt_str){0}, object.meta.name);
		return;
	}
	object.meta.labels = topology_labels(&h->source, topology_names, 3, 50);
	bt_ingest_namespace(h->cache, &object);
}

/* ---- the fold ---- */

static bool counts_on(const struct bt_pod *pod, uint32_t node_ix)
{
	return (pod->state == BT_POD_ASSUMED || pod->state == BT_POD_SCHEDULED) && pod->node_ix == node_ix;
}

static int32_t satisfying_on(const struct history *h, const struct bt_pod_query *query, uint32_t node_ix)
{
	int32_t n = 0;

	for (uint32_t p = 0; p < bt_ledger_pod_end(h->cache->ledger); p++) {
		const struct bt_pod *pod = bt_ledger_pod(h->cache->ledger, p);

		n += counts_on(pod, node_ix) && !(query->skip_terminating && pod->terminating) &&
		     bt_pod_query_holds(h->cache->dictionary->intern, query, pod->signature->namespace_,
			     pod->signature->labels);
	}
	return n;
}

/* Compares domain counts with sums of on_node over the nodes with equal values of the key. */
static void check_domain_counts(const struct history *h, const struct bt_domain_counts *domain_counts,
	uint32_t key, const uint8_t *member, const int32_t *on_node)
{
	const struct bt_snapshot *snapshot = h->cache->view.snapshot;
	int32_t lowest = INT32_MAX;
	int64_t total = 0;
	uint32_t counted_n = 0;

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		bool live = bt_bitmap_test(snapshot->live, i);
		uint32_t value = live ? bt_labels_get(snapshot->nodes[i].labels, key) : BT_NAME_NONE;
		int32_t sum = 0;
		bool counted = false, first = true;

		if (value == BT_NAME_NONE) {
			assert_int_equal(domain_counts->domain[i], BT_NO_DOMAIN);
			assert_true(!domain_counts->by_node || domain_counts->by_node[i] == 0);
			continue;
		}
		for (uint32_t j = 0; j < snapshot->slot_n; j++) {
			if (!bt_bitmap_test(snapshot->live, j) ||
				bt_labels_get(snapshot->nodes[j].labels, key) != value) {
				continue;
			}
			assert_int_equal(domain_counts->domain[j], domain_counts->domain[i]);
			first &= j >= i;
			counted |= !member || member[j];
			sum += !member || member[j] ? on_node[j] : 0;
		}
		assert_int_equal(domain_counts->sums[domain_counts->domain[i]], sum);
		assert_true(!domain_counts->by_node || domain_counts->by_node[i] == sum);
		if (first) {
			total += sum;
			counted_n += counted;
			lowest = counted && sum < lowest ? sum : lowest;
		}
	}
	assert_int_equal(domain_counts->total, total);
	assert_int_equal(domain_counts->counted_n, counted_n);
	assert_int_equal(domain_counts->lowest, lowest);
}

static bool is_in(const uint32_t *ring, uint64_t mask, uint64_t from, uint64_t end, uint32_t item)
{
	for (; from != end; from++) {
		if (ring[from & mask] == item) {
			return true;
		}
	}
	return false;
}

/* The journal names the domain of each node that has another sum than before, unless the node has changed. */
static void check_journal(struct history *h, struct seen *seen, const struct bt_domain_counts *domain_counts)
{
	const struct bt_snapshot *snapshot = h->cache->view.snapshot;
	uint64_t version = h->cache->view.counting->domains_version;

	assert_non_null(domain_counts->by_node);
	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		if (seen->domains_version == version && seen->by_node[i] != domain_counts->by_node[i] &&
			domain_counts->journal_end - seen->journal_end <= BT_DOMAIN_COUNTS_JOURNAL &&
			!is_in(snapshot->changes, snapshot->changes_mask, seen->changes_end,
				snapshot->changes_end, i)) {
			assert_true(is_in(domain_counts->journal, BT_DOMAIN_COUNTS_JOURNAL - 1,
				seen->journal_end, domain_counts->journal_end, domain_counts->domain[i]));
			h->followed_n++;
		}
		seen->by_node[i] = domain_counts->by_node[i];
	}
	seen->domains_version = version;
	seen->journal_end = domain_counts->journal_end;
	seen->changes_end = snapshot->changes_end;
}

/* Does a node belong to the set of a query? */
static bool is_chosen(const struct history *h, const struct bt_node_query *query, uint32_t node_ix)
{
	const struct bt_snapshot *snapshot = h->cache->view.snapshot;
	const struct bt_node *node = &snapshot->nodes[node_ix];
	const struct bt_taint_set *taints = &snapshot->taint_sets[node->taint_set];
	const struct bt_signature *chooser = query->signature;

	for (uint32_t k = 0; k < query->key_n; k++) {
		if (bt_labels_get(node->labels, query->keys[k]) == BT_NAME_NONE) {
			return false;
		}
	}
	for (uint32_t i = 0; query->by_taints && i < taints->n; i++) {
		if (taints->items[i].effect == BT_NAME_NO_SCHEDULE &&
			!(chooser->toleration_n && chooser->tolerations[0].key == taints->items[i].key)) {
			return false;
		}
	}
	return bt_bitmap_test(snapshot->live, node_ix) &&
	       (!query->by_affinity || bt_selector_matches(h->cache->dictionary->intern,
					       &chooser->node_selector, node->labels));
}

/* A random query for a set of nodes. */
static struct bt_node_query any_node_query(struct history *h)
{
	return (struct bt_node_query){
		.signature = &h->choosers[topology_below(&h->source, CHOOSERS)],
		.by_affinity = topology_below(&h->source, 2),
		.by_taints = topology_below(&h->source, 2),
		.keys = h->keys,
		.key_n = topology_below(&h->source, TOPOLOGY_KEYS + 1),
	};
}

static void check_query(struct history *h, uint32_t q)
{
	const struct bt_pod_query *query = &h->queries[q];
	const struct bt_node_query chosen = any_node_query(h);
	const struct bt_counting *counting = h->cache->view.counting;
	const struct bt_snapshot *snapshot = h->cache->view.snapshot;
	uint32_t counter = counting->counter(counting->context, query);
	int32_t on_node[NODES + 1] = {0};
	uint8_t member[NODES + 1] = {0};

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		on_node[i] = satisfying_on(h, query, i);
		member[i] = is_chosen(h, &chosen, i);
		assert_int_equal(bt_counters_on_node(h->cache->counters, counter, i), on_node[i]);
	}
	uint32_t set = counting->node_set(counting->context, &chosen);
	for (uint32_t k = 0; k < TOPOLOGY_KEYS; k++) {
		const struct bt_domain_counts *domain_counts =
			counting->domain_counts(counting->context, counter, h->keys[k], 0, false);

		check_domain_counts(h, domain_counts, h->keys[k], NULL, on_node);
		check_journal(h, &h->seen[q][k], domain_counts);
		check_domain_counts(h,
			counting->domain_counts(counting->context, counter, h->keys[k], set, false),
			h->keys[k], member, on_node);
	}
}

/* The weighted sum of all existing affinity terms that concern a signature on a node; the weights
 * distinguish the kinds of terms. */
static int64_t existing_static_score(enum bt_existing_affinity_term_kind kind, int32_t weight)
{
	return kind == BT_EXISTING_AFFINITY_TERM_ANTI_AFFINITY ? 1000000
	       : kind == BT_EXISTING_AFFINITY_TERM_AFFINITY    ? 1000
							       : weight;
}

static int64_t list_static_score(const struct history *h, const struct bt_signature *signature,
	const struct bt_pod_term_list *list, enum bt_existing_affinity_term_kind kind, int32_t sign,
	const struct bt_labels *domain_of, const struct bt_labels *carrier)
{
	const struct bt_intern *intern = h->cache->dictionary->intern;
	struct bt_labels space =
		bt_namespaces_labels(bt_counters_namespaces(h->cache->counters), signature->namespace_);
	int64_t static_score = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		const struct bt_pod_term *term = &list->items[i];
		uint32_t value = bt_labels_get(*domain_of, term->topology_key);
		struct bt_pod_match match = term->match;

		match.any_namespace = bt_selector_matches(intern, &term->namespace_selector, space);
		if (value && value == bt_labels_get(*carrier, term->topology_key) &&
			bt_pod_match_holds(intern, &match, signature->namespace_, signature->labels)) {
			static_score += existing_static_score(kind, sign * term->weight);
		}
	}
	return static_score;
}

static int64_t static_score_by_fold(
	const struct history *h, const struct bt_signature *signature, uint32_t node_ix)
{
	const struct bt_snapshot *snapshot = h->cache->view.snapshot;
	const struct bt_labels *here = &snapshot->nodes[node_ix].labels;
	int64_t static_score = 0;

	for (uint32_t p = 0; p < bt_ledger_pod_end(h->cache->ledger); p++) {
		const struct bt_pod *pod = bt_ledger_pod(h->cache->ledger, p);
		const struct bt_pod_affinity *affinity =
			pod->state == BT_POD_VACANT ? NULL : pod->signature->pod_affinity;

		if (!affinity || pod->node_ix == BT_NO_NODE || !counts_on(pod, pod->node_ix) ||
			!bt_bitmap_test(snapshot->live, pod->node_ix)) {
			continue;
		}
		const struct bt_labels *there = &snapshot->nodes[pod->node_ix].labels;
		static_score += list_static_score(h, signature, &affinity->anti_affinity,
			BT_EXISTING_AFFINITY_TERM_ANTI_AFFINITY, 1, here, there);
		static_score += list_static_score(h, signature, &affinity->affinity,
			BT_EXISTING_AFFINITY_TERM_AFFINITY, 1, here, there);
		static_score += list_static_score(h, signature, &affinity->preferred_affinity,
			BT_EXISTING_AFFINITY_TERM_PREFERENCE, 1, here, there);
		static_score += list_static_score(h, signature, &affinity->preferred_anti_affinity,
			BT_EXISTING_AFFINITY_TERM_PREFERENCE, -1, here, there);
	}
	return static_score;
}

static void check_concerning(struct history *h, const struct bt_signature *signature)
{
	const struct bt_counting *counting = h->cache->view.counting;
	const struct bt_snapshot *snapshot = h->cache->view.snapshot;
	uint32_t n;
	const struct bt_existing_affinity_term *const *existing =
		counting->matching(counting->context, signature, &n);

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		int64_t static_score = 0;

		if (!bt_bitmap_test(snapshot->live, i)) {
			continue;
		}
		for (uint32_t c = 0; c < n; c++) {
			uint32_t domain = existing[c]->domain_counts->domain[i];

			static_score +=
				domain == BT_NO_DOMAIN
					? 0
					: existing_static_score(existing[c]->kind, existing[c]->weight) *
						  existing[c]->domain_counts->sums[domain];
			assert_true(existing[c]->pod_n >= existing[c]->domain_counts->total);
		}
		assert_int_equal(static_score, static_score_by_fold(h, signature, i));
	}
}

static void check(struct history *h)
{
	for (uint32_t q = 0; q < h->query_n; q++) {
		check_query(h, q);
	}
	for (uint32_t s = 0; s < 6 && bt_signatures_end(h->cache->signatures); s++) {
		uint32_t ix = topology_below(&h->source, bt_signatures_end(h->cache->signatures));
		const struct bt_signature *signature = bt_signatures_get(h->cache->signatures, ix);

		if (signature) {
			check_concerning(h, signature);
		}
	}
}

/* A new query must count existing pods. */
static void ask_more(struct history *h)
{
	struct bt_intern *intern = h->cache->dictionary->intern;

	if (h->query_n == QUERIES) {
		return;
	}
	uint32_t n = 1 + topology_below(&h->source, 2);
	struct bt_pod_match *items = bt_arena_zalloc(&h->source.arena, n * sizeof(*items));
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_label_selector_object selector = topology_selector(&h->source);
		uint32_t *spaces = bt_arena_zalloc(&h->source.arena, 2 * sizeof(*spaces));

		assert_int_equal(bt_selector_compile(&h->cache->dictionary->for_ever, &h->source.arena,
					 &selector, &items[i].labels, NULL),
			BT_OK);
		spaces[0] = bt_intern_add(intern, topology_pick(&h->source));
		spaces[1] = bt_intern_add(intern, topology_pick(&h->source));
		items[i].namespace_n = bt_names_sort(spaces, 2);
		items[i].namespaces = spaces;
		items[i].any_namespace = topology_below(&h->source, 3) == 0;
	}
	h->queries[h->query_n++] = (struct bt_pod_query){
		.items = items, .n = n, .skip_terminating = topology_below(&h->source, 2)};
}

/* Signatures that choose nodes by a label and tolerate a taint. */
static void make_choosers(struct history *h)
{
	struct bt_intern *intern = h->cache->dictionary->intern;

	for (uint32_t i = 0; i < CHOOSERS; i++) {
		struct bt_requirement *item = bt_arena_zalloc(&h->source.arena, sizeof(*item));
		struct bt_toleration *toleration = bt_arena_zalloc(&h->source.arena, sizeof(*toleration));

		*item = (struct bt_requirement){
			.key = h->keys[i % TOPOLOGY_KEYS], .op = i < 2 ? BT_OP_EXISTS : BT_OP_DOES_NOT_EXIST};
		*toleration = (struct bt_toleration){.key = bt_intern_add(intern, topology_pick(&h->source)),
			.value = BT_NAME_EMPTY,
			.effect = BT_NAME_EMPTY,
			.op = BT_TOLERATE_EXISTS};
		h->choosers[i] = (struct bt_signature){
			.node_selector = {item, 1, false}, .tolerations = toleration, .toleration_n = i % 2};
	}
}

static void counters_equal_a_fold_after_any_history(void **state)
{
	uint64_t seed = seed_or(20260102);
	struct history h = {.cache = bt_cache_create(), .source.rng = {seed}};

	(void)state;
	for (uint32_t k = 0; k < TOPOLOGY_KEYS; k++) {
		h.keys[k] = bt_intern_add(h.cache->dictionary->intern, bt_str(topology_keys[k]));
	}
	make_choosers(&h);
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t what = topology_below(&h.source, 100);

		if (what < 40) {
			add_pod(&h);
		} else if (what < 91) {
			move_pod(&h);
		} else if (what < 97) {
			change_node(&h);
		} else if (what < 98) {
			change_namespace(&h);
		} else if (what < 99) {
			forget(&h);
		} else {
			ask_more(&h);
		}
		if (step % CHECKS == 0) {
			check(&h);
		}
	}
	check(&h);
	printf("%" PRIu64 " signatures were forgotten\n", h.forgotten_n);
	assert_true(h.forgotten_n > 0);
	assert_true(h.followed_n > 0);
	/* Domain counts follow most changes. */
	assert_true(h.cache->view.counting->domains_version < h.changed_n / 2);
	bt_cache_destroy(h.cache);
	bt_arena_fini(&h.source.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(counters_equal_a_fold_after_any_history)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
