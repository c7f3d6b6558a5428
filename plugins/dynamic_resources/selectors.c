/* SPDX-License-Identifier: Apache-2.0
 * Evaluates expressions over devices.
 */
#include "plugins/dynamic_resources/selectors.h"

#include "cache/device_view.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/model/name_refs.h"
#include "plugins/dynamic_resources/cel.h"

/* Maximum number of cached programs; the next one drops all. */
#define PROGRAM_MAX 256

struct selectors_program {
	struct bt_cel *cel; /* NULL: it does not compile */
	struct bt_buf error;
};

struct selectors {
	unsigned language; /* enum bt_cel_feature */
	struct bt_cel_scratch scratch;
	struct bt_arena arena; /* of the device shown to expressions */
	struct selectors_program programs[PROGRAM_MAX];
	struct bt_map program_ixs; /* feature and expression -> index */
	struct bt_name_refs names; /* the expressions */
	uint32_t program_n;
};

/* The language for stored expressions: all fields are enabled, regardless of gates. */
static unsigned language_of(const struct bt_device_features *features)
{
	const struct bt_release *release = features->release;
	bool lists = features->list_attributes || bt_release_has(release, BT_RULE_SELECTORS_READ_LISTS);
	unsigned language = BT_CEL_CONSUMABLE_CAPACITY | (lists ? BT_CEL_LISTS : 0);

	if (bt_release_has(release, BT_RULE_SHORT_LISTS_INCLUDE)) {
		language |= BT_CEL_SHORT_INCLUDES;
	}
	return language | (bt_release_has(release, BT_RULE_LISTS_INCLUDE) ? BT_CEL_INCLUDES : 0);
}

void *bt_selectors_create(const struct bt_device_features *features)
{
	struct selectors *s = bt_mem_zalloc(1, sizeof(*s));

	s->language = language_of(features);
	return s;
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

/* use: 0, or BT_CEL_DERIVES. */
static const struct selectors_program *program_of(
	struct selectors *s, struct bt_intern *intern, uint32_t expression, unsigned use)
{
	uint64_t key = bt_pair_key(use, expression);
	uint32_t ix;

	if (bt_map_get(&s->program_ixs, key, &ix)) {
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
	program->cel = bt_cel_compile(bt_intern_str(intern, expression), s->language | use, &program->error);
	bt_map_put(&s->program_ixs, key, s->program_n++);
	return program;
}

/* Converts one value. item: a number, or a name. Returns false with the reason when
 * expressions cannot read it. */
static bool show_value(const struct bt_intern *intern, enum bt_cel_attribute_kind kind, int64_t item,
	union bt_cel_scalar *to, struct bt_buf *why)
{
	switch (kind) {
	case BT_CEL_INT:
		to->integer = item;
		break;
	case BT_CEL_BOOL:
		to->boolean = item != 0;
		break;
	case BT_CEL_STRING:
		to->string = bt_intern_str(intern, (uint32_t)item);
		break;
	case BT_CEL_VERSION:
		bt_buf_text(why, "parse semantic version: ");
		return bt_cel_semver_parse(bt_intern_str(intern, (uint32_t)item), &to->version, why);
	}
	return true;
}

static bool show_list(struct selectors *s, const struct bt_intern *intern, const struct bt_attribute *from,
	struct bt_cel_attribute *to, struct bt_buf *why)
{
	union bt_cel_scalar *elements = bt_arena_zalloc(&s->arena, from->n * sizeof(*elements));

	for (uint32_t i = 0; i < from->n; i++) {
		if (!show_value(intern, to->kind, from->items[i], &elements[i], why)) {
			return false;
		}
		why->len = 0;
	}
	to->list = true;
	to->n = from->n;
	to->elements = elements;
	return true;
}

/* A value that expressions cannot read makes the device invalid. */
static void show_attribute(struct selectors *s, const struct bt_intern *intern,
	const struct bt_attribute *from, struct bt_cel_device *device, struct bt_cel_attribute *to)
{
	static const enum bt_cel_attribute_kind kinds[] = {[BT_ATTRIBUTE_INT] = BT_CEL_INT,
		[BT_ATTRIBUTE_BOOL] = BT_CEL_BOOL,
		[BT_ATTRIBUTE_STRING] = BT_CEL_STRING,
		[BT_ATTRIBUTE_VERSION] = BT_CEL_VERSION};
	struct bt_str name = bt_intern_str(intern, from->name);
	enum bt_attribute_type type = from->type;
	bool list = type >= BT_ATTRIBUTE_INTS, shown = false;
	struct bt_buf why = {0};

	bt_cel_split_name(name, device->driver, &to->domain, &to->name);
	if (type == BT_ATTRIBUTE_NONE || (list && !(s->language & BT_CEL_LISTS))) {
		bt_buf_text(&why, "unsupported attribute value");
	} else {
		to->kind = kinds[bt_attribute_element(type)];
		bool text = type == BT_ATTRIBUTE_STRING || type == BT_ATTRIBUTE_VERSION;
		shown = list ? show_list(s, intern, from, to, &why)
			     : show_value(
				       intern, to->kind, text ? from->text : from->number, &to->scalar, &why);
	}
	if (!shown) {
		struct bt_buf text = {0};

		bt_buf_printf(&text, "attribute %.*s: %.*s", BT_STR_ARG(name), BT_STR_ARG(bt_buf_view(&why)));
		device->invalid = (struct bt_str){bt_arena_copy(&s->arena, text.ptr, text.len), text.len};
		bt_buf_fini(&text);
	}
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

enum bt_device_answer bt_selectors_match(void *selectors, struct bt_intern *intern, uint32_t expression,
	uint32_t driver, const struct bt_device *device, struct bt_buf *out_error)
{
	struct selectors *s = selectors;
	const struct selectors_program *program = program_of(s, intern, expression, 0);

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

/* ---- derived attributes ---- */

/* The version as blang/semver prints it. */
static uint32_t keep_version(struct bt_name_refs *held, const struct bt_cel_semver *version)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text, "%llu.%llu.%llu", (unsigned long long)version->major,
		(unsigned long long)version->minor, (unsigned long long)version->patch);
	if (version->pre.len) {
		bt_buf_printf(&text, "-%.*s", BT_STR_ARG(version->pre));
	}
	if (version->build.len) {
		bt_buf_printf(&text, "+%.*s", BT_STR_ARG(version->build));
	}
	uint32_t name = bt_name_refs_add(held, bt_buf_view(&text));
	bt_buf_fini(&text);
	return name;
}

/* Converts to a number, or a name. */
static int64_t keep_value(
	struct bt_name_refs *held, enum bt_cel_attribute_kind kind, const union bt_cel_scalar *from)
{
	switch (kind) {
	case BT_CEL_INT:
		return from->integer;
	case BT_CEL_BOOL:
		return from->boolean;
	case BT_CEL_STRING:
		return bt_name_refs_add(held, from->string);
	case BT_CEL_VERSION:
		return keep_version(held, &from->version);
	}
	return 0;
}

static void keep_attribute(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_cel_attribute *from, struct bt_attribute *out)
{
	static const enum bt_attribute_type types[] = {[BT_CEL_INT] = BT_ATTRIBUTE_INT,
		[BT_CEL_BOOL] = BT_ATTRIBUTE_BOOL,
		[BT_CEL_STRING] = BT_ATTRIBUTE_STRING,
		[BT_CEL_VERSION] = BT_ATTRIBUTE_VERSION};
	enum bt_attribute_type type = types[from->kind];

	*out = (struct bt_attribute){.type = type};
	if (from->list) {
		int64_t *items = bt_arena_zalloc(arena, from->n * sizeof(*items));

		for (uint32_t i = 0; i < from->n; i++) {
			items[i] = keep_value(held, from->kind, &from->elements[i]);
		}
		out->type = type - BT_ATTRIBUTE_INT + BT_ATTRIBUTE_INTS;
		out->items = items;
		out->n = from->n;
	} else if (type == BT_ATTRIBUTE_STRING || type == BT_ATTRIBUTE_VERSION) {
		out->text = (uint32_t)keep_value(held, from->kind, &from->scalar);
	} else {
		out->number = keep_value(held, from->kind, &from->scalar);
	}
}

enum bt_device_answer bt_selectors_derive(void *selectors, struct bt_name_refs *held, struct bt_arena *arena,
	uint32_t expression, uint32_t driver, const struct bt_device *device, struct bt_attribute *out_value,
	struct bt_buf *out_error)
{
	struct selectors *s = selectors;
	const struct selectors_program *program = program_of(s, held->intern, expression, BT_CEL_DERIVES);
	struct bt_cel_attribute value;

	if (!program->cel) {
		bt_buf_str(out_error, bt_buf_view(&program->error));
		return BT_DEVICE_BAD_EXPRESSION;
	}
	struct bt_cel_device shown = show(s, held->intern, driver, device);
	if (bt_cel_derive(program->cel, &shown, &s->scratch, out_error, &value) != BT_CEL_TRUE) {
		return BT_DEVICE_FAILED;
	}
	keep_attribute(held, arena, &value, out_value);
	return BT_DEVICE_YES;
}
