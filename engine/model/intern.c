/* SPDX-License-Identifier: Apache-2.0
 * Strings to small integers: shards by hash, each an open addressing table of (hash, number); a number is the
 * place of a record, which stores the text. See "why this is safe" below.
 */
#include "engine/model/intern.h"

#include <stdalign.h>

#include "engine/base/arena.h"
#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/testpoint.h"
#include "engine/base/thread.h"

/*
 * Why a table of our own. Among 1,000 names, a lookup in liburcu's cds_lfht and ck_ht is as fast (31 and 32
 * ns; here 32). Adding and removing a name costs 195 ns in cds_lfht and 79 here, and cds_lfht needs a grace
 * period before the memory is free; ck_ht has one writer, and does not track when a name may be freed. Here
 * any thread may call, whether or not it is registered with RCU.
 */

/*
 * Why this is safe. All memory that readers access is atomic, and mapped until the dictionary is destroyed:
 * tables (one of each size is kept, and reused when the shard has that size again), and places of records and
 * of long texts, which are reused for the same size. Empty memory may become zero at any time (I7): its pages
 * are returned to the kernel, its addresses stay mapped. So a reader may race with a writer; it has to detect
 * that.
 *
 * A hit: a record's state contains a generation, which is incremented when the last holder leaves, before any
 * other part of the record changes. Afterwards a writer stores the length and words of a new text with
 * release; a reader that loads them with acquire then sees the new generation (EDGE intern.text). So while
 * the generation is unchanged, text and number belong together. A holder enters by a compare and swap of the
 * whole state, generation included: it cannot get a freed record or another string.
 *
 * A miss: adding repeats the lookup under the shard's lock. bt_intern_find trusts a miss if no slot of the
 * shard was moved meanwhile, which `moves` counts (EDGE intern.moves); else it repeats the lookup under the
 * lock, too. A replaced table is not changed until it is reused or zeroed, which counts as a move. A name
 * missed there before that was added after the table was read, or was removed meanwhile: at some time during
 * the call it was absent.
 *
 * The memory of a run of places is freed when none of its records is held. Later generations of its places
 * are above all earlier ones, and none is 0, the value in zeroed memory.
 *
 * bt_intern_str uses plain reads: a holder got the name through the slot (EDGE intern.slot) or from another
 * holder, and the next string is written after the last holder's release (EDGE intern.state).
 */

#define SHARD_BITS	4
#define SHARD_N		(1u << SHARD_BITS)
#define FIRST_SLOTS	64
#define FIRST_CHUNK_LOG 10 /* in places */
#define CHUNK_N		(32 - FIRST_CHUNK_LOG)
#define RUN_N		256 /* places that a shard takes at once: a page */
#define NO_RUN		UINT32_MAX
#define SWEPT_RUNS	16   /* a shard of fewer runs keeps them */
#define SWEPT_DROPS	32   /* dropped names per run before a sweep */
#define EMPTY_PART	4    /* sweep when more of the runs is empty, or less of the places is used */
#define PAGED_SLOTS	8192 /* tables of at least this size have their own pages */
#define KEPT_SLOTS	1024 /* tables do not shrink below this size */
#define SPARSE_PART	16   /* larger ones shrink when less than 1/SPARSE_PART of the slots is used */

/* State, from the high bits down: generation, pinned bit, number of holders. */
#define GENERATION (UINT64_C(1) << 32)
#define PINNED	   (UINT64_C(1) << 31)
#define HOLDERS	   (PINNED - 1)

typedef _Atomic uint64_t text_word;

/* A place is as large as a record without its text. */
struct intern_record {
	_Atomic uint64_t state;
	_Atomic uint32_t len;
	uint32_t tag;	  /* part of its hash; of a free record: the next free one */
	text_word text[]; /* followed by at least one zero; of a long text: its address */
};

#define PLACE_BYTES sizeof(struct intern_record)

/* Texts up to this size are stored in the record; the record's size is its class. */
#define SHORT_MAX     255
#define SHORT_CLASSES ((SHORT_MAX + 1) / PLACE_BYTES + 2)
#define LONG_CLASSES  33 /* by powers of two */

/* A record for a name with a fixed number, which is not a place. */
struct fixed_record {
	alignas(16) unsigned char bytes[PLACE_BYTES + 48];
};

/* Slots: tag << 32 | number, or 0. */
struct intern_table {
	uint32_t mask; /* init: */
	bool used;     /* some slot may be nonzero; changed under the lock */
	_Atomic uint64_t slots[];
};

/* Places that a shard has allocated together. Changed under its lock. */
struct place_run {
	uint32_t next;	  /* of the shard, newest first */
	uint32_t empty;	  /* the shard's next run with freed memory, or NO_RUN */
	uint16_t live_n;  /* records that are held */
	uint16_t place_n; /* places that have been records */
	bool given_back;
};

struct shard {
	alignas(BT_CACHELINE) _Atomic(struct intern_table *) table; /* own cache line: read often */
	/* Changed under the lock, like all below. */
	alignas(BT_CACHELINE) _Atomic uint64_t moves; /* odd while slots are being moved */
	_Atomic uint32_t count;
	uint32_t run, run_end;	      /* unused places */
	uint32_t runs, empty_runs;    /* list heads, or NO_RUN */
	uint32_t run_n, empty_n;      /* runs with memory; of them, runs without held records */
	uint32_t live_places, drop_n; /* names dropped since the last sweep */
	uint64_t generation;	      /* of records at new or reclaimed places */
	struct bt_lock lock;
	uint32_t free_names[SHORT_CLASSES];  /* records by class; long ones by 0 */
	text_word *free_texts[LONG_CLASSES]; /* the first word is the link to the next */
	struct bt_arena arena;		     /* long texts */
	struct intern_table *tables[32];     /* by the logarithm of their slots; NULL: none yet */
};

struct bt_intern {
	struct shard shards[SHARD_N];
	struct fixed_record fixed[BT_NAME_FIXED_N];
	uint32_t salt;					 /* init: mixed into tags */
	_Atomic uint32_t end;				 /* the next unallocated place */
	_Atomic(struct intern_record *) chunks[CHUNK_N]; /* of places */
	_Atomic(struct place_run *) runs[CHUNK_N];	 /* of the same places */
};

static _Atomic uint32_t salt; /* for the next dictionary */

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

static size_t table_bytes(uint32_t slot_n)
{
	size_t bytes = sizeof(struct intern_table) + slot_n * sizeof(_Atomic uint64_t);

	return slot_n < PAGED_SLOTS ? bytes : (bytes + BT_MEM_PAGE - 1) / BT_MEM_PAGE * BT_MEM_PAGE;
}

static struct intern_table *make_table(uint32_t slot_n)
{
	BT_INVARIANT(slot_n > 0 && (slot_n & (slot_n - 1)) == 0);
	size_t bytes = table_bytes(slot_n);
	struct intern_table *table = slot_n < PAGED_SLOTS ? bt_mem_zalloc(1, bytes) : bt_mem_reserve(bytes);

	bt_mem_take_pages(slot_n < PAGED_SLOTS ? 0 : bytes);
	table->mask = slot_n - 1;
	table->used = true;
	return table;
}

static void end_table(struct intern_table *table)
{
	uint32_t slot_n = table ? table->mask + 1 : 0;
	size_t bytes = table_bytes(slot_n);

	if (slot_n < PAGED_SLOTS) {
		bt_mem_free(table);
	} else {
		bt_mem_unreserve(table, bytes, table->used ? bytes : BT_MEM_PAGE);
	}
}

/* Frees the memory of a table that is not current, except its first page. */
static void empty_table(struct intern_table *table)
{
	uint32_t slot_n = table->mask + 1;

	if (slot_n >= PAGED_SLOTS &&
		bt_mem_give_pages((char *)table + BT_MEM_PAGE, table_bytes(slot_n) - BT_MEM_PAGE)) {
		for (uint32_t i = 0; i < (BT_MEM_PAGE - sizeof(*table)) / sizeof(table->slots[0]); i++) {
			bt_store_release(&table->slots[i], 0);
		}
		table->used = false;
	}
}

/* A table of that size whose slots are all 0. */
static struct intern_table *ready_table(struct shard *shard, uint32_t slot_n)
{
	struct intern_table **at = &shard->tables[31 - __builtin_clz(slot_n)];

	if (!*at) {
		*at = make_table(slot_n);
		return *at;
	}
	for (uint32_t i = 0; (*at)->used && i < slot_n; i++) {
		bt_store_release(&(*at)->slots[i], 0);
	}
	if (!(*at)->used) {
		bt_mem_take_pages(table_bytes(slot_n) - BT_MEM_PAGE);
	}
	(*at)->used = true;
	return *at;
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
	BT_INVARIANT(log >= FIRST_CHUNK_LOG && log - FIRST_CHUNK_LOG < CHUNK_N);
	return log - FIRST_CHUNK_LOG;
}

/* EDGE intern.chunk acquire: the places are zeroes before the pointer to them is seen. */
static struct intern_record *record_of(const struct bt_intern *intern, uint32_t name)
{
	uint32_t ix, chunk = chunk_of(name, &ix);

	if (BT_UNLIKELY(name < BT_NAME_FIXED_N)) {
		return (struct intern_record *)(uintptr_t)intern->fixed[name].bytes;
	}
	return &bt_load_acquire(&intern->chunks[chunk])[ix];
}

static size_t chunk_places(uint32_t chunk)
{
	return (size_t)1 << (chunk + FIRST_CHUNK_LOG);
}

/* Other threads may do the same concurrently. */
static void provide_chunk(struct bt_intern *intern, uint32_t place)
{
	uint32_t ix, chunk = chunk_of(place, &ix);
	size_t bytes = chunk_places(chunk) * PLACE_BYTES;
	struct intern_record *none = NULL;
	struct place_run *no_runs = NULL;

	if (bt_load_acquire(&intern->chunks[chunk])) {
		return;
	}
	struct place_run *runs = bt_mem_zalloc(chunk_places(chunk) / RUN_N, sizeof(*runs));
	/* EDGE intern.runs release. */
	if (!bt_cas(&intern->runs[chunk], &no_runs, runs)) {
		bt_mem_free(runs); /* another shard was first */
	}
	struct intern_record *made = bt_mem_reserve(bytes);
	/* EDGE intern.chunk release. */
	if (!bt_cas(&intern->chunks[chunk], &none, made)) {
		bt_mem_unreserve(made, bytes, 0);
	}
}

/* The run of a place. EDGE intern.runs acquire. Context: the lock of its shard is held. */
static struct place_run *run_of(const struct bt_intern *intern, uint32_t place)
{
	uint32_t ix, chunk = chunk_of(place, &ix);

	return &bt_load_acquire(&intern->runs[chunk])[ix / RUN_N];
}

/* ---- texts ---- */

/* The bytes after the last whole word of s, in a word padded with zero bytes. */
static uint64_t tail_of(struct bt_str s)
{
	size_t n = s.len % sizeof(uint64_t);
	const char *bytes = n ? s.ptr + (s.len - n) : NULL;
	uint64_t word = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* memcpy of so few bytes would be a call. */
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

/* EDGE intern.text release: the generation is incremented before a word changes. */
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

/* The address of a long text. */
static text_word *long_text(const struct intern_record *record)
{
	return (text_word *)(uintptr_t)bt_load_acquire(&record->text[0]);
}

/* A long text that can be freed is in a block of 2^n words. */
static uint32_t long_class(size_t len)
{
	BT_INVARIANT(len > SHORT_MAX);
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

	BT_INVARIANT(class < LONG_CLASSES);
	bt_store_release(text, (uint64_t)(uintptr_t)shard->free_texts[class]);
	shard->free_texts[class] = text;
}

/* The number of places of a text's record, and its class. */
static uint32_t places_of(size_t len, uint32_t *out_class)
{
	if (len > SHORT_MAX) {
		*out_class = 0;
		return 2;
	}
	*out_class = 1 + (uint32_t)((words_of(len) * sizeof(text_word) + PLACE_BYTES - 1) / PLACE_BYTES);
	BT_INVARIANT(*out_class < SHORT_CLASSES);
	return *out_class;
}

/* ---- lookup ---- */

/* Is it the string's record? Sets the state that was compared. */
static bool matches(const struct intern_record *record, struct bt_str s, uint64_t *out_state)
{
	/* EDGE intern.state acquire: makes the generation's text visible. */
	uint64_t state = bt_load_acquire(&record->state);
	const text_word *text = record->text;

	if (!(uint32_t)state || bt_load_acquire(&record->len) != s.len) {
		return false;
	}
	if (BT_UNLIKELY(s.len > SHORT_MAX)) {
		text = long_text(record);
		if (bt_load_relaxed(&record->state) / GENERATION != state / GENERATION) {
			return false; /* the record may be too short to read */
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
	const struct intern_table *table = bt_load_acquire(&shard->table);

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
	/* EDGE intern.moves acquire: a thread that sees a slot moved later also sees a new count. */
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
	const struct intern_record *record = record_of(intern, name);
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

/* ---- adding ---- */

/* Adds a holder, or pins, if the generation is still that of state. Returns whether it is. */
static bool intern_enter(struct intern_record *record, uint64_t state, bool pin)
{
	uint64_t generation = state / GENERATION;

	while (state / GENERATION == generation && (uint32_t)state) {
		/* A pinned name needs no holders. */
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

/* Stores a number in the slot of its tag. Context: the table's writer. */
static void intern_put(struct intern_table *table, uint64_t slot)
{
	uint32_t at = (uint32_t)(slot >> 32) & table->mask;

	while (bt_load_relaxed(&table->slots[at])) {
		at = (at + 1) & table->mask;
	}
	/* EDGE intern.slot release. */
	bt_store_release(&table->slots[at], slot);
}

/*
 * Replaces the shard's table by one of another size. A reused table is filled while readers may use it: they
 * repeat a miss under the lock. Context: the shard's lock is held.
 */
static void change_table(struct shard *shard, uint32_t slot_n)
{
	struct intern_table *old = bt_load_relaxed(&shard->table);
	uint64_t moves = bt_load_relaxed(&shard->moves);

	BT_INVARIANT(slot_n > bt_load_relaxed(&shard->count) && moves % 2 == 0);
	/*
	 * EDGE intern.moves release: whoever sees a slot stored below also sees that slots are being moved.
	 */
	bt_store_relaxed(&shard->moves, moves + 1);
	struct intern_table *new = ready_table(shard, slot_n);
	for (uint32_t i = 0; i <= old->mask; i++) {
		uint64_t slot = bt_load_relaxed(&old->slots[i]);

		if (slot) {
			intern_put(new, slot);
		}
	}
	BT_TESTPOINT("intern.change_table.filled");
	/* EDGE intern.table release. */
	bt_store_release(&shard->table, new);
	empty_table(old);
	bt_store_release(&shard->moves, moves + 2);
}

/* Fills a record, and enters it in its shard. Context: the shard's lock is held. */
static void fill(struct shard *shard, uint32_t name, struct intern_record *record, uint32_t tag,
	struct bt_str s, uint64_t holders)
{
	uint32_t count = bt_load_relaxed(&shard->count) + 1;
	BT_INVARIANT(name != BT_NAME_NONE && !(uint32_t)bt_load_relaxed(&record->state));
	text_word *text = record->text;

	if (s.len > SHORT_MAX) {
		text = take_long(shard, s.len);
		bt_store_release(&record->text[0], (uint64_t)(uintptr_t)text);
	}
	write_text(text, s);
	bt_store_release(&record->len, (uint32_t)s.len);
	record->tag = tag;
	BT_TESTPOINT("intern.fill.text");
	/* EDGE intern.state release: the text is written before the generation has a holder. */
	bt_store_release(&record->state, bt_load_relaxed(&record->state) + holders);
	if (count * 2 > bt_load_relaxed(&shard->table)->mask) {
		change_table(shard, (bt_load_relaxed(&shard->table)->mask + 1) * 2);
	}
	intern_put(bt_load_relaxed(&shard->table), (uint64_t)tag << 32 | name);
	bt_store_relaxed(&shard->count, count);
	BT_INVARIANT(count <= bt_load_relaxed(&shard->table)->mask);
}

/*
 * Allocates places for the shard: a run with freed memory, or a new one. Context: the shard's lock is held.
 */
static void take_run(struct bt_intern *intern, struct shard *shard)
{
	if (shard->empty_runs != NO_RUN) {
		shard->run = shard->empty_runs;
		shard->empty_runs = run_of(intern, shard->run)->empty;
		run_of(intern, shard->run)->given_back = false;
	} else {
		shard->run = bt_add_relaxed(&intern->end, RUN_N);
		BT_REQUIRE(shard->run < UINT32_MAX - SHARD_N * RUN_N);
		provide_chunk(intern, shard->run);
		run_of(intern, shard->run)->next = shard->runs;
		shard->runs = shard->run;
	}
	shard->run_end = shard->run + RUN_N;
	shard->run_n++;
	bt_mem_take_pages(RUN_N * PLACE_BYTES);
}

/* Allocates a number for a text of that length. Context: the shard's lock is held. */
static uint32_t take_name(struct bt_intern *intern, struct shard *shard, size_t len)
{
	uint32_t class, places = places_of(len, &class), name = shard->free_names[class];

	if (name != BT_NAME_NONE) {
		shard->free_names[class] = record_of(intern, name)->tag;
	} else {
		if (shard->run_end - shard->run < places) {
			take_run(intern, shard);
		}
		name = shard->run;
		BT_INVARIANT(shard->run + places <= shard->run_end);
		shard->run += places;
		bt_store_relaxed(&record_of(intern, name)->state, shard->generation);
	}
	struct place_run *run = run_of(intern, name);
	uint16_t end = (uint16_t)(name % RUN_N + places);
	shard->empty_n -= run->live_n++ == 0 && run->place_n > 0;
	run->place_n = end > run->place_n ? end : run->place_n;
	BT_INVARIANT(run->place_n <= RUN_N && run->live_n <= run->place_n);
	shard->live_places += places;
	return name;
}

static uint32_t obtain(struct bt_intern *intern, struct bt_str s, bool pin)
{
	uint32_t tag = tag_of(intern, s);
	struct shard *shard = shard_of(intern, tag);
	uint64_t state = 0;
	uint32_t name = look_up(intern, shard, tag, s, &state);

	BT_TESTPOINT("intern.obtain.found");
	if (name != BT_NAME_NONE && intern_enter(record_of(intern, name), state, pin)) {
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
		bool entered = intern_enter(record_of(intern, name), state, pin);

		BT_INVARIANT(entered);
	}
	bt_lock_release(&shard->lock);
	return name;
}

void bt_intern_prefetch(const struct bt_intern *intern, struct bt_str s)
{
	uint32_t tag = tag_of(intern, s);
	struct shard *shard = shard_of(intern, tag);
	const struct intern_table *table = bt_load_acquire(&shard->table);

	__builtin_prefetch((const void *)&table->slots[tag & table->mask], 1);
	__builtin_prefetch((const void *)&shard->moves, 1);
	__builtin_prefetch(shard->free_names, 1);
}

void bt_intern_prefetch_name(const struct bt_intern *intern, uint32_t name)
{
	__builtin_prefetch(record_of(intern, name), 1);
}

void bt_intern_prefetch_release(const struct bt_intern *intern, uint32_t name)
{
	BT_REQUIRE_HOT(bt_load_relaxed(&record_of(intern, name)->state) & (PINNED | HOLDERS));
	uint32_t tag = record_of(intern, name)->tag;
	const struct intern_table *table = bt_load_acquire(&shard_of(intern, tag)->table);

	__builtin_prefetch((const void *)&table->slots[tag & table->mask], 1);
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
	BT_REQUIRE_HOT(name != BT_NAME_NONE && name < bt_load_relaxed(&intern->end));
	struct intern_record *record = record_of(intern, name);
	bool entered = intern_enter(record, bt_load_relaxed(&record->state), pin);

	BT_REQUIRE(entered);
}

void bt_intern_hold_known(struct bt_intern *intern, uint32_t name)
{
	enter_known(intern, name, false);
}

void bt_intern_pin(struct bt_intern *intern, uint32_t name)
{
	if (name != BT_NAME_NONE) {
		enter_known(intern, name, true);
	}
}

/* ---- removing ---- */

/* Empties a slot and shifts later slots back, so that no probe ends too early. Context: the shard's
 * lock is held. */
static void take_out(struct shard *shard, uint32_t tag, uint32_t name)
{
	struct intern_table *table = bt_load_relaxed(&shard->table);
	uint32_t mask = table->mask, hole = tag & mask;
	uint64_t moves = bt_load_relaxed(&shard->moves), slot;

	BT_INVARIANT(moves % 2 == 0 && bt_load_relaxed(&shard->count) > 0);
	while (bt_load_relaxed(&table->slots[hole]) != ((uint64_t)tag << 32 | name)) {
		hole = (hole + 1) & mask;
	}
	bt_store_relaxed(&shard->moves, moves + 1);
	for (uint32_t at = (hole + 1) & mask; (slot = bt_load_relaxed(&table->slots[at]));
		at = (at + 1) & mask) {
		if (((at - (uint32_t)(slot >> 32)) & mask) >= ((at - hole) & mask)) {
			/*
			 * EDGE intern.moves release: whoever sees it here also sees that slots are being
			 * moved.
			 */
			bt_store_release(&table->slots[hole], slot);
			BT_TESTPOINT("intern.take_out.moved");
			hole = at;
		}
	}
	bt_store_release(&table->slots[hole], 0);
	bt_store_release(&shard->moves, moves + 2);
}

/* Puts a record on the free list of its class. */
static void free_record(struct shard *shard, uint32_t name, struct intern_record *record, uint32_t class)
{
	BT_INVARIANT(class < SHORT_CLASSES && !(uint32_t)bt_load_relaxed(&record->state));
	record->tag = shard->free_names[class];
	shard->free_names[class] = name;
}

/* The highest generation in a run without held records. */
static uint64_t last_generation(const struct bt_intern *intern, uint32_t begin, uint32_t place_n)
{
	BT_INVARIANT(place_n <= RUN_N);
	uint64_t last = 0;
	uint32_t class;

	for (uint32_t at = 0; at < place_n;) {
		const struct intern_record *record = record_of(intern, begin + at);
		uint64_t generation = bt_load_relaxed(&record->state) & ~(GENERATION - 1);

		last = generation > last ? generation : last;
		at += places_of(bt_load_relaxed(&record->len), &class);
	}
	return last;
}

/* Frees the memory of a run if none of its records is held. Returns whether its memory is freed. */
static bool give_back(struct bt_intern *intern, struct shard *shard, uint32_t begin, struct place_run *run)
{
	if (run->live_n || run->given_back) {
		return run->given_back;
	}
	uint64_t generation = last_generation(intern, begin, run->place_n) + GENERATION;
	if (!bt_mem_give_pages(record_of(intern, begin), RUN_N * PLACE_BYTES)) {
		return false;
	}
	shard->generation = generation > shard->generation ? generation : shard->generation;
	run->place_n = 0;
	run->given_back = true;
	run->empty = shard->empty_runs;
	shard->empty_runs = begin;
	BT_INVARIANT(shard->run_n > 0 && shard->empty_n > 0);
	shard->run_n--;
	shard->empty_n--;
	return true;
}

/*
 * Frees empty runs, and orders free records so that the oldest runs are reused first: the newest ones become
 * empty. Context: the shard's lock is held.
 */
static void sweep(struct bt_intern *intern, struct shard *shard)
{
	uint32_t class, filling = shard->run ? (shard->run_end - RUN_N) : NO_RUN;

	memset(shard->free_names, 0, sizeof(shard->free_names));
	shard->drop_n = 0;
	for (uint32_t begin = shard->runs; begin != NO_RUN; begin = run_of(intern, begin)->next) {
		struct place_run *run = run_of(intern, begin);

		if (begin != filling && give_back(intern, shard, begin, run)) {
			continue;
		}
		for (uint32_t at = 0; at < run->place_n;) {
			struct intern_record *record = record_of(intern, begin + at);
			uint32_t places = places_of(bt_load_relaxed(&record->len), &class);

			if (!(uint32_t)bt_load_relaxed(&record->state)) {
				free_record(shard, begin + at, record, class);
			}
			at += places;
		}
	}
}

/* Shrinks a sparse shard. Context: the shard's lock is held. */
static void shrink(struct bt_intern *intern, struct shard *shard)
{
	uint32_t slot_n = bt_load_relaxed(&shard->table)->mask + 1;

	if (slot_n > KEPT_SLOTS && bt_load_relaxed(&shard->count) < slot_n / SPARSE_PART) {
		change_table(shard, slot_n / 4);
	}
	bool sparse = shard->drop_n >= shard->run_n * SWEPT_DROPS &&
		      shard->live_places < (uint64_t)shard->run_n * RUN_N / EMPTY_PART;
	if (shard->run_n >= SWEPT_RUNS && (sparse || shard->empty_n > shard->run_n / EMPTY_PART)) {
		sweep(intern, shard);
	}
}

/* Drops the last holder, if it still is the last one. Context: the shard's lock is held. */
static bool drop(struct bt_intern *intern, struct shard *shard, uint32_t name, struct intern_record *record)
{
	uint64_t last = bt_load_relaxed(&record->state);
	size_t len = bt_load_relaxed(&record->len);
	uint32_t class;

	/* EDGE intern.state: acquires the accesses of earlier holders, and ends the generation. */
	if ((uint32_t)last != 1 || !bt_cas(&record->state, &last, last - 1 + GENERATION)) {
		return false;
	}
	BT_TESTPOINT("intern.drop.ended");
	take_out(shard, record->tag, name);
	if (len > SHORT_MAX) {
		return_long(shard, long_text(record), len);
	}
	BT_INVARIANT(shard->live_places >= places_of(len, &class));
	shard->live_places -= places_of(len, &class);
	free_record(shard, name, record, class);
	BT_INVARIANT(run_of(intern, name)->live_n > 0);
	shard->empty_n += --run_of(intern, name)->live_n == 0;
	shard->drop_n++;
	bt_store_relaxed(&shard->count, bt_load_relaxed(&shard->count) - 1);
	shrink(intern, shard);
	return true;
}

void bt_intern_release_known(struct bt_intern *intern, uint32_t name)
{
	BT_REQUIRE_HOT(name != BT_NAME_NONE && name < bt_load_relaxed(&intern->end));
	struct intern_record *record = record_of(intern, name);
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
		bool dropped = drop(intern, shard, name, record);
		bt_lock_release(&shard->lock);
		if (dropped) {
			return;
		}
		state = bt_load_relaxed(&record->state);
	}
}

/* ---- creation and destruction ---- */

static void add_fixed(struct bt_intern *intern, uint32_t name)
{
	BT_INVARIANT(name < BT_NAME_FIXED_N && fixed_names[name]);
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
		struct shard *shard = &intern->shards[i];

		shard->runs = shard->empty_runs = NO_RUN;
		shard->generation = GENERATION;
		bt_store_relaxed(&shard->table, ready_table(shard, FIRST_SLOTS));
	}
	/* Runs do not cross chunk boundaries. The numbers in the first one are reserved. */
	bt_store_relaxed(&intern->end, RUN_N);
	for (uint32_t name = 1; name < BT_NAME_FIXED_N; name++) {
		add_fixed(intern, name);
	}
	return intern;
}

void bt_intern_shuffle(uint32_t seed)
{
	/* Changes which strings share a shard, and with it the order in which they get numbers. */
	bt_store_relaxed(&salt, seed ? (uint32_t)bt_hash_u64(seed) : 0);
}

void bt_intern_destroy(struct bt_intern *intern)
{
	size_t taken_n = 0;

	if (!intern) {
		return;
	}
	for (uint32_t i = 0; i < SHARD_N; i++) {
		struct shard *shard = &intern->shards[i];

		for (size_t k = 0; k < sizeof(shard->tables) / sizeof(shard->tables[0]); k++) {
			end_table(shard->tables[k]);
		}
		taken_n += shard->run_n;
		bt_arena_fini(&shard->arena);
		bt_lock_fini(&shard->lock);
	}
	for (uint32_t i = 0; i < CHUNK_N; i++) {
		bt_mem_unreserve(bt_load_relaxed(&intern->chunks[i]), chunk_places(i) * PLACE_BYTES,
			i ? 0 : taken_n * RUN_N * PLACE_BYTES);
		bt_mem_free(bt_load_relaxed(&intern->runs[i]));
	}
	bt_mem_free(intern);
}
