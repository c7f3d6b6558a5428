/* SPDX-License-Identifier: Apache-2.0
 * Reading an application's manifests.
 */
#include "tools/offline/check/app.h"

#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"
#include "tools/format/object_reader.h"
#include "tools/kube/objects/claim.h"
#include "tools/kube/objects/defaults.h"
#include "tools/offline/simulate/ignored.h"

#define NAME_MAX_BYTES 600

/* Kinds of Kubernetes that make no pods and do not change where pods go. Source: its API reference, 1.37. */
static const char *const harmless_kinds[] = {"APIService", "CertificateSigningRequest", "ClusterRole",
	"ClusterRoleBinding", "ClusterTrustBundle", "ConfigMap", "ControllerRevision",
	"CustomResourceDefinition", "Endpoints", "EndpointSlice", "Event", "FlowSchema",
	"HorizontalPodAutoscaler", "IPAddress", "Ingress", "IngressClass", "Lease", "MutatingAdmissionPolicy",
	"NetworkPolicy", "PodTemplate", "PriorityLevelConfiguration", "Role", "RoleBinding", "Secret",
	"ServiceAccount", "ServiceCIDR", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"ValidatingWebhookConfiguration", "VolumeAttributesClass"};

/* Is the object's group one of Kubernetes: without a dot, or under k8s.io? */
static bool is_of_kubernetes(const struct bt_object *object)
{
	struct bt_str group = bt_str_sub(object->api_version, 0, bt_str_find(object->api_version, '/', 0));

	return group.len == object->api_version.len || bt_str_find(group, '.', 0) == group.len ||
	       bt_str_ends(group, ".k8s.io");
}

static bool is_harmless(const struct bt_invocation *invocation, const struct bt_object *object)
{
	const char *ignored;

	for (size_t i = 0; (ignored = bt_invocation_item(invocation, "ignore-kind", i)); i++) {
		if (bt_str_is(object->kind_name, ignored)) {
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(harmless_kinds) / sizeof(*harmless_kinds); i++) {
		if (bt_str_is(object->kind_name, harmless_kinds[i])) {
			return is_of_kubernetes(object);
		}
	}
	return false;
}

static uint64_t app_key(enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	uint64_t key = bt_hash_u64((uint64_t)kind + 1);

	key = bt_hash_u64(key + bt_hash_str(namespace_));
	return bt_hash_key(bt_hash_u64(key + bt_hash_str(name)));
}

static void app_refuse(struct bt_app *app, struct bt_object_reader *reader, const struct bt_object *object,
	const char *message, const char *remedy)
{
	char name[NAME_MAX_BYTES];

	bt_object_name(object, name, sizeof(name));
	bt_diagnostics_add(&app->diagnostics, &(struct bt_diagnosis){.file = bt_object_reader_file(reader),
						      .line = bt_object_reader_line(reader),
						      .object = name,
						      .message = message,
						      .remedy = remedy,
						      .fatal = true});
}

static void warn_of_kind(const struct bt_app *app, const struct bt_object *object, const char *effect)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text, "%.*s %.*s ignored: %s", BT_STR_ARG(object->kind_name),
		BT_STR_ARG(object->meta.name), effect);
	bt_diagnostics_warn(&app->diagnostics, bt_buf_view(&text));
	bt_buf_fini(&text);
}

static void check_other_kind(
	struct bt_app *app, struct bt_object_reader *reader, const struct bt_object *object)
{
	char word[NAME_MAX_BYTES];
	size_t n = object->kind_name.len < sizeof(word) - 1 ? object->kind_name.len : sizeof(word) - 1;

	memcpy(word, object->kind_name.ptr, n);
	word[n] = '\0';
	if (is_harmless(app->invocation, object)) {
		return;
	}
	if (bt_kind_of_word(object->kind_name) != BT_KIND_OTHER) {
		app_refuse(app, reader, object, "berth reads another version of this kind",
			"write the object in a version that the API server has");
	} else if (bt_ignored_effect(word)) {
		warn_of_kind(app, object, bt_ignored_effect(word));
	} else {
		app_refuse(app, reader, object, "this kind is unknown, and its pods would not be judged",
			"write the workloads that its controller makes, or give --ignore-kind if it makes no "
			"pods");
	}
}

static void add_workload(struct bt_app *app, struct bt_object_reader *reader, const struct bt_object *object)
{
	const char *file = bt_object_reader_file(reader);
	char label[NAME_MAX_BYTES];
	size_t n = bt_object_name(object, label, sizeof(label));

	app->workloads =
		bt_mem_grow(app->workloads, app->workload_n, &app->workload_cap, sizeof(*app->workloads));
	bt_map_put(&app->workloads_by_name, app_key(object->kind, object->meta.namespace_, object->meta.name),
		(uint32_t)app->workload_n);
	app->workloads[app->workload_n++] = (struct bt_app_workload){.kind = object->kind,
		.namespace_ = object->meta.namespace_,
		.name = object->meta.name,
		.label = bt_arena_copy(&app->arena, label, n),
		.file = bt_arena_copy(&app->arena, file, strlen(file)),
		.line = bt_object_reader_line(reader),
		.object = (uint32_t)app->object_n};
}

static void take_manifest(struct bt_app *app, struct bt_object_reader *reader, const struct bt_object *read)
{
	struct bt_object object = *read;
	uint32_t ix;

	if (object.kind == BT_KIND_OTHER) {
		check_other_kind(app, reader, &object);
		return;
	}
	bt_defaults_namespace(&object);
	uint64_t key = app_key(object.kind, object.meta.namespace_, object.meta.name);
	if (object.kind == BT_KIND_NODE) {
		app_refuse(app, reader, &object, "an application has no nodes",
			"give the node as a part of the cluster");
		return;
	}
	if (bt_map_get(&app->objects_by_name, key, &ix)) {
		app_refuse(app, reader, &object, "the application has this object twice", "remove one");
		return;
	}
	bt_map_put(&app->objects_by_name, key, 1);
	bt_object_own(&object, &app->arena);
	if (object.kind == BT_KIND_POD || bt_kind_makes_pods(object.kind)) {
		add_workload(app, reader, &object);
	}
	app->objects = bt_mem_grow(app->objects, app->object_n, &app->object_cap, sizeof(*app->objects));
	app->objects[app->object_n++] = object;
}

static bool read_manifests(struct bt_app *app)
{
	struct bt_object_reader *reader = bt_object_reader_create(bt_diagnostics_add, &app->diagnostics);
	const struct bt_object *object;
	const char *path;

	bt_object_reader_validate(reader, app->diagnostics.validates);
	for (size_t i = 0; (path = bt_invocation_item(app->invocation, "filename", i)); i++) {
		bt_object_reader_add_path(reader, path);
	}
	while (!bt_interrupt_pending() && (object = bt_object_reader_next(reader))) {
		take_manifest(app, reader, object);
	}
	bool whole = bt_object_reader_counts(reader).unreadable == 0;
	bt_object_reader_destroy(reader);
	return whole && app->diagnostics.n == 0;
}

int bt_app_read(struct bt_app *app, const struct bt_invocation *invocation)
{
	const char *command = invocation->command->name;

	app->invocation = invocation;
	app->diagnostics = bt_diagnostics_of(invocation);
	app->diagnostics.quiet = false; /* a wrong application is never passed over */
	bool whole = read_manifests(app);
	bt_diagnostics_end(&app->diagnostics);
	if (bt_interrupt_pending()) {
		return BT_EXIT_INTERRUPTED;
	}
	if (!whole) {
		bt_message("berth %s: the application is not judged, as a part of it is wrong or cannot be "
			   "read; correct it\n",
			command);
		return BT_EXIT_INPUT;
	}
	if (app->workload_n == 0) {
		bt_message("berth %s: the application has no pod and no workload; give -f the manifests that "
			   "have them\n",
			command);
		return BT_EXIT_INPUT;
	}
	return BT_EXIT_OK;
}

uint32_t bt_app_find(
	const struct bt_app *app, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	uint32_t ix;

	return bt_map_get(&app->workloads_by_name, app_key(kind, namespace_, name), &ix) ? ix
											 : BT_NO_WORKLOAD;
}

/* The name without its last part, which a controller has added: "web" of "web-5d4f". */
static struct bt_str stem_of(struct bt_str name)
{
	while (name.len && name.ptr[name.len - 1] != '-') {
		name.len--;
	}
	name.len -= name.len > 0;
	return name;
}

uint32_t bt_app_workload_of(const struct bt_app *app, const struct bt_pod_object *pod, bool made)
{
	const struct bt_owner_object *owner = bt_claim_controller_of(&pod->meta);
	struct bt_str namespace_ = pod->meta.namespace_;

	uint32_t ix = bt_app_find(app, BT_KIND_POD, namespace_, pod->meta.name);
	if (ix != BT_NO_WORKLOAD || !owner) {
		return ix;
	}
	ix = bt_app_find(app, bt_kind_of_word(owner->kind), namespace_, owner->name);
	if (ix == BT_NO_WORKLOAD && bt_str_is(owner->kind, "ReplicaSet")) {
		ix = bt_app_find(app, BT_KIND_DEPLOYMENT, namespace_, stem_of(owner->name));
	} else if (ix == BT_NO_WORKLOAD && made && bt_str_is(owner->kind, "Job")) {
		ix = bt_app_find(app, BT_KIND_CRON_JOB, namespace_, stem_of(owner->name));
	}
	return ix;
}

void bt_app_fini(struct bt_app *app)
{
	bt_mem_free(app->objects);
	bt_mem_free(app->workloads);
	bt_map_fini(&app->objects_by_name);
	bt_map_fini(&app->workloads_by_name);
	bt_arena_fini(&app->arena);
}
