/* SPDX-License-Identifier: Apache-2.0
 * References of the input to missing objects: which count, and their summary.
 */
#include "object_fixture.h"

#include "tools/offline/simulate/references.h"

#define MISSING_MAX 16

static void note(struct fixture *f, struct bt_references *references, const char *yaml)
{
	bt_references_note(references, fixture_read(f, yaml));
}

static void note_pod(struct fixture *f, struct bt_references *references, const char *spec)
{
	const struct bt_object object = {.kind = BT_KIND_POD, .pod = *fixture_read_pod(f, spec)};

	bt_references_note(references, &object);
}

/* The only kind with missing objects. */
static struct bt_missing only_missing(struct bt_references *references)
{
	struct bt_missing missing[MISSING_MAX];

	assert_int_equal(bt_references_missing(references, missing, MISSING_MAX), 1);
	return missing[0];
}

static void assert_nothing_missing(struct bt_references *references)
{
	struct bt_missing missing[MISSING_MAX];

	assert_int_equal(bt_references_missing(references, missing, MISSING_MAX), 0);
}

#define CLAIMS(name) "volumes: [{name: v, persistentVolumeClaim: {claimName: " name "}}]"
#define PVC(name)                                                                                            \
	"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: default, name: " name "}}"

static void missing_claims_are_counted_once_and_their_pods_each(void **state)
{
	struct bt_references references = {0};

	note_pod(*state, &references, CLAIMS("a"));
	note_pod(*state, &references, CLAIMS("a"));
	note_pod(*state, &references, CLAIMS("b"));
	struct bt_missing missing = only_missing(&references);
	assert_string_equal(missing.kind, "PersistentVolumeClaim");
	assert_string_equal(missing.resource, "persistentvolumeclaims");
	assert_string_equal(missing.referrer, "pod");
	assert_int_equal(missing.object_n, 2);
	assert_int_equal(missing.referrer_n, 3);
	assert_str(missing.example, "default/a");
	bt_references_fini(&references);
}

static void an_object_may_follow_objects_that_refer_to_it(void **state)
{
	struct bt_references references = {0};

	note_pod(*state, &references, CLAIMS("a"));
	note(*state, &references, PVC("a"));
	assert_nothing_missing(&references);
	bt_references_fini(&references);
}

static void a_pod_on_a_node_refers_to_nothing(void **state)
{
	struct bt_references references = {0};

	note_pod(*state, &references, "nodeName: n1, " CLAIMS("a"));
	assert_nothing_missing(&references);
	bt_references_fini(&references);
}

static void an_ephemeral_volume_has_a_claim_of_the_pods_name(void **state)
{
	struct bt_references references = {0};

	note_pod(*state, &references, "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {}}}]");
	assert_str(only_missing(&references).example, "default/pod-0-v");
	bt_references_fini(&references);
}

static void a_bound_claim_refers_to_its_volume_and_not_to_its_class(void **state)
{
	struct bt_references references = {0};

	note(*state, &references,
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: default, name: a}, "
		"spec: "
		"{volumeName: pv, storageClassName: fast}}");
	assert_string_equal(only_missing(&references).kind, "PersistentVolume");
	bt_references_fini(&references);
}

static void an_unbound_claim_refers_to_its_class(void **state)
{
	struct bt_references references = {0};

	note(*state, &references,
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: default, name: a}, "
		"spec: "
		"{storageClassName: fast}}");
	struct bt_missing missing = only_missing(&references);
	assert_string_equal(missing.kind, "StorageClass");
	assert_string_equal(missing.referrer, "PersistentVolumeClaim");
	assert_str(missing.example, "fast");
	bt_references_fini(&references);
}

static void of_owners_the_controller_alone_counts(void **state)
{
	struct bt_references references = {0};

	note(*state, &references,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: p, ownerReferences: ["
		"{apiVersion: apps/v1, kind: ReplicaSet, name: other, uid: u}, "
		"{apiVersion: apps/v1, kind: ReplicaSet, name: own, uid: w, controller: true}]}}");
	struct bt_missing missing = only_missing(&references);
	assert_string_equal(missing.kind, "ReplicaSet");
	assert_int_equal(missing.object_n, 1);
	assert_str(missing.example, "default/own");
	bt_references_fini(&references);
}

static void csi_volumes_want_one_csi_node_at_least(void **state)
{
	const char *volume = "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {csi: "
			     "{driver: d, volumeHandle: h}}}";
	struct bt_references references = {0};

	note(*state, &references, volume);
	struct bt_missing missing = only_missing(&references);
	assert_string_equal(missing.kind, "CSINode");
	assert_int_equal(missing.object_n, 0); /* unknown which */
	note(*state, &references, "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}}");
	assert_nothing_missing(&references);
	bt_references_fini(&references);
}

static void rows_are_in_the_order_of_kinds_up_to_a_limit(void **state)
{
	struct bt_references references = {0};
	struct bt_missing missing[2];

	note_pod(*state, &references, "resourceClaims: [{name: c, resourceClaimName: gpu}], " CLAIMS("a"));
	assert_int_equal(bt_references_missing(&references, missing, 2), 2);
	assert_string_equal(missing[0].kind, "PersistentVolumeClaim");
	assert_string_equal(missing[1].kind, "ResourceClaim");
	assert_int_equal(bt_references_missing(&references, missing, 1), 1);
	bt_references_fini(&references);
}

static void references_before_a_mark_are_left_out_and_objects_are_not(void **state)
{
	struct bt_references references = {0};

	note_pod(*state, &references, CLAIMS("a"));
	note(*state, &references, PVC("c"));
	bt_references_forget(&references);
	assert_nothing_missing(&references);
	note_pod(*state, &references, CLAIMS("b"));
	note_pod(*state, &references, CLAIMS("c"));
	struct bt_missing missing = only_missing(&references);
	assert_int_equal(missing.object_n, 1);
	assert_int_equal(missing.referrer_n, 1);
	assert_str(missing.example, "default/b");
	bt_references_fini(&references);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(missing_claims_are_counted_once_and_their_pods_each),
		FIXTURE_TEST(an_object_may_follow_objects_that_refer_to_it),
		FIXTURE_TEST(a_pod_on_a_node_refers_to_nothing),
		FIXTURE_TEST(an_ephemeral_volume_has_a_claim_of_the_pods_name),
		FIXTURE_TEST(a_bound_claim_refers_to_its_volume_and_not_to_its_class),
		FIXTURE_TEST(an_unbound_claim_refers_to_its_class),
		FIXTURE_TEST(of_owners_the_controller_alone_counts),
		FIXTURE_TEST(csi_volumes_want_one_csi_node_at_least),
		FIXTURE_TEST(rows_are_in_the_order_of_kinds_up_to_a_limit),
		FIXTURE_TEST(references_before_a_mark_are_left_out_and_objects_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
