/* SPDX-License-Identifier: Apache-2.0
 * The arguments of NodeResourcesBalancedAllocation.
 */
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"

static const struct bt_field balanced_members[] = {
	BT_ARG_META,
	BT_ARG_LIST("resources", struct bt_balanced_allocation_args, resources.items, resources.n,
		bt_config_resource_table),
};
static const struct bt_schema table = BT_ARG_STRUCT(
	"v1", "NodeResourcesBalancedAllocationArgs", balanced_members, struct bt_balanced_allocation_args);

static void set_defaults(void *opaque, const struct bt_args_env *env, struct bt_arena *arena)
{
	struct bt_balanced_allocation_args *args = opaque;

	(void)env;
	bt_config_resources_default(&args->resources, arena);
}

static void validate_balanced(const void *opaque, const struct bt_args_env *env, struct bt_str path,
	struct bt_config_errors *errors)
{
	const struct bt_balanced_allocation_args *args = opaque;
	struct bt_config_seen seen = {.n = 0};
	uint32_t first;

	(void)env;
	for (uint32_t i = 0; i < args->resources.n; i++) {
		const struct bt_config_resource *resource = &args->resources.items[i];
		struct bt_str entry = bt_args_at(errors, path, "resources", i);

		if (!bt_config_seen_add(&seen, resource->name, i, &first)) {
			bt_config_duplicate(errors, bt_args_under(errors, entry, "name"), resource->name);
		}
		if (resource->weight != 1) {
			bt_config_invalid_int(errors, bt_args_under(errors, entry, "weight"),
				resource->weight, "must be 1");
		}
	}
	bt_config_seen_fini(&seen);
}

const struct bt_plugin_args bt_balanced_allocation_args_info = {
	.schema = &table,
	.set_defaults = set_defaults,
	.validate = validate_balanced,
};

const void *bt_balanced_allocation_make_settings(const struct bt_settings_env *env, const void *opaque)
{
	const struct bt_balanced_allocation_args *args = opaque;
	const struct bt_config_resource_list *list = &args->resources;
	struct bt_balanced_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));
	int *slots = bt_arena_zalloc(env->arena, list->n * sizeof(*slots));

	for (uint32_t i = 0; i < list->n; i++) {
		slots[i] = bt_resource_slot(env->dictionary, list->items[i].name);
	}
	*settings = (struct bt_balanced_settings){
		slots, list->n, bt_settings_rule(env, BT_RULE_BALANCE_IS_SCORED_AS_IT_IS)};
	return settings;
}
