/* SPDX-License-Identifier: Apache-2.0
 * The order of victims. Upstream sorts them by sort.Slice, which is not stable: where pods are equally
 * important, its pattern-defeating quicksort and the input order decide. This is that algorithm step by step,
 * so that ties end alike. Source: sort.Slice, Go 1.26, and MoreImportantPod, v1.36.3; MoreImportantVictim,
 * v1.37.2.
 */
#include "engine/base/check.h"
#include "plugins/default_preemption/default_preemption.h"

#define INSERTION_MAX 12 /* shorter ranges are sorted by insertion */
#define NINTHER_MIN   50 /* longer ranges take the median of medians */
#define SHIFT_MIN     50 /* longer ranges are repaired when nearly sorted */
#define SHIFT_STEPS   5
#define BALANCE	      8 /* a part below 1/BALANCE of the range is unbalanced */
#define NINTHER_SWAPS 12

enum victim_order_pattern { UNKNOWN = 0, INCREASING, DECREASING };

/*
 * Priority, then pods of groups before others, larger groups before smaller ones, then age. A pod that has
 * not started counts as started now. Upstream reads the clock for each side of a comparison, so the first is
 * always the older one. From 1.37 on it reads the clock once for each pod of a node, in their order.
 */
static bool before(const struct bt_victim *v, int64_t i, int64_t j)
{
	const struct bt_victim *x = &v[i], *y = &v[j];

	if (x->priority != y->priority) {
		return x->priority > y->priority;
	}
	if (x->grouped != y->grouped) {
		return x->grouped;
	}
	if (x->composite != y->composite) {
		return x->composite;
	}
	if (x->pod_n != y->pod_n) {
		return x->pod_n > y->pod_n;
	}
	if (!x->start_ns && !y->start_ns) {
		return !x->place || x->place < y->place;
	}
	if (!x->start_ns || !y->start_ns) {
		return !y->start_ns;
	}
	return x->start_ns < y->start_ns;
}

static void swap(struct bt_victim *v, int64_t i, int64_t j)
{
	BT_INVARIANT(i >= 0 && j >= 0);
	struct bt_victim x = v[i];

	v[i] = v[j];
	v[j] = x;
}

/* Moves an element down until its predecessor does not sort after it; not beyond floor. */
static void sink(struct bt_victim *v, int64_t at, int64_t floor)
{
	BT_INVARIANT(at >= floor);
	for (; at > floor && before(v, at, at - 1); at--) {
		swap(v, at, at - 1);
	}
}

static void sort_by_insertion(struct bt_victim *v, int64_t from, int64_t to)
{
	for (int64_t i = from + 1; i < to; i++) {
		sink(v, i, from);
	}
}

static void sift_down(struct bt_victim *v, int64_t root, int64_t n, int64_t from)
{
	for (int64_t child; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n && before(v, from + child, from + child + 1)) {
			child++;
		}
		if (!before(v, from + root, from + child)) {
			return;
		}
		swap(v, from + root, from + child);
	}
}

static void sort_by_heap(struct bt_victim *v, int64_t from, int64_t to)
{
	int64_t n = to - from;

	for (int64_t i = (n - 1) / 2; i >= 0; i--) {
		sift_down(v, i, n, from);
	}
	for (int64_t i = n - 1; i >= 0; i--) {
		swap(v, from, from + i);
		sift_down(v, 0, i, from);
	}
}

/* ---- pivots ---- */

static void order_two(const struct bt_victim *v, int64_t *a, int64_t *b, int *swap_n)
{
	if (before(v, *b, *a)) {
		int64_t x = *a;

		*a = *b;
		*b = x;
		(*swap_n)++;
	}
}

static int64_t median(const struct bt_victim *v, int64_t a, int64_t b, int64_t c, int *swap_n)
{
	order_two(v, &a, &b, swap_n);
	order_two(v, &b, &c, swap_n);
	order_two(v, &a, &b, swap_n);
	return b;
}

static int64_t choose_pivot(
	const struct bt_victim *v, int64_t from, int64_t to, enum victim_order_pattern *out_pattern)
{
	int64_t quarter = (to - from) / 4, at[3];
	int swap_n = 0;

	for (int i = 0; i < 3; i++) {
		at[i] = from + quarter * (i + 1);
		if (to - from >= NINTHER_MIN) {
			at[i] = median(v, at[i] - 1, at[i], at[i] + 1, &swap_n);
		}
	}
	int64_t pivot = median(v, at[0], at[1], at[2], &swap_n);
	*out_pattern = swap_n == 0 ? INCREASING : swap_n == NINTHER_SWAPS ? DECREASING : UNKNOWN;
	BT_INVARIANT(pivot >= from && pivot < to);
	return pivot;
}

/* Scatters three elements around the middle, after a split that was unbalanced. */
static void break_patterns(struct bt_victim *v, int64_t from, int64_t to)
{
	uint64_t n = (uint64_t)(to - from), random = n, mask = 1;

	while (mask <= n) {
		mask *= 2;
	}
	for (int64_t at = from + (int64_t)(n / 4 * 2) - 1, end = at + 3; at < end; at++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		uint64_t other = random & (mask - 1);
		swap(v, at, from + (int64_t)(other >= n ? other - n : other));
	}
}

/* ---- partitions ---- */

/* Moves elements that sort before the pivot in front of it. Returns the pivot's new place. */
static int64_t split(struct bt_victim *v, int64_t from, int64_t to, int64_t pivot, bool *out_was_split)
{
	int64_t i = from + 1, j = to - 1;

	*out_was_split = true;
	swap(v, from, pivot);
	for (;;) {
		while (i <= j && before(v, i, from)) {
			i++;
		}
		while (i <= j && !before(v, j, from)) {
			j--;
		}
		if (i > j) {
			break;
		}
		*out_was_split = false;
		swap(v, i++, j--);
	}
	swap(v, j, from);
	BT_INVARIANT(j >= from && j < to);
	return j;
}

/* No element sorts before the pivot: moves its equals to the front. Returns where the others begin. */
static int64_t split_equals(struct bt_victim *v, int64_t from, int64_t to, int64_t pivot)
{
	int64_t i = from + 1, j = to - 1;

	swap(v, from, pivot);
	for (;;) {
		while (i <= j && !before(v, from, i)) {
			i++;
		}
		while (i <= j && before(v, from, j)) {
			j--;
		}
		if (i > j) {
			BT_INVARIANT(i > from && i <= to);
			return i;
		}
		swap(v, i++, j--);
	}
}

/* Swaps a few pairs that are out of order. Returns whether the range is sorted then. */
static bool insert_few(struct bt_victim *v, int64_t from, int64_t to)
{
	int64_t i = from + 1;

	for (int step = 0; step < SHIFT_STEPS; step++) {
		while (i < to && !before(v, i, i - 1)) {
			i++;
		}
		if (i == to) {
			return true;
		}
		if (to - from < SHIFT_MIN) {
			return false;
		}
		swap(v, i, i - 1);
		if (i - from >= 2) {
			/* Upstream continues below the range. */
			sink(v, i - 1, 0);
		}
		for (int64_t at = i + 1; to - i >= 2 && at < to && before(v, at, at - 1); at++) {
			swap(v, at, at - 1);
		}
	}
	return false;
}

static void reverse(struct bt_victim *v, int64_t from, int64_t to)
{
	BT_INVARIANT(from <= to);
	for (int64_t i = from, j = to - 1; i < j;) {
		swap(v, i++, j--);
	}
}

/* ---- the sort ---- */

static void sort_range(struct bt_victim *v, int64_t from, int64_t to, int limit)
{
	bool balanced = true, was_split = true;

	while (to - from > INSERTION_MAX) {
		enum victim_order_pattern pattern;

		if (limit == 0) {
			sort_by_heap(v, from, to);
			return;
		}
		if (!balanced) {
			break_patterns(v, from, to);
			limit--;
		}
		int64_t pivot = choose_pivot(v, from, to, &pattern);
		if (pattern == DECREASING) {
			reverse(v, from, to);
			pivot = to - 1 - (pivot - from);
			pattern = INCREASING;
		}
		BT_INVARIANT(pivot >= from && pivot < to);
		if (balanced && was_split && pattern == INCREASING && insert_few(v, from, to)) {
			return;
		}
		if (from > 0 && !before(v, from - 1, pivot)) {
			from = split_equals(v, from, to, pivot);
			continue;
		}
		int64_t length = to - from, middle = split(v, from, to, pivot, &was_split);
		BT_INVARIANT(middle >= from && middle < to);
		if (middle - from < to - middle) {
			balanced = middle - from >= length / BALANCE;
			sort_range(v, from, middle, limit);
			from = middle + 1;
		} else {
			balanced = to - middle >= length / BALANCE;
			sort_range(v, middle + 1, to, limit);
			to = middle;
		}
	}
	sort_by_insertion(v, from, to);
}

void bt_victims_sort(struct bt_victim *victims, uint32_t n)
{
	int limit = 0;

	for (uint32_t rest = n; rest; rest /= 2) {
		limit++;
	}
	sort_range(victims, 0, n, limit);
}
