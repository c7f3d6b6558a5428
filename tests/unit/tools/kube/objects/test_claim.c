/* SPDX-License-Identifier: Apache-2.0
 * Which pods a controller claims.
 */
#include "kube_fixture.h"

#include "tools/kube/objects/claim.h"

struct claim_test {
	void *fixture;
	struct bt_claims claims;
};

static int setup(void **state)
{
	struct claim_test *t = calloc(1, sizeof(*t));

	fixture_setup(&t->fixture);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct claim_test *t = *state;

	bt_claims_fini(&t->claims);
	fixture_teardown(&t->fixture);
	free(t);
	return 0;
}

#define OWNED(kind, name, uid)                                                                               \
	"\"ownerReferences\":[{\"kind\":\"" kind "\",\"name\":\"" name "\",\"uid\":\"" uid                   \
	"\",\"controller\":true}],"
#define INDEX(ix) "\"annotations\":{\"batch.kubernetes.io/job-completion-index\":\"" ix "\"},"
#define LEAVING	  "\"deletionTimestamp\":\"2024-01-01T00:00:00Z\","

/* A pod with the label app=web: members of its metadata, each followed by a comma, its spec and its phase. */
static void observe(struct claim_test *t, const char *metadata, const char *spec, const char *phase)
{
	char json[1024];

	snprintf(json, sizeof(json),
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{%s\"namespace\":\"n\",\"name\":\"p-"
		"0\","
		"\"labels\":{\"app\":\"web\"}},\"spec\":{%s},\"status\":{\"phase\":\"%s\"}}",
		metadata, spec, phase);
	const struct bt_object object = fixture_read(t->fixture, json);

	bt_claims_observe(&t->claims, &object.pod);
}

/* The pods of the controller "web". app: the label that it selects; NULL: it has no selector. */
static struct bt_claimed take(struct claim_test *t, const char *kind, const char *uid, const char *app)
{
	struct bt_str_pair label = {bt_str("app"), bt_str(app ? app : "")};
	const struct bt_workload_object workload = {
		.meta = {.namespace_ = bt_str("n"), .name = bt_str("web"), .uid = bt_str(uid)},
		.selector = {.set = app != NULL, .match_labels = {.items = &label, .n = 1, .set = true}}};

	return bt_claims_take(&t->claims, bt_str(kind), &workload);
}

static void assert_active(
	struct claim_test *t, const char *kind, const char *uid, const char *app, uint32_t n)
{
	struct bt_claimed claimed = take(t, kind, uid, app);

	assert_int_equal(claimed.active, n);
	bt_claimed_fini(&claimed);
}

static void a_controller_has_pods_that_name_it_by_kind_name_and_uid(void **state)
{
	struct claim_test *t = *state;

	observe(t, OWNED("ReplicaSet", "web", "u1"), "", "Running");
	observe(t, OWNED("ReplicaSet", "web", "u1"), "", "Pending");
	observe(t, OWNED("ReplicaSet", "web", "u2"), "", "Running");
	observe(t, OWNED("ReplicaSet", "db", "u1"), "", "Running");
	observe(t, OWNED("Job", "web", "u1"), "", "Running");
	assert_active(t, "ReplicaSet", "u1", "web", 2);
	assert_active(t, "ReplicaSet", "u3", "web", 0);
	assert_active(t, "ReplicaSet", "", "web", 3); /* unknown UID */
}

static void a_controller_lets_go_what_it_no_longer_selects(void **state)
{
	struct claim_test *t = *state;

	observe(t, OWNED("ReplicaSet", "web", "u1"), "", "Running");
	assert_active(t, "ReplicaSet", "u1", "other", 0);
	assert_active(t, "ReplicaSet", "u1", NULL, 1); /* without a selector only pods with its
							* owner reference */
}

static void a_pod_without_a_controller_is_adopted_once(void **state)
{
	struct claim_test *t = *state;

	observe(t, "", "", "Running");
	assert_active(t, "ReplicaSet", "u1", "other", 0);
	assert_active(t, "ReplicaSet", "u1", NULL, 0);
	assert_active(t, "StatefulSet", "u1", "web", 1); /* adopts by name, and leaves others alone */
	assert_active(t, "ReplicaSet", "u1", "web", 1);
	assert_active(t, "ReplicaSet", "u2", "web", 0);
}

static void a_terminating_pod_is_not_adopted(void **state)
{
	struct claim_test *t = *state;

	observe(t, LEAVING, "", "Running");
	struct bt_claimed claimed = take(t, "ReplicaSet", "u1", "web");
	assert_int_equal(claimed.active + claimed.leaving + claimed.succeeded, 0);
	bt_claimed_fini(&claimed);
}

static void pods_are_counted_by_how_far_they_are(void **state)
{
	struct claim_test *t = *state;

	observe(t, OWNED("Job", "web", "u1"), "", "Running");
	observe(t, OWNED("Job", "web", "u1"), "", "Succeeded");
	observe(t, OWNED("Job", "web", "u1") LEAVING, "", "Succeeded");
	observe(t, OWNED("Job", "web", "u1"), "", "Failed");
	observe(t, OWNED("Job", "web", "u1") LEAVING, "", "Running");
	struct bt_claimed claimed = take(t, "Job", "u1", "web");
	assert_int_equal(claimed.active, 1);
	assert_int_equal(claimed.succeeded, 2);
	assert_int_equal(claimed.leaving, 1);
	bt_claimed_fini(&claimed);
}

static bool has(struct claim_test *t, const char *kind, enum bt_claim_detail what, const char *text)
{
	struct bt_claimed claimed = take(t, kind, "u1", "web");
	bool yes = bt_claimed_has(&claimed, what, bt_str(text));

	bt_claimed_fini(&claimed);
	return yes;
}

static void a_jobs_pods_take_their_completion_indexes(void **state)
{
	struct claim_test *t = *state;

	observe(t, OWNED("Job", "web", "u1") INDEX("0"), "", "Running");
	observe(t, OWNED("Job", "web", "u1") INDEX("1"), "", "Succeeded");
	observe(t, OWNED("Job", "web", "u1") INDEX("2"), "", "Failed");
	observe(t, OWNED("Job", "web", "u1") INDEX("3") LEAVING, "", "Running");
	observe(t, OWNED("ReplicaSet", "web", "u1") INDEX("4"), "", "Running");
	assert_true(has(t, "Job", BT_CLAIM_INDEX, "0"));
	assert_true(has(t, "Job", BT_CLAIM_INDEX, "1"));
	assert_false(has(t, "Job", BT_CLAIM_INDEX, "2"));
	assert_false(has(t, "Job", BT_CLAIM_INDEX, "3"));
	assert_true(has(t, "Job", BT_CLAIM_LEAVING_INDEX, "3"));
	assert_false(has(t, "Job", BT_CLAIM_LEAVING_INDEX, "0"));
	assert_false(has(t, "Job", BT_CLAIM_LEAVING_INDEX, "2"));
	assert_false(has(t, "ReplicaSet", BT_CLAIM_INDEX, "4"));
}

#define TO_NODE                                                                                              \
	"\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"                \
	"{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","          \
	"\"values\":[\"node-b\"]}]}]}}}"

static void a_daemons_pods_take_their_nodes_until_they_end(void **state)
{
	struct claim_test *t = *state;

	observe(t, OWNED("DaemonSet", "web", "u1"), "\"nodeName\":\"node-a\"", "Running");
	observe(t, OWNED("DaemonSet", "web", "u1") LEAVING, TO_NODE, "Pending");
	observe(t, OWNED("DaemonSet", "web", "u1"), "\"nodeName\":\"node-c\"", "Failed");
	assert_true(has(t, "DaemonSet", BT_CLAIM_NODE, "node-a"));
	assert_true(has(t, "DaemonSet", BT_CLAIM_NODE, "node-b"));
	assert_false(has(t, "DaemonSet", BT_CLAIM_NODE, "node-c"));
}

static void a_statefulset_knows_the_names_of_pods_that_have_ended(void **state)
{
	struct claim_test *t = *state;

	observe(t, OWNED("StatefulSet", "web", "u1"), "", "Running");
	assert_false(has(t, "StatefulSet", BT_CLAIM_ENDED, "p-0"));
	observe(t, OWNED("StatefulSet", "web", "u1") LEAVING, "", "Failed");
	assert_false(has(t, "StatefulSet", BT_CLAIM_ENDED, "p-0"));
	observe(t, OWNED("StatefulSet", "web", "u1"), "", "Failed");
	assert_true(has(t, "StatefulSet", BT_CLAIM_ENDED, "p-0"));
}

static void a_uid_that_is_not_known_is_the_same(void **state)
{
	(void)state;
	assert_true(bt_claim_same_uid(bt_str("u"), bt_str("u")));
	assert_true(bt_claim_same_uid(bt_str(""), bt_str("u")));
	assert_true(bt_claim_same_uid(bt_str("u"), bt_str("")));
	assert_false(bt_claim_same_uid(bt_str("u"), bt_str("v")));
}

static void only_a_selector_selects(void **state)
{
	struct claim_test *t = *state;
	struct bt_str_pair web = {bt_str("app"), bt_str("web")};
	const struct bt_meta_object pod = {.labels = {.items = &web, .n = 1, .set = true}};
	struct bt_workload_object workload = {.selector = {.set = true, .match_labels = pod.labels}};

	assert_true(bt_claims_selects(&t->claims, &workload, &pod));
	workload.selector.set = false;
	assert_false(bt_claims_selects(&t->claims, &workload, &pod));
	workload.selector = (struct bt_label_selector_object){.set = true};
	assert_true(bt_claims_selects(&t->claims, &workload, &pod));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_controller_has_pods_that_name_it_by_kind_name_and_uid),
		TEST(a_controller_lets_go_what_it_no_longer_selects),
		TEST(a_pod_without_a_controller_is_adopted_once),
		TEST(a_terminating_pod_is_not_adopted),
		TEST(pods_are_counted_by_how_far_they_are),
		TEST(a_jobs_pods_take_their_completion_indexes),
		TEST(a_daemons_pods_take_their_nodes_until_they_end),
		TEST(a_statefulset_knows_the_names_of_pods_that_have_ended),
		TEST(a_uid_that_is_not_known_is_the_same),
		TEST(only_a_selector_selects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
