/* SPDX-License-Identifier: Apache-2.0
 * Parts of objects that are written in several places: times, lists, maps, resources, selectors.
 */
#include "tools/offline/generate/serialize_int.h"

#include <time.h>

#define NS INT64_C(1000000000)

void bt_serialize_optional(struct bt_doc *doc, const char *key, struct bt_str value)
{
	if (value.len > 0) {
		bt_doc_key(doc, key);
		bt_doc_str(doc, value);
	}
}

void bt_serialize_time(struct bt_doc *doc, const char *key, int64_t ns)
{
	time_t seconds = (time_t)(ns / NS);
	char text[40];
	struct tm tm;

	if (ns == 0 || !gmtime_r(&seconds, &tm)) {
		return;
	}
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	bt_doc_key(doc, key);
	bt_doc_text(doc, text);
}

void bt_serialize_list(struct bt_doc *doc, const char *key, const struct bt_str_list *list)
{
	if (list->n == 0) {
		return;
	}
	bt_doc_key(doc, key);
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < list->n; i++) {
		bt_doc_str(doc, list->items[i]);
	}
	bt_doc_end(doc);
}

void bt_serialize_map(struct bt_doc *doc, const char *key, const struct bt_str_map *map)
{
	if (map->n == 0) {
		return;
	}
	bt_doc_key(doc, key);
	bt_doc_begin_object(doc);
	for (uint32_t i = 0; i < map->n; i++) {
		bt_doc_key_str(doc, map->items[i].key);
		bt_doc_str(doc, map->items[i].value);
	}
	bt_doc_end(doc);
}

void bt_serialize_resources(struct bt_doc *doc, const char *key, const struct bt_resource_list *list)
{
	char text[BT_QUANTITY_TEXT_MAX];

	if (list->n == 0) {
		return;
	}
	bt_doc_key(doc, key);
	bt_doc_begin_object(doc);
	for (uint32_t i = 0; i < list->n; i++) {
		size_t n = bt_quantity_text(list->items[i].quantity, text);

		bt_doc_key_str(doc, list->items[i].name);
		bt_doc_str(doc, (struct bt_str){text, n});
	}
	bt_doc_end(doc);
}

void bt_serialize_requirements(
	struct bt_doc *doc, const char *key, const struct bt_requirement_object_list *list)
{
	if (list->n == 0) {
		return;
	}
	bt_doc_key(doc, key);
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < list->n; i++) {
		bt_doc_begin_object(doc);
		bt_doc_key(doc, "key");
		bt_doc_str(doc, list->items[i].key);
		bt_doc_key(doc, "operator");
		bt_doc_str(doc, list->items[i].operator_);
		bt_serialize_list(doc, "values", &list->items[i].values);
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

void bt_serialize_selector(
	struct bt_doc *doc, const char *key, const struct bt_label_selector_object *selector)
{
	if (!selector->set) {
		return;
	}
	bt_doc_key(doc, key);
	bt_doc_begin_object(doc);
	bt_serialize_map(doc, "matchLabels", &selector->match_labels);
	bt_serialize_requirements(doc, "matchExpressions", &selector->match_expressions);
	bt_doc_end(doc);
}
