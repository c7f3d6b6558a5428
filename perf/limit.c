/* SPDX-License-Identifier: Apache-2.0
 * The placement speed limit of this machine: a bare scheduler for pods that request only cpu and memory, to
 * compare with `placement` in the same run. It has the exact scores (LeastAllocated in 64-bit integers,
 * BalancedAllocation in doubles), the engine's tie rule, and per signature a bitmap of nodes for each score;
 * it has no queue, no other plugins, no names, and no observers. Before it is measured it is compared with
 * itself without bitmaps. The argument is the number of nodes; pods are those of `placement`.
 */
#include <math.h>
#include <string.h>

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "suites.h"

#define SEED	      1
#define PODS_PER_NODE 20
#define PODS_MAX      10000000
#define PODS_ALLOC    110
#define BATCH	      100
#define LEVELS	      4	  /* 64 to the power of this are nodes enough */
#define SCORES	      202 /* 0: does not fit; else 1 + both scores */
#define MIB	      ((int64_t)1 << 20)
#define NO_NODE	      UINT32_MAX
#define CHECKED_NODES 300
#define CHECKED_PODS  8000 /* some are refused */

/* Both resources, cpu in thousandths and memory in bytes. */
struct plain_amounts {
	int64_t of[2];
};

struct plain_node {
	struct plain_amounts alloc, used;
	uint32_t pod_n;
};

/* Nodes by score. A bit of a level above is set when the word below it is not empty. */
struct buckets {
	uint32_t at[LEVELS]; /* where a level begins in a row */
	uint32_t row_words;
	uint64_t *rows;
	uint32_t counts[SCORES];
	uint64_t present[(SCORES + 63) / 64];
};

struct signature {
	struct plain_amounts request;
	uint8_t *score;
	struct buckets buckets;
	uint32_t journal_at;
};

struct limit {
	struct plain_node *nodes;
	struct signature *signatures;
	uint32_t *journal; /* the nodes of placed pods, in order */
	uint32_t node_n, signature_n, pod_n;
	uint32_t placed_n; /* since the last reset */
	uint64_t cycle_n;
};

/* ---- scores ---- */

static inline int64_t balance(const struct plain_node *node, const int64_t *used)
{
	double cpu = (double)used[0] / (double)node->alloc.of[0];
	double memory = (double)used[1] / (double)node->alloc.of[1];

	return (int64_t)((1 - fabs((cpu - memory) / 2)) * 100);
}

/* Source: leastResourceScorer and balancedResourceScorer, v1.36.3. */
static inline uint8_t score(const struct plain_node *node, const struct plain_amounts *request)
{
	const int64_t *alloc = node->alloc.of, *used = node->used.of;
	const int64_t after[2] = {used[0] + request->of[0], used[1] + request->of[1]};

	if (after[0] > alloc[0] || after[1] > alloc[1] || node->pod_n >= PODS_ALLOC) {
		return 0;
	}
	int64_t least = ((alloc[0] - after[0]) * 100 / alloc[0] + (alloc[1] - after[1]) * 100 / alloc[1]) / 2;
	int64_t gain = 50 + (50 + balance(node, after) - balance(node, used)) / 2;
	return (uint8_t)(1 + least + gain);
}

/* ---- buckets ---- */

static void insert(struct buckets *buckets, uint32_t node, uint8_t value)
{
	uint64_t *row = buckets->rows + (size_t)value * buckets->row_words;

	for (int level = 0; level < LEVELS; level++, node /= 64) {
		uint64_t *word = &row[buckets->at[level] + node / 64], before = *word;

		*word |= (uint64_t)1 << (node % 64);
		if (before) {
			break;
		}
	}
	if (buckets->counts[value]++ == 0) {
		buckets->present[value / 64] |= (uint64_t)1 << (value % 64);
	}
}

static void take_out(struct buckets *buckets, uint32_t node, uint8_t value)
{
	uint64_t *row = buckets->rows + (size_t)value * buckets->row_words;

	for (int level = 0; level < LEVELS; level++, node /= 64) {
		uint64_t *word = &row[buckets->at[level] + node / 64];

		*word &= ~((uint64_t)1 << (node % 64));
		if (*word) {
			break;
		}
	}
	if (--buckets->counts[value] == 0) {
		buckets->present[value / 64] &= ~((uint64_t)1 << (value % 64));
	}
}

static uint32_t highest(const struct buckets *buckets)
{
	for (int word = (SCORES + 63) / 64 - 1; word >= 0; word--) {
		if (buckets->present[word]) {
			return (uint32_t)word * 64 + 63 - (uint32_t)__builtin_clzll(buckets->present[word]);
		}
	}
	return 0;
}

/* The first node of a score at or after start, or NO_NODE. */
static uint32_t first_from(const struct buckets *buckets, uint32_t value, uint32_t start)
{
	const uint64_t *row = buckets->rows + (size_t)value * buckets->row_words;
	uint32_t at = start;

	for (int level = 0; level < LEVELS; level++) {
		/* A start after a level's last bit is in the next word, which is zero. */
		uint64_t bits = row[buckets->at[level] + at / 64] & ~(uint64_t)0 << (at % 64);

		if (bits) {
			at = at / 64 * 64 + (uint32_t)__builtin_ctzll(bits);
			while (level-- > 0) {
				at = at * 64 + (uint32_t)__builtin_ctzll(row[buckets->at[level] + at]);
			}
			return at;
		}
		at = at / 64 + 1;
	}
	return NO_NODE;
}

static uint32_t first_of(const struct buckets *buckets, uint32_t value, uint32_t start)
{
	uint32_t node = first_from(buckets, value, start);

	return node != NO_NODE ? node : first_from(buckets, value, 0);
}

static void make_buckets(struct buckets *buckets, uint32_t node_n)
{
	uint32_t words = node_n;

	for (int level = 0; level < LEVELS; level++) {
		words = words / 64 + 1;
		buckets->at[level] = buckets->row_words;
		buckets->row_words += words + 1;
	}
	buckets->rows = bt_mem_zalloc((size_t)SCORES * buckets->row_words, sizeof(*buckets->rows));
}

/* ---- placing ---- */

static void rekey(struct limit *l, struct signature *s, uint32_t node)
{
	uint8_t before = s->score[node], after = score(&l->nodes[node], &s->request);

	if (before == after) {
		return;
	}
	if (before) {
		take_out(&s->buckets, node, before);
	}
	if (after) {
		insert(&s->buckets, node, after);
	}
	s->score[node] = after;
}

static void assume(struct limit *l, const struct signature *s, uint32_t node)
{
	l->nodes[node].used.of[0] += s->request.of[0];
	l->nodes[node].used.of[1] += s->request.of[1];
	l->nodes[node].pod_n++;
	l->journal[l->placed_n++] = node;
}

static uint32_t draw(struct limit *l)
{
	return bt_rng_scale(bt_rng_at(SEED, l->cycle_n++), l->node_n);
}

/* Places the next pod: signatures take turns. Returns its node, or NO_NODE. */
static uint32_t place(struct limit *l, uint32_t pod)
{
	struct signature *s = &l->signatures[pod % l->signature_n];

	for (; s->journal_at != l->placed_n; s->journal_at++) {
		rekey(l, s, l->journal[s->journal_at]);
	}
	uint32_t best = highest(&s->buckets), start = draw(l);
	if (!best) {
		return NO_NODE;
	}
	uint32_t node = first_of(&s->buckets, best, start);
	assume(l, s, node);
	return node;
}

/* The same by scanning all nodes. */
static uint32_t place_plainly(struct limit *l, uint32_t pod)
{
	const struct signature *s = &l->signatures[pod % l->signature_n];
	uint32_t start = draw(l), best = NO_NODE;
	uint8_t best_score = 0;

	for (uint32_t i = 0; i < l->node_n; i++) {
		uint32_t node = (start + i) % l->node_n;
		uint8_t it = score(&l->nodes[node], &s->request);

		if (it > best_score) {
			best = node;
			best_score = it;
		}
	}
	if (best != NO_NODE) {
		assume(l, s, best);
	}
	return best;
}

/* Removes all pods. */
static void give_back(struct limit *l)
{
	for (uint32_t i = 0; i < l->node_n; i++) {
		l->nodes[i].used = (struct plain_amounts){{0, 0}};
		l->nodes[i].pod_n = 0;
	}
	for (uint32_t k = 0; k < l->signature_n; k++) {
		struct signature *s = &l->signatures[k];

		for (uint32_t i = 0; i < l->node_n; i++) {
			rekey(l, s, i);
		}
		s->journal_at = 0;
	}
	l->placed_n = 0;
	l->cycle_n = 0;
}

static void begin(struct limit *l, uint32_t node_n, uint32_t signature_n)
{
	static const int64_t cores[4] = {16, 32, 64, 96}, gib[4] = {64, 256, 256, 768};
	uint64_t pod_n = (uint64_t)node_n * PODS_PER_NODE;

	*l = (struct limit){.node_n = node_n, .signature_n = signature_n};
	l->pod_n = pod_n < PODS_MAX ? (uint32_t)pod_n : PODS_MAX;
	l->nodes = bt_mem_column(node_n, sizeof(*l->nodes));
	l->signatures = bt_mem_zalloc(signature_n, sizeof(*l->signatures));
	l->journal = bt_mem_zalloc(l->pod_n > CHECKED_PODS ? l->pod_n : CHECKED_PODS, sizeof(*l->journal));
	for (uint32_t i = 0; i < node_n; i++) {
		struct bt_rng rng = {.state = i};
		uint32_t machine = bt_rng_below(&rng, 4);

		l->nodes[i].alloc =
			(struct plain_amounts){{cores[machine] * 1000, gib[machine] * 1024 * MIB}};
	}
	for (uint32_t k = 0; k < signature_n; k++) {
		uint32_t few = k * 7 % 36;

		l->signatures[k].request =
			(struct plain_amounts){{100 + 150 * (few % 6), (128 << few / 6) * MIB}};
		l->signatures[k].score = bt_mem_zalloc(node_n, sizeof(*l->signatures[k].score));
		make_buckets(&l->signatures[k].buckets, node_n);
	}
	give_back(l);
}

static void end(struct limit *l)
{
	for (uint32_t k = 0; k < l->signature_n; k++) {
		bt_mem_free(l->signatures[k].score);
		bt_mem_free(l->signatures[k].buckets.rows);
	}
	bt_mem_free(l->signatures);
	bt_mem_free(l->journal);
	bt_mem_free(l->nodes);
}

/* Do the bitmaps give the same placements as a scan of all nodes? Continues until nodes are full. */
static bool agrees(uint32_t signature_n)
{
	struct limit a, b;
	bool same = true;

	begin(&a, CHECKED_NODES, signature_n);
	begin(&b, CHECKED_NODES, signature_n);
	for (uint32_t i = 0; i < CHECKED_NODES; i++) {
		a.nodes[i].alloc.of[0] = b.nodes[i].alloc.of[0] /= 32;
	}
	give_back(&a);
	for (uint32_t i = 0; i < CHECKED_PODS && same; i++) {
		same = place(&a, i) == place_plainly(&b, i);
	}
	same &= a.placed_n < CHECKED_PODS;
	end(&a);
	end(&b);
	return same;
}

/* Places all pods, removes them off the clock, and repeats. */
static void measure(struct bt_bench *bench, uint32_t signature_n)
{
	uint32_t pod = 0, refused_n = 0;
	struct limit l;

	if (!agrees(signature_n)) {
		bt_bench_skip(bench, "places other than by looking at every node");
		return;
	}
	begin(&l, (uint32_t)bt_bench_arg(bench), signature_n);
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		if (pod + BATCH > l.pod_n) {
			bt_bench_pause(bench);
			give_back(&l);
			pod = 0;
			bt_bench_resume(bench);
		}
		for (uint32_t stop = pod + BATCH; pod < stop; pod++) {
			refused_n += place(&l, pod) == NO_NODE;
		}
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_bench_counter(bench, "refused", refused_n);
	end(&l);
}

static void one_signature(struct bt_bench *bench)
{
	measure(bench, 1);
}

static void ten_signatures(struct bt_bench *bench)
{
	measure(bench, 10);
}

#define NODE_ARGS .args = {1000, 5000, 20000, 100000, 1000000}, .arg_n = 5

static const struct bt_bench_case cases[] = {
	{.name = "one_signature", .run = one_signature, NODE_ARGS},
	{.name = "ten_signatures", .run = ten_signatures, NODE_ARGS},
};

const struct bt_bench_suite bt_bench_limit = {
	.name = "limit", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
