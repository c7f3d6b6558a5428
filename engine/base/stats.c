/* SPDX-License-Identifier: Apache-2.0
 * Sets of counters. The lock guards the list of blocks and what is left of threads that ended, so that a sum
 * counts each increment once; counting itself takes no lock.
 */
#include "engine/base/stats.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"

struct bt_stats_set {
	const struct bt_counter *counters; /* init: */
	uint32_t counter_n;		   /* init: */
	struct bt_lock lock;
	struct bt_stats *first; /* lock(lock): */
	uint64_t *ended;	/* lock(lock): sums of the threads that left */
	uint64_t *scratch;	/* lock(lock): one thread's values */
};

struct bt_stats_set *bt_stats_create(const struct bt_counter *counters, uint32_t counter_n)
{
	struct bt_stats_set *set = bt_mem_zalloc(1, sizeof(*set));

	*set = (struct bt_stats_set){
		.counters = counters,
		.counter_n = counter_n,
		.ended = bt_mem_zalloc(counter_n, sizeof(uint64_t)),
		.scratch = bt_mem_zalloc(counter_n, sizeof(uint64_t)),
	};
	bt_lock_init(&set->lock);
	return set;
}

void bt_stats_destroy(struct bt_stats_set *set)
{
	if (set) {
		BT_REQUIRE(!set->first);
		bt_lock_fini(&set->lock);
		bt_mem_free(set->ended);
		bt_mem_free(set->scratch);
		bt_mem_free(set);
	}
}

struct bt_stats *bt_stats_join(struct bt_stats_set *set, const char *name)
{
	struct bt_stats *stats =
		bt_mem_column(1, sizeof(*stats) + set->counter_n * sizeof(stats->counters[0]));

	stats->set = set;
	stats->name = bt_mem_copy(name, strlen(name));
	bt_lock_acquire(&set->lock);
	stats->next = set->first;
	stats->link = &set->first;
	if (stats->next) {
		stats->next->link = &stats->next;
	}
	set->first = stats;
	bt_lock_release(&set->lock);
	return stats;
}

static void add(uint64_t *sums, const struct bt_stats *stats)
{
	for (uint32_t i = 0; i < stats->set->counter_n; i++) {
		sums[i] += bt_load_relaxed(&stats->counters[i]);
	}
}

void bt_stats_leave(struct bt_stats **stats)
{
	struct bt_stats *mine = *stats;

	if (!mine) {
		return;
	}
	bt_lock_acquire(&mine->set->lock);
	add(mine->set->ended, mine);
	*mine->link = mine->next;
	if (mine->next) {
		mine->next->link = mine->link;
	}
	bt_lock_release(&mine->set->lock);
	bt_mem_free(mine->name);
	bt_mem_free(mine);
	*stats = NULL;
}

void bt_stats_read(struct bt_stats_set *set, uint64_t *out_values)
{
	bt_lock_acquire(&set->lock);
	memcpy(out_values, set->ended, set->counter_n * sizeof(*out_values));
	for (const struct bt_stats *stats = set->first; stats; stats = stats->next) {
		add(out_values, stats);
	}
	bt_lock_release(&set->lock);
}

void bt_stats_visit(struct bt_stats_set *set,
	void (*visit)(void *context, const char *thread, const uint64_t *values), void *context)
{
	bt_lock_acquire(&set->lock);
	for (const struct bt_stats *stats = set->first; stats; stats = stats->next) {
		memset(set->scratch, 0, set->counter_n * sizeof(*set->scratch));
		add(set->scratch, stats);
		visit(context, stats->name, set->scratch);
	}
	visit(context, "ended", set->ended);
	bt_lock_release(&set->lock);
}

void bt_stats_rows(struct bt_stats_set *set, struct bt_buf *out_text)
{
	uint64_t *values = bt_mem_zalloc(set->counter_n, sizeof(*values));

	bt_stats_read(set, values);
	for (uint32_t i = 0; i < set->counter_n; i++) {
		bt_buf_printf(out_text, "%s\t%llu\t%s\t%s\n", set->counters[i].name,
			(unsigned long long)values[i], set->counters[i].unit, set->counters[i].help);
	}
	bt_mem_free(values);
}
