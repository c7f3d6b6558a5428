/* SPDX-License-Identifier: Apache-2.0
 * The ends of pods that are being deleted: a heap.
 */
#include "tools/offline/simulate/terminations.h"

#include <stdbool.h>
#include <string.h>

#include "cache/ledger.h"
#include "engine/base/mem.h"

struct bt_end {
	int64_t at_ns;
	uint64_t order;
	uint32_t pod_ix;
};

static bool sooner(const struct bt_end *a, const struct bt_end *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void push(struct bt_terminations *ends, struct bt_end end)
{
	ends->heap = bt_mem_grow(ends->heap, ends->n, &ends->cap, sizeof(*ends->heap));

	size_t i = ends->n++;
	for (; i && sooner(&end, &ends->heap[(i - 1) / 2]); i = (i - 1) / 2) {
		ends->heap[i] = ends->heap[(i - 1) / 2];
	}
	ends->heap[i] = end;
}

static void pop(struct bt_terminations *ends)
{
	struct bt_end last = ends->heap[--ends->n];
	size_t i = 0;

	for (size_t child = 1; child < ends->n; child = 2 * i + 1) {
		child += child + 1 < ends->n && sooner(&ends->heap[child + 1], &ends->heap[child]);
		if (!sooner(&ends->heap[child], &last)) {
			break;
		}
		ends->heap[i] = ends->heap[child];
		i = child;
	}
	if (ends->n) {
		ends->heap[i] = last;
	}
}

void bt_terminations_add(struct bt_terminations *ends, uint32_t pod_ix, int64_t at_ns)
{
	while (pod_ix >= ends->pod_n) {
		size_t old = ends->pod_n;

		ends->orders = bt_mem_grow(ends->orders, old, &ends->pod_n, sizeof(*ends->orders));
		memset(ends->orders + old, 0, (ends->pod_n - old) * sizeof(*ends->orders));
	}
	ends->pending_n += ends->orders[pod_ix] == 0;
	ends->orders[pod_ix] = ++ends->order_n;
	push(ends, (struct bt_end){at_ns, ends->order_n, pod_ix});
}

bool bt_terminations_has(const struct bt_terminations *ends, uint32_t pod_ix)
{
	return pod_ix < ends->pod_n && ends->orders[pod_ix] != 0;
}

void bt_terminations_drop(struct bt_terminations *ends, uint32_t pod_ix)
{
	if (pod_ix < ends->pod_n && ends->orders[pod_ix]) {
		ends->orders[pod_ix] = 0;
		ends->pending_n--;
	}
}

size_t bt_terminations_count(const struct bt_terminations *ends)
{
	return ends->pending_n;
}

int64_t bt_terminations_next(struct bt_terminations *ends)
{
	while (ends->n && ends->orders[ends->heap[0].pod_ix] != ends->heap[0].order) {
		pop(ends);
	}
	return ends->n ? ends->heap[0].at_ns : INT64_MAX;
}

uint32_t bt_terminations_take(struct bt_terminations *ends, int64_t now_ns)
{
	if (bt_terminations_next(ends) > now_ns || ends->n == 0) {
		return BT_NO_POD;
	}
	uint32_t pod_ix = ends->heap[0].pod_ix;
	pop(ends);
	bt_terminations_drop(ends, pod_ix);
	return pod_ix;
}

void bt_terminations_fini(struct bt_terminations *ends)
{
	bt_mem_free(ends->heap);
	bt_mem_free(ends->orders);
}
