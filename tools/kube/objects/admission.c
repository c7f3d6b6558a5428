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
#include "tools/kube/objects/ephemeral.h"

#define NAME_MAX_BYTES 600

static bool stopped(const struct bt_admission *admission)
{
	return admission->stop && *admission->stop;
}

/* An object that is refused, and what it loses. */
static void refuse_object(struct bt_admission *admission, enum bt_kind kind,
	const struct bt_meta_object *meta, struct bt_diagnosis *diagnosis)
{
	char name[NAME_MAX_BYTES];

	snprintf(name, sizeof(name), "%s %.*s/%.*s", bt_kind_info(kind)->name, BT_STR_ARG(meta->namespace_),
		BT_STR_ARG(meta->name));
	diagnosis->object = name;
	diagnosis->loss = kind == BT_KIND_POD ? BT_LOST_POD : BT_LOST_PART;
	admission->report(admission->report_context, diagnosis);
}

static void admission_refuse(struct bt_admission *admission, bool group, const struct bt_meta_object *meta,
	const char *path, const char *message, const char *remedy)
{
	struct bt_diagnosis diagnosis = {.path = path, .message = message, .remedy = remedy};

	refuse_object(admission, group ? BT_KIND_POD_GROUP : BT_KIND_POD, meta, &diagnosis);
}

/* The same with the reason of a plugin, which is cleared. */
static void refuse_with_reason(struct bt_admission *admission, enum bt_kind kind,
	const struct bt_meta_object *meta, const char *path, const char *remedy)
{
	struct bt_diagnosis diagnosis = {.path = path, .message = admission->reason.ptr, .remedy = remedy};

	refuse_object(admission, kind, meta, &diagnosis);
	bt_buf_clear(&admission->reason);
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

/* ---- objects that are being created ---- */

static uint64_t name_key(struct bt_admission *admission, struct bt_str namespace_, struct bt_str name)
{
	bt_buf_clear(&admission->text);
	bt_buf_str(&admission->text, namespace_);
	bt_buf_char(&admission->text, '/');
	bt_buf_str(&admission->text, name);
	return bt_hash_bytes(admission->text.ptr, admission->text.len) | 1;
}

/* Records a claim. Returns whether it was known. */
static bool know_claim(struct bt_admission *admission, const struct bt_meta_object *meta)
{
	uint64_t key = name_key(admission, meta->namespace_, meta->name);
	uint32_t known;

	if (bt_map_get(&admission->known_claims, key, &known)) {
		return true;
	}
	bt_map_put(&admission->known_claims, key, 1);
	return false;
}

/* Does a quota forbid the object? Otherwise it counts. */
static bool exceeds_quota(struct bt_admission *admission, const struct bt_quota_user *user)
{
	struct bt_quotas *quotas = &admission->quotas;

	if (quotas->n == 0) {
		return false;
	}
	if (admission->enforce_quota &&
		!bt_quotas_allow(quotas, user, &admission->arena, &admission->reason)) {
		return true;
	}
	bt_quotas_count(quotas, user, &admission->arena);
	return false;
}

static const char quota_remedy[] = "raise the ResourceQuota, or do not have it enforced";
static const char limit_remedy[] =
	"the API server would refuse it; change it, or the LimitRange of its namespace";

/* Admits a claim that is being created. False: it is refused. */
static bool create_claim(struct bt_admission *admission, struct bt_object *object, bool made)
{
	struct bt_claim_object *claim = &object->claim;
	struct bt_limit_violation violation;

	bt_policies_set_class(&admission->policies, claim);
	if (!bt_policies_allow_claim(&admission->policies, claim, &violation, &admission->reason)) {
		refuse_with_reason(admission, BT_KIND_PERSISTENT_VOLUME_CLAIM, &claim->meta, violation.path,
			limit_remedy);
		return false;
	}
	if (exceeds_quota(admission, &(struct bt_quota_user){.claim = claim, .created = true})) {
		refuse_with_reason(admission, BT_KIND_PERSISTENT_VOLUME_CLAIM, &claim->meta,
			"spec.resources.requests", quota_remedy);
		return false;
	}
	admission->admitted(admission->context, object, made);
	return true;
}

/* Admits a claim that a controller creates, unless it exists. */
static bool create_made_claim(void *context, struct bt_claim_object *claim)
{
	struct bt_admission *admission = context;
	struct bt_str kind = bt_str("PersistentVolumeClaim");
	struct bt_object object = {.kind = BT_KIND_PERSISTENT_VOLUME_CLAIM,
		.api_version = BT_STR("v1"),
		.kind_name = kind,
		.claim = *claim};

	if (know_claim(admission, &claim->meta)) {
		return true;
	}
	object.meta.uid = bt_workloads_uid(&admission->arena, kind, claim->meta.namespace_, claim->meta.name);
	bt_defaults_scheme(&object, &admission->arena);
	return create_claim(admission, &object, true);
}

/* Creates the claims of a pod's ephemeral volumes. The pod exists even where one is refused. */
static void create_ephemeral(struct bt_admission *admission, const struct bt_pod_object *pod)
{
	for (uint32_t i = 0; i < pod->spec.volume_n; i++) {
		const struct bt_volume_object *volume = &pod->spec.volumes[i];
		struct bt_claim_object claim;

		if (volume->type != BT_VOLUME_EPHEMERAL) {
			continue;
		}
		if (bt_ephemeral_claim(pod, volume, &admission->arena, &claim, &admission->reason)) {
			(void)create_made_claim(admission, &claim);
		} else {
			refuse_with_reason(admission, BT_KIND_POD, &pod->meta, "spec.volumes[].ephemeral",
				"the API server would refuse the pod; correct the volume");
		}
	}
}

static bool has_ephemeral(const struct bt_pod_object *pod)
{
	for (uint32_t i = 0; i < pod->spec.volume_n; i++) {
		if (pod->spec.volumes[i].type == BT_VOLUME_EPHEMERAL) {
			return true;
		}
	}
	return false;
}

static void refuse_class(struct bt_admission *admission, bool group, const struct bt_meta_object *meta);

/* Runs the admission plugins on a pod that is being created, in the API server's order: those that change it,
 * then those that check it. False: it is refused. Source: AllOrderedPlugins, pkg/kubeapiserver/options,
 * v1.37.2. */
static bool create_pod(struct bt_admission *admission, struct bt_pod_object *pod)
{
	struct bt_arena *arena = &admission->arena;
	struct bt_policies *policies = &admission->policies;
	struct bt_limit_violation violation;

	bt_policies_set_limits(policies, pod, arena);
	if (bt_defaults_admission(pod, &admission->priorities, arena) != BT_OK) {
		refuse_class(admission, false, &pod->meta);
		return false;
	}
	if (!bt_policies_set_runtime(policies, pod, arena, &admission->reason)) {
		refuse_with_reason(admission, BT_KIND_POD, &pod->meta, "spec.runtimeClassName",
			"the API server would refuse it; correct it, or add the class to the input");
		return false;
	}
	if (!bt_policies_allow_pod(policies, pod, arena, &violation, &admission->reason)) {
		refuse_with_reason(admission, BT_KIND_POD, &pod->meta, violation.path, limit_remedy);
		return false;
	}
	if (exceeds_quota(admission, &(struct bt_quota_user){.pod = pod, .created = true})) {
		refuse_with_reason(
			admission, BT_KIND_POD, &pod->meta, "spec.containers[].resources", quota_remedy);
		return false;
	}
	return true;
}

/* Admits a pod that is being created, with the claims of its ephemeral volumes. */
static void create_and_admit(struct bt_admission *admission, struct bt_pod_object *pod, bool made)
{
	if (!create_pod(admission, pod)) {
		return;
	}
	if (admission->expand && has_ephemeral(pod)) {
		if (!pod->meta.uid.len) {
			pod->meta.uid = bt_workloads_uid(
				&admission->arena, bt_str("Pod"), pod->meta.namespace_, pod->meta.name);
		}
		create_ephemeral(admission, pod);
	}
	admit_pod(admission, pod, made);
}

static void take_claim(struct bt_admission *admission, struct bt_object *object)
{
	struct bt_claim_object *claim = &object->claim;

	know_claim(admission, &claim->meta);
	if (claim->meta.uid.len) {
		if (admission->quotas.n) {
			bt_quotas_count(&admission->quotas, &(struct bt_quota_user){.claim = claim},
				&admission->arena);
		}
		admission->admitted(admission->context, object, false);
		return;
	}
	admission->claims = bt_mem_grow(
		admission->claims, admission->claim_n, &admission->claim_cap, sizeof(*admission->claims));
	struct bt_object *copy = &admission->claims[admission->claim_n++];
	*copy = *object;
	bt_object_own(copy, &admission->kept);
}

/* ---- objects of the input ---- */

static void count_existing(struct bt_admission *admission, const struct bt_pod_object *pod)
{
	if (admission->quotas.n) {
		bt_quotas_count(&admission->quotas, &(struct bt_quota_user){.pod = pod}, &admission->arena);
	}
}

/* A pod without a priority waits until every PriorityClass is known. */
static void take_pod(struct bt_admission *admission, const struct bt_pod_object *pod)
{
	struct bt_arena *kept = &admission->kept;

	if (pod->spec.has_priority || pod->spec.node_name.len) {
		count_existing(admission, pod);
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
	if (object->kind == BT_KIND_PERSISTENT_VOLUME_CLAIM) {
		take_claim(admission, object);
		return;
	}
	bt_policies_add(&admission->policies, object);
	if (object->kind == BT_KIND_PRIORITY_CLASS) {
		bt_priority_table_add(&admission->priorities, &object->priority_class);
	} else if (object->kind == BT_KIND_RESOURCE_QUOTA) {
		bt_quotas_add(&admission->quotas, object);
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

		bt_arena_reset(&admission->arena);
		if (!pod->meta.uid.len) {
			bt_defaults_match_label_keys(pod, &admission->arena);
			create_and_admit(admission, pod, false);
			continue;
		}
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

static void admit_claims(struct bt_admission *admission)
{
	size_t n = admission->claim_n;

	admission->claim_n = 0;
	for (size_t i = 0; i < n && !stopped(admission); i++) {
		bt_arena_reset(&admission->arena);
		(void)create_claim(admission, &admission->claims[i], false);
	}
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
	create_and_admit(admission, pod, true);
}

static bool admit_expanded_claim(void *context, struct bt_claim_object *claim)
{
	struct bt_admission *admission = context;

	if (stopped(admission)) {
		return false;
	}
	bt_arena_reset(&admission->arena);
	return create_made_claim(admission, claim);
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
		.claim = admit_expanded_claim,
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

/* Warns about a quota; admission->reason is the message. */
static void warn_of(
	struct bt_admission *admission, const struct bt_quota *quota, const char *path, const char *remedy)
{
	const struct bt_meta_object *meta = &quota->object.meta;
	char name[NAME_MAX_BYTES];

	snprintf(name, sizeof(name), "ResourceQuota %.*s/%.*s", BT_STR_ARG(meta->namespace_),
		BT_STR_ARG(meta->name));
	admission->report(admission->report_context, &(struct bt_diagnosis){.object = name,
							     .path = path,
							     .message = admission->reason.ptr,
							     .remedy = remedy,
							     .severity = BT_ADVICE});
	bt_buf_clear(&admission->reason);
}

/* Warns about one resource of a quota. */
static void warn_of_quota(struct bt_admission *admission, const struct bt_quota *quota, uint32_t ix)
{
	const struct bt_named_quantity *hard = &quota->object.hard.items[ix];
	char used[BT_QUANTITY_TEXT_MAX], asked[BT_QUANTITY_TEXT_MAX], most[BT_QUANTITY_TEXT_MAX];
	char path[NAME_MAX_BYTES];

	bt_quantity_text(bt_quota_used(quota, ix), used);
	bt_quantity_text(quota->asked[ix], asked);
	bt_quantity_text(hard->quantity, most);
	snprintf(path, sizeof(path), "spec.hard[%.*s]", BT_STR_ARG(hard->name));
	bt_buf_printf(&admission->reason,
		"exceeded by what the input creates: used %s, asked for %s, limited to %s", used, asked,
		most);
	warn_of(admission, quota, path,
		"the API server would refuse a part; raise the quota or ask for less (berth simulate "
		"--enforce-quota leaves out what exceeds it)");
}

/* Warns about pods without amounts that a quota requires. */
static void warn_of_silence(struct bt_admission *admission, struct bt_quota *quota)
{
	if (quota->silent_n) {
		bt_buf_printf(&admission->reason, "requires amounts that %llu of the created pods lack: %.*s",
			(unsigned long long)quota->silent_n, BT_STR_ARG(quota->silent));
		warn_of(admission, quota, "spec.hard",
			"the API server would refuse them; add the amounts, or a LimitRange with defaults "
			"(berth simulate --enforce-quota leaves them out)");
	}
	quota->silent_n = 0;
}

/* Warns about quotas that created objects exceed, unless that was refused. */
static void warn_of_quotas(struct bt_admission *admission)
{
	for (size_t i = 0; i < admission->quotas.n && !stopped(admission); i++) {
		struct bt_quota *quota = &admission->quotas.items[i];

		for (uint32_t j = 0; quota->asked_n && j < quota->object.hard.n; j++) {
			struct bt_quantity sum = bt_quantity_add(bt_quota_used(quota, j), quota->asked[j]);

			if (quota->asked[j].nano > 0 &&
				bt_quantity_cmp(sum, quota->object.hard.items[j].quantity) > 0) {
				warn_of_quota(admission, quota, j);
			}
		}
		warn_of_silence(admission, quota);
		quota->asked_n = 0;
	}
}

void bt_admission_finish(struct bt_admission *admission, struct bt_engine *engine)
{
	admit_groups(admission);
	admit_claims(admission);
	admit_deferred(admission);
	if (admission->expand && !stopped(admission)) {
		if (engine) {
			expand_on(admission, engine);
		} else {
			expand(admission, NULL, 0);
		}
	}
	warn_of_quotas(admission);
}

void bt_admission_drop(struct bt_admission *admission)
{
	admission->deferred_n = admission->group_n = admission->claim_n = 0;
	bt_arena_reset(&admission->kept);
	bt_workloads_fini(&admission->workloads);
}

void bt_admission_fini(struct bt_admission *admission)
{
	bt_mem_free(admission->deferred);
	bt_mem_free(admission->groups);
	bt_mem_free(admission->claims);
	bt_arena_fini(&admission->arena);
	bt_arena_fini(&admission->kept);
	bt_priority_table_fini(&admission->priorities);
	bt_workloads_fini(&admission->workloads);
	bt_policies_fini(&admission->policies);
	bt_quotas_fini(&admission->quotas);
	bt_map_fini(&admission->replica_sets);
	bt_map_fini(&admission->known_claims);
	bt_buf_fini(&admission->reason);
	bt_buf_fini(&admission->text);
}
