/* SPDX-License-Identifier: Apache-2.0
 * Claims, slices and classes of devices from the API's JSON, field by field.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "tools/format/object_reader.h"

struct reading {
	struct bt_object_reader *reader;
	struct bt_buf problem;
};

static void note(void *context, const struct bt_diagnosis *diagnosis)
{
	bt_diagnosis_text(diagnosis, &((struct reading *)context)->problem);
}

static int setup(void **state)
{
	static struct reading r;

	r = (struct reading){0};
	r.reader = bt_object_reader_create(note, &r);
	*state = &r;
	return 0;
}

static int teardown(void **state)
{
	struct reading *r = *state;

	bt_object_reader_destroy(r->reader);
	bt_buf_fini(&r->problem);
	return 0;
}

static const struct bt_object *read_one(struct reading *r, const char *yaml)
{
	bt_object_reader_begin_text(r->reader, "f", bt_str(yaml), BT_FORMAT_YAML);
	return bt_object_reader_next(r->reader);
}

static void same(struct bt_str got, const char *want)
{
	if (!bt_str_is(got, want)) {
		fail_msg("\"%.*s\" instead of \"%s\"", BT_STR_ARG(got), want);
	}
}

static void amounts_to(struct bt_quantity got, const char *want)
{
	struct bt_quantity q;

	assert_int_equal(bt_quantity_parse(bt_str(want), &q), BT_OK);
	assert_int_equal(bt_quantity_cmp(got, q), 0);
}

#define API "apiVersion: resource.k8s.io/v1\n"

static const char slice_yaml[] =
	API "kind: ResourceSlice\n"
	    "metadata: {name: s}\n"
	    "spec:\n"
	    "  driver: d\n"
	    "  nodeName: n1\n"
	    "  perDeviceNodeSelection: false\n"
	    "  pool: {name: p, generation: 3, resourceSliceCount: 2}\n"
	    "  sharedCounters:\n"
	    "  - {name: s, counters: {c: {value: '4'}, e: {value: 1Gi}}}\n"
	    "  devices:\n"
	    "  - name: a\n"
	    "    allNodes: true\n"
	    "    allowMultipleAllocations: true\n"
	    "    bindsToNode: true\n"
	    "    bindingConditions: []\n"
	    "    bindingFailureConditions: [broken]\n"
	    "    attributes:\n"
	    "      i: {int: -3}\n"
	    "      b: {bool: true}\n"
	    "      s: {string: x}\n"
	    "      x.com/v: {version: 1.2.3}\n"
	    "      l: {floats: [1, 2]}\n"
	    "      is: {ints: [-1, 9223372036854775807]}\n"
	    "      bs: {bools: [false, true]}\n"
	    "      ss: {strings: [x, '']}\n"
	    "      vs: {versions: []}\n"
	    "    capacity:\n"
	    "      m:\n"
	    "        value: 4Gi\n"
	    "        requestPolicy:\n"
	    "          default: 1Gi\n"
	    "          validValues: [1Gi, '2', 500m]\n"
	    "      n:\n"
	    "        value: '7'\n"
	    "        requestPolicy: {validRange: {min: '1', step: '2'}}\n"
	    "    consumesCounters:\n"
	    "    - {counterSet: s, counters: {c: {value: '2'}}}\n"
	    "    nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, "
	    "operator: In, values: [n1]}]}]}\n"
	    "    taints: [{key: k, value: v, effect: NoSchedule}]\n"
	    "  - {name: e}\n";

static void a_slice_is_read_with_all_of_its_devices(void **state)
{
	const struct bt_object *object = read_one(*state, slice_yaml);

	assert_non_null(object);
	assert_int_equal(object->kind, BT_KIND_RESOURCE_SLICE);
	const struct bt_resource_slice_object *slice = &object->resource_slice;
	same(slice->driver, "d");
	same(slice->pool, "p");
	assert_true(slice->generation == 3 && slice->slice_count == 2);
	assert_true(slice->has_node_name && slice->has_per_device && !slice->per_device);
	assert_int_equal(slice->counter_set_n, 1);
	assert_int_equal(slice->counter_sets[0].counter_n, 2);
	same(slice->counter_sets[0].counters[1].name, "e");
	amounts_to(slice->counter_sets[0].counters[1].quantity, "1Gi");
	assert_int_equal(slice->device_n, 2);
	const struct bt_device_object *device = &slice->devices[0];
	assert_true(device->all_nodes && device->allow_multiple && device->binds_to_node);
	assert_true(device->binding_conditions.set && device->binding_conditions.n == 0);
	assert_false(slice->devices[1].binding_conditions.set);
	assert_int_equal(device->binding_failure_conditions.n, 1);
	same(device->consumes[0].name, "s");
	amounts_to(device->consumes[0].counters[0].quantity, "2");
	assert_true(device->node_selector.set && !device->has_node_name);
	same(device->taints[0].effect, "NoSchedule");
}

static void attributes_keep_their_types(void **state)
{
	static const enum bt_attribute_type types[] = {BT_ATTRIBUTE_INT, BT_ATTRIBUTE_BOOL,
		BT_ATTRIBUTE_STRING, BT_ATTRIBUTE_VERSION, BT_ATTRIBUTE_NONE, BT_ATTRIBUTE_INTS,
		BT_ATTRIBUTE_BOOLS, BT_ATTRIBUTE_STRINGS, BT_ATTRIBUTE_VERSIONS};
	const struct bt_object *object = read_one(*state, slice_yaml);
	const struct bt_device_object *device = &object->resource_slice.devices[0];

	assert_int_equal(device->attribute_n, 9);
	for (uint32_t i = 0; i < 9; i++) {
		assert_int_equal(device->attributes[i].type, types[i]);
	}
	assert_int_equal(device->attributes[0].number, -3);
	assert_true(device->attributes[1].truth);
	same(device->attributes[2].text, "x");
	same(device->attributes[3].name, "x.com/v");
	assert_int_equal(device->attributes[5].number_n, 2);
	assert_true(device->attributes[5].numbers[0] == -1 && device->attributes[5].numbers[1] == INT64_MAX);
	assert_int_equal(device->attributes[6].truth_n, 2);
	assert_true(!device->attributes[6].truths[0] && device->attributes[6].truths[1]);
	assert_int_equal(device->attributes[7].texts.n, 2);
	same(device->attributes[7].texts.items[0], "x");
	assert_true(device->attributes[8].texts.set && device->attributes[8].texts.n == 0);
}

static void policies_distinguish_values_from_ranges(void **state)
{
	const struct bt_object *object = read_one(*state, slice_yaml);
	const struct bt_device_capacity_object *capacities = object->resource_slice.devices[0].capacities;

	assert_int_equal(object->resource_slice.devices[0].capacity_n, 2);
	assert_true(capacities[0].policy.set && capacities[0].policy.has_default &&
		    capacities[0].policy.has_values && !capacities[0].policy.has_range);
	assert_int_equal(capacities[0].policy.value_n, 3);
	amounts_to(capacities[0].policy.values[2], "500m");
	assert_true(capacities[1].policy.has_range && capacities[1].policy.has_min &&
		    capacities[1].policy.has_step && !capacities[1].policy.has_max &&
		    !capacities[1].policy.has_values);
	amounts_to(capacities[1].policy.step, "2");
}

static void a_claim_is_read_with_its_allocation(void **state)
{
	const struct bt_object *object = read_one(*state, API
		"kind: ResourceClaim\n"
		"metadata: {namespace: x, name: c}\n"
		"spec:\n"
		"  devices:\n"
		"    requests:\n"
		"    - name: r\n"
		"      exactly:\n"
		"        deviceClassName: k\n"
		"        allocationMode: All\n"
		"        adminAccess: false\n"
		"        count: 2\n"
		"        selectors: [{cel: {expression: 'true'}}, {}]\n"
		"        tolerations: [{key: k, operator: Exists}]\n"
		"        capacity: {requests: {m: 1Gi}}\n"
		"    - {name: q, firstAvailable: [{name: s, deviceClassName: k}, {name: t}]}\n"
		"    constraints:\n"
		"    - {matchAttribute: d/m, requests: [r]}\n"
		"    - {distinctAttribute: d/m}\n"
		"status:\n"
		"  allocation:\n"
		"    allocationTimestamp: '1970-01-01T00:00:07Z'\n"
		"    devices: {results: [{request: r, driver: d, pool: p, device: a, shareID: i, "
		"adminAccess: "
		"true, consumedCapacity: {m: '1'}}]}\n"
		"    nodeSelector: {nodeSelectorTerms: [{}]}\n"
		"  devices: [{driver: d, pool: p, device: a, conditions: [{type: ready, status: 'True'}]}]\n"
		"  reservedFor: [{resource: pods, name: p, uid: u}]\n");

	assert_non_null(object);
	const struct bt_resource_claim_object *claim = &object->resource_claim;
	assert_true(claim->has_requests && claim->request_n == 2 && claim->constraint_n == 2);
	const struct bt_device_subrequest_object *exactly = &claim->requests[0].exactly;
	assert_true(claim->requests[0].has_exactly && exactly->has_admin_access && !exactly->admin_access);
	assert_int_equal(exactly->count, 2);
	assert_true(exactly->selectors[0].has_cel && !exactly->selectors[1].has_cel);
	assert_true(exactly->has_capacity && exactly->capacity.n == 1 && exactly->toleration_n == 1);
	assert_false(claim->requests[1].has_exactly);
	same(claim->requests[1].first_available[0].name, "s");
	assert_true(claim->constraints[0].has_match && !claim->constraints[0].has_distinct);
	assert_true(claim->constraints[1].has_distinct);
	assert_true(claim->allocated && claim->node_selector.set);
	assert_int_equal(claim->allocation_ns, 7000000000);
	assert_true(claim->results[0].has_share_id && claim->results[0].admin_access);
	same(claim->devices[0].conditions[0].status, "True");
	same(claim->reserved_for[0].uid, "u");
}

static void a_rule_is_read_in_each_of_its_versions(void **state)
{
	static const char *const versions[] = {"v1", "v1beta2", "v1alpha3"};
	char text[512];

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		snprintf(text, sizeof(text),
			"apiVersion: resource.k8s.io/%s\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: "
			"{deviceSelector: {driver: d, pool: ''}, taint: {key: k, value: v, effect: "
			"NoExecute, "
			"timeAdded: '1970-01-01T00:00:01Z'}}\nstatus: {conditions: []}\n",
			versions[i]);
		const struct bt_object *object = read_one(*state, text);
		const struct bt_device_taint_rule_object *rule = &object->device_taint_rule;

		assert_int_equal(object->kind, BT_KIND_DEVICE_TAINT_RULE);
		assert_true(rule->has_selector && rule->has_driver && rule->has_pool && !rule->has_device);
		same(rule->driver, "d");
		same(rule->pool, "");
		same(rule->taint.key, "k");
		same(rule->taint.value, "v");
		same(rule->taint.effect, "NoExecute");
		assert_int_equal(rule->taint.added_ns, 1000000000);
	}
	const struct bt_object *bare =
		read_one(*state, API "kind: DeviceTaintRule\nmetadata: {name: r}\nspec: {}\n");
	assert_false(bare->device_taint_rule.has_selector);
	bare = read_one(
		*state, API "kind: DeviceTaintRule\nmetadata: {name: r}\nspec: {deviceSelector: {}}\n");
	assert_true(bare->device_taint_rule.has_selector);
}

static void a_class_may_serve_for_an_extended_resource(void **state)
{
	const struct bt_object *object = read_one(*state,
		API "kind: DeviceClass\nmetadata: {name: k}\nspec: {extendedResourceName: e.com/x, "
		    "selectors: [{cel: {expression: 'true'}}]}\n");

	assert_int_equal(object->kind, BT_KIND_DEVICE_CLASS);
	assert_true(object->device_class.has_extended_resource);
	same(object->device_class.extended_resource, "e.com/x");
	assert_int_equal(object->device_class.selector_n, 1);
}

static void a_wrong_amount_names_its_field(void **state)
{
	static const struct {
		const char *capacity, *path;
	} cases[] = {
		{"m: {value: many}", "spec.devices[0].capacity.m.value"},
		{"m: {requestPolicy: {validValues: [1, x]}}",
			"spec.devices[0].capacity.m.requestPolicy.validValues[1]"},
		{"m: 3", "spec.devices[0].capacity.m"},
	};
	struct reading *r = *state;
	char text[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text),
			API "kind: ResourceSlice\nmetadata: {name: s}\nspec: {devices: [{name: a, capacity: "
			    "{%s}}]}\n",
			cases[i].capacity);
		bt_buf_clear(&r->problem);
		assert_null(read_one(r, text));
		assert_non_null(strstr(r->problem.ptr, cases[i].path));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_slice_is_read_with_all_of_its_devices),
		TEST(attributes_keep_their_types),
		TEST(policies_distinguish_values_from_ranges),
		TEST(a_claim_is_read_with_its_allocation),
		TEST(a_rule_is_read_in_each_of_its_versions),
		TEST(a_class_may_serve_for_an_extended_resource),
		TEST(a_wrong_amount_names_its_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
