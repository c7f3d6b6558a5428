/* SPDX-License-Identifier: Apache-2.0
 * Admission of objects before the scheduler.
 */
#include "tools/kube/objects/admission.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine.h"
#include "tools/format/object_reader.h"
#include "tools/kube/objects/copy.h"

#define NAME_MAX_BYTES 600

static bool stopped(const struct bt_admission *admission)
{
	return admission->stop && *admission->stop;
}

static void admission_refuse(struct bt_admission *admission, bool group, const struct bt_meta_object *meta,
	const char *path, const char *message, const char *remedy)
{
	char name[NAME_MAX_BYTES];

	snprintf(name, sizeof(name), "%s %.*s/%.*s", group ? "PodGroup" : "Pod", BT_STR_ARG(meta->namespace_),
		BT_STR_ARG(meta->name));
	admission->report(admission->report_context, &(struct bt_diagnosis){.object = name,
							     .path = path,
							     .message = message,
							     .remedy = remedy,
							     .loss = group ? BT_LOST_PART : BT_LOST_POD});
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

/* The field with a negative request, which the API server rejects; NULL: none. */
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

static void admit_pod(struct bt_admission *admission, const struct bt_pod_object *pod, bool made)
{
	struct bt_object object = {
		.kind = BT_KIND_POD, .api_version = BT_STR("v1"), .kind_name = BT_STR("Pod"), .pod = *pod};
	const char *negative = negative_field(&pod->spec);

	if (negative) {
		admission_refuse(admission, false, &pod->meta, negative, "an amount is below zero",
			"the API server would refuse the pod; write 0 or more");
		return;
	}
	admission->admitted(admission->context, &object, made);
}

/* A pod without a priority waits until every PriorityClass is known. */
static void take_pod(struct bt_admission *admission, const struct bt_pod_object *pod)
{
	struct bt_arena *kept = &admission->kept;

	if (pod->spec.has_priority || pod->spec.node_name.len) {
		admit_pod(admission, pod, false);
		return;
	}
	admission->deferred = bt_mem_grow(admission->deferred, admission->deferred_n,
		&admission->deferred_cap, sizeof(*admission->deferred));
	if (pod->node_claim_n || pod->extended_mapping_n) { /* rare: what an earlier binding has left */
		struct bt_object whole = {.kind = BT_KIND_POD, .pod = *pod};

		bt_object_own(&whole, kept);
		admission->deferred[admission->deferred_n++] = whole.pod;
		return;
	}
	admission->deferred[admission->deferred_n++] = (struct bt_pod_object){
		.meta = bt_copy_meta(kept, BT_COPY_ALL, &pod->meta),
		.spec = bt_copy_pod_spec(kept, BT_COPY_ALL, &pod->spec),
		.phase = bt_copy_str(kept, pod->phase),
		.nominated_node_name = bt_copy_str(kept, pod->nominated_node_name),
		.claim_statuses =
			bt_copy_pod_claims(kept, BT_COPY_ALL, pod->claim_statuses, pod->claim_status_n),
		.claim_status_n = pod->claim_status_n,
	};
}

/* And so does a PodGroup. */
static void take_group(struct bt_admission *admission, struct bt_object *object)
{
	struct bt_arena *kept = &admission->kept;
	struct bt_pod_group_object *group = &object->pod_group;

	if (group->has_priority) {
		admission->admitted(admission->context, object, false);
		return;
	}
	admission->groups = bt_mem_grow(
		admission->groups, admission->group_n, &admission->group_cap, sizeof(*admission->groups));
	struct bt_object *copy = &admission->groups[admission->group_n++];
	*copy = *object;
	bt_object_own(copy, kept);
	copy->pod_group.conditions = NULL; /* admission does not write a group's status */
	copy->pod_group.condition_n = 0;
}

static uint64_t name_key(struct bt_admission *admission, struct bt_str namespace_, struct bt_str name)
{
	bt_buf_clear(&admission->text);
	bt_buf_str(&admission->text, namespace_);
	bt_buf_char(&admission->text, '/');
	bt_buf_str(&admission->text, name);
	return bt_hash_bytes(admission->text.ptr, admission->text.len) | 1;
}

void bt_admission_object(struct bt_admission *admission, struct bt_object *object)
{
	bt_arena_reset(&admission->arena);
	bt_defaults_namespace(object);
	bt_defaults_scheme(object, &admission->arena);
	if (admission->expand) {
		bt_workloads_observe(&admission->workloads, object);
	}
	if (object->kind == BT_KIND_POD) {
		take_pod(admission, &object->pod);
		return;
	}
	if (object->kind == BT_KIND_POD_GROUP || object->kind == BT_KIND_COMPOSITE_POD_GROUP) {
		take_group(admission, object);
		return;
	}
	if (object->kind == BT_KIND_PRIORITY_CLASS) {
		bt_priority_table_add(&admission->priorities, &object->priority_class);
	} else if (object->kind == BT_KIND_REPLICA_SET) {
		bt_map_put(&admission->replica_sets,
			name_key(admission, object->meta.namespace_, object->meta.name), 1);
	}
	admission->admitted(admission->context, object, false);
}

/* ---- after the last object ---- */

static void refuse_class(struct bt_admission *admission, bool group, const struct bt_meta_object *meta)
{
	admission_refuse(admission, group, meta, "spec.priorityClassName", "there is no such PriorityClass",
		group ? "the API server would refuse the PodGroup; add the class to the input"
		      : "the API server would refuse the pod; add the class to the input");
}

static bool resolve(struct bt_admission *admission, bool group, const struct bt_meta_object *meta,
	struct bt_str class_name, struct bt_priority *out_priority)
{
	bool known = bt_priority_resolve(&admission->priorities, class_name, out_priority) == BT_OK;

	if (!known) {
		refuse_class(admission, group, meta);
	}
	return known;
}

/* Source: admitPodGroup, plugin/pkg/admission/priority, v1.37.2. */
static void admit_groups(struct bt_admission *admission)
{
	size_t n = admission->group_n;

	admission->group_n = 0;
	for (size_t i = 0; i < n && !stopped(admission); i++) {
		struct bt_pod_group_object *group = &admission->groups[i].pod_group;
		struct bt_priority priority;

		if (resolve(admission, true, &group->meta, group->priority_class_name, &priority)) {
			group->priority = priority.value;
			group->has_priority = true;
			if (group->preemption_policy.len == 0) {
				group->preemption_policy = priority.preemption_policy;
			}
			admission->admitted(admission->context, &admission->groups[i], false);
		}
	}
}

static void admit_deferred(struct bt_admission *admission)
{
	size_t n = admission->deferred_n;

	admission->deferred_n = 0;
	for (size_t i = 0; i < n && !stopped(admission); i++) {
		struct bt_pod_object *pod = &admission->deferred[i];
		struct bt_priority priority;

		if (!resolve(admission, false, &pod->meta, pod->spec.priority_class_name, &priority)) {
			continue;
		}
		pod->spec.priority = priority.value;
		pod->spec.has_priority = true;
		if (pod->spec.preemption_policy.len == 0) {
			pod->spec.preemption_policy = priority.preemption_policy;
		}
		admit_pod(admission, pod, false);
	}
	bt_arena_reset(&admission->kept);
}

/*
 * A Deployment's pods belong to a ReplicaSet that its controller would create, and that the scheduler would
 * see: it selects its own pods, all with the same labels.
 */
static void admit_replica_set(struct bt_admission *admission, const struct bt_pod_object *pod)
{
	const struct bt_owner_object *owner = pod->meta.owner_n ? &pod->meta.owners[0] : NULL;
	uint32_t known;

	if (!owner || !bt_str_is(owner->kind, "ReplicaSet")) {
		return;
	}
	uint64_t key = name_key(admission, pod->meta.namespace_, owner->name);
	if (bt_map_get(&admission->replica_sets, key, &known)) {
		return;
	}
	bt_map_put(&admission->replica_sets, key, 1);
	struct bt_object replica_set = {
		.kind = BT_KIND_REPLICA_SET,
		.api_version = BT_STR("apps/v1"),
		.kind_name = BT_STR("ReplicaSet"),
		.workload = {.meta = {.name = owner->name,
				     .namespace_ = pod->meta.namespace_,
				     .uid = owner->uid},
			.selector = {.set = true, .match_labels = pod->meta.labels}},
	};
	admission->admitted(admission->context, &replica_set, true);
}

static void admit_expanded(void *context, struct bt_pod_object *pod)
{
	struct bt_admission *admission = context;

	if (stopped(admission)) {
		return;
	}
	bt_arena_reset(&admission->arena);
	admit_replica_set(admission, pod);
	if (bt_defaults_admission(pod, &admission->priorities, &admission->arena) != BT_OK) {
		refuse_class(admission, false, &pod->meta);
		return;
	}
	admit_pod(admission, pod, true);
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
	struct bt_admission *admission = context;
	const struct bt_cache *cache = bt_engine_cache(admission->engine);
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	const struct bt_node *node = &snapshot->nodes[admission->node_ixs[ix]];
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

static void expand(struct bt_admission *admission, const struct bt_str *names, uint32_t n)
{
	const struct bt_workloads_request request = {
		.emit = admit_expanded,
		.eligible = daemon_eligible,
		.context = admission,
		.node_names = names,
		.node_n = n,
	};
	struct bt_buf message = {0};

	if (bt_workloads_expand(&admission->workloads, &request, &message) != BT_OK) {
		admission->report(admission->report_context,
			&(struct bt_diagnosis){.message = message.ptr,
				.remedy = "use fewer replicas, or do not have workloads expanded",
				.loss = BT_LOST_PART});
	}
	bt_buf_fini(&message);
	bt_workloads_fini(&admission->workloads);
}

static void expand_on(struct bt_admission *admission, struct bt_engine *engine)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	struct bt_str *names = bt_mem_zalloc(snapshot->node_n, sizeof(*names));
	uint32_t n = 0;

	admission->engine = engine;
	admission->node_ixs = bt_mem_zalloc(snapshot->node_n, sizeof(*admission->node_ixs));
	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		if (bt_bitmap_test(snapshot->live, i)) {
			admission->node_ixs[n] = i;
			names[n++] = bt_intern_str(cache->dictionary->intern, snapshot->nodes[i].name);
		}
	}
	expand(admission, names, n);
	bt_mem_free(names);
	bt_mem_free(admission->node_ixs);
	admission->node_ixs = NULL;
	admission->engine = NULL;
}

void bt_admission_finish(struct bt_admission *admission, struct bt_engine *engine)
{
	admit_groups(admission);
	admit_deferred(admission);
	if (!admission->expand || stopped(admission)) {
		return;
	}
	if (engine) {
		expand_on(admission, engine);
	} else {
		expand(admission, NULL, 0);
	}
}

void bt_admission_drop(struct bt_admission *admission)
{
	admission->deferred_n = admission->group_n = 0;
	bt_arena_reset(&admission->kept);
	bt_workloads_fini(&admission->workloads);
}

void bt_admission_fini(struct bt_admission *admission)
{
	bt_mem_free(admission->deferred);
	bt_mem_free(admission->groups);
	bt_arena_fini(&admission->arena);
	bt_arena_fini(&admission->kept);
	bt_priority_table_fini(&admission->priorities);
	bt_workloads_fini(&admission->workloads);
	bt_map_fini(&admission->replica_sets);
	bt_buf_fini(&admission->text);
}
