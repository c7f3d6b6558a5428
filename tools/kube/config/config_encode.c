/* SPDX-License-Identifier: Apache-2.0
 * Writing KubeSchedulerConfiguration, by the tables that it is read by.
 */
#include "tools/kube/config/config_encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/duration.h"
#include "engine/base/quote.h"
#include "engine/model/config_error.h"
#include "engine/model/object.h"
#include "tools/format/base64.h"
#include "tools/kube/config/config_schema.h"

#define MEMBER_MAX	 32
#define FLOAT_DIGITS_MAX 9 /* enough for any float */

static const char group_version[] = "kubescheduler.config.k8s.io/v1";

static void write_object(struct bt_buf *out, const struct bt_schema *type, const void *object);

static int by_name(const void *a, const void *b)
{
	return bt_str_cmp(
		(*(const struct bt_field *const *)a)->name, (*(const struct bt_field *const *)b)->name);
}

static bool has_args(const struct bt_config_args *args)
{
	return (args->type && !args->type->raw) || args->raw.len;
}

static bool is_zero(const struct bt_field *member, const char *object)
{
	const void *value = object + member->offset;

	switch (member->type) {
	case BT_FIELD_STR:
	case BT_FIELD_BYTES:
		return !((const struct bt_str *)value)->len;
	case BT_FIELD_BOOL:
		return !*(const bool *)value;
	case BT_FIELD_I32:
		return !*(const int32_t *)value;
	case BT_FIELD_I64:
	case BT_FIELD_DURATION:
		return !*(const int64_t *)value;
	case BT_FIELD_F32:
		return *(const float *)value == 0;
	case BT_FIELD_STR_LIST:
		return !((const struct bt_str_list *)value)->n;
	case BT_FIELD_STR_MAP:
		return !((const struct bt_str_map *)value)->n;
	case BT_FIELD_ARRAY:
		return !*(const uint32_t *)(object + member->count - 1);
	case BT_FIELD_RAW:
		return !has_args((const struct bt_config_args *)(const void *)object);
	default:
		break;
	}
	return false;
}

/* The fewest digits that read back as the same number, as Go writes them. */
static void write_float(struct bt_buf *out, float value)
{
	char text[32];
	int digits = 1;

	do {
		snprintf(text, sizeof(text), "%.*e", digits - 1, (double)value);
	} while (strtof(text, NULL) != value && ++digits < FLOAT_DIGITS_MAX);
	int exponent = atoi(strchr(text, 'e') + 1);

	if (exponent < -6 || exponent >= 21) {
		bt_buf_text(out, text);
	} else {
		bt_buf_printf(
			out, "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 0, strtod(text, NULL));
	}
}

static void write_bytes(struct bt_buf *out, struct bt_str bytes)
{
	bt_buf_char(out, '"');
	bt_base64_encode(bytes, out);
	bt_buf_char(out, '"');
}

static void write_strings(struct bt_buf *out, const struct bt_str_list *list)
{
	bt_buf_char(out, '[');
	for (uint32_t i = 0; i < list->n; i++) {
		bt_buf_text(out, i ? "," : "");
		bt_quote_json_go(out, list->items[i]);
	}
	bt_buf_char(out, ']');
}

static void write_map(struct bt_buf *out, const struct bt_str_map *map)
{
	bt_buf_char(out, '{');
	for (uint32_t i = 0; i < map->n; i++) {
		bt_buf_text(out, i ? "," : "");
		bt_quote_json_go(out, map->items[i].key);
		bt_buf_char(out, ':');
		bt_quote_json_go(out, map->items[i].value);
	}
	bt_buf_char(out, '}');
}

static void write_duration(struct bt_buf *out, int64_t ns)
{
	bt_buf_char(out, '"');
	bt_duration_text(out, ns);
	bt_buf_char(out, '"');
}

static void write_list(struct bt_buf *out, const struct bt_field *member, const char *object)
{
	const char *items = *(const char *const *)(object + member->offset);
	uint32_t n = *(const uint32_t *)(object + member->count - 1);

	bt_buf_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		bt_buf_text(out, i ? "," : "");
		write_object(out, member->schema, items + (size_t)i * member->schema->bytes);
	}
	bt_buf_char(out, ']');
}

/* The arguments of a plugin: typed, or as they were read. */
static void write_args(struct bt_buf *out, const struct bt_config_args *args)
{
	if (args->type && !args->type->raw) {
		write_object(out, args->type->schema, args->value);
	} else {
		bt_buf_str(out, args->raw);
	}
}

static void write_value(
	struct bt_buf *out, const struct bt_schema *type, const struct bt_field *member, const char *object)
{
	const void *value = object + member->offset;

	switch (member->type) {
	case BT_FIELD_STR:
		bt_quote_json_go(out, *(const struct bt_str *)value);
		break;
	case BT_FIELD_BYTES:
		write_bytes(out, *(const struct bt_str *)value);
		break;
	case BT_FIELD_BOOL:
		bt_buf_text(out, *(const bool *)value ? "true" : "false");
		break;
	case BT_FIELD_I32:
		bt_buf_int(out, *(const int32_t *)value);
		break;
	case BT_FIELD_I64:
		bt_buf_int(out, *(const int64_t *)value);
		break;
	case BT_FIELD_F32:
		write_float(out, *(const float *)value);
		break;
	case BT_FIELD_DURATION:
		write_duration(out, *(const int64_t *)value);
		break;
	case BT_FIELD_STR_LIST:
		write_strings(out, value);
		break;
	case BT_FIELD_STR_MAP:
		write_map(out, value);
		break;
	case BT_FIELD_OBJECT:
		write_object(out, member->schema, value);
		break;
	case BT_FIELD_ARRAY:
		write_list(out, member, object);
		break;
	case BT_FIELD_RAW:
		write_args(out, (const struct bt_config_args *)(const void *)object);
		break;
	case BT_FIELD_META:
		bt_quote_json_go(out,
			!bt_str_is(member->name, "kind") ? bt_str(group_version) : bt_str(type->go_name));
		break;
	default:
		break;
	}
}

/* A member that may be absent is written when it is there, any other when it says something. */
static bool is_written(const struct bt_field *member, const char *object)
{
	if (member->flag && member->type != BT_FIELD_ARRAY) {
		return *(const bool *)(object + member->flag - 1);
	}
	return !is_zero(member, object);
}

static void write_object(struct bt_buf *out, const struct bt_schema *type, const void *object)
{
	const struct bt_field *members[MEMBER_MAX];
	unsigned written_n = 0;

	BT_REQUIRE(type->field_n <= MEMBER_MAX);
	for (uint32_t i = 0; i < type->field_n; i++) {
		members[i] = &type->fields[i];
	}
	qsort(members, type->field_n, sizeof(members[0]), by_name);
	bt_buf_char(out, '{');
	for (uint32_t i = 0; i < type->field_n; i++) {
		size_t start = out->len, from;

		if (!is_written(members[i], object)) {
			continue;
		}
		bt_buf_printf(out, "%s\"%.*s\":", written_n ? "," : "", BT_STR_ARG(members[i]->name));
		from = out->len;
		write_value(out, type, members[i], object);
		/* An object that has nothing to say and would be there anyway is left out. */
		if (!members[i]->flag && members[i]->type == BT_FIELD_OBJECT && out->len == from + 2) {
			out->len = start;
			continue;
		}
		written_n++;
	}
	bt_buf_char(out, '}');
}

void bt_config_encode(const struct bt_config *config, struct bt_buf *out_text)
{
	write_object(out_text, &bt_config_schema, config);
}
