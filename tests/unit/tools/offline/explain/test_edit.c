/* SPDX-License-Identifier: Apache-2.0
 * tools/offline/explain/edit: the order of edits, their effect on a pod, their texts and their patches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/format/object_reader.h"
#include "tools/offline/explain/edit.h"

#define POD                                                                                                  \
	"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeSelector: {disk: ssd, a/b: c},\n"       \
	" tolerations: [{key: k, operator: Exists}],\n"                                                      \
	" topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, minDomains: 2,\n"                      \
	"  whenUnsatisfiable: DoNotSchedule, labelSelector: {}}],\n"                                         \
	" containers: [{name: app, image: i, ports: [{containerPort: 80, hostPort: 80, protocol: TCP}],\n"   \
	"  resources: {requests: {cpu: '3', memory: 1Gi, x.io/gpu: '2'}, limits: {x.io/gpu: '2'}}}]}}\n"

struct fixture {
	struct bt_arena arena;
	struct bt_object object;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct bt_object_reader *reader = bt_object_reader_create(NULL, NULL);
	const struct bt_object *object;

	f = (struct fixture){0};
	bt_object_reader_begin_any(reader, "pod", bt_str(POD));
	object = bt_object_reader_next(reader);
	assert_non_null(object);
	f.object = *object;
	bt_object_own(&f.object, &f.arena);
	bt_object_reader_destroy(reader);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	bt_arena_fini(&f->arena);
	return 0;
}

static struct bt_explain_edit request(uint32_t item, int64_t amount)
{
	return (struct bt_explain_edit){.kind = BT_EXPLAIN_REQUEST, .item = item, .amount = amount};
}

static void assert_patch(struct fixture *f, struct bt_explain_edit *edits, size_t n, const char *expected)
{
	struct bt_buf out = {0};

	bt_explain_edits_sort(edits, n);
	bt_explain_edits_patch(edits, n, &f->object.pod, &out);
	assert_string_equal(out.ptr ? out.ptr : "", expected);
	bt_buf_fini(&out);
}

static void assert_text(struct fixture *f, const struct bt_explain_edit *edit, const char *expected)
{
	struct bt_buf out = {0};

	bt_explain_edit_text(edit, &f->object.pod, bt_str("ns/a, ns/b"), &out);
	assert_string_equal(out.ptr, expected);
	bt_buf_fini(&out);
}

static void a_smaller_share_of_a_request_is_cheaper(void **state)
{
	struct bt_explain_edit a = request(0, 0), b = request(1, 0);

	(void)state;
	a.lowered = 0.1;
	b.lowered = 0.2;
	assert_true(bt_explain_edit_cmp(&a, &b) < 0);
	assert_true(bt_explain_edit_cmp(&b, &a) > 0);
}

static void a_toleration_is_cheaper_than_a_request_and_an_eviction_dearer(void **state)
{
	struct bt_explain_edit toleration = {.kind = BT_EXPLAIN_TOLERATE}, low = request(0, 0);
	struct bt_explain_edit eviction = {.kind = BT_EXPLAIN_EVICT, .pod_n = 1};

	(void)state;
	assert_true(bt_explain_edit_cmp(&toleration, &low) < 0);
	assert_true(bt_explain_edit_cmp(&low, &eviction) < 0);
}

static void a_raised_max_skew_is_cheaper_than_none(void **state)
{
	struct bt_explain_edit raised = {.kind = BT_EXPLAIN_SPREAD, .amount = 5};
	struct bt_explain_edit none = {.kind = BT_EXPLAIN_SPREAD};

	(void)state;
	assert_true(bt_explain_edit_cmp(&raised, &none) < 0);
}

static void edits_leave_the_pod_itself_unchanged(void **state)
{
	struct fixture *f = *state;
	struct bt_explain_edit edits[] = {{.kind = BT_EXPLAIN_SELECTOR, .item = 0},
		{.kind = BT_EXPLAIN_SELECTOR, .item = 1}, request(0, 1500),
		{.kind = BT_EXPLAIN_PORT, .item = 0}};
	struct bt_pod_object out;

	bt_explain_edits_sort(edits, 4);
	bt_explain_edits_apply(edits, 4, &f->object.pod, &f->arena, &out);
	assert_int_equal(out.spec.node_selector.n, 0);
	assert_int_equal(
		bt_quantity_milli(out.spec.containers[0].resources.requests.items[0].quantity), 1500);
	assert_int_equal(out.spec.containers[0].ports[0].host_port, 0);
	assert_int_equal(f->object.pod.spec.node_selector.n, 2);
	assert_int_equal(
		bt_quantity_milli(f->object.pod.spec.containers[0].resources.requests.items[0].quantity),
		3000);
	assert_int_equal(f->object.pod.spec.containers[0].ports[0].host_port, 80);
}

static void a_patch_has_the_requests_of_a_container_once(void **state)
{
	struct bt_explain_edit edits[] = {request(0, 1500), request(1, INT64_C(512) << 20)};

	assert_patch(*state, edits, 2,
		"[{\"op\":\"add\",\"path\":\"/spec/containers/0/resources/requests\",\"value\":"
		"{\"cpu\":\"1500m\",\"memory\":\"512Mi\",\"x.io/gpu\":\"2\"}}]");
}

static void the_limit_of_an_extended_resource_follows_its_request(void **state)
{
	struct bt_explain_edit edits[] = {request(2, 1)};

	assert_patch(*state, edits, 1,
		"[{\"op\":\"add\",\"path\":\"/spec/containers/0/resources/requests\",\"value\":"
		"{\"cpu\":\"3\",\"memory\":\"1Gi\",\"x.io/gpu\":\"1\"}},"
		"{\"op\":\"add\",\"path\":\"/spec/containers/0/resources/limits\",\"value\":"
		"{\"x.io/gpu\":\"1\"}}]");
}

static void a_patch_keeps_other_tolerations(void **state)
{
	struct bt_explain_edit edits[] = {{.kind = BT_EXPLAIN_TOLERATE,
		.taint = {.key = bt_str("t"), .value = bt_str("v"), .effect = bt_str("NoSchedule")}}};

	assert_patch(*state, edits, 1,
		"[{\"op\":\"add\",\"path\":\"/spec/"
		"tolerations\",\"value\":[{\"key\":\"k\",\"operator\":\"Exists\"},"
		"{\"key\":\"t\",\"operator\":\"Equal\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]}]");
}

static void a_patch_removes_from_the_end_and_escapes_slashes(void **state)
{
	struct bt_explain_edit edits[] = {
		{.kind = BT_EXPLAIN_SELECTOR, .item = 0}, {.kind = BT_EXPLAIN_SELECTOR, .item = 1}};

	assert_patch(*state, edits, 2,
		"[{\"op\":\"remove\",\"path\":\"/spec/nodeSelector/a~1b\"},"
		"{\"op\":\"remove\",\"path\":\"/spec/nodeSelector/disk\"}]");
}

static void a_patch_that_relaxes_spreading_removes_min_domains(void **state)
{
	struct bt_explain_edit edits[] = {{.kind = BT_EXPLAIN_SPREAD}};

	assert_patch(*state, edits, 1,
		"[{\"op\":\"replace\",\"path\":\"/spec/topologySpreadConstraints/0/whenUnsatisfiable\","
		"\"value\":\"ScheduleAnyway\"},"
		"{\"op\":\"remove\",\"path\":\"/spec/topologySpreadConstraints/0/minDomains\"}]");
}

static void what_is_not_of_the_pod_is_not_in_the_patch(void **state)
{
	struct bt_explain_edit edits[] = {{.kind = BT_EXPLAIN_EVICT, .pod_n = 2}};

	assert_patch(*state, edits, 1, "");
}

static void texts_say_what_to_write(void **state)
{
	struct bt_explain_edit low = request(0, 1500), gpu = request(2, 0);

	assert_text(*state, &low, "lower containers[app].resources.requests.cpu from 3 to 1500m");
	assert_text(
		*state, &gpu, "lower containers[app].resources.requests.x.io/gpu from 2 to 0, and its limit");
	assert_text(*state, &(struct bt_explain_edit){.kind = BT_EXPLAIN_SPREAD, .amount = 3},
		"topologySpreadConstraints[0] (zone): raise maxSkew from 1 to 3");
	assert_text(*state, &(struct bt_explain_edit){.kind = BT_EXPLAIN_PORT}, "drop hostPort 80/TCP");
	assert_text(*state,
		&(struct bt_explain_edit){.kind = BT_EXPLAIN_EVICT_FORBIDDEN, .pod_n = 2, .violation_n = 1},
		"evict ns/a, ns/b (the scheduler does so by itself); a PodDisruptionBudget forbids 1 of "
		"them");
}

static void steps_are_those_of_the_resource(void **state)
{
	(void)state;
	assert_int_equal(bt_explain_step(bt_str("cpu")), 1);
	assert_int_equal(bt_explain_step(bt_str("memory")), 1 << 20);
	assert_int_equal(bt_explain_step(bt_str("hugepages-2Mi")), 2 << 20);
	assert_int_equal(bt_explain_step(bt_str("x.io/gpu")), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_smaller_share_of_a_request_is_cheaper),
		TEST(a_toleration_is_cheaper_than_a_request_and_an_eviction_dearer),
		TEST(a_raised_max_skew_is_cheaper_than_none),
		TEST(edits_leave_the_pod_itself_unchanged),
		TEST(a_patch_has_the_requests_of_a_container_once),
		TEST(the_limit_of_an_extended_resource_follows_its_request),
		TEST(a_patch_keeps_other_tolerations),
		TEST(a_patch_removes_from_the_end_and_escapes_slashes),
		TEST(a_patch_that_relaxes_spreading_removes_min_domains),
		TEST(what_is_not_of_the_pod_is_not_in_the_patch),
		TEST(texts_say_what_to_write),
		TEST(steps_are_those_of_the_resource),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
