/* SPDX-License-Identifier: Apache-2.0
 * Topology counters.
 */
#include "cache/counters.h"

#include "cache/domains_int.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/index_allocator.h"

#define NO_POD		    UINT32_MAX
#define NO_COUNTER	    UINT32_MAX
#define CHANGES_SHARE	    4	/* what is behind by more than this part of the nodes is rebuilt */
#define EXISTING_TERM_BYTES 256 /* what most terms take */
#define NODE_SET_BYTES	    256 /* what most sets of nodes take, besides their nodes */

/* A counter of pods that satisfy a query, or of pods that have a term. */
struct counter {
	struct bt_str words; /* its key */
	struct bt_pod_query query;
	uint32_t existing; /* index of the term, or NO_COUNTER */
	int32_t *column;   /* by node slot */
	size_t column_n;
	struct kept_domain_counts **domain_counts;
	size_t domain_counts_n, domain_counts_cap;
};

struct existing_term {
	struct bt_existing_affinity_term view; /* first: readers get its address */
	struct bt_arena arena;		       /* the key and the term's data */
	struct bt_str words;
	struct bt_pod_term term;
	uint32_t counter; /* NO_COUNTER until its domain counts are first needed */
	uint32_t lister_n;
};

/* A set of nodes. */
struct node_set {
	struct bt_str words; /* its key */
	struct bt_arena arena;
	struct bt_node_query query;
	uint8_t *member; /* by node slot */
};

struct kept_domain_counts {
	struct bt_domain_counts view; /* first: readers get its address */
	uint32_t words[4];	      /* its key: counter, topology key, node set, lacking */
	uint32_t domains_ix;
	const uint32_t *place; /* by node slot: the domain where its pods count, or BT_NO_DOMAIN */
	uint32_t *own_place;   /* place, if it differs from the domains' own */
	uint32_t slot_room;
	uint32_t cap; /* capacity by domain */
	int32_t *sums;
	int32_t *by_node;  /* NULL for large domains, or single nodes */
	uint32_t *journal; /* NULL for large domains */
	uint32_t *counted; /* by domain: its nodes whose pods count; NULL for single nodes */
	uint32_t lowest_n; /* number of counted domains with the lowest sum */
};

/* A pod on a node, in its signature's list. */
struct counted_pod {
	uint32_t next, previous; /* NO_POD at the ends */
	uint32_t node_ix;
	bool terminating;
};

/* Data of a signature. */
struct counters_record {
	const struct bt_signature *signature; /* NULL until first use */
	bool listed;			      /* counters and terms are listed, since a pod of it was on a
						 node */
	uint32_t first;			      /* of its pods */
	uint32_t *counters;
	size_t counter_n, counter_cap;
	uint32_t *terms; /* terms of its pods, with repetitions */
	uint32_t term_n;
	/* The existing affinity terms that match its pods, among the first seen_n. */
	const struct bt_existing_affinity_term **matching;
	uint32_t *matching_ixs;
	size_t matching_n, matching_cap, matching_ix_cap;
	size_t seen_n;
	uint64_t namespace_version;
};

struct bt_counters {
	struct bt_counting view;
	struct bt_dictionary *dictionary;
	struct bt_snapshot_writer *writer;
	const struct bt_snapshot *snapshot;
	struct bt_namespaces namespaces;
	struct bt_default_spread_selectors sources;
	struct counters_record *records; /* by signature */
	size_t record_n;
	struct counted_pod *placed; /* by pod */
	size_t placed_n;
	struct counter *counters;
	size_t counter_n, counter_cap;
	struct bt_map counter_ixs;
	struct existing_term **existing_terms; /* pointers: readers keep the addresses of the views */
	size_t existing_term_n, existing_term_cap;
	struct bt_map existing_term_ixs;
	/* Of this slot_version of the snapshot; they have followed its changes up to changes_at. */
	uint64_t slot_version, changes_at;
	struct bt_domains *domains;
	size_t domain_n, domain_cap;
	struct bt_map domain_ixs;
	struct node_set *sets; /* sets[i] is the node set i + 1 */
	size_t set_n, set_cap;
	struct kept_domain_counts **domain_counts;
	size_t domain_counts_n, domain_counts_cap;
	struct bt_map domain_counts_ixs;
	struct bt_arena arena;	 /* queries of counters and their words */
	struct bt_arena scratch; /* resolved terms */
	struct bt_buf words;
};

static uint32_t find_counter(void *context, const struct bt_pod_query *query);
static uint32_t find_node_set(void *context, const struct bt_node_query *query);
static void follow(void *context);
static const struct bt_domain_counts *find_domain_counts(
	void *context, uint32_t counter, uint32_t key, uint32_t node_set, bool lacking);
static const struct bt_existing_affinity_term *const *find_matching(
	void *context, const struct bt_signature *signature, uint32_t *out_n);
static struct bt_pod_match resolve(void *context, const struct bt_pod_term *term, bool unlabelled_takes_all);
static struct bt_selector default_selector(void *context, const struct bt_signature *signature);

struct bt_counters *bt_counters_create(struct bt_dictionary *dictionary, struct bt_snapshot_writer *snapshot)
{
	struct bt_counters *c = bt_mem_zalloc(1, sizeof(*c));

	BT_REQUIRE(dictionary && snapshot);
	c->dictionary = dictionary;
	c->writer = snapshot;
	c->snapshot = bt_snapshot_view(snapshot);
	c->slot_version = c->snapshot->slot_version;
	c->view = (struct bt_counting){
		.version = 1,
		.domains_version = 1,
		.namespace_version = 1,
		.workload_version = 1,
		.context = c,
		.counter = find_counter,
		.follow = follow,
		.node_set = find_node_set,
		.domain_counts = find_domain_counts,
		.matching = find_matching,
		.resolve = resolve,
		.default_selector = default_selector,
	};
	return c;
}

/* Drops domains, sets of nodes and domain counts. */
static void drop_domains(struct bt_counters *c)
{
	for (size_t i = 0; i < c->domain_counts_n; i++) {
		bt_mem_free(c->domain_counts[i]->own_place);
		bt_mem_free(c->domain_counts[i]->sums);
		bt_mem_free(c->domain_counts[i]->by_node);
		bt_mem_free(c->domain_counts[i]->journal);
		bt_mem_free(c->domain_counts[i]->counted);
		bt_mem_free(c->domain_counts[i]);
	}
	for (size_t i = 0; i < c->domain_n; i++) {
		bt_domains_fini(&c->domains[i]);
	}
	for (size_t i = 0; i < c->set_n; i++) {
		bt_mem_free(c->sets[i].member);
		bt_arena_fini(&c->sets[i].arena);
	}
	for (size_t i = 0; i < c->counter_n; i++) {
		c->counters[i].domain_counts_n = 0;
	}
	for (size_t i = 0; i < c->existing_term_n; i++) {
		c->existing_terms[i]->view.domain_counts = NULL;
	}
	c->domain_counts_n = c->domain_n = c->set_n = 0;
	bt_map_fini(&c->domain_counts_ixs);
	bt_map_fini(&c->domain_ixs);
	c->slot_version = c->snapshot->slot_version;
	c->changes_at = c->snapshot->changes_end;
	c->view.domains_version++;
}

static void drop_counters(struct bt_counters *c)
{
	drop_domains(c);
	for (size_t i = 0; i < c->counter_n; i++) {
		bt_mem_free(c->counters[i].column);
		bt_mem_free(c->counters[i].domain_counts);
	}
	c->counter_n = 0;
	bt_map_fini(&c->counter_ixs);
	bt_arena_fini(&c->arena);
}

static void drop_record(struct counters_record *record)
{
	bt_mem_free(record->counters);
	bt_mem_free(record->terms);
	bt_mem_free(record->matching);
	bt_mem_free(record->matching_ixs);
	*record = (struct counters_record){0};
}

static void drop_existing_term(struct existing_term *existing)
{
	bt_arena_fini(&existing->arena);
	bt_mem_free(existing);
}

void bt_counters_destroy(struct bt_counters *c)
{
	if (!c) {
		return;
	}
	drop_counters(c);
	for (size_t i = 0; i < c->record_n; i++) {
		drop_record(&c->records[i]);
	}
	for (size_t i = 0; i < c->existing_term_n; i++) {
		drop_existing_term(c->existing_terms[i]);
	}
	bt_mem_free(c->records);
	bt_mem_free(c->placed);
	bt_mem_free(c->counters);
	bt_mem_free(c->existing_terms);
	bt_mem_free(c->domains);
	bt_mem_free(c->sets);
	bt_mem_free(c->domain_counts);
	bt_map_fini(&c->existing_term_ixs);
	bt_namespaces_fini(&c->namespaces);
	bt_default_spread_selectors_fini(&c->sources);
	bt_arena_fini(&c->scratch);
	bt_buf_fini(&c->words);
	bt_mem_free(c);
}

const struct bt_counting *bt_counters_view(const struct bt_counters *c)
{
	return &c->view;
}

struct bt_namespaces *bt_counters_namespaces(struct bt_counters *c)
{
	BT_REQUIRE(c);
	return &c->namespaces;
}

struct bt_default_spread_selectors *bt_counters_spread_sources(struct bt_counters *c)
{
	return &c->sources;
}

void bt_counters_touch_namespaces(struct bt_counters *c)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	c->view.namespace_version++;
	c->view.version++;
}

void bt_counters_touch_spread_sources(struct bt_counters *c)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	c->view.workload_version++;
	c->view.version++;
}

size_t bt_counters_count(const struct bt_counters *c)
{
	return c->counter_n + c->existing_term_n;
}

int32_t bt_counters_on_node(const struct bt_counters *c, uint32_t counter, uint32_t node_ix)
{
	BT_REQUIRE(counter < c->counter_n);
	return node_ix < c->counters[counter].column_n ? c->counters[counter].column[node_ix] : 0;
}

/* ---- keys: equal bytes mean equal queries ---- */

static void counters_put(struct bt_counters *c, uint64_t word)
{
	bt_buf_add(&c->words, &word, sizeof(word));
}

static void put_selector(struct bt_counters *c, const struct bt_selector *selector)
{
	counters_put(c, (uint64_t)selector->n << 1 | selector->nothing);
	for (uint32_t i = 0; i < selector->n; i++) {
		const struct bt_requirement *item = &selector->items[i];

		counters_put(c, (uint64_t)item->key << 32 | (uint32_t)item->op);
		counters_put(c, item->value_n);
		for (uint32_t j = 0; j < item->value_n; j++) {
			counters_put(c, item->values[j]);
		}
		counters_put(c, (uint64_t)item->number);
	}
}

static void put_match(struct bt_counters *c, const struct bt_pod_match *match)
{
	counters_put(c, (uint64_t)match->namespace_n << 1 | match->any_namespace);
	for (uint32_t i = 0; i < match->namespace_n; i++) {
		counters_put(c, match->namespaces[i]);
	}
	put_selector(c, &match->labels);
}

static struct bt_str keep_words(const struct bt_counters *c, struct bt_arena *arena)
{
	char *copy = bt_arena_alloc(arena, c->words.len, 8);

	memcpy(copy, c->words.ptr, c->words.len);
	return (struct bt_str){copy, c->words.len};
}

static const uint32_t *keep_names(struct bt_arena *arena, const uint32_t *names, uint32_t n)
{
	uint32_t *copy = bt_arena_alloc(arena, (size_t)n * sizeof(*copy), 8);

	if (n) {
		memcpy(copy, names, (size_t)n * sizeof(*copy));
	}
	return copy;
}

static struct bt_selector keep_selector(struct bt_arena *arena, const struct bt_selector *selector)
{
	struct bt_requirement *items = bt_arena_zalloc(arena, selector->n * sizeof(*items));

	for (uint32_t i = 0; i < selector->n; i++) {
		items[i] = selector->items[i];
		items[i].values = keep_names(arena, items[i].values, items[i].value_n);
	}
	return (struct bt_selector){items, selector->n, selector->nothing};
}

static struct bt_pod_match keep_match(struct bt_arena *arena, const struct bt_pod_match *match)
{
	return (struct bt_pod_match){
		.namespaces = keep_names(arena, match->namespaces, match->namespace_n),
		.namespace_n = match->namespace_n,
		.any_namespace = match->any_namespace,
		.labels = keep_selector(arena, &match->labels),
	};
}

static struct bt_pod_query keep_query(struct bt_arena *arena, const struct bt_pod_query *query)
{
	struct bt_pod_match *items = bt_arena_zalloc(arena, query->n * sizeof(*items));

	for (uint32_t i = 0; i < query->n; i++) {
		items[i] = keep_match(arena, &query->items[i]);
	}
	return (struct bt_pod_query){items, query->n, query->skip_terminating, query->trials_only};
}

/* Copies the term, since its first owner may be freed before others. */
static struct bt_pod_term keep_term(struct bt_arena *arena, const struct bt_pod_term *term)
{
	struct bt_pod_term kept = *term;

	kept.match = keep_match(arena, &term->match);
	kept.namespace_selector = keep_selector(arena, &term->namespace_selector);
	return kept;
}

/* ---- counting ---- */

static void find_lowest(struct kept_domain_counts *t)
{
	t->view.lowest = INT32_MAX;
	t->lowest_n = 0;
	for (uint32_t d = 0; d < t->view.domain_n; d++) {
		if (!t->counted[d]) {
			continue;
		}
		if (t->sums[d] < t->view.lowest) {
			t->view.lowest = t->sums[d];
			t->lowest_n = 0;
		}
		t->lowest_n += t->sums[d] == t->view.lowest;
	}
	BT_INVARIANT(t->lowest_n > 0 || t->view.lowest == INT32_MAX);
}

/* Copies a domain's sum to its nodes. */
static void set_by_node(struct kept_domain_counts *t, uint32_t d)
{
	for (uint32_t node_ix = t->view.first[d]; node_ix != BT_NO_NODE; node_ix = t->view.next[node_ix]) {
		t->by_node[node_ix] = t->sums[d];
	}
}

/* Changes the sum of a node's domain by one. The lowest sum is recomputed only when no domain has it any
 * more. */
static void shift_domain_counts(struct kept_domain_counts *t, uint32_t node_ix, int32_t by)
{
	uint32_t d = node_ix < t->slot_room ? t->place[node_ix] : BT_NO_DOMAIN;

	if (d == BT_NO_DOMAIN) {
		return;
	}
	int32_t before = t->sums[d], after = before + by;
	BT_INVARIANT(d < t->view.domain_n && (!t->counted || t->counted[d] || by == 0));
	t->sums[d] = after;
	t->view.total += by;
	if (t->journal) {
		t->journal[t->view.journal_end++ % BT_DOMAIN_COUNTS_JOURNAL] = d;
	}
	if (t->by_node) {
		set_by_node(t, d);
	}
	if (!t->counted) {
		return;
	}
	if (after < t->view.lowest) {
		t->view.lowest = after;
		t->lowest_n = 1;
	} else if (after == t->view.lowest) {
		t->lowest_n++;
	} else if (before == t->view.lowest && --t->lowest_n == 0) {
		find_lowest(t);
	}
}

static void shift_column(struct counter *counter, uint32_t node_ix, int32_t by)
{
	if (node_ix >= counter->column_n) {
		size_t old = counter->column_n, n = old ? old : 64;

		while (n <= node_ix) {
			n *= 2;
		}
		counter->column = bt_mem_realloc(counter->column, n, sizeof(*counter->column));
		memset(counter->column + old, 0, (n - old) * sizeof(*counter->column));
		counter->column_n = n;
	}
	counter->column[node_ix] += by;
	/* As upstream's, trials may remove pods that were not counted. */
	BT_INVARIANT(counter->column[node_ix] >= 0 || counter->query.trials_only ||
		     counter->query.skip_terminating);
}

static void shift_counter(struct bt_counters *c, struct counter *counter, uint32_t node_ix, int32_t by)
{
	shift_column(counter, node_ix, by);
	/* A node's pods count where it was until the counts follow its change. Those of other slots are no
	 * longer read; they are rebuilt on request. */
	for (size_t t = 0; c->slot_version == c->snapshot->slot_version && t < counter->domain_counts_n;
		t++) {
		shift_domain_counts(counter->domain_counts[t], node_ix, by);
	}
}

/* All pods with the term may have been on nodes without its topology key: then it matches pods only from now
 * on. */
static bool matched_no_pod(const struct existing_term *existing)
{
	return existing->view.pod_n == 0 ||
	       (existing->view.domain_counts && existing->view.domain_counts->total == 0);
}

static void shift_counters(struct bt_counters *c, const struct counters_record *record,
	const struct counted_pod *pod, int32_t by)
{
	BT_INVARIANT(record->listed || record->counter_n == 0);
	for (size_t i = 0; i < record->counter_n; i++) {
		struct counter *counter = &c->counters[record->counters[i]];

		if (!counter->query.trials_only && !(pod->terminating && counter->query.skip_terminating)) {
			shift_counter(c, counter, pod->node_ix, by);
		}
	}
}

static BT_NOINLINE void shift_all(struct bt_counters *c, const struct counters_record *record,
	const struct counted_pod *pod, int32_t by)
{
	for (uint32_t i = 0; i < record->term_n; i++) {
		struct existing_term *existing = c->existing_terms[record->terms[i]];

		c->view.version += matched_no_pod(existing);
		existing->view.pod_n += by;
		BT_INVARIANT(existing->view.pod_n >= 0);
	}
	shift_counters(c, record, pod, by);
}

/* ---- signatures ---- */

static struct counters_record *record_of(struct bt_counters *c, const struct bt_signature *signature)
{
	if (signature->ix >= c->record_n) {
		size_t old = c->record_n, n = old ? old : 64;

		while (n <= signature->ix) {
			n *= 2;
		}
		c->records = bt_mem_realloc(c->records, n, sizeof(*c->records));
		memset(c->records + old, 0, (n - old) * sizeof(*c->records));
		c->record_n = n;
	}
	struct counters_record *record = &c->records[signature->ix];
	if (!record->signature) {
		record->signature = signature;
		record->first = NO_POD;
	}
	BT_INVARIANT(record->signature == signature);
	return record;
}

/* Indexes a term by its key. */
static void enter_existing_term(struct bt_counters *c, uint32_t ix)
{
	const struct bt_str words = c->existing_terms[ix]->words;
	uint64_t hash = bt_hash_bytes(words.ptr, words.len) | 1;
	uint32_t other;

	while (bt_map_get(&c->existing_term_ixs, hash, &other)) {
		hash += 2;
	}
	bt_map_put(&c->existing_term_ixs, hash, ix);
}

static uint32_t existing_term_ix(struct bt_counters *c, enum bt_existing_affinity_term_kind kind,
	int32_t weight, const struct bt_pod_term *term)
{
	uint32_t ix;

	bt_buf_clear(&c->words);
	counters_put(c, (uint64_t)kind << 32 | (uint32_t)weight);
	counters_put(c, term->topology_key);
	put_match(c, &term->match);
	put_selector(c, &term->namespace_selector);
	uint64_t hash = bt_hash_bytes(c->words.ptr, c->words.len) | 1;
	for (; bt_map_get(&c->existing_term_ixs, hash, &ix); hash += 2) {
		if (bt_str_eq(c->existing_terms[ix]->words, bt_buf_view(&c->words))) {
			return ix;
		}
	}
	struct existing_term *existing = bt_mem_zalloc(1, sizeof(*existing));
	bt_arena_start(&existing->arena, EXISTING_TERM_BYTES);
	existing->view = (struct bt_existing_affinity_term){.kind = kind, .weight = weight};
	existing->words = keep_words(c, &existing->arena);
	existing->term = keep_term(&existing->arena, term);
	existing->counter = NO_COUNTER;
	c->existing_terms = bt_mem_grow(
		c->existing_terms, c->existing_term_n, &c->existing_term_cap, sizeof(struct existing_term *));
	ix = (uint32_t)c->existing_term_n++;
	c->existing_terms[ix] = existing;
	enter_existing_term(c, ix);
	c->view.version++;
	return ix;
}

static void list_terms(struct bt_counters *c, struct counters_record *record)
{
	const struct bt_pod_affinity *affinity = record->signature->pod_affinity;

	if (!affinity) {
		return;
	}
	size_t n = (size_t)affinity->affinity.n + affinity->anti_affinity.n + affinity->preferred_affinity.n +
		   affinity->preferred_anti_affinity.n;
	uint32_t *terms = bt_mem_zalloc(n + 1, sizeof(*terms)), at = 0;
	for (uint32_t i = 0; i < affinity->anti_affinity.n; i++) {
		terms[at++] = existing_term_ix(
			c, BT_EXISTING_AFFINITY_TERM_ANTI_AFFINITY, 0, &affinity->anti_affinity.items[i]);
	}
	for (uint32_t i = 0; i < affinity->affinity.n; i++) {
		terms[at++] = existing_term_ix(
			c, BT_EXISTING_AFFINITY_TERM_AFFINITY, 0, &affinity->affinity.items[i]);
	}
	for (uint32_t i = 0; i < affinity->preferred_affinity.n; i++) {
		const struct bt_pod_term *term = &affinity->preferred_affinity.items[i];

		terms[at++] = existing_term_ix(c, BT_EXISTING_AFFINITY_TERM_PREFERENCE, term->weight, term);
	}
	for (uint32_t i = 0; i < affinity->preferred_anti_affinity.n; i++) {
		const struct bt_pod_term *term = &affinity->preferred_anti_affinity.items[i];

		terms[at++] = existing_term_ix(
			c, BT_EXISTING_AFFINITY_TERM_PREFERENCE, (int32_t)(0 - (uint32_t)term->weight), term);
	}
	for (uint32_t i = 0; i < at; i++) {
		c->existing_terms[terms[i]]->lister_n++;
	}
	record->terms = terms;
	record->term_n = at;
	BT_INVARIANT(at <= n);
}

static bool counts(
	const struct bt_counters *c, const struct counter *counter, const struct counters_record *record)
{
	const struct bt_signature *signature = record->signature;

	if (counter->existing == NO_COUNTER) {
		return bt_pod_query_holds(
			c->dictionary->intern, &counter->query, signature->namespace_, signature->labels);
	}
	for (uint32_t i = 0; i < record->term_n; i++) {
		if (record->terms[i] == counter->existing) {
			return true;
		}
	}
	return false;
}

/* As upstream, a pod with a repeated term counts once per repetition. */
static uint32_t times(const struct counter *counter, const struct counters_record *record)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < record->term_n; i++) {
		n += record->terms[i] == counter->existing;
	}
	return counter->existing == NO_COUNTER ? 1 : n;
}

static void list_counter(struct bt_counters *c, struct counters_record *record, uint32_t counter_ix)
{
	const struct counter *counter = &c->counters[counter_ix];

	if (!counts(c, counter, record)) {
		return;
	}
	for (uint32_t n = times(counter, record); n; n--) {
		record->counters = bt_mem_grow(
			record->counters, record->counter_n, &record->counter_cap, sizeof(*record->counters));
		record->counters[record->counter_n++] = counter_ix;
	}
}

static void list(struct bt_counters *c, struct counters_record *record)
{
	BT_INVARIANT(!record->listed);
	record->listed = true;
	list_terms(c, record);
	for (size_t i = 0; i < c->counter_n; i++) {
		list_counter(c, record, (uint32_t)i);
	}
}

static BT_NOINLINE void know(struct bt_counters *c, const struct bt_signature *signature)
{
	struct counters_record *record = record_of(c, signature);

	if (!record->listed) {
		list(c, record);
	}
}

void bt_counters_know(struct bt_counters *c, const struct bt_signature *signature)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	if (signature->ix >= c->record_n || !c->records[signature->ix].listed) {
		know(c, signature);
	}
}

void bt_counters_try(
	struct bt_counters *c, const struct bt_signature *signature, uint32_t node_ix, int32_t by)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	const struct counters_record *record = &c->records[signature->ix];

	BT_REQUIRE(signature->ix < c->record_n && record->listed);
	for (size_t i = 0; i < record->counter_n; i++) {
		shift_counter(c, &c->counters[record->counters[i]], node_ix, by);
	}
}

void bt_counters_try_absent(
	struct bt_counters *c, const struct bt_signature *signature, uint32_t pod_ix, bool absent)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	BT_REQUIRE_HOT(signature->ix < c->record_n && pod_ix < c->placed_n);
	shift_counters(c, &c->records[signature->ix], &c->placed[pod_ix], absent ? -1 : 1);
}

static BT_NOINLINE void reserve_placed(struct bt_counters *c, uint32_t pod_ix)
{
	BT_INVARIANT(pod_ix >= c->placed_n);
	size_t n = c->placed_n ? c->placed_n : 64;

	while (n <= pod_ix) {
		n *= 2;
	}
	c->placed = bt_mem_realloc(c->placed, n, sizeof(*c->placed));
	if (BT_INVARIANTS) {
		for (size_t i = c->placed_n; i < n; i++) {
			c->placed[i].node_ix = BT_NO_NODE;
		}
	}
	c->placed_n = n;
}

/* Marks a pod's entry as vacant. Only assertions read the mark. */
static void vacate_placed(struct counted_pod *pod)
{
	if (BT_INVARIANTS) {
		pod->node_ix = BT_NO_NODE;
	}
}

static bool no_pod_counts_from(const struct bt_counters *c, uint32_t pod_end)
{
	for (size_t i = pod_end; i < c->placed_n; i++) {
		if (c->placed[i].node_ix != BT_NO_NODE) {
			return false;
		}
	}
	return true;
}

void bt_counters_trim_pods(struct bt_counters *c, uint32_t pod_end)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	BT_REQUIRE_HOT(no_pod_counts_from(c, pod_end));
	c->placed = bt_index_allocator_shrink(c->placed, pod_end, &c->placed_n, sizeof(*c->placed));
}

/* The first pod of a signature, or one with a higher index than those before. */
static BT_NOINLINE void enter_first(struct bt_counters *c, const struct bt_signature *signature,
	uint32_t pod_ix, uint32_t node_ix, bool terminating)
{
	bt_counters_know(c, signature);
	if (pod_ix >= c->placed_n) {
		reserve_placed(c, pod_ix);
	}
	bt_counters_enter(c, signature, pod_ix, node_ix, terminating);
}

void bt_counters_enter(struct bt_counters *c, const struct bt_signature *signature, uint32_t pod_ix,
	uint32_t node_ix, bool terminating)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	if (BT_UNLIKELY(signature->ix >= c->record_n || !c->records[signature->ix].listed ||
			pod_ix >= c->placed_n)) {
		enter_first(c, signature, pod_ix, node_ix, terminating);
		return;
	}
	struct counters_record *record = &c->records[signature->ix];
	struct counted_pod *pod = &c->placed[pod_ix];
	uint32_t next = record->first;
	BT_REQUIRE_HOT(node_ix != BT_NO_NODE && pod->node_ix == BT_NO_NODE);
	BT_INVARIANT(next == NO_POD || c->placed[next].previous == NO_POD);
	*pod = (struct counted_pod){next, NO_POD, node_ix, terminating};
	if (next != NO_POD) {
		c->placed[next].previous = pod_ix;
	}
	record->first = pod_ix;
	if (record->counter_n | record->term_n) {
		shift_all(c, record, pod, 1);
	}
}

void bt_counters_fetch_pod(const struct bt_counters *c, uint32_t pod_ix)
{
	if (pod_ix >= c->placed_n) {
		return;
	}
	const struct counted_pod *pod = &c->placed[pod_ix];
	__builtin_prefetch(&c->placed[pod->next < c->placed_n ? pod->next : pod_ix], 1);
	__builtin_prefetch(&c->placed[pod->previous < c->placed_n ? pod->previous : pod_ix], 1);
}

void bt_counters_leave(struct bt_counters *c, const struct bt_signature *signature, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	struct counters_record *record = &c->records[signature->ix];
	struct counted_pod *pod = &c->placed[pod_ix];

	BT_REQUIRE_HOT(signature->ix < c->record_n && record->listed && pod_ix < c->placed_n);
	BT_REQUIRE_HOT(pod->node_ix != BT_NO_NODE);
	BT_INVARIANT(pod->next == NO_POD || c->placed[pod->next].previous == pod_ix);
	BT_INVARIANT(pod->previous == NO_POD || c->placed[pod->previous].next == pod_ix);
	if (pod->next != NO_POD) {
		c->placed[pod->next].previous = pod->previous;
	}
	if (pod->previous != NO_POD) {
		c->placed[pod->previous].next = pod->next;
	} else {
		BT_INVARIANT(record->first == pod_ix);
		record->first = pod->next;
	}
	if (record->counter_n | record->term_n) {
		shift_all(c, record, pod, -1);
	}
	vacate_placed(pod);
}

void bt_counters_move(
	struct bt_counters *c, const struct bt_signature *signature, uint32_t pod_ix, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	const struct counters_record *record = &c->records[signature->ix];
	struct counted_pod *pod = &c->placed[pod_ix];

	BT_REQUIRE(c->slot_version != c->snapshot->slot_version); /* no reader uses domain counts of this
								version */
	for (size_t i = 0; i < record->counter_n; i++) {
		struct counter *counter = &c->counters[record->counters[i]];
		BT_REQUIRE_HOT(signature->ix < c->record_n && pod_ix < c->placed_n);

		if (!counter->query.trials_only && !(pod->terminating && counter->query.skip_terminating)) {
			shift_column(counter, pod->node_ix, -1);
			shift_column(counter, node_ix, 1);
		}
	}
	pod->node_ix = node_ix;
}

void bt_counters_move_pod(
	struct bt_counters *c, const struct bt_signature *signature, uint32_t from, uint32_t to)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	struct counters_record *record = &c->records[signature->ix];

	BT_REQUIRE_HOT(from < c->placed_n && signature->ix < c->record_n);
	/* A pod that is set apart may get the highest index. */
	if (to >= c->placed_n) {
		reserve_placed(c, to);
	}
	const struct counted_pod *pod = &c->placed[to];
	BT_REQUIRE_HOT(pod->node_ix == BT_NO_NODE && c->placed[from].node_ix != BT_NO_NODE);
	c->placed[to] = c->placed[from];
	vacate_placed(&c->placed[from]);
	BT_INVARIANT(pod->next == NO_POD || c->placed[pod->next].previous == from);
	if (pod->next != NO_POD) {
		c->placed[pod->next].previous = to;
	}
	if (pod->previous != NO_POD) {
		c->placed[pod->previous].next = to;
	} else {
		BT_INVARIANT(record->first == from);
		record->first = to;
	}
}

static bool no_slot_counts_from(const struct counter *counter, uint32_t slot_n)
{
	for (size_t i = slot_n; i < counter->column_n; i++) {
		if (counter->column[i] != 0) {
			return false;
		}
	}
	return true;
}

void bt_counters_trim_nodes(struct bt_counters *c, uint32_t slot_n)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	if (c->slot_version != c->snapshot->slot_version) {
		drop_domains(c);
	}
	for (size_t i = 0; i < c->counter_n; i++) {
		struct counter *counter = &c->counters[i];

		BT_REQUIRE_HOT(no_slot_counts_from(counter, slot_n));
		counter->column = bt_index_allocator_shrink(
			counter->column, slot_n, &counter->column_n, sizeof(*counter->column));
	}
}

/* ---- counters ---- */

/* Adds a new counter: lists it for signatures with pods on nodes, and counts these pods. */
static uint32_t add_counter(struct bt_counters *c, const struct counter *fresh)
{
	uint32_t ix = (uint32_t)c->counter_n;

	c->counters = bt_mem_grow(c->counters, c->counter_n, &c->counter_cap, sizeof(*c->counters));
	c->counters[c->counter_n++] = *fresh;
	for (size_t r = 0; r < c->record_n; r++) {
		struct counters_record *record = &c->records[r];
		size_t before = record->counter_n;

		BT_INVARIANT(record->listed || record->counter_n == 0);
		if (!record->listed) {
			continue;
		}
		list_counter(c, record, ix);
		int32_t each = (int32_t)(record->counter_n - before);
		for (uint32_t p = each && !fresh->query.trials_only ? record->first : NO_POD; p != NO_POD;
			p = c->placed[p].next) {
			if (!c->placed[p].terminating || !fresh->query.skip_terminating) {
				shift_column(&c->counters[ix], c->placed[p].node_ix, each);
			}
		}
	}
	return ix;
}

static uint32_t find_counter(void *context, const struct bt_pod_query *query)
{
	struct bt_counters *c = context;
	uint32_t ix;

	bt_buf_clear(&c->words);
	counters_put(
		c, (uint64_t)query->n << 2 | (uint64_t)query->trials_only << 1 | query->skip_terminating);
	for (uint32_t i = 0; i < query->n; i++) {
		put_match(c, &query->items[i]);
	}
	uint64_t hash = bt_hash_bytes(c->words.ptr, c->words.len) | 1;
	for (; bt_map_get(&c->counter_ixs, hash, &ix); hash += 2) {
		if (bt_str_eq(c->counters[ix].words, bt_buf_view(&c->words))) {
			bt_arena_reset(&c->scratch);
			return ix;
		}
	}
	const struct counter fresh = {.words = keep_words(c, &c->arena),
		.query = keep_query(&c->arena, query),
		.existing = NO_COUNTER};
	BT_INVARIANT(fresh.query.n == query->n);
	ix = add_counter(c, &fresh);
	bt_map_put(&c->counter_ixs, hash, ix);
	bt_arena_reset(&c->scratch);
	return ix;
}

/* ---- removal ---- */

/* Drops terms that no signature lists. Returns: the new index of each term, or NO_COUNTER. */
static uint32_t *compact_existing_terms(struct bt_counters *c)
{
	uint32_t *moved = bt_mem_zalloc(c->existing_term_n + 1, sizeof(*moved)), kept = 0;

	bt_map_fini(&c->existing_term_ixs);
	for (size_t i = 0; i < c->existing_term_n; i++) {
		struct existing_term *existing = c->existing_terms[i];

		moved[i] = existing->lister_n ? kept : NO_COUNTER;
		if (!existing->lister_n) {
			BT_INVARIANT(existing->view.pod_n == 0);
			drop_existing_term(existing);
			continue;
		}
		existing->counter = NO_COUNTER;
		existing->view.domain_counts = NULL;
		c->existing_terms[kept] = existing;
		enter_existing_term(c, kept++);
	}
	c->existing_term_n = kept;
	return moved;
}

void bt_counters_forget(struct bt_counters *c, const uint32_t *signature_ixs, uint32_t n)
{
	BT_OWNED_BY_THREAD(&c->snapshot->owner);
	for (uint32_t i = 0; i < n; i++) {
		struct counters_record *record =
			signature_ixs[i] < c->record_n ? &c->records[signature_ixs[i]] : NULL;

		if (!record || !record->signature) {
			continue;
		}
		BT_REQUIRE(record->first == NO_POD);
		for (uint32_t t = 0; t < record->term_n; t++) {
			BT_INVARIANT(c->existing_terms[record->terms[t]]->lister_n > 0);
			c->existing_terms[record->terms[t]]->lister_n--;
		}
		drop_record(record);
	}
	drop_counters(c);
	uint32_t *moved = compact_existing_terms(c);
	for (size_t i = 0; i < c->record_n; i++) {
		struct counters_record *record = &c->records[i];

		record->counter_n = record->matching_n = record->seen_n = 0;
		for (uint32_t t = 0; t < record->term_n; t++) {
			BT_INVARIANT(moved[record->terms[t]] < c->existing_term_n);
			record->terms[t] = moved[record->terms[t]];
		}
	}
	bt_mem_free(moved);
}

/* ---- sets of nodes ---- */

static void put_node_selector(struct bt_counters *c, const struct bt_node_selector *selector)
{
	counters_put(c, selector->term_n);
	for (uint32_t i = 0; i < selector->term_n; i++) {
		const struct bt_node_term *term = &selector->terms[i];

		counters_put(c, (uint64_t)term->field_n << 1 | term->invalid);
		put_selector(c, &term->labels);
		for (uint32_t f = 0; f < term->field_n; f++) {
			counters_put(c, (uint64_t)term->fields[f].value << 2 |
						(uint64_t)term->fields[f].is_name << 1 |
						term->fields[f].negated);
		}
	}
}

static void put_tolerations(struct bt_counters *c, const struct bt_signature *signature)
{
	counters_put(c, signature->toleration_n);
	for (uint32_t i = 0; i < signature->toleration_n; i++) {
		const struct bt_toleration *toleration = &signature->tolerations[i];

		counters_put(c, (uint64_t)toleration->key << 32 | toleration->value);
		counters_put(c, (uint64_t)toleration->effect << 32 | (uint32_t)toleration->op);
	}
}

static void put_node_query(struct bt_counters *c, const struct bt_node_query *query)
{
	const struct bt_signature *signature = query->signature;

	counters_put(c, (uint64_t)query->key_n << 4 | (uint64_t)query->by_affinity << 3 |
				(uint64_t)query->by_taints << 2 | (uint64_t)query->compare_numbers << 1 |
				(query->by_affinity && signature->has_required));
	for (uint32_t i = 0; i < query->key_n; i++) {
		counters_put(c, query->keys[i]);
	}
	if (query->by_affinity) {
		put_selector(c, &signature->node_selector);
	}
	if (query->by_affinity && signature->has_required) {
		put_node_selector(c, &signature->required);
	}
	if (query->by_taints) {
		put_tolerations(c, signature);
	}
}

static bool has_keys(const struct bt_node *node, const struct bt_node_query *query)
{
	for (uint32_t i = 0; i < query->key_n; i++) {
		if (bt_labels_get(node->labels, query->keys[i]) == BT_NAME_NONE) {
			return false;
		}
	}
	return true;
}

static bool affinity_matches(
	const struct bt_intern *intern, const struct bt_signature *signature, const struct bt_node *node)
{
	return bt_selector_matches(intern, &signature->node_selector, node->labels) &&
	       (!signature->has_required ||
		       bt_node_selector_matches(intern, &signature->required, node->labels, node->name));
}

static bool tolerated(
	const struct bt_intern *intern, const struct bt_node_query *query, const struct bt_taint *taint)
{
	for (uint32_t i = 0; i < query->signature->toleration_n; i++) {
		if (bt_tolerates(intern, &query->signature->tolerations[i], taint, query->compare_numbers)) {
			return true;
		}
	}
	return false;
}

static bool set_tolerated(
	const struct bt_intern *intern, const struct bt_node_query *query, const struct bt_taint_set *set)
{
	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t effect = set->items[i].effect;

		if ((effect == BT_NAME_NO_SCHEDULE || effect == BT_NAME_NO_EXECUTE) &&
			!tolerated(intern, query, &set->items[i])) {
			return false;
		}
	}
	return true;
}

static bool belongs(const struct bt_counters *c, const struct bt_node_query *query, uint32_t slot)
{
	const struct bt_snapshot *snapshot = c->snapshot;
	const struct bt_intern *intern = c->dictionary->intern;
	const struct bt_node *node = &snapshot->nodes[slot];

	return bt_slot_is_live(snapshot, slot) && has_keys(node, query) &&
	       (!query->by_affinity || affinity_matches(intern, query->signature, node)) &&
	       (!query->by_taints || set_tolerated(intern, query, &snapshot->taint_sets[node->taint_set]));
}

/* The slots that data by slot has room for. */
static uint32_t room_of(const struct bt_snapshot *snapshot)
{
	return snapshot->slot_n > snapshot->slot_room ? snapshot->slot_n : snapshot->slot_room;
}

static uint32_t find_node_set(void *context, const struct bt_node_query *query)
{
	struct bt_counters *c = context;

	follow(c);
	bt_buf_clear(&c->words);
	put_node_query(c, query);
	for (size_t i = 0; i < c->set_n; i++) {
		if (bt_str_eq(c->sets[i].words, bt_buf_view(&c->words))) {
			return (uint32_t)i + 1;
		}
	}
	c->sets = bt_mem_grow(c->sets, c->set_n, &c->set_cap, sizeof(*c->sets));
	struct node_set *set = &c->sets[c->set_n++];
	*set = (struct node_set){.query = *query};
	bt_arena_start(&set->arena, NODE_SET_BYTES);
	set->words = keep_words(c, &set->arena);
	set->query.keys = keep_names(&set->arena, query->keys, query->key_n);
	set->member = bt_mem_zalloc(room_of(c->snapshot) + 1, 1);
	for (uint32_t i = 0; i < c->snapshot->slot_n; i++) {
		set->member[i] = belongs(c, query, i);
	}
	return (uint32_t)c->set_n;
}

/* ---- domains and domain counts ---- */

static uint32_t find_domains(struct bt_counters *c, uint32_t key, bool lacking)
{
	uint64_t map_key = ((uint64_t)key << 1 | lacking) + 1;
	uint32_t ix;

	if (bt_map_get(&c->domain_ixs, map_key, &ix)) {
		return ix;
	}
	c->domains = bt_mem_grow(c->domains, c->domain_n, &c->domain_cap, sizeof(*c->domains));
	ix = (uint32_t)c->domain_n++;
	bt_domains_init(&c->domains[ix], c->snapshot, key, lacking,
		key == BT_NAME_NONE ? NULL : bt_snapshot_label_column(c->writer, key));
	bt_map_put(&c->domain_ixs, map_key, ix);
	return ix;
}

/* The domain where each node's pods count, when only some nodes count. */
static uint32_t *places_within(const struct bt_domains *domains, const uint8_t *member)
{
	uint32_t *place = bt_mem_column(domains->room, sizeof(*place));

	for (uint32_t i = 0; i < domains->room; i++) {
		place[i] = member[i] ? domains->of[i] : BT_NO_DOMAIN;
	}
	return place;
}

/* Makes room for all domains, and shows them to readers. */
static void widen_domain_counts(struct kept_domain_counts *t, const struct bt_domains *domains)
{
	uint32_t cap = domains->key == BT_NAME_NONE ? domains->n : domains->cap;

	if (cap > t->cap) {
		t->sums = bt_mem_realloc(t->sums, cap, sizeof(*t->sums));
		memset(t->sums + t->cap, 0, (cap - t->cap) * sizeof(*t->sums));
		if (domains->key != BT_NAME_NONE) { /* single nodes are never compared with each other */
			t->counted = bt_mem_realloc(t->counted, cap, sizeof(*t->counted));
			memset(t->counted + t->cap, 0, (cap - t->cap) * sizeof(*t->counted));
		}
		t->cap = cap;
	}
	t->view.sums = t->sums;
	t->view.domain = domains->of;
	t->view.domain_n = domains->n;
	t->view.first = domains->first;
	t->view.next = domains->next;
}

static void fill_domain_counts(const struct counter *counter, struct kept_domain_counts *t)
{
	for (uint32_t i = 0; i < t->slot_room; i++) {
		uint32_t d = t->place[i];

		if (d == BT_NO_DOMAIN) {
			continue;
		}
		if (t->counted) {
			t->view.counted_n += t->counted[d]++ == 0;
		}
		int32_t n = i < counter->column_n ? counter->column[i] : 0;
		BT_INVARIANT(d < t->view.domain_n);
		t->sums[d] += n;
		t->view.total += n;
	}
	t->view.lowest = INT32_MAX;
	if (t->counted) {
		find_lowest(t);
	}
}

/* Also stores the sums by node, for readers of many consecutive nodes. */
static void spread_sums(struct kept_domain_counts *t)
{
	const uint32_t *of = t->view.domain;

	t->by_node = bt_mem_column(t->slot_room, sizeof(*t->by_node));
	for (uint32_t i = 0; i < t->slot_room; i++) {
		t->by_node[i] = of[i] == BT_NO_DOMAIN ? 0 : t->sums[of[i]];
	}
	t->view.by_node = t->by_node;
}

static struct kept_domain_counts *create_domain_counts(struct bt_counters *c, const uint32_t *words)
{
	uint32_t ix = find_domains(c, words[1], words[3]);
	const struct bt_domains *domains = &c->domains[ix];
	struct kept_domain_counts *t = bt_mem_zalloc(1, sizeof(*t));

	*t = (struct kept_domain_counts){
		.domains_ix = ix,
		.own_place = words[2] ? places_within(domains, c->sets[words[2] - 1].member) : NULL,
		.slot_room = domains->room,
	};
	memcpy(t->words, words, sizeof(t->words));
	t->place = t->own_place ? t->own_place : domains->of;
	widen_domain_counts(t, domains);
	fill_domain_counts(&c->counters[words[0]], t);
	if (words[1] == BT_NAME_NONE) {
		t->view.by_node = t->sums;
	} else if (domains->first) {
		spread_sums(t);
	}
	if (t->view.by_node) {
		t->journal = bt_mem_zalloc(BT_DOMAIN_COUNTS_JOURNAL, sizeof(*t->journal));
		t->view.journal = t->journal;
	}
	BT_INVARIANT(t->view.counted_n <= domains->n);
	return t;
}

static const struct bt_domain_counts *find_domain_counts(
	void *context, uint32_t counter_ix, uint32_t key, uint32_t node_set, bool lacking)
{
	struct bt_counters *c = context;
	const uint32_t words[4] = {counter_ix, key, node_set, lacking};
	uint32_t ix;

	follow(c);
	uint64_t hash = bt_hash_bytes(words, sizeof(words)) | 1;
	for (; bt_map_get(&c->domain_counts_ixs, hash, &ix); hash += 2) {
		if (memcmp(c->domain_counts[ix]->words, words, sizeof(words)) == 0) {
			return &c->domain_counts[ix]->view;
		}
	}
	BT_REQUIRE_HOT(counter_ix < c->counter_n && node_set <= c->set_n);
	struct counter *counter = &c->counters[counter_ix];
	struct kept_domain_counts *t = create_domain_counts(c, words);
	c->domain_counts = bt_mem_grow(c->domain_counts, c->domain_counts_n, &c->domain_counts_cap,
		sizeof(struct kept_domain_counts *));
	bt_map_put(&c->domain_counts_ixs, hash, (uint32_t)c->domain_counts_n);
	c->domain_counts[c->domain_counts_n++] = t;
	counter->domain_counts = bt_mem_grow(counter->domain_counts, counter->domain_counts_n,
		&counter->domain_counts_cap, sizeof(struct kept_domain_counts *));
	counter->domain_counts[counter->domain_counts_n++] = t;
	return &t->view;
}

/* ---- nodes that change, come and go ---- */

/* Adds a node with its pods to a domain, or removes it: pod_n and node_n are negative then. */
static void shift_domain(struct kept_domain_counts *t, uint32_t d, int32_t pod_n, int32_t node_n)
{
	bool counted = t->counted && t->counted[d];

	BT_INVARIANT(d < t->view.domain_n && d < t->cap);
	t->lowest_n -= counted && t->sums[d] == t->view.lowest;
	t->sums[d] += pod_n;
	t->view.total += pod_n;
	if (t->counted) {
		t->counted[d] += (uint32_t)node_n;
		t->view.counted_n += (t->counted[d] > 0) - (uint32_t)counted;
		counted = t->counted[d] > 0;
	}
	if (counted && t->sums[d] < t->view.lowest) {
		t->view.lowest = t->sums[d];
		t->lowest_n = 0;
	}
	t->lowest_n += counted && t->sums[d] == t->view.lowest;
	if (pod_n && t->journal) {
		t->journal[t->view.journal_end++ % BT_DOMAIN_COUNTS_JOURNAL] = d;
	}
	if (pod_n && t->by_node) {
		set_by_node(t, d);
	}
}

/* Counts a node's pods in its present domain. */
static void follow_domain_counts(struct bt_counters *c, struct kept_domain_counts *t, uint32_t slot)
{
	const struct bt_domains *domains = &c->domains[t->domains_ix];
	const struct counter *counter = &c->counters[t->words[0]];
	int32_t n = slot < counter->column_n ? counter->column[slot] : 0;
	uint32_t from = domains->was, to = domains->of[slot], domain = to;

	if (t->own_place) {
		from = t->own_place[slot];
		to = c->sets[t->words[2] - 1].member[slot] ? to : BT_NO_DOMAIN;
		t->own_place[slot] = to;
	}
	widen_domain_counts(t, domains);
	if (from != to) {
		if (from != BT_NO_DOMAIN) {
			shift_domain(t, from, -n, -1);
		}
		if (to != BT_NO_DOMAIN) {
			shift_domain(t, to, n, 1);
		}
		if (t->counted && t->lowest_n == 0) {
			find_lowest(t);
		}
	}
	if (t->by_node) {
		t->by_node[slot] = domain == BT_NO_DOMAIN ? 0 : t->sums[domain];
	}
}

static void follow_node(struct bt_counters *c, uint32_t slot)
{
	for (size_t i = 0; i < c->set_n; i++) {
		c->sets[i].member[slot] = belongs(c, &c->sets[i].query, slot);
	}
	for (size_t i = 0; i < c->domain_n; i++) {
		bt_domains_follow(&c->domains[i], c->snapshot, slot);
	}
	for (size_t i = 0; i < c->domain_counts_n; i++) {
		follow_domain_counts(c, c->domain_counts[i], slot);
	}
}

static void follow(void *context)
{
	struct bt_counters *c = context;
	const struct bt_snapshot *snapshot = c->snapshot;
	uint64_t behind = snapshot->changes_end - c->changes_at;

	if (c->slot_version != snapshot->slot_version || behind > snapshot->changes_mask ||
		behind > snapshot->slot_n / CHANGES_SHARE + 1) {
		drop_domains(c);
	}
	for (; c->changes_at != snapshot->changes_end; c->changes_at++) {
		follow_node(c, snapshot->changes[c->changes_at & snapshot->changes_mask]);
	}
	BT_INVARIANT(c->slot_version == snapshot->slot_version);
}

/* ---- terms ---- */

static struct bt_pod_match resolve(void *context, const struct bt_pod_term *term, bool unlabelled_takes_all)
{
	struct bt_counters *c = context;
	const struct bt_intern *intern = c->dictionary->intern;
	const struct bt_selector *selector = &term->namespace_selector;
	struct bt_pod_match match = term->match;

	if (selector->nothing) {
		return match;
	}
	/*
	 * Upstream adds the selected namespaces to the names. Some releases then match the selector against
	 * an empty label set: if it matches, it selects every namespace.
	 */
	if (selector->n == 0 ||
		(unlabelled_takes_all && bt_selector_matches(intern, selector, (struct bt_labels){0}))) {
		match.any_namespace = true;
		return match;
	}
	uint32_t *names =
		bt_arena_alloc(&c->scratch, (match.namespace_n + c->namespaces.n + 1) * sizeof(*names), 8);
	uint32_t n = 0;
	for (uint32_t i = 0; i < match.namespace_n; i++) {
		names[n++] = match.namespaces[i];
	}
	for (size_t i = 0; i < c->namespaces.n; i++) {
		const struct bt_namespace *item = &c->namespaces.items[i];

		if (item->live && bt_selector_matches(intern, selector, item->labels)) {
			names[n++] = item->name;
		}
	}
	match.namespaces = names;
	match.namespace_n = bt_names_sort(names, n);
	return match;
}

static bool concerns(
	const struct bt_counters *c, const struct bt_pod_term *term, const struct bt_signature *signature)
{
	const struct bt_intern *intern = c->dictionary->intern;
	struct bt_pod_match match = term->match;

	match.any_namespace = bt_selector_matches(intern, &term->namespace_selector,
		bt_namespaces_labels(&c->namespaces, signature->namespace_));
	return bt_pod_match_holds(intern, &match, signature->namespace_, signature->labels);
}

static void count_carriers(struct bt_counters *c, uint32_t ix)
{
	struct existing_term *existing = c->existing_terms[ix];

	if (existing->counter == NO_COUNTER) {
		const struct counter fresh = {.existing = ix};

		existing->counter = add_counter(c, &fresh);
	}
	if (!existing->view.domain_counts) {
		existing->view.domain_counts =
			find_domain_counts(c, existing->counter, existing->term.topology_key, 0, false);
		BT_INVARIANT(existing->counter < c->counter_n);
	}
}

static const struct bt_existing_affinity_term *const *find_matching(
	void *context, const struct bt_signature *signature, uint32_t *out_n)
{
	struct bt_counters *c = context;
	struct counters_record *record = record_of(c, signature);

	follow(c);
	if (record->namespace_version != c->view.namespace_version) {
		record->namespace_version = c->view.namespace_version;
		record->matching_n = record->seen_n = 0;
	}
	for (; record->seen_n < c->existing_term_n; record->seen_n++) {
		if (!concerns(c, &c->existing_terms[record->seen_n]->term, signature)) {
			continue;
		}
		record->matching_ixs = bt_mem_grow(record->matching_ixs, record->matching_n,
			&record->matching_ix_cap, sizeof(*record->matching_ixs));
		record->matching = bt_mem_grow(record->matching, record->matching_n, &record->matching_cap,
			sizeof(const struct bt_existing_affinity_term *));
		record->matching_ixs[record->matching_n] = (uint32_t)record->seen_n;
		record->matching[record->matching_n++] = &c->existing_terms[record->seen_n]->view;
	}
	for (size_t i = 0; i < record->matching_n; i++) {
		count_carriers(c, record->matching_ixs[i]);
	}
	*out_n = (uint32_t)record->matching_n;
	return record->matching;
}

static struct bt_selector default_selector(void *context, const struct bt_signature *signature)
{
	struct bt_counters *c = context;

	return bt_default_spread_selectors_selector(&c->sources, signature);
}
