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

static struct bt_capacity_part *add_part(struct bt_capacity_unit *unit)
{
	unit->parts = bt_mem_grow(unit->parts, unit->part_n, &unit->part_cap, sizeof(*unit->parts));
	unit->parts[unit->part_n] = (struct bt_capacity_part){.pod_n = 0};
	return &unit->parts[unit->part_n++];
}

static void add_pod(
	struct bt_capacity_unit *unit, struct bt_capacity_part *part, const struct bt_pod_object *pod)
{
	part->pods = bt_mem_grow(part->pods, part->pod_n, &part->pod_cap, sizeof(*part->pods));
	part->pods[part->pod_n++] = *pod;
	unit->pod_n++;
}

static void add_group(struct bt_capacity_part *part, const struct bt_object *group)
{
	part->groups = bt_mem_grow(part->groups, part->group_n, &part->group_cap, sizeof(*part->groups));
	part->groups[part->group_n++] = *group;
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

/* Are pods of groups scheduled together? whole: by PodGroups, not by Workloads that they name. */
static bool has_groups(const struct bt_capacity_templates *t, bool whole)
{
	const struct bt_gates *gates = &t->cluster->config.gates;

	return gates->on[BT_GATE_GENERIC_WORKLOAD] &&
	       bt_release_has(gates->release, BT_RULE_PODS_NAME_WORKLOADS) != whole;
}

static bool is_member(const struct bt_capacity_templates *t, const struct bt_pod_object *pod)
{
	return pod->spec.pod_group.len ? has_groups(t, true)
				       : pod->spec.workload_ref.name.len && has_groups(t, false);
}

static void take_pod(struct bt_capacity_templates *t, const struct bt_object *object)
{
	bool member = is_member(t, &object->pod);
	struct bt_capacity_unit *unit = member ? NULL : unit_for(t, &object->pod);
	struct bt_object copy = *object;

	if (!unit && !member) {
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
	if (member) {
		t->members = bt_mem_grow(t->members, t->member_n, &t->member_cap, sizeof(*t->members));
		t->members[t->member_n++] = copy.pod;
	} else {
		add_pod(unit, unit->part_n ? &unit->parts[0] : add_part(unit), &copy.pod);
	}
}

static void take_group(struct bt_capacity_templates *t, const struct bt_object *object)
{
	if (!has_groups(t, true)) {
		t->trouble = "its PodGroup has no effect in this release, or without the feature gate "
			     "GenericWorkload; choose another --kubernetes-version, or add --feature-gates "
			     "GenericWorkload=true";
		return;
	}
	if (object->pod_group.claim_n) {
		t->trouble =
			"its PodGroup has resourceClaims, which a controller would create for each copy; "
			"leave them out";
	}
	t->groups = bt_mem_grow(t->groups, t->group_n, &t->group_cap, sizeof(*t->groups));
	struct bt_object *copy = &t->groups[t->group_n++];
	*copy = *object;
	bt_object_own(copy, &t->arena);
	/* As its pods. */
	copy->pod_group.preemption_policy = (struct bt_str)BT_STR("Never");
}

/* ---- groups ---- */

#define NO_GROUP SIZE_MAX

static bool has_trees(const struct bt_capacity_templates *t)
{
	const struct bt_gates *gates = &t->cluster->config.gates;

	return gates->on[BT_GATE_COMPOSITE_POD_GROUP] &&
	       bt_release_has(gates->release, BT_RULE_GROUPS_ARE_QUEUED);
}

static size_t find_group(const struct bt_map *ixs, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, struct bt_buf *text)
{
	uint32_t ix;
	uint64_t key = write_name(text, bt_kind_info(kind)->name, namespace_, name);

	return bt_map_get(ixs, key, &ix) ? ix : NO_GROUP;
}

/* The root of a group's tree; NO_GROUP: the file lacks a group above it, or they form a ring. */
static size_t root_of(
	const struct bt_capacity_templates *t, const struct bt_map *ixs, size_t ix, struct bt_buf *text)
{
	for (size_t level = 0; ix != NO_GROUP && level <= t->group_n; level++) {
		const struct bt_pod_group_object *group = &t->groups[ix].pod_group;

		if (!has_trees(t) || !group->parent.len) {
			return ix;
		}
		ix = find_group(
			ixs, BT_KIND_COMPOSITE_POD_GROUP, group->meta.namespace_, group->parent, text);
	}
	return NO_GROUP;
}

/* Writes the name of the unit that a pod of groups is part of, and root gets its group, or NO_GROUP if it has
 * no object. Returns: false when an object is missing. */
static bool name_gang(struct bt_capacity_templates *t, const struct bt_map *ixs,
	const struct bt_pod_object *pod, size_t *root, struct bt_buf *name)
{
	const struct bt_workload_reference *reference = &pod->spec.workload_ref;

	*root = NO_GROUP;
	if (!pod->spec.pod_group.len) {
		bt_buf_clear(name);
		bt_buf_printf(name, "Workload %.*s/%.*s, group %.*s%s%.*s", BT_STR_ARG(pod->meta.namespace_),
			BT_STR_ARG(reference->name), BT_STR_ARG(reference->pod_group),
			reference->replica_key.len ? " " : "", BT_STR_ARG(reference->replica_key));
		return true;
	}
	size_t ix = find_group(ixs, BT_KIND_POD_GROUP, pod->meta.namespace_, pod->spec.pod_group, name);
	if (ix == NO_GROUP) {
		t->trouble = "its pods name a PodGroup that it does not hold; add the PodGroup";
		return false;
	}
	*root = root_of(t, ixs, ix, name);
	if (*root == NO_GROUP) {
		t->trouble = "a PodGroup names a CompositePodGroup that it does not hold; add that";
		return false;
	}
	const struct bt_object *object = &t->groups[*root];
	write_name(name, bt_kind_info(object->kind)->name, object->meta.namespace_, object->meta.name);
	return true;
}

/* A part of its own for a gang: a unit of its own, or of the file's. */
static struct bt_capacity_unit *begin_gang(struct bt_capacity_templates *t, const struct bt_map *ixs,
	size_t root, struct bt_str name, struct bt_buf *text)
{
	bool joins = t->together && t->unit_n > t->file_unit_n;
	struct bt_capacity_unit *unit =
		joins ? &t->units[t->unit_n - 1] : add_unit(t, t->together ? bt_str(t->path) : name);
	struct bt_capacity_part *part = add_part(unit);

	for (size_t i = 0; root != NO_GROUP && i < t->group_n; i++) {
		if (root_of(t, ixs, i, text) == root) {
			add_group(part, &t->groups[i]);
		}
	}
	return unit;
}

/* Makes units of the pods of groups. */
static void add_gangs(struct bt_capacity_templates *t)
{
	struct bt_map ixs = {0}, units = {0}, parts = {0};
	struct bt_buf name = {0}, text = {0};

	for (size_t i = 0; i < t->group_n; i++) {
		const struct bt_object *group = &t->groups[i];
		uint64_t key = write_name(
			&name, bt_kind_info(group->kind)->name, group->meta.namespace_, group->meta.name);

		bt_map_put(&ixs, key, (uint32_t)i);
	}
	for (size_t i = 0; i < t->member_n && !t->trouble; i++) {
		uint32_t unit_ix, part_ix;
		size_t root;

		if (!name_gang(t, &ixs, &t->members[i], &root, &name)) {
			break;
		}
		uint64_t key = bt_hash_bytes(name.ptr, name.len) | 1;
		if (!bt_map_get(&units, key, &unit_ix) || !bt_map_get(&parts, key, &part_ix)) {
			const struct bt_capacity_unit *unit =
				begin_gang(t, &ixs, root, bt_buf_view(&name), &text);

			unit_ix = (uint32_t)(unit - t->units);
			part_ix = (uint32_t)unit->part_n - 1;
			bt_map_put(&units, key, unit_ix);
			bt_map_put(&parts, key, part_ix);
		}
		struct bt_capacity_unit *unit = &t->units[unit_ix];
		add_pod(unit, &unit->parts[part_ix], &t->members[i]);
	}
	bt_buf_fini(&name);
	bt_buf_fini(&text);
	bt_map_fini(&ixs);
	bt_map_fini(&units);
	bt_map_fini(&parts);
}

/* ---- files ---- */

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
		take_group(t, object);
	} else {
		if (object->kind == BT_KIND_DEPLOYMENT) {
			struct bt_buf name = {0};

			bt_map_put(&t->deployments,
				write_name(&name, "Deployment", object->meta.namespace_, object->meta.name),
				1);
			bt_buf_fini(&name);
		}
		(void)bt_pipeline_apply_object(t->cluster->pipeline, BT_WATCH_EVENT_APPLY, object, &taken);
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
	t->group_n = t->member_n = 0;
	if (!bt_load_apart(&cluster->load, path, take_object, t)) {
		bt_message("berth %s: --pod %s: it cannot be read, or holds no objects\n", command, path);
		return BT_EXIT_INPUT;
	}
	if (!t->trouble) {
		add_gangs(t);
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

static void add_copy_of(struct bt_capacity_unit *mix, const struct bt_capacity_unit *unit)
{
	for (size_t i = 0; i < unit->part_n; i++) {
		const struct bt_capacity_part *from = &unit->parts[i];
		struct bt_capacity_part *part = add_part(mix);

		for (size_t p = 0; p < from->pod_n; p++) {
			add_pod(mix, part, &from->pods[p]);
		}
		for (size_t g = 0; g < from->group_n; g++) {
			add_group(part, &from->groups[g]);
		}
	}
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
			add_copy_of(mix, &t->units[i]);
		}
		at = end + 1;
	}
	return single_n > 0;
}

void bt_capacity_templates_fini(struct bt_capacity_templates *t)
{
	for (size_t i = 0; i < t->unit_n; i++) {
		struct bt_capacity_unit *unit = &t->units[i];

		for (size_t p = 0; p < unit->part_n; p++) {
			bt_mem_free(unit->parts[p].pods);
			bt_mem_free(unit->parts[p].groups);
		}
		bt_mem_free(unit->parts);
		bt_mem_free(unit->name);
	}
	bt_mem_free(t->units);
	bt_mem_free(t->groups);
	bt_mem_free(t->members);
	bt_map_fini(&t->owners);
	bt_map_fini(&t->deployments);
	bt_arena_fini(&t->arena);
}
