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

	*file = (struct case_file){0};
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

static void add_attribute(struct case_file *file, const struct bt_str *fields)
{
	struct bt_cel_device *device = &file->devices[file->device_n - 1].device;
	BT_REQUIRE(device->attribute_n < ATTRIBUTES_MAX);
	struct bt_cel_attribute *attribute =
		&file->devices[file->device_n - 1].attributes[device->attribute_n++];

	bt_cel_split_name(fields[1], device->driver, &attribute->domain, &attribute->name);
	if (bt_str_is(fields[2], "int")) {
		attribute->kind = BT_CEL_INT;
		attribute->integer = strtoll(fields[3].ptr, NULL, 10);
	} else if (bt_str_is(fields[2], "bool")) {
		attribute->kind = BT_CEL_BOOL;
		attribute->boolean = bt_str_is(fields[3], "true");
	} else if (bt_str_is(fields[2], "string")) {
		attribute->kind = BT_CEL_STRING;
		attribute->string = fields[3];
	} else {
		attribute->kind = BT_CEL_VERSION;
		BT_REQUIRE(bt_cel_semver_parse(fields[3], &attribute->version, NULL));
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
		} else if (bt_str_is(fields[0], "case")) {
			*out_case = (struct cel_case){.device = case_file_device(file, fields[1]),
				.result = fields[2],
				.cost = strtoull(fields[3].ptr, NULL, 10),
				.expression = fields[4],
				.text = fields[5]};
			return true;
		}
	}
	return false;
}
