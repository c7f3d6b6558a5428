/* SPDX-License-Identifier: Apache-2.0
 * The table of signatures: pods with equal canonical forms share one.
 */
#include "engine/model/signature_int.h"

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/testpoint.h"
#include "engine/base/thread.h"

/*
 * Why a table of our own. Finding and holding one of 100, 1,000 or 10,000 signatures of 300 bytes takes 28,
 * 25 and 66 ns here, and 55, 76 and 254 ns in liburcu's cds_lfht (each the best of five), which follows
 * pointers from entry to entry and needs a grace period before an entry may be reused. Any thread may call
 * here, whether or not it is registered with RCU. The dictionary's table (intern.c) differs: its keys are
 * short texts stored in the record, and it is sharded, because every object adds new ones.
 */

/*
 * Why this is safe. Entries are reused, and freed only with the table, so any thread may read an entry's
 * state. A reader that finds an entry by its slot holds it first, and then compares its key: it cannot hold a
 * removed signature, and a held one does not change. An entry without holders is listed; the scheduling
 * thread removes it by a compare and swap of its whole state, which fails if a holder was added.
 */

#define FIRST_SLOTS	256
#define FIRST_CHUNK_LOG 6
#define CHUNK_N		(32 - FIRST_CHUNK_LOG)
#define SIGNATURE_BYTES 1536 /* the size of most signatures, besides their run */
#define NO_ENTRY	UINT32_MAX

/* State: is there a signature, is it listed, was it held again since it was listed; number of holders. */
#define KNOWN	(UINT64_C(1) << 34)
#define LISTED	(UINT64_C(1) << 33)
#define AGAIN	(UINT64_C(1) << 32)
#define HOLDERS ((UINT64_C(1) << 32) - 1)

/* A signature with its run. Immutable except for its state while it is held or has a slot. */
struct signature_entry {
	_Atomic uint64_t state;
	struct bt_signature *signature;
	uint64_t hash;
	const char *words;
	size_t words_bytes;
	uint32_t *names; /* the names that it holds */
	uint32_t name_n;
	const struct bt_signature *base; /* that it was made of, and holds; NULL: none */
	uint32_t next;			 /* in the list or the free list */
	struct bt_arena arena;		 /* all of the signature, the run and the names included */
};

/* Slots: the upper half of the hash, and ix + 1; or 0. */
struct signature_table {
	struct signature_table *outgrown; /* its predecessor, which may still have readers */
	uint32_t mask;
	_Atomic uint64_t slots[];
};

struct bt_signatures {
	struct bt_dictionary *dictionary;		   /* init: */
	struct bt_request_rules request_rules;		   /* init: */
	bool name_workloads;				   /* init: */
	_Atomic(struct signature_table *) table;	   /* changed under the lock, like the fields below */
	_Atomic(struct signature_entry *) chunks[CHUNK_N]; /* by ix */
	_Atomic uint32_t count, end, listed_n;
	uint64_t serial;
	struct bt_owner owner;	    /* of retired signatures */
	uint32_t free, first, last; /* free entries, and the list of entries without holders */
	struct bt_lock lock;
	struct bt_signature_maker *maker; /* for threads without one */
	uint32_t *retired;		  /* owner: the scheduling thread */
	size_t retired_n, retired_cap;
};

struct bt_signature_maker *bt_signature_maker_create(struct bt_signatures *signatures)
{
	BT_REQUIRE(signatures);
	struct bt_signature_maker *maker = bt_mem_zalloc(1, sizeof(*maker));

	maker->signatures = signatures;
	maker->dictionary = signatures->dictionary;
	maker->rules = &signatures->request_rules;
	maker->held.intern = signatures->dictionary->intern;
	return maker;
}

void bt_signature_maker_destroy(struct bt_signature_maker *maker)
{
	if (maker) {
		bt_arena_fini(&maker->arena);
		bt_arena_fini(&maker->scratch);
		bt_buf_fini(&maker->words);
		bt_buf_fini(&maker->text);
		bt_buf_fini(&maker->group);
		bt_name_refs_release(&maker->held);
		bt_mem_free(maker);
	}
}

/* ---- the table ---- */

/* Chunks double. */
static struct signature_entry *entry_of(const struct bt_signatures *s, uint32_t ix)
{
	uint64_t shifted = (uint64_t)ix + (1u << FIRST_CHUNK_LOG);
	uint32_t log = 63 - (uint32_t)__builtin_clzll(shifted);

	BT_INVARIANT(log - FIRST_CHUNK_LOG < CHUNK_N);
	return &bt_load_acquire(&s->chunks[log - FIRST_CHUNK_LOG])[shifted - (UINT64_C(1) << log)];
}

static struct signature_table *make_table(uint32_t slot_n, struct signature_table *outgrown)
{
	BT_INVARIANT(slot_n > 0 && (slot_n & (slot_n - 1)) == 0);
	struct signature_table *table = bt_mem_zalloc(1, sizeof(*table) + slot_n * sizeof(table->slots[0]));

	table->outgrown = outgrown;
	table->mask = slot_n - 1;
	return table;
}

/* Uses the rules of the default release. */
static void default_rules(struct bt_signatures *signatures)
{
	bool gates[BT_GATE_N];

	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		gates[gate] = bt_gate_spec((enum bt_gate)gate, bt_release_default())->on;
	}
	bt_signatures_configure(signatures, bt_release_default(), gates);
}

struct bt_owner *bt_signatures_owner(struct bt_signatures *s)
{
	return &s->owner;
}

void bt_signatures_configure(
	struct bt_signatures *signatures, const struct bt_release *release, const bool *gates)
{
	BT_REQUIRE(bt_load_relaxed(&signatures->count) == 0);
	signatures->request_rules = bt_request_rules_of(release, gates);
	signatures->name_workloads =
		gates[BT_GATE_GENERIC_WORKLOAD] && bt_release_has(release, BT_RULE_PODS_NAME_WORKLOADS);
}

struct bt_signatures *bt_signatures_create(struct bt_dictionary *dictionary)
{
	BT_REQUIRE(dictionary);
	struct bt_signatures *signatures = bt_mem_zalloc(1, sizeof(*signatures));

	signatures->dictionary = dictionary;
	default_rules(signatures);
	signatures->free = signatures->first = signatures->last = NO_ENTRY;
	bt_store_relaxed(&signatures->table, make_table(FIRST_SLOTS, NULL));
	bt_lock_init(&signatures->lock);
	signatures->maker = bt_signature_maker_create(signatures);
	return signatures;
}

/* ---- list of entries without holders, in FIFO order ---- */

/* Context: the lock is held, as in all of these. */
static void append(struct bt_signatures *s, uint32_t ix)
{
	BT_INVARIANT((s->first == NO_ENTRY) == (s->last == NO_ENTRY));
	entry_of(s, ix)->next = NO_ENTRY;
	if (s->last == NO_ENTRY) {
		s->first = ix;
	} else {
		entry_of(s, s->last)->next = ix;
	}
	s->last = ix;
	bt_store_relaxed(&s->listed_n, bt_load_relaxed(&s->listed_n) + 1);
}

static uint32_t take_first(struct bt_signatures *s)
{
	BT_INVARIANT(s->first != NO_ENTRY && bt_load_relaxed(&s->listed_n) > 0);
	uint32_t ix = s->first;

	s->first = entry_of(s, ix)->next;
	if (s->first == NO_ENTRY) {
		s->last = NO_ENTRY;
	}
	bt_store_relaxed(&s->listed_n, bt_load_relaxed(&s->listed_n) - 1);
	return ix;
}

/* Frees an entry's contents. */
static void empty(struct bt_signatures *s, struct signature_entry *entry)
{
	for (uint32_t i = 0; i < entry->name_n; i++) {
		bt_intern_release(s->dictionary->intern, entry->names[i]);
	}
	bt_arena_fini(&entry->arena);
	bt_signature_release(entry->base);
	entry->base = NULL;
	entry->signature = NULL;
	entry->name_n = 0;
}

void bt_signatures_destroy(struct bt_signatures *signatures)
{
	if (!signatures) {
		return;
	}
	for (uint32_t ix = 0; ix < bt_signatures_end(signatures); ix++) {
		entry_of(signatures, ix)->base = NULL; /* it ends, too */
		empty(signatures, entry_of(signatures, ix));
	}
	for (uint32_t i = 0; i < CHUNK_N; i++) {
		bt_mem_free(bt_load_relaxed(&signatures->chunks[i]));
	}
	for (struct signature_table *next, *table = bt_load_relaxed(&signatures->table); table;
		table = next) {
		next = table->outgrown;
		bt_mem_free(table);
	}
	bt_lock_fini(&signatures->lock);
	bt_signature_maker_destroy(signatures->maker);
	bt_mem_free(signatures->retired);
	bt_mem_free(signatures);
}

/* ---- hold and release ---- */

/* Adds a holder, if there still is a signature. */
static bool hold(struct signature_entry *entry)
{
	uint64_t state = bt_load_relaxed(&entry->state);

	/* Lock-free: a failure means that another holder was added or dropped. */
	while (state & KNOWN) {
		uint64_t more = (state + 1) | (state & LISTED ? AGAIN : 0);

		BT_REQUIRE((state & HOLDERS) < HOLDERS);
		/* EDGE signatures.state acquire: the entry is filled. */
		if (bt_cas(&entry->state, &state, more)) {
			return true;
		}
	}
	return false;
}

/* Drops a holder that may be the last one: an entry without holders is listed. Context: the lock is held. */
static void leave_last(struct bt_signatures *s, uint32_t ix)
{
	struct signature_entry *entry = entry_of(s, ix);
	uint64_t state = bt_load_relaxed(&entry->state), less;

	do {
		BT_REQUIRE(state & HOLDERS);
		less = (state - 1) | ((state & HOLDERS) == 1 ? LISTED : 0);
		/* EDGE signatures.state release: reads of the signature come before its removal. */
	} while (!bt_cas(&entry->state, &state, less));
	if ((less & LISTED) && !(state & LISTED)) {
		append(s, ix);
	}
}

void bt_signature_hold(const struct bt_signature *signature)
{
	if (signature->table) {
		bool held = hold(entry_of(signature->table, signature->ix));

		BT_REQUIRE(held);
	}
}

void bt_signature_release(const struct bt_signature *signature)
{
	if (!signature || !signature->table) {
		return;
	}
	struct signature_entry *entry = entry_of(signature->table, signature->ix);
	uint64_t state = bt_load_relaxed(&entry->state);
	while ((state & HOLDERS) > 1 || (state & LISTED)) {
		BT_REQUIRE(state & HOLDERS);
		/* EDGE signatures.state release. */
		if (bt_cas(&entry->state, &state, state - 1)) {
			return;
		}
	}
	BT_TESTPOINT("signatures.release.last");
	bt_lock_acquire(&signature->table->lock);
	leave_last(signature->table, signature->ix);
	bt_lock_release(&signature->table->lock);
}

/* Finds and holds the entry of a run, or returns NULL. Without the lock it may miss an entry that is being
 * moved. */
static struct signature_entry *signature_find(
	struct bt_signatures *s, uint64_t hash, struct bt_str words, bool locked)
{
	/* EDGE signatures.table acquire: the table is filled. */
	const struct signature_table *table = bt_load_acquire(&s->table);

	for (uint32_t n = 0; n <= table->mask; n++) {
		/* EDGE signatures.slot acquire: the entry's chunk is visible. */
		uint64_t slot = bt_load_acquire(&table->slots[((uint32_t)hash + n) & table->mask]);

		if (!slot) {
			return NULL;
		}
		BT_TESTPOINT("signatures.find.slot");
		/* Only a holder can read the key. */
		if (slot >> 32 != hash >> 32 || !hold(entry_of(s, (uint32_t)slot - 1))) {
			continue;
		}
		struct signature_entry *entry = entry_of(s, (uint32_t)slot - 1);
		if (entry->hash == hash && entry->words_bytes == words.len &&
			memcmp(entry->words, words.ptr, words.len) == 0) {
			return entry;
		}
		if (locked) {
			leave_last(s, entry->signature->ix);
		} else {
			bt_signature_release(entry->signature);
		}
	}
	return NULL;
}

/* ---- adding ---- */

static void put_slot(struct signature_table *table, uint64_t slot, uint32_t home)
{
	uint32_t at = home & table->mask;

	BT_INVARIANT((uint32_t)slot != 0);
	while (bt_load_relaxed(&table->slots[at])) {
		at = (at + 1) & table->mask;
	}
	/* EDGE signatures.slot release. */
	bt_store_release(&table->slots[at], slot);
}

/* Context: the lock is held. */
static void grow(struct bt_signatures *s)
{
	struct signature_table *old = bt_load_relaxed(&s->table), *new = make_table((old->mask + 1) * 2, old);

	for (uint32_t i = 0; i <= old->mask; i++) {
		uint64_t slot = bt_load_relaxed(&old->slots[i]);

		if (slot) {
			put_slot(new, slot, (uint32_t)entry_of(s, (uint32_t)slot - 1)->hash);
		}
	}
	/* EDGE signatures.table release. */
	bt_store_release(&s->table, new);
	BT_INVARIANT(bt_load_relaxed(&s->count) * 2 <= new->mask + 1);
}

/* Allocates an index. Context: the lock is held. */
static uint32_t take_ix(struct bt_signatures *s)
{
	uint32_t ix = s->free, end = bt_load_relaxed(&s->end);

	if (ix != NO_ENTRY) {
		s->free = entry_of(s, ix)->next;
		return ix;
	}
	uint32_t log = 63 - (uint32_t)__builtin_clzll((uint64_t)end + (1u << FIRST_CHUNK_LOG));

	BT_REQUIRE(end < UINT32_MAX - 1);
	if (!bt_load_relaxed(&s->chunks[log - FIRST_CHUNK_LOG])) {
		/* EDGE signatures.slot release: a chunk is visible before a slot of its entries. */
		bt_store_release(&s->chunks[log - FIRST_CHUNK_LOG],
			bt_mem_zalloc((size_t)1 << log, sizeof(struct signature_entry)));
	}
	bt_store_release(&s->end, end + 1);
	return end;
}

/* Adds a signature unless another thread has added an equal one. Returns: the one in the table, held. */
static const struct bt_signature *signature_enter(struct bt_signatures *s, struct signature_entry *made)
{
	bt_lock_acquire(&s->lock);
	const struct signature_entry *known =
		signature_find(s, made->hash, (struct bt_str){made->words, made->words_bytes}, true);
	if (!known) {
		uint32_t ix = take_ix(s), count = bt_load_relaxed(&s->count) + 1;
		struct signature_entry *entry = entry_of(s, ix);

		BT_INVARIANT(ix < bt_load_relaxed(&s->end) && !entry->signature);
		made->signature->ix = ix;
		made->signature->serial = ++s->serial;
		entry->signature = made->signature;
		entry->hash = made->hash;
		entry->words = made->words;
		entry->words_bytes = made->words_bytes;
		entry->names = made->names;
		entry->name_n = made->name_n;
		entry->arena = made->arena;
		entry->base = made->base;
		made->arena = (struct bt_arena){0};
		made->name_n = 0;
		made->base = NULL;
		/* EDGE signatures.state release. */
		bt_store_release(&entry->state, KNOWN | 1);
		if (count * 2 > bt_load_relaxed(&s->table)->mask) {
			grow(s);
		}
		put_slot(bt_load_relaxed(&s->table), made->hash >> 32 << 32 | (ix + 1), (uint32_t)made->hash);
		bt_store_relaxed(&s->count, count);
		known = entry;
	}
	BT_INVARIANT(known->signature && known->signature->ix < bt_load_relaxed(&s->end));
	bt_lock_release(&s->lock);
	return known->signature;
}

/* Moves the names that the maker holds to the new signature. */
static void keep_held(struct bt_signature_maker *maker, struct signature_entry *made)
{
	made->name_n = (uint32_t)maker->held.n;
	made->names = bt_arena_alloc(&maker->arena, maker->held.n * sizeof(*made->names), 8);
	if (maker->held.n) {
		memcpy(made->names, maker->held.items, maker->held.n * sizeof(*made->names));
	}
	maker->held.n = 0;
}

const struct bt_signature *bt_signature_make(
	struct bt_signature_maker *maker, const struct bt_pod_object *pod)
{
	struct bt_requests requests;

	bt_arena_reset(&maker->scratch);
	bt_buf_clear(&maker->words);
	bt_requests_compute(
		maker->dictionary, &maker->signatures->request_rules, &maker->scratch, pod, &requests);
	maker->name_workloads = maker->signatures->name_workloads;
	bt_signature_canonical(maker, pod, &requests);
	struct bt_str words = bt_buf_view(&maker->words);
	uint64_t hash = bt_hash_bytes(words.ptr, words.len);
	const struct signature_entry *known = signature_find(maker->signatures, hash, words, false);
	if (known) {
		return known->signature;
	}
	bt_arena_start(&maker->arena, words.len + SIGNATURE_BYTES);
	char *kept = bt_arena_alloc(&maker->arena, words.len, 8);
	memcpy(kept, words.ptr, words.len);
	struct bt_signature *signature = bt_signature_build(maker, pod, &requests);
	struct signature_entry made = {
		.signature = signature, .hash = hash, .words = kept, .words_bytes = words.len};
	keep_held(maker, &made);
	made.arena = maker->arena;
	maker->arena = (struct bt_arena){0};
	const struct bt_signature *entered = signature_enter(maker->signatures, &made);
	empty(maker->signatures, &made); /* another thread was first */
	BT_INVARIANT(entered->table == maker->signatures);
	return entered;
}

static void put_words(struct bt_buf *words, const void *items, size_t bytes)
{
	bt_buf_str(words, (struct bt_str){items, bytes});
}

static void put_exact(struct bt_buf *words, uint32_t slot, struct bt_quantity quantity)
{
	uint32_t format = quantity.format; /* the text is written to the pod's status */

	put_words(words, &slot, sizeof(slot));
	put_words(words, &format, sizeof(format));
	put_words(words, &quantity.nano, sizeof(quantity.nano));
}

/* The run of a signature that is assumed: that of its base, and what the claims take. */
static void put_assumed(
	struct bt_buf *words, struct bt_str base, const struct bt_node_claim *claims, uint32_t claim_n)
{
	bt_buf_str(words, base);
	bt_buf_text(words, "assumed:");
	put_words(words, &claim_n, sizeof(claim_n));
	for (uint32_t i = 0; i < claim_n; i++) {
		const struct bt_node_claim *claim = &claims[i];

		put_words(words, &claim->claim, sizeof(claim->claim));
		put_words(words, &claim->container_n, sizeof(claim->container_n));
		put_words(words, claim->containers, claim->container_n * sizeof(*claim->containers));
		put_words(words, &claim->mapping.n, sizeof(claim->mapping.n));
		for (uint32_t j = 0; j < claim->mapping.n; j++) {
			put_exact(words, claim->mapping.items[j].slot, claim->mapping.items[j].quantity);
		}
		put_words(words, &claim->overhead_n, sizeof(claim->overhead_n));
		for (uint32_t j = 0; j < claim->overhead_n; j++) {
			uint32_t there = (uint32_t)claim->overheads[j].has_per_pod << 1 |
					 claim->overheads[j].has_per_container;

			put_words(words, &there, sizeof(there));
			put_exact(words, claim->overheads[j].slot, claim->overheads[j].per_pod);
			put_exact(words, claim->overheads[j].slot, claim->overheads[j].per_container);
		}
	}
}

static struct bt_exacts copy_exacts(struct bt_arena *arena, struct bt_exacts exacts)
{
	struct bt_exact *items = bt_arena_alloc(arena, exacts.n * sizeof(*items), 16);

	if (exacts.n) {
		memcpy(items, exacts.items, exacts.n * sizeof(*items));
	}
	return (struct bt_exacts){items, exacts.n};
}

static void *copy_items(struct bt_arena *arena, const void *items, size_t bytes)
{
	void *copy = bt_arena_alloc(arena, bytes, 16);

	if (bytes) {
		memcpy(copy, items, bytes);
	}
	return copy;
}

/* Keeps the claims' names in made, too: a claim for extended resources has one that is not the pod's. */
static const struct bt_node_claim *copy_claims(
	struct bt_signature_maker *maker, const struct bt_node_claim *claims, uint32_t n)
{
	struct bt_arena *arena = &maker->arena;
	struct bt_node_claim *copies = copy_items(arena, claims, n * sizeof(*claims));

	for (uint32_t i = 0; i < n; i++) {
		bt_name_refs_add_name(&maker->held, claims[i].claim);
		for (uint32_t j = 0; j < claims[i].container_n; j++) {
			bt_name_refs_add_name(&maker->held, claims[i].containers[j]);
		}
		copies[i].containers = copy_items(
			arena, claims[i].containers, claims[i].container_n * sizeof(*claims[i].containers));
		copies[i].mapping = copy_exacts(arena, claims[i].mapping);
		copies[i].overheads = copy_items(
			arena, claims[i].overheads, claims[i].overhead_n * sizeof(*claims[i].overheads));
	}
	return copies;
}

const struct bt_signature *bt_signature_assume(struct bt_signatures *signatures,
	const struct bt_signature *base, const struct bt_node_claim *claims, uint32_t claim_n)
{
	BT_REQUIRE(base->table == signatures && base->sums && !base->assumed_of);
	struct bt_signature_maker *maker = signatures->maker;
	const struct signature_entry *of = entry_of(signatures, base->ix);

	bt_buf_clear(&maker->words);
	put_assumed(&maker->words, (struct bt_str){of->words, of->words_bytes}, claims, claim_n);
	struct bt_str words = bt_buf_view(&maker->words);
	uint64_t hash = bt_hash_bytes(words.ptr, words.len);
	const struct signature_entry *known = signature_find(signatures, hash, words, false);
	if (known) {
		return known->signature;
	}
	bt_arena_start(&maker->arena, words.len + SIGNATURE_BYTES);
	char *kept = copy_items(&maker->arena, words.ptr, words.len);
	struct bt_signature *signature = copy_items(&maker->arena, base, sizeof(*base));
	struct bt_claims_demand demand =
		bt_claims_demand(signatures->dictionary, &maker->arena, base->sums, claims, claim_n);
	signature->requests.used = demand.used;
	signature->requests.used_milli = demand.used_milli;
	signature->requests.nonzero_milli_cpu = demand.nonzero_milli_cpu;
	signature->requests.nonzero_memory = demand.nonzero_memory;
	signature->node_claims = copy_claims(maker, claims, claim_n);
	signature->node_claim_n = claim_n;
	signature->assumed_of = base;
	bt_signature_hold(base);
	struct signature_entry made = {
		.signature = signature, .hash = hash, .words = kept, .words_bytes = words.len, .base = base};
	keep_held(maker, &made);
	made.arena = maker->arena;
	maker->arena = (struct bt_arena){0};
	const struct bt_signature *entered = signature_enter(signatures, &made);
	empty(signatures, &made); /* if another thread was first */
	return entered;
}

const struct bt_signature *bt_signatures_intern(
	struct bt_signatures *signatures, const struct bt_pod_object *pod)
{
	return bt_signature_make(signatures->maker, pod);
}

const struct bt_signature *bt_signatures_get(const struct bt_signatures *signatures, uint32_t ix)
{
	BT_INVARIANT(ix < bt_signatures_end(signatures));
	return entry_of(signatures, ix)->signature;
}

uint32_t bt_signatures_end(const struct bt_signatures *signatures)
{
	return bt_load_acquire(&signatures->end);
}

uint32_t bt_signatures_count(const struct bt_signatures *signatures)
{
	return bt_load_relaxed(&signatures->count);
}

uint32_t bt_signatures_listed(const struct bt_signatures *signatures)
{
	return bt_load_relaxed(&signatures->listed_n);
}

/* ---- removing ---- */

/* Empties a slot and shifts later slots back. A concurrent lookup may miss a signature, and repeats under the
 * lock. Context: the lock is held. */
static void take_out(struct bt_signatures *s, uint32_t ix)
{
	struct signature_table *table = bt_load_relaxed(&s->table);
	uint32_t mask = table->mask, hole = (uint32_t)entry_of(s, ix)->hash & mask;
	uint64_t slot;

	while ((uint32_t)bt_load_relaxed(&table->slots[hole]) != ix + 1) {
		hole = (hole + 1) & mask;
	}
	for (uint32_t at = (hole + 1) & mask; (slot = bt_load_relaxed(&table->slots[at]));
		at = (at + 1) & mask) {
		uint32_t home = (uint32_t)entry_of(s, (uint32_t)slot - 1)->hash;

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			bt_store_release(&table->slots[hole], slot);
			BT_TESTPOINT("signatures.take_out.moved");
			hole = at;
		}
	}
	bt_store_release(&table->slots[hole], 0);
	BT_INVARIANT(bt_load_relaxed(&s->count) > 0);
	bt_store_relaxed(&s->count, bt_load_relaxed(&s->count) - 1);
}

/* Processes the first entry of the list (second chance): a held one is unlisted, one used since it was listed
 * goes to the end, any other is removed. Returns whether it was removed. Context: the lock is held. */
static bool weigh_first(struct bt_signatures *s)
{
	BT_INVARIANT(s->first != NO_ENTRY);
	uint32_t ix = take_first(s);
	struct signature_entry *entry = entry_of(s, ix);
	uint64_t state = bt_load_relaxed(&entry->state), next;

	do {
		if (state & HOLDERS) {
			next = state & ~(LISTED | AGAIN);
		} else {
			next = state & AGAIN ? state & ~AGAIN : 0;
		}
		/* EDGE signatures.state acquire: holders' reads come before the removal. */
	} while (!bt_cas(&entry->state, &state, next));
	if (next & LISTED) {
		append(s, ix);
	}
	return next == 0;
}

uint32_t bt_signatures_retire(struct bt_signatures *s, uint32_t keep_n, const uint32_t **out_ixs)
{
	BT_OWNED_BY_THREAD(&s->owner);
	BT_REQUIRE(s->retired_n == 0);
	bt_lock_acquire(&s->lock);
	/* Twice: an entry that was used since it was listed may be removed in the second round. */
	for (uint64_t n = 2 * (uint64_t)bt_load_relaxed(&s->listed_n); n; n--) {
		uint32_t ix = s->first;

		if (bt_load_relaxed(&s->listed_n) <= keep_n) {
			break;
		}
		if (weigh_first(s)) {
			take_out(s, ix);
			s->retired =
				bt_mem_grow(s->retired, s->retired_n, &s->retired_cap, sizeof(*s->retired));
			s->retired[s->retired_n++] = ix;
		}
	}
	bt_lock_release(&s->lock);
	*out_ixs = s->retired;
	return (uint32_t)s->retired_n;
}

void bt_signatures_free_retired(struct bt_signatures *s)
{
	BT_OWNED_BY_THREAD(&s->owner);
	for (size_t i = 0; i < s->retired_n; i++) {
		empty(s, entry_of(s, s->retired[i]));
	}
	bt_lock_acquire(&s->lock);
	for (size_t i = 0; i < s->retired_n; i++) {
		BT_INVARIANT(!entry_of(s, s->retired[i])->signature);
		entry_of(s, s->retired[i])->next = s->free;
		s->free = s->retired[i];
	}
	bt_lock_release(&s->lock);
	s->retired_n = 0;
}
