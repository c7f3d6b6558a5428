/* SPDX-License-Identifier: Apache-2.0
 * The files that operations name, and the objects in them: read once, expanded for an index, decoded, and
 * given the API server's defaults. Problems are reported with file, line and field. Context: one thread;
 * allocates.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/model/object.h"
#include "tools/offline/bench/template.h"
#include "tools/format/diagnosis.h"

struct bt_json;
struct bt_yaml;

/* A file. */
struct bt_spec {
	const char *path;
	struct bt_str text;
	struct bt_template template_;
	bool parsed; /* template_ is valid */
};

/* All files of a workload. Owns: bt_specs_fini. */
struct bt_specs {
	struct bt_spec **items;
	size_t n, cap;
	struct bt_json *json;
	struct bt_yaml *yaml;
	struct bt_arena arena; /* paths and texts */
	struct bt_buf text;
	bt_diagnosis_fn *report;
	void *context;
};

void bt_specs_init(struct bt_specs *specs, bt_diagnosis_fn *report, void *context);
void bt_specs_fini(struct bt_specs *specs);

/* The file of a path that is relative to a folder, read on first use. Returns: NULL when it is unreadable;
 * that has been reported. */
const struct bt_spec *bt_specs_file(struct bt_specs *specs, struct bt_str folder, struct bt_str path);

/* The defaults of createPods and createNodes without a file. */
const struct bt_spec *bt_specs_base_pod(struct bt_specs *specs);
const struct bt_spec *bt_specs_base_node(struct bt_specs *specs);

/* A request for an object of a file. */
struct bt_spec_request {
	const struct bt_spec *spec;
	bool plain;		/* not a template: used verbatim */
	int64_t index, count;	/* for a template */
	enum bt_kind kind;	/* the required kind; BT_KIND_OTHER: any */
	struct bt_arena *arena; /* memory of the object */
};

struct bt_spec_object {
	struct bt_object object; /* of a ResourceClaimTemplate: a claim as it makes them, with its own name */
	bool claim_template;
	bool namespaced;
};

/* Returns: BT_OK; else it has been reported. */
enum bt_status bt_specs_object(
	struct bt_specs *specs, const struct bt_spec_request *request, struct bt_spec_object *out_object);

/* Do the objects of a file differ? True only for valid templates. */
bool bt_specs_varies(struct bt_specs *specs, const struct bt_spec *spec);
