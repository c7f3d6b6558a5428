/* SPDX-License-Identifier: Apache-2.0
 * Compiles devices, classes and claims of the API to interned values.
 */
#include "engine/model/device.h"

static uint32_t name_or_none(struct bt_name_refs *held, struct bt_str text)
{
	return text.len ? bt_name_refs_add(held, text) : BT_NAME_NONE;
}

static const uint32_t *keep_names(
	struct bt_name_refs *held, struct bt_arena *arena, const struct bt_str_list *list)
{
	uint32_t *names = bt_arena_alloc(arena, list->n * sizeof(*names), 8);

	for (uint32_t i = 0; i < list->n; i++) {
		names[i] = bt_name_refs_add(held, list->items[i]);
	}
	return names;
}

static struct bt_device_selectors keep_selectors(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_device_selector_object *selectors, uint32_t n)
{
	uint32_t *expressions = bt_arena_alloc(arena, n * sizeof(*expressions), 8);

	for (uint32_t i = 0; i < n; i++) {
		expressions[i] =
			selectors[i].has_cel ? bt_name_refs_add(held, selectors[i].expression) : BT_NAME_NONE;
	}
	return (struct bt_device_selectors){expressions, n};
}

/* ---- slices ---- */

/* The elements of a list as numbers; NULL: none. */
static const int64_t *keep_list(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_attribute_object *from, uint32_t *out_n)
{
	enum bt_attribute_type type = from->type;
	uint32_t n = type == BT_ATTRIBUTE_INTS	  ? from->number_n
		     : type == BT_ATTRIBUTE_BOOLS ? from->truth_n
						  : from->texts.n;
	int64_t *items = bt_arena_alloc(arena, n * sizeof(*items), 8);

	for (uint32_t i = 0; i < n; i++) {
		items[i] = type == BT_ATTRIBUTE_INTS	? from->numbers[i]
			   : type == BT_ATTRIBUTE_BOOLS ? from->truths[i]
							: bt_name_refs_add(held, from->texts.items[i]);
	}
	*out_n = n;
	return items;
}

static void keep_attributes(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_device_object *object, struct bt_device *device)
{
	struct bt_attribute *items = bt_arena_zalloc(arena, object->attribute_n * sizeof(*items));

	for (uint32_t i = 0; i < object->attribute_n; i++) {
		const struct bt_attribute_object *from = &object->attributes[i];

		items[i] = (struct bt_attribute){
			.name = bt_name_refs_add(held, from->name),
			.type = from->type,
			.text = bt_name_refs_add(held, from->text),
			.number = from->type == BT_ATTRIBUTE_BOOL ? from->truth : from->number,
		};
		if (from->type >= BT_ATTRIBUTE_INTS) {
			items[i].items = keep_list(held, arena, from, &items[i].n);
		}
	}
	device->attributes = items;
	device->attribute_n = object->attribute_n;
}

static struct bt_request_policy keep_policy(
	struct bt_arena *arena, const struct bt_request_policy_object *from)
{
	struct bt_quantity *values = bt_arena_alloc(arena, from->value_n * sizeof(*values), 16);

	if (from->value_n) {
		memcpy(values, from->values, from->value_n * sizeof(*values));
	}
	return (struct bt_request_policy){.there = from->set,
		.has_default = from->has_default,
		.has_values = from->has_values,
		.has_range = from->has_range,
		.has_min = from->has_min,
		.has_max = from->has_max,
		.has_step = from->has_step,
		.default_ = from->default_,
		.min = from->min,
		.max = from->max,
		.step = from->step,
		.values = values,
		.value_n = from->value_n};
}

static void keep_capacities(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_device_object *object, struct bt_device *device)
{
	struct bt_capacity *items = bt_arena_zalloc(arena, object->capacity_n * sizeof(*items));

	for (uint32_t i = 0; i < object->capacity_n; i++) {
		items[i] = (struct bt_capacity){
			.name = bt_name_refs_add(held, object->capacities[i].name),
			.value = object->capacities[i].value,
			.policy = keep_policy(arena, &object->capacities[i].policy),
		};
	}
	device->capacities = items;
	device->capacity_n = object->capacity_n;
}

/* The counters of several sets, one after the other. */
static const struct bt_counter *keep_counters(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_counter_set_object *sets, uint32_t set_n, uint32_t *out_n)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < set_n; i++) {
		n += sets[i].counter_n;
	}
	struct bt_counter *counters = bt_arena_zalloc(arena, n * sizeof(*counters));
	n = 0;
	for (uint32_t i = 0; i < set_n; i++) {
		for (uint32_t j = 0; j < sets[i].counter_n; j++) {
			counters[n++] = (struct bt_counter){.set = bt_name_refs_add(held, sets[i].name),
				.name = bt_name_refs_add(held, sets[i].counters[j].name),
				.value = sets[i].counters[j].quantity.nano};
		}
	}
	*out_n = n;
	return counters;
}

static void keep_taints(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_device_object *object, struct bt_device *device)
{
	struct bt_taint *taints = bt_arena_zalloc(arena, object->taint_n * sizeof(*taints));

	for (uint32_t i = 0; i < object->taint_n; i++) {
		taints[i] = bt_taint_intern(held, &object->taints[i]);
	}
	device->taints = taints;
	device->taint_n = object->taint_n;
}

static void keep_groups(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_device_object *object, struct bt_device *device)
{
	struct bt_counter_groups *groups = bt_arena_zalloc(arena, object->consume_n * sizeof(*groups));

	for (uint32_t i = 0; i < object->consume_n; i++) {
		const struct bt_counter_set_object *from = &object->consumes[i];

		groups[i] = (struct bt_counter_groups){.set = bt_name_refs_add(held, from->name),
			.names = keep_names(held, arena, &from->groups),
			.n = from->groups.n};
	}
	device->groups = groups;
	device->group_n = object->consume_n;
}

static const struct bt_node_resource *keep_node_resources(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_node_resource_object *objects, uint32_t n)
{
	struct bt_node_resource *items = bt_arena_zalloc(arena, n * sizeof(*items));

	for (uint32_t i = 0; i < n; i++) {
		const struct bt_node_resource_object *from = &objects[i];

		items[i] = (struct bt_node_resource){
			.name = bt_name_refs_add(held, from->name),
			.maps = from->has_mapping,
			.has_capacity_multiplier = from->has_capacity_multiplier,
			.has_device_multiplier = from->has_device_multiplier,
			.has_per_pod = from->has_per_pod,
			.has_per_container = from->has_per_container,
			.capacity = name_or_none(held, from->capacity_key),
			.capacity_multiplier = from->capacity_multiplier,
			.device_multiplier = from->device_multiplier,
			.per_pod = from->per_pod,
			.per_container = from->per_container,
		};
	}
	return items;
}

static void compile_device(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_device_object *object, struct bt_device *out)
{
	*out = (struct bt_device){
		.name = bt_name_refs_add(held, object->name),
		.consumes = object->consume_n > 0,
		.has_node_name = object->has_node_name,
		.all_nodes = object->all_nodes,
		.has_selector = object->node_selector.set,
		.binds_to_node = object->binds_to_node,
		.allow_multiple = object->allow_multiple,
		.has_binding_conditions = object->binding_conditions.set,
		.node_name = name_or_none(held, object->node_name),
		.selector = bt_node_selector_compile(held, arena, &object->node_selector),
		.binding_conditions = keep_names(held, arena, &object->binding_conditions),
		.failure_conditions = keep_names(held, arena, &object->binding_failure_conditions),
		.binding_condition_n = object->binding_conditions.n,
		.failure_condition_n = object->binding_failure_conditions.n,
		.node_resources =
			keep_node_resources(held, arena, object->node_resources, object->node_resource_n),
		.node_mappings =
			keep_node_resources(held, arena, object->node_mappings, object->node_mapping_n),
		.node_resource_n = object->node_resource_n,
		.node_mapping_n = object->node_mapping_n,
	};
	keep_attributes(held, arena, object, out);
	keep_capacities(held, arena, object, out);
	keep_taints(held, arena, object, out);
	keep_groups(held, arena, object, out);
	out->counters = keep_counters(held, arena, object->consumes, object->consume_n, &out->counter_n);
}

void bt_resource_slice_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_resource_slice_object *object, struct bt_resource_slice *out)
{
	uint32_t *sets = bt_arena_alloc(arena, object->counter_set_n * sizeof(*sets), 8);

	*out = (struct bt_resource_slice){
		.name = bt_name_refs_add(held, object->meta.name),
		.driver = bt_name_refs_add(held, object->driver),
		.pool = bt_name_refs_add(held, object->pool),
		.generation = object->generation,
		.slice_count = object->slice_count,
		.node_name = name_or_none(held, object->node_name),
		.has_node_name = object->has_node_name,
		.all_nodes = object->all_nodes,
		.has_selector = object->node_selector.set,
		.per_device = object->per_device,
		.has_per_device = object->has_per_device,
		.selector = bt_node_selector_compile(held, arena, &object->node_selector),
		.devices = bt_arena_zalloc(arena, object->device_n * sizeof(*out->devices)),
		.device_n = object->device_n,
		.counter_sets = sets,
		.counter_set_n = object->counter_set_n,
		.skipped = keep_names(held, arena, &object->skipped),
		.skipped_n = object->skipped.n,
	};
	for (uint32_t i = 0; i < object->device_n; i++) {
		struct bt_device *device = &out->devices[i];

		compile_device(held, arena, &object->devices[i], device);
		device->ix = i;
		for (uint32_t j = 0; j < device->group_n; j++) {
			out->has_groups |= device->groups[j].n > 0;
		}
	}
	for (uint32_t i = 0; i < object->counter_set_n; i++) {
		sets[i] = bt_name_refs_add(held, object->counter_sets[i].name);
	}
	out->counters =
		keep_counters(held, arena, object->counter_sets, object->counter_set_n, &out->counter_n);
}

void bt_device_class_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_device_class_object *object, struct bt_device_class *out)
{
	*out = (struct bt_device_class){
		.name = bt_name_refs_add(held, object->meta.name),
		.creation_ns = object->meta.creation_ns,
		.selectors = keep_selectors(held, arena, object->selectors, object->selector_n),
		.extended_resource = object->has_extended_resource
					     ? bt_name_refs_add(held, object->extended_resource)
					     : BT_NAME_NONE,
	};
}

void bt_device_taint_rule_compile(struct bt_name_refs *held, const struct bt_device_taint_rule_object *object,
	bool bare_takes_all, struct bt_device_taint_rule *out)
{
	*out = (struct bt_device_taint_rule){
		.name = bt_name_refs_add(held, object->meta.name),
		.nothing = !object->has_selector && !bare_takes_all,
		.driver = object->has_driver ? bt_name_refs_add(held, object->driver) : BT_NAME_NONE,
		.pool = object->has_pool ? bt_name_refs_add(held, object->pool) : BT_NAME_NONE,
		.device = object->has_device ? bt_name_refs_add(held, object->device) : BT_NAME_NONE,
		.taint = bt_taint_intern(held, &object->taint),
		.added_ns = object->taint.added_ns,
	};
}

/* ---- claims ---- */

static enum bt_allocation_mode mode_of(struct bt_str text)
{
	return bt_str_is(text, "ExactCount") ? BT_ALLOCATE_EXACT_COUNT
	       : bt_str_is(text, "All")	     ? BT_ALLOCATE_ALL
					     : BT_ALLOCATE_OTHER;
}

static void compile_subrequest(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_device_subrequest_object *object, struct bt_device_subrequest *out)
{
	struct bt_toleration *tolerations =
		bt_arena_zalloc(arena, object->toleration_n * sizeof(*tolerations));
	struct bt_requested_capacity *capacities =
		bt_arena_zalloc(arena, object->capacity.n * sizeof(*capacities));
	struct bt_derived_attribute *derived = bt_arena_zalloc(arena, object->derived_n * sizeof(*derived));

	for (uint32_t i = 0; i < object->toleration_n; i++) {
		tolerations[i] = bt_toleration_intern(held, &object->tolerations[i]);
	}
	for (uint32_t i = 0; i < object->capacity.n; i++) {
		capacities[i] =
			(struct bt_requested_capacity){bt_name_refs_add(held, object->capacity.items[i].name),
				object->capacity.items[i].quantity};
	}
	for (uint32_t i = 0; i < object->derived_n; i++) {
		derived[i] = (struct bt_derived_attribute){bt_name_refs_add(held, object->derived[i].name),
			bt_name_refs_add(held, object->derived[i].expression)};
	}
	*out = (struct bt_device_subrequest){
		.name = bt_name_refs_add(held, object->name),
		.class_ = bt_name_refs_add(held, object->class_name),
		.mode = mode_of(object->allocation_mode),
		.mode_text = bt_name_refs_add(held, object->allocation_mode),
		.count = object->count,
		.selectors = keep_selectors(held, arena, object->selectors, object->selector_n),
		.admin = object->admin_access,
		.has_admin = object->has_admin_access,
		.has_capacity = object->has_capacity,
		.tolerations = tolerations,
		.capacities = capacities,
		.derived = derived,
		.toleration_n = object->toleration_n,
		.capacity_n = object->capacity.n,
		.derived_n = object->derived_n,
	};
}

/* The path by which an allocation names its alternative. */
static uint32_t path_of(struct bt_name_refs *held, struct bt_str request, struct bt_str alternative)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text, "%.*s/%.*s", BT_STR_ARG(request), BT_STR_ARG(alternative));
	uint32_t path = bt_name_refs_add(held, bt_buf_view(&text));
	bt_buf_fini(&text);
	return path;
}

static void keep_requests(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_resource_claim_object *object, struct bt_resource_claim *out)
{
	struct bt_device_request *requests = bt_arena_zalloc(arena, object->request_n * sizeof(*requests));

	for (uint32_t i = 0; i < object->request_n; i++) {
		const struct bt_device_request_object *from = &object->requests[i];
		struct bt_device_subrequest *alternatives =
			bt_arena_zalloc(arena, from->first_available_n * sizeof(*alternatives));

		for (uint32_t j = 0; j < from->first_available_n; j++) {
			compile_subrequest(held, arena, &from->first_available[j], &alternatives[j]);
			alternatives[j].path = path_of(held, from->name, from->first_available[j].name);
		}
		requests[i] = (struct bt_device_request){.name = bt_name_refs_add(held, from->name),
			.has_exactly = from->has_exactly,
			.alternatives = alternatives,
			.alternative_n = from->first_available_n};
		if (from->has_exactly) {
			compile_subrequest(held, arena, &from->exactly, &requests[i].exactly);
		}
	}
	out->requests = requests;
	out->request_n = object->request_n;
	out->has_requests = object->has_requests;
}

static void keep_constraints(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_resource_claim_object *object, struct bt_resource_claim *out)
{
	struct bt_device_constraint *constraints =
		bt_arena_zalloc(arena, object->constraint_n * sizeof(*constraints));

	for (uint32_t i = 0; i < object->constraint_n; i++) {
		const struct bt_device_constraint_object *from = &object->constraints[i];
		struct bt_str name = from->has_match ? from->match_attribute : from->distinct_attribute;
		size_t slash = bt_str_find(name, '/', 0);

		constraints[i] = (struct bt_device_constraint){
			.kind = from->has_match	     ? BT_CONSTRAINT_MATCH
				: from->has_distinct ? BT_CONSTRAINT_DISTINCT
						     : BT_CONSTRAINT_NONE,
			.attribute = bt_name_refs_add(held, name),
			.requests = keep_names(held, arena, &from->requests),
			.request_n = from->requests.n,
		};
		if (slash < name.len) {
			constraints[i].domain = bt_name_refs_add(held, bt_str_sub(name, 0, slash));
			constraints[i].local = bt_name_refs_add(held, bt_str_sub(name, slash + 1, name.len));
		}
	}
	out->constraints = constraints;
	out->constraint_n = object->constraint_n;
}

static const struct bt_consumed *keep_consumed(
	struct bt_name_refs *held, struct bt_arena *arena, const struct bt_resource_list *list)
{
	struct bt_consumed *items = bt_arena_zalloc(arena, list->n * sizeof(*items));

	for (uint32_t i = 0; i < list->n; i++) {
		items[i] = (struct bt_consumed){
			bt_name_refs_add(held, list->items[i].name), list->items[i].quantity.nano};
	}
	return items;
}

/* An invalid selector fails the pods that use the claim. */
static void keep_allocation_selector(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_node_selector_object *object, struct bt_allocation *out)
{
	struct bt_node_term unused;
	struct bt_buf why = {0};

	out->has_selector = object->set;
	out->selector = bt_node_selector_compile(held, arena, object);
	for (uint32_t i = 0; i < object->term_n; i++) {
		bt_node_term_compile(held, arena, &object->terms[i], &unused, &why);
	}
	if (why.len) {
		out->selector_error = bt_name_refs_add(held, bt_buf_view(&why));
	}
	bt_buf_fini(&why);
}

static void keep_allocation(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_resource_claim_object *object, struct bt_resource_claim *out)
{
	struct bt_device_result *results = bt_arena_zalloc(arena, object->result_n * sizeof(*results));

	for (uint32_t i = 0; i < object->result_n; i++) {
		const struct bt_device_result_object *from = &object->results[i];

		results[i] = (struct bt_device_result){
			.request = bt_name_refs_add(held, from->request),
			.driver = bt_name_refs_add(held, from->driver),
			.pool = bt_name_refs_add(held, from->pool),
			.device = bt_name_refs_add(held, from->device),
			.share = from->has_share_id ? bt_name_refs_add(held, from->share_id) : BT_NAME_NONE,
			.admin = from->admin_access,
			.consumed = keep_consumed(held, arena, &from->consumed),
			.consumed_n = from->consumed.n,
			.binding_conditions = keep_names(held, arena, &from->binding_conditions),
			.failure_conditions = keep_names(held, arena, &from->binding_failure_conditions),
			.skipped = keep_names(held, arena, &from->skipped),
			.binding_condition_n = from->binding_conditions.n,
			.failure_condition_n = from->binding_failure_conditions.n,
			.skipped_n = from->skipped.n,
		};
	}
	out->allocated = object->allocated;
	out->allocation = (struct bt_allocation){
		.results = results, .result_n = object->result_n, .since_ns = object->allocation_ns};
	keep_allocation_selector(held, arena, &object->node_selector, &out->allocation);
}

/* As upstream, only the first status of a device counts. */
static bool has_status(
	const struct bt_device_condition *conditions, uint32_t n, const struct bt_device_condition *of)
{
	for (uint32_t i = 0; i < n; i++) {
		if (conditions[i].device == of->device && conditions[i].pool == of->pool &&
			conditions[i].driver == of->driver) {
			return true;
		}
	}
	return false;
}

static void keep_conditions(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_resource_claim_object *object, struct bt_resource_claim *out)
{
	uint32_t n = 0;

	/* A device without conditions gets one without a type, to differ from one without a status. */
	for (uint32_t i = 0; i < object->device_n; i++) {
		n += object->devices[i].condition_n + 1;
	}
	struct bt_device_condition *conditions = bt_arena_zalloc(arena, n * sizeof(*conditions));
	n = 0;
	for (uint32_t i = 0; i < object->device_n; i++) {
		const struct bt_device_result_object *from = &object->devices[i];
		struct bt_device_condition one = {.driver = bt_name_refs_add(held, from->driver),
			.pool = bt_name_refs_add(held, from->pool),
			.device = bt_name_refs_add(held, from->device)};

		if (has_status(conditions, n, &one)) {
			continue;
		}
		conditions[n++] = one;
		for (uint32_t j = 0; j < from->condition_n; j++) {
			one.type = bt_name_refs_add(held, from->conditions[j].type);
			one.is_true = bt_str_is(from->conditions[j].status, "True");
			conditions[n++] = one;
		}
	}
	out->conditions = conditions;
	out->condition_n = n;
}

#define SCHEDULING "scheduling.k8s.io"

/* Whatever the version of its API. Source: isForPodGroupByPod, resourceclaim of
 * k8s.io/dynamic-resource-allocation, v0.37.2. */
static bool is_pod_group(const struct bt_owner_object *owner)
{
	return bt_str_is(owner->kind, "PodGroup") && owner->api_version.len > sizeof(SCHEDULING) - 1 &&
	       bt_str_is(bt_str_sub(owner->api_version, 0, sizeof(SCHEDULING)), SCHEDULING "/");
}

static void keep_owners(struct bt_name_refs *held, struct bt_arena *arena, const struct bt_meta_object *meta,
	struct bt_resource_claim *out)
{
	struct bt_claim_owner *owners = bt_arena_zalloc(arena, meta->owner_n * sizeof(*owners));

	for (uint32_t i = 0; i < meta->owner_n; i++) {
		owners[i] = (struct bt_claim_owner){bt_name_refs_add(held, meta->owners[i].name),
			bt_name_refs_add(held, meta->owners[i].uid), meta->owners[i].controller};
		if (owners[i].controller && !out->owner_uid) {
			out->owner_uid = owners[i].uid;
			out->owner_group = is_pod_group(&meta->owners[i]) ? owners[i].name : BT_NAME_NONE;
		}
	}
	out->owners = owners;
	out->owner_n = meta->owner_n;
	for (uint32_t i = 0; i < meta->annotations.n; i++) {
		out->special |= bt_str_is(meta->annotations.items[i].key,
					"resource.kubernetes.io/extended-resource-claim") &&
				bt_str_is(meta->annotations.items[i].value, "true");
	}
}

void bt_resource_claim_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_resource_claim_object *object, struct bt_resource_claim *out)
{
	uint32_t room = 1;

	while (room < object->reserved_for_n) {
		room *= 2;
	}
	struct bt_claim_consumer *reserved = bt_arena_alloc(arena, room * sizeof(*reserved), 8);

	*out = (struct bt_resource_claim){
		.namespace_ = bt_name_refs_add(held, object->meta.namespace_),
		.name = bt_name_refs_add(held, object->meta.name),
		.uid = bt_name_refs_add(held, object->meta.uid),
		.version = bt_resource_version(object->meta.resource_version),
		.deleting = object->meta.deletion_ns != 0,
		.reserved_for = reserved,
		.reserved_n = object->reserved_for_n,
	};
	for (uint32_t i = 0; i < object->reserved_for_n; i++) {
		const struct bt_claim_consumer_object *consumer = &object->reserved_for[i];
		bool group = bt_str_is(consumer->api_group, SCHEDULING) &&
			     bt_str_is(consumer->resource, "podgroups");

		reserved[i] = (struct bt_claim_consumer){bt_name_refs_add(held, consumer->uid),
			group ? bt_name_refs_add(held, consumer->name) : BT_NAME_NONE};
	}
	keep_owners(held, arena, &object->meta, out);
	keep_requests(held, arena, object, out);
	keep_constraints(held, arena, object, out);
	keep_allocation(held, arena, object, out);
	keep_conditions(held, arena, object, out);
}

/* Source: lookupAttribute, v1.36.3. */
const struct bt_attribute *bt_device_attribute(
	const struct bt_device *device, uint32_t driver, const struct bt_device_constraint *constraint)
{
	const struct bt_attribute *local = NULL;

	for (uint32_t i = 0; i < device->attribute_n; i++) {
		if (device->attributes[i].name == constraint->attribute) {
			return &device->attributes[i];
		}
		if (constraint->domain == driver && device->attributes[i].name == constraint->local) {
			local = &device->attributes[i];
		}
	}
	return local;
}
