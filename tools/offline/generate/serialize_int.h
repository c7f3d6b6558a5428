/* SPDX-License-Identifier: Apache-2.0
 * Parts of objects, in serialize_parts.c, that serialize.c and serialize_pod.c share; each writes nothing
 * when there is nothing.
 */
#pragma once

#include <stdint.h>

#include "engine/model/object.h"
#include "tools/cli/doc_write.h"

void bt_serialize_optional(struct bt_doc *doc, const char *key, struct bt_str value);
void bt_serialize_time(struct bt_doc *doc, const char *key, int64_t ns);
void bt_serialize_list(struct bt_doc *doc, const char *key, const struct bt_str_list *list);
void bt_serialize_map(struct bt_doc *doc, const char *key, const struct bt_str_map *map);
void bt_serialize_resources(struct bt_doc *doc, const char *key, const struct bt_resource_list *list);
void bt_serialize_requirements(
	struct bt_doc *doc, const char *key, const struct bt_requirement_object_list *list);
void bt_serialize_selector(
	struct bt_doc *doc, const char *key, const struct bt_label_selector_object *selector);

/* A pod's spec and status. */
void bt_serialize_pod(const struct bt_pod_object *pod, struct bt_doc *doc);
