/* SPDX-License-Identifier: Apache-2.0
 * Objects become the engine's nodes and pods.
 */
#include "tools/simulate/load.h"

#include <stdio.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/cli/interrupt.h"
#include "tools/codec/object.h"
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

static void load_node(struct bt_load *load, const struct bt_object *object)
{
	const struct bt_node_object *node = &object->node;
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
	bt_recording_object(load->recording, object);
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

static void enter_pod(struct bt_load *load, const struct bt_pod_object *pod)
{
	char name[NAME_MAX_BYTES];
	enum bt_entry entry;
	uint32_t ix;

	if (pod->spec.node_name.len == 0 && pod->meta.deletion_ns && !bt_ingest_pod_has_ended(pod)) {
		load->counts.deleting++;
		if (load->deleting) {
			load->deleting(load->context, pod);
		}
		return;
	}
	switch (bt_engine_add_pod(load->engine, pod, &entry, &ix)) {
	case BT_OK:
		bt_recording_pod(load->recording, pod);
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

/* What admission has let through. */
static void admitted(void *context, struct bt_object *object, bool made)
{
	struct bt_load *load = context;
	int64_t begin_ns = bt_stages_now(load->stages);
	enum bt_entry entry;
	uint32_t ix;

	if (object->kind == BT_KIND_NODE) {
		load_node(load, object);
	} else if (object->kind == BT_KIND_POD) {
		load->counts.expanded += made;
		enter_pod(load, &object->pod);
	} else {
		bt_engine_apply(load->engine, object, &entry, &ix);
		bt_recording_object(load->recording, object);
	}
	bt_stages_end(load->stages, BT_STAGE_INGEST, begin_ns);
}

void bt_load_init(struct bt_load *load)
{
	load->admission = (struct bt_admission){
		.admitted = admitted,
		.context = load,
		.report = bt_complaints_hear,
		.report_context = load->complaints,
		.stop = &load->complaints->stop,
		.expand = load->expand,
	};
}

void bt_load_object(struct bt_load *load, struct bt_object *object)
{
	load->counts.objects++;
	if (object->meta.creation_ns > load->latest_ns) {
		load->latest_ns = object->meta.creation_ns;
	}
	count_kind(load, object);
	bt_admission_object(&load->admission, object);
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
	bt_admission_finish(&load->admission, load->engine);
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
	bt_mem_free(load->leavers);
	bt_map_fini(&load->graces);
	bt_admission_fini(&load->admission);
	bt_map_fini(&load->kind_ixs);
	bt_buf_fini(&load->text);
}
