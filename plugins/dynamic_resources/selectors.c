/* SPDX-License-Identifier: Apache-2.0
 * Devices and expressions brought together.
 */
#include "plugins/dynamic_resources/selectors.h"

#include "cache/device_view.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/model/name_refs.h"
#include "plugins/dynamic_resources/cel.h"

/* So many expressions are kept compiled; one more, and all are dropped. */
#define PROGRAM_MAX 256

struct selectors_program {
	struct bt_cel *cel; /* NULL: it does not compile */
	struct bt_buf error;
};

struct selectors {
	struct bt_cel_scratch scratch;
	struct bt_arena arena; /* the device that is shown */
	struct selectors_program programs[PROGRAM_MAX];
	struct bt_map program_ixs; /* expression -> index */
	struct bt_name_refs names; /* the expressions */
	uint32_t program_n;
};

void *bt_selectors_create(void)
{
	return bt_mem_zalloc(1, sizeof(struct selectors));
}

static void drop_programs(struct selectors *s)
{
	for (uint32_t i = 0; i < s->program_n; i++) {
		bt_cel_destroy(s->programs[i].cel);
		bt_buf_fini(&s->programs[i].error);
	}
	s->program_n = 0;
	bt_map_fini(&s->program_ixs);
	bt_name_refs_release(&s->names);
	BT_INVARIANT(s->program_ixs.count == 0);
}

void bt_selectors_destroy(void *selectors)
{
	struct selectors *s = selectors;

	drop_programs(s);
	bt_cel_scratch_fini(&s->scratch);
	bt_arena_fini(&s->arena);
	bt_mem_free(s);
}

static const struct selectors_program *program_of(
	struct selectors *s, struct bt_intern *intern, uint32_t expression)
{
	uint32_t ix;

	if (bt_map_get(&s->program_ixs, expression, &ix)) {
		return &s->programs[ix];
	}
	if (s->program_n == PROGRAM_MAX) {
		drop_programs(s);
	}
	BT_INVARIANT(s->program_n < PROGRAM_MAX);
	struct selectors_program *program = &s->programs[s->program_n];
	*program = (struct selectors_program){0};
	s->names.intern = intern;
	bt_name_refs_add_name(&s->names, expression);
	/* The scheduler compiles what is stored, to which all fields are open, whatever the gates. */
	program->cel = bt_cel_compile(
		bt_intern_str(intern, expression), BT_CEL_CONSUMABLE_CAPACITY, &program->error);
	bt_map_put(&s->program_ixs, expression, s->program_n++);
	return program;
}

/* A value that no expression can be shown makes the device invalid. */
static void show_attribute(struct selectors *s, const struct bt_intern *intern,
	const struct bt_attribute *from, struct bt_cel_device *device, struct bt_cel_attribute *to)
{
	struct bt_str name = bt_intern_str(intern, from->name), text = bt_intern_str(intern, from->text);
	struct bt_buf why = {0};

	bt_cel_split_name(name, device->driver, &to->domain, &to->name);
	switch (from->type) {
	case BT_ATTRIBUTE_INT:
		to->kind = BT_CEL_INT;
		to->integer = from->number;
		return;
	case BT_ATTRIBUTE_BOOL:
		to->kind = BT_CEL_BOOL;
		to->boolean = from->number != 0;
		return;
	case BT_ATTRIBUTE_STRING:
		to->kind = BT_CEL_STRING;
		to->string = text;
		return;
	case BT_ATTRIBUTE_VERSION:
		to->kind = BT_CEL_VERSION;
		bt_buf_printf(&why, "attribute %.*s: parse semantic version: ", BT_STR_ARG(name));
		if (bt_cel_semver_parse(text, &to->version, &why)) {
			bt_buf_fini(&why);
			return;
		}
		break;
	case BT_ATTRIBUTE_NONE:
		bt_buf_printf(&why, "attribute %.*s: unsupported attribute value", BT_STR_ARG(name));
		break;
	}
	device->invalid = (struct bt_str){bt_arena_copy(&s->arena, why.ptr, why.len), why.len};
	bt_buf_fini(&why);
}

static struct bt_cel_device show(
	struct selectors *s, const struct bt_intern *intern, uint32_t driver, const struct bt_device *device)
{
	bt_arena_reset(&s->arena);
	struct bt_cel_attribute *attributes =
		bt_arena_zalloc(&s->arena, device->attribute_n * sizeof(*attributes));
	struct bt_cel_capacity *capacities =
		bt_arena_zalloc(&s->arena, device->capacity_n * sizeof(*capacities));
	struct bt_cel_device shown = {
		.driver = bt_intern_str(intern, driver),
		.attributes = attributes,
		.capacity = capacities,
		.attribute_n = device->attribute_n,
		.capacity_n = device->capacity_n,
		.allow_multiple_allocations = device->allow_multiple,
	};

	for (uint32_t i = 0; i < device->attribute_n; i++) {
		show_attribute(s, intern, &device->attributes[i], &shown, &attributes[i]);
	}
	for (uint32_t i = 0; i < device->capacity_n; i++) {
		bt_cel_split_name(bt_intern_str(intern, device->capacities[i].name), shown.driver,
			&capacities[i].domain, &capacities[i].name);
		capacities[i].value = device->capacities[i].value;
	}
	return shown;
}

enum bt_device_answer bt_selectors_ask(void *selectors, struct bt_intern *intern, uint32_t expression,
	uint32_t driver, const struct bt_device *device, struct bt_buf *out_error)
{
	struct selectors *s = selectors;
	const struct selectors_program *program = program_of(s, intern, expression);

	if (!program->cel) {
		bt_buf_str(out_error, bt_buf_view(&program->error));
		return BT_DEVICE_BAD_EXPRESSION;
	}
	struct bt_cel_device shown = show(s, intern, driver, device);
	switch (bt_cel_match(program->cel, &shown, &s->scratch, out_error)) {
	case BT_CEL_TRUE:
		return BT_DEVICE_YES;
	case BT_CEL_FALSE:
		return BT_DEVICE_NO;
	case BT_CEL_ERROR:
		break;
	}
	return BT_DEVICE_FAILED;
}
