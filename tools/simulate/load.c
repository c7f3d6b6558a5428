/* SPDX-License-Identifier: Apache-2.0
 * Objects become the engine's nodes and pods.
 */
#include "tools/simulate/load.h"

#include <stdio.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/cli/interrupt.h"
#include "tools/codec/object.h"
#include "tools/kube/copy.h"
#include "tools/simulate/ends.h"

#define NAME_MAX_BYTES 600

/* Do objects of the kind change what is decided? */
static bool is_used(enum bt_kind kind)
{
	switch (kind) {
	case BT_KIND_NODE:
	case BT_KIND_POD:
	case BT_KIND_NAMESPACE:
	case BT_KIND_PRIORITY_CLASS:
	case BT_KIND_POD_DISRUPTION_BUDGET:
	case BT_KIND_SERVICE:
	case BT_KIND_REPLICA_SET:
	case BT_KIND_REPLICATION_CONTROLLER:
	case BT_KIND_STATEFUL_SET:
	case BT_KIND_DEPLOYMENT:
	case BT_KIND_JOB:
	case BT_KIND_DAEMON_SET:
	case BT_KIND_CRON_JOB:
	case BT_KIND_POD_GROUP:
		return true;
	default:
		return bt_volumes_has_kind(kind) || bt_devices_has_kind(kind);
	}
}

/* Kinds that nobody looks at are told apart by their group, too: a Deployment of an old version is not used.
 */
static void count_kind(struct bt_load *load, const struct bt_object *object)
{
	bool used = is_used(object->kind);
	uint32_t ix;

	bt_buf_clear(&load->text);
	bt_buf_str(&load->text, object->kind_name);
	if (!used && bt_str_find(object->api_version, '/', 0) < object->api_version.len) {
		bt_buf_printf(&load->text, " (%.*s)", BT_STR_ARG(object->api_version));
	}
	uint64_t key = bt_hash_bytes(load->text.ptr, load->text.len) | 1;
	for (; bt_map_get(&load->kind_ixs, key, &ix); key += 2) {
		if (bt_str_is(bt_buf_view(&load->text), load->kinds[ix].name)) {
			load->kinds[ix].n++;
			return;
		}
	}
	load->kinds = bt_mem_grow(load->kinds, load->kind_n, &load->kind_cap, sizeof(*load->kinds));
	bt_map_put(&load->kind_ixs, key, (uint32_t)load->kind_n);
	load->kinds[load->kind_n++] =
		(struct bt_kind_count){bt_mem_copy(load->text.ptr, load->text.len), 1, used};
}

static void pod_name(const struct bt_pod_object *pod, char out[NAME_MAX_BYTES])
{
	snprintf(out, NAME_MAX_BYTES, "Pod %.*s/%.*s", BT_STR_ARG(pod->meta.namespace_),
		BT_STR_ARG(pod->meta.name));
}

static void load_node(struct bt_load *load, const struct bt_node_object *node)
{
	const struct bt_cache *cache = bt_engine_cache(load->engine);
	char name[NAME_MAX_BYTES];
	uint32_t ix;

	snprintf(name, sizeof(name), "Node %.*s", BT_STR_ARG(node->meta.name));
	if (bt_snapshot_find(cache->snapshot, bt_intern_find(cache->dictionary->intern, node->meta.name)) !=
		BT_NO_NODE) {
		bt_complaints_say(load->complaints, name, "metadata.name", "the input has this node already",
			"the first one counts; remove the other");
		return;
	}
	if (bt_engine_apply_node(load->engine, node, &ix) == BT_FULL) {
		bt_complaints_say(load->complaints, name, "status.allocatable",
			"there are more different resource names than berth can tell apart",
			"this resource was left out; use fewer names");
	}
	load->counts.nodes++;
}

static void note_entry(struct bt_load *load, enum bt_entry entry)
{
	switch (entry) {
	case BT_ENTERED_QUEUE:
		load->counts.pending++;
		break;
	case BT_ENTERED_GATED:
		load->counts.gated++;
		break;
	case BT_ENTERED_SCHEDULED:
		load->counts.scheduled++;
		break;
	case BT_ENTERED_ENDED:
		load->counts.ended++;
		return;
	case BT_ENTERED_FOREIGN:
		load->counts.foreign++;
		return;
	}
	load->counts.pods++;
}

/* Notes how long it takes the pod to end, and whether that has begun. Source: CheckGracefulDelete, v1.36.3.
 */
static void note_end(struct bt_load *load, const struct bt_pod_object *pod, uint32_t pod_ix)
{
	int64_t grace_s = pod->spec.termination_grace_s;

	if (pod_ix == BT_NO_POD) {
		return;
	}
	if (pod->spec.has_termination_grace && grace_s != BT_GRACE_S) {
		grace_s = grace_s < 0 ? 1 : grace_s;
		bt_map_put(&load->graces, (uint64_t)pod_ix + 1,
			grace_s < UINT32_MAX ? (uint32_t)grace_s : UINT32_MAX);
	}
	if (pod->meta.deletion_ns) {
		load->leavers =
			bt_mem_grow(load->leavers, load->leaver_n, &load->leaver_cap, sizeof(*load->leavers));
		load->leavers[load->leaver_n++] = (struct bt_load_leaver){pod_ix, pod->meta.deletion_ns};
	}
}

static bool has_negative(const struct bt_resource_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (list->items[i].quantity.nano < 0) {
			return true;
		}
	}
	return false;
}

/* The field that asks for less than nothing, which the API server refuses; NULL when there is none. */
static const char *negative_field(const struct bt_pod_spec_object *spec)
{
	for (uint32_t i = 0; i < spec->container_n; i++) {
		if (has_negative(&spec->containers[i].resources.requests)) {
			return "spec.containers[].resources.requests";
		}
	}
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		if (has_negative(&spec->init_containers[i].resources.requests)) {
			return "spec.initContainers[].resources.requests";
		}
	}
	if (has_negative(&spec->resources.requests)) {
		return "spec.resources.requests";
	}
	return has_negative(&spec->overhead) ? "spec.overhead" : NULL;
}

static void enter_pod(struct bt_load *load, const struct bt_pod_object *pod)
{
	const char *negative = negative_field(&pod->spec);
	char name[NAME_MAX_BYTES];
	enum bt_entry entry;
	uint32_t ix;

	if (negative) {
		pod_name(pod, name);
		bt_complaints_say(load->complaints, name, negative, "an amount is below zero",
			"the API server would refuse the pod; write 0 or more");
		return;
	}
	if (pod->spec.node_name.len == 0 && pod->meta.deletion_ns && !bt_ingest_pod_has_ended(pod)) {
		load->counts.deleting++;
		if (load->deleting) {
			load->deleting(load->context, pod);
		}
		return;
	}
	switch (bt_engine_add_pod(load->engine, pod, &entry, &ix)) {
	case BT_OK:
		note_entry(load, entry);
		if (load->entered && ix != BT_NO_POD) {
			load->entered(load->context, ix, pod);
		}
		note_end(load, pod, ix);
		return;
	case BT_EXISTS:
		pod_name(pod, name);
		bt_complaints_say(load->complaints, name, "metadata.name", "the input has this pod already",
			"the first one counts; remove the other");
		return;
	case BT_FULL:
		pod_name(pod, name);
		bt_complaints_say(load->complaints, name, "spec.containers",
			"there are more different resource names than berth can tell apart",
			"the pod was left out; use fewer names");
		return;
	default:
		pod_name(pod, name);
		bt_complaints_say(load->complaints, name, NULL, "the pod could not be entered", NULL);
		return;
	}
}

/* A pod without a priority waits until every PriorityClass is known. */
static void load_pod(struct bt_load *load, struct bt_pod_object *pod)
{
	if (pod->spec.has_priority || pod->spec.node_name.len) {
		enter_pod(load, pod);
		return;
	}
	load->deferred =
		bt_mem_grow(load->deferred, load->deferred_n, &load->deferred_cap, sizeof(*load->deferred));
	load->deferred[load->deferred_n++] = (struct bt_pod_object){
		.meta = bt_copy_meta(&load->kept, BT_COPY_ALL, &pod->meta),
		.spec = bt_copy_pod_spec(&load->kept, BT_COPY_ALL, &pod->spec),
		.phase = bt_copy_str(&load->kept, pod->phase),
		.nominated_node_name = bt_copy_str(&load->kept, pod->nominated_node_name),
		.claim_statuses = bt_copy_pod_claims(
			&load->kept, BT_COPY_ALL, pod->claim_statuses, pod->claim_status_n),
		.claim_status_n = pod->claim_status_n,
	};
}

/* A key for a namespace and a name. */
static uint64_t name_key(struct bt_load *load, struct bt_str namespace_, struct bt_str name)
{
	struct bt_intern *intern = bt_engine_cache(load->engine)->dictionary->intern;

	return (uint64_t)bt_intern_add(intern, namespace_) << 32 | bt_intern_add(intern, name);
}

void bt_load_object(struct bt_load *load, struct bt_object *object)
{
	enum bt_entry entry;
	uint32_t ix;

	load->counts.objects++;
	if (object->meta.creation_ns > load->latest_ns) {
		load->latest_ns = object->meta.creation_ns;
	}
	count_kind(load, object);
	bt_arena_reset(&load->arena);
	bt_defaults_namespace(object);
	bt_defaults_scheme(object, &load->arena);
	if (load->expand) {
		bt_workloads_observe(&load->workloads, object);
	}
	switch (object->kind) {
	case BT_KIND_NODE:
		load_node(load, &object->node);
		break;
	case BT_KIND_POD:
		load_pod(load, &object->pod);
		break;
	case BT_KIND_PRIORITY_CLASS:
		bt_priority_table_add(&load->priorities, &object->priority_class);
		break;
	default:
		if (object->kind == BT_KIND_REPLICA_SET) {
			bt_map_put(&load->replica_sets,
				name_key(load, object->meta.namespace_, object->meta.name), 1);
		}
		bt_engine_apply(load->engine, object, &entry, &ix);
		break;
	}
}

void bt_load_source(struct bt_load *load, const struct bt_source *source)
{
	struct bt_object *object;

	while (!load->complaints->stop && !bt_interrupt_pending() &&
		(object = source->next(source->context))) {
		bt_load_object(load, object);
	}
}

/* The files' objects, which the reader keeps for itself, as a source: each is copied, so that it may be
 * changed. */
struct file_source {
	struct bt_object_reader *reader;
	struct bt_object object;
};

static struct bt_object *next_in_files(void *context)
{
	struct file_source *files = context;
	const struct bt_object *object = bt_object_reader_next(files->reader);

	if (!object) {
		return NULL;
	}
	files->object = *object;
	return &files->object;
}

bool bt_load_paths(struct bt_load *load, const char *const *paths, size_t path_n)
{
	struct bt_object_reader *reader = bt_object_reader_create(bt_complaints_hear, load->complaints);
	struct file_source files = {.reader = reader};

	for (size_t i = 0; i < path_n; i++) {
		bt_object_reader_add_path(reader, paths[i]);
	}
	bt_load_source(load, &(struct bt_source){next_in_files, &files});
	struct bt_object_counts counts = bt_object_reader_counts(reader);
	load->counts.bytes = counts.bytes;
	load->counts.files = counts.files;
	bt_object_reader_destroy(reader);
	return !load->complaints->stop && counts.objects > 0;
}

/* ---- after the last object ---- */

static void enter_deferred(struct bt_load *load)
{
	char name[NAME_MAX_BYTES];

	for (size_t i = 0; i < load->deferred_n && !load->complaints->stop; i++) {
		struct bt_pod_object *pod = &load->deferred[i];
		struct bt_priority priority;

		if (bt_priority_resolve(&load->priorities, pod->spec.priority_class_name, &priority) ==
			BT_OK) {
			pod->spec.priority = priority.value;
			pod->spec.has_priority = true;
			enter_pod(load, pod);
			continue;
		}
		pod_name(pod, name);
		bt_complaints_say(load->complaints, name, "spec.priorityClassName",
			"there is no such PriorityClass",
			"the API server would refuse the pod; add the class to the input");
	}
	load->deferred_n = 0;
}

/*
 * A Deployment's pods belong to a ReplicaSet that its controller would have made, and that the scheduler
 * would know: it selects its own pods, all of which have the same labels.
 */
static void enter_replica_set(struct bt_load *load, const struct bt_pod_object *pod)
{
	const struct bt_owner_object *owner = pod->meta.owner_n ? &pod->meta.owners[0] : NULL;

	if (!owner || !bt_str_is(owner->kind, "ReplicaSet")) {
		return;
	}
	uint64_t key = name_key(load, pod->meta.namespace_, owner->name);
	uint32_t known;
	if (bt_map_get(&load->replica_sets, key, &known)) {
		return;
	}
	bt_map_put(&load->replica_sets, key, 1);
	const struct bt_workload_object replica_set = {
		.meta = {.name = owner->name, .namespace_ = pod->meta.namespace_, .uid = owner->uid},
		.selector = {.set = true, .match_labels = pod->meta.labels},
	};
	bt_engine_apply_controller(load->engine, BT_KIND_REPLICA_SET, &replica_set);
}

static void enter_expanded(void *context, struct bt_pod_object *pod)
{
	struct bt_load *load = context;
	char name[NAME_MAX_BYTES];

	bt_arena_reset(&load->arena);
	enter_replica_set(load, pod);
	if (bt_defaults_admission(pod, &load->priorities, &load->arena) != BT_OK) {
		pod_name(pod, name);
		bt_complaints_say(load->complaints, name, "spec.priorityClassName",
			"there is no such PriorityClass",
			"the API server would refuse the pod; add the class to the input");
		return;
	}
	load->counts.expanded++;
	enter_pod(load, pod);
}

static bool tolerates_all(
	const struct bt_cache *cache, const struct bt_signature *signature, const struct bt_taint_set *taints)
{
	for (uint32_t i = 0; i < taints->n; i++) {
		const struct bt_taint *taint = &taints->items[i];
		bool hard = taint->effect == BT_NAME_NO_SCHEDULE || taint->effect == BT_NAME_NO_EXECUTE;
		bool tolerated = !hard;

		for (uint32_t t = 0; t < signature->toleration_n && !tolerated; t++) {
			tolerated = bt_tolerates(
				cache->dictionary->intern, &signature->tolerations[t], taint, false);
		}
		if (!tolerated) {
			return false;
		}
	}
	return true;
}

/* May a daemon's pod run on the node? */
static bool daemon_eligible(void *context, const struct bt_pod_object *pod, uint32_t ix)
{
	struct bt_load *load = context;
	const struct bt_cache *cache = bt_engine_cache(load->engine);
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	const struct bt_node *node = &snapshot->nodes[load->node_ixs[ix]];
	const struct bt_signature *signature = bt_signatures_intern(cache->signatures, pod);

	if (!bt_selector_matches(cache->dictionary->intern, &signature->node_selector, node->labels)) {
		return false;
	}
	if (signature->has_required && !bt_node_selector_matches(cache->dictionary->intern,
					       &signature->required, node->labels, node->name)) {
		return false;
	}
	return tolerates_all(cache, signature, &snapshot->taint_sets[node->taint_set]);
}

static void expand_workloads(struct bt_load *load)
{
	const struct bt_cache *cache = bt_engine_cache(load->engine);
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	struct bt_str *names = bt_mem_zalloc(snapshot->node_n, sizeof(*names));
	struct bt_buf message = {0};
	uint32_t n = 0;

	load->node_ixs = bt_mem_zalloc(snapshot->node_n, sizeof(*load->node_ixs));
	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		if (bt_bitmap_test(snapshot->live, i)) {
			load->node_ixs[n] = i;
			names[n++] = bt_intern_str(cache->dictionary->intern, snapshot->nodes[i].name);
		}
	}
	const struct bt_workloads_request request = {
		.emit = enter_expanded,
		.eligible = daemon_eligible,
		.context = load,
		.node_names = names,
		.node_n = n,
	};
	if (bt_workloads_expand(&load->workloads, &request, &message) != BT_OK) {
		bt_complaints_say(
			load->complaints, NULL, NULL, message.ptr, "use --no-expand, or fewer replicas");
	}
	bt_buf_fini(&message);
	bt_mem_free(names);
	bt_mem_free(load->node_ixs);
	load->node_ixs = NULL;
}

static void find_unknown_nodes(struct bt_load *load)
{
	const struct bt_cache *cache = bt_engine_cache(load->engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	char name[NAME_MAX_BYTES], message[NAME_MAX_BYTES];

	for (uint32_t i = 0; i < bt_ledger_pod_end(cache->ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(cache->ledger, i);

		if (pod->state != BT_POD_SCHEDULED ||
			bt_bitmap_test(cache->view.snapshot->live, pod->node_ix)) {
			continue;
		}
		load->counts.on_unknown_nodes++;
		snprintf(name, sizeof(name), "Pod %.*s/%.*s",
			BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
			BT_STR_ARG(bt_intern_str(intern, pod->name)));
		snprintf(message, sizeof(message), "there is no node \"%.*s\"",
			BT_STR_ARG(bt_intern_str(intern, cache->view.snapshot->nodes[pod->node_ix].name)));
		bt_complaints_say(load->complaints, name, "spec.nodeName", message,
			"the pod counts on no node; add the node to the input");
	}
}

void bt_load_finish(struct bt_load *load)
{
	enter_deferred(load);
	if (load->expand && !load->complaints->stop) {
		expand_workloads(load);
	}
	if (!load->complaints->stop) {
		find_unknown_nodes(load);
	}
}

void bt_load_fini(struct bt_load *load)
{
	for (size_t i = 0; i < load->kind_n; i++) {
		bt_mem_free(load->kinds[i].name);
	}
	bt_mem_free(load->kinds);
	bt_mem_free(load->deferred);
	bt_mem_free(load->leavers);
	bt_map_fini(&load->graces);
	bt_arena_fini(&load->arena);
	bt_arena_fini(&load->kept);
	bt_priority_table_fini(&load->priorities);
	bt_workloads_fini(&load->workloads);
	bt_map_fini(&load->replica_sets);
	bt_map_fini(&load->kind_ixs);
	bt_buf_fini(&load->text);
}
