/* SPDX-License-Identifier: Apache-2.0
 * Devices, classes and claims as interned values.
 */
#include "object_fixture.h"

#include "engine/model/device.h"

#define RESOURCE "apiVersion: resource.k8s.io/v1, kind: "

static struct bt_resource_slice slice_of(struct fixture *f, const char *spec)
{
	struct bt_resource_slice slice;

	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text, "{" RESOURCE "ResourceSlice, metadata: {name: s}, spec: {%s}}", spec);
	bt_resource_slice_compile(&f->cache->dictionary->for_ever, &f->arena,
		&fixture_read(f, f->text.ptr)->resource_slice, &slice);
	return slice;
}

static struct bt_resource_claim claim_of(struct fixture *f, const char *metadata, const char *rest)
{
	struct bt_resource_claim claim;

	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{" RESOURCE "ResourceClaim, metadata: {namespace: default, name: c, %s}, %s}", metadata,
		rest);
	bt_resource_claim_compile(&f->cache->dictionary->for_ever, &f->arena,
		&fixture_read(f, f->text.ptr)->resource_claim, &claim);
	return claim;
}

static void a_slice_numbers_its_devices_and_flattens_counter_sets(void **state)
{
	struct bt_resource_slice slice = slice_of(*state,
		"driver: d, pool: {name: p, generation: 3, resourceSliceCount: 2}, nodeName: '', "
		"sharedCounters: "
		"[{name: a, counters: {m: {value: 1}}}, {name: b, counters: {m: {value: 2}, n1: {value: "
		"3}}}], "
		"devices: [{name: x}, {name: y0, consumesCounters: [{counterSet: b, counters: {m: {value: "
		"500m}}}], allowMultipleAllocations: true}]");

	assert_true(slice.generation == 3 && slice.slice_count == 2);
	assert_int_equal(slice.node_name, BT_NAME_NONE); /* an empty name counts as none */
	assert_true(slice.device_n == 2 && slice.devices[0].ix == 0 && slice.devices[1].ix == 1);
	assert_int_equal(slice.counter_set_n, 2);
	assert_int_equal(slice.counter_n, 3);
	assert_name(*state, slice.counters[2].set, "b");
	assert_true(slice.counters[2].value == (bt_nano)3000000000);
	assert_false(slice.devices[0].consumes);
	assert_true(slice.devices[1].consumes && slice.devices[1].allow_multiple);
	assert_true(slice.devices[1].counters[0].value == (bt_nano)500000000);
}

static void an_attribute_is_found_by_its_full_name_before_its_local_one(void **state)
{
	struct fixture *f = *state;
	struct bt_resource_slice slice = slice_of(f, "driver: d.example, pool: {name: p}, devices: [{name: "
						     "x, attributes: {model: {string: local}, "
						     "d.example/model: {string: full}, size: {int: 7}, ok: "
						     "{bool: true}, o.example/size: {int: 9}}}]");
	static const struct {
		const char *attribute, *driver;
		bool there;
		int64_t number;
		const char *text;
	} rows[] = {
		{"d.example/model", "d.example", true, 0, "full"},
		{"d.example/size", "d.example", true, 7, ""},
		{"d.example/ok", "d.example", true, 1, ""},
		{"d.example/size", "other", false, 0, ""}, /* names without a domain are the driver's */
		{"o.example/size", "d.example", true, 9, ""},
		{"d.example/none", "d.example", false, 0, ""},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bt_str attribute = bt_str(rows[i].attribute);
		size_t slash = bt_str_find(attribute, '/', 0);
		struct bt_device_constraint constraint = {
			.attribute = fixture_name(f, rows[i].attribute),
			.domain =
				bt_intern_add(f->cache->dictionary->intern, bt_str_sub(attribute, 0, slash)),
			.local = bt_intern_add(f->cache->dictionary->intern,
				bt_str_sub(attribute, slash + 1, attribute.len)),
		};
		const struct bt_attribute *found =
			bt_device_attribute(&slice.devices[0], fixture_name(f, rows[i].driver), &constraint);

		assert_int_equal(found != NULL, rows[i].there);
		if (found) {
			assert_int_equal(found->number, rows[i].number);
			assert_name(f, found->text, rows[i].text);
		}
	}
}

static void a_class_without_an_extended_resource_has_none(void **state)
{
	struct fixture *f = *state;
	struct bt_device_class plain, gpu;

	bt_device_class_compile(&f->cache->dictionary->for_ever, &f->arena,
		&fixture_read(f, "{" RESOURCE "DeviceClass, metadata: {name: c}, spec: {selectors: [{cel: "
				 "{expression: 'true'}}, {}]}}")
			 ->device_class,
		&plain);
	bt_device_class_compile(&f->cache->dictionary->for_ever, &f->arena,
		&fixture_read(f,
			"{" RESOURCE "DeviceClass, metadata: {name: c}, spec: {extendedResourceName: "
			"e.example/gpu}}")
			 ->device_class,
		&gpu);
	assert_int_equal(plain.extended_resource, BT_NAME_NONE);
	assert_int_equal(plain.selectors.n, 2);
	assert_name(f, plain.selectors.expressions[0], "true");
	assert_int_equal(plain.selectors.expressions[1], BT_NAME_NONE); /* of an unknown kind */
	assert_name(f, gpu.extended_resource, "e.example/gpu");
}

static void an_alternative_has_the_path_of_its_request(void **state)
{
	struct fixture *f = *state;
	struct bt_resource_claim claim = claim_of(f, "uid: u",
		"spec: {devices: {requests: [{name: r, firstAvailable: [{name: a, deviceClassName: k, "
		"allocationMode: All}, {name: b, deviceClassName: k, allocationMode: ExactCount, count: "
		"2}]}, "
		"{name: q, exactly: {deviceClassName: k, allocationMode: Most}}]}}");

	assert_int_equal(claim.request_n, 2);
	assert_int_equal(claim.requests[0].alternative_n, 2);
	assert_name(f, claim.requests[0].alternatives[1].path, "r/b");
	assert_int_equal(claim.requests[0].alternatives[0].mode, BT_ALLOCATE_ALL);
	assert_int_equal(claim.requests[0].alternatives[1].mode, BT_ALLOCATE_EXACT_COUNT);
	assert_true(claim.requests[0].alternatives[1].count == 2);
	assert_true(claim.requests[1].has_exactly && !claim.requests[0].has_exactly);
	assert_int_equal(claim.requests[1].exactly.mode, BT_ALLOCATE_OTHER);
	assert_name(f, claim.requests[1].exactly.mode_text, "Most");
	assert_false(claim.allocated);
}

static void a_constraint_without_a_domain_names_no_driver(void **state)
{
	struct fixture *f = *state;
	struct bt_resource_claim claim = claim_of(f, "uid: u",
		"spec: {devices: {constraints: [{matchAttribute: d.example/model, requests: [r, q]}, "
		"{distinctAttribute: model}, {}]}}");

	assert_int_equal(claim.constraint_n, 3);
	assert_int_equal(claim.constraints[0].kind, BT_CONSTRAINT_MATCH);
	assert_name(f, claim.constraints[0].domain, "d.example");
	assert_name(f, claim.constraints[0].local, "model");
	assert_int_equal(claim.constraints[0].request_n, 2);
	assert_int_equal(claim.constraints[1].kind, BT_CONSTRAINT_DISTINCT);
	assert_int_equal(claim.constraints[1].domain, BT_NAME_NONE);
	assert_int_equal(claim.constraints[2].kind, BT_CONSTRAINT_NONE);
}

static void only_the_first_status_of_a_device_counts(void **state)
{
	struct fixture *f = *state;
	struct bt_resource_claim claim = claim_of(f, "uid: u",
		"status: {devices: [{driver: d, pool: p, device: x, conditions: [{type: A, status: "
		"'True'}]}, "
		"{driver: d, pool: p, device: y0}, {driver: d, pool: p, device: x, conditions: [{type: B, "
		"status: "
		"'True'}]}]}");

	/* Each device starts with a condition without a type, which marks that it has a status. */
	assert_int_equal(claim.condition_n, 3);
	assert_int_equal(claim.conditions[0].type, BT_NAME_NONE);
	assert_name(f, claim.conditions[1].type, "A");
	assert_true(claim.conditions[1].is_true);
	assert_name(f, claim.conditions[2].device, "y0");
	assert_int_equal(claim.conditions[2].type, BT_NAME_NONE);
}

static void an_allocation_has_a_node_selector_or_a_reason(void **state)
{
	struct fixture *f = *state;
	struct bt_resource_claim good = claim_of(f, "uid: u",
		"status: {allocation: {devices: {results: [{request: r, driver: d, pool: p, device: x, "
		"shareID: "
		"s, consumedCapacity: {m: 2}}]}, nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: "
		"metadata.name, operator: In, values: [n1]}]}]}}, reservedFor: [{resource: pods, name: a, "
		"uid: "
		"one}, {resource: pods, name: b, uid: two}, {resource: pods, name: c, uid: three}]}");
	struct bt_resource_claim bad = claim_of(f, "uid: u",
		"status: {allocation: {nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: a, "
		"operator: "
		"In}]}]}}}");

	assert_true(good.allocated && good.allocation.has_selector);
	assert_int_equal(good.allocation.selector_error, BT_NAME_NONE);
	assert_int_equal(good.allocation.result_n, 1);
	assert_name(f, good.allocation.results[0].share, "s");
	assert_true(good.allocation.results[0].consumed[0].value == (bt_nano)2000000000);
	assert_int_equal(good.reserved_n, 3);
	assert_name(f, good.reserved_for[2].uid, "three");
	assert_true(bad.allocated);
	assert_int_not_equal(bad.allocation.selector_error, BT_NAME_NONE);
}

static void the_controlling_owner_and_the_annotation_mark_a_claim(void **state)
{
	struct fixture *f = *state;
	struct bt_resource_claim made = claim_of(f,
		"uid: u, annotations: {resource.kubernetes.io/extended-resource-claim: 'true'}, "
		"ownerReferences: [{name: a, uid: one}, {name: b, uid: two, controller: true}, {name: c, "
		"uid: "
		"three, controller: true}]",
		"spec: {}");
	struct bt_resource_claim plain = claim_of(f,
		"uid: u, annotations: {resource.kubernetes.io/extended-resource-claim: 'false'}", "spec: {}");

	assert_true(made.special && !plain.special);
	assert_name(f, made.owner_uid, "two");
	assert_int_equal(made.owner_n, 3);
	assert_int_equal(plain.owner_uid, BT_NAME_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_slice_numbers_its_devices_and_flattens_counter_sets),
		FIXTURE_TEST(an_attribute_is_found_by_its_full_name_before_its_local_one),
		FIXTURE_TEST(a_class_without_an_extended_resource_has_none),
		FIXTURE_TEST(an_alternative_has_the_path_of_its_request),
		FIXTURE_TEST(a_constraint_without_a_domain_names_no_driver),
		FIXTURE_TEST(only_the_first_status_of_a_device_counts),
		FIXTURE_TEST(an_allocation_has_a_node_selector_or_a_reason),
		FIXTURE_TEST(the_controlling_owner_and_the_annotation_mark_a_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
