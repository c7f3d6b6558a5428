/* SPDX-License-Identifier: Apache-2.0
 * The arguments of VolumeBinding.
 */
#include "plugins/volume_binding/volume_binding.h"

static const struct bt_field volume_binding_members[] = {
	BT_ARG_META,
	BT_ARG_MAYBE("bindTimeoutSeconds", I64, struct bt_volume_binding_args, bind_timeout_s),
	BT_ARG_LIST_SET("shape", struct bt_volume_binding_args, shape.items, shape.n, shape.set,
		bt_config_shape_point_table),
};
static const struct bt_schema table =
	BT_ARG_STRUCT("v1", "VolumeBindingArgs", volume_binding_members, struct bt_volume_binding_args);

static void set_defaults(void *opaque, const struct bt_args_env *env, struct bt_arena *arena)
{
	struct bt_volume_binding_args *args = opaque;

	if (!args->bind_timeout_s.set) {
		args->bind_timeout_s = (struct bt_config_int64){.value = 600, .set = true};
	}
	if (args->shape.n || !env->gates[BT_GATE_STORAGE_CAPACITY_SCORING]) {
		return;
	}
	args->shape.items = bt_arena_zalloc(arena, 2 * sizeof *args->shape.items);
	args->shape.items[0] = (struct bt_config_shape_point){.utilization = 0, .score = 10};
	args->shape.items[1] = (struct bt_config_shape_point){.utilization = 100, .score = 0};
	args->shape.n = 2;
	args->shape.set = true;
}

static struct bt_str shape_text(const struct bt_config_shape *shape, struct bt_config_errors *errors)
{
	struct bt_buf buf = {.len = 0};
	struct bt_str text;

	bt_buf_char(&buf, '[');
	for (uint32_t i = 0; i < shape->n; i++) {
		bt_buf_printf(&buf, "%s{\"Utilization\":%d,\"Score\":%d}", i ? "," : "",
			shape->items[i].utilization, shape->items[i].score);
	}
	bt_buf_char(&buf, ']');
	text = bt_config_path(errors, "%.*s", BT_STR_ARG(bt_buf_view(&buf)));
	bt_buf_fini(&buf);
	return text;
}

static void validate_volume_binding(const void *opaque, const struct bt_args_env *env, struct bt_str path,
	struct bt_config_errors *errors)
{
	const struct bt_volume_binding_args *args = opaque;

	if (args->bind_timeout_s.value < 0) {
		bt_config_invalid_int(errors, bt_args_under(errors, path, "bindTimeoutSeconds"),
			args->bind_timeout_s.value,
			"invalid BindTimeoutSeconds, should not be a negative value");
	}
	if (env->gates[BT_GATE_STORAGE_CAPACITY_SCORING]) {
		bt_config_shape_validate(&args->shape, bt_args_under(errors, path, "shape"), errors);
	} else if (args->shape.set) {
		bt_config_invalid_raw(errors, bt_args_under(errors, path, "shape"),
			shape_text(&args->shape, errors),
			"unexpected field `shape`, remove it or turn on the feature gate "
			"StorageCapacityScoring");
	}
}

static int64_t bind_timeout_ns(const void *opaque)
{
	const struct bt_volume_binding_args *args = opaque;

	return args->bind_timeout_s.value * INT64_C(1000000000);
}

const struct bt_plugin_args bt_volume_binding_args_info = {
	.schema = &table,
	.set_defaults = set_defaults,
	.validate = validate_volume_binding,
	.bind_timeout_ns = bind_timeout_ns,
};

/* Score uses Filter's result; a profile without Filter does not score. */
const void *bt_volume_binding_make_settings(const struct bt_settings_env *env, const void *opaque)
{
	const struct bt_volume_binding_args *args = opaque;
	const struct bt_config_shape *from = &args->shape;
	struct bt_volume_binding_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));
	struct bt_volume_shape_point *shape = bt_arena_zalloc(env->arena, from->n * sizeof(*shape));

	for (uint32_t i = 0; i < from->n; i++) {
		shape[i].utilization = from->items[i].utilization;
		shape[i].score = (int64_t)from->items[i].score * BT_SHAPE_SCALE;
	}
	bool scores = env->config.gates[BT_GATE_STORAGE_CAPACITY_SCORING];
	*settings = (struct bt_volume_binding_settings){.scores = scores && (env->points & BT_AT(FILTER)),
		.misses_pre_filter = scores && !(env->points & BT_AT(PRE_FILTER)),
		.shape = shape,
		.shape_n = from->n};
	return settings;
}
