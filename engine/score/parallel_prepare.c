/* SPDX-License-Identifier: Apache-2.0
 * Prepares columns and blocks in shards.
 */
#include "engine/score/parallel_prepare.h"

#include <string.h>

#include "cache/node_view.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/score/topology_pick.h"
#include "engine/score/scan.h"

/* Measured on a server core of 2022, in picoseconds; a wrong number only costs time. */
#define JOURNAL_PS   12000 /* a node in the journal: gather, evaluate, put */
#define EVALUATE_PS  1500  /* a node of a column that is rebuilt */
#define SCAN_PS	     200   /* one node's total */
#define HAND_OVER_NS 3000  /* a job to spinning workers and back, with the cold caches that follow */

/* Arrays by node slot in a view: some exist once, and two once per resource. */
#define NODE_ARRAYS_ONE 3
#define NODE_ARRAYS	(NODE_ARRAYS_ONE + 2 * BT_FIRST_RARE)

/* They are placed again after growth by 1/GROWN_PART. */
#define GROWN_PART 8

/* The bitmaps of indexes are bound value by value, with a limited number of memory mappings; a kernel allows
 * 65,530. Indexes beyond that are not placed. */
#define INDEX_RANGES 16384

/* A column that plans of the batch need. */
struct need {
	struct bt_column *column;
	const uint64_t *mask;
	bool ready; /* it has a round */
	bool fresh; /* the round makes the mask's nodes current */
	struct bt_column_round round;
};

struct bt_parallel_prepare {
	struct bt_team *team;
	bool always, spans_nodes;
	uint32_t worker_n, step;
	const struct bt_view *view;
	uint64_t batch; /* number of the present batch */
	struct need *needs;
	size_t need_n, need_cap;
	struct bt_plan **plans; /* whose blocks to update */
	size_t plan_n, plan_cap;
	struct bt_column_found *found; /* by need, then by worker */
	size_t found_cap;
	struct bt_parallel_prepare_counts counts;
	const void *placed[NODE_ARRAYS]; /* the placed arrays of nodes */
	uint32_t placed_slot_n;
	uint64_t ranges_version; /* snapshot version of the indexes counted in ranges */
	uint32_t ranges;	 /* page ranges of placed indexes */
};

int64_t bt_parallel_prepare_gain_ns(int64_t work_ns, uint32_t worker_n)
{
	BT_REQUIRE_HOT(worker_n > 0);
	return work_ns - work_ns / worker_n - HAND_OVER_NS;
}

struct bt_parallel_prepare *bt_parallel_prepare_create(struct bt_team *team, bool always)
{
	BT_REQUIRE(team);
	struct bt_parallel_prepare *warm = bt_mem_zalloc(1, sizeof(*warm));

	warm->team = team;
	warm->worker_n = bt_team_size(team);
	warm->always = always;
	warm->spans_nodes = bt_team_spans_nodes(team);
	warm->step = warm->spans_nodes ? BT_SHARD_STEP_PAGES : BT_SHARD_STEP;
	return warm;
}

void bt_parallel_prepare_destroy(struct bt_parallel_prepare *warm)
{
	if (!warm) {
		return;
	}
	bt_mem_free(warm->needs);
	bt_mem_free(warm->plans);
	bt_mem_free(warm->found);
	bt_mem_free(warm);
}

void bt_parallel_prepare_begin(struct bt_parallel_prepare *warm, const struct bt_view *view)
{
	warm->view = view;
	warm->batch++;
	warm->need_n = warm->plan_n = 0;
	warm->counts.batch_n++;
}

static void add_column(struct bt_parallel_prepare *warm, struct bt_column *column, const uint64_t *mask)
{
	if (column->batch == warm->batch) {
		struct need *need = &warm->needs[column->need_ix];
		BT_INVARIANT(need->column == column);

		need->mask = need->mask == mask ? mask : NULL;
		return;
	}
	column->batch = warm->batch;
	column->need_ix = (uint32_t)warm->need_n;
	warm->needs = bt_mem_grow(warm->needs, warm->need_n, &warm->need_cap, sizeof(*warm->needs));
	warm->needs[warm->need_n++] = (struct need){.column = column, .mask = mask};
}

static void place_column(const struct bt_shards *shards, struct bt_column *column)
{
	bt_shards_place(shards, column->value, sizeof(*column->value), 1);
	bt_shards_place(shards, column->stale, sizeof(*column->stale), 64);
	column->placed = true;
}

static void place_plan(const struct bt_shards *shards, struct bt_plan *plan)
{
	bt_shards_place(shards, plan->base, sizeof(*plan->base), 1);
	bt_shards_place(shards, plan->block_best, sizeof(*plan->block_best), BT_SCAN_STEP);
	plan->placed = true;
}

/* An index is rebuilt from time to time, mostly in the same memory: it counts once. */
static void place_index(
	struct bt_parallel_prepare *warm, const struct bt_shards *shards, struct bt_column *column)
{
	uint64_t version = warm->view->snapshot->layout_version;
	uint32_t ranges = bt_index_ranges(&column->index, shards);

	if (warm->ranges_version != version) {
		warm->ranges_version = version;
		warm->ranges = 0;
	}
	if (column->ranges || warm->ranges + ranges <= INDEX_RANGES) {
		warm->ranges += column->ranges ? 0 : ranges;
		column->ranges = ranges;
		bt_index_place(&column->index, shards);
	}
}

/* The masks of groups, of all groups, and of the top ones are contiguous. A plan for pods with nominations
 * shares all but the last. */
static void place_groups(const struct bt_shards *shards, struct bt_plan *plan)
{
	uint32_t shared_n = plan->yields ? 0 : plan->group_n;

	for (uint32_t i = 0; plan->masks && i < shared_n; i++) {
		bt_shards_place(shards, plan->masks + i * plan->word_n, sizeof(*plan->masks), 64);
	}
	bt_shards_place(shards, plan->top, sizeof(*plan->top), 64);
	bt_shards_place(shards, plan->yields ? NULL : plan->group, sizeof(*plan->group), 1);
	plan->groups_placed = true;
}

/* Places data that only the scheduling thread uses, by shard like the rest. */
static void place_kept(struct bt_parallel_prepare *warm, struct bt_plan *plan)
{
	const struct bt_shards shards = {warm->team, warm->view->snapshot->slot_n, warm->step};

	if (plan->usage->indexed && !plan->usage->index.placed) {
		place_index(warm, &shards, plan->usage);
	}
	if (!plan->groups_placed) {
		place_groups(&shards, plan);
	}
	if (plan->counted) {
		bt_topology_pick_place(plan->counted, &shards);
	}
	if (plan->usage->nominations && !plan->usage->placed) {
		place_column(&shards, plan->usage);
	}
	if (plan->usage->nominations && plan->base && !plan->placed) {
		place_plan(&shards, plan);
	}
}

void bt_parallel_prepare_add(struct bt_parallel_prepare *warm, struct bt_plan *plan)
{
	if (plan->batch == warm->batch || !plan->columns || plan->usage->out_of_range ||
		plan->usage->nominations ||
		(plan->refused && plan->release_n == bt_plan_releases(plan, warm->view->usage))) {
		return;
	}
	plan->batch = warm->batch;
	for (struct bt_plan *p = warm->spans_nodes ? plan : NULL; p; p = p->yielding) {
		place_kept(warm, p);
	}
	add_column(warm, plan->usage, plan->counted ? plan->any : bt_plan_mask(plan, warm->view));
	if (!plan->counted && plan->base_filled && !plan->usage->indexed) {
		warm->plans =
			bt_mem_grow(warm->plans, warm->plan_n, &warm->plan_cap, sizeof(struct bt_plan *));
		warm->plans[warm->plan_n++] = plan;
	}
}

/* The part of one thread's work that shards can take over. */
static int64_t work_ns(const struct bt_parallel_prepare *warm)
{
	const struct bt_usage *usage = warm->view->usage;
	int64_t slot_n = warm->view->snapshot->slot_n, ps = (int64_t)warm->plan_n * slot_n * SCAN_PS;

	for (size_t i = 0; i < warm->need_n; i++) {
		const struct bt_column *column = warm->needs[i].column;
		uint64_t behind = usage->journal_end - column->journal_at;
		bool all_stale = !column->built || behind > (uint64_t)slot_n;

		if (!column->indexed) {
			ps += all_stale ? slot_n * EVALUATE_PS : (int64_t)behind * JOURNAL_PS;
		}
	}
	return ps / 1000;
}

static void work(void *context, uint32_t worker)
{
	struct bt_parallel_prepare *warm = context;
	uint32_t slot_n = warm->view->snapshot->slot_n;
	struct bt_shard shard = bt_shard_of(slot_n, warm->step, worker, warm->worker_n);
	BT_INVARIANT(shard.first <= shard.end && shard.end <= slot_n);

	for (size_t i = 0; i < warm->need_n; i++) {
		if (warm->needs[i].ready) {
			bt_column_round_shard(&warm->needs[i].round, shard.first, shard.end,
				&warm->found[i * warm->worker_n + worker]);
		}
	}
	for (size_t i = 0; i < warm->plan_n; i++) {
		const struct bt_plan *plan = warm->plans[i];

		bt_scan_blocks(plan->usage->value, plan->base, shard.first / BT_SCAN_STEP,
			bt_scan_padded(shard.end) / BT_SCAN_STEP, plan->block_best);
	}
}

/* Places usage and allocatable when they have moved or many nodes were added. */
static void place_nodes(struct bt_parallel_prepare *warm, const struct bt_shards *shards)
{
	const struct bt_snapshot *snapshot = warm->view->snapshot;
	const struct bt_usage *usage = warm->view->usage;
	const void *arrays[NODE_ARRAYS] = {usage->ports, usage->nodes, snapshot->rooms};
	static const size_t each_bytes[NODE_ARRAYS_ONE] = {
		sizeof(*usage->ports), sizeof(*usage->nodes), sizeof(*snapshot->rooms)};
	bool grown = shards->slot_n - warm->placed_slot_n > warm->placed_slot_n / GROWN_PART;

	memcpy(arrays + NODE_ARRAYS_ONE, usage->scalars, sizeof(usage->scalars));
	memcpy(arrays + NODE_ARRAYS_ONE + BT_FIRST_RARE, snapshot->scalars, sizeof(snapshot->scalars));
	for (uint32_t i = 0; i < NODE_ARRAYS; i++) {
		if (arrays[i] != warm->placed[i] || grown) {
			bt_shards_place(
				shards, arrays[i], i < NODE_ARRAYS_ONE ? each_bytes[i] : sizeof(int64_t), 1);
			warm->placed[i] = arrays[i];
		}
	}
	warm->placed_slot_n = grown ? shards->slot_n : warm->placed_slot_n;
}

/* Places each worker's shard near it. */
static void place(struct bt_parallel_prepare *warm)
{
	const struct bt_shards shards = {warm->team, warm->view->snapshot->slot_n, warm->step};

	place_nodes(warm, &shards);
	for (size_t i = 0; i < warm->need_n; i++) {
		if (!warm->needs[i].column->placed) {
			place_column(&shards, warm->needs[i].column);
		}
	}
	for (size_t i = 0; i < warm->plan_n; i++) {
		if (!warm->plans[i]->placed) {
			place_plan(&shards, warm->plans[i]);
		}
	}
}

/* Prepares the array of blocks for its shards: those of slots that were taken back belong to none. */
static void prepare_blocks(struct bt_plan *plan, uint32_t slot_n)
{
	size_t room_n = bt_scan_padded(plan->slot_room) / BT_SCAN_STEP,
	       block_n = bt_scan_padded(slot_n) / BT_SCAN_STEP;

	if (!plan->block_best) {
		plan->block_best = bt_mem_column(room_n, sizeof(*plan->block_best));
	}
	for (size_t i = block_n; i < room_n; i++) {
		plan->block_best[i] = 0;
	}
}

static void prepare(struct bt_parallel_prepare *warm)
{
	size_t kept = 0;

	for (size_t i = 0; i < warm->need_n; i++) {
		struct need *need = &warm->needs[i];

		need->ready = bt_column_round_begin(&need->round, need->column, warm->view, need->mask);
		need->fresh = need->ready || bt_column_is_current(need->column, warm->view, need->mask);
		warm->counts.column_n += need->ready;
	}
	for (size_t i = 0; i < warm->plan_n; i++) {
		struct bt_plan *plan = warm->plans[i];

		if (!warm->needs[plan->usage->need_ix].fresh) {
			continue;
		}
		prepare_blocks(plan, warm->view->snapshot->slot_n);
		BT_INVARIANT(kept <= i);
		warm->plans[kept++] = plan;
	}
	warm->plan_n = kept;
	warm->counts.plan_n += kept;
	if (warm->found_cap < warm->need_n * warm->worker_n) {
		warm->found_cap = 2 * warm->need_n * warm->worker_n;
		warm->found = bt_mem_realloc(warm->found, warm->found_cap, sizeof(*warm->found));
	}
}

static void finish(struct bt_parallel_prepare *warm)
{
	for (size_t i = 0; i < warm->need_n; i++) {
		if (warm->needs[i].ready) {
			BT_INVARIANT(i * warm->worker_n < warm->found_cap);
			bt_column_round_end(
				&warm->needs[i].round, warm->found + i * warm->worker_n, warm->worker_n);
		}
	}
	for (size_t i = 0; i < warm->plan_n; i++) {
		warm->plans[i]->blocks_known = true;
		warm->plans[i]->blocks_at = warm->view->usage->journal_end;
	}
}

bool bt_parallel_prepare_run(struct bt_parallel_prepare *warm)
{
	if (warm->need_n == 0 ||
		(!warm->always && bt_parallel_prepare_gain_ns(work_ns(warm), warm->worker_n) <= 0)) {
		return false;
	}
	prepare(warm);
	if (warm->spans_nodes) {
		place(warm);
	}
	bt_team_run(warm->team, work, warm);
	finish(warm);
	warm->counts.shared_n++;
	return true;
}

struct bt_parallel_prepare_counts bt_parallel_prepare_counts(const struct bt_parallel_prepare *warm)
{
	return warm->counts;
}
