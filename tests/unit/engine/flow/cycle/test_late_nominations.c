/* SPDX-License-Identifier: Apache-2.0
 * Nominations set during a cycle that its refusal keeps (1.35).
 */
#include "object_fixture.h"

#include "engine/flow/cycle/late_nominations.h"

static struct bt_late_nominations begin(const char *release, bool expectation)
{
	struct bt_late_nominations late;
	struct bt_gates gates;

	bt_gates_init(&gates, bt_release_find(bt_str(release)));
	gates.on[BT_GATE_NOMINATED_NODE_NAME_FOR_EXPECTATION] = expectation;
	bt_late_nominations_init(&late, &gates);
	return late;
}

static uint32_t nominated_pod(struct fixture *f, const char *node)
{
	uint32_t ix;

	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: nominated}, spec: "
		"{containers: []}, status: {nominatedNodeName: %s}}",
		node);
	assert_int_equal(cache_enter_pod(f->cache, &fixture_read(f, f->text.ptr)->pod, &ix), BT_OK);
	return ix;
}

static void a_nomination_set_during_the_cycle_stays_in_1_35_alone(void **state)
{
	struct fixture *f = *state;
	struct bt_late_nominations old = begin("1.35", false), new = begin("1.36", false);
	uint32_t pod_ix = fixture_pod(f, "containers: []");

	bt_late_nominations_begin(&old, bt_ledger_pod(f->cache->ledger, pod_ix), pod_ix);
	bt_late_nominations_begin(&new, bt_ledger_pod(f->cache->ledger, pod_ix), pod_ix);
	assert_true(bt_late_nominations_stay(&old, pod_ix));
	assert_false(bt_late_nominations_stay(&old, pod_ix + 1));
	assert_false(bt_late_nominations_stay(&new, pod_ix));
}

static void a_nomination_from_before_the_cycle_does_not_stay(void **state)
{
	struct fixture *f = *state;
	struct bt_late_nominations late = begin("1.35", false);

	fixture_node(f, "name: n1", "", "");
	uint32_t pod_ix = nominated_pod(f, "n1");
	bt_late_nominations_begin(&late, bt_ledger_pod(f->cache->ledger, pod_ix), pod_ix);
	assert_false(bt_late_nominations_stay(&late, pod_ix));
}

static void a_binding_cycle_nominates_its_node_when_pre_bind_has_to_write(void **state)
{
	struct fixture *f = *state;
	struct bt_late_nominations on = begin("1.35", true), off = begin("1.35", false);
	uint32_t node_ix = fixture_node(f, "name: n1", "", "");
	uint32_t plain = fixture_pod(f, "containers: []"),
		 claims = fixture_pod(f, "containers: [], resourceClaims: [{name: c, resourceClaimName: c}]");
	struct bt_hooks writers = {.n = 1}, nobody = {.n = 0};

	bt_late_nominations_begin(&on, bt_ledger_pod(f->cache->ledger, claims), claims);
	assert_int_equal(bt_late_nominations_by_binding(&on, f->cache, &writers, false, claims), BT_NO_NODE);
	bt_ledger_assume(f->cache->ledger, claims, node_ix);
	bt_ledger_assume(f->cache->ledger, plain, node_ix);
	assert_int_equal(bt_late_nominations_by_binding(&on, f->cache, &writers, false, claims), node_ix);
	assert_int_equal(bt_late_nominations_by_binding(&on, f->cache, &writers, false, plain), BT_NO_NODE);
	/* A PreBind plugin failed: so there was work, although the pod has no claims. */
	assert_int_equal(bt_late_nominations_by_binding(&on, f->cache, &writers, true, plain), node_ix);
	assert_int_equal(bt_late_nominations_by_binding(&on, f->cache, &nobody, false, claims), BT_NO_NODE);
	assert_int_equal(bt_late_nominations_by_binding(&off, f->cache, &writers, false, claims), BT_NO_NODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_nomination_set_during_the_cycle_stays_in_1_35_alone),
		FIXTURE_TEST(a_nomination_from_before_the_cycle_does_not_stay),
		FIXTURE_TEST(a_binding_cycle_nominates_its_node_when_pre_bind_has_to_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
