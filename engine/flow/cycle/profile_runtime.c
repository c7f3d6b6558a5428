/* SPDX-License-Identifier: Apache-2.0
 * Creates the runtime of each profile: planner, hints and plugin numbers.
 */
#include "engine/flow/cycle/profile_runtime.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

static const uint32_t *label_column(void *context, uint32_t key)
{
	const struct bt_cache *cache = context;

	return bt_snapshot_label_column(cache->snapshot, key);
}

static const uint64_t *image_nodes(void *context, uint32_t name)
{
	const struct bt_cache *cache = context;

	return bt_snapshot_image_nodes(cache->snapshot, name);
}

static uint32_t find_node(void *context, uint32_t name)
{
	const struct bt_cache *cache = context;

	return bt_snapshot_find(cache->snapshot, name);
}

/* Maps plugins to the numbers that the queue uses. */
static void number_plugins(struct bt_profile_runtime *runtime, bool extenders, bool pod_groups)
{
	const struct bt_profile *plugins = &runtime->profile.plugins;

	bt_hints_of(&runtime->hints, &runtime->profile);
	if (extenders) {
		bt_hints_add_extenders(&runtime->hints, pod_groups);
	}
	for (uint32_t u = 0; u < plugins->use_n; u++) {
		runtime->number_of_use[u] = bt_hints_number(&runtime->hints, plugins->uses[u].id);
	}
	runtime->preemption_number = runtime->groups_number = -1;
	runtime->extender_number = bt_hints_number(&runtime->hints, BT_EXTENDERS_NUMBER);
	for (uint32_t id = 0; id < bt_plugin_n(); id++) {
		if (bt_plugin_at(id)->preemption) {
			runtime->preemption_number = bt_hints_number(&runtime->hints, id);
		}
	}
	runtime->placements_number =
		runtime->profile.placement_generate.n
			? bt_hints_number(&runtime->hints, runtime->profile.placement_generate.items[0].id)
			: -1;
	for (uint32_t i = 0; i < runtime->profile.pre_enqueue.n; i++) {
		if (runtime->profile.pre_enqueue.items[i].plugin->permit) {
			runtime->groups_number = (int)runtime->profile.pre_enqueue.items[i].id;
		}
	}
}

static void make_runtime(struct bt_profile_runtimes *runtimes, const struct bt_config *config,
	const struct bt_resolved_profile *resolved, enum bt_node_sampling sampling,
	const struct bt_planner_env *env)
{
	BT_INVARIANT(runtimes->n < config->profile_n);
	struct bt_profile_runtime *runtime = &runtimes->items[runtimes->n++];

	bt_flow_profile_init(&runtime->profile, resolved, &config->gates, env->dictionary, &runtimes->arena);
	runtime->planner = bt_planner_create(&runtime->profile.plugins, env);
	runtime->samples = bt_samples(sampling, runtime->profile.percentage_of_nodes_to_score);
	number_plugins(runtime, config->extender_n > 0, config->gates.on[BT_GATE_GENERIC_WORKLOAD]);
	runtimes->gate_traits |= runtime->profile.pre_enqueue.traits;
	runtimes->reserve_always |= runtime->profile.reserve_always;
	runtimes->sees_pods |= runtime->profile.plugins.sees_pods;
}

enum bt_status bt_profile_runtimes_init(struct bt_profile_runtimes *runtimes, const struct bt_config *config,
	enum bt_node_sampling sampling, struct bt_cache *cache, size_t plan_memory_bytes,
	struct bt_config_errors *errors)
{
	const struct bt_planner_env env = {
		.dictionary = cache->dictionary,
		.view = &cache->view,
		.label_column = label_column,
		.image_nodes = image_nodes,
		.find_node = find_node,
		.context = cache,
		.memory_bytes = plan_memory_bytes,
	};
	/* Too large for the stack, and only needed during creation. */
	struct bt_resolved_profile *resolved = bt_mem_zalloc(1, sizeof(*resolved));
	enum bt_status status = BT_OK;

	runtimes->items = bt_mem_zalloc(config->profile_n, sizeof(*runtimes->items));
	for (uint32_t i = 0; i < config->profile_n && status == BT_OK; i++) {
		status = bt_config_resolve(config, i, errors, resolved);
		if (status == BT_OK) {
			make_runtime(runtimes, config, resolved, sampling, &env);
		}
	}
	bt_mem_free(resolved);
	BT_INVARIANT(status != BT_OK || runtimes->n == config->profile_n);
	return status;
}

void bt_profile_runtimes_fini(struct bt_profile_runtimes *runtimes)
{
	for (uint32_t i = 0; i < runtimes->n; i++) {
		bt_planner_destroy(runtimes->items[i].planner);
		bt_flow_profile_fini(&runtimes->items[i].profile);
	}
	bt_mem_free(runtimes->items);
	bt_arena_fini(&runtimes->arena);
}

void bt_profile_runtimes_forget_plans(struct bt_profile_runtimes *runtimes)
{
	for (uint32_t i = 0; i < runtimes->n; i++) {
		bt_planner_forget(runtimes->items[i].planner);
	}
}

uint64_t bt_profile_runtimes_drop_n(const struct bt_profile_runtimes *runtimes)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < runtimes->n; i++) {
		n += bt_planner_drop_n(runtimes->items[i].planner);
	}
	return n;
}
