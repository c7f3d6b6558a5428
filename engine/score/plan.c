/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: compiles signatures and groups nodes (I9, I10).
 */
#include "engine/score/plan.h"

#include <stdlib.h>

#include "cache/device_view.h"
#include "cache/node_view.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/owner.h"
#include "engine/score/column_batch.h"
#include "engine/score/groups.h"
#include "engine/score/topology_pick.h"
#include "engine/score/normalize.h"
#include "engine/score/scan.h"

#define PLAIN_BELOW ((uint64_t)1 << 45)
#define TOTAL_LIMIT 65533 /* a total plus two fits 16 bits */

struct column_entry {
	struct bt_column *column;
	const char *key;
	size_t key_bytes;
};

/* Groups of a plan, for other plans whose plugins depend on descriptions in the same way. */
struct groups_entry {
	uint64_t changes_at; /* the snapshot's changes_end that they include */
	const char *key;
	size_t key_bytes;
	const struct bt_group *groups;
	const uint64_t *masks; /* followed by the mask of all groups */
	uint32_t group_n;
};

/*
 * Caches: plans, by signature index (dropped with the snapshot's layout_version, the end of domain counts,
 * memory, and the retirement of signatures, which renumbers them; a node that changes, comes or goes, or
 * whose images do, is described again in each plan on its next use); plans for nominations, also by priority;
 * groups and columns, by the plugins' keys, and columns for nominations also by priority. Keys of groups are
 * valid for one version of the taint sets.
 */
struct bt_planner {
	const struct bt_profile *profile;
	struct bt_planner_env env;
	bool columns_possible;	 /* every total fits, every plugin declares its dependencies */
	uint64_t layout_version; /* the snapshot's, of the plans */
	bool plain;		 /* as in struct bt_plan */
	uint64_t plain_at;	 /* the snapshot's changes_end that plain includes */
	uint64_t taint_sets_at;	 /* the snapshot's taint_set_version of the groups' keys */
	struct bt_arena arena;	 /* plans and terms */
	struct bt_plan **plans;	 /* by signature */
	size_t plan_cap;
	struct bt_plan **made; /* all existing plans */
	size_t made_n, made_cap;
	size_t outdated_n; /* replaced plans that are still in the arena */
	struct bt_column_batch column_batch;
	struct column_entry *columns;
	size_t column_n, column_cap;
	struct bt_map column_ixs; /* hash of the key -> index; equal hashes are compared */
	struct groups_entry *groups;
	size_t groups_n, groups_cap;
	struct bt_map groups_ixs;
	size_t column_bytes; /* of all node columns */
	uint64_t drop_n;
	struct bt_buf key, text;
	uint16_t *group; /* scratch: by node slot, while a plan is built */
	size_t group_cap;
	uint64_t *affected; /* scratch: bitmap of slots, none of them set between calls */
	size_t affected_cap;
};

static bool depends_known(const struct bt_plugin_use *use)
{
	const struct bt_plugin *plugin = use->plugin;

	if (use->filter && plugin->filter && plugin->filter_depends == BT_DEPENDS_ON_ALL) {
		return false;
	}
	if (!use->score) {
		return true;
	}
	bool usage = plugin->score_depends == BT_DEPENDS_ON_USAGE;
	bool counters = plugin->score_depends == BT_DEPENDS_ON_COUNTERS;
	return plugin->score_depends != BT_DEPENDS_ON_ALL &&
	       !(usage && plugin->normalize != BT_NORMALIZE_NONE) &&
	       !(!counters && plugin->normalize == BT_NORMALIZE_OWN);
}

/* Does the plugin's descriptor have what its declarations need? */
static void require_complete(const struct bt_plugin *plugin)
{
	bool counters = plugin->filter_depends == BT_DEPENDS_ON_COUNTERS ||
			plugin->score_depends == BT_DEPENDS_ON_COUNTERS;

	BT_REQUIRE(!counters || plugin->prepare || plugin->pre_filter);
	BT_REQUIRE(!plugin->prepare || plugin->bound);
	BT_REQUIRE((plugin->normalize == BT_NORMALIZE_OWN) == (plugin->normalize_own != NULL));
}

struct bt_planner *bt_planner_create(const struct bt_profile *profile, const struct bt_planner_env *env)
{
	struct bt_planner *planner = bt_mem_zalloc(1, sizeof(*planner));
	int64_t total = 0;

	BT_REQUIRE(profile->use_n <= BT_PROFILE_USES);
	*planner = (struct bt_planner){.profile = profile, .env = *env, .columns_possible = true};
	for (uint32_t i = 0; i < profile->use_n; i++) {
		const struct bt_plugin_use *use = &profile->uses[i];

		require_complete(use->plugin);
		planner->columns_possible &= depends_known(use) && (!use->score || use->weight >= 0);
		total += use->score ? use->weight * BT_MAX_NODE_SCORE : 0;
	}
	planner->columns_possible &= total <= TOTAL_LIMIT;
	return planner;
}

/* Frees a plan's memory outside of the arena. */
static void forget_plan(struct bt_planner *planner, struct bt_plan *plan)
{
	BT_INVARIANT(plan->signature->ix < planner->plan_cap);
	if (plan->yields) {
		bt_mem_free(plan->top);
	} else {
		planner->plans[plan->signature->ix] = NULL;
		bt_mem_free(plan->group);
		bt_mem_free(plan->masks);
	}
	bt_mem_free(plan->groups);
	bt_mem_free(plan->base);
	bt_mem_free(plan->block_best);
	bt_topology_pick_destroy(plan->counted);
}

/* Drops the groups that plans share. Their memory in the arena is freed with the plans. */
static void drop_groups(struct bt_planner *planner)
{
	planner->groups_n = 0;
	bt_map_fini(&planner->groups_ixs);
}

static void drop_plans(struct bt_planner *planner)
{
	for (size_t i = 0; i < planner->made_n; i++) {
		forget_plan(planner, planner->made[i]);
	}
	for (size_t i = 0; i < planner->column_n; i++) {
		bt_column_fini(planner->columns[i].column);
	}
	planner->made_n = planner->outdated_n = 0;
	planner->column_n = 0;
	planner->column_bytes = 0;
	bt_map_fini(&planner->column_ixs);
	drop_groups(planner);
	bt_arena_reset(&planner->arena);
	BT_INVARIANT(planner->column_ixs.count == 0 && planner->groups_ixs.count == 0);
}

void bt_planner_destroy(struct bt_planner *planner)
{
	if (!planner) {
		return;
	}
	drop_plans(planner);
	bt_arena_fini(&planner->arena);
	bt_mem_free(planner->group);
	bt_mem_free(planner->affected);
	bt_mem_free(planner->plans);
	bt_mem_free(planner->made);
	bt_mem_free(planner->columns);
	bt_mem_free(planner->groups);
	bt_buf_fini(&planner->key);
	bt_buf_fini(&planner->text);
	bt_mem_free(planner);
}

static bool has_image(const struct bt_signature *signature, uint32_t name)
{
	for (uint32_t i = 0; i < signature->image_n; i++) {
		if (signature->images[i] == name) {
			return true;
		}
	}
	return false;
}

/* Are the images of a plan's pods on the same nodes, with the same sizes, as when it was built? */
static bool images_are_current(const struct bt_snapshot *snapshot, const struct bt_plan *plan)
{
	const struct bt_signature *signature = plan->signature;

	if (plan->images_at == snapshot->image_version) {
		return true;
	}
	for (uint32_t i = 0; i < signature->image_n; i++) {
		if (snapshot->image_stamps[signature->images[i] % BT_IMAGE_STAMPS] > plan->images_at) {
			return false;
		}
	}
	return true;
}

struct bt_plan *bt_planner_find(const struct bt_planner *planner, const struct bt_signature *signature)
{
	const struct bt_snapshot *snapshot = planner->env.view->snapshot;
	bool current =
		planner->layout_version == snapshot->layout_version && signature->ix < planner->plan_cap;
	struct bt_plan *plan = current ? planner->plans[signature->ix] : NULL;

	BT_INVARIANT(!plan || plan->signature == signature);
	return plan && plan->changes_at == snapshot->changes_end && images_are_current(snapshot, plan) ? plan
												       : NULL;
}

/* Drops the plans of one signature, or those for nominations alone. Their memory in the arena is freed when
 * all are dropped. */
static void drop_of(struct bt_planner *planner, const struct bt_signature *signature, bool yielding_only)
{
	for (size_t i = 0; i < planner->made_n;) {
		struct bt_plan *plan = planner->made[i];

		if (plan->signature == signature && (plan->yields || !yielding_only)) {
			if (plan->counted) {
				bt_topology_pick_forget(plan);
			}
			BT_INVARIANT(planner->column_bytes >= plan->bytes);
			planner->column_bytes -= plan->bytes;
			if (plan->usage) {
				bt_groups_change_masks(plan);
			}
			forget_plan(planner, plan);
			planner->made[i] = planner->made[--planner->made_n];
			planner->outdated_n++;
		} else {
			i++;
		}
	}
}

/* Is there as much memory of dropped plans as of others? */
static bool is_outdated(const struct bt_planner *planner)
{
	return planner->outdated_n > planner->made_n;
}

static void drop_outdated(struct bt_planner *planner, const struct bt_signature *signature)
{
	if (is_outdated(planner)) {
		drop_plans(planner);
	} else {
		drop_of(planner, signature, false);
	}
}

void bt_planner_forget(struct bt_planner *planner)
{
	BT_OWNED_BY_THREAD(&planner->env.view->usage->owner);
	drop_plans(planner);
	bt_mem_free(planner->group);
	bt_mem_free(planner->affected);
	planner->group = NULL;
	planner->affected = NULL;
	planner->group_cap = planner->affected_cap = 0;
}

uint64_t bt_planner_drop_n(const struct bt_planner *planner)
{
	return planner->drop_n;
}

/* ---- compiling ---- */

static const char *keep_text(struct bt_planner *planner, const char *before, const char *name,
	const char *between, const char *after)
{
	bt_buf_clear(&planner->text);
	bt_buf_printf(&planner->text, "%s\"%s\"%s%s", before, name, between, after);
	return bt_arena_copy(&planner->arena, planner->text.ptr, planner->text.len);
}

static void find_errors(struct bt_planner *planner, struct bt_plan *plan)
{
	for (uint32_t i = 0; i < plan->profile->filter_n; i++) {
		uint32_t u = plan->profile->filter[i];
		const struct bt_plugin_use *use = &plan->profile->uses[u];

		if (!use->pre_filter && use->plugin->no_pre_filter_error) {
			plan->filter_error[u] = keep_text(planner, "running ", use->plugin->name,
				" filter plugin: ", use->plugin->no_pre_filter_error);
		}
	}
	/* PreScore runs before all Scores, even for a plugin without a Score. */
	for (uint32_t i = 0; i < plan->profile->pre_score_n && !plan->score_error; i++) {
		uint32_t u = plan->profile->pre_score[i];
		const char *why = plan->compiled[u].score_error;

		if (why) {
			plan->score_error = keep_text(planner, "running PreScore plugin ",
				plan->profile->uses[u].plugin->name, ": ", why);
		}
	}
	for (uint32_t i = 0; i < plan->profile->score_n && !plan->score_error; i++) {
		uint32_t u = plan->profile->score[i];
		const struct bt_plugin_use *use = &plan->profile->uses[u];
		const char *missing = use->plugin->no_pre_score_error;
		const char *why = missing ? missing : plan->compiled[u].score_error;

		if (why && !use->pre_score) {
			plan->score_error = keep_text(planner, "running Score plugins: plugin ",
				use->plugin->name, " failed with: ", why);
		}
	}
}

static int by_slot(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Candidates are visited by slot: upstream has no order here. */
static void narrow(struct bt_planner *planner, struct bt_plan *plan, uint32_t use_ix)
{
	const struct bt_compiled *compiled = &plan->compiled[use_ix];
	uint32_t n = 0,
		 *slots = plan->narrowed && plan->narrowed_by == use_ix
				  ? plan->candidates
				  : bt_arena_alloc(&planner->arena, compiled->name_n * sizeof(*slots), 8);

	for (uint32_t i = 0; i < compiled->name_n; i++) {
		uint32_t slot = planner->env.find_node(planner->env.context, compiled->names[i]);

		if (slot != BT_NO_NODE) {
			slots[n++] = slot;
		}
	}
	if (n) {
		BT_INVARIANT(n <= compiled->name_n);
		qsort(slots, n, sizeof(*slots), by_slot);
	}
	plan->narrowed = true;
	plan->narrowed_by = use_ix;
	plan->candidates = slots;
	plan->candidate_n = n;
}

uint32_t bt_plan_settle(struct bt_plan *plan, const struct bt_view *view)
{
	plan->refusal = NULL;
	plan->pre_filter_error = plan->signature->incomplete;
	if (plan->pre_filter_error) {
		return 0;
	}
	for (uint32_t i = 0; i < plan->profile->pre_filter_n; i++) {
		uint32_t u = plan->profile->pre_filter[i];
		const struct bt_compiled *compiled = &plan->compiled[u];

		if (compiled->refused) {
			plan->refusal = compiled->refusal;
			plan->refused_by = u;
			BT_INVARIANT(compiled->refusal);
			return i;
		}
		if (compiled->pre_filter_error) {
			plan->pre_filter_error = bt_keep_text(view, "running PreFilter plugin \"%s\": %s",
				plan->profile->uses[u].plugin->name, compiled->pre_filter_error);
			return i;
		}
	}
	return plan->profile->pre_filter_n;
}

static struct bt_compile_env compile_env(struct bt_planner *planner)
{
	return (struct bt_compile_env){
		.dictionary = planner->env.dictionary,
		.snapshot = planner->env.view->snapshot,
		.view = planner->env.view,
		.arena = &planner->arena,
		.label_column = planner->env.label_column,
		.image_nodes = planner->env.image_nodes,
		.context = planner->env.context,
	};
}

static void plan_compile(struct bt_planner *planner, struct bt_plan *plan)
{
	const struct bt_compile_env env = compile_env(planner);

	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		const struct bt_plugin_use *use = &plan->profile->uses[u];

		if (BT_UNLIKELY(plan->signature->resize_node != BT_NAME_NONE) &&
			use->plugin->ignores_resizes) {
			plan->compiled[u] =
				(struct bt_compiled){.aside = true, .filter_skip = true, .score_skip = true};
		} else {
			use->plugin->compile(use->settings, &env, plan->signature, &plan->compiled[u]);
		}
	}
	uint32_t ran_n = bt_plan_settle(plan, planner->env.view);
	for (uint32_t i = 0; i < ran_n; i++) {
		if (plan->compiled[plan->profile->pre_filter[i]].narrows) {
			narrow(planner, plan, plan->profile->pre_filter[i]);
		}
	}
	find_errors(planner, plan);
}

/* ---- groups ---- */

/* An array of groups, zero after the last slot. */
static uint16_t *group_scratch(struct bt_planner *planner, uint32_t slot_n)
{
	if (planner->group_cap < bt_scan_padded(slot_n)) {
		bt_mem_free(planner->group);
		planner->group_cap = bt_scan_padded(slot_n);
		planner->group = bt_mem_column(planner->group_cap, sizeof(*planner->group));
	}
	memset(planner->group + slot_n, 0, (planner->group_cap - slot_n) * sizeof(*planner->group));
	return planner->group;
}

/* Sorts every node into its group. Returns: false when the numbers do not fit the columns. */
static bool make_groups(struct bt_planner *planner, struct bt_plan *plan)
{
	const struct bt_view *view = planner->env.view;

	return bt_groups_make(plan, view, group_scratch(planner, view->snapshot->slot_n));
}

/* ---- data that plans share ---- */

/* Adds a use's dependencies to the planner's key: the plugin's own, or the term itself. The length separates
 * those of two uses. */
static void add_key(
	struct bt_planner *planner, const struct bt_plan *plan, uint32_t u, bool filter, bool score)
{
	const struct bt_plugin *plugin = plan->profile->uses[u].plugin;
	const void *term = plan->compiled[u].term;
	size_t at = planner->key.len;
	uint32_t head[3] = {u, (uint32_t)(filter << 1 | score), 0};

	bt_buf_add(&planner->key, head, sizeof(head));
	if (plugin->key) {
		plugin->key(term, &planner->key);
	} else {
		bt_buf_add(&planner->key, &term, sizeof(term));
	}
	BT_INVARIANT(planner->key.len >= at + sizeof(head));
	head[2] = (uint32_t)(planner->key.len - at);
	memcpy(planner->key.ptr + at, head, sizeof(head));
}

/* Sets the key to all that the groups of a plan depend on. Returns: false when some plugin does not declare
 * it. */
static bool key_groups(struct bt_planner *planner, const struct bt_plan *plan)
{
	bt_buf_clear(&planner->key);
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		bool filter = bt_plan_filters_by(plan, u, BT_DEPENDS_ON_DESCRIPTION),
		     score = bt_plan_scores_by(plan, u, BT_DEPENDS_ON_DESCRIPTION);

		if (!filter && !score) {
			continue;
		}
		if (!plan->profile->uses[u].plugin->key) {
			return false;
		}
		add_key(planner, plan, u, filter, score);
	}
	return true;
}

static bool has_key(const struct bt_planner *planner, const char *key, size_t bytes)
{
	return bt_str_eq((struct bt_str){key, bytes}, bt_buf_view(&planner->key));
}

/* Bytes of the masks of a plan's groups, and of that of all groups. */
static size_t mask_bytes(const struct bt_plan *plan)
{
	return plan->group_n * plan->word_n * sizeof(*plan->masks);
}

/* Caches a plan's groups, before picks change them. */
static void keep_groups(struct bt_planner *planner, const struct bt_plan *plan, uint64_t hash)
{
	BT_INVARIANT(plan->masks && !plan->yields);
	size_t group_bytes = plan->group_n * sizeof(*plan->groups), bytes = mask_bytes(plan);
	struct bt_group *groups = bt_arena_alloc(&planner->arena, group_bytes, 16);
	uint64_t *masks = bt_arena_alloc(&planner->arena, bytes, 16);

	memcpy(groups, plan->groups, group_bytes);
	memcpy(masks, plan->masks, bytes);
	planner->groups = bt_mem_grow(
		planner->groups, planner->groups_n, &planner->groups_cap, sizeof(*planner->groups));
	planner->groups[planner->groups_n] = (struct groups_entry){
		.key = bt_arena_copy(&planner->arena, planner->key.ptr, planner->key.len),
		.key_bytes = planner->key.len,
		.changes_at = plan->changes_at,
		.groups = groups,
		.masks = masks,
		.group_n = plan->group_n,
	};
	bt_map_put(&planner->groups_ixs, hash, (uint32_t)planner->groups_n++);
	planner->column_bytes += group_bytes + bytes;
}

static void copy_groups(struct bt_plan *plan, const struct groups_entry *entry)
{
	plan->group_n = entry->group_n;
	plan->groups = bt_mem_realloc(NULL, plan->group_n, sizeof(*plan->groups));
	memcpy(plan->groups, entry->groups, plan->group_n * sizeof(*plan->groups));
	bt_groups_lay_out_masks(plan);
	memcpy(plan->masks, entry->masks, mask_bytes(plan));
	plan->changes_at = entry->changes_at;
	BT_INVARIANT(plan->masks && !plan->group);
}

/* Sorts every node into its group, by a cached result if there is one. Returns: as make_groups. */
static bool find_groups(struct bt_planner *planner, struct bt_plan *plan)
{
	bool shared = key_groups(planner, plan);
	uint64_t hash = shared ? bt_hash_bytes(planner->key.ptr, planner->key.len) | 1 : 0;
	uint32_t ix;

	bt_groups_list_normalized(plan);
	for (; shared && bt_map_get(&planner->groups_ixs, hash, &ix); hash += 2) {
		const struct groups_entry *entry = &planner->groups[ix];

		if (has_key(planner, entry->key, entry->key_bytes)) {
			copy_groups(plan, entry);
			bt_groups_find_uniform(plan);
			return true;
		}
	}
	bool fits = make_groups(planner, plan);
	bt_groups_find_uniform(plan);
	if (fits && shared && plan->masks) {
		keep_groups(planner, plan, hash);
	}
	return fits;
}

static uint32_t collect_parts(
	struct bt_planner *planner, const struct bt_plan *plan, struct bt_column_part *parts)
{
	uint32_t n = 0;

	bt_buf_clear(&planner->key);
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		const struct bt_plugin_use *use = &plan->profile->uses[u];
		bool filter = bt_plan_filters_by(plan, u, BT_DEPENDS_ON_USAGE),
		     score = bt_plan_scores_by(plan, u, BT_DEPENDS_ON_USAGE);

		if (filter || score) {
			parts[n++] = (struct bt_column_part){
				use->plugin, plan->compiled[u].term, use->weight, filter, score};
			add_key(planner, plan, u, filter, score);
		}
	}
	return n;
}

static struct bt_column *usage_column(struct bt_planner *planner, const struct bt_plan *plan,
	const struct bt_nominations_ahead *nominations)
{
	struct bt_column_part parts[BT_PROFILE_USES];
	uint32_t n = collect_parts(planner, plan, parts), ix;
	uint32_t slot_room = planner->env.view->snapshot->slot_room;

	if (nominations) {
		bt_buf_add(&planner->key, &plan->priority, sizeof(plan->priority));
	}
	uint64_t hash = bt_hash_bytes(planner->key.ptr, planner->key.len) | 1;

	for (; bt_map_get(&planner->column_ixs, hash, &ix); hash += 2) {
		const struct column_entry *entry = &planner->columns[ix];

		if (has_key(planner, entry->key, entry->key_bytes)) {
			return entry->column;
		}
	}
	BT_INVARIANT(n <= BT_PROFILE_USES);
	struct bt_column *column = bt_arena_zalloc(&planner->arena, sizeof(*column));
	memcpy(column->parts, parts, sizeof(parts));
	column->part_n = n;
	column->nominations = nominations;
	column->column_batch = &planner->column_batch;
	bt_column_init(column, planner->env.view->snapshot->slot_n, slot_room);
	planner->columns = bt_mem_grow(
		planner->columns, planner->column_n, &planner->column_cap, sizeof(*planner->columns));
	planner->columns[planner->column_n] = (struct column_entry){
		.column = column,
		.key = bt_arena_copy(&planner->arena, planner->key.ptr, planner->key.len),
		.key_bytes = planner->key.len,
	};
	bt_map_put(&planner->column_ixs, hash, (uint32_t)planner->column_n++);
	/* Memory of an index is touched only for values that occur: about one in eight. */
	planner->column_bytes += bt_scan_padded(slot_room) * sizeof(*column->value) +
				 bt_index_bytes(slot_room, column->value_n) / 8;
	return column;
}

/* ---- plans ---- */

/* Can scores of the resource plugins count devices? */
static bool draws_on_devices(const struct bt_view *view, const struct bt_signature *signature)
{
	bool any = view->devices->resource_classes.count > 0;

	for (uint32_t i = 0; any && i < signature->requests.fit.n; i++) {
		uint32_t slot = signature->requests.fit.items[i].slot;

		if (bt_device_store_resource(
			    view->devices, view->snapshot->dictionary->resources.names[slot])) {
			return true;
		}
	}
	return false;
}

/* Does a plugin read claims or volumes in every cycle? */
static bool reads_state(const struct bt_view *view, const struct bt_plan *plan)
{
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		if (plan->profile->uses[u].plugin->pre_filter && plan->compiled[u].state) {
			return true;
		}
	}
	return plan->signature->volume_n > 0 || draws_on_devices(view, plan->signature);
}

static void keep_plan(struct bt_planner *planner, struct bt_plan *plan)
{
	planner->made =
		bt_mem_grow(planner->made, planner->made_n, &planner->made_cap, sizeof(struct bt_plan *));
	planner->made[planner->made_n++] = plan;
	BT_INVARIANT(planner->made_n <= planner->made_cap);
}

/* Estimated bytes of a plan's columns per slot. */
#define PLAN_BYTES 16

static uint64_t domains_version(const struct bt_view *view)
{
	return view->counting ? view->counting->domains_version : 0;
}

static struct bt_plan *make_plan(struct bt_planner *planner, const struct bt_signature *signature)
{
	struct bt_plan *plan = bt_arena_zalloc(&planner->arena, sizeof(*plan));
	bool errors = false;

	plan->profile = planner->profile;
	plan->memory_bytes = &planner->column_bytes;
	plan->signature = signature;
	plan->images_at = planner->env.view->snapshot->image_version;
	plan->changes_at = planner->env.view->snapshot->changes_end;
	plan->live_version = planner->env.view->snapshot->live_version;
	plan->taint_sets_at = planner->env.view->snapshot->taint_set_version;
	plan->domains_at = domains_version(planner->env.view);
	plan->slot_room = planner->env.view->snapshot->slot_room;
	plan->word_n = bt_bitmap_words(plan->slot_room);
	plan_compile(planner, plan);
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		errors |= plan->filter_error[u] != NULL;
		plan->witness[u] = BT_NO_NODE;
	}
	errors |= plan->score_error || plan->pre_filter_error;
	plan->reads_state = reads_state(planner->env.view, plan);
	if (planner->columns_possible && !errors && !plan->refusal && !plan->narrowed && !plan->reads_state &&
		bt_mem_may_use(BT_MEM_PLAN, PLAN_BYTES * planner->env.view->snapshot->slot_n)) {
		plan->columns = find_groups(planner, plan);
		plan->plain = planner->plain;
		plan->usage = usage_column(planner, plan, NULL);
		plan->bytes = 4 * (size_t)planner->env.view->snapshot->slot_n;
		planner->column_bytes += plan->bytes;
	}
	keep_plan(planner, plan);
	BT_INVARIANT(!plan->columns || plan->usage);
	return plan;
}

struct bt_plan *bt_planner_yielding(struct bt_planner *planner, struct bt_plan *plan,
	const struct bt_nominations_ahead *nominations, int32_t priority)
{
	BT_OWNED_BY_THREAD(&planner->env.view->usage->owner);
	struct bt_plan *y = plan->yielding;

	BT_REQUIRE(plan->columns && !plan->yields);
	while (y && y->priority != priority) {
		y = y->yielding;
	}
	if (y) {
		return y;
	}
	y = bt_arena_zalloc(&planner->arena, sizeof(*y));
	*y = *plan;
	y->yields = true;
	y->priority = priority;
	y->groups = bt_mem_zalloc(plan->group_n, sizeof(*y->groups));
	memcpy(y->groups, plan->groups, plan->group_n * sizeof(*y->groups));
	y->top = plan->masks ? bt_mem_column(plan->word_n, sizeof(*y->top)) : NULL;
	y->top_n = plan->group_n - 1;
	y->base = y->block_best = NULL;
	y->blocks_known = y->placed = y->groups_placed = false;
	y->counted = NULL;
	y->base_filled = y->maxima_known = y->refused = false;
	y->usage = usage_column(planner, y, nominations);
	plan->yielding = y;
	y->bytes = 2 * (size_t)planner->env.view->snapshot->slot_n;
	planner->column_bytes += y->bytes;
	BT_INVARIANT(y->signature == plan->signature && y->usage != plan->usage);
	keep_plan(planner, y);
	return y;
}

/* The allocatable amounts of a node's rare resources, ORed together. */
static uint64_t rare_bits(const struct bt_snapshot *snapshot, uint32_t node_ix)
{
	int64_t bits = 0;

	for (uint32_t k = 0; snapshot->rare && k < snapshot->rare[node_ix].amounts.n; k++) {
		bits |= snapshot->rare[node_ix].amounts.items[k].amount;
	}
	return (uint64_t)bits;
}

/* The same of all its resources. */
static uint64_t amount_bits(const struct bt_snapshot *snapshot, uint32_t node_ix)
{
	int64_t bits = 0;

	for (uint32_t r = 0; r < BT_FIRST_RARE; r++) {
		bits |= bt_cell(bt_alloc_cells(snapshot, r), node_ix);
	}
	return (uint64_t)bits | rare_bits(snapshot, node_ix);
}

/* Are allocatable amounts non-negative, and small enough to multiply by 100? */
static bool amounts_are_plain(const struct bt_snapshot *snapshot)
{
	uint64_t bits = 0;

	for (uint32_t r = 0; r < BT_FIRST_RARE; r++) {
		const struct bt_cells cells = bt_alloc_cells(snapshot, r);

		for (uint32_t i = 0; cells.first && i < snapshot->slot_n; i++) {
			bits |= (uint64_t)cells.first[i * cells.step];
		}
	}
	for (uint32_t i = 0; snapshot->rare && i < snapshot->slot_n; i++) {
		bits |= rare_bits(snapshot, i);
	}
	return bits < PLAIN_BELOW;
}

/* ---- nodes that change, come and go ---- */

/* A plan that is behind by more than 1/CHANGES_SHARE of the nodes is rebuilt. */
#define CHANGES_SHARE 4

static bool is_far_behind(const struct bt_snapshot *snapshot, uint64_t at)
{
	uint64_t behind = snapshot->changes_end - at;

	return behind > snapshot->changes_mask || behind > snapshot->slot_n / CHANGES_SHARE + 1;
}

static uint32_t change_at(const struct bt_snapshot *snapshot, uint64_t at)
{
	return snapshot->changes[at & snapshot->changes_mask];
}

/* Updates the planner's facts about all nodes by the snapshot's changes. */
static void planner_follow(struct bt_planner *planner)
{
	const struct bt_snapshot *snapshot = planner->env.view->snapshot;

	if (planner->env.view->counting) {
		planner->env.view->counting->follow(planner->env.view->counting->context);
	}
	if (planner->taint_sets_at != snapshot->taint_set_version) {
		planner->taint_sets_at = snapshot->taint_set_version;
		drop_groups(planner);
	}
	if (is_far_behind(snapshot, planner->plain_at)) {
		planner->plain = amounts_are_plain(snapshot);
		planner->plain_at = snapshot->changes_end;
	}
	for (; planner->plain_at != snapshot->changes_end; planner->plain_at++) {
		planner->plain &= amount_bits(snapshot, change_at(snapshot, planner->plain_at)) < PLAIN_BELOW;
	}
}

/* Updates terms with a table by taint set for new sets. */
static bool follow_taint_sets(struct bt_plan *plan, const struct bt_snapshot *snapshot)
{
	bool fits = true;

	for (uint32_t u = 0; plan->taint_sets_at != snapshot->taint_set_version && u < plan->profile->use_n;
		u++) {
		const struct bt_plugin *plugin = plan->profile->uses[u].plugin;

		fits &= !plugin->taint_sets || plan->compiled[u].aside ||
			plugin->taint_sets(plan->compiled[u].term, snapshot);
	}
	plan->taint_sets_at = snapshot->taint_set_version;
	return fits;
}

/* Is a term bound to domain counts that have ended? */
static bool domains_have_ended(const struct bt_plan *plan, const struct bt_view *view)
{
	if (plan->domains_at == domains_version(view)) {
		return false;
	}
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		const struct bt_plugin *plugin = plan->profile->uses[u].plugin;

		if (plugin->bound && !plan->compiled[u].aside && plugin->bound(plan->compiled[u].term)) {
			return true;
		}
	}
	return false;
}

/* Is a term compiled for how many nodes there are, or which of them have an image? */
static bool counts_nodes(const struct bt_plan *plan)
{
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		const struct bt_plugin *plugin = plan->profile->uses[u].plugin;

		if (plugin->counts_nodes && !plan->compiled[u].aside &&
			plugin->counts_nodes(plan->compiled[u].term)) {
			return true;
		}
	}
	return false;
}

/* Describes a changed node again, in terms, groups and classes. Returns: false: the plan must be rebuilt. */
static bool redescribe(struct bt_plan *plan, const struct bt_view *view, uint32_t node_ix)
{
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		const struct bt_plugin *plugin = plan->profile->uses[u].plugin;

		if (plugin->redescribe && !plan->compiled[u].aside) {
			plugin->redescribe(plan->compiled[u].state, view->snapshot, node_ix);
		}
	}
	if (plan->columns && !bt_groups_redescribe(plan, view, node_ix)) {
		return false;
	}
	if (plan->counted) {
		bt_topology_pick_redescribe(plan, view, node_ix);
	}
	return true;
}

/* Describes changed nodes again. Returns: false: the plan must be rebuilt. */
static bool plan_follow(struct bt_planner *planner, struct bt_plan *plan)
{
	const struct bt_view *view = planner->env.view;
	const struct bt_snapshot *snapshot = view->snapshot;

	if (is_far_behind(snapshot, plan->changes_at) || domains_have_ended(plan, view) ||
		!follow_taint_sets(plan, snapshot)) {
		return false;
	}
	if (plan->narrowed) {
		narrow(planner, plan, plan->narrowed_by);
	}
	plan->live_version = snapshot->live_version;
	plan->domains_at = domains_version(view);
	plan->idle_version = 0;
	if (plan->plain && !planner->plain) {
		plan->plain = plan->maxima_known = false;
	}
	for (; plan->changes_at != snapshot->changes_end; plan->changes_at++) {
		if (!redescribe(plan, view, change_at(snapshot, plan->changes_at))) {
			return false;
		}
	}
	return true;
}

/* Updates terms for changes of images and of the number of nodes, and marks the nodes that this affects.
 * Returns: false: the plan must be rebuilt. */
static bool follow_image_terms(struct bt_planner *planner, struct bt_plan *plan, bool *out_affects)
{
	const struct bt_snapshot *snapshot = planner->env.view->snapshot;
	const struct bt_compile_env env = compile_env(planner);
	uint64_t behind = snapshot->image_version - plan->images_at;
	bool same = images_are_current(snapshot, plan);

	if (same && (plan->live_version == snapshot->live_version || !counts_nodes(plan))) {
		return true;
	}
	if (!same && behind > snapshot->image_changes_mask) {
		return false;
	}
	while (planner->affected_cap < plan->word_n) {
		size_t old = planner->affected_cap;

		planner->affected =
			bt_mem_grow(planner->affected, old, &planner->affected_cap, sizeof(uint64_t));
		memset(planner->affected + old, 0, (planner->affected_cap - old) * sizeof(uint64_t));
	}
	*out_affects = true;
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		const struct bt_plugin_use *use = &plan->profile->uses[u];

		if (use->plugin->follow_images && !plan->compiled[u].aside &&
			!use->plugin->follow_images(use->settings, &env, plan->signature,
				plan->compiled[u].state, planner->affected)) {
			return false;
		}
	}
	for (uint64_t v = plan->images_at + 1; !same && v <= snapshot->image_version; v++) {
		const struct bt_image_change *change =
			&snapshot->image_changes[v & snapshot->image_changes_mask];

		if (has_image(plan->signature, change->name) && change->slot < snapshot->slot_n) {
			bt_bitmap_set(planner->affected, change->slot);
		}
	}
	return true;
}

/* Describes the marked nodes again and clears the marks. The usage's journal does not name them, because
 * their scores alone have changed: the best totals of blocks are found again. Returns: false: the plan must
 * be rebuilt. */
static bool redescribe_affected(struct bt_planner *planner, struct bt_plan *plan, bool keeps)
{
	for (size_t w = 0; w < plan->word_n; w++) {
		for (uint64_t word = planner->affected[w]; keeps && word; word &= word - 1) {
			keeps = redescribe(
				plan, planner->env.view, (uint32_t)(w * 64 + (size_t)__builtin_ctzll(word)));
			plan->blocks_known = false;
		}
		planner->affected[w] = 0;
	}
	return keeps;
}

/* Brings a plan up to the snapshot's changes. Returns: false: it must be rebuilt. */
static bool plan_catch_up(struct bt_planner *planner, struct bt_plan *plan)
{
	const struct bt_snapshot *snapshot = planner->env.view->snapshot;
	bool affects = false;

	if (plan->yielding && is_outdated(planner)) {
		return false;
	}
	if (plan->yielding) {
		drop_of(planner, plan->signature, true);
		plan->yielding = NULL;
	}
	bool keeps = follow_image_terms(planner, plan, &affects) &&
		     (plan->changes_at == snapshot->changes_end || plan_follow(planner, plan));
	if (affects) {
		keeps = redescribe_affected(planner, plan, keeps);
	}
	plan->images_at = snapshot->image_version;
	return keeps;
}

/* Makes a plan, and updates groups that it shares with another one. */
static struct bt_plan *make_current_plan(struct bt_planner *planner, const struct bt_signature *signature)
{
	struct bt_plan *plan = make_plan(planner, signature);

	planner->plans[signature->ix] = plan;
	if (plan->changes_at != planner->env.view->snapshot->changes_end && !plan_follow(planner, plan)) {
		drop_groups(planner);
		drop_outdated(planner, signature);
		plan = planner->plans[signature->ix] = make_plan(planner, signature);
	}
	BT_INVARIANT(
		plan->signature == signature && plan->changes_at == planner->env.view->snapshot->changes_end);
	return plan;
}

/* Builds or rebuilds the plan, or finds that it is still valid. */
static BT_NOINLINE struct bt_plan *renew_plan(
	struct bt_planner *planner, const struct bt_signature *signature)
{
	const struct bt_snapshot *snapshot = planner->env.view->snapshot;

	if (planner->layout_version != snapshot->layout_version) {
		drop_plans(planner);
		planner->layout_version = snapshot->layout_version;
		planner->plain = amounts_are_plain(snapshot);
		planner->plain_at = snapshot->changes_end;
	}
	planner_follow(planner);
	if (signature->ix < planner->plan_cap && planner->plans[signature->ix]) {
		struct bt_plan *plan = planner->plans[signature->ix];

		if (plan_catch_up(planner, plan)) {
			return plan;
		}
		drop_outdated(planner, signature);
	}
	if (planner->column_bytes > planner->env.memory_bytes) {
		drop_plans(planner);
		planner->drop_n++;
	}
	while (signature->ix >= planner->plan_cap) {
		size_t old = planner->plan_cap;

		planner->plans =
			bt_mem_grow(planner->plans, old, &planner->plan_cap, sizeof(struct bt_plan *));
		memset(planner->plans + old, 0, (planner->plan_cap - old) * sizeof(struct bt_plan *));
	}
	return make_current_plan(planner, signature);
}

struct bt_plan *bt_planner_plan(struct bt_planner *planner, const struct bt_signature *signature)
{
	BT_OWNED_BY_THREAD(&planner->env.view->usage->owner);
	const struct bt_snapshot *snapshot = planner->env.view->snapshot;
	bool current =
		planner->layout_version == snapshot->layout_version && signature->ix < planner->plan_cap;
	struct bt_plan *plan = current ? planner->plans[signature->ix] : NULL;

	current = plan && plan->images_at == snapshot->image_version &&
		  plan->changes_at == snapshot->changes_end;
	return current ? plan : renew_plan(planner, signature);
}
