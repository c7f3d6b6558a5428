/* SPDX-License-Identifier: Apache-2.0
 * A binary heap of timers.
 */
#include "tools/cluster/net/timers_int.h"

#include "engine/base/mem.h"

void bt_timers_fini(struct bt_timers *timers)
{
	bt_mem_free(timers->items);
	*timers = (struct bt_timers){0};
}

static bool is_before(const struct bt_timer *a, const struct bt_timer *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->number < b->number;
}

static void insert(struct bt_timers *timers, struct bt_timer timer)
{
	size_t i = timers->n++;

	for (; i && is_before(&timer, &timers->items[(i - 1) / 2]); i = (i - 1) / 2) {
		timers->items[i] = timers->items[(i - 1) / 2];
	}
	timers->items[i] = timer;
}

void bt_timers_add(struct bt_timers *timers, int64_t due_ns, void (*call)(void *context), void *context)
{
	struct bt_timer timer = {due_ns, timers->timer_n++, call, context};

	timers->items = bt_mem_grow(timers->items, timers->n, &timers->cap_n, sizeof(*timers->items));
	insert(timers, timer);
}

/* While it runs, the array before timer i is a heap of those that stay. */
void bt_timers_forget(struct bt_timers *timers, const void *context)
{
	size_t n = timers->n;

	timers->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct bt_timer timer = timers->items[i];

		if (timer.context != context) {
			insert(timers, timer);
		}
	}
}

int64_t bt_timers_due_ns(const struct bt_timers *timers)
{
	return timers->n ? timers->items[0].due_ns : INT64_MAX;
}

bool bt_timers_take(struct bt_timers *timers, int64_t now_ns, struct bt_timer *out_timer)
{
	if (bt_timers_due_ns(timers) > now_ns || !timers->n) {
		return false;
	}
	*out_timer = timers->items[0];
	struct bt_timer last = timers->items[--timers->n];
	size_t i = 0;

	for (size_t child = 1; child < timers->n; child = 2 * i + 1) {
		if (child + 1 < timers->n && is_before(&timers->items[child + 1], &timers->items[child])) {
			child++;
		}
		if (!is_before(&timers->items[child], &last)) {
			break;
		}
		timers->items[i] = timers->items[child];
		i = child;
	}
	timers->items[i] = last;
	return true;
}
