/* SPDX-License-Identifier: Apache-2.0
 * Reads case files.
 */
#include "case_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/check.h"

void case_file_open(struct case_file *file, const char *path)
{
	FILE *stream = fopen(path, "rb");
	struct bt_buf text = {0};
	char chunk[4096];
	size_t n;

	*file = (struct case_file){.language = BT_CEL_CONSUMABLE_CAPACITY};
	if (!stream) {
		perror(path);
		exit(1);
	}
	while ((n = fread(chunk, 1, sizeof(chunk), stream)) > 0) {
		bt_buf_add(&text, chunk, n);
	}
	fclose(stream);
	file->text = (struct bt_str){bt_arena_copy(&file->arena, text.ptr, text.len), text.len};
	bt_buf_fini(&text);
}

void case_file_close(struct case_file *file)
{
	bt_arena_fini(&file->arena);
}

const struct bt_cel_device *case_file_device(const struct case_file *file, struct bt_str name)
{
	for (uint32_t i = 0; i < file->device_n; i++) {
		if (bt_str_eq(file->devices[i].name, name)) {
			return &file->devices[i].device;
		}
	}
	return NULL;
}

static struct bt_str unescape(struct case_file *file, struct bt_str field)
{
	char *out = bt_arena_copy(&file->arena, field.ptr, field.len);
	size_t n = 0;

	for (size_t i = 0; i < field.len; i++) {
		char c = field.ptr[i];

		if (c == '\\' && i + 1 < field.len) {
			c = field.ptr[++i];
			c = (char)(c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c);
		}
		out[n++] = c;
	}
	return (struct bt_str){out, n};
}

/* The fields of the next line; 0: there is none. */
static uint32_t read_fields(struct case_file *file, struct bt_str fields[FIELDS_MAX])
{
	uint32_t n = 0;

	if (file->next >= file->text.len) {
		return 0;
	}
	size_t end = bt_str_find(file->text, '\n', file->next);
	for (size_t at = file->next; n < FIELDS_MAX && at <= end;) {
		size_t tab = bt_str_find(file->text, '\t', at);

		tab = tab < end ? tab : end;
		fields[n++] = unescape(file, bt_str_sub(file->text, at, tab));
		at = tab + 1;
	}
	for (uint32_t i = n; i < FIELDS_MAX; i++) {
		fields[i] = (struct bt_str){"", 0};
	}
	file->next = end + 1;
	return n;
}

static void add_device(struct case_file *file, const struct bt_str *fields)
{
	BT_REQUIRE(file->device_n < DEVICES_MAX);
	struct case_device *device = &file->devices[file->device_n++];
	device->name = fields[1];
	device->device = (struct bt_cel_device){.driver = fields[2],
		.attributes = device->attributes,
		.capacity = device->capacity,
		.allow_multiple_allocations = bt_str_is(fields[3], "true")};
}

static void read_scalar(enum bt_cel_attribute_kind kind, struct bt_str text, union bt_cel_scalar *out)
{
	switch (kind) {
	case BT_CEL_INT:
		out->integer = strtoll(text.ptr, NULL, 10);
		break;
	case BT_CEL_BOOL:
		out->boolean = bt_str_is(text, "true");
		break;
	case BT_CEL_STRING:
		out->string = text;
		break;
	case BT_CEL_VERSION:
		BT_REQUIRE(bt_cel_semver_parse(text, &out->version, NULL));
		break;
	}
}

static void read_list(struct case_file *file, struct bt_str text, struct bt_cel_attribute *attribute)
{
	union bt_cel_scalar *elements = bt_arena_zalloc(&file->arena, (text.len + 1) * sizeof(*elements));

	attribute->list = true;
	attribute->elements = elements;
	for (size_t at = 0; text.len && at <= text.len;) {
		size_t comma = bt_str_find(text, ',', at);

		read_scalar(attribute->kind, bt_str_sub(text, at, comma), &elements[attribute->n++]);
		at = comma + 1;
	}
}

static void set_language(struct case_file *file, struct bt_str words)
{
	static const struct {
		const char *word;
		enum bt_cel_feature feature;
	} features[] = {{"lists", BT_CEL_LISTS}, {"includes", BT_CEL_INCLUDES},
		{"short-includes", BT_CEL_SHORT_INCLUDES}};

	file->language = BT_CEL_CONSUMABLE_CAPACITY;
	for (size_t at = 0; at < words.len;) {
		size_t blank = bt_str_find(words, ' ', at);

		for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++) {
			file->language |= bt_str_is(bt_str_sub(words, at, blank), features[i].word)
						  ? (unsigned)features[i].feature
						  : 0;
		}
		at = blank + 1;
	}
}

static void add_attribute(struct case_file *file, const struct bt_str *fields)
{
	static const char *const kinds[] = {[BT_CEL_INT] = "int",
		[BT_CEL_BOOL] = "bool",
		[BT_CEL_STRING] = "string",
		[BT_CEL_VERSION] = "version"};
	struct bt_cel_device *device = &file->devices[file->device_n - 1].device;
	BT_REQUIRE(device->attribute_n < ATTRIBUTES_MAX);
	struct bt_cel_attribute *attribute =
		&file->devices[file->device_n - 1].attributes[device->attribute_n++];

	bt_cel_split_name(fields[1], device->driver, &attribute->domain, &attribute->name);
	size_t kind = 0;
	while (strncmp(fields[2].ptr, kinds[kind], strlen(kinds[kind])) != 0) {
		kind++;
		BT_REQUIRE(kind < sizeof(kinds) / sizeof(*kinds));
	}
	attribute->kind = (enum bt_cel_attribute_kind)kind;
	if (fields[2].len > strlen(kinds[kind])) { /* with an s */
		read_list(file, fields[3], attribute);
	} else {
		read_scalar(attribute->kind, fields[3], &attribute->scalar);
	}
}

static void add_capacity(struct case_file *file, const struct bt_str *fields)
{
	struct bt_cel_device *device = &file->devices[file->device_n - 1].device;
	BT_REQUIRE(device->capacity_n < ATTRIBUTES_MAX);
	struct bt_cel_capacity *capacity = &file->devices[file->device_n - 1].capacity[device->capacity_n++];

	bt_cel_split_name(fields[1], device->driver, &capacity->domain, &capacity->name);
	BT_REQUIRE(bt_quantity_parse(fields[2], &capacity->value) == BT_OK);
}

bool case_file_next(struct case_file *file, struct cel_case *out_case)
{
	struct bt_str fields[FIELDS_MAX];

	while (read_fields(file, fields)) {
		if (bt_str_is(fields[0], "device")) {
			add_device(file, fields);
		} else if (bt_str_is(fields[0], "attribute")) {
			add_attribute(file, fields);
		} else if (bt_str_is(fields[0], "capacity")) {
			add_capacity(file, fields);
		} else if (bt_str_is(fields[0], "language")) {
			set_language(file, fields[1]);
		} else if (bt_str_is(fields[0], "case")) {
			*out_case = (struct cel_case){.device = case_file_device(file, fields[1]),
				.language = file->language,
				.result = fields[2],
				.cost = strtoull(fields[3].ptr, NULL, 10),
				.expression = fields[4],
				.text = fields[5]};
			return true;
		}
	}
	return false;
}
