/* SPDX-License-Identifier: Apache-2.0
 * What an update of a claim or class of devices changes, for queueing hints.
 */
#include "changes.h"

#define DRA "{apiVersion: resource.k8s.io/v1, "
#define CLAIM(status)                                                                                        \
	DRA "kind: ResourceClaim, metadata: {name: x, namespace: a, uid: u}, spec: {}, status: {" status "}" \
	    "}"
#define RESULT(device)	   "{request: r, driver: d, pool: p, device: " device "}"
#define ALLOCATED(results) "allocation: {devices: {results: [" results "]}}"
#define CLASS(spec)	   DRA "kind: DeviceClass, metadata: {name: x}, spec: {" spec "}}"
#define SLICE(generation)                                                                                    \
	DRA "kind: ResourceSlice, metadata: {name: x}, spec: {driver: d, nodeName: n1, pool: {name: p, "     \
	    "generation: " generation ", resourceSliceCount: 1}, devices: [{name: a}]}}"

static const struct change_row rows[] = {
	{NULL, CLAIM(""), 0},
	{CLAIM(""), CLAIM(""), 0},
	{CLAIM(""), CLAIM(ALLOCATED(RESULT("a"))), BT_CHANGED_CLAIM_STATUS},
	{CLAIM(ALLOCATED(RESULT("a"))), CLAIM(ALLOCATED(RESULT("a"))), 0},
	{CLAIM(ALLOCATED(RESULT("a"))), CLAIM(ALLOCATED(RESULT("b"))), BT_CHANGED_CLAIM_STATUS},
	{CLAIM(ALLOCATED(RESULT("a"))), CLAIM(ALLOCATED(RESULT("a") ", " RESULT("b"))),
		BT_CHANGED_CLAIM_STATUS},
	{CLAIM(ALLOCATED(RESULT("a"))), CLAIM(""), BT_CHANGED_CLAIM_STATUS | BT_CHANGED_ALLOCATION_LOST},
	{CLAIM(ALLOCATED("")), CLAIM(""), BT_CHANGED_CLAIM_STATUS | BT_CHANGED_ALLOCATION_LOST},
	{CLAIM("reservedFor: [{uid: a}]"), CLAIM("reservedFor: [{uid: a}]"), 0},
	{CLAIM("reservedFor: [{uid: a}]"), CLAIM("reservedFor: [{uid: b}]"), BT_CHANGED_CLAIM_STATUS},
	{CLAIM("devices: [{driver: d, pool: p, device: a, conditions: [{type: t, status: 'True'}]}]"),
		CLAIM("devices: [{driver: d, pool: p, device: a, conditions: [{type: t, status: 'False'}]}]"),
		BT_CHANGED_CLAIM_STATUS},
	{NULL, CLASS("extendedResourceName: example.com/a"), 0},
	{CLASS("extendedResourceName: example.com/a"), CLASS("extendedResourceName: example.com/a"), 0},
	{CLASS("extendedResourceName: example.com/a"), CLASS("extendedResourceName: example.com/b"),
		BT_CHANGED_EXTENDED_NAME},
	{CLASS("extendedResourceName: example.com/a"), CLASS(""), BT_CHANGED_EXTENDED_NAME},
	{CLASS("extendedResourceName: ''"), CLASS(""), 0},
	{NULL, SLICE("1"), 0},
	{SLICE("1"), SLICE("2"), 0},
};

static bool describe(
	struct bt_cache *cache, const struct bt_object *object, struct bt_cluster_event_object *out)
{
	return bt_devices_describe(cache->devices, object, &cache->dictionary->for_ever, out);
}

static bool describe_removal(struct bt_cache *cache, enum bt_kind kind,
	const struct bt_cluster_event_object *object, struct bt_cluster_event_object *out)
{
	return bt_devices_describe_removal(cache->devices, kind, object->namespace_, object->name, out);
}

static void an_update_names_its_changes(void **state)
{
	const struct change_way way = {bt_ingest_devices, describe, describe_removal};

	assert_changes(*state, &way, rows, COUNT_OF(rows));
}

static void the_used_fields_of_claims_and_classes_are_decoded(void **state)
{
	struct fixture *f = *state;
	struct bt_cluster_event_object described;

	bt_devices_describe(
		f->cache->devices, fixture_read(f, CLAIM("")), &f->cache->dictionary->for_ever, &described);
	assert_int_equal(described.uid, fixture_name(f, "u"));
	assert_int_equal(described.namespace_, fixture_name(f, "a"));
	bt_devices_describe(f->cache->devices, fixture_read(f, CLASS("extendedResourceName: example.com/a")),
		&f->cache->dictionary->for_ever, &described);
	assert_int_equal(described.other, fixture_name(f, "example.com/a"));
	bt_devices_describe(
		f->cache->devices, fixture_read(f, CLASS("")), &f->cache->dictionary->for_ever, &described);
	assert_int_equal(described.other, BT_NAME_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_update_names_its_changes),
		FIXTURE_TEST(the_used_fields_of_claims_and_classes_are_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
