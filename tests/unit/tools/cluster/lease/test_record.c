/* SPDX-License-Identifier: Apache-2.0
 * Lease objects: reading, preserved fields, writing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tools/cluster/lease/record_int.h"

static const char lease_text[] =
	"{\"kind\":\"Lease\",\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"7\",\"labels\":{\"a\":\"b\"}}"
	","
	"\"spec\":{\"holderIdentity\":\"one\\u0021\",\"leaseDurationSeconds\":15,"
	"\"acquireTime\":\"2026-01-02T03:04:05.000006Z\",\"renewTime\":\"2026-01-02T03:04:09.000000Z\","
	"\"leaseTransitions\":3,\"strategy\":\"OldestEmulationVersion\",\"preferredHolder\":\"two\"}}";

static void a_lease_is_read(void **state)
{
	struct bt_lease_record record = {0};
	struct bt_buf error = {0};

	(void)state;
	for (int i = 0; i < 2; i++) { /* the second time over the first */
		assert_true(bt_lease_record_read(&record, bt_str(lease_text), &error));
		assert_true(bt_str_is(record.holder, "one!"));
		assert_int_equal(record.duration_s, 15);
		assert_int_equal(record.transitions, 3);
		assert_true(bt_str_is(record.renew_time, "2026-01-02T03:04:09.000000Z"));
	}
	bt_lease_record_fini(&record);
	bt_buf_fini(&error);
}

static void unknown_fields_of_the_lease_are_written_back(void **state)
{
	struct bt_lease_record record = {0};
	struct bt_buf error = {0}, out = {0};
	struct bt_lease_write write = {.holder = bt_str("me\""),
		.duration_s = 20,
		.transitions = 4,
		.now_ns = INT64_C(1767323045) * 1000000000 + 42999};

	(void)state;
	assert_true(bt_lease_record_read(&record, bt_str(lease_text), &error));
	bt_lease_record_write(&record, &write, &out);
	assert_string_equal(out.ptr,
		"{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"x\","
		"\"resourceVersion\":\"7\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"holderIdentity\":\"me\\\"\","
		"\"leaseDurationSeconds\":20,\"acquireTime\":\"2026-01-02T03:04:05.000042Z\","
		"\"renewTime\":\"2026-01-02T03:04:05.000042Z\",\"leaseTransitions\":4,"
		"\"strategy\":\"OldestEmulationVersion\",\"preferredHolder\":\"two\"}}");
	write.acquire_time = record.acquire_time;
	bt_lease_record_write(&record, &write, &out);
	assert_non_null(strstr(out.ptr, "\"acquireTime\":\"2026-01-02T03:04:05.000006Z\""));
	write.acquire_time = bt_str("292277026596-12-04T15:30:07.000000Z"); /* no reader uses it */
	bt_lease_record_write(&record, &write, &out);
	assert_non_null(strstr(out.ptr, "\"acquireTime\":\"2026-01-02T03:04:05.000042Z\""));
	bt_lease_record_fini(&record);
	bt_buf_fini(&error);
	bt_buf_fini(&out);
}

static void a_new_lease_has_a_name(void **state)
{
	struct bt_lease_record none = {0};
	struct bt_buf out = {0};

	(void)state;
	bt_lease_record_write(&none,
		&(struct bt_lease_write){.namespace_ = bt_str("kube-system"),
			.name = bt_str("kube-scheduler"),
			.holder = bt_str("me"),
			.duration_s = 15},
		&out);
	assert_string_equal(out.ptr,
		"{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":"
		"\"kube-scheduler\",\"namespace\":\"kube-system\"},\"spec\":{\"holderIdentity\":\"me\","
		"\"leaseDurationSeconds\":15,\"acquireTime\":\"1970-01-01T00:00:00.000000Z\","
		"\"renewTime\":\"1970-01-01T00:00:00.000000Z\",\"leaseTransitions\":0}}");
	bt_buf_fini(&out);
}

static void malformed_leases_are_rejected_with_their_place(void **state)
{
	static const struct {
		const char *json, *error;
	} cases[] = {
		{"", ""},
		{"[]", ""},
		{"{\"spec\":{}}", "no metadata"},
		{"{\"metadata\":3}", "no metadata"},
		{"{\"metadata\":{},\"spec\":{\"holderIdentity\":7}}", "spec.holderIdentity: "},
		{"{\"metadata\":{},\"spec\":{\"leaseDurationSeconds\":99999999999}}",
			"spec.leaseDurationSeconds: "},
		{"{\"metadata\":{},\"spec\":{\"holderIdentity\":\"a\"", "spec"},
	};
	struct bt_lease_record record = {0};
	struct bt_buf error = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bt_buf_clear(&error);
		assert_false(bt_lease_record_read(&record, bt_str(cases[i].json), &error));
		assert_int_equal(record.holder.len, 0);
		assert_int_equal(record.metadata.len, 0);
		assert_non_null(strstr(error.ptr, "the server's Lease: "));
		assert_non_null(strstr(error.ptr, cases[i].error));
	}
	bt_lease_record_fini(&record);
	bt_buf_fini(&error);
}

static void records_differ_by_holder_and_transitions(void **state)
{
	struct bt_lease_record a = {0}, b = {0};
	struct bt_buf error = {0};

	(void)state;
	assert_true(bt_lease_record_same(&a, &b));
	assert_true(bt_lease_record_read(&a, bt_str(lease_text), &error));
	assert_false(bt_lease_record_same(&a, &b));
	assert_true(bt_lease_record_read(&b, bt_str(lease_text), &error));
	assert_true(bt_lease_record_same(&a, &b));
	b.renew_time = bt_str("2026-01-02T03:04:10.000000Z");
	assert_false(bt_lease_record_same(&a, &b));
	bt_lease_record_fini(&a);
	bt_lease_record_fini(&b);
	bt_buf_fini(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lease_is_read),
		cmocka_unit_test(unknown_fields_of_the_lease_are_written_back),
		cmocka_unit_test(a_new_lease_has_a_name),
		cmocka_unit_test(malformed_leases_are_rejected_with_their_place),
		cmocka_unit_test(records_differ_by_holder_and_transitions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
