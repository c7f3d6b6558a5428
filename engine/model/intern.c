/* SPDX-License-Identifier: Apache-2.0
 * Strings to small integers: shards by hash, each an open addressing table of (hash, number); a number is the
 * place of a record, which has the text. See "why this is safe" below.
 */
#include "engine/model/intern.h"

#include <stdalign.h>

#include "engine/base/arena.h"
#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/race.h"
#include "engine/base/thread.h"

/*
 * Why this is safe. All that readers look at is atomic and never given back before the dictionary's end:
 * tables (outgrown ones are kept: together they are smaller than the present one), and places of records and
 * of long texts, which are used again for others of the same size. So a reader may read what is being
 * changed; it has to notice.
 *
 * A hit: a record's state holds a generation, which moves when its last holder goes, before anything else of
 * it changes. Whoever changes the length or a word of a text stores with release after that; a reader loads
 * them with acquire and then finds the generation moved (EDGE intern.text). So text and number belonged
 * together while the generation stood still. A holder enters by a compare and swap of the whole state,
 * generation included: nobody can come to hold what has gone, or another string.
 *
 * A miss: who wants to add asks again under the shard's lock. bt_intern_find believes a miss if no slot of
 * the shard was moved meanwhile, which `moves` tells (EDGE intern.moves); else it asks under the lock, too. A
 * table that is outgrown is not changed any more: what is missed there came after the table was read, or had
 * gone meanwhile, so that there was a moment during the call at which it was not there.
 *
 * bt_intern_str reads plainly: who holds a name has got it by way of the slot (EDGE intern.slot) or from
 * somebody who did, and the next string's writer comes after the last holder's release (EDGE intern.state).
 */

#define SHARD_BITS	4
#define SHARD_N		(1u << SHARD_BITS)
#define FIRST_SLOTS	64
#define FIRST_CHUNK_LOG 10 /* in places */
#define CHUNK_N		(32 - FIRST_CHUNK_LOG)
#define RUN_N		256 /* places that a shard takes at once */

/* A state: the generation above, then a bit for pinned, then the number of holders. */
#define GENERATION (UINT64_C(1) << 32)
#define PINNED	   (UINT64_C(1) << 31)
#define HOLDERS	   (PINNED - 1)

typedef _Atomic uint64_t text_word;

/* A place is as large as a record without its text. */
struct record {
	_Atomic uint64_t state;
	_Atomic uint32_t len;
	uint32_t tag;	  /* of its hash; of a free record: the next free one */
	text_word text[]; /* zeroes behind it, one at least; of a long one where it is */
};

#define PLACE_BYTES sizeof(struct record)

/* Texts up to so many bytes stand in their record; its size is its class. */
#define SHORT_MAX     255
#define SHORT_CLASSES ((SHORT_MAX + 1) / PLACE_BYTES + 2)
#define LONG_CLASSES  33 /* by powers of two */

/* Room for a name with a fixed number, which is no place. */
struct fixed_record {
	alignas(16) unsigned char bytes[PLACE_BYTES + 48];
};

/* Slots: tag << 32 | number, or 0. */
struct table {
	struct table *outgrown; /* the one before */
	uint32_t mask;
	_Atomic uint64_t slots[];
};

struct shard {
	alignas(BT_CACHELINE) _Atomic(struct table *) table; /* apart: it is read all the time */
	/* Changed under the lock, like all below. */
	alignas(BT_CACHELINE) _Atomic uint64_t moves; /* odd while slots are being moved */
	_Atomic uint32_t count;
	uint32_t run, run_end; /* places that are left */
	struct bt_lock lock;
	uint32_t free_names[SHORT_CLASSES];  /* records by class; long ones by 0 */
	text_word *free_texts[LONG_CLASSES]; /* the first word leads to the next */
	struct bt_arena arena;		     /* long texts */
};

struct bt_intern {
	struct shard shards[SHARD_N];
	struct fixed_record fixed[BT_NAME_FIXED_N];
	uint32_t salt;				  /* init: of tags */
	_Atomic uint32_t end;			  /* the next place that no shard has had */
	_Atomic(struct record *) chunks[CHUNK_N]; /* of places */
};

static _Atomic uint32_t salt; /* of the next dictionary */

static const char *const fixed_names[BT_NAME_FIXED_N] = {
	[BT_NAME_EMPTY] = "",
	[BT_NAME_NO_SCHEDULE] = "NoSchedule",
	[BT_NAME_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
	[BT_NAME_NO_EXECUTE] = "NoExecute",
	[BT_NAME_UNSCHEDULABLE_TAINT] = "node.kubernetes.io/unschedulable",
	[BT_NAME_DEFAULT_SCHEDULER] = "default-scheduler",
	[BT_NAME_ANY_IP] = "0.0.0.0",
	[BT_NAME_TCP] = "TCP",
	[BT_NAME_ZONE] = "topology.kubernetes.io/zone",
	[BT_NAME_REGION] = "topology.kubernetes.io/region",
	[BT_NAME_HOSTNAME] = "kubernetes.io/hostname",
	[BT_NAME_BETA_ZONE] = "failure-domain.beta.kubernetes.io/zone",
	[BT_NAME_BETA_REGION] = "failure-domain.beta.kubernetes.io/region",
};

/* ---- tables and entries ---- */

static struct table *make_table(uint32_t slot_n, struct table *outgrown)
{
	struct table *table = bt_mem_zalloc(1, sizeof(*table) + slot_n * sizeof(table->slots[0]));

	table->outgrown = outgrown;
	table->mask = slot_n - 1;
	return table;
}

/* The shard and the place in its table both come from the tag: first the uppermost bits, then the others. */
static struct shard *shard_of(const struct bt_intern *intern, uint32_t tag)
{
	return (struct shard *)(uintptr_t)&intern->shards[tag >> (32 - SHARD_BITS)];
}

static uint32_t tag_of(const struct bt_intern *intern, struct bt_str s)
{
	return (uint32_t)bt_hash_bytes(s.ptr, s.len) ^ intern->salt;
}

/* Chunks double; the first one has the places below 1 << FIRST_CHUNK_LOG. */
static uint32_t chunk_of(uint32_t place, uint32_t *out_ix)
{
	uint64_t shifted = (uint64_t)place + (1u << FIRST_CHUNK_LOG);
	uint32_t log = 63 - (uint32_t)__builtin_clzll(shifted);

	*out_ix = (uint32_t)(shifted - (UINT64_C(1) << log));
	return log - FIRST_CHUNK_LOG;
}

/* EDGE intern.chunk acquire: the places are zeroes before the pointer to them is seen. */
static struct record *record_of(const struct bt_intern *intern, uint32_t name)
{
	uint32_t ix, chunk = chunk_of(name, &ix);

	if (BT_UNLIKELY(name < BT_NAME_FIXED_N)) {
		return (struct record *)(uintptr_t)intern->fixed[name].bytes;
	}
	return &bt_load_acquire(&intern->chunks[chunk])[ix];
}

static void provide_chunk(struct bt_intern *intern, uint32_t place)
{
	uint32_t ix, chunk = chunk_of(place, &ix);
	struct record *none = NULL;

	if (bt_load_acquire(&intern->chunks[chunk])) {
		return;
	}
	struct record *made = bt_mem_zalloc((size_t)1 << (chunk + FIRST_CHUNK_LOG), PLACE_BYTES);
	/* EDGE intern.chunk release. */
	if (!bt_cas(&intern->chunks[chunk], &none, made)) {
		bt_mem_free(made); /* another shard was first */
	}
}

/* ---- texts ---- */

/* The bytes behind the last whole word of s, as they stand in a word whose other bytes are zero. */
static uint64_t tail_of(struct bt_str s)
{
	size_t n = s.len % sizeof(uint64_t);
	const char *bytes = n ? s.ptr + (s.len - n) : NULL;
	uint64_t word = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* A copy of so few bytes would cost a call. */
	if (n >= sizeof(uint32_t)) {
		uint32_t first, last;

		memcpy(&first, bytes, sizeof(first));
		memcpy(&last, bytes + n - sizeof(last), sizeof(last));
		return first | (uint64_t)last << (8 * (n - sizeof(last)));
	}
	for (size_t i = 0; i < n; i++) {
		word |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
	}
#else
	if (n) {
		memcpy(&word, bytes, n);
	}
#endif
	return word;
}

static size_t words_of(size_t len)
{
	return len / sizeof(text_word) + 1;
}

/* EDGE intern.text acquire. */
static bool same_text(const text_word *text, struct bt_str s)
{
	size_t n = words_of(s.len) - 1;

	for (size_t i = 0; i < n; i++) {
		uint64_t word;

		memcpy(&word, s.ptr + i * sizeof(word), sizeof(word));
		if (bt_load_acquire(&text[i]) != word) {
			return false;
		}
	}
	return bt_load_acquire(&text[n]) == tail_of(s);
}

/* EDGE intern.text release: the generation has moved before a word is another one. */
static void write_text(text_word *text, struct bt_str s)
{
	size_t n = words_of(s.len) - 1;

	for (size_t i = 0; i < n; i++) {
		uint64_t word;

		memcpy(&word, s.ptr + i * sizeof(word), sizeof(word));
		bt_store_release(&text[i], word);
	}
	bt_store_release(&text[n], tail_of(s));
}

/* Where a long text is. */
static text_word *long_text(const struct record *record)
{
	return (text_word *)(uintptr_t)bt_load_acquire(&record->text[0]);
}

/* A long text that may go lies in a block of a power of two words. */
static uint32_t long_class(size_t len)
{
	return 64 - (uint32_t)__builtin_clzll(words_of(len) - 1);
}

/* Context: the shard's lock is held. */
static text_word *take_long(struct shard *shard, size_t len)
{
	uint32_t class = long_class(len);
	text_word *text = shard->free_texts[class];

	if (!text) {
		return bt_arena_alloc(&shard->arena, sizeof(*text) << class, sizeof(*text));
	}
	shard->free_texts[class] = (text_word *)(uintptr_t)bt_load_relaxed(text);
	return text;
}

static void return_long(struct shard *shard, text_word *text, size_t len)
{
	uint32_t class = long_class(len);

	bt_store_release(text, (uint64_t)(uintptr_t)shard->free_texts[class]);
	shard->free_texts[class] = text;
}

/* How many places the record of a text takes, and its class. */
static uint32_t places_of(size_t len, uint32_t *out_class)
{
	if (len > SHORT_MAX) {
		*out_class = 0;
		return 2;
	}
	*out_class = 1 + (uint32_t)((words_of(len) * sizeof(text_word) + PLACE_BYTES - 1) / PLACE_BYTES);
	return *out_class;
}

/* ---- looking ---- */

/* Is the record the string's? Sets its state as of then. */
static bool matches(const struct record *record, struct bt_str s, uint64_t *out_state)
{
	/* EDGE intern.state acquire: the text that belongs to the generation is seen. */
	uint64_t state = bt_load_acquire(&record->state);
	const text_word *text = record->text;

	if (!(uint32_t)state || bt_load_acquire(&record->len) != s.len) {
		return false;
	}
	if (BT_UNLIKELY(s.len > SHORT_MAX)) {
		text = long_text(record);
		if (bt_load_relaxed(&record->state) / GENERATION != state / GENERATION) {
			return false; /* it may be too short to be read */
		}
	}
	if (!same_text(text, s)) {
		return false;
	}
	*out_state = bt_load_relaxed(&record->state);
	return *out_state / GENERATION == state / GENERATION;
}

/* The number of the string and its record's state, or BT_NAME_NONE. Reads each slot once at most. */
static uint32_t look_up(const struct bt_intern *intern, const struct shard *shard, uint32_t tag,
	struct bt_str s, uint64_t *out_state)
{
	/* EDGE intern.table acquire: the table is filled. */
	const struct table *table = bt_load_acquire(&shard->table);

	for (uint32_t n = 0; n <= table->mask; n++) {
		/* EDGE intern.slot acquire: the record is filled. */
		uint64_t slot = bt_load_acquire(&table->slots[(tag + n) & table->mask]);

		if (!slot) {
			return BT_NAME_NONE;
		}
		if ((uint32_t)(slot >> 32) == tag &&
			matches(record_of(intern, (uint32_t)slot), s, out_state)) {
			return (uint32_t)slot;
		}
	}
	return BT_NAME_NONE;
}

uint32_t bt_intern_find(const struct bt_intern *intern, struct bt_str s)
{
	uint32_t tag = tag_of(intern, s);
	struct shard *shard = shard_of(intern, tag);
	/* EDGE intern.moves acquire: a slot that is moved later is seen only with a count that says so. */
	uint64_t state, moves = bt_load_acquire(&shard->moves);
	uint32_t name = look_up(intern, shard, tag, s, &state);

	if (name == BT_NAME_NONE && (moves % 2 || bt_load_relaxed(&shard->moves) != moves)) {
		bt_lock_acquire(&shard->lock);
		name = look_up(intern, shard, tag, s, &state);
		bt_lock_release(&shard->lock);
	}
	return name;
}

struct bt_str bt_intern_str(const struct bt_intern *intern, uint32_t name)
{
	BT_INVARIANT(name < bt_load_relaxed(&intern->end));
	const struct record *record = record_of(intern, name);
	uint32_t len = bt_load_relaxed(&record->len);

	return (struct bt_str){(const char *)(len > SHORT_MAX ? long_text(record) : record->text), len};
}

uint32_t bt_intern_count(const struct bt_intern *intern)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < SHARD_N; i++) {
		n += bt_load_relaxed(&intern->shards[i].count);
	}
	return n;
}

/* ---- coming ---- */

/* Enters one more holder, or pins, in the generation of state. Returns whether that was still there. */
static bool enter(struct record *record, uint64_t state, bool pin)
{
	uint64_t generation = state / GENERATION;

	while (state / GENERATION == generation && (uint32_t)state) {
		/* Who is pinned needs no holders. */
		if (state & PINNED) {
			return true;
		}
		BT_REQUIRE((state & HOLDERS) < HOLDERS);
		if (bt_cas(&record->state, &state, pin ? state | PINNED : state + 1)) {
			return true;
		}
	}
	return false;
}

/* Puts a number where its tag belongs. Context: the table's writer. */
static void put(struct table *table, uint64_t slot)
{
	uint32_t at = (uint32_t)(slot >> 32) & table->mask;

	while (bt_load_relaxed(&table->slots[at])) {
		at = (at + 1) & table->mask;
	}
	/* EDGE intern.slot release. */
	bt_store_release(&table->slots[at], slot);
}

/* Context: the shard's lock is held. */
static void grow(struct shard *shard)
{
	struct table *old = bt_load_relaxed(&shard->table);
	struct table *new = make_table((old->mask + 1) * 2, old);

	for (uint32_t i = 0; i <= old->mask; i++) {
		uint64_t slot = bt_load_relaxed(&old->slots[i]);

		if (slot) {
			put(new, slot);
		}
	}
	/* EDGE intern.table release. */
	bt_store_release(&shard->table, new);
}

/* Fills a record, and enters it in its shard. Context: the shard's lock is held. */
static void fill(struct shard *shard, uint32_t name, struct record *record, uint32_t tag, struct bt_str s,
	uint64_t holders)
{
	uint32_t count = bt_load_relaxed(&shard->count) + 1;
	text_word *text = record->text;

	if (s.len > SHORT_MAX) {
		text = take_long(shard, s.len);
		bt_store_release(&record->text[0], (uint64_t)(uintptr_t)text);
	}
	write_text(text, s);
	bt_store_release(&record->len, (uint32_t)s.len);
	record->tag = tag;
	BT_RACE_POINT("intern.fill.text");
	/* EDGE intern.state release: the text is there before the generation has a holder. */
	bt_store_release(&record->state, bt_load_relaxed(&record->state) + holders);
	if (count * 2 > bt_load_relaxed(&shard->table)->mask) {
		grow(shard);
	}
	put(bt_load_relaxed(&shard->table), (uint64_t)tag << 32 | name);
	bt_store_relaxed(&shard->count, count);
}

/* A number for a text of that length. Context: the shard's lock is held. */
static uint32_t take_name(struct bt_intern *intern, struct shard *shard, size_t len)
{
	uint32_t class, places = places_of(len, &class), name = shard->free_names[class];

	if (name != BT_NAME_NONE) {
		shard->free_names[class] = record_of(intern, name)->tag;
		return name;
	}
	if (shard->run_end - shard->run < places) {
		shard->run = bt_add_relaxed(&intern->end, RUN_N);
		BT_REQUIRE(shard->run < UINT32_MAX - SHARD_N * RUN_N);
		shard->run_end = shard->run + RUN_N;
		provide_chunk(intern, shard->run);
	}
	shard->run += places;
	return shard->run - places;
}

static uint32_t obtain(struct bt_intern *intern, struct bt_str s, bool pin)
{
	uint32_t tag = tag_of(intern, s);
	struct shard *shard = shard_of(intern, tag);
	uint64_t state = 0;
	uint32_t name = look_up(intern, shard, tag, s, &state);

	BT_RACE_POINT("intern.obtain.found");
	if (name != BT_NAME_NONE && enter(record_of(intern, name), state, pin)) {
		return name;
	}
	BT_REQUIRE(s.len <= UINT32_MAX);
	bt_lock_acquire(&shard->lock);
	name = look_up(intern, shard, tag, s, &state);
	if (name == BT_NAME_NONE) {
		name = take_name(intern, shard, s.len);
		fill(shard, name, record_of(intern, name), tag, s, pin ? PINNED : 1);
	} else {
		/* The last holder leaves under the lock only. */
		bool entered = enter(record_of(intern, name), state, pin);

		BT_INVARIANT(entered);
	}
	bt_lock_release(&shard->lock);
	return name;
}

void bt_intern_prefetch(const struct bt_intern *intern, struct bt_str s)
{
	uint32_t tag = tag_of(intern, s);
	struct shard *shard = shard_of(intern, tag);
	const struct table *table = bt_load_acquire(&shard->table);

	__builtin_prefetch((const void *)&table->slots[tag & table->mask], 1);
	__builtin_prefetch((const void *)&shard->moves, 1);
	__builtin_prefetch(shard->free_names, 1);
}

void bt_intern_prefetch_name(const struct bt_intern *intern, uint32_t name)
{
	__builtin_prefetch(record_of(intern, name), 1);
}

uint32_t bt_intern_add(struct bt_intern *intern, struct bt_str s)
{
	return obtain(intern, s, true);
}

uint32_t bt_intern_hold(struct bt_intern *intern, struct bt_str s)
{
	return obtain(intern, s, false);
}

static void enter_known(struct bt_intern *intern, uint32_t name, bool pin)
{
	if (name != BT_NAME_NONE) {
		struct record *record = record_of(intern, name);
		bool entered = enter(record, bt_load_relaxed(&record->state), pin);

		BT_REQUIRE(entered);
	}
}

void bt_intern_hold_again(struct bt_intern *intern, uint32_t name)
{
	enter_known(intern, name, false);
}

void bt_intern_pin(struct bt_intern *intern, uint32_t name)
{
	enter_known(intern, name, true);
}

/* ---- going ---- */

/* Empties a slot and moves what stands behind it up, so that no search ends too early. Context: the shard's
 * lock is held. */
static void take_out(struct shard *shard, uint32_t tag, uint32_t name)
{
	struct table *table = bt_load_relaxed(&shard->table);
	uint32_t mask = table->mask, hole = tag & mask;
	uint64_t moves = bt_load_relaxed(&shard->moves), slot;

	while (bt_load_relaxed(&table->slots[hole]) != ((uint64_t)tag << 32 | name)) {
		hole = (hole + 1) & mask;
	}
	bt_store_relaxed(&shard->moves, moves + 1);
	for (uint32_t at = (hole + 1) & mask; (slot = bt_load_relaxed(&table->slots[at]));
		at = (at + 1) & mask) {
		if (((at - (uint32_t)(slot >> 32)) & mask) >= ((at - hole) & mask)) {
			/* EDGE intern.moves release: who sees it here sees that slots are being moved. */
			bt_store_release(&table->slots[hole], slot);
			BT_RACE_POINT("intern.take_out.moved");
			hole = at;
		}
	}
	bt_store_release(&table->slots[hole], 0);
	bt_store_release(&shard->moves, moves + 2);
}

/* The last holder goes, if it still is the last one. Context: the shard's lock is held. */
static bool drop(struct shard *shard, uint32_t name, struct record *record)
{
	uint64_t last = bt_load_relaxed(&record->state);
	size_t len = bt_load_relaxed(&record->len);
	uint32_t class;

	/* EDGE intern.state: acquires what other holders did before they left, and ends the generation. */
	if ((uint32_t)last != 1 || !bt_cas(&record->state, &last, last - 1 + GENERATION)) {
		return false;
	}
	BT_RACE_POINT("intern.drop.ended");
	take_out(shard, record->tag, name);
	if (len > SHORT_MAX) {
		return_long(shard, long_text(record), len);
	}
	places_of(len, &class);
	record->tag = shard->free_names[class];
	shard->free_names[class] = name;
	bt_store_relaxed(&shard->count, bt_load_relaxed(&shard->count) - 1);
	return true;
}

void bt_intern_release(struct bt_intern *intern, uint32_t name)
{
	if (name == BT_NAME_NONE) {
		return;
	}
	struct record *record = record_of(intern, name);
	uint64_t state = bt_load_relaxed(&record->state);
	while (!(state & PINNED)) {
		BT_REQUIRE(state & HOLDERS);
		if ((state & HOLDERS) > 1) {
			if (bt_cas(&record->state, &state, state - 1)) {
				return;
			}
			continue;
		}
		struct shard *shard = shard_of(intern, record->tag);
		bt_lock_acquire(&shard->lock);
		bool dropped = drop(shard, name, record);
		bt_lock_release(&shard->lock);
		if (dropped) {
			return;
		}
		state = bt_load_relaxed(&record->state);
	}
}

/* ---- the whole ---- */

static void add_fixed(struct bt_intern *intern, uint32_t name)
{
	struct bt_str s = bt_str(fixed_names[name]);
	uint32_t tag = tag_of(intern, s);

	BT_REQUIRE(words_of(s.len) * sizeof(text_word) + PLACE_BYTES <= sizeof(intern->fixed[name].bytes));
	fill(shard_of(intern, tag), name, record_of(intern, name), tag, s, PINNED);
}

struct bt_intern *bt_intern_create(void)
{
	struct bt_intern *intern = bt_mem_column(1, sizeof(*intern));

	intern->salt = bt_load_relaxed(&salt);

	for (uint32_t i = 0; i < SHARD_N; i++) {
		bt_lock_init(&intern->shards[i].lock);
		bt_store_relaxed(&intern->shards[i].table, make_table(FIRST_SLOTS, NULL));
	}
	/* Runs keep to the chunks' borders. The numbers in the first one are taken. */
	bt_store_relaxed(&intern->end, RUN_N);
	for (uint32_t name = 1; name < BT_NAME_FIXED_N; name++) {
		add_fixed(intern, name);
	}
	return intern;
}

void bt_intern_shuffle(uint32_t seed)
{
	/* Strings that share a shard come in their usual order; most do not, and shards take turns as they
	 * come. */
	bt_store_relaxed(&salt, seed ? (uint32_t)bt_hash_u64(seed) : 0);
}

void bt_intern_destroy(struct bt_intern *intern)
{
	if (!intern) {
		return;
	}
	for (uint32_t i = 0; i < SHARD_N; i++) {
		struct shard *shard = &intern->shards[i];

		for (struct table *next, *table = bt_load_relaxed(&shard->table); table; table = next) {
			next = table->outgrown;
			bt_mem_free(table);
		}
		bt_arena_fini(&shard->arena);
		bt_lock_fini(&shard->lock);
	}
	for (uint32_t i = 0; i < CHUNK_N; i++) {
		bt_mem_free(bt_load_relaxed(&intern->chunks[i]));
	}
	bt_mem_free(intern);
}
