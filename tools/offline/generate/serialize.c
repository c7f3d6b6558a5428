/* SPDX-License-Identifier: Apache-2.0
 * Objects as streams, and every kind but pods, which are in serialize_pod.c; parts of objects are in
 * serialize_parts.c.
 */
#include "tools/offline/generate/serialize.h"

#include "tools/offline/generate/serialize_int.h"

static void write_meta(struct bt_doc *doc, const struct bt_meta_object *meta)
{
	bt_doc_key(doc, "metadata");
	bt_doc_begin_object(doc);
	bt_serialize_optional(doc, "name", meta->name);
	bt_serialize_optional(doc, "namespace", meta->namespace_);
	bt_serialize_optional(doc, "uid", meta->uid);
	bt_serialize_time(doc, "creationTimestamp", meta->creation_ns);
	bt_serialize_time(doc, "deletionTimestamp", meta->deletion_ns);
	if (meta->deletion_ns != 0) {
		bt_doc_key(doc, "deletionGracePeriodSeconds");
		bt_doc_int(doc, meta->deletion_grace_s);
	}
	bt_serialize_map(doc, "labels", &meta->labels);
	bt_serialize_map(doc, "annotations", &meta->annotations);
	bt_doc_end(doc);
}

static void write_taints(struct bt_doc *doc, const struct bt_node_object *node)
{
	if (node->taint_n == 0) {
		return;
	}
	bt_doc_key(doc, "taints");
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < node->taint_n; i++) {
		bt_doc_begin_object(doc);
		bt_doc_key(doc, "key");
		bt_doc_str(doc, node->taints[i].key);
		bt_serialize_optional(doc, "value", node->taints[i].value);
		bt_doc_key(doc, "effect");
		bt_doc_str(doc, node->taints[i].effect);
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_images(struct bt_doc *doc, const struct bt_node_object *node)
{
	if (node->image_n == 0) {
		return;
	}
	bt_doc_key(doc, "images");
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < node->image_n; i++) {
		bt_doc_begin_object(doc);
		bt_serialize_list(doc, "names", &node->images[i].names);
		bt_doc_key(doc, "sizeBytes");
		bt_doc_int(doc, node->images[i].size_bytes);
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_conditions(struct bt_doc *doc, const struct bt_node_object *node)
{
	if (node->condition_n == 0) {
		return;
	}
	bt_doc_key(doc, "conditions");
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < node->condition_n; i++) {
		bt_doc_begin_object(doc);
		bt_serialize_optional(doc, "type", node->conditions[i].type);
		bt_serialize_optional(doc, "status", node->conditions[i].status);
		bt_serialize_optional(doc, "reason", node->conditions[i].reason);
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_node(struct bt_doc *doc, const struct bt_node_object *node)
{
	bt_doc_key(doc, "spec");
	bt_doc_begin_object(doc);
	if (node->unschedulable) {
		bt_doc_key(doc, "unschedulable");
		bt_doc_bool(doc, true);
	}
	write_taints(doc, node);
	bt_doc_end(doc);
	bt_doc_key(doc, "status");
	bt_doc_begin_object(doc);
	bt_serialize_resources(doc, "capacity", &node->capacity);
	bt_serialize_resources(doc, "allocatable", &node->allocatable);
	write_images(doc, node);
	write_conditions(doc, node);
	bt_doc_end(doc);
}

static void write_class(struct bt_doc *doc, const struct bt_priority_class_object *class)
{
	bt_doc_key(doc, "value");
	bt_doc_int(doc, class->value);
	if (class->global_default) {
		bt_doc_key(doc, "globalDefault");
		bt_doc_bool(doc, true);
	}
	bt_serialize_optional(doc, "preemptionPolicy", class->preemption_policy);
}

static void write_budget(struct bt_doc *doc, const struct bt_pdb_object *budget)
{
	bt_doc_key(doc, "spec");
	bt_doc_begin_object(doc);
	bt_serialize_selector(doc, "selector", &budget->selector);
	bt_doc_end(doc);
	bt_doc_key(doc, "status");
	bt_doc_begin_object(doc);
	bt_doc_key(doc, "disruptionsAllowed");
	bt_doc_int(doc, budget->disruptions_allowed);
	bt_doc_end(doc);
}

void bt_serialize_object(const struct bt_object *object, struct bt_doc *doc)
{
	bt_doc_begin_object(doc);
	bt_doc_key(doc, "apiVersion");
	bt_doc_str(doc, object->api_version);
	bt_doc_key(doc, "kind");
	bt_doc_str(doc, object->kind_name);
	write_meta(doc, &object->meta);
	if (object->kind == BT_KIND_NODE) {
		write_node(doc, &object->node);
	} else if (object->kind == BT_KIND_POD) {
		bt_serialize_pod(&object->pod, doc);
	} else if (object->kind == BT_KIND_PRIORITY_CLASS) {
		write_class(doc, &object->priority_class);
	} else if (object->kind == BT_KIND_POD_DISRUPTION_BUDGET) {
		write_budget(doc, &object->pdb);
	}
	bt_doc_end(doc);
}

void bt_serialize_begin(struct bt_serialize_stream *stream, enum bt_doc_style style, struct bt_buf *out)
{
	*stream = (struct bt_serialize_stream){.style = style};
	if (style != BT_DOC_YAML) {
		bt_buf_text(out, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n");
	}
}

void bt_serialize_next(struct bt_serialize_stream *stream, const struct bt_object *object, struct bt_buf *out)
{
	struct bt_doc doc;

	if (stream->any) {
		bt_buf_text(out, stream->style == BT_DOC_YAML ? "---\n" : ",\n");
	}
	stream->any = true;
	bt_doc_init(&doc, stream->style, out);
	bt_serialize_object(object, &doc);
}

void bt_serialize_end(struct bt_serialize_stream *stream, struct bt_buf *out)
{
	if (stream->style != BT_DOC_YAML) {
		bt_buf_text(out, stream->any ? "\n]}\n" : "]}\n");
	}
}
