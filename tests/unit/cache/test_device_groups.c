/* SPDX-License-Identifier: Apache-2.0
 * Claims shared by pods of a PodGroup: pending allocations, and consumers.
 */
#include "device_fixture.h"

static void *judge_create(const struct bt_device_features *features)
{
	(void)features;
	return NULL;
}

static void judge_destroy(void *judge)
{
	(void)judge;
}

static enum bt_device_answer judge_evaluate(void *judge, struct bt_intern *intern, uint32_t expression,
	uint32_t driver, const struct bt_device *device, struct bt_buf *out_error)
{
	(void)judge, (void)intern, (void)expression, (void)driver, (void)device, (void)out_error;
	return BT_DEVICE_YES;
}

static void configure(struct fixture *f, bool group_claims)
{
	static const struct bt_device_judge judge = {judge_create, judge_destroy, judge_evaluate, NULL};
	const struct bt_device_features features = {
		.consumable_capacity = true, .group_claims = group_claims};

	bt_devices_configure(f->cache->devices, &features, &judge);
}

/* ---- pending allocations ---- */

/* A pod gets device a for claim c, or shares it. */
static void assume(struct fixture *f, uint32_t pod_ix, bool shared)
{
	const struct bt_device_result result = {.request = fixture_name(f, "r"),
		.driver = fixture_name(f, "d"),
		.pool = fixture_name(f, "p"),
		.device = fixture_name(f, "a")};
	const struct bt_device_choice choice = {
		.claim_ix = (uint32_t)(claim_of(f, "c") - f->cache->view.devices->claims),
		.allocation = {.results = &result, .result_n = 1},
		.shared = shared};

	bt_devices_assume(f->cache->devices, pod_ix, &choice, 1);
}

static const struct bt_allocation *sharing(struct fixture *f)
{
	const struct bt_device_store *store = f->cache->view.devices;

	return store->calls->sharing(store->context, (uint32_t)(claim_of(f, "c") - store->claims));
}

static void pods_of_a_scope_share_what_a_claim_is_getting(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	device_claim(f, "c", "", "");
	bt_devices_share(f->cache->devices, 5);
	assert_null(sharing(f));
	assume(f, 1, false);
	assert_non_null(sharing(f));
	assert_int_equal(sharing(f)->results[0].device, fixture_name(f, "a"));
	bt_devices_share(f->cache->devices, 6);
	assert_null(sharing(f));
	bt_devices_share(f->cache->devices, 0);
	assert_null(sharing(f));
}

static void devices_that_pods_share_count_once_until_the_last_has_gone(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	device_claim(f, "c", "", "");
	bt_devices_share(f->cache->devices, 5);
	assume(f, 1, false);
	assume(f, 2, true);
	assume(f, 3, true);
	assert_int_equal(use_of(f, "p", "a").pending_n, 1);
	/* The pod that counts the device may end first. */
	for (uint32_t pod = 1; pod <= 2; pod++) {
		bt_devices_revert(f->cache->devices, pod);
		assert_int_equal(use_of(f, "p", "a").pending_n, 1);
		assert_true(claim_of(f, "c")->pending);
		assert_non_null(sharing(f));
	}
	bt_devices_revert(f->cache->devices, 3);
	assert_int_equal(use_of(f, "p", "a").pending_n, 0);
	assert_false(claim_of(f, "c")->pending);
}

static void nothing_is_pending_of_a_shared_claim_that_one_pod_has_got(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signature =
		fixture_signature(f, "resourceClaims: [{name: x, resourceClaimName: c}]");
	uint32_t n;

	configure(f, true);
	device_claim(f, "c", "", "");
	bt_devices_share(f->cache->devices, 5);
	assume(f, 1, false);
	assume(f, 2, true);
	bt_devices_keep(f->cache->devices, 1, signature, fixture_name(f, "pod"), fixture_name(f, "uid"));
	assert_true(claim_of(f, "c")->allocated && !claim_of(f, "c")->pending);
	assert_int_equal(use_of(f, "p", "a").pending_n, 0);
	assert_true(bt_devices_pending(f->cache->devices, 2, &n)->withdrawn);
	/* A pending allocation does not pass to another claim with the same index. */
	cache_remove(f->cache, BT_KIND_RESOURCE_CLAIM, bt_str("default"), bt_str("c"));
	device_claim(f, "e", "", "");
	bt_devices_keep(f->cache->devices, 2, signature, fixture_name(f, "pod2"), fixture_name(f, "uid2"));
	assert_false(claim_of(f, "e")->allocated);
}

/* ---- consumers ---- */

#define MEMBER(claim) "schedulingGroup: {podGroupName: g}, resourceClaims: [{" claim "}]"

static void add_group(struct fixture *f, struct bt_str uid)
{
	struct bt_pod_claim_object claims[] = {
		{.name = BT_STR("x"), .claim_name = BT_STR("c")},
		{.name = BT_STR("w"), .template_name = BT_STR("t")},
	};
	struct bt_pod_claim_object status = {.name = BT_STR("w"), .claim_name = BT_STR("made")};
	const struct bt_pod_group_object group = {
		.meta = {.name = BT_STR("g"), .namespace_ = BT_STR("default"), .uid = uid},
		.claims = claims,
		.claim_n = 2,
		.claim_statuses = &status,
		.claim_status_n = 1};

	bt_devices_apply_group(f->cache->devices, &group);
}

static struct bt_claim_consumer consumer(struct fixture *f, const char *spec)
{
	const struct bt_signature *signature = fixture_signature(f, spec);

	return bt_device_store_consumer(
		f->cache->view.devices, signature, &signature->claims[0], fixture_name(f, "pod-uid"));
}

static void a_claim_that_pod_and_group_name_alike_is_the_groups(void **state)
{
	static const struct {
		const char *spec;
		bool groups;
	} cases[] = {
		{MEMBER("name: x, resourceClaimName: c"), true},
		{MEMBER("name: w, resourceClaimTemplateName: t"), true},
		/* Twins that differ in one field each. */
		{MEMBER("name: z, resourceClaimName: c"), false},
		{MEMBER("name: x, resourceClaimName: e"), false},
		{MEMBER("name: w, resourceClaimTemplateName: u"), false},
		{MEMBER("name: w, resourceClaimName: t"), false},
		{"resourceClaims: [{name: x, resourceClaimName: c}]", false},
	};
	struct fixture *f = *state;

	configure(f, true);
	add_group(f, bt_str("g-uid"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bt_claim_consumer is = consumer(f, cases[i].spec);

		assert_int_equal(is.uid, fixture_name(f, cases[i].groups ? "g-uid" : "pod-uid"));
		assert_int_equal(is.pod_group, cases[i].groups ? fixture_name(f, "g") : BT_NAME_NONE);
	}
	/* Re-created, then deleted. */
	add_group(f, bt_str("g-uid-2"));
	assert_int_equal(consumer(f, cases[0].spec).uid, fixture_name(f, "g-uid-2"));
	bt_devices_remove_group(f->cache->devices, fixture_name(f, "default"), fixture_name(f, "g"));
	assert_int_equal(consumer(f, cases[0].spec).uid, fixture_name(f, "pod-uid"));
}

static void without_the_gate_a_pods_claims_are_its_own(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signature = fixture_signature(f, MEMBER("name: x, resourceClaimName: c"));

	configure(f, false);
	add_group(f, bt_str("g-uid"));
	assert_int_equal(
		consumer(f, MEMBER("name: x, resourceClaimName: c")).uid, fixture_name(f, "pod-uid"));
	device_claim(f, "c", "",
		ALLOCATED("device: a") ", reservedFor: [{apiGroup: scheduling.k8s.io, resource: podgroups, "
				       "name: g, uid: g-uid}]");
	assert_false(bt_device_store_reserved(
		f->cache->view.devices, claim_of(f, "c"), signature, fixture_name(f, "pod-uid")));
}

static void a_reservation_for_the_group_is_one_for_its_pods(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signature = fixture_signature(f, MEMBER("name: x, resourceClaimName: c"));

	configure(f, true);
	add_group(f, bt_str("g-uid"));
	device_claim(f, "c", "", "");
	bt_devices_share(f->cache->devices, 5);
	assume(f, 1, false);
	bt_devices_keep(f->cache->devices, 1, signature, fixture_name(f, "pod"), fixture_name(f, "uid"));
	bt_devices_keep(f->cache->devices, 2, signature, fixture_name(f, "pod2"), fixture_name(f, "uid2"));
	const struct bt_resource_claim *claim = claim_of(f, "c");
	assert_int_equal(claim->reserved_n, 1);
	assert_int_equal(claim->reserved_for[0].uid, fixture_name(f, "g-uid"));
	assert_true(
		bt_device_store_reserved(f->cache->view.devices, claim, signature, fixture_name(f, "uid2")));
	assert_true(bt_devices_unreserve(f->cache->devices,
		(uint32_t)(claim - f->cache->view.devices->claims), fixture_name(f, "g-uid")));
	assert_int_equal(claim->reserved_n, 0);
	assert_true(claim->allocated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(pods_of_a_scope_share_what_a_claim_is_getting),
		FIXTURE_TEST(devices_that_pods_share_count_once_until_the_last_has_gone),
		FIXTURE_TEST(nothing_is_pending_of_a_shared_claim_that_one_pod_has_got),
		FIXTURE_TEST(a_claim_that_pod_and_group_name_alike_is_the_groups),
		FIXTURE_TEST(without_the_gate_a_pods_claims_are_its_own),
		FIXTURE_TEST(a_reservation_for_the_group_is_one_for_its_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
