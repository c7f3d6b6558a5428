/* SPDX-License-Identifier: Apache-2.0
 * Workloads become the missing pods that their controllers would create.
 */
#include "kube_fixture.h"

#include "tools/kube/objects/defaults.h"
#include "tools/kube/objects/workload.h"

#define PODS_KEPT 64

struct world {
	struct fixture *fixture;
	struct bt_workloads workloads;
	struct bt_buf message;
	/* The emitted pods as text, because pods are valid only during the call. */
	char names[PODS_KEPT][128];
	uint32_t emitted_n;
	void (*check)(const struct bt_pod_object *pod, uint32_t ix);
	uint32_t eligible_mask;
	uint32_t pod_max;
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->eligible_mask = UINT32_MAX;
	void *fixture = NULL;
	fixture_setup(&fixture);
	world->fixture = fixture;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;
	void *fixture = world->fixture;

	fixture_teardown(&fixture);
	bt_workloads_fini(&world->workloads);
	bt_buf_fini(&world->message);
	free(world);
	return 0;
}

static void observe(struct world *world, const char *json)
{
	struct bt_object object = fixture_read(world->fixture, json);

	bt_defaults_scheme(&object, &world->fixture->arena);
	bt_defaults_namespace(&object);
	bt_workloads_observe(&world->workloads, &object);
}

static void emit(void *context, struct bt_pod_object *pod)
{
	struct world *world = context;

	if (world->emitted_n < PODS_KEPT) {
		snprintf(world->names[world->emitted_n], sizeof(world->names[0]), "%.*s",
			BT_STR_ARG(pod->meta.name));
	}
	if (world->check) {
		world->check(pod, world->emitted_n);
	}
	world->emitted_n++;
}

static bool eligible(void *context, const struct bt_pod_object *pod, uint32_t node_ix)
{
	const struct world *world = context;

	/* The daemon's tolerations are set when nodes are checked. */
	assert_true(pod->spec.toleration_n >= 6);
	return world->eligible_mask >> node_ix & 1;
}

static enum bt_status expand(struct world *world)
{
	static const struct bt_str nodes[] = {BT_STR("n0"), BT_STR("n1"), BT_STR("n2")};
	struct bt_workloads_request request = {.emit = emit,
		.eligible = eligible,
		.context = world,
		.node_names = nodes,
		.node_n = 3,
		.pod_max = world->pod_max};

	world->emitted_n = 0;
	return bt_workloads_expand(&world->workloads, &request, &world->message);
}

static void assert_expands_to(struct world *world, uint32_t pod_n)
{
	assert_int_equal(expand(world), BT_OK);
	assert_int_equal(world->emitted_n, pod_n);
}

#define OBJECT(api, kind, name, spec)                                                                        \
	"{\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name                   \
	"\",\"uid\":\"u-1\"},"                                                                               \
	"\"spec\":{" spec "}}"
#define TEMPLATE                                                                                             \
	"\"template\":{\"metadata\":{\"labels\":{\"app\":\"web\"},\"annotations\":{\"note\":\"x\"}},"        \
	"\"spec\":{"                                                                                         \
	"\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\"}}}]}}"
#define OWNED_POD(name, kind, owner, labels, status)                                                         \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\",\"labels\":{" labels    \
	"},"                                                                                                 \
	"\"ownerReferences\":[{\"kind\":\"" kind "\",\"name\":\"" owner                                      \
	"\",\"controller\":true}]},\"status\":{"                                                             \
	"\"phase\":\"" status "\"}}"

static void check_deployment_pod(const struct bt_pod_object *pod, uint32_t ix)
{
	struct bt_str hash = fixture_value(&pod->meta.labels, "pod-template-hash");
	const struct bt_owner_object *owner = &pod->meta.owners[0];

	(void)ix;
	assert_int_equal(hash.len, 10);
	assert_int_equal(pod->meta.name.len, strlen("web-1234567890-12345"));
	assert_true(bt_str_starts(pod->meta.name, "web-"));
	assert_memory_equal(pod->meta.name.ptr + 4, hash.ptr, hash.len);
	assert_str(fixture_value(&pod->meta.labels, "app"), "web");
	assert_str(fixture_value(&pod->meta.annotations, "note"), "x");
	assert_str(pod->meta.namespace_, "default");
	assert_str(owner->kind, "ReplicaSet");
	assert_true(owner->controller);
	assert_memory_equal(owner->name.ptr, pod->meta.name.ptr, owner->name.len);
	assert_str(pod->spec.containers[0].resources.requests.items[0].name, "cpu");
	assert_str(pod->spec.scheduler_name, "default-scheduler");
	for (size_t i = pod->meta.name.len - 5; i < pod->meta.name.len; i++) {
		assert_non_null(strchr("bcdfghjklmnpqrstvwxz2456789", pod->meta.name.ptr[i]));
	}
}

static void a_deployment_makes_replica_set_pods(void **state)
{
	struct world *world = *state;

	world->check = check_deployment_pod;
	observe(world, OBJECT("apps/v1", "Deployment", "web", "\"replicas\":3," TEMPLATE));
	assert_expands_to(world, 3);
	assert_string_not_equal(world->names[0], world->names[1]);
}

static void the_same_input_gives_the_same_names(void **state)
{
	static const char *const json = OBJECT("apps/v1", "Deployment", "web", "\"replicas\":2," TEMPLATE);
	struct world *world = *state;
	char first[128];

	observe(world, json);
	assert_expands_to(world, 2);
	memcpy(first, world->names[1], sizeof(first));
	bt_workloads_fini(&world->workloads);
	observe(world, json);
	assert_expands_to(world, 2);
	assert_string_equal(world->names[1], first);
}

static void a_name_that_is_taken_is_passed_over(void **state)
{
	static const char *const json = OBJECT("apps/v1", "ReplicaSet", "web", "\"replicas\":1," TEMPLATE);
	struct world *world = *state;
	char pod[256];

	observe(world, json);
	assert_expands_to(world, 1);
	snprintf(pod, sizeof(pod), "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\"}}",
		world->names[0]);
	snprintf(world->names[1], sizeof(world->names[1]), "%s", world->names[0]);
	bt_workloads_fini(&world->workloads);
	observe(world, pod);
	observe(world, json);
	assert_expands_to(world, 1);
	assert_string_not_equal(world->names[0], world->names[1]);
}

static void zero_replicas_make_no_pod(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("apps/v1", "Deployment", "web", "\"replicas\":0," TEMPLATE));
	observe(world, OBJECT("v1", "ReplicationController", "rc", "\"replicas\":-5," TEMPLATE));
	assert_expands_to(world, 0);
}

static void a_deployment_leaves_its_pods_to_replica_sets_that_exist(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("apps/v1", "Deployment", "web", "\"replicas\":3," TEMPLATE));
	observe(world,
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":\"web-abc\","
		"\"ownerReferences\":[{\"kind\":\"Deployment\",\"name\":\"web\",\"controller\":true}]},"
		"\"spec\":{"
		"\"replicas\":3," TEMPLATE "}}");
	observe(world, OWNED_POD("web-abc-1", "ReplicaSet", "web-abc", "", "Running"));
	assert_expands_to(world, 2);
	assert_memory_equal(world->names[0], "web-abc-", 8);
}

static void pods_of_a_replica_set_that_is_not_in_the_input_count_for_the_deployment(void **state)
{
	struct world *world = *state;

	observe(world,
		OWNED_POD("web-abc-1", "ReplicaSet", "web-abc", "\"pod-template-hash\":\"abc\"", "Running"));
	observe(world, OBJECT("apps/v1", "Deployment", "web", "\"replicas\":3," TEMPLATE));
	assert_expands_to(world, 2);
}

static void finished_and_terminating_pods_are_replaced(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("v1", "ReplicationController", "rc", "\"replicas\":3," TEMPLATE));
	observe(world, OWNED_POD("rc-1", "ReplicationController", "rc", "\"app\":\"web\"", "Failed"));
	observe(world, OWNED_POD("rc-2", "ReplicationController", "rc", "\"app\":\"web\"", "Pending"));
	observe(world, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"rc-3\","
		       "\"deletionTimestamp\":"
		       "\"2026-01-01T00:00:00Z\",\"ownerReferences\":[{\"kind\":\"ReplicationController\","
		       "\"name\":\"rc\","
		       "\"controller\":true}]}}");
	assert_expands_to(world, 2);
}

static void check_stateful_pod(const struct bt_pod_object *pod, uint32_t ix)
{
	assert_str(
		fixture_value(&pod->meta.labels, "statefulset.kubernetes.io/pod-name"), ix ? "db-7" : "db-5");
	assert_str(fixture_value(&pod->meta.labels, "apps.kubernetes.io/pod-index"), ix ? "7" : "5");
	assert_int_equal(pod->spec.volume_n, 2);
	assert_int_equal(pod->spec.volumes[0].type, BT_VOLUME_CLAIM);
	assert_str(pod->spec.volumes[0].source, ix ? "data-db-7" : "data-db-5");
	assert_str(pod->spec.volumes[1].name, "tmp");
}

static void a_stateful_set_fills_its_ordinals(void **state)
{
	struct world *world = *state;

	world->check = check_stateful_pod;
	observe(world, OBJECT("apps/v1", "StatefulSet", "db",
			       "\"replicas\":3,\"ordinals\":{\"start\":5},\"volumeClaimTemplates\":[{"
			       "\"metadata\":{\"name\":"
			       "\"data\"}}],\"template\":{\"spec\":{\"volumes\":[{\"name\":\"data\","
			       "\"emptyDir\":{}},{\"name\":"
			       "\"tmp\",\"emptyDir\":{}}]}}"));
	observe(world, OWNED_POD("db-6", "StatefulSet", "db", "", "Running"));
	assert_expands_to(world, 2);
	assert_string_equal(world->names[0], "db-5");
	assert_string_equal(world->names[1], "db-7");
}

static void a_job_runs_as_many_as_it_may_and_still_needs(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("batch/v1", "Job", "j", "\"parallelism\":4,\"completions\":5," TEMPLATE));
	observe(world, OWNED_POD("j-1", "Job", "j", "", "Succeeded"));
	observe(world, OWNED_POD("j-2", "Job", "j", "", "Succeeded"));
	observe(world, OWNED_POD("j-3", "Job", "j", "", "Running"));
	observe(world, OWNED_POD("j-4", "Job", "j", "", "Failed"));
	assert_expands_to(world, 2);
}

/* A Job as returned by kubectl, with its status. */
#define JOB_WITH_STATUS(status)                                                                              \
	"{\"apiVersion\":\"batch/"                                                                           \
	"v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\",\"uid\":\"u-1\"},\"spec\":{\"parallelism\":4,"   \
	"\"completions\":5," TEMPLATE "},\"status\":{" status "}}"

static void a_job_that_has_ended_starts_no_more(void **state)
{
	struct world *world = *state;

	observe(world, JOB_WITH_STATUS("\"conditions\":[{\"type\":\"Complete\",\"status\":\"False\"}]"));
	assert_expands_to(world, 4);
	bt_workloads_fini(&world->workloads);
	observe(world,
		JOB_WITH_STATUS("\"conditions\":[{\"type\":\"SuccessCriteriaMet\",\"status\":\"True\"},"
				"{\"type\":\"Complete\",\"status\":\"True\"}]"));
	assert_expands_to(world, 0);
	bt_workloads_fini(&world->workloads);
	observe(world, JOB_WITH_STATUS("\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"}]"));
	assert_expands_to(world, 0);
}

static void pods_of_a_job_that_succeeded_and_are_gone_count(void **state)
{
	struct world *world = *state;

	observe(world, JOB_WITH_STATUS("\"succeeded\":3"));
	assert_expands_to(world, 2);
}

static void a_work_queue_starts_no_more_after_a_success(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("batch/v1", "Job", "q", "\"parallelism\":4," TEMPLATE));
	assert_expands_to(world, 4);
	bt_workloads_fini(&world->workloads);
	observe(world, OBJECT("batch/v1", "Job", "q", "\"parallelism\":4," TEMPLATE));
	observe(world, OWNED_POD("q-1", "Job", "q", "", "Succeeded"));
	assert_expands_to(world, 0);
}

static void check_indexed_pod(const struct bt_pod_object *pod, uint32_t ix)
{
	static const char *const key = "batch.kubernetes.io/job-completion-index";
	const char *index = ix ? "2" : "0";

	assert_str(fixture_value(&pod->meta.labels, key), index);
	assert_str(fixture_value(&pod->meta.annotations, key), index);
	assert_true(bt_str_starts(pod->meta.name, ix ? "j-2-" : "j-0-"));
	assert_str(fixture_value(&pod->meta.labels, "batch.kubernetes.io/job-name"), "j");
	assert_str(fixture_value(&pod->meta.labels, "batch.kubernetes.io/controller-uid"), "u-1");
	assert_str(pod->meta.owners[0].uid, "u-1");
}

static void an_indexed_job_fills_its_indexes(void **state)
{
	struct world *world = *state;

	world->check = check_indexed_pod;
	observe(world,
		OBJECT("batch/v1", "Job", "j",
			"\"completionMode\":\"Indexed\",\"parallelism\":3,\"completions\":4," TEMPLATE));
	observe(world,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"j-1-x\",\"annotations\":{"
		"\"batch.kubernetes.io/"
		"job-completion-index\":\"1\"},\"ownerReferences\":[{\"kind\":\"Job\",\"name\":"
		"\"j\",\"controller\":true}]},\"status\":{\"phase\":\"Running\"}}");
	assert_expands_to(world, 2);
}

static void suspended_and_deleted_workloads_make_no_pod(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("batch/v1", "Job", "j", "\"suspend\":true," TEMPLATE));
	observe(world, OBJECT("batch/v1", "CronJob", "c",
			       "\"suspend\":true,\"jobTemplate\":{\"spec\":{" TEMPLATE "}}"));
	observe(world, "{\"apiVersion\":\"apps/"
		       "v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":\"r\",\"deletionTimestamp\":"
		       "\"2026-01-01T00:00:00Z\"},\"spec\":{" TEMPLATE "}}");
	assert_expands_to(world, 0);
}

static void a_cron_job_runs_once_unless_its_jobs_are_known(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("batch/v1", "CronJob", "c",
			       "\"jobTemplate\":{\"spec\":{\"parallelism\":2," TEMPLATE "}}"));
	assert_expands_to(world, 2);
	observe(world, "{\"apiVersion\":\"batch/"
		       "v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"c-1\",\"ownerReferences\":[{"
		       "\"kind\":\"CronJob\",\"name\":\"c\",\"controller\":true}]},\"spec\":{" TEMPLATE "}}");
	assert_expands_to(world, 1);
	assert_memory_equal(world->names[0], "c-1-", 4);
}

static void check_daemon_pod(const struct bt_pod_object *pod, uint32_t ix)
{
	const struct bt_node_selector_object *required = &pod->spec.affinity.node_affinity.required;

	(void)ix;
	assert_int_equal(required->term_n, 1);
	assert_int_equal(required->terms[0].match_expressions.n, 0);
	assert_str(required->terms[0].match_fields.items[0].key, "metadata.name");
	assert_str(required->terms[0].match_fields.items[0].values.items[0], "n2");
	assert_int_equal(pod->spec.toleration_n, 7);
	assert_str(pod->spec.tolerations[6].key, "node.kubernetes.io/network-unavailable");
	assert_false(pod->spec.tolerations[0].has_toleration_seconds);
	assert_true(fixture_value(&pod->meta.labels, "controller-revision-hash").len > 0);
}

static void a_daemon_set_runs_on_each_eligible_node_once(void **state)
{
	struct world *world = *state;

	world->check = check_daemon_pod;
	world->eligible_mask = 6; /* n1 and n2 */
	observe(world,
		OBJECT("apps/v1", "DaemonSet", "ds",
			"\"template\":{\"spec\":{\"hostNetwork\":true,\"tolerations\":[{\"key\":"
			"\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
			"\"tolerationSeconds\":5}],\"affinity\":{\"nodeAffinity\":{"
			"\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{"
			"\"matchExpressions\":"
			"[{\"key\":\"a\",\"operator\":\"Exists\"}]}]}}}}}"));
	observe(world,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"ds-1\",\"ownerReferences\":"
		"[{\"kind\":"
		"\"DaemonSet\",\"name\":\"ds\",\"controller\":true}]},\"spec\":{\"nodeName\":\"n1\"}}");
	assert_expands_to(world, 1);
}

/* ---- existing pods ---- */

#define SELECTS(labels) "\"selector\":{\"matchLabels\":{" labels "}},"
#define POD(name, meta, status)                                                                              \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\"" meta                   \
	"},\"spec\":{\"nodeName\":\"n1\"},\"status\":{" status "}}"
#define LABELLED ",\"labels\":{\"app\":\"web\"}"
#define CONTROLLED(kind, name, uid)                                                                          \
	",\"ownerReferences\":[{\"kind\":\"" kind "\",\"name\":\"" name "\",\"uid\":\"" uid                  \
	"\",\"controller\":true}]"
#define DELETED	     ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""
#define ENDED(phase) "\"phase\":\"" phase "\""

static void pods_without_a_controller_are_adopted(void **state)
{
	static const char *const kinds[][2] = {
		{OBJECT("apps/v1", "ReplicaSet", "a", "\"replicas\":3," SELECTS("\"app\":\"web\"") TEMPLATE),
			OBJECT("apps/v1", "ReplicaSet", "a", "\"replicas\":3," TEMPLATE)},
		{OBJECT("v1", "ReplicationController", "a", "\"replicas\":3," TEMPLATE),
			OBJECT("v1", "ReplicationController", "a",
				"\"replicas\":3,\"selector\":{\"app\":\"other\"}," TEMPLATE)},
		{OBJECT("batch/v1", "Job", "a",
			 "\"parallelism\":3,\"completions\":9," SELECTS("\"app\":\"web\"") TEMPLATE),
			OBJECT("batch/v1", "Job", "a", "\"parallelism\":3,\"completions\":9," TEMPLATE)},
		{OBJECT("apps/v1", "DaemonSet", "a", SELECTS("\"app\":\"web\"") TEMPLATE),
			OBJECT("apps/v1", "DaemonSet", "a", SELECTS("\"app\":\"other\"") TEMPLATE)},
	};
	struct world *world = *state;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (size_t other = 0; other < 2; other++) {
			observe(world, POD("p", LABELLED, ""));
			observe(world, POD("q", LABELLED DELETED, ""));
			observe(world, kinds[i][other]);
			assert_expands_to(world, other ? 3 : 2);
			bt_workloads_fini(&world->workloads);
		}
	}
}

static void a_pod_is_adopted_once(void **state)
{
	struct world *world = *state;

	observe(world,
		OBJECT("apps/v1", "ReplicaSet", "a", "\"replicas\":2," SELECTS("\"app\":\"web\"") TEMPLATE));
	observe(world,
		OBJECT("apps/v1", "ReplicaSet", "b", "\"replicas\":2," SELECTS("\"app\":\"web\"") TEMPLATE));
	observe(world, POD("p", LABELLED, ""));
	assert_expands_to(world, 3);
}

static void no_pod_is_adopted_from_afar_or_after_its_end(void **state)
{
	struct world *world = *state;

	observe(world,
		OBJECT("apps/v1", "ReplicaSet", "a", "\"replicas\":2," SELECTS("\"app\":\"web\"") TEMPLATE));
	observe(world, POD("p", LABELLED ",\"namespace\":\"elsewhere\"", ""));
	observe(world, POD("q", LABELLED, ENDED("Failed")));
	assert_expands_to(world, 2);
}

static void a_deployment_that_makes_its_replica_set_adopts_no_pod(void **state)
{
	struct world *world = *state;

	observe(world,
		OBJECT("apps/v1", "Deployment", "a", "\"replicas\":2," SELECTS("\"app\":\"web\"") TEMPLATE));
	observe(world, POD("p", LABELLED, ""));
	assert_expands_to(world, 2);
}

static void pods_of_a_namesake_with_another_uid_do_not_count(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("apps/v1", "ReplicaSet", "a", "\"replicas\":3," TEMPLATE));
	observe(world, POD("p", CONTROLLED("ReplicaSet", "a", "u-1"), ""));
	observe(world, POD("q", CONTROLLED("ReplicaSet", "a", "u-2"), ""));
	observe(world, POD("r", CONTROLLED("ReplicaSet", "a", ""), ""));
	assert_expands_to(world, 1);
}

static void a_pod_that_its_controller_selects_no_longer_is_let_go(void **state)
{
	struct world *world = *state;

	observe(world,
		OBJECT("apps/v1", "ReplicaSet", "a", "\"replicas\":3," SELECTS("\"app\":\"web\"") TEMPLATE));
	observe(world, POD("p", LABELLED CONTROLLED("ReplicaSet", "a", "u-1"), ""));
	observe(world, POD("q", ",\"labels\":{\"app\":\"debug\"}" CONTROLLED("ReplicaSet", "a", "u-1"), ""));
	assert_expands_to(world, 2);
}

static void a_stateful_sets_ended_pod_is_recreated(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("apps/v1", "StatefulSet", "db",
			       "\"replicas\":6," SELECTS("\"app\":\"web\"") TEMPLATE));
	observe(world, POD("db-0", LABELLED CONTROLLED("StatefulSet", "db", "u-1"), ENDED("Failed")));
	observe(world, POD("db-1", LABELLED CONTROLLED("StatefulSet", "db", "u-1"), ""));
	observe(world, POD("db-2", LABELLED DELETED CONTROLLED("StatefulSet", "db", "u-1"), ENDED("Failed")));
	observe(world, POD("db-3", LABELLED, ENDED("Succeeded")));
	observe(world, POD("db-4", "", ENDED("Failed")));
	observe(world, POD("db-5", LABELLED CONTROLLED("StatefulSet", "db", "u-2"), ENDED("Failed")));
	assert_expands_to(world, 2);
	assert_string_equal(world->names[0], "db-0");
	assert_string_equal(world->names[1], "db-3");
}

/* ---- workloads that create none ---- */

static void a_paused_deployment_makes_no_replica_set(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("apps/v1", "Deployment", "web", "\"paused\":true,\"replicas\":3," TEMPLATE));
	assert_expands_to(world, 0);
	observe(world,
		OWNED_POD("web-abc-1", "ReplicaSet", "web-abc", "\"pod-template-hash\":\"abc\"", "Running"));
	assert_expands_to(world, 2);
}

static void a_job_that_another_controller_manages_makes_no_pod(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("batch/v1", "Job", "j",
			       "\"managedBy\":\"example.com/x\",\"parallelism\":2," TEMPLATE));
	observe(world, OBJECT("batch/v1", "CronJob", "c",
			       "\"jobTemplate\":{\"spec\":{\"managedBy\":\"example.com/x\"," TEMPLATE "}}"));
	assert_expands_to(world, 0);
	observe(world, OBJECT("batch/v1", "Job", "k",
			       "\"managedBy\":\"kubernetes.io/job-controller\",\"parallelism\":2," TEMPLATE));
	assert_expands_to(world, 2);
}

static void a_cron_job_of_suspended_jobs_makes_no_pod(void **state)
{
	struct world *world = *state;

	observe(world, OBJECT("batch/v1", "CronJob", "c",
			       "\"jobTemplate\":{\"spec\":{\"suspend\":true," TEMPLATE "}}"));
	assert_expands_to(world, 0);
}

static void a_job_whose_end_is_decided_starts_no_more(void **state)
{
	struct world *world = *state;

	observe(world,
		JOB_WITH_STATUS("\"conditions\":[{\"type\":\"SuccessCriteriaMet\",\"status\":\"True\"}]"));
	assert_expands_to(world, 0);
	bt_workloads_fini(&world->workloads);
	observe(world, JOB_WITH_STATUS("\"conditions\":[{\"type\":\"FailureTarget\",\"status\":\"True\"}]"));
	assert_expands_to(world, 0);
}

static void a_job_that_replaces_failed_pods_only_waits_for_those_being_deleted(void **state)
{
#define LEAVING POD("j-1", DELETED CONTROLLED("Job", "j", "u-1"), "")
	struct world *world = *state;

	observe(world, LEAVING);
	observe(world, OBJECT("batch/v1", "Job", "j", "\"parallelism\":3,\"completions\":9," TEMPLATE));
	assert_expands_to(world, 3);
	bt_workloads_fini(&world->workloads);
	observe(world, LEAVING);
	observe(world,
		OBJECT("batch/v1", "Job", "j",
			"\"podReplacementPolicy\":\"Failed\",\"parallelism\":3,\"completions\":9," TEMPLATE));
	assert_expands_to(world, 2);
}

static void indexes_that_have_ended_are_not_started_again(void **state)
{
	struct world *world = *state;

	observe(world,
		"{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\",\"uid\":\"u-1\"},"
		"\"spec\":{\"completionMode\":\"Indexed\",\"parallelism\":3,\"completions\":9," TEMPLATE "},"
		"\"status\":{\"succeeded\":4,\"completedIndexes\":\"0-2,5\",\"failedIndexes\":\"3,6-7\"}}");
	assert_expands_to(world, 2);
	assert_true(bt_str_starts(bt_str(world->names[0]), "j-4-"));
	assert_true(bt_str_starts(bt_str(world->names[1]), "j-8-"));
}

/* ---- Deployments with ReplicaSets ---- */

#define REPLICA_SET(name, meta, replicas)                                                                    \
	"{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":\"" name "\"" meta       \
	"},\"spec\":{\"replicas\":" replicas "," TEMPLATE "}}"
#define OF_WEB CONTROLLED("Deployment", "web", "u-1")
#define WEB(replicas)                                                                                        \
	OBJECT("apps/v1", "Deployment", "web",                                                               \
		"\"replicas\":" replicas "," SELECTS("\"app\":\"web\"") TEMPLATE)

static void a_deployment_scales_its_only_replica_set(void **state)
{
	struct world *world = *state;

	observe(world, REPLICA_SET("web-old", LABELLED OF_WEB, "0"));
	observe(world, REPLICA_SET("web-new", LABELLED OF_WEB, "2"));
	observe(world, WEB("5"));
	assert_expands_to(world, 5);
	assert_true(bt_str_starts(bt_str(world->names[0]), "web-new-"));
}

static void a_deployment_scales_its_newest_replica_set_from_none(void **state)
{
#define REVISION(n) ",\"annotations\":{\"deployment.kubernetes.io/revision\":\"" n "\"}"
	struct world *world = *state;

	observe(world, WEB("2"));
	observe(world, REPLICA_SET("web-10", LABELLED OF_WEB REVISION("10"), "0"));
	observe(world, REPLICA_SET("web-9", LABELLED OF_WEB REVISION("9"), "0"));
	assert_expands_to(world, 2);
	assert_true(bt_str_starts(bt_str(world->names[0]), "web-10-"));
}

static void replica_sets_of_a_rollout_keep_their_numbers(void **state)
{
	struct world *world = *state;

	observe(world, WEB("9"));
	observe(world, REPLICA_SET("web-a", LABELLED OF_WEB, "2"));
	observe(world, REPLICA_SET("web-b", LABELLED OF_WEB, "1"));
	assert_expands_to(world, 3);
}

static void a_deployment_adopts_a_replica_set_that_it_selects(void **state)
{
	struct world *world = *state;

	observe(world, REPLICA_SET("web-a", LABELLED, "1"));
	observe(world, WEB("2"));
	assert_expands_to(world, 2);
	assert_true(bt_str_starts(bt_str(world->names[0]), "web-a-"));
}

static void replica_sets_of_others_are_none_of_a_deployments(void **state)
{
	struct world *world = *state;

	observe(world, REPLICA_SET("web-a", LABELLED CONTROLLED("Deployment", "web", "u-2"), "1"));
	observe(world, REPLICA_SET("web-b", OF_WEB, "1"));
	observe(world, REPLICA_SET("web-c", ",\"labels\":{\"app\":\"other\"}", "1"));
	observe(world, WEB("2"));
	assert_expands_to(world, 5);
}

static void too_many_pods_are_refused_with_the_workloads_name(void **state)
{
	struct world *world = *state;

	world->pod_max = 5;
	observe(world, OBJECT("apps/v1", "ReplicaSet", "small", "\"replicas\":3," TEMPLATE));
	observe(world, OBJECT("apps/v1", "StatefulSet", "huge", "\"replicas\":2147483647," TEMPLATE));
	assert_int_equal(expand(world), BT_FULL);
	assert_int_equal(world->emitted_n, 3);
	assert_non_null(strstr(world->message.ptr, "StatefulSet default/huge: 2147483647 pods"));
}

static void long_names_are_cut_and_stay_distinct(void **state)
{
#define LONG "a123456789b123456789c123456789d123456789e123456789f123456789"
	struct world *world = *state;

	observe(world, OBJECT("apps/v1", "ReplicaSet", LONG "1", "\"replicas\":20," TEMPLATE));
	observe(world, OBJECT("apps/v1", "ReplicaSet", LONG "2", "\"replicas\":20," TEMPLATE));
	assert_expands_to(world, 40);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(strlen(world->names[i]), 63);
		for (uint32_t j = 0; j < i; j++) {
			assert_string_not_equal(world->names[i], world->names[j]);
		}
	}
}

static void workloads_outlive_their_text(void **state)
{
	struct world *world = *state;
	char *json = strdup(OBJECT("apps/v1", "Deployment", "web", "\"replicas\":1," TEMPLATE));

	world->check = check_deployment_pod;
	observe(world, json);
	memset(json, 'x', strlen(json));
	free(json);
	fixture_read(world->fixture, OBJECT("v1", "Node", "n", ""));
	bt_arena_fini(&world->fixture->arena);
	assert_expands_to(world, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_deployment_makes_replica_set_pods),
		TEST(the_same_input_gives_the_same_names),
		TEST(a_name_that_is_taken_is_passed_over),
		TEST(zero_replicas_make_no_pod),
		TEST(a_deployment_leaves_its_pods_to_replica_sets_that_exist),
		TEST(pods_of_a_replica_set_that_is_not_in_the_input_count_for_the_deployment),
		TEST(finished_and_terminating_pods_are_replaced),
		TEST(a_stateful_set_fills_its_ordinals),
		TEST(a_job_runs_as_many_as_it_may_and_still_needs),
		TEST(a_job_that_has_ended_starts_no_more),
		TEST(pods_of_a_job_that_succeeded_and_are_gone_count),
		TEST(a_work_queue_starts_no_more_after_a_success),
		TEST(an_indexed_job_fills_its_indexes),
		TEST(suspended_and_deleted_workloads_make_no_pod),
		TEST(a_cron_job_runs_once_unless_its_jobs_are_known),
		TEST(a_daemon_set_runs_on_each_eligible_node_once),
		TEST(pods_without_a_controller_are_adopted),
		TEST(a_pod_is_adopted_once),
		TEST(no_pod_is_adopted_from_afar_or_after_its_end),
		TEST(a_deployment_that_makes_its_replica_set_adopts_no_pod),
		TEST(pods_of_a_namesake_with_another_uid_do_not_count),
		TEST(a_pod_that_its_controller_selects_no_longer_is_let_go),
		TEST(a_stateful_sets_ended_pod_is_recreated),
		TEST(a_paused_deployment_makes_no_replica_set),
		TEST(a_job_that_another_controller_manages_makes_no_pod),
		TEST(a_cron_job_of_suspended_jobs_makes_no_pod),
		TEST(a_job_whose_end_is_decided_starts_no_more),
		TEST(a_job_that_replaces_failed_pods_only_waits_for_those_being_deleted),
		TEST(indexes_that_have_ended_are_not_started_again),
		TEST(a_deployment_scales_its_only_replica_set),
		TEST(a_deployment_scales_its_newest_replica_set_from_none),
		TEST(replica_sets_of_a_rollout_keep_their_numbers),
		TEST(a_deployment_adopts_a_replica_set_that_it_selects),
		TEST(replica_sets_of_others_are_none_of_a_deployments),
		TEST(too_many_pods_are_refused_with_the_workloads_name),
		TEST(long_names_are_cut_and_stay_distinct),
		TEST(workloads_outlive_their_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
