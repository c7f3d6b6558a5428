/* SPDX-License-Identifier: Apache-2.0
 * Defaulting, in the order of upstream's scheme: a pod's requests are filled in before quantities are
 * rounded, because sums of exact amounts can round differently from sums of rounded ones.
 */
#include "tools/kube/objects/defaults.h"

#include <string.h>

#include "engine/base/mem.h"

#define GRACE_PERIOD_S		30
#define DEFAULT_TOLERATION_S	300
#define SYSTEM_NODE_CRITICAL	2000001000
#define SYSTEM_CLUSTER_CRITICAL 2000000000

static const struct bt_str default_scheduler = BT_STR("default-scheduler");
static const struct bt_str always = BT_STR("Always");
static const struct bt_str protocol_tcp = BT_STR("TCP");
static const struct bt_str default_rbd_pool = BT_STR("rbd");
static const struct bt_str shared_disk = BT_STR("Shared");
static const struct bt_str pending = BT_STR("Pending");
static const struct bt_str filesystem = BT_STR("Filesystem");
static const struct bt_str immediate = BT_STR("Immediate");
static const struct bt_str exact_count = BT_STR("ExactCount");
static const struct bt_str preempt_lower = BT_STR("PreemptLowerPriority");
static const struct bt_str default_namespace = BT_STR("default");
static const struct bt_str namespace_label = BT_STR("kubernetes.io/metadata.name");

struct bt_named_quantity *bt_resource_list_find(const struct bt_resource_list *list, struct bt_str name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_eq(list->items[i].name, name)) {
			return &list->items[i];
		}
	}
	return NULL;
}

/* Adds capacity without changing the existing array. */
static void grow_quantities(struct bt_resource_list *list, uint32_t more, struct bt_arena *arena)
{
	size_t entry = sizeof(*list->items);
	struct bt_named_quantity *items = bt_arena_alloc(arena, (list->n + more) * entry, 16);

	if (list->n) {
		memcpy(items, list->items, list->n * entry);
	}
	list->items = items;
	list->set = true;
}

static void round_quantities(struct bt_resource_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		list->items[i].quantity = bt_quantity_round_milli(list->items[i].quantity);
	}
}

static void round_requirements(struct bt_requirements_object *requirements)
{
	round_quantities(&requirements->requests);
	round_quantities(&requirements->limits);
}

static void requests_from_limits(struct bt_container_object *container, struct bt_arena *arena)
{
	const struct bt_resource_list *limits = &container->resources.limits;
	struct bt_resource_list *requests = &container->resources.requests;
	uint32_t missing = 0;

	for (uint32_t i = 0; i < limits->n; i++) {
		missing += !bt_resource_list_find(requests, limits->items[i].name);
	}
	requests->set |= limits->set;
	if (missing == 0) {
		return;
	}
	grow_quantities(requests, missing, arena);
	for (uint32_t i = 0; i < limits->n; i++) {
		if (!bt_resource_list_find(requests, limits->items[i].name)) {
			requests->items[requests->n++] = limits->items[i];
		}
	}
}

static bool is_hugepages(struct bt_str name)
{
	return bt_str_starts(name, "hugepages-");
}

static bool is_cpu_or_memory(struct bt_str name)
{
	return bt_str_is(name, "cpu") || bt_str_is(name, "memory");
}

static const struct bt_resource_list *container_list(const struct bt_container_object *container, bool limits)
{
	return limits ? &container->resources.limits : &container->resources.requests;
}

/* Adds from's amounts to a list that has room for all names. */
static void add_list(struct bt_resource_list *list, const struct bt_resource_list *from)
{
	for (uint32_t i = 0; i < from->n; i++) {
		struct bt_named_quantity *known = bt_resource_list_find(list, from->items[i].name);

		if (known) {
			known->quantity = bt_quantity_add(known->quantity, from->items[i].quantity);
		} else {
			list->items[list->n++] = from->items[i];
		}
	}
}

static void max_list(struct bt_resource_list *list, const struct bt_resource_list *from)
{
	for (uint32_t i = 0; i < from->n; i++) {
		struct bt_named_quantity *known = bt_resource_list_find(list, from->items[i].name);

		if (!known) {
			list->items[list->n++] = from->items[i];
		} else if (bt_quantity_cmp(from->items[i].quantity, known->quantity) > 0) {
			*known = from->items[i];
		}
	}
}

struct bt_resource_list bt_pod_total(
	const struct bt_pod_spec_object *spec, bool limits, struct bt_arena *arena)
{
	uint32_t name_n = 0;
	struct bt_resource_list total = {0};
	struct bt_resource_list sidecars = {0};
	struct bt_resource_list own = {0};
	struct bt_resource_list largest = {0};

	for (uint32_t i = 0; i < spec->container_n; i++) {
		name_n += container_list(&spec->containers[i], limits)->n;
	}
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		name_n += container_list(&spec->init_containers[i], limits)->n;
	}
	grow_quantities(&total, name_n, arena);
	grow_quantities(&sidecars, name_n, arena);
	grow_quantities(&own, name_n, arena);
	grow_quantities(&largest, name_n, arena);
	for (uint32_t i = 0; i < spec->container_n; i++) {
		add_list(&total, container_list(&spec->containers[i], limits));
	}
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		const struct bt_container_object *container = &spec->init_containers[i];

		if (bt_str_is(container->restart_policy, "Always")) {
			add_list(&total, container_list(container, limits));
			add_list(&sidecars, container_list(container, limits));
			max_list(&largest, &sidecars);
			continue;
		}
		own.n = 0;
		add_list(&own, container_list(container, limits));
		add_list(&own, &sidecars);
		max_list(&largest, &own);
	}
	max_list(&total, &largest);
	return total;
}

/* Pod-level limits of huge pages default to those of the containers. */
static void huge_page_limits(struct bt_pod_spec_object *spec, struct bt_arena *arena)
{
	struct bt_resource_list *limits = &spec->resources.limits;
	struct bt_resource_list wanted = {0};

	if (limits->n == 0 && spec->resources.requests.n == 0) {
		return;
	}
	wanted = bt_pod_total(spec, true, arena);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < wanted.n; i++) {
		struct bt_str name = wanted.items[i].name;

		if (is_hugepages(name) && !bt_resource_list_find(&spec->resources.requests, name) &&
			!bt_resource_list_find(limits, name)) {
			wanted.items[kept++] = wanted.items[i];
		}
	}
	if (kept) {
		grow_quantities(limits, kept, arena);
		memcpy(limits->items + limits->n, wanted.items, kept * sizeof(*wanted.items));
		limits->n += kept;
	}
}

/* Pod-level requests default to what the containers request, then to the pod-level limits. */
static void pod_level_requests(struct bt_pod_spec_object *spec, struct bt_arena *arena)
{
	const struct bt_resource_list *limits = &spec->resources.limits;
	struct bt_resource_list *requests = &spec->resources.requests;

	if (limits->n == 0) {
		return;
	}
	struct bt_resource_list wanted = bt_pod_total(spec, false, arena);
	bool was_set = requests->set;
	grow_quantities(requests, wanted.n + limits->n, arena);
	for (uint32_t i = 0; i < wanted.n; i++) {
		if (is_cpu_or_memory(wanted.items[i].name) &&
			!bt_resource_list_find(requests, wanted.items[i].name)) {
			requests->items[requests->n++] = wanted.items[i];
		}
	}
	for (uint32_t i = 0; i < limits->n; i++) {
		struct bt_str name = limits->items[i].name;

		if ((is_cpu_or_memory(name) || is_hugepages(name)) &&
			!bt_resource_list_find(requests, name)) {
			requests->items[requests->n++] = limits->items[i];
		}
	}
	requests->set = was_set || requests->n > 0;
}

static void host_ports(struct bt_container_object *containers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < containers[i].port_n; j++) {
			struct bt_port_object *port = &containers[i].ports[j];

			if (port->host_port == 0) {
				port->host_port = port->container_port;
			}
		}
	}
}

static void container_defaults(struct bt_container_object *containers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < containers[i].port_n; j++) {
			if (containers[i].ports[j].protocol.len == 0) {
				containers[i].ports[j].protocol = protocol_tcp;
			}
		}
		round_requirements(&containers[i].resources);
	}
}

static void azure_defaults(struct bt_volume_object *volume)
{
	if (volume->type == BT_VOLUME_AZURE_DISK && volume->kind.len == 0) {
		volume->kind = shared_disk;
	}
}

static void set_default(struct bt_str *text, struct bt_str value)
{
	if (text->len == 0) {
		*text = value;
	}
}

static void persistent_volume_defaults(struct bt_persistent_volume_object *volume)
{
	set_default(&volume->phase, pending);
	set_default(&volume->volume_mode, filesystem);
	round_quantities(&volume->capacity);
	azure_defaults(&volume->source);
}

static void claim_defaults(struct bt_claim_object *claim)
{
	set_default(&claim->phase, pending);
	set_default(&claim->volume_mode, filesystem);
	round_quantities(&claim->requests);
}

/* The part that pods and pod templates have in common. */
static void pod_spec_defaults(struct bt_pod_spec_object *spec)
{
	if (spec->restart_policy.len == 0) {
		spec->restart_policy = always;
	}
	if (!spec->has_termination_grace) {
		spec->termination_grace_s = GRACE_PERIOD_S;
		spec->has_termination_grace = true;
	}
	if (spec->scheduler_name.len == 0) {
		spec->scheduler_name = default_scheduler;
	}
	for (uint32_t i = 0; i < spec->volume_n; i++) {
		struct bt_volume_object *volume = &spec->volumes[i];

		if (volume->type == BT_VOLUME_RBD && volume->pool.len == 0) {
			volume->pool = default_rbd_pool;
		}
		azure_defaults(volume);
	}
	container_defaults(spec->init_containers, spec->init_container_n);
	container_defaults(spec->containers, spec->container_n);
	round_quantities(&spec->overhead);
	round_requirements(&spec->resources);
}

static void round_statuses(struct bt_container_status_object *statuses, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		round_quantities(&statuses[i].allocated);
		round_requirements(&statuses[i].resources);
	}
}

void bt_defaults_pod(struct bt_pod_object *pod, struct bt_arena *arena)
{
	struct bt_pod_spec_object *spec = &pod->spec;

	for (uint32_t i = 0; i < spec->container_n; i++) {
		requests_from_limits(&spec->containers[i], arena);
	}
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		requests_from_limits(&spec->init_containers[i], arena);
	}
	if (spec->resources.set) {
		huge_page_limits(spec, arena);
		pod_level_requests(spec, arena);
	}
	if (spec->host_network) {
		host_ports(spec->containers, spec->container_n);
		host_ports(spec->init_containers, spec->init_container_n);
	}
	pod_spec_defaults(spec);
	round_statuses(pod->init_container_statuses, pod->init_container_status_n);
	round_statuses(pod->container_statuses, pod->container_status_n);
	round_quantities(&pod->allocated);
	round_requirements(&pod->resources);
}

static void node_defaults(struct bt_node_object *node, struct bt_arena *arena)
{
	if (!node->allocatable.set && node->capacity.set) {
		node->allocatable.set = true;
		if (node->capacity.n) {
			grow_quantities(&node->allocatable, node->capacity.n, arena);
			memcpy(node->allocatable.items, node->capacity.items,
				node->capacity.n * sizeof(*node->capacity.items));
			node->allocatable.n = node->capacity.n;
		}
	}
	round_quantities(&node->capacity);
	round_quantities(&node->allocatable);
}

/* Every namespace has its name as a label. */
static void namespace_defaults(struct bt_namespace_object *namespace_, struct bt_arena *arena)
{
	struct bt_str_map *labels = &namespace_->meta.labels;

	if (namespace_->meta.name.len == 0) {
		return;
	}
	labels->set = true;
	for (uint32_t i = 0; i < labels->n; i++) {
		if (bt_str_eq(labels->items[i].key, namespace_label)) {
			labels->items[i].value = namespace_->meta.name;
			return;
		}
	}
	struct bt_str_pair *items = bt_arena_alloc(arena, (labels->n + 1) * sizeof(*items), 16);
	if (labels->n) {
		memcpy(items, labels->items, labels->n * sizeof(*items));
	}
	items[labels->n++] = (struct bt_str_pair){namespace_label, namespace_->meta.name};
	labels->items = items;
}

static void workload_defaults(enum bt_kind kind, struct bt_workload_object *workload)
{
	bool job = kind == BT_KIND_JOB || kind == BT_KIND_CRON_JOB;

	if (job && !workload->has_parallelism) {
		/* Both absent means one pod; only completions absent means a work queue. */
		if (!workload->has_completions) {
			workload->completions = 1;
			workload->has_completions = true;
		}
		workload->parallelism = 1;
		workload->has_parallelism = true;
	}
	if (!job && kind != BT_KIND_DAEMON_SET && !workload->has_replicas) {
		workload->replicas = 1;
		workload->has_replicas = true;
	}
	if (kind == BT_KIND_REPLICATION_CONTROLLER && workload->template_meta.labels.set) {
		if (workload->selector.match_labels.n == 0) {
			workload->selector.match_labels = workload->template_meta.labels;
			workload->selector.set = true;
		}
		if (workload->meta.labels.n == 0) {
			workload->meta.labels = workload->template_meta.labels;
		}
	}
	pod_spec_defaults(&workload->template_spec);
}

/* Source: SetDefaults_ExactDeviceRequest, SetDefaults_DeviceSubRequest, v1.36.3. */
static void subrequest_defaults(struct bt_device_subrequest_object *subrequest)
{
	set_default(&subrequest->allocation_mode, exact_count);
	if (bt_str_eq(subrequest->allocation_mode, exact_count) && subrequest->count == 0) {
		subrequest->count = 1;
	}
}

static void resource_claim_defaults(struct bt_resource_claim_object *claim)
{
	for (uint32_t i = 0; i < claim->request_n; i++) {
		if (claim->requests[i].has_exactly) {
			subrequest_defaults(&claim->requests[i].exactly);
		}
		for (uint32_t j = 0; j < claim->requests[i].first_available_n; j++) {
			subrequest_defaults(&claim->requests[i].first_available[j]);
		}
	}
}

/* Adds the amounts of from that the list lacks. */
static void default_amounts(
	struct bt_resource_list *list, const struct bt_resource_list *from, struct bt_arena *arena)
{
	if (from->n == 0) {
		return;
	}
	grow_quantities(list, from->n, arena);
	for (uint32_t i = 0; i < from->n; i++) {
		if (!bt_resource_list_find(list, from->items[i].name)) {
			list->items[list->n++] = from->items[i];
		}
	}
}

/* Source: SetDefaults_LimitRangeItem, pkg/apis/core/v1, v1.37.2. */
static void limit_range_defaults(struct bt_limit_range_object *range, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < range->limit_n; i++) {
		struct bt_limit_object *limit = &range->limits[i];

		if (bt_str_is(limit->type, "Container")) {
			default_amounts(&limit->default_limits, &limit->max, arena);
			default_amounts(&limit->default_requests, &limit->default_limits, arena);
			default_amounts(&limit->default_requests, &limit->min, arena);
		}
		round_quantities(&limit->min);
		round_quantities(&limit->max);
		round_quantities(&limit->default_limits);
		round_quantities(&limit->default_requests);
		round_quantities(&limit->max_ratio);
	}
}

void bt_defaults_scheme(struct bt_object *object, struct bt_arena *arena)
{
	switch (object->kind) {
	case BT_KIND_POD:
		bt_defaults_pod(&object->pod, arena);
		break;
	case BT_KIND_NODE:
		node_defaults(&object->node, arena);
		break;
	case BT_KIND_NAMESPACE:
		namespace_defaults(&object->namespace_, arena);
		break;
	case BT_KIND_PRIORITY_CLASS:
		if (object->priority_class.preemption_policy.len == 0) {
			object->priority_class.preemption_policy = preempt_lower;
		}
		break;
	case BT_KIND_REPLICA_SET:
	case BT_KIND_REPLICATION_CONTROLLER:
	case BT_KIND_STATEFUL_SET:
	case BT_KIND_DEPLOYMENT:
	case BT_KIND_JOB:
	case BT_KIND_DAEMON_SET:
	case BT_KIND_CRON_JOB:
		workload_defaults(object->kind, &object->workload);
		break;
	case BT_KIND_PERSISTENT_VOLUME:
		persistent_volume_defaults(&object->persistent_volume);
		break;
	case BT_KIND_PERSISTENT_VOLUME_CLAIM:
		claim_defaults(&object->claim);
		break;
	case BT_KIND_LIMIT_RANGE:
		limit_range_defaults(&object->limit_range, arena);
		break;
	case BT_KIND_RESOURCE_QUOTA:
		round_quantities(&object->quota.hard);
		round_quantities(&object->quota.used);
		break;
	case BT_KIND_RUNTIME_CLASS:
		round_quantities(&object->runtime_class.overhead);
		break;
	case BT_KIND_RESOURCE_CLAIM:
		resource_claim_defaults(&object->resource_claim);
		break;
	case BT_KIND_STORAGE_CLASS:
		set_default(&object->storage_class.binding_mode, immediate);
		break;
	default:
		break;
	}
}

void bt_defaults_namespace(struct bt_object *object)
{
	if (bt_kind_info(object->kind)->namespaced && object->meta.namespace_.len == 0) {
		object->meta.namespace_ = default_namespace;
	}
}

/* Adds "key operator [the pod's value]" for every key that the pod has as a label. */
static void merge_keys(struct bt_label_selector_object *selector, const struct bt_str_list *keys,
	const char *operator_, const struct bt_str_map *labels, struct bt_arena *arena)
{
	struct bt_requirement_object_list *list = &selector->match_expressions;
	size_t entry = sizeof(*list->items);

	if (!selector->set || keys->n == 0) {
		return;
	}
	struct bt_requirement_object *items = bt_arena_alloc(arena, (list->n + keys->n) * entry, 16);
	if (list->n) {
		memcpy(items, list->items, list->n * entry);
	}
	list->items = items;
	for (uint32_t i = 0; i < keys->n; i++) {
		for (uint32_t j = 0; j < labels->n; j++) {
			if (bt_str_eq(labels->items[j].key, keys->items[i])) {
				list->items[list->n++] = (struct bt_requirement_object){.key = keys->items[i],
					.operator_ = bt_str(operator_),
					.values = {&labels->items[j].value, 1, true}};
				break;
			}
		}
	}
}

static void merge_term_keys(
	struct bt_pod_term_object *term, const struct bt_str_map *labels, struct bt_arena *arena)
{
	merge_keys(&term->label_selector, &term->match_label_keys, "In", labels, arena);
	merge_keys(&term->label_selector, &term->mismatch_label_keys, "NotIn", labels, arena);
}

static void merge_affinity_keys(
	struct bt_pod_affinity_object *affinity, const struct bt_str_map *labels, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		merge_term_keys(&affinity->preferred[i].term, labels, arena);
	}
	for (uint32_t i = 0; i < affinity->required_n; i++) {
		merge_term_keys(&affinity->required[i], labels, arena);
	}
}

void bt_defaults_match_label_keys(struct bt_pod_object *pod, struct bt_arena *arena)
{
	const struct bt_str_map *labels = &pod->meta.labels;

	merge_affinity_keys(&pod->spec.affinity.pod_affinity, labels, arena);
	merge_affinity_keys(&pod->spec.affinity.pod_anti_affinity, labels, arena);
	for (uint32_t i = 0; i < pod->spec.spread_n; i++) {
		struct bt_spread_constraint_object *spread = &pod->spec.spread[i];

		merge_keys(&spread->label_selector, &spread->match_label_keys, "In", labels, arena);
	}
}

void bt_priority_table_fini(struct bt_priority_table *table)
{
	bt_arena_fini(&table->arena);
	bt_mem_free(table->items);
	*table = (struct bt_priority_table){0};
}

static const struct bt_priority_class_object *find_class(
	const struct bt_priority_table *table, struct bt_str name)
{
	for (size_t i = 0; i < table->n; i++) {
		if (bt_str_eq(table->items[i].meta.name, name)) {
			return &table->items[i];
		}
	}
	return NULL;
}

static struct bt_str defaults_keep(struct bt_arena *arena, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(arena, text.ptr, text.len), text.len};
}

void bt_priority_table_add(
	struct bt_priority_table *table, const struct bt_priority_class_object *priority_class)
{
	const struct bt_priority_class_object *known = find_class(table, priority_class->meta.name);
	size_t ix = known ? (size_t)(known - table->items) : table->n++;

	if (!known) {
		table->items = bt_mem_grow(table->items, ix, &table->cap, sizeof(*table->items));
	}
	struct bt_str policy = priority_class->preemption_policy;
	table->items[ix] = (struct bt_priority_class_object){
		.meta.name = defaults_keep(&table->arena, priority_class->meta.name),
		.value = priority_class->value,
		.global_default = priority_class->global_default,
		.preemption_policy = policy.len ? defaults_keep(&table->arena, policy) : preempt_lower};
}

enum bt_status bt_priority_resolve(
	const struct bt_priority_table *table, struct bt_str class_name, struct bt_priority *out_priority)
{
	const struct bt_priority_class_object *found = NULL;
	struct bt_priority priority = {class_name, preempt_lower, 0};

	if (class_name.len) {
		found = find_class(table, class_name);
	}
	for (size_t i = 0; class_name.len == 0 && i < table->n; i++) {
		const struct bt_priority_class_object *candidate = &table->items[i];

		/* Several global defaults can exist after a race; the lowest one is used. */
		if (candidate->global_default && (!found || candidate->value < found->value)) {
			found = candidate;
		}
	}
	if (found) {
		priority = (struct bt_priority){found->meta.name, found->preemption_policy, found->value};
	} else if (bt_str_is(class_name, "system-node-critical")) {
		priority.value = SYSTEM_NODE_CRITICAL;
	} else if (bt_str_is(class_name, "system-cluster-critical")) {
		priority.value = SYSTEM_CLUSTER_CRITICAL;
	} else if (class_name.len) {
		return BT_NOT_FOUND;
	}
	*out_priority = priority;
	return BT_OK;
}

static bool tolerates_eviction(const struct bt_pod_spec_object *spec, const char *key)
{
	for (uint32_t i = 0; i < spec->toleration_n; i++) {
		const struct bt_toleration_object *toleration = &spec->tolerations[i];

		if ((toleration->key.len == 0 || bt_str_is(toleration->key, key)) &&
			(toleration->effect.len == 0 || bt_str_is(toleration->effect, "NoExecute"))) {
			return true;
		}
	}
	return false;
}

static void default_tolerations(struct bt_pod_spec_object *spec, struct bt_arena *arena)
{
	static const char *const keys[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
	bool missing[2];

	for (int i = 0; i < 2; i++) {
		missing[i] = !tolerates_eviction(spec, keys[i]);
	}
	if (!missing[0] && !missing[1]) {
		return;
	}
	size_t entry = sizeof(*spec->tolerations);
	struct bt_toleration_object *items = bt_arena_alloc(arena, (spec->toleration_n + 2) * entry, 16);
	if (spec->toleration_n) {
		memcpy(items, spec->tolerations, spec->toleration_n * entry);
	}
	spec->tolerations = items;
	for (int i = 0; i < 2; i++) {
		if (missing[i]) {
			items[spec->toleration_n++] = (struct bt_toleration_object){.key = bt_str(keys[i]),
				.operator_ = bt_str("Exists"),
				.effect = bt_str("NoExecute"),
				.toleration_seconds = DEFAULT_TOLERATION_S,
				.has_toleration_seconds = true};
		}
	}
}

enum bt_status bt_defaults_admission(
	struct bt_pod_object *pod, const struct bt_priority_table *table, struct bt_arena *arena)
{
	struct bt_pod_spec_object *spec = &pod->spec;
	struct bt_priority priority;

	default_tolerations(spec, arena);
	if (spec->has_priority) {
		return BT_OK;
	}
	enum bt_status rc = bt_priority_resolve(table, spec->priority_class_name, &priority);
	if (rc != BT_OK) {
		return rc;
	}
	spec->priority_class_name = priority.class_name;
	spec->priority = priority.value;
	spec->has_priority = true;
	spec->preemption_policy = priority.preemption_policy;
	return BT_OK;
}
