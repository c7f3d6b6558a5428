/* SPDX-License-Identifier: Apache-2.0
 * Node-allocatable resources of claims: patched into the pod's status before a binding, cleared when it
 * fails. The expected calls follow from patchNodeAllocatableResourceClaimStatus and
 * clearNodeAllocatableResourceClaimStatus, v1.37.2 and v1.36.3.
 */
#include "fake.h"

#define CLAIM  "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c"
#define STATUS "/api/v1/namespaces/ns/pods/p/status"
#define LIST   "nodeAllocatableResourceClaimStatuses"
#define PLAIN                                                                                                \
	"{\"metadata\":{\"name\":\"c\",\"uid\":\"u-c\",\"resourceVersion\":\"12\"},\"status\":{"             \
	"\"allocation\":{\"devices\":{\"results\":[{\"driver\":\"d\",\"pool\":\"p\",\"device\":\"x\"}]}}}}"
#define CONDITIONAL(devices)                                                                                 \
	"{\"metadata\":{\"name\":\"c\",\"uid\":\"u-c\",\"resourceVersion\":\"12\"},\"status\":{"             \
	"\"allocation\":{\"devices\":{\"results\":[{\"driver\":\"d\",\"pool\":\"p\",\"device\":\"x\","       \
	"\"bindingConditions\":[\"Up\"]}]}}" devices "}}"
#define IS_UP                                                                                                \
	",\"devices\":[{\"driver\":\"d\",\"pool\":\"p\",\"device\":\"x\",\"conditions\":[{\"type\":\"Up\","  \
	"\"status\":\"True\"}]}]"
#define WRITTEN "{\"status\":{\"" LIST "\":["
#define CLEARED "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"" LIST "\":[]}}"
#define NULLED	"{\"status\":{\"" LIST "\":null}}"
#define OF_C	"{\"resourceClaimName\":\"c\",\"containers\":[\"a\",\"b\"],"
#define FAILED                                                                                               \
	"failed 1 running PreBind plugin \"DynamicResources\": updating pod ns/p "                           \
	"NodeAllocatableResourceClaimStatuses: "

static const struct bt_bind_request_claim shares = {.name = BT_STR("c"), .uid = BT_STR("u-c")};

/* ---- the list, and a binding with it ---- */

#define GIB ((bt_nano)1 << 30)

static struct bt_named_quantity mapping[] = {
	{BT_STR("cpu"), {.nano = (bt_nano)1500 * 1000000}},
	{BT_STR("memory"), {.nano = GIB * 1000000000, .format = BT_BINARY_SI}},
};
static struct bt_node_overhead_object overheads[] = {
	{.name = BT_STR("cpu"), .has_per_pod = true, .per_pod = {.nano = 0}},
	{.name = BT_STR("memory"), .has_per_container = true, .per_container = {.nano = (bt_nano)7000000000}},
};
static struct bt_str containers[] = {BT_STR("a"), BT_STR("b")};

/* Two claims; the second has only an overhead, and no container names it. */
static const struct bt_node_claim_object two[] = {
	{.claim = BT_STR("c"),
		.containers = {containers, 2, true},
		.resources = {mapping, 2, true},
		.mapping = mapping,
		.mapping_n = 2,
		.overheads = overheads,
		.overhead_n = 2},
	{.claim = BT_STR("d"), .overheads = overheads + 1, .overhead_n = 1},
};

static int begin_with(bool devices_map_alone)
{
	fake_begin((struct bt_writer_options){.qps = -1, .devices_map_alone = devices_map_alone});
	show("p", "7", "");
	return 0;
}

static int begin(void **state)
{
	(void)state;
	return begin_with(false);
}

static int begin_in_136(void **state)
{
	(void)state;
	return begin_with(true);
}

static void bind_with(uint32_t claim_n, const struct bt_node_claim_object *node_claims, uint32_t node_claim_n)
{
	struct bt_bind_request bind_request = fake_bind_request(1, "p", "u", "n1");
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	bind_request.claims = &shares;
	bind_request.claim_n = claim_n;
	bind_request.node_claims = node_claims;
	bind_request.node_claim_n = node_claim_n;
	binder.bind(binder.context, NULL, &bind_request);
	fake_pass(0);
}

static uint32_t last(void)
{
	return fake.call_n - 1;
}

/* The last call is a patch of the pod's status. */
static void patches(const char *type, const char *body)
{
	sent(last(), "PATCH", STATUS);
	assert_string_equal(fake.calls[last()].type, type);
	assert_string_equal(fake.calls[last()].body, body);
}

#define STRATEGIC "application/strategic-merge-patch+json"
#define MERGE	  "application/merge-patch+json"

/* The claim is read and reserved; written: as the server has it then. */
static void reserve(const char *written)
{
	sent(last(), "GET", CLAIM);
	fake_answer(last(), 200, written);
	sent(last(), "PATCH", CLAIM "/status");
	fake_answer(last(), 200, written);
}

/* ---- what is written ---- */

static void mapping_and_overhead_are_written_by_claim(void **state)
{
	(void)state;
	bind_with(0, two, 2);
	patches(STRATEGIC,
		WRITTEN OF_C "\"mapping\":[{\"name\":\"cpu\",\"quantity\":\"1500m\"},{\"name\":\"memory\","
			     "\"quantity\":\"1Gi\"}],\"overhead\":[{\"name\":\"cpu\",\"perPod\":\"0\"},{"
			     "\"name\":\"memory\",\"perContainer\":\"7\"}]},{\"resourceClaimName\":\"d\","
			     "\"overhead\":[{\"name\":\"memory\",\"perContainer\":\"7\"}]}]}}");
}

static void release_136_writes_resources(void **state)
{
	(void)state;
	bind_with(0, two, 1);
	patches(STRATEGIC, WRITTEN OF_C "\"resources\":{\"cpu\":\"1500m\",\"memory\":\"1Gi\"}}]}}");
}

static void a_pod_without_node_claims_is_not_patched(void **state)
{
	(void)state;
	bind_with(1, NULL, 0);
	reserve(PLAIN);
	sent(last(), "POST", BINDING);
	fake_status(last(), 422, "no");
	sent(last(), "PATCH", CLAIM "/status");
	fake_answer(last(), 200, PLAIN);
	expect_reports("failed 1 no\nclaim c u-c 12\n");
}

/* ---- when ---- */

static void the_patch_follows_claims_and_precedes_the_wait_for_devices(void **state)
{
	(void)state;
	bind_with(1, two, 1);
	reserve(CONDITIONAL(""));
	sent(last(), "PATCH", STATUS);
	fake_answer(last(), 200, "{}");
	/* The last call is the event about it. */
	uint32_t get = last() - 1;
	sent(get, "GET", CLAIM);
	fake_answer(get, 200, CONDITIONAL(IS_UP));
	sent(last(), "POST", BINDING);
	fake_answer(last(), 201, "{}");
	expect_reports("bound 1\nclaim c u-c 12 reserved\n");
}

static void the_patch_is_retried_after_conflicts_and_server_errors(void **state)
{
	(void)state;
	bind_with(0, two, 1);
	for (int i = 0; i < 2; i++) {
		sent(last(), "PATCH", STATUS);
		fake_status(last(), i ? 500 : 409, "the object has been modified");
		expect_reports("");
		fake_pass(10 * FAKE_S);
	}
	sent(last(), "PATCH", STATUS);
	fake_answer(last(), 200, "{}");
	sent(last(), "POST", BINDING);
	fake_answer(last(), 201, "{}");
	expect_reports("bound 1\n");
}

/* ---- failures ---- */

/* The list is cleared although it was not written, as upstream. */
static void a_rejected_patch_fails_the_binding(void **state)
{
	(void)state;
	bind_with(1, two, 1);
	reserve(PLAIN);
	sent(last(), "PATCH", STATUS);
	fake_status(last(), 422, "no mapping found in pod reference");
	sent(last(), "PATCH", CLAIM "/status");
	fake_answer(last(), 200, PLAIN);
	patches(MERGE, CLEARED);
	fake_answer(last(), 200, "{}");
	expect_reports(FAILED "no mapping found in pod reference\nclaim c u-c 12\n");
}

static void a_failed_binding_clears_the_list(void **state)
{
	(void)state;
	bind_with(0, two, 1);
	fake_answer(last(), 200, "{}");
	fake_status(last(), 422, "no");
	expect_reports("");
	patches(MERGE, CLEARED);
	fake_answer(last(), 200, "{}");
	expect_reports("failed 1 no\n");
}

static void release_136_clears_the_list_by_null(void **state)
{
	(void)state;
	bind_with(0, two, 1);
	fake_answer(last(), 200, "{}");
	fake_status(last(), 422, "no");
	patches(STRATEGIC, NULLED);
	fake_status(last(), 409, "the object has been modified");
	expect_reports("");
	fake_pass(10 * FAKE_S);
	patches(STRATEGIC, NULLED);
	fake_answer(last(), 200, "{}");
	expect_reports("failed 1 no\n");
}

static void a_failed_claim_clears_the_list_of_an_earlier_attempt(void **state)
{
	(void)state;
	bind_with(1, two, 1);
	sent(last(), "GET", CLAIM);
	fake_status(last(), 404, "gone");
	patches(MERGE, CLEARED);
	fake_answer(last(), 200, "{}");
	expect_reports("failed 1 running PreBind plugin \"DynamicResources\": add reservation to claim ns/c: "
		       "gone\n");
}

static void a_rejected_clear_ends_the_binding(void **state)
{
	(void)state;
	bind_with(0, two, 1);
	fake_answer(last(), 200, "{}");
	fake_status(last(), 422, "no");
	patches(MERGE, CLEARED);
	fake_status(last(), 409, "the UID in the precondition does not match");
	expect_reports("failed 1 no\n");
}

int main(void)
{
#define CASE(name, begin) cmocka_unit_test_setup_teardown(name, begin, fake_teardown)
	const struct CMUnitTest tests[] = {
		CASE(mapping_and_overhead_are_written_by_claim, begin),
		CASE(release_136_writes_resources, begin_in_136),
		CASE(a_pod_without_node_claims_is_not_patched, begin),
		CASE(the_patch_follows_claims_and_precedes_the_wait_for_devices, begin),
		CASE(the_patch_is_retried_after_conflicts_and_server_errors, begin),
		CASE(a_rejected_patch_fails_the_binding, begin),
		CASE(a_failed_binding_clears_the_list, begin),
		CASE(release_136_clears_the_list_by_null, begin_in_136),
		CASE(a_failed_claim_clears_the_list_of_an_earlier_attempt, begin),
		CASE(a_rejected_clear_ends_the_binding, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
