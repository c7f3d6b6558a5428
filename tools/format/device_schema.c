/* SPDX-License-Identifier: Apache-2.0
 * The tables of the kinds of resource.k8s.io: claims, slices, classes and taint rules of devices.
 */
#include "tools/format/object_schema_int.h"

/* Selectors and classes. */
static const struct bt_field cel_fields[] = {FIELD("expression", STR, bt_device_selector_object, expression)};
SCHEMA(cel, cel_fields, bt_device_selector_object);
static const struct bt_field selector_fields[] = {
	{.name = BT_STR("cel"),
		.type = BT_FIELD_OBJECT,
		.offset = 0,
		.schema = &cel,
		.flag = BT_MEMBER(struct bt_device_selector_object, has_cel)},
};
SCHEMA(selector, selector_fields, bt_device_selector_object);

static const struct bt_field class_spec_fields[] = {
	FIELD_HAS("extendedResourceName", STR, bt_device_class_object, extended_resource,
		has_extended_resource),
	ARRAY("selectors", bt_device_class_object, selectors, selector_n, selector),
};
SCHEMA(class_spec, class_spec_fields, bt_device_class_object);
const struct bt_field bt_device_class_fields[4] = {
	HEADER, META(bt_device_class_object), INLINE("spec", class_spec)};

/* Rules. */
static const struct bt_field rule_selector_fields[] = {
	FIELD_HAS("device", STR, bt_device_taint_rule_object, device, has_device),
	FIELD_HAS("driver", STR, bt_device_taint_rule_object, driver, has_driver),
	FIELD_HAS("pool", STR, bt_device_taint_rule_object, pool, has_pool),
};
SCHEMA(rule_selector, rule_selector_fields, bt_device_taint_rule_object);
static const struct bt_field rule_spec_fields[] = {
	{.name = BT_STR("deviceSelector"),
		.type = BT_FIELD_OBJECT,
		.offset = 0,
		.schema = &rule_selector,
		.flag = BT_MEMBER(struct bt_device_taint_rule_object, has_selector)},
	OBJECT("taint", bt_device_taint_rule_object, taint, bt_taint_schema),
};
SCHEMA(rule_spec, rule_spec_fields, bt_device_taint_rule_object);
const struct bt_field bt_device_taint_rule_fields[4] = {
	HEADER, META(bt_device_taint_rule_object), INLINE("spec", rule_spec)};

/* Slices. */
#define TYPED(json, kind, member, id)                                                                        \
	.name = BT_STR(json), .type = BT_FIELD_##kind,                                                       \
	.offset = offsetof(struct bt_attribute_object, member),                                              \
	.tag = BT_MEMBER(struct bt_attribute_object, type), .tag_value = BT_ATTRIBUTE_##id
static const struct bt_field attribute_fields[] = {
	{TYPED("bool", BOOL, truth, BOOL)},
	{TYPED("bools", BOOLS, truths, BOOLS), .count = BT_MEMBER(struct bt_attribute_object, truth_n)},
	{TYPED("int", I64, number, INT)},
	{TYPED("ints", INTS, numbers, INTS), .count = BT_MEMBER(struct bt_attribute_object, number_n)},
	{TYPED("string", STR, text, STRING)},
	{TYPED("strings", STR_LIST, texts, STRINGS)},
	{TYPED("version", STR, text, VERSION)},
	{TYPED("versions", STR_LIST, texts, VERSIONS)},
};
SCHEMA(attribute, attribute_fields, bt_attribute_object);

static const struct bt_field range_fields[] = {
	FIELD_HAS("max", QUANTITY, bt_request_policy_object, max, has_max),
	FIELD_HAS("min", QUANTITY, bt_request_policy_object, min, has_min),
	FIELD_HAS("step", QUANTITY, bt_request_policy_object, step, has_step),
};
SCHEMA(range, range_fields, bt_request_policy_object);
static const struct bt_field policy_fields[] = {
	FIELD_HAS("default", QUANTITY, bt_request_policy_object, default_, has_default),
	{.name = BT_STR("validRange"),
		.type = BT_FIELD_OBJECT,
		.offset = 0,
		.schema = &range,
		.flag = BT_MEMBER(struct bt_request_policy_object, has_range)},
	{.name = BT_STR("validValues"),
		.type = BT_FIELD_QUANTITIES,
		.offset = offsetof(struct bt_request_policy_object, values),
		.count = BT_MEMBER(struct bt_request_policy_object, value_n),
		.flag = BT_MEMBER(struct bt_request_policy_object, has_values)},
};
SCHEMA(policy, policy_fields, bt_request_policy_object);
static const struct bt_field capacity_fields[] = {
	OBJECT_HAS("requestPolicy", bt_device_capacity_object, policy, policy, policy.set),
	FIELD("value", QUANTITY, bt_device_capacity_object, value),
};
SCHEMA(capacity, capacity_fields, bt_device_capacity_object);

static const struct bt_field counter_fields[] = {FIELD("value", QUANTITY, bt_named_quantity, quantity)};
SCHEMA(counter, counter_fields, bt_named_quantity);
static const struct bt_field counter_set_fields[] = {
	MAP("counters", bt_counter_set_object, counters, counter_n, counter),
	FIELD("name", STR, bt_counter_set_object, name),
};
SCHEMA(counter_set, counter_set_fields, bt_counter_set_object);
static const struct bt_field consumption_fields[] = {
	FIELD("compatibilityGroups", STR_LIST, bt_counter_set_object, groups),
	FIELD("counterSet", STR, bt_counter_set_object, name),
	MAP("counters", bt_counter_set_object, counters, counter_n, counter),
};
SCHEMA(consumption, consumption_fields, bt_counter_set_object);

/* What devices are of their nodes' resources. */
static const struct bt_field node_mapping_fields[] = {
	FIELD("capacityKey", STR, bt_node_resource_object, capacity_key),
	FIELD_HAS("capacityMultiplier", QUANTITY, bt_node_resource_object, capacity_multiplier,
		has_capacity_multiplier),
	FIELD_HAS("deviceMultiplier", QUANTITY, bt_node_resource_object, device_multiplier,
		has_device_multiplier),
};
SCHEMA(node_mapping, node_mapping_fields, bt_node_resource_object);
static const struct bt_field node_overhead_fields[] = {
	FIELD_HAS("perContainer", QUANTITY, bt_node_resource_object, per_container, has_per_container),
	FIELD_HAS("perPod", QUANTITY, bt_node_resource_object, per_pod, has_per_pod),
};
SCHEMA(node_overhead, node_overhead_fields, bt_node_resource_object);
static const struct bt_field node_resource_fields[] = {
	{.name = BT_STR("mapping"),
		.type = BT_FIELD_OBJECT,
		.offset = 0,
		.schema = &node_mapping,
		.flag = BT_MEMBER(struct bt_node_resource_object, has_mapping)},
	INLINE("overhead", node_overhead),
};
SCHEMA(node_resource, node_resource_fields, bt_node_resource_object);
static const struct bt_field lone_mapping_fields[] = {
	FIELD_HAS("allocationMultiplier", QUANTITY, bt_node_resource_object, device_multiplier,
		has_device_multiplier),
	FIELD("capacityKey", STR, bt_node_resource_object, capacity_key),
};
SCHEMA(lone_mapping, lone_mapping_fields, bt_node_resource_object);

static const struct bt_field device_fields[] = {
	FIELD("allNodes", BOOL, bt_device_object, all_nodes),
	FIELD("allowMultipleAllocations", BOOL, bt_device_object, allow_multiple),
	MAP("attributes", bt_device_object, attributes, attribute_n, attribute),
	FIELD("bindingConditions", STR_LIST, bt_device_object, binding_conditions),
	FIELD("bindingFailureConditions", STR_LIST, bt_device_object, binding_failure_conditions),
	FIELD("bindsToNode", BOOL, bt_device_object, binds_to_node),
	MAP("capacity", bt_device_object, capacities, capacity_n, capacity),
	ARRAY("consumesCounters", bt_device_object, consumes, consume_n, consumption),
	FIELD("name", STR, bt_device_object, name),
	MAP("nodeAllocatableResourceMappings", bt_device_object, node_mappings, node_mapping_n, lone_mapping),
	MAP("nodeAllocatableResources", bt_device_object, node_resources, node_resource_n, node_resource),
	FIELD_HAS("nodeName", STR, bt_device_object, node_name, has_node_name),
	OBJECT_HAS(
		"nodeSelector", bt_device_object, node_selector, bt_node_selector_schema, node_selector.set),
	ARRAY("taints", bt_device_object, taints, taint_n, bt_taint_schema),
};
SCHEMA(device, device_fields, bt_device_object);

static const struct bt_field pool_fields[] = {
	FIELD("generation", I64, bt_resource_slice_object, generation),
	FIELD("name", STR, bt_resource_slice_object, pool),
	FIELD("resourceSliceCount", I64, bt_resource_slice_object, slice_count),
};
SCHEMA(pool, pool_fields, bt_resource_slice_object);
static const struct bt_field slice_spec_fields[] = {
	FIELD("allNodes", BOOL, bt_resource_slice_object, all_nodes),
	ARRAY("devices", bt_resource_slice_object, devices, device_n, device),
	FIELD("driver", STR, bt_resource_slice_object, driver),
	FIELD_HAS("nodeName", STR, bt_resource_slice_object, node_name, has_node_name),
	OBJECT_HAS("nodeSelector", bt_resource_slice_object, node_selector, bt_node_selector_schema,
		node_selector.set),
	FIELD_HAS("perDeviceNodeSelection", BOOL, bt_resource_slice_object, per_device, has_per_device),
	INLINE("pool", pool),
	ARRAY("sharedCounters", bt_resource_slice_object, counter_sets, counter_set_n, counter_set),
	FIELD("skipNodeOperations", STR_LIST, bt_resource_slice_object, skipped),
};
SCHEMA(slice_spec, slice_spec_fields, bt_resource_slice_object);
const struct bt_field bt_resource_slice_fields[4] = {
	HEADER, META(bt_resource_slice_object), INLINE("spec", slice_spec)};

/* Claims. */
static const struct bt_field request_capacity_fields[] = {
	FIELD("requests", RESOURCES, bt_device_subrequest_object, capacity)};
SCHEMA(request_capacity, request_capacity_fields, bt_device_subrequest_object);
static const struct bt_field derived_fields[] = {
	FIELD("expression", STR, bt_derived_attribute_object, expression),
	FIELD("name", STR, bt_derived_attribute_object, name),
};
SCHEMA(derived, derived_fields, bt_derived_attribute_object);
static const struct bt_field subrequest_fields[] = {
	FIELD_HAS("adminAccess", BOOL, bt_device_subrequest_object, admin_access, has_admin_access),
	FIELD("allocationMode", STR, bt_device_subrequest_object, allocation_mode),
	{.name = BT_STR("capacity"),
		.type = BT_FIELD_OBJECT,
		.offset = 0,
		.schema = &request_capacity,
		.flag = BT_MEMBER(struct bt_device_subrequest_object, has_capacity)},
	FIELD("count", I64, bt_device_subrequest_object, count),
	ARRAY("derivedAttributes", bt_device_subrequest_object, derived, derived_n, derived),
	FIELD("deviceClassName", STR, bt_device_subrequest_object, class_name),
	FIELD("name", STR, bt_device_subrequest_object, name),
	ARRAY("selectors", bt_device_subrequest_object, selectors, selector_n, selector),
	ARRAY("tolerations", bt_device_subrequest_object, tolerations, toleration_n, bt_toleration_schema),
};
SCHEMA(subrequest, subrequest_fields, bt_device_subrequest_object);
static const struct bt_field request_fields[] = {
	OBJECT_HAS("exactly", bt_device_request_object, exactly, subrequest, has_exactly),
	ARRAY("firstAvailable", bt_device_request_object, first_available, first_available_n, subrequest),
	FIELD("name", STR, bt_device_request_object, name),
};
SCHEMA(request, request_fields, bt_device_request_object);

static const struct bt_field constraint_fields[] = {
	FIELD_HAS("distinctAttribute", STR, bt_device_constraint_object, distinct_attribute, has_distinct),
	FIELD_HAS("matchAttribute", STR, bt_device_constraint_object, match_attribute, has_match),
	FIELD("requests", STR_LIST, bt_device_constraint_object, requests),
};
SCHEMA(constraint, constraint_fields, bt_device_constraint_object);

static const struct bt_field claim_devices_fields[] = {
	ARRAY("constraints", bt_resource_claim_object, constraints, constraint_n, constraint),
	ARRAY_HAS("requests", bt_resource_claim_object, requests, request_n, request, has_requests),
};
SCHEMA(claim_devices, claim_devices_fields, bt_resource_claim_object);
static const struct bt_field claim_spec_fields[] = {INLINE("devices", claim_devices)};
SCHEMA(claim_spec, claim_spec_fields, bt_resource_claim_object);

static const struct bt_field result_fields[] = {
	FIELD("adminAccess", BOOL, bt_device_result_object, admin_access),
	FIELD("bindingConditions", STR_LIST, bt_device_result_object, binding_conditions),
	FIELD("bindingFailureConditions", STR_LIST, bt_device_result_object, binding_failure_conditions),
	FIELD("consumedCapacity", RESOURCES, bt_device_result_object, consumed),
	FIELD("device", STR, bt_device_result_object, device),
	FIELD("driver", STR, bt_device_result_object, driver),
	FIELD("pool", STR, bt_device_result_object, pool),
	FIELD("request", STR, bt_device_result_object, request),
	FIELD_HAS("shareID", STR, bt_device_result_object, share_id, has_share_id),
	FIELD("skipNodeOperations", STR_LIST, bt_device_result_object, skipped),
};
SCHEMA(result, result_fields, bt_device_result_object);
static const struct bt_field allocation_devices_fields[] = {
	ARRAY("results", bt_resource_claim_object, results, result_n, result)};
SCHEMA(allocation_devices, allocation_devices_fields, bt_resource_claim_object);
static const struct bt_field allocation_fields[] = {
	FIELD("allocationTimestamp", TIME, bt_resource_claim_object, allocation_ns),
	INLINE("devices", allocation_devices),
	OBJECT_HAS("nodeSelector", bt_resource_claim_object, node_selector, bt_node_selector_schema,
		node_selector.set),
};
SCHEMA(allocation, allocation_fields, bt_resource_claim_object);

static const struct bt_field device_status_fields[] = {
	ARRAY("conditions", bt_device_result_object, conditions, condition_n, bt_condition_schema),
	FIELD("device", STR, bt_device_result_object, device),
	FIELD("driver", STR, bt_device_result_object, driver),
	FIELD("pool", STR, bt_device_result_object, pool),
};
SCHEMA(device_status, device_status_fields, bt_device_result_object);

static const struct bt_field consumer_fields[] = {
	FIELD("apiGroup", STR, bt_claim_consumer_object, api_group),
	FIELD("name", STR, bt_claim_consumer_object, name),
	FIELD("resource", STR, bt_claim_consumer_object, resource),
	FIELD("uid", STR, bt_claim_consumer_object, uid),
};
SCHEMA(consumer, consumer_fields, bt_claim_consumer_object);

static const struct bt_field claim_status_fields[] = {
	{.name = BT_STR("allocation"),
		.type = BT_FIELD_OBJECT,
		.offset = 0,
		.schema = &allocation,
		.flag = BT_MEMBER(struct bt_resource_claim_object, allocated)},
	ARRAY("devices", bt_resource_claim_object, devices, device_n, device_status),
	ARRAY("reservedFor", bt_resource_claim_object, reserved_for, reserved_for_n, consumer),
};
SCHEMA(claim_status, claim_status_fields, bt_resource_claim_object);
const struct bt_field bt_resource_claim_fields[5] = {
	HEADER, META(bt_resource_claim_object), INLINE("spec", claim_spec), INLINE("status", claim_status)};
