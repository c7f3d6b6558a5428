/* SPDX-License-Identifier: Apache-2.0
 * Object files.
 */
#include "tools/offline/bench/spec.h"

#include <stdio.h>

#include "engine/base/mem.h"
#include "tools/format/input.h"
#include "tools/format/object_reader.h"
#include "tools/format/yaml.h"
#include "tools/kube/objects/defaults.h"

/* The default pod and node of upstream's program. Source: MakePodSpec, makeBaseNode, v1.36.3. */
static const char base_pod[] = "apiVersion: v1\n"
			       "kind: Pod\n"
			       "metadata: {generateName: pod-}\n"
			       "spec:\n"
			       "  containers:\n"
			       "  - name: pause\n"
			       "    image: registry.k8s.io/pause:3.10.2\n"
			       "    ports: [{containerPort: 80}]\n"
			       "    resources:\n"
			       "      limits: {cpu: 100m, memory: 500Mi}\n"
			       "      requests: {cpu: 100m, memory: 500Mi}\n";
static const char base_node[] = "apiVersion: v1\n"
				"kind: Node\n"
				"metadata: {generateName: node-}\n"
				"status:\n"
				"  capacity: {pods: \"110\", cpu: \"4\", memory: 32Gi}\n"
				"  conditions: [{type: Ready, status: \"True\"}]\n";

void bt_specs_init(struct bt_specs *specs, bt_diagnosis_fn *report, void *context)
{
	*specs = (struct bt_specs){
		.json = bt_json_create(), .yaml = bt_yaml_create(), .report = report, .context = context};
}

void bt_specs_fini(struct bt_specs *specs)
{
	for (size_t i = 0; i < specs->n; i++) {
		bt_template_fini(&specs->items[i]->template_);
		bt_mem_free(specs->items[i]);
	}
	bt_mem_free(specs->items);
	bt_json_destroy(specs->json);
	bt_yaml_destroy(specs->yaml);
	bt_arena_fini(&specs->arena);
	bt_buf_fini(&specs->text);
	*specs = (struct bt_specs){.n = 0};
}

/* ---- files ---- */

static struct bt_spec *spec_find(const struct bt_specs *specs, const char *path)
{
	for (size_t i = 0; i < specs->n; i++) {
		if (strcmp(specs->items[i]->path, path) == 0) {
			return specs->items[i];
		}
	}
	return NULL;
}

static struct bt_spec *spec_add(struct bt_specs *specs, const char *path, struct bt_str text)
{
	struct bt_spec *spec = bt_mem_zalloc(1, sizeof(*spec));

	specs->items = bt_mem_grow(specs->items, specs->n, &specs->cap, sizeof(struct bt_spec *));
	specs->items[specs->n++] = spec;
	spec->path = bt_arena_copy(&specs->arena, path, strlen(path));
	spec->text = text;
	return spec;
}

static struct bt_spec *read_file(struct bt_specs *specs, const char *path)
{
	struct bt_input *input = bt_input_create(specs->report, specs->context);
	struct bt_spec *spec = NULL;
	struct bt_input_file file;

	if (bt_input_add(input, path) == BT_OK && bt_input_next(input, &file)) {
		spec = spec_add(specs, path,
			(struct bt_str){
				bt_arena_copy(&specs->arena, file.text.ptr, file.text.len), file.text.len});
	}
	bt_input_destroy(input);
	return spec;
}

const struct bt_spec *bt_specs_file(struct bt_specs *specs, struct bt_str folder, struct bt_str path)
{
	bool absolute = bt_str_starts(path, "/");
	struct bt_buf joined = {0};

	if (!absolute) {
		bt_buf_printf(&joined, "%.*s/", BT_STR_ARG(folder));
	}
	bt_buf_str(&joined, path);
	struct bt_spec *spec = spec_find(specs, joined.ptr);
	if (!spec) {
		spec = read_file(specs, joined.ptr);
	}
	bt_buf_fini(&joined);
	return spec;
}

static const struct bt_spec *built_in(struct bt_specs *specs, const char *name, const char *text)
{
	struct bt_spec *spec = spec_find(specs, name);

	return spec ? spec : spec_add(specs, name, bt_str(text));
}

const struct bt_spec *bt_specs_base_pod(struct bt_specs *specs)
{
	return built_in(specs, "(built-in pod)", base_pod);
}

const struct bt_spec *bt_specs_base_node(struct bt_specs *specs)
{
	return built_in(specs, "(built-in node)", base_node);
}

/* ---- text ---- */

static void spec_refuse(struct bt_specs *specs, const struct bt_spec *spec, size_t line, const char *field,
	const char *message, const char *remedy)
{
	specs->report(specs->context, &(struct bt_diagnosis){.file = spec->path,
					      .line = line,
					      .path = field,
					      .message = message,
					      .remedy = remedy});
}

static bool parse(struct bt_specs *specs, struct bt_spec *spec)
{
	struct bt_template_error error;

	if (spec->parsed) {
		return true;
	}
	if (bt_template_parse(spec->text, &spec->template_, &error) != BT_OK) {
		spec_refuse(specs, spec, error.line, NULL, error.message, error.remedy);
		return false;
	}
	return spec->parsed = true;
}

bool bt_specs_varies(struct bt_specs *specs, const struct bt_spec *spec)
{
	struct bt_spec *own = spec_find(specs, spec->path);

	return parse(specs, own) && own->template_.varies;
}

/* The text of the object. Returns: false when it has been reported. */
static bool expand(struct bt_specs *specs, const struct bt_spec_request *request, struct bt_str *out_text)
{
	struct bt_spec *spec = spec_find(specs, request->spec->path);
	struct bt_template_error error;

	*out_text = spec->text;
	if (request->plain) {
		return true;
	}
	if (!parse(specs, spec)) {
		return false;
	}
	bt_buf_clear(&specs->text);
	if (bt_template_expand(&spec->template_, request->index, request->count, &specs->text, &error) !=
		BT_OK) {
		spec_refuse(specs, spec, error.line, NULL, error.message, error.remedy);
		return false;
	}
	*out_text = bt_buf_view(&specs->text);
	return true;
}

static bool to_json(struct bt_specs *specs, const struct bt_spec_request *request, struct bt_str *out_json)
{
	struct bt_str text;

	if (!expand(specs, request, &text)) {
		return false;
	}
	bt_yaml_begin(specs->yaml, text);
	enum bt_status status = bt_yaml_next(specs->yaml, out_json);
	if (status == BT_NOT_FOUND) {
		spec_refuse(specs, request->spec, 1, NULL, "the file is empty", "write one object into it");
		return false;
	}
	if (status != BT_OK) {
		const struct bt_yaml_error *error = bt_yaml_error(specs->yaml);

		spec_refuse(specs, request->spec, error->line, NULL, error->message, error->remedy);
		return false;
	}
	out_json->ptr = bt_arena_copy(request->arena, out_json->ptr, out_json->len);
	return true;
}

/* ---- objects ---- */

/* Validates a ResourceClaimTemplate. */
struct claim_template {
	struct bt_str api_version, kind, meta, spec;
};

#define FIELD(word, kind, member)                                                                            \
	{                                                                                                    \
		.name = BT_STR(word), .type = BT_FIELD_##kind,                                               \
		.offset = offsetof(struct claim_template, member)                                            \
	}

static const struct bt_field inner_fields[] = {FIELD("spec", RAW, spec)};
static const struct bt_schema inner = BT_SCHEMA(inner_fields, struct claim_template);
static const struct bt_field claim_template_fields[] = {FIELD("apiVersion", STR, api_version),
	FIELD("kind", STR, kind), FIELD("metadata", RAW, meta),
	{.name = BT_STR("spec"), .type = BT_FIELD_OBJECT, .schema = &inner}};
static const struct bt_schema claim_template_schema = BT_SCHEMA(claim_template_fields, struct claim_template);

/* The claim that a template makes, as JSON. */
static struct bt_str claim_of(
	struct bt_specs *specs, const struct claim_template *from, struct bt_arena *arena)
{
	bt_buf_clear(&specs->text);
	bt_buf_printf(&specs->text,
		"{\"apiVersion\":\"%.*s\",\"kind\":\"ResourceClaim\",\"metadata\":%.*s,\"spec\":%.*s}",
		BT_STR_ARG(from->api_version), BT_STR_ARG(from->meta.len ? from->meta : bt_str("{}")),
		BT_STR_ARG(from->spec.len ? from->spec : bt_str("{}")));
	return (struct bt_str){bt_arena_copy(arena, specs->text.ptr, specs->text.len), specs->text.len};
}

static bool is_claim_template(const struct bt_object *object)
{
	return bt_str_is(object->kind_name, "ResourceClaimTemplate") &&
	       (bt_str_is(object->api_version, "resource.k8s.io/v1") ||
		       bt_str_is(object->api_version, "resource.k8s.io/v1beta2"));
}

/* Decodes one object. Pods and nodes are read by upstream's own program, which ignores the case of
 * letters in names. */
static bool decode(struct bt_specs *specs, const struct bt_spec_request *request, struct bt_str json,
	struct bt_object *out)
{
	struct bt_decode d = {
		.json = specs->json, .arena = request->arena, .fold = request->kind != BT_KIND_OTHER};

	*out = (struct bt_object){0};
	bt_json_begin(specs->json, json, request->arena);
	if (!bt_object_decode(&d, out)) {
		spec_refuse(specs, request->spec, bt_yaml_line(specs->yaml, d.error.offset), d.error.path,
			d.error.message, d.error.remedy);
		return false;
	}
	return true;
}

static bool decode_claim_template(struct bt_specs *specs, const struct bt_spec_request *request,
	struct bt_str json, struct bt_object *out)
{
	struct bt_decode d = {.json = specs->json, .arena = request->arena};
	struct claim_template from = {.kind = {.len = 0}};

	bt_json_begin(specs->json, json, request->arena);
	if (!bt_schema_decode(&d, &claim_template_schema, &from)) {
		spec_refuse(specs, request->spec, bt_yaml_line(specs->yaml, d.error.offset), d.error.path,
			d.error.message, d.error.remedy);
		return false;
	}
	return decode(specs, request, claim_of(specs, &from, request->arena), out);
}

static bool check_kind(
	struct bt_specs *specs, const struct bt_spec_request *request, const struct bt_object *object)
{
	char message[200];

	if (request->kind == BT_KIND_OTHER || request->kind == object->kind) {
		return true;
	}
	snprintf(message, sizeof(message), "a %s is wanted here, not %.*s %.*s",
		bt_kind_info(request->kind)->name, BT_STR_ARG(object->api_version),
		BT_STR_ARG(object->kind_name));
	spec_refuse(specs, request->spec, 1, "kind", message, "name another file");
	return false;
}

enum bt_status bt_specs_object(
	struct bt_specs *specs, const struct bt_spec_request *request, struct bt_spec_object *out_object)
{
	struct bt_spec_object made = {.claim_template = false};
	struct bt_str json;

	if (!to_json(specs, request, &json) || !decode(specs, request, json, &made.object)) {
		return BT_INVALID;
	}
	if (is_claim_template(&made.object)) {
		made.claim_template = true;
		if (!decode_claim_template(specs, request, json, &made.object)) {
			return BT_INVALID;
		}
	}
	if (!check_kind(specs, request, &made.object)) {
		return BT_INVALID;
	}
	made.namespaced = bt_kind_info(made.object.kind)->namespaced;
	bt_defaults_scheme(&made.object, request->arena);
	if (made.object.kind == BT_KIND_POD) {
		bt_defaults_match_label_keys(&made.object.pod, request->arena);
	}
	*out_object = made;
	return BT_OK;
}
