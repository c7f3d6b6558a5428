/* SPDX-License-Identifier: Apache-2.0
 * The pipeline, step by step in one thread: what comes in, what is decided, what is full.
 */
#include "lab.h"

static void a_pod_goes_from_the_source_to_the_binder(void **state)
{
	struct lab *lab = *state;

	lab_node(lab, "n1");
	lab_pod(lab, "p", ", 'uid': 'u1'");
	lab_settle(lab);
	assert_int_equal(lab->decision_n, 1);
	assert_int_equal(lab->decisions[0].outcome, BT_PLACED);
	assert_string_equal(lab->decisions[0].node, "n1");
	assert_int_equal(lab->ask_n, 1);
	assert_string_equal(lab->asks[0].pod, "p");
	assert_string_equal(lab->asks[0].uid, "u1");
	assert_string_equal(lab->asks[0].node, "n1");
	lab_assert_sets(lab, 0, 1, 0);
	assert_int_equal(lab_counts(lab).binding, 1);
	assert_int_equal(bt_pipeline_bound(lab->pipeline, lab->asks[0].handle), BT_OK);
	lab_settle(lab);
	lab_assert_sets(lab, 0, 0, 1);
	assert_int_equal(lab_counts(lab).bound_n, 1);
	assert_int_equal(lab_counts(lab).binding, 0);
}

static void a_refused_pod_comes_with_its_message(void **state)
{
	struct lab *lab = *state;

	lab_node(lab, "n1");
	lab_pod_event(lab, BT_PARCEL_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(lab);
	assert_int_equal(lab->decisions[0].outcome, BT_REFUSED);
	assert_non_null(strstr(lab->decisions[0].message, "0/1 nodes are available"));
	assert_int_equal(lab->ask_n, 0);
}

static void without_a_binder_every_binding_succeeds(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);

	(void)state;
	options.binder.bind = NULL;
	lab_begin(&lab, &options);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	lab_settle(&lab);
	lab_assert_sets(&lab, 0, 0, 1);
	lab_end(&lab);
}

static void nobody_is_decided_before_every_source_is_synced(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);

	(void)state;
	options.wait_for_sync = true;
	options.limits.sources = 2;
	lab_begin(&lab, &options);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	lab_feed(&lab, bt_parcel_create(BT_PARCEL_SYNCED));
	lab_feed(&lab, bt_parcel_create(BT_PARCEL_SYNCED));
	lab_settle(&lab);
	assert_int_equal(lab.decision_n, 0);
	struct bt_parcel *parcel = bt_parcel_create(BT_PARCEL_SYNCED);
	assert_int_equal(bt_pipeline_feed(lab.pipeline, 1, &parcel, 0), BT_OK);
	lab_settle(&lab);
	assert_int_equal(lab.decision_n, 1);
	lab_end(&lab);
}

static void parcels_of_a_source_keep_their_order_whoever_ingests_them(void **state)
{
	char name[16];

	(void)state;
	for (uint32_t thread_n = 1; thread_n <= 5; thread_n++) {
		struct lab lab = {.now_ns = 1, .answers = true};
		struct bt_pipeline_options options = lab_options(&lab);

		options.limits.ingest_threads = thread_n;
		lab_begin(&lab, &options);
		lab_node(&lab, "n1");
		lab_node(&lab, "n2");
		lab_node(&lab, "n3");
		for (int i = 0; i < 6; i++) {
			snprintf(name, sizeof(name), "p%d", i);
			lab_pod(&lab, name, "");
		}
		/* The last thread is the first to work. */
		for (uint32_t i = thread_n; i-- > 0;) {
			bt_pipeline_ingest_step(lab.pipeline, i);
		}
		lab_settle(&lab);
		assert_int_equal(lab.decision_n, 6);
		for (int i = 0; i < 6; i++) {
			snprintf(name, sizeof(name), "p%d", i);
			assert_string_equal(lab.decisions[i].pod, name);
		}
		lab_end(&lab);
	}
}

static void a_full_ring_refuses_and_waits_and_loses_nothing(void **state)
{
	struct lab *lab = *state;
	uint32_t fed_n = 0;

	lab_node(lab, "n1");
	for (;; fed_n++) {
		struct bt_parcel *parcel = lab_parcel(lab, BT_PARCEL_APPLY,
			"{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'a'}}");

		if (bt_pipeline_feed(lab->pipeline, 0, &parcel, 0) == BT_FULL) {
			assert_non_null(parcel);
			assert_int_equal(bt_pipeline_feed(lab->pipeline, 0, &parcel, BT_FOREVER), BT_OK);
			break;
		}
	}
	assert_int_equal(fed_n, 3);
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).applied_n, 5);
}

static void no_more_bindings_are_under_way_than_the_limit_says(void **state)
{
	struct lab *lab = *state;
	char name[16];

	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		lab_node(lab, name);
	}
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		lab_pod(lab, name, "");
	}
	lab_settle(lab);
	assert_int_equal(lab->decision_n, 4);
	assert_int_equal(lab_counts(lab).binding, 4);
	for (uint32_t i = 0; i < 9; i++) {
		assert_int_equal(bt_pipeline_bound(lab->pipeline, lab->asks[i].handle), BT_OK);
		lab_settle(lab);
		assert_true(lab_counts(lab).binding <= 4);
	}
	assert_int_equal(lab->decision_n, 9);
	lab_assert_sets(lab, 0, 0, 9);
}

static void a_limit_that_is_zero_is_refused_by_its_name(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);
	struct bt_config_errors errors = {0};
	struct bt_buf text = {0};

	(void)state;
	bt_config_init_default(&lab.config, NULL);
	options.limits.inbox = 0;
	assert_null(bt_pipeline_create(&lab.config, &options, &errors));
	bt_config_errors_text(&errors, &text);
	assert_non_null(strstr(text.ptr, "inbox"));
	bt_buf_fini(&text);
	bt_config_errors_fini(&errors);
	bt_config_fini(&lab.config);
}

static void what_is_on_its_way_is_freed_at_the_end(void **state)
{
	struct lab *lab = *state;

	lab_node(lab, "n1");
	lab_pod(lab, "p", "");
	lab_settle(lab);
	lab_pod(lab, "q", "");
	bt_pipeline_ingest_step(lab->pipeline, 0);
	lab_pod(lab, "r", "");
	assert_int_equal(lab_counts(lab).binding, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(a_pod_goes_from_the_source_to_the_binder),
		LAB_TEST(a_refused_pod_comes_with_its_message),
		cmocka_unit_test(without_a_binder_every_binding_succeeds),
		cmocka_unit_test(nobody_is_decided_before_every_source_is_synced),
		cmocka_unit_test(parcels_of_a_source_keep_their_order_whoever_ingests_them),
		LAB_TEST(a_full_ring_refuses_and_waits_and_loses_nothing),
		LAB_TEST(no_more_bindings_are_under_way_than_the_limit_says),
		cmocka_unit_test(a_limit_that_is_zero_is_refused_by_its_name),
		LAB_TEST(what_is_on_its_way_is_freed_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
