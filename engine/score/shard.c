/* SPDX-License-Identifier: Apache-2.0
 * Shards of node slots, and placement of their memory.
 */
#include "engine/score/shard.h"
#include "engine/base/check.h"

/* With larger pages the borders between shards move up to the next page. */
#define PAGE_BYTES 4096

struct bt_shard bt_shard_of(uint32_t slot_n, uint32_t step, uint32_t worker, uint32_t worker_n)
{
	uint64_t steps = ((uint64_t)slot_n + step - 1) / step;
	uint64_t first = steps * worker / worker_n * step, end = steps * (worker + 1) / worker_n * step;

	BT_INVARIANT(worker < worker_n && first <= end);
	return (struct bt_shard){
		(uint32_t)(first < slot_n ? first : slot_n), (uint32_t)(end < slot_n ? end : slot_n)};
}

void bt_shards_place(
	const struct bt_shards *shards, const void *array, size_t each_bytes, uint32_t each_slots)
{
	uint32_t worker_n = bt_team_size(shards->team);
	uintptr_t begin = (uintptr_t)array, from = begin;
	uintptr_t whole = begin + (shards->slot_n + each_slots - 1) / each_slots * each_bytes;

	for (uint32_t i = 0; array && i < worker_n; i++) {
		struct bt_shard shard = bt_shard_of(shards->slot_n, shards->step, i, worker_n);
		uintptr_t end = begin + shard.end / each_slots * each_bytes;
		uintptr_t to = (end + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);

		to = i + 1 < worker_n && to < whole ? to : whole;
		if (to > from) {
			bt_team_bind_memory(shards->team, i, (void *)from, to - from);
			from = to;
		}
	}
}
