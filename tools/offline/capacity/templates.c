/* SPDX-License-Identifier: Apache-2.0
 * Units of pods for berth capacity.
 */
#include "tools/offline/capacity/templates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/cli/message.h"
#include "tools/format/object_reader.h"

#define MIX_MAX 10000 /* copies of one unit in a mix */

static struct bt_capacity_unit *add_unit(struct bt_capacity_templates *t, struct bt_str name)
{
	t->units = bt_mem_grow(t->units, t->unit_n, &t->unit_cap, sizeof(*t->units));
	t->units[t->unit_n] = (struct bt_capacity_unit){.name = bt_mem_copy(name.ptr, name.len)};
	return &t->units[t->unit_n++];
}

static void add_pod(struct bt_capacity_unit *unit, const struct bt_pod_object *pod)
{
	unit->pods = bt_mem_grow(unit->pods, unit->pod_n, &unit->pod_cap, sizeof(*unit->pods));
	unit->pods[unit->pod_n++] = *pod;
}

static uint64_t write_name(struct bt_buf *out, const char *kind, struct bt_str namespace_, struct bt_str name)
{
	bt_buf_clear(out);
	bt_buf_printf(out, "%s %.*s/%.*s", kind, BT_STR_ARG(namespace_), BT_STR_ARG(name));
	return bt_hash_bytes(out->ptr, out->len) | 1;
}

/* Writes "Deployment default/web", the workload that the pod is of, or "Pod default/web". Returns its
 * hash. */
static uint64_t name_unit(
	struct bt_capacity_templates *t, const struct bt_pod_object *pod, struct bt_buf *out)
{
	const struct bt_owner_object *owner = pod->meta.owner_n ? &pod->meta.owners[0] : NULL;
	struct bt_str namespace_ = pod->meta.namespace_;
	char kind[64] = "Pod";
	uint32_t known;

	if (!owner) {
		return write_name(out, kind, namespace_, pod->meta.name);
	}
	/* A Deployment's ReplicaSet adds a hash to its name. */
	struct bt_str deployment = owner->name;
	while (deployment.len > 0 && deployment.ptr[--deployment.len] != '-') {
	}
	uint64_t key = write_name(out, "Deployment", namespace_, deployment);
	if (bt_str_is(owner->kind, "ReplicaSet") && bt_map_get(&t->deployments, key, &known)) {
		return key;
	}
	snprintf(kind, sizeof(kind), "%.*s", BT_STR_ARG(owner->kind));
	return write_name(out, kind, namespace_, owner->name);
}

/* The unit that the pod joins; NULL: its owner has one already. */
static struct bt_capacity_unit *unit_for(struct bt_capacity_templates *t, const struct bt_pod_object *pod)
{
	struct bt_buf name = {0};
	struct bt_capacity_unit *unit = NULL;
	uint32_t ix;

	if (t->together) {
		return t->unit_n > t->file_unit_n ? &t->units[t->unit_n - 1] : add_unit(t, bt_str(t->path));
	}
	uint64_t key = name_unit(t, pod, &name);
	if (pod->meta.owner_n == 0 || !bt_map_get(&t->owners, key, &ix)) {
		unit = add_unit(t, bt_buf_view(&name));
		bt_map_put(&t->owners, key, 1);
	}
	bt_buf_fini(&name);
	return unit;
}

static void take_pod(struct bt_capacity_templates *t, const struct bt_object *object)
{
	struct bt_capacity_unit *unit = unit_for(t, &object->pod);
	struct bt_object copy = *object;

	if (!unit) {
		return;
	}
	bt_object_own(&copy, &t->arena);
	copy.pod.spec.node_name = (struct bt_str){0};
	copy.pod.nominated_node_name = (struct bt_str){0};
	copy.pod.phase = (struct bt_str){0};
	copy.pod.meta.deletion_ns = 0;
	/* A copy takes no running pod's place. */
	copy.pod.spec.preemption_policy = (struct bt_str)BT_STR("Never");
	if (bt_engine_is_other_schedulers(t->cluster->engine, &copy.pod)) {
		t->trouble = "schedulerName names no profile of the configuration; set it to one of them";
	}
	add_pod(unit, &copy.pod);
}

static void take_object(void *context, struct bt_object *object, bool made)
{
	struct bt_capacity_templates *t = context;
	struct bt_taken taken;

	(void)made;
	if (object->kind == BT_KIND_POD) {
		take_pod(t, object);
	} else if (object->kind == BT_KIND_NODE) {
		t->trouble = "it holds a Node; give nodes as part of the cluster";
	} else if (object->kind == BT_KIND_DAEMON_SET) {
		t->trouble = "a DaemonSet has one pod a node and no copies; leave it out";
	} else if (object->kind == BT_KIND_POD_GROUP || object->kind == BT_KIND_COMPOSITE_POD_GROUP) {
		t->trouble = "copies of PodGroups are not supported; leave the PodGroup and the pods' "
			     "schedulingGroup out, and count the pods with --together";
	} else {
		if (object->kind == BT_KIND_DEPLOYMENT) {
			struct bt_buf name = {0};

			bt_map_put(&t->deployments,
				write_name(&name, "Deployment", object->meta.namespace_, object->meta.name),
				1);
			bt_buf_fini(&name);
		}
		(void)bt_pipeline_show(t->cluster->pipeline, BT_WATCH_EVENT_APPLY, object, &taken);
	}
}

int bt_capacity_templates_read(
	struct bt_capacity_templates *t, struct bt_loaded_cluster *cluster, const char *path, bool together)
{
	const char *command = cluster->invocation->command->name;

	t->cluster = cluster;
	t->path = path;
	t->together = together;
	t->file_unit_n = t->unit_n;
	if (!bt_load_apart(&cluster->load, path, take_object, t)) {
		bt_message("berth %s: --pod %s: it cannot be read, or holds no objects\n", command, path);
		return BT_EXIT_INPUT;
	}
	if (t->trouble) {
		bt_message("berth %s: --pod %s: %s\n", command, path, t->trouble);
		return BT_EXIT_INPUT;
	}
	if (t->unit_n == t->file_unit_n) {
		bt_message(
			"berth %s: --pod %s: it holds no pod and no workload with replicas\n", command, path);
		return BT_EXIT_INPUT;
	}
	return BT_EXIT_OK;
}

bool bt_capacity_templates_mix(struct bt_capacity_templates *t, const char *ratio)
{
	size_t single_n = t->unit_n;
	struct bt_buf name = {0};
	const char *at = ratio;
	char *end;

	bt_buf_printf(&name, "mix %s", ratio);
	struct bt_capacity_unit *mix = add_unit(t, bt_buf_view(&name));
	bt_buf_fini(&name);
	for (size_t i = 0; i < single_n; i++) {
		unsigned long n = strtoul(at, &end, 10);

		if (end == at || *at == '-' || *at == '+' || n == 0 || n > MIX_MAX ||
			*end != (i + 1 < single_n ? ':' : '\0')) {
			return false;
		}
		for (unsigned long k = 0; k < n; k++) {
			for (size_t p = 0; p < t->units[i].pod_n; p++) {
				add_pod(mix, &t->units[i].pods[p]);
			}
		}
		at = end + 1;
	}
	return single_n > 0;
}

void bt_capacity_templates_fini(struct bt_capacity_templates *t)
{
	for (size_t i = 0; i < t->unit_n; i++) {
		bt_mem_free(t->units[i].name);
		bt_mem_free(t->units[i].pods);
	}
	bt_mem_free(t->units);
	bt_map_fini(&t->owners);
	bt_map_fini(&t->deployments);
	bt_arena_fini(&t->arena);
}
