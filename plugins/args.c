/* SPDX-License-Identifier: Apache-2.0
 * Argument values that several plugins share. Source: pkg/scheduler/apis/config, v1.36.3.
 */
#include "plugins/args.h"
#include "engine/base/check.h"

static const struct bt_field resource_members[] = {
	BT_ARG_PLAIN("name", STR, struct bt_config_resource, name),
	BT_ARG_PLAIN("weight", I64, struct bt_config_resource, weight),
};
const struct bt_schema bt_config_resource_table =
	BT_ARG_STRUCT("v1", "ResourceSpec", resource_members, struct bt_config_resource);

static const struct bt_field shape_point_members[] = {
	BT_ARG_ALWAYS("utilization", I32, struct bt_config_shape_point, utilization),
	BT_ARG_ALWAYS("score", I32, struct bt_config_shape_point, score),
};
const struct bt_schema bt_config_shape_point_table =
	BT_ARG_STRUCT("v1", "UtilizationShapePoint", shape_point_members, struct bt_config_shape_point);

void bt_config_resources_default(struct bt_config_resource_list *list, struct bt_arena *arena)
{
	if (!list->n) {
		list->items = bt_arena_zalloc(arena, 2 * sizeof *list->items);
		list->items[0] = (struct bt_config_resource){.name = bt_str("cpu"), .weight = 1};
		list->items[1] = (struct bt_config_resource){.name = bt_str("memory"), .weight = 1};
		list->n = 2;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		if (!list->items[i].weight) {
			list->items[i].weight = 1;
		}
	}
	BT_INVARIANT(list->n > 0 && list->items[0].weight != 0);
}

struct bt_str bt_args_under(struct bt_config_errors *errors, struct bt_str path, const char *member)
{
	return path.len ? bt_config_path(errors, "%.*s.%s", BT_STR_ARG(path), member) : bt_str(member);
}

struct bt_str bt_args_at(struct bt_config_errors *errors, struct bt_str path, const char *member, uint32_t ix)
{
	BT_REQUIRE(member);
	return bt_config_path(errors, "%.*s%s%s[%u]", BT_STR_ARG(path), path.len ? "." : "", member, ix);
}

void bt_config_shape_validate(
	const struct bt_config_shape *shape, struct bt_str path, struct bt_config_errors *errors)
{
	if (!shape->n) {
		bt_config_required(errors, path, "at least one point must be specified");
		return;
	}
	for (uint32_t i = 1; i < shape->n; i++) {
		if (shape->items[i - 1].utilization >= shape->items[i].utilization) {
			bt_config_invalid_int(errors,
				bt_config_path(errors, "%.*s[%u].utilization", BT_STR_ARG(path), i),
				shape->items[i].utilization, "values must be sorted in increasing order");
			break;
		}
	}
	for (uint32_t i = 0; i < shape->n; i++) {
		const struct bt_config_shape_point *point = &shape->items[i];

		if (point->utilization < 0 || point->utilization > 100) {
			bt_config_invalid_int(errors,
				bt_config_path(errors, "%.*s[%u].utilization", BT_STR_ARG(path), i),
				point->utilization, "not in valid range [0, 100]");
		}
		if (point->score < 0 || point->score > 10) {
			bt_config_invalid_int(errors,
				bt_config_path(errors, "%.*s[%u].score", BT_STR_ARG(path), i), point->score,
				"not in valid range [0, 10]");
		}
	}
}
